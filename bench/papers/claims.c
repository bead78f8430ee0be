/* SPDX-License-Identifier: Apache-2.0 */
#include "papers.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[N_VERDICTS] = { "holds", "by less", "does not", "cannot be asked" };
    return names[verdict];
}

/* Figures within this factor are equal. */
#define ALIKE 1.05
/* A ratio above this share of the paper's holds. */
#define NEARLY 0.9

/* Figures that a claim names: the cells of its test, and figures of one source. */
struct side {
    const cJSON      *cells;
    struct figure_set set;
};
#define SIDES_MAX 8

struct case_at_hand {
    const cJSON *paper, *claim, *test, *limits;
    double       said; /* the paper's number, or the first of two; NaN: none */
    struct side  sides[SIDES_MAX];
    int          n_sides, n_left; /* the sides of `left` come first */
    struct line  left, right;     /* of the first side on the left, and of the first on the right */
};

__attribute__((format(printf, 3, 4))) static struct judgement judged(enum verdict verdict, double here,
                                                                     const char *format, ...)
{
    struct judgement judgement = { verdict, here, NAN, "" };
    va_list          args;
    va_start(args, format);
    vsnprintf(judgement.why, sizeof judgement.why, format, args);
    va_end(args);
    return judgement;
}

static enum verdict verdict_of(bool holds, bool by_less)
{
    return holds ? HOLDS : by_less ? BY_LESS : DOES_NOT;
}

static struct judgement too_few(void)
{
    return judged(CANNOT_BE_ASKED, NAN, "too few figures were measured");
}

/* ---- the lines that are compared ----------------------------------------------------------------------------- */

static const cJSON *experiment_of(const struct case_at_hand *at, const cJSON *cells)
{
    const char *other = text_of(cells, "experiment");
    return paper_experiment(at->paper, *other ? other : text_of(at->claim, "experiment"));
}

static bool is_rate(const struct case_at_hand *at, const struct side *side)
{
    return figures_are_rates(experiment_of(at, side->cells));
}

/* A side's line; its places along an axis have equal other cells. */
static struct line line_of(const struct case_at_hand *at, const struct side *side, const char *along)
{
    struct figure_set set = { malloc(((size_t) side->set.n + 1) * sizeof *set.all), 0 };
    for (int i = 0; i < side->set.n && set.all; i++)
        set.all[set.n++] = side->set.all[i];
    if (*along)
        set_balance(&set, along);
    const struct line line = set_line(&set, *along ? along : NULL, is_rate(at, side));
    free(set.all);
    return line;
}

static double mean_of(const struct case_at_hand *at, const struct side *side)
{
    struct line  line = line_of(at, side, "");
    const double mean = line_mean(&line);
    free(line.points);
    return mean;
}

static void add_sides(struct case_at_hand *at, const cJSON *cells)
{
    const cJSON *one = cJSON_IsArray(cells) ? cells->child : cells;
    for (; one && at->n_sides < SIDES_MAX; one = cJSON_IsArray(cells) ? one->next : NULL)
        at->sides[at->n_sides++].cells = one;
}

/* Keeps figures with equal cells on all sides. */
static void meet_sides(struct case_at_hand *at)
{
    for (int i = 0; i < at->n_sides; i++)
        for (int k = 0; k < at->n_sides; k++)
            set_meet(&at->sides[i].set, &at->sides[k].set, at->sides[i].cells, at->sides[k].cells);
}

static void forget_case(struct case_at_hand *at)
{
    for (int i = 0; i < at->n_sides; i++)
        free(at->sides[i].set.all);
    free(at->left.points);
    free(at->right.points);
}

/* ---- why something cannot be asked --------------------------------------------------------------------------- */

