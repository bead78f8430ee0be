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

struct line {
    struct figure_point *points;
    int                  n;
    bool                 rates;
};

static const cJSON *experiment_of(const struct case_at_hand *at, const cJSON *cells)
{
    const char *other = text_of(cells, "experiment");
    return paper_experiment(at->paper, *other ? other : text_of(at->claim, "experiment"));
}

static struct line line_of(const struct case_at_hand *at, const cJSON *cells, const char *along)
{
    const cJSON *experiment = experiment_of(at, cells);
    struct line  line = { .rates = figures_are_rates(experiment) };
    line.n = figures_select(json_at(at->figures, text_of(experiment, "id")), cells, along && *along ? along : NULL,
                            line.rates, &line.points);
    return line;
}

static double mean_of(const struct line *line)
{
    return figures_mean(line->points, line->n, line->rates);
}

/* Keeps the places that both have. */
static void meet(struct line *a, struct line *b)
{
    int n = 0;
    for (int i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->points[i].x < b->points[j].x) {
            i++;
        } else if (a->points[i].x > b->points[j].x) {
            j++;
        } else {
            a->points[n] = a->points[i++];
            b->points[n++] = b->points[j++];
        }
    }
    a->n = b->n = n;
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

/* The paper's number, or the first of two. */
static double said(const cJSON *claim)
{
    const cJSON *paper = json_at(claim, "paper");
    const cJSON *first = cJSON_IsArray(paper) ? paper->child : paper;
    return cJSON_IsNumber(first) ? first->valuedouble : NAN;
}

static enum verdict verdict_on_ratio(double here, double paper)
{
    if (paper < 1)
        return verdict_on_ratio(1 / here, 1 / paper);
    if (isnan(paper))
        return here > 1 ? HOLDS : DOES_NOT;
    return verdict_of(here >= NEARLY * paper, here > 1);
}

static struct judgement judge_greater(const struct case_at_hand *at, struct line *a, struct line *b)
{
    const double least = is_true(at->test, "or_equal") ? 1 / ALIKE : 1;
    int          ahead = 0;
    for (int i = 0; i < a->n; i++)
        ahead += a->points[i].y > b->points[i].y * least;
    const enum verdict verdict = ahead == a->n                 ? HOLDS
                                 : 2 * ahead <= a->n           ? DOES_NOT
                                 : is_true(at->test, "mostly") ? HOLDS
                                                               : BY_LESS;
    return judged(verdict, NAN, "at %d of %d", ahead, a->n);
}

static struct judgement judge_ratio(const struct case_at_hand *at, const struct line *a, const struct line *b)
{
    const double here = mean_of(a) / mean_of(b);
    return judged(verdict_on_ratio(here, said(at->claim)), here, "%.3g to %.3g", mean_of(a), mean_of(b));
}

/* Whether y falls (`up`: rises) at each step, or only from first to last. */
static struct judgement judge_trend(const struct figure_point *points, int n, bool up)
{
    int steps = 0;
    if (n < 2)
        return too_few();
    for (int i = 1; i < n; i++)
        steps += up ? points[i].y * ALIKE > points[i - 1].y : points[i].y < points[i - 1].y * ALIKE;
    const double whole = points[n - 1].y / points[0].y;
    const bool   there = up ? whole > ALIKE : whole < 1 / ALIKE;
    return judged(verdict_of(there && steps == n - 1, there), NAN, "from %.3g to %.3g, %d of %d steps", points[0].y,
                  points[n - 1].y, steps, n - 1);
}

static struct judgement judge_ratio_falls(struct line *a, const struct line *b)
{
    for (int i = 0; i < a->n; i++)
        a->points[i].y /= b->points[i].y;
    return judge_trend(a->points, a->n, false);
}

/* Whether the largest is at most `paper` times the least. */
static struct judgement judge_flat(const struct case_at_hand *at, const struct line *a)
{
    const double paper = isnan(said(at->claim)) ? ALIKE : said(at->claim);
    double       least = INFINITY, most = 0;
    if (a->n < 2)
        return too_few();
    for (int i = 0; i < a->n; i++) {
        least = fmin(least, a->points[i].y);
        most = fmax(most, a->points[i].y);
    }
    const double here = most / least;
    return judged(verdict_of(here <= paper * ALIKE, here <= paper * 1.5), here, "between %.3g and %.3g", least, most);
}

