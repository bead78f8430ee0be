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

struct case_at_hand {
    const cJSON *paper, *claim, *test, *figures, *limits;
    double       said; /* the paper's number, or the first of two; NaN: none */
    struct line  left, right;
};

__attribute__((format(printf, 3, 4))) static struct judgement judged(enum verdict verdict, double here,
                                                                     const char *format, ...)
{
    struct judgement judgement = { verdict, here, "" };
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

static struct line line_of(const struct case_at_hand *at, const cJSON *cells, const char *along)
{
    const cJSON *experiment = experiment_of(at, cells);
    return figures_select(json_at(at->figures, text_of(experiment, "id")), cells, along && *along ? along : NULL,
                          figures_are_rates(experiment));
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
    return judged(CANNOT_BE_ASKED, NAN, "no figure of it was measured");
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
        return judged(CANNOT_BE_ASKED, NAN, "no figure of it was measured");
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
    return strcmp(model, "log") == 0 ? log2(r + 1) : r;
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
    const double here = fit(&at->left, model), beside = *other ? fit(&at->left, other) : NAN;
    if (*other)
        return judged(verdict_of(here > beside && here >= FITS, here > beside), here,
                      "%s explains %.2f of the variance, %s %.2f", model, here, other, beside);
    return judged(verdict_of(here >= FITS, here >= FITS_LESS), here, "the model explains %.2f of the variance", here);
}

/* ---- claims of several lines --------------------------------------------------------------------------------- */

/* Figures of several cells: their sum, whether their means fall, and their text. */
struct several {
    double       sum, first, last;
    bool         falls;
    const cJSON *missing; /* cells without figures */
    char         text[160];
};

static struct several several_of(const struct case_at_hand *at, const cJSON *list)
{
    struct several several = { .falls = true, .last = INFINITY };
    const cJSON   *cells = NULL;
    size_t         used = 0;
    cJSON_ArrayForEach(cells, list) {
        struct line  line = line_of(at, cells, NULL);
        const double mean = line_mean(&line);
        free(line.points);
        if (isnan(mean) && !several.missing)
            several.missing = cells;
        several.first = cells == list->child ? mean : several.first;
        several.falls &= mean < several.last;
        several.last = mean;
        several.sum += mean;
        if (used < sizeof several.text)
            used +=
                (size_t) snprintf(several.text + used, sizeof several.text - used, "%s%.3g", used ? ", " : "", mean);
    }
    return several;
}

/* Expects the fastest first. */
static struct judgement judge_order(struct case_at_hand *at)
{
    const struct several left = several_of(at, json_at(at->test, "left"));
    if (left.missing)
        return cannot(at, left.missing);
    return judged(verdict_of(left.falls, left.first > left.last), NAN, "%s", left.text);
}

static struct judgement judge_sums(struct case_at_hand *at)
{
    const struct several left = several_of(at, json_at(at->test, "left"));
    const struct several right = several_of(at, json_at(at->test, "right"));
    const double         here = left.sum / right.sum;
    if (left.missing || right.missing)
        return cannot(at, right.missing ? right.missing : left.missing);
    return judged(verdict_on_ratio(here, at->said), here, "%.3g to %.3g", left.sum, right.sum);
}

/* The largest over the least ratio of left to right along an axis; NaN for fewer than two. */
static double spread_along(const struct case_at_hand *at, const char *along)
{
    struct line a = line_of(at, json_at(at->test, "left"), along);
    struct line b = line_of(at, json_at(at->test, "right"), along);
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
    const char  *along = text_of(at->test, "along"), *each = text_of(at->test, "for");
    const cJSON *left = json_at(at->test, "left");
    struct line  cases = line_of(at, left, each);
    double       first = NAN, last = NAN;
    int          back = 0, n = 0;
    for (int i = 0; i < cases.n; i++) {
        cJSON      *cells = with_cell(left, each, cases.points[i].x);
        struct line line = line_of(at, cells, along);
        if (line.n >= 2) {
            const double place = line_least(&line)->x;
            back += place < last;
            last = place;
            first = n++ ? first : place;
        }
        free(line.points);
        cJSON_Delete(cells);
    }
    free(cases.points);
    if (n < 2)
        return too_few();
    return judged(verdict_of(last > first && !back, last > first), NAN, "the least is at %s first, at %s last",
                  text_count(TEXT, (size_t) first), text_count(TEXT, (size_t) last));
}

/* ---- all together -------------------------------------------------------------------------------------------- */

/* How a kind of claims is judged: by itself, by the line `left`, or by it and `right`. */
static const struct {
    const char *name;
    int         lines;
    struct judgement (*judge)(struct case_at_hand *at);
} kinds[] = {
    { "order", 0, judge_order },
    { "sums", 0, judge_sums },
    { "outweighs", 0, judge_outweighs },
    { "least-moves", 0, judge_least_moves },
    { "rises", 1, judge_trend },
    { "falls", 1, judge_trend },
    { "flat", 1, judge_flat },
    { "change", 1, judge_change },
    { "peak", 1, judge_peak },
    { "at-most", 1, judge_at_most },
    { "above-limit", 1, judge_above_limit },
    { "fit", 1, judge_fit },
    { "greater", 2, judge_greater },
    { "ratio", 2, judge_ratio },
    { "ratio-falls", 2, judge_trend },
    { "crossover", 2, judge_crossover },
};

static struct judgement judge_kind(struct case_at_hand *at)
{
    const cJSON *left = json_at(at->test, "left"), *right = json_at(at->test, "right");
    const char  *along = text_of(at->test, "along");
    size_t       k = 0;
    while (k < sizeof kinds / sizeof *kinds && !text_is(at->test, "kind", kinds[k].name))
        k++;
    const int lines = k < sizeof kinds / sizeof *kinds ? kinds[k].lines : 1;
    if (lines) {
        at->left = line_of(at, left, along);
        if (right)
            at->right = line_of(at, right, along);
        if (at->left.n == 0 || (right && at->right.n == 0))
            return cannot(at, at->left.n ? right : left);
        if (right && *along)
            line_meet(&at->left, &at->right);
        if (at->left.n == 0)
            return cannot(at, left);
    }
    if (k == sizeof kinds / sizeof *kinds || (lines == 2 && !at->right.points))
        return judged(CANNOT_BE_ASKED, NAN, "no test of the kind %s, or no other line", text_of(at->test, "kind"));
    return kinds[k].judge(at);
}

struct judgement claim_judge(const cJSON *paper, const cJSON *claim, const cJSON *figures, const cJSON *limits)
{
    const cJSON        *test = json_at(claim, "test"), *said = json_at(claim, "paper");
    struct case_at_hand at = { .paper = paper, .claim = claim, .test = test, .figures = figures, .limits = limits };
    said = cJSON_IsArray(said) ? said->child : said;
    at.said = cJSON_IsNumber(said) ? said->valuedouble : NAN;
    if (paper_needs(paper))
        return judged(CANNOT_BE_ASKED, NAN, "the structure %s is not there", paper_needs(paper));
    if (*text_of(test, "lacks"))
        return judged(CANNOT_BE_ASKED, NAN, "%s", text_of(test, "lacks"));
    const struct judgement judgement = judge_kind(&at);
    free(at.left.points);
    free(at.right.points);
    return judgement;
}