static struct judgement cannot(const struct case_at_hand *at, const cJSON *cells)
{
    const cJSON *experiment = experiment_of(at, cells);
    const char  *structure = text_of(cells, "structure"), *ordo = paper_structure(at->paper, structure);
    const char  *lacks = text_of(experiment, "lacks");
    const bool   own = json_at(json_at(at->paper, "structures"), structure) != NULL;
    if (own && *ordo && !paper_has(at->paper, structure))
        return judged(CANNOT_BE_ASKED, NAN, "the structure %s is not there", ordo);
    if (*lacks)
        return judged(CANNOT_BE_ASKED, NAN, "%s", lacks);
    if (own && !*ordo)
        return judged(CANNOT_BE_ASKED, NAN, "Ordo has no %s", structure);
    if (!json_at(experiment, "runs"))
        return judged(CANNOT_BE_ASKED, NAN, "nothing in ordo-bench measures it");
    if (*text_of(cells, "device"))
        return judged(CANNOT_BE_ASKED, NAN, "no figure of a %s was measured (--beside takes another device's file)",
                      text_of(cells, "device"));
    return judged(CANNOT_BE_ASKED, NAN, "no figure of it was measured at these cells");
}

/* ---- kinds of claims ----------------------------------------------------------------------------------------- */

static enum verdict verdict_on_ratio(double here, double paper)
{
    if (paper < 1)
        return verdict_on_ratio(1 / here, 1 / paper);
    if (isnan(paper))
        return here > 1 ? HOLDS : DOES_NOT;
    return verdict_of(here >= NEARLY * paper, here > 1);
}

static struct judgement judge_greater(struct case_at_hand *at)
{
    const struct line *a = &at->left;
    const double       least = is_true(at->test, "or_equal") ? 1 / ALIKE : 1;
    int                ahead = 0;
    line_divide(&at->left, &at->right);
    for (int i = 0; i < a->n; i++)
        ahead += a->points[i].y > least;
    const enum verdict verdict = ahead == a->n                 ? HOLDS
                                 : 2 * ahead <= a->n           ? DOES_NOT
                                 : is_true(at->test, "mostly") ? HOLDS
                                                               : BY_LESS;
    return judged(verdict, NAN, "at %d of %d", ahead, a->n);
}

static struct judgement judge_ratio(struct case_at_hand *at)
{
    const double left = line_mean(&at->left), right = line_mean(&at->right), here = left / right;
    return judged(verdict_on_ratio(here, at->said), here, "%.3g to %.3g", left, right);
}

/* The least and the largest ratio along an axis. `paper` has bounds of both. */
static struct judgement judge_ratios(struct case_at_hand *at)
{
    const cJSON *most_said = cJSON_GetArrayItem(json_at(at->claim, "paper"), 1);
    line_divide(&at->left, &at->right);
    const double least = line_least(&at->left)->y, most = line_most(&at->left)->y;
    const bool   holds = least > fmax(NEARLY * at->said, 1) && most >= NEARLY * most_said->valuedouble;
    return judged(verdict_of(holds, least > 1), least, "%.3g to %.3g times, at %d places", least, most, at->left.n);
}

/* Whether y rises (or falls) at each step, or only from first to last. */
static struct judgement judge_trend(struct case_at_hand *at)
{
    const struct line *a = &at->left;
    const bool         up = text_is(at->test, "kind", "rises");
    int                steps = 0;
    line_divide(&at->left, &at->right);
    if (a->n < 2)
        return too_few();
    for (int i = 1; i < a->n; i++) {
        const double here = a->points[i].y, before = a->points[i - 1].y;
        steps += up ? here * ALIKE > before : here < before * ALIKE;
    }
    const double first = a->points[0].y, last = a->points[a->n - 1].y;
    const bool   there = up ? last / first > ALIKE : last / first < 1 / ALIKE;
    return judged(verdict_of(there && steps == a->n - 1, there), NAN, "from %.3g to %.3g, %d of %d steps", first, last,
                  steps, a->n - 1);
}