/* Whether left leads below (or above) one place. */
static struct judgement judge_crossover(const struct case_at_hand *at, const struct line *a, const struct line *b)
{
    const bool   below = !text_is(at->test, "ahead", "above");
    const cJSON *paper = json_at(at->claim, "paper");
    int          ahead = 0, changes = 0, edge = 0;
    char         from[TEXT_BYTES], to[TEXT_BYTES];
    for (int i = 0; i < a->n; i++)
        ahead += a->points[i].y > b->points[i].y;
    if (a->n < 2)
        return too_few();
    if (ahead == 0 || ahead == a->n)
        return judged(DOES_NOT, NAN, "no crossover: %s throughout, from %s to %s", ahead ? "ahead" : "behind",
                      text_count(from, (size_t) a->points[0].x), text_count(to, (size_t) a->points[a->n - 1].x));
    for (int i = 1; i < a->n; i++) {
        const bool is = a->points[i].y > b->points[i].y, was = a->points[i - 1].y > b->points[i - 1].y;
        changes += is != was;
        edge = is != was && edge == 0 ? i : edge;
    }
    const double low = a->points[edge - 1].x, high = a->points[edge].x;
    text_count(from, (size_t) low);
    text_count(to, (size_t) high);
    if (changes > 1)
        return judged(BY_LESS, low, "the lead changes %d times, first between %s and %s", changes, from, to);
    if ((a->points[0].y > b->points[0].y) != below)
        return judged(DOES_NOT, low, "the other way round: between %s and %s", from, to);
    const double first = said(at->claim),
                 last = cJSON_IsArray(paper) ? cJSON_GetArrayItem(paper, 1)->valuedouble : first;
    return judged(high >= first && low <= last ? HOLDS : BY_LESS, low, "between %s and %s", from, to);
}

static struct judgement judge_change(const struct case_at_hand *at, const struct line *a)
{
    const cJSON *paper = json_at(at->claim, "paper");
    const double from = number_of(at->test, "from"), to = number_of(at->test, "to");
    double       before = NAN, after = NAN;
    for (int i = 0; i < a->n; i++) {
        before = a->points[i].x == from ? a->points[i].y : before;
        after = a->points[i].x == to ? a->points[i].y : after;
    }
    const cJSON *least = cJSON_GetArrayItem(paper, 0), *most = cJSON_GetArrayItem(paper, 1);
    const double here = after / before;
    if (isnan(here))
        return judged(CANNOT_BE_ASKED, NAN, "no figure of it was measured");
    const bool low = !cJSON_IsNumber(least) || here >= NEARLY * least->valuedouble;
    const bool high = !cJSON_IsNumber(most) || here <= most->valuedouble / NEARLY;
    const bool falls = cJSON_IsNumber(most) && most->valuedouble < 1;
    return judged(verdict_of(low && high, falls == (here < 1)), here, "%.3g to %.3g", before, after);
}

static struct judgement judge_peak(const struct case_at_hand *at, const struct line *a)
{
    int best = 0, wanted = 0;
    if (a->n < 2)
        return too_few();
    for (int i = 1; i < a->n; i++) {
        best = a->points[i].y > a->points[best].y ? i : best;
        wanted = fabs(a->points[i].x - said(at->claim)) < fabs(a->points[wanted].x - said(at->claim)) ? i : wanted;
    }
    return judged(verdict_of(best == wanted, abs(best - wanted) == 1), a->points[best].x, "the best is %.3g",
                  a->points[best].y);
}

static struct judgement judge_at_most(const struct case_at_hand *at, const struct line *a)
{
    double most = -INFINITY;
    for (int i = 0; i < a->n; i++)
        most = fmax(most, a->points[i].y);
    return judged(verdict_of(most <= said(at->claim), most <= 2 * said(at->claim)), most, "%.3g", most);
}