/* Whether the largest is at most `paper` times the least. */
static struct judgement judge_flat(struct case_at_hand *at)
{
    const struct line *a = &at->left;
    const double       paper = isnan(at->said) ? ALIKE : at->said;
    const double       least = line_least(&at->left)->y, most = line_most(&at->left)->y, here = most / least;
    if (a->n < 2)
        return too_few();
    return judged(verdict_of(here <= paper * ALIKE, here <= paper * 1.5), here, "between %.3g and %.3g", least, most);
}

/* Whether left leads below (or above) one place. */
static struct judgement judge_crossover(struct case_at_hand *at)
{
    const struct line *a = &at->left;
    const bool         below = !text_is(at->test, "ahead", "above");
    int                ahead = 0, changes = 0, edge = 0;
    char               from[TEXT_BYTES], to[TEXT_BYTES];
    line_divide(&at->left, &at->right);
    if (a->n < 2)
        return too_few();
    for (int i = 0; i < a->n; i++) {
        const bool is = a->points[i].y > 1, was = i ? a->points[i - 1].y > 1 : is;
        ahead += is;
        changes += is != was;
        edge = is != was && edge == 0 ? i : edge;
    }
    const double low = a->points[edge ? edge - 1 : 0].x, high = a->points[edge ? edge : a->n - 1].x;
    text_count(from, (size_t) low);
    text_count(to, (size_t) high);
    if (changes == 0)
        return judged(DOES_NOT, NAN, "no crossover: %s throughout, from %s to %s", ahead ? "ahead" : "behind", from,
                      to);
    if (changes > 1)
        return judged(BY_LESS, low, "the lead changes %d times, first between %s and %s", changes, from, to);
    if ((a->points[0].y > 1) != below)
        return judged(DOES_NOT, low, "the other way round: between %s and %s", from, to);
    const cJSON *paper = json_at(at->claim, "paper");
    const double first = at->said, last = cJSON_IsArray(paper) ? paper->child->next->valuedouble : first;
    return judged(high >= first && low <= last ? HOLDS : BY_LESS, low, "between %s and %s", from, to);
}

static struct judgement judge_change(struct case_at_hand *at)
{
    const cJSON *paper = json_at(at->claim, "paper");
    const cJSON *least = cJSON_GetArrayItem(paper, 0), *most = cJSON_GetArrayItem(paper, 1);
    const double before = line_at(&at->left, number_of(at->test, "from")),
                 after = line_at(&at->left, number_of(at->test, "to"));
    const double here = after / before;
    if (isnan(here))
        return judged(CANNOT_BE_ASKED, NAN, "no figures of both places were measured");
    const bool low = !cJSON_IsNumber(least) || here >= NEARLY * least->valuedouble;
    const bool high = !cJSON_IsNumber(most) || here <= most->valuedouble / NEARLY;
    const bool falls = cJSON_IsNumber(most) && most->valuedouble < 1;
    return judged(verdict_of(low && high, falls == (here < 1)), here, "%.3g to %.3g", before, after);
}

static struct judgement judge_peak(struct case_at_hand *at)
{
    const struct line         *a = &at->left;
    const struct figure_point *best = line_most(&at->left), *wanted = a->points;
    if (a->n < 2)
        return too_few();
    for (int i = 1; i < a->n; i++)
        wanted = fabs(a->points[i].x - at->said) < fabs(wanted->x - at->said) ? &a->points[i] : wanted;
    return judged(verdict_of(best == wanted, best == wanted + 1 || wanted == best + 1), best->x, "the best is %.3g",
                  best->y);
}

static struct judgement judge_at_most(struct case_at_hand *at)
{
    const double most = line_most(&at->left)->y;
    return judged(verdict_of(most <= at->said, most <= 2 * at->said), most, "%.3g", most);
}

/* Compares bytes a second of visited nodes or lines with a memory limit. */
static struct judgement judge_above_limit(struct case_at_hand *at)
{
    const double limit = number_of(at->limits, text_of(at->test, "limit"));
    const double most = line_most(&at->left)->y * number_of(at->test, "unit") * number_of(at->test, "bytes");
    char         here[TEXT_BYTES];
    if (isnan(limit))
        return judged(CANNOT_BE_ASKED, NAN, "the device's limits were not measured (--no-limits)");
    return judged(most > limit ? HOLDS : DOES_NOT, most / limit, "%s GB/s at most, memory copies at %s GB/s",
                  text_giga(here, most), text_giga(TEXT, limit));
}