/* Compares bytes a second of visited nodes or lines with a memory limit. */
static struct judgement judge_above_limit(const struct case_at_hand *at, const struct line *a)
{
    const double limit = number_of(at->limits, text_of(at->test, "limit"));
    double       most = 0;
    char         here[TEXT_BYTES];
    for (int i = 0; i < a->n; i++)
        most = fmax(most, a->points[i].y * number_of(at->test, "unit") * number_of(at->test, "bytes"));
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
static struct judgement judge_fit(const struct case_at_hand *at, const struct line *a)
{
    const char *model = text_of(at->test, "model"), *other = text_of(at->test, "other");
    for (int i = 0; i < a->n && a->rates; i++)
        a->points[i].y = 1 / a->points[i].y;
    if (a->n < 8)
        return judged(CANNOT_BE_ASKED, NAN, "too few batches were timed");
    const double here = fit(a, model), beside = *other ? fit(a, other) : NAN;
    if (*other)
        return judged(verdict_of(here > beside && here >= FITS, here > beside), here,
                      "%s explains %.2f of the variance, %s %.2f", model, here, other, beside);
    return judged(verdict_of(here >= FITS, here >= FITS_LESS), here, "the model explains %.2f of the variance", here);
}

/* ---- claims of several lines --------------------------------------------------------------------------------- */

/* Expects the fastest first. */
static struct judgement judge_order(const struct case_at_hand *at)
{
    const cJSON *cells = NULL, *list = json_at(at->test, "left");
    double       before = INFINITY, first = NAN, last = NAN;
    int          steps = 0, n = 0;
    char         seen[160] = "";
    size_t       used = 0;
    cJSON_ArrayForEach(cells, list) {
        struct line  line = line_of(at, cells, NULL);
        const double mean = mean_of(&line);
        free(line.points);
        if (isnan(mean))
            return cannot(at, cells);
        steps += mean < before;
        before = last = mean;
        first = n++ ? first : mean;
        if (used < sizeof seen)
            used += (size_t) snprintf(seen + used, sizeof seen - used, "%s%.3g", n > 1 ? ", " : "", mean);
    }
    return judged(verdict_of(steps == n, first > last), NAN, "%s", seen);
}

/* NaN and *missing if one was not measured. */
static double sum_of(const struct case_at_hand *at, const cJSON *list, const cJSON **missing)
{
    const cJSON *cells = NULL;
    double       sum = 0;
    cJSON_ArrayForEach(cells, list) {
        struct line line = line_of(at, cells, NULL);
        if (line.n == 0)
            *missing = cells;
        sum += mean_of(&line);
        free(line.points);
    }
    return sum;
}

static struct judgement judge_sums(const struct case_at_hand *at)
{
    const cJSON *missing = NULL;
    const double left = sum_of(at, json_at(at->test, "left"), &missing);
    const double right = sum_of(at, json_at(at->test, "right"), &missing);
    if (missing)
        return cannot(at, missing);
    return judged(verdict_on_ratio(left / right, said(at->claim)), left / right, "%.3g to %.3g", left, right);
}

/* The largest over the least ratio of left to right along an axis; NaN for fewer than two. */
static double spread_along(const struct case_at_hand *at, const char *along)
{
    struct line a = line_of(at, json_at(at->test, "left"), along);
    struct line b = line_of(at, json_at(at->test, "right"), along);
    double      least = INFINITY, most = -INFINITY;
    meet(&a, &b);
    for (int i = 0; i < a.n; i++) {
        least = fmin(least, a.points[i].y / b.points[i].y);
        most = fmax(most, a.points[i].y / b.points[i].y);
    }
    const double spread = a.n < 2 ? NAN : most / least;
    free(a.points);
    free(b.points);
    return spread;
}

/* Whether one axis changes the ratio more than another. */
static struct judgement judge_outweighs(const struct case_at_hand *at)
{
    const char  *along = text_of(at->test, "along"), *than = text_of(at->test, "than");
    const double here = spread_along(at, along), other = spread_along(at, than);
    if (isnan(here / other))
        return too_few();
    return judged(verdict_of(here > other, here * ALIKE > other), NAN,
                  "the ratio changes %.3g times over %s, %.3g times over %s", here, along, other, than);
}

/* The place of the least figure along an axis; NaN for fewer than two. */
static double least_place(const struct case_at_hand *at, const cJSON *cells, const char *along)
{
    struct line line = line_of(at, cells, along);
    int         least = 0;
    for (int i = 1; i < line.n; i++)
        least = line.points[i].y < line.points[least].y ? i : least;
    const double place = line.n < 2 ? NAN : line.points[least].x;
    free(line.points);
    return place;
}

/* Whether that place moves up as another value rises. */
static struct judgement judge_least_moves(const struct case_at_hand *at)
{
    const char  *along = text_of(at->test, "along"), *each = text_of(at->test, "for");
    const cJSON *left = json_at(at->test, "left");
    struct line  cases = line_of(at, left, each);
    double       first = NAN, last = NAN;
    int          back = 0, n = 0;
    for (int i = 0; i < cases.n; i++) {
        cJSON *cells = cJSON_Duplicate(left, true);
        json_exact(cells, each, cases.points[i].x);
        const double place = least_place(at, cells, along);
        cJSON_Delete(cells);
        if (isnan(place))
            continue;
        back += place < last;
        last = place;
        first = n++ ? first : place;
    }
    free(cases.points);
    if (n < 2)
        return too_few();
    return judged(verdict_of(last > first && !back, last > first), NAN, "the least is at %s first, at %s last",
                  text_count(TEXT, (size_t) first), text_count(TEXT, (size_t) last));
}

/* ---- all together -------------------------------------------------------------------------------------------- */

static struct judgement judge_lines(const struct case_at_hand *at, const char *kind, struct line *a, struct line *b)
{
    if (strcmp(kind, "greater") == 0 && b->points)
        return judge_greater(at, a, b);
    if (strcmp(kind, "ratio") == 0 && b->points)
        return judge_ratio(at, a, b);
    if (strcmp(kind, "ratio-falls") == 0 && b->points)
        return judge_ratio_falls(a, b);
    if (strcmp(kind, "crossover") == 0 && b->points)
        return judge_crossover(at, a, b);
    if (strcmp(kind, "rises") == 0 || strcmp(kind, "falls") == 0)
        return judge_trend(a->points, a->n, *kind == 'r');
    if (strcmp(kind, "flat") == 0)
        return judge_flat(at, a);
    if (strcmp(kind, "change") == 0)
        return judge_change(at, a);
    if (strcmp(kind, "peak") == 0)
        return judge_peak(at, a);
    if (strcmp(kind, "at-most") == 0)
        return judge_at_most(at, a);
    if (strcmp(kind, "above-limit") == 0)
        return judge_above_limit(at, a);
    if (strcmp(kind, "fit") == 0)
        return judge_fit(at, a);
    return judged(CANNOT_BE_ASKED, NAN, "no test of the kind %s, or no other line", kind);
}

struct judgement claim_judge(const cJSON *paper, const cJSON *claim, const cJSON *figures, const cJSON *limits)
{
    const cJSON              *test = json_at(claim, "test");
    const struct case_at_hand at = { paper, claim, test, figures, limits };
    const char               *kind = text_of(test, "kind"), *along = text_of(test, "along");
    const cJSON              *left = json_at(test, "left");
    const cJSON              *right = json_at(test, "right");
    if (paper_needs(paper))
        return judged(CANNOT_BE_ASKED, NAN, "the structure %s is not there", paper_needs(paper));
    if (*text_of(test, "lacks"))
        return judged(CANNOT_BE_ASKED, NAN, "%s", text_of(test, "lacks"));
    if (strcmp(kind, "order") == 0)
        return judge_order(&at);
    if (strcmp(kind, "sums") == 0)
        return judge_sums(&at);
    if (strcmp(kind, "outweighs") == 0)
        return judge_outweighs(&at);
    if (strcmp(kind, "least-moves") == 0)
        return judge_least_moves(&at);
    struct line a = line_of(&at, left, along), b = { NULL, 0, false };
    if (right)
        b = line_of(&at, right, along);
    const bool   both = a.n && (!right || b.n);
    const cJSON *missing = a.n ? right : left;
    if (both && right && *along)
        meet(&a, &b);
    const struct judgement judgement = both && a.n ? judge_lines(&at, kind, &a, &b) : cannot(&at, missing);
    free(a.points);
    free(b.points);
    return judgement;
}