/* ---- models of time over the number of batches --------------------------------------------------------------- */

static double model_of(const char *model, double r)
{
    const uint64_t number = (uint64_t) r;
    if (strcmp(model, "carry") == 0) /* merges of batch r: 2^(trailing ones of r) - 1 */
        return (double) (((number ^ (number + 1)) >> 1));
    return strcmp(model, "log") == 0 ? log2(r + 1) : strcmp(model, "linear") == 0 ? r : NAN;
}

/* R^2 of a least-squares fit a + m * model(r). */
static double fit(const struct line *line, const char *model)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (int i = 0; i < line->n; i++) {
        const double x = model_of(model, line->points[i].x), y = line->points[i].y;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
        syy += y * y;
    }
    const double n = line->n, xx = sxx - sx * sx / n, xy = sxy - sx * sy / n, yy = syy - sy * sy / n;
    return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
}

#define FITS      0.9
#define FITS_LESS 0.5

/* Fits the time of an element if figures are rates. */
static struct judgement judge_fit(struct case_at_hand *at)
{
    const struct line *a = &at->left;
    const char        *model = text_of(at->test, "model"), *other = text_of(at->test, "other");
    for (int i = 0; i < a->n && a->rates; i++)
        a->points[i].y = 1 / a->points[i].y;
    if (a->n < 8)
        return judged(CANNOT_BE_ASKED, NAN, "too few batches were timed");
    if (isnan(model_of(model, 1)))
        return judged(CANNOT_BE_ASKED, NAN, "there is no model %s", model);
    const double here = fit(&at->left, model), beside = *other ? fit(&at->left, other) : NAN;
    if (*other)
        return judged(verdict_of(here > beside && here >= FITS, here > beside), here,
                      "%s explains %.2f of the variance, %s %.2f", model, here, other, beside);
    return judged(verdict_of(here >= FITS, here >= FITS_LESS), here, "the model explains %.2f of the variance", here);
}

/* ---- claims of several lines --------------------------------------------------------------------------------- */

/* Expects the fastest first. */
static struct judgement judge_order(struct case_at_hand *at)
{
    char   text[160] = "";
    double first = mean_of(at, at->sides), last = INFINITY;
    bool   falls = true;
    for (int i = 0; i < at->n_sides; i++) {
        const double mean = mean_of(at, &at->sides[i]);
        const size_t used = strlen(text);
        falls &= mean < last;
        last = mean;
        snprintf(text + used, sizeof text - used, "%s%.3g", i ? ", " : "", mean);
    }
    return judged(verdict_of(falls, first > last), NAN, "%s", text);
}

static struct judgement judge_sums(struct case_at_hand *at)
{
    double left = 0, right = 0;
    for (int i = 0; i < at->n_sides; i++)
        *(i < at->n_left ? &left : &right) += mean_of(at, &at->sides[i]);
    return judged(verdict_on_ratio(left / right, at->said), left / right, "%.3g to %.3g", left, right);
}

/* The largest over the least ratio of left to right along an axis; NaN for fewer than two. */
static double spread_along(const struct case_at_hand *at, const char *along)
{
    struct line a = line_of(at, at->sides, along), b = line_of(at, &at->sides[1], along);
    line_divide(&a, &b);
    const double spread = a.n < 2 ? NAN : line_most(&a)->y / line_least(&a)->y;
    free(a.points);
    free(b.points);
    return spread;
}

/* Whether one axis changes the ratio more than another. */
static struct judgement judge_outweighs(struct case_at_hand *at)
{
    const char  *along = text_of(at->test, "along"), *than = text_of(at->test, "than");
    const double here = spread_along(at, along), other = spread_along(at, than);
    if (isnan(here / other))
        return too_few();
    return judged(verdict_of(here > other, here * ALIKE > other), NAN,
                  "the ratio changes %.3g times over %s, %.3g times over %s", here, along, other, than);
}

/* Whether the place of the least figure along an axis moves up as another value rises. */
static struct judgement judge_least_moves(struct case_at_hand *at)
{
    const char       *along = text_of(at->test, "along"), *each = text_of(at->test, "for");
    struct figure_set all = at->sides->set;
    struct line       cases;
    double            first = NAN, last = NAN;
    int               back = 0, n = 0;
    set_balance(&all, each);
    at->sides->set = all;
    cases = set_line(&all, each, false);
    for (int i = 0; i < cases.n; i++) {
        struct line line = { malloc(((size_t) all.n + 1) * sizeof *line.points), 0, false };
        for (int k = 0; k < all.n && line.points; k++)
            if (number_of(all.all[k], each) == cases.points[i].x)
                line.points[line.n++] =
                    (struct figure_point) { number_of(all.all[k], along), number_of(all.all[k], "value") };
        if (line.n >= 2) {
            const double place = line_least(&line)->x;
            back += place < last;
            last = place;
            first = n++ ? first : place;
        }
        free(line.points);
    }
    free(cases.points);
    if (n < 2)
        return too_few();
    return judged(verdict_of(last > first && !back, last > first), NAN, "the least is at %s first, at %s last",
                  text_count(TEXT, (size_t) first), text_count(TEXT, (size_t) last));
}

/* ---- all together -------------------------------------------------------------------------------------------- */

/* How a kind of claims is judged: by all sides, by the line `left`, or by it and `right`. A kind that is `relative`
 * compares with the paper's own figures at the measured cells, if it has any. */
static const struct kind {
    const char *name;
    int         lines;
    bool        relative;
    struct judgement (*judge)(struct case_at_hand *at);
} kinds[] = {
    { "order", 0, false, judge_order },
    { "sums", 0, true, judge_sums },
    { "outweighs", 2, false, judge_outweighs },
    { "least-moves", 1, false, judge_least_moves },
    { "rises", 1, false, judge_trend },
    { "falls", 1, false, judge_trend },
    { "flat", 1, true, judge_flat },
    { "change", 1, false, judge_change },
    { "peak", 1, false, judge_peak },
    { "at-most", 1, false, judge_at_most },
    { "above-limit", 1, false, judge_above_limit },
    { "fit", 1, false, judge_fit },
    { "greater", 2, false, judge_greater },
    { "ratio", 2, true, judge_ratio },
    { "ratios", 2, false, judge_ratios },
    { "ratio-falls", 2, false, judge_trend },
    { "crossover", 2, false, judge_crossover },
};

static const struct kind *kind_of(const cJSON *test)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (text_is(test, "kind", kinds[k].name) && (kinds[k].lines < 2 || json_at(test, "right")))
            return &kinds[k];
    return NULL;
}

/* The first side without figures, or NULL. */
static const struct side *empty_side(const struct case_at_hand *at)
{
    for (int i = 0; i < at->n_sides; i++)
        if (at->sides[i].set.n == 0)
            return &at->sides[i];
    return NULL;
}

static struct judgement judge_sides(struct case_at_hand *at, const struct kind *kind)
{
    const char *along = text_of(at->test, "along");
    at->left = line_of(at, at->sides, along);
    if (at->n_sides > at->n_left)
        at->right = line_of(at, &at->sides[at->n_left], along);
    if (kind->lines == 2 && *along)
        line_meet(&at->left, &at->right);
    if (kind->lines && at->left.n == 0)
        return too_few();
    return kind->judge(at);
}

/* Whether a row of the paper has no null. */
static bool is_whole(const cJSON *row)
{
    const cJSON *cell = NULL;
    cJSON_ArrayForEach(cell, row) {
        if (cJSON_IsNull(cell))
            return false;
    }
    return true;
}

/* The paper's own figure of a claim at the cells that were measured, NaN if it has rows of neither side. Means over all
 * its cells count only without rows of single cells. Sets *other if it has rows, but at other cells. */
static double own_figure(const struct case_at_hand *measured, const struct kind *kind, bool *other)
{
    struct case_at_hand at = *measured;
    cJSON              *rows = paper_figures(at.paper);
    bool                has_rows = true;
    at.left.points = at.right.points = NULL;
    for (int i = 0; i < at.n_sides; i++) {
        struct figure_set *set = &at.sides[i].set;
        int                whole = 0, n = 0;
        *set = figures_with(json_at(rows, text_of(experiment_of(&at, at.sides[i].cells), "id")), at.sides[i].cells);
        has_rows &= set->n > 0;
        for (int k = 0; k < set->n; k++)
            whole += is_whole(set->all[k]);
        for (int k = 0; k < set->n; k++)
            if (!whole || is_whole(set->all[k]))
                set->all[n++] = set->all[k];
        set->n = n;
        set_meet(set, &measured->sides[i].set, NULL, NULL);
    }
    meet_sides(&at);
    *other = has_rows && empty_side(&at);
    const double own = has_rows && !*other ? judge_sides(&at, kind).here : NAN;
    forget_case(&at);
    cJSON_Delete(rows);
    return own;
}

/* Whether sizes and batches are not the paper's. */
static bool is_scaled(const struct case_at_hand *at)
{
    return at->sides->set.n && at->sides->set.all && json_at(*at->sides->set.all, "scale");
}

static struct judgement judge_case(struct case_at_hand *at, const struct kind *kind)
{
    bool other = false;
    if (empty_side(at))
        return cannot(at, empty_side(at)->cells);
    meet_sides(at);
    if (empty_side(at))
        return judged(CANNOT_BE_ASKED, NAN, "no figures of equal cells were measured");
    if (json_at(at->claim, "paper") && is_scaled(at))
        return judged(CANNOT_BE_ASKED, NAN, "its sizes did not run, but n and batches over %.0f",
                      number_of(*at->sides->set.all, "scale"));
    const double own = kind->relative && !isnan(at->said) ? own_figure(at, kind, &other) : NAN;
    if (other)
        return judged(CANNOT_BE_ASKED, NAN, "the paper has no figures at the cells that were measured");
    if ((own - 1) * (at->said - 1) < 0)
        return judged(CANNOT_BE_ASKED, NAN, "at the cells that were measured the paper's own figures give %.3g", own);
    at->said = isnan(own) ? at->said : own;
    struct judgement judgement = judge_sides(at, kind);
    judgement.there = own;
    return judgement;
}

struct judgement claim_judge(const cJSON *paper, const cJSON *claim, const cJSON *figures, const cJSON *limits)
{
    const cJSON        *test = json_at(claim, "test"), *said = json_at(claim, "paper");
    const struct kind  *kind = kind_of(test);
    struct case_at_hand at = { .paper = paper, .claim = claim, .test = test, .limits = limits };
    said = cJSON_IsArray(said) ? said->child : said;
    at.said = cJSON_IsNumber(said) ? said->valuedouble : NAN;
    if (paper_needs(paper))
        return judged(CANNOT_BE_ASKED, NAN, "the structure %s is not there", paper_needs(paper));
    if (*text_of(test, "lacks"))
        return judged(CANNOT_BE_ASKED, NAN, "%s", text_of(test, "lacks"));
    if (!kind)
        return judged(CANNOT_BE_ASKED, NAN, "no test of the kind %s, or no other line", text_of(test, "kind"));
    add_sides(&at, json_at(test, "left"));
    at.n_left = at.n_sides;
    add_sides(&at, json_at(test, "right"));
    for (int i = 0; i < at.n_sides; i++)
        at.sides[i].set =
            figures_with(json_at(figures, text_of(experiment_of(&at, at.sides[i].cells), "id")), at.sides[i].cells);
    const struct judgement judgement = judge_case(&at, kind);
    forget_case(&at);
    return judgement;
}
