/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments of papers. Checks the files, the verdicts of claims, and the figures that rows of ordo-bench give. Needs
 * no device. */
#include "bench/common/json.h"
#include "bench/papers/papers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const papers[] = { "gpu-lsm", "gpu-b-tree", "gpu-skiplist-gfsl", "fast-tree",
                                      "xfast-trie-and-hamt" };
#define N_PAPERS (sizeof papers / sizeof *papers)

static cJSON *load(const char *name)
{
    char   why[WHY_BYTES] = "";
    cJSON *paper = paper_load(name, why);
    cr_assert(paper, "%s", why);
    return paper;
}

static const cJSON *list_of(const cJSON *json, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

/* ---- the files ----------------------------------------------------------------------------------------------- */

Test(claims, files_say_what_they_must)
{
    for (size_t p = 0; p < N_PAPERS; p++) {
        cJSON       *paper = load(papers[p]);
        const cJSON *experiment = NULL, *claim = NULL, *row = NULL;
        cr_expect_str_eq(text_of(paper, "id"), papers[p]);
        cr_expect(*text_of(paper, "paper") && *text_of(paper, "device"));
        cJSON_ArrayForEach(experiment, list_of(paper, "experiments"))
        {
            const int    columns = cJSON_GetArraySize(list_of(experiment, "columns"));
            const cJSON *ratios = cJSON_GetObjectItemCaseSensitive(experiment, "ratios");
            cr_expect((!list_of(experiment, "runs") && !ratios) != !*text_of(experiment, "lacks"),
                      "%s of %s is measured, or says why not", text_of(experiment, "id"), papers[p]);
            cr_expect(!ratios || list_of(paper_experiment(paper, text_of(ratios, "of")), "runs"),
                      "%s of %s is made of figures", text_of(experiment, "id"), papers[p]);
            cJSON_ArrayForEach(row, list_of(experiment, "rows"))
                cr_expect_eq(cJSON_GetArraySize(row), columns, "%s of %s has rows of its columns",
                             text_of(experiment, "id"), papers[p]);
        }
        cJSON_ArrayForEach(claim, list_of(paper, "claims"))
            cr_expect(paper_experiment(paper, text_of(claim, "experiment")), "%s of %s has an experiment",
                      text_of(claim, "id"), papers[p]);
        cJSON_Delete(paper);
    }
}

Test(claims, without_figures_nothing_can_be_asked)
{
    for (size_t p = 0; p < N_PAPERS; p++) {
        cJSON       *paper = load(papers[p]), *none = cJSON_CreateObject();
        const cJSON *claim = NULL;
        cJSON_ArrayForEach(claim, list_of(paper, "claims"))
        {
            const struct judgement judgement = claim_judge(paper, claim, none, none);
            cr_expect_eq(judgement.verdict, CANNOT_BE_ASKED, "%s", text_of(claim, "id"));
            cr_expect(*judgement.why, "%s says why", text_of(claim, "id"));
        }
        cJSON_Delete(none);
        cJSON_Delete(paper);
    }
}

/* The papers contradict these claims themselves. More stale elements make the cleanups of one paper slower. Lookups of
 * 2^24 and 2^23 seem exchanged. */
static bool is_slip(const char *id)
{
    static const char *const slips[] = { "cleanup-more-stale-better", "lookup-falls-with-batch" };
    for (size_t s = 0; s < sizeof slips / sizeof *slips; s++)
        if (strcmp(id, slips[s]) == 0)
            return true;
    return false;
}

Test(claims, papers_own_figures_hold)
{
    int held = 0;
    for (size_t p = 0; p < 2; p++) {
        cJSON       *paper = load(papers[p]), *figures = paper_figures(paper);
        const cJSON *claim = NULL;
        cJSON_ArrayForEach(claim, list_of(paper, "claims"))
        {
            const struct judgement judgement = claim_judge(paper, claim, figures, NULL);
            held += judgement.verdict == HOLDS;
            if (judgement.verdict != CANNOT_BE_ASKED)
                cr_expect_eq(judgement.verdict == HOLDS, !is_slip(text_of(claim, "id")), "%s: %s, %s",
                             text_of(claim, "id"), verdict_name(judgement.verdict), judgement.why);
        }
        cJSON_Delete(figures);
        cJSON_Delete(paper);
    }
    cr_expect_geq(held, 36);
}

/* ---- verdicts ------------------------------------------------------------------------------------------------ */

struct judged_case {
    const char  *test, *said; /* of the claim; said "": nothing */
    const char  *a, *b;       /* values at x = 1, 2, 4, 8, ... of two lines, also in rows of two columns; "" : none */
    enum verdict verdict;
    double       here; /* NaN: not checked */
};

#define BOTH  "\"left\":{\"line\":\"a\"},\"right\":{\"line\":\"b\"},\"along\":\"x\""
#define GRID  "\"left\":{\"line\":\"a\"},\"right\":{\"line\":\"b\"},\"along\":\"column\",\"than\":\"row\""
#define MOVES "\"left\":{\"line\":\"a\"},\"along\":\"column\",\"for\":\"row\""
#define ONE   "\"left\":{\"line\":\"a\"},\"along\":\"x\""

static const struct judged_case cases[] = {
    { "\"kind\":\"greater\"," BOTH, "", "2,3,4", "1,2,3", HOLDS, NAN },
    { "\"kind\":\"greater\"," BOTH, "", "2,3,2", "1,2,3", BY_LESS, NAN },
    { "\"kind\":\"greater\",\"mostly\":true," BOTH, "", "2,3,2", "1,2,3", HOLDS, NAN },
    { "\"kind\":\"greater\"," BOTH, "", "2,1,2", "1,2,3", DOES_NOT, NAN },
    { "\"kind\":\"greater\"," BOTH, "", "1,2,3", "1,2,3", DOES_NOT, NAN },
    { "\"kind\":\"greater\",\"or_equal\":true," BOTH, "", "1,2,3", "1,2,3", HOLDS, NAN },
    { "\"kind\":\"greater\"," BOTH, "", "2,3,4", "", CANNOT_BE_ASKED, NAN },
    { "\"kind\":\"ratio\"," BOTH, "2", "4,4", "2,2", HOLDS, 2 },
    { "\"kind\":\"ratio\"," BOTH, "2", "2,6", "2,2", BY_LESS, 1.5 }, /* the harmonic mean of 2 and 6 is 3 */
    { "\"kind\":\"ratio\"," BOTH, "2", "1,1", "2,2", DOES_NOT, 0.5 },
    { "\"kind\":\"ratio\"," BOTH, "0.25", "1,1", "4,4", HOLDS, 0.25 },
    { "\"kind\":\"ratio\"," BOTH, "0.25", "3,3", "4,4", BY_LESS, 0.75 },
    { "\"kind\":\"ratio\"," BOTH, "0.25", "5,5", "4,4", DOES_NOT, 1.25 },
    { "\"kind\":\"ratios\"," BOTH, "[2,4]", "4,8", "2,2", HOLDS, 2 },
    { "\"kind\":\"ratios\"," BOTH, "[2,4]", "4,4", "2,2", BY_LESS, 2 },
    { "\"kind\":\"ratios\"," BOTH, "[1,4]", "1.9,9", "2,2", DOES_NOT, 0.95 },
    { "\"kind\":\"ratio-falls\"," BOTH, "", "9,6,4", "1,1,1", HOLDS, NAN },
    { "\"kind\":\"ratio-falls\"," BOTH, "", "9,3,4", "1,1,1", BY_LESS, NAN },
    { "\"kind\":\"ratio-falls\"," BOTH, "", "4,6,9", "1,1,1", DOES_NOT, NAN },
    { "\"kind\":\"rises\"," ONE, "", "1,2,3", "", HOLDS, NAN },
    { "\"kind\":\"rises\"," ONE, "", "1,3,2", "", BY_LESS, NAN },
    { "\"kind\":\"rises\"," ONE, "", "3,2,1", "", DOES_NOT, NAN },
    { "\"kind\":\"falls\"," ONE, "", "3,2,1", "", HOLDS, NAN },
    { "\"kind\":\"falls\"," ONE, "", "1", "", CANNOT_BE_ASKED, NAN },
    { "\"kind\":\"flat\"," ONE, "1.1", "10,11,10.5", "", HOLDS, 1.1 },
    { "\"kind\":\"flat\"," ONE, "1.1", "10,15", "", BY_LESS, 1.5 },
    { "\"kind\":\"flat\"," ONE, "1.1", "10,20", "", DOES_NOT, 2 },
    { "\"kind\":\"crossover\",\"ahead\":\"below\"," BOTH, "[2,4]", "4,4,4,4", "1,2,8,9", HOLDS, 2 },
    { "\"kind\":\"crossover\",\"ahead\":\"below\"," BOTH, "[1,1]", "4,4,4,4", "1,2,3,9", BY_LESS, 4 },
    { "\"kind\":\"crossover\",\"ahead\":\"below\"," BOTH, "[2,4]", "4,4,4,4", "8,9,1,1", DOES_NOT, 2 },
    { "\"kind\":\"crossover\",\"ahead\":\"above\"," BOTH, "[2,4]", "4,4,4,4", "8,9,1,1", HOLDS, 2 },
    { "\"kind\":\"crossover\",\"ahead\":\"below\"," BOTH, "[2,4]", "4,4,4,4", "1,1,1,1", DOES_NOT, NAN },
    { "\"kind\":\"crossover\",\"ahead\":\"below\"," BOTH, "[2,4]", "4,4,4,4", "1,8,1,8", BY_LESS, NAN },
    { "\"kind\":\"change\",\"from\":1,\"to\":4," ONE, "[0.2,0.5]", "8,4,2", "", HOLDS, 0.25 },
    { "\"kind\":\"change\",\"from\":1,\"to\":4," ONE, "[0.2,0.5]", "8,7,6", "", BY_LESS, 0.75 },
    { "\"kind\":\"change\",\"from\":1,\"to\":4," ONE, "[0.2,0.5]", "8,8,9", "", DOES_NOT, 1.125 },
    { "\"kind\":\"order\",\"left\":[{\"line\":\"a\"},{\"line\":\"b\"}]", "", "2,2", "1,1", HOLDS, NAN },
    { "\"kind\":\"order\",\"left\":[{\"line\":\"b\"},{\"line\":\"a\"}]", "", "2,2", "1,1", DOES_NOT, NAN },
    { "\"kind\":\"sums\",\"left\":[{\"line\":\"a\"}],\"right\":[{\"line\":\"b\"}]", "2", "6", "2", HOLDS, 3 },
    { "\"kind\":\"sums\",\"left\":[{\"line\":\"a\"}],\"right\":[{\"line\":\"b\"},{\"line\":\"b\"}]", "2", "6", "2",
      BY_LESS, 1.5 },
    { "\"kind\":\"peak\"," ONE, "4", "1,2,3,2", "", HOLDS, 4 },
    { "\"kind\":\"peak\"," ONE, "8", "1,2,3,2", "", BY_LESS, 4 },
    { "\"kind\":\"peak\"," ONE, "1", "1,2,3,2", "", DOES_NOT, 4 },
    { "\"kind\":\"at-most\"," ONE, "3", "1,2,3", "", HOLDS, 3 },
    { "\"kind\":\"at-most\"," ONE, "1", "1,2,3", "", DOES_NOT, 3 },
    { "\"kind\":\"above-limit\",\"bytes\":10,\"unit\":1,\"limit\":\"copy\"," ONE, "", "1,2", "", HOLDS, 2 },
    { "\"kind\":\"above-limit\",\"bytes\":1,\"unit\":1,\"limit\":\"copy\"," ONE, "", "1,2", "", DOES_NOT, 0.2 },
    { "\"kind\":\"above-limit\",\"bytes\":1,\"unit\":1,\"limit\":\"none\"," ONE, "", "1,2", "", CANNOT_BE_ASKED, NAN },
    { "\"kind\":\"outweighs\"," GRID, "", "1,4,1,5", "1,1,1,1", HOLDS, NAN },
    { "\"kind\":\"outweighs\"," GRID, "", "1,2,1.95,4", "1,1,1,1", HOLDS, NAN },
    { "\"kind\":\"outweighs\"," GRID, "", "1,1.95,2,4", "1,1,1,1", BY_LESS, NAN },
    { "\"kind\":\"outweighs\"," GRID, "", "1,1,4,5", "1,1,1,1", DOES_NOT, NAN },
    { "\"kind\":\"outweighs\"," GRID, "", "1,1,4,5", "", CANNOT_BE_ASKED, NAN },
    { "\"kind\":\"least-moves\"," MOVES, "", "1,2,2,1", "", HOLDS, NAN },
    { "\"kind\":\"least-moves\"," MOVES, "", "1,2,2,1,1,2,2,1", "", BY_LESS, NAN },
    { "\"kind\":\"least-moves\"," MOVES, "", "2,1,1,2", "", DOES_NOT, NAN },
    { "\"kind\":\"least-moves\"," MOVES, "", "2,1", "", CANNOT_BE_ASKED, NAN },
    { "\"kind\":\"no such kind\"," ONE, "", "1,2", "", CANNOT_BE_ASKED, NAN },
};

/* A line over x, or with `grid` in rows of two columns. */
static void add_line(cJSON *figures, const char *name, const char *values, bool grid)
{
    char  *rest = NULL, *copy = strdup(values);
    double x = 1;
    int    place = 0;
    for (char *value = strtok_r(copy, ",", &rest); value; value = strtok_r(NULL, ",", &rest), x *= 2, place++) {
        cJSON *figure = cJSON_CreateObject();
        cJSON_AddStringToObject(figure, "line", name);
        if (grid)
            cJSON_AddNumberToObject(figure, "row", floor(place / 2.0));
        cJSON_AddNumberToObject(figure, grid ? "column" : "x", grid ? place % 2 : x);
        cJSON_AddNumberToObject(figure, "value", strtod(value, NULL));
        cJSON_AddItemToArray(figures, figure);
    }
    free(copy);
}

static cJSON *small_paper(void)
{
    return cJSON_Parse("{\"structures\":{},\"experiments\":[{\"id\":\"e\",\"unit\":\"M elements/s\",\"runs\":[]}]}");
}

Test(claims, verdicts)
{
    cJSON *paper = small_paper(), *limits = cJSON_Parse("{\"copy\":10}");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char       text[600];
        cJSON     *all = cJSON_CreateObject(), *figures = cJSON_AddArrayToObject(all, "e");
        const bool grid = strstr(cases[c].test, "column");
        add_line(figures, "a", cases[c].a, grid);
        add_line(figures, "b", cases[c].b, grid);
        snprintf(text, sizeof text, "{\"id\":\"c\",\"experiment\":\"e\",%s%s%s\"test\":{%s}}",
                 *cases[c].said ? "\"paper\":" : "", cases[c].said, *cases[c].said ? "," : "", cases[c].test);
        cJSON *claim = cJSON_Parse(text);
        cr_assert(claim, "%s", text);
        const struct judgement judgement = claim_judge(paper, claim, all, limits);
        cr_expect_eq(judgement.verdict, cases[c].verdict, "%s with %s and %s: %s, %s", text, cases[c].a, cases[c].b,
                     verdict_name(judgement.verdict), judgement.why);
        cr_expect(isnan(cases[c].here) || fabs(judgement.here - cases[c].here) < 1e-9, "%s: %g", text, judgement.here);
        cJSON_Delete(claim);
        cJSON_Delete(all);
    }
    cJSON_Delete(limits);
    cJSON_Delete(paper);
}

/* ---- equal cells --------------------------------------------------------------------------------------------- */

/* Judges a test of a paper with a number `said` and rows `rows` by figures. */
static struct judgement judge_by(const char *test, const char *said, const char *rows, const char *figures)
{
    char text[1200];
    snprintf(text, sizeof text,
             "{\"structures\":{},\"experiments\":[{\"id\":\"e\",\"unit\":\"x\",\"runs\":[],\"rows\":%s,"
             "\"columns\":[\"s\",\"n\",\"value\"]}],\"claims\":[{\"experiment\":\"e\",\"paper\":%s,\"test\":{%s}}]}",
             rows, said, test);
    cJSON *paper = cJSON_Parse(text), *all = cJSON_CreateObject();
    cr_assert(paper, "%s", text);
    cJSON_AddItemToObject(all, "e", cJSON_Parse(figures));
    const struct judgement judgement = claim_judge(paper, list_of(paper, "claims")->child, all, NULL);
    cJSON_Delete(all);
    cJSON_Delete(paper);
    return judgement;
}

#define CELL(s, n, mix, value) "{\"s\":\"" s "\",\"n\":" #n ",\"mix\":" #mix ",\"value\":" #value "}"
#define RATIO                  "\"kind\":\"ratio\",\"left\":{\"s\":\"a\"},\"right\":{\"s\":\"b\"}"

Test(claims, both_sides_have_equal_cells)
{
    /* a at one mix and two sizes, b at another mix as well */
    const char *uneven =
        "[" CELL("a", 1, 2, 8) "," CELL("b", 1, 2, 4) "," CELL("b", 1, 40, 400) "," CELL("a", 9, 2, 800) "]";
    cr_expect_float_eq(judge_by(RATIO, "2", "[]", uneven).here, 2, 1e-9);
    cr_expect_eq(judge_by(RATIO, "2", "[]", "[" CELL("a", 1, 2, 8) "," CELL("b", 9, 2, 4) "]").verdict, CANNOT_BE_ASKED,
                 "other sizes");
    /* four mixes at 1, one of them at 9: only this one may show a change */
    const char *mixes = "[" CELL("a", 1, 2, 10) "," CELL("a", 1, 40, 2) "," CELL("a", 9, 2, 9) "]";
    cr_expect_float_eq(judge_by("\"kind\":\"change\",\"left\":{\"s\":\"a\"},\"along\":\"n\",\"from\":1,\"to\":9",
                                "[0.9,null]", "[]", mixes)
                           .here,
                       0.9, 1e-9);
    cr_expect_float_eq(judge_by("\"kind\":\"flat\",\"left\":{},\"along\":\"n\"", "1.1", "[]", mixes).here, 10 / 9.0,
                       1e-9);
    const struct judgement order = judge_by("\"kind\":\"order\",\"left\":[{\"s\":\"b\"},{\"s\":\"a\"}]", "null", "[]",
                                            "[" CELL("a", 1, 2, 8) "," CELL("b", 1, 2, 4) "," CELL("b", 9, 2, 400) "]");
    cr_expect_eq(order.verdict, DOES_NOT, "%s", order.why);
}

Test(claims, the_paper_is_asked_at_the_same_cells)
{
    /* its ratio is 4 at size 1, and 2 at size 9; over both 2.4 is said */
    const char            *rows = "[[\"a\",1,4],[\"b\",1,1],[\"a\",9,20],[\"b\",9,10],[\"a\",null,12],[\"b\",null,5]]";
    const char            *small = "[" CELL("a", 1, 2, 30) "," CELL("b", 1, 2, 10) "]";
    const struct judgement one = judge_by(RATIO, "2.4", rows, small);
    cr_expect_float_eq(one.there, 4, 1e-9);
    cr_expect_eq(one.verdict, BY_LESS, "3 is not 4: %s", one.why);
    cr_expect_eq(judge_by(RATIO, "2.4", "[]", small).verdict, HOLDS, "its text alone");
    cr_expect_eq(judge_by(RATIO, "2.4", rows, "[" CELL("a", 3, 2, 30) "," CELL("b", 3, 2, 10) "]").verdict,
                 CANNOT_BE_ASKED, "sizes that the paper does not have");
    cr_expect_eq(judge_by(RATIO, "0.5", rows, small).verdict, CANNOT_BE_ASKED, "cells that say the opposite");
    const char *scaled =
        "[{\"s\":\"a\",\"n\":1,\"scale\":8,\"value\":30},{\"s\":\"b\",\"n\":1,\"scale\":8,\"value\":10}]";
    cr_expect_eq(judge_by(RATIO, "2.4", "[]", scaled).verdict, CANNOT_BE_ASKED, "sizes that are not the paper's");
}

/* ---- times of batches ---------------------------------------------------------------------------------------- */

/* Times of batches that find 0 to 63 others there, by a model. Only this model may explain them. */
static void add_times(cJSON *figures, const char *model)
{
    /* Batches join as binary digits do: the merges of a batch that finds 0 to 7 others there. */
    static const int merges[] = { 0, 1, 0, 3, 0, 1, 0, 7 };
    for (int r = 0; r < 64; r++) {
        cJSON    *figure = cJSON_CreateObject();
        const int carry = r % 8 < 7 ? merges[r % 8] : r == 63 ? 63 : r % 16 < 15 ? 7 : r % 32 < 31 ? 15 : 31;
        cJSON_AddNumberToObject(figure, "r", r);
        cJSON_AddNumberToObject(figure, "value",
                                1 / (3 + (*model == 'c'               ? carry
                                          : strcmp(model, "log") == 0 ? log2(r + 1)
                                                                      : r)));
        cJSON_AddItemToArray(figures, figure);
    }
}

Test(claims, models_of_time)
{
    static const char *const models[] = { "carry", "log", "linear" };
    cJSON                   *paper = small_paper();
    for (int by = 0; by < 3; by++)
        for (int asked = 0; asked < 3; asked++) {
            char   text[300];
            cJSON *all = cJSON_CreateObject();
            add_times(cJSON_AddArrayToObject(all, "e"), models[by]);
            snprintf(text, sizeof text,
                     "{\"experiment\":\"e\",\"test\":{\"kind\":\"fit\",\"left\":{},\"along\":\"r\",\"model\":\"%s\","
                     "\"other\":\"%s\"}}",
                     models[asked], models[(asked + 1) % 3]);
            cJSON                 *claim = cJSON_Parse(text);
            const struct judgement judgement = claim_judge(paper, claim, all, NULL);
            if (asked == by)
                cr_expect_eq(judgement.verdict, HOLDS, "%s: %s", text, judgement.why);
            else
                cr_expect_neq(judgement.verdict, HOLDS, "%s of %s: %s", text, models[by], judgement.why);
            cJSON_Delete(claim);
            cJSON_Delete(all);
        }
    cJSON_Delete(paper);
}

/* ---- figures of rows ----------------------------------------------------------------------------------------- */

static double value_at(const cJSON *figures, const char *cells_text)
{
    cJSON       *cells = cJSON_Parse(cells_text);
    struct line  line = figures_select(figures, cells, NULL, true);
    const double value = line_mean(&line);
    free(line.points);
    cJSON_Delete(cells);
    return value;
}

static cJSON *figures_of(const char *run_text, const char *row_text, double scale)
{
    cJSON *paper = cJSON_Parse("{\"structures\":{\"tree\":{\"ordo\":\"blink\"}}}");
    cJSON *run = cJSON_Parse(run_text), *row = cJSON_Parse(row_text), *figures = cJSON_CreateArray();
    cr_assert(run && row);
    figures_add(&(struct measured_run) { paper, run, NULL, scale }, row, figures);
    cJSON_Delete(row);
    cJSON_Delete(run);
    cJSON_Delete(paper);
    return figures;
}

#define ROW "\"check\":\"ok\",\"variant\":\"blink\",\"count\":40e6,\"operations\":40e6,\"batch\":10e6,"

Test(claims, rates_are_recomputed_from_samples)
{
    cJSON *figures = figures_of("{\"stats\":[\"min\",\"max\",\"mean\"],\"n\":[160000000],\"batches\":[40000000]}",
                                "{" ROW "\"rate\":1,\"samples_s\":[9],\"batches_s\":[1,1,2,4]}", 4);
    cr_expect_float_eq(value_at(figures, "{\"structure\":\"tree\",\"stat\":\"min\",\"batch\":10000000}"), 2.5, 1e-6);
    cr_expect_float_eq(value_at(figures, "{\"stat\":\"max\",\"n\":40000000,\"scale\":4}"), 10, 1e-6);
    cr_expect_float_eq(value_at(figures, "{\"stat\":\"mean\"}"), 5, 1e-6);
    cr_expect(isnan(value_at(figures, "{\"stat\":\"mean\",\"batch\":40000000}")), "sizes are those that ran");
    cJSON_Delete(figures);

    figures = figures_of("{\"stats\":[\"min\",\"max\",\"mean\"]}",
                         "{" ROW "\"rate\":1,\"fills\":[{\"samples_s\":[1,1,9]},{\"samples_s\":[5,4,3]}]}", 1);
    cr_expect_float_eq(value_at(figures, "{\"stat\":\"min\"}"), 10, 1e-6);
    cr_expect_float_eq(value_at(figures, "{\"stat\":\"max\"}"), 40, 1e-6);
    cr_expect_float_eq(value_at(figures, "{\"stat\":\"mean\"}"), 16, 1e-6, "the harmonic mean of 40 and 10");
    cJSON_Delete(figures);

    figures = figures_of("{\"value\":\"ms\",\"cells\":{\"step\":\"one\",\"batch\":null}}",
                         "{" ROW "\"samples_s\":[2,3,4]}", 4);
    cr_expect_float_eq(value_at(figures, "{\"step\":\"one\"}"), 3000, 1e-3, "a time is what it took");
    cr_expect(isnan(value_at(figures, "{\"batch\":10000000}")), "a cell that is null is none");
    cJSON_Delete(figures);

    figures = figures_of("{\"each\":\"so far\"}", "{" ROW "\"batches_s\":[1,1,2,4]}", 1);
    cr_expect_float_eq(value_at(figures, "{\"r\":2}"), 10, 1e-6);
    cr_expect_float_eq(value_at(figures, "{\"r\":4}"), 5, 1e-6);
    cJSON_Delete(figures);

    figures = figures_of("{\"each\":\"time\"}", "{" ROW "\"batches_s\":[1,1,2,4]}", 1);
    cr_expect_float_eq(value_at(figures, "{\"r\":0}"), 1000, 1e-6, "the first finds no batch there");
    cr_expect_float_eq(value_at(figures, "{\"r\":3}"), 4000, 1e-6);
    cJSON_Delete(figures);

    figures = figures_of("{\"value\":\"no such value\"}", "{" ROW "\"samples_s\":[2]}", 1);
    cr_expect(isnan(value_at(figures, "{}")), "an unknown word gives no figure");
    cJSON_Delete(figures);

    figures = figures_of("{}", "{\"check\":\"WRONG\",\"samples_s\":[1],\"operations\":1}", 1);
    cr_expect_eq(cJSON_GetArraySize(figures), 0, "what is wrong is no figure");
    cJSON_Delete(figures);
}

Test(claims, ratios_are_the_worst_and_the_best)
{
    cJSON *of =
        cJSON_Parse("[{\"s\":\"a\",\"n\":1,\"mix\":0.1,\"value\":6},{\"s\":\"b\",\"n\":1,\"mix\":0.1,\"value\":2},"
                    "{\"s\":\"a\",\"n\":1,\"mix\":0.2,\"value\":5},{\"s\":\"b\",\"n\":1,\"mix\":0.2,\"value\":10},"
                    "{\"s\":\"a\",\"n\":1,\"mix\":0.3,\"value\":9},{\"s\":\"a\",\"n\":2,\"mix\":0.1,\"value\":9}]");
    cJSON *ratios = cJSON_Parse(
        "{\"left\":{\"s\":\"a\"},\"right\":{\"s\":\"b\"},\"along\":\"n\",\"for\":\"mix\",\"as\":\"which\"}");
    cJSON *figures = cJSON_CreateArray();
    figures_add_ratios(ratios, of, figures);
    cr_expect_eq(cJSON_GetArraySize(figures), 2, "at 2 there is nothing to set it against");
    cr_expect_float_eq(value_at(figures, "{\"n\":1,\"which\":\"worst\"}"), 0.5, 1e-6);
    cr_expect_float_eq(value_at(figures, "{\"n\":1,\"which\":\"best\"}"), 3, 1e-6);
    cJSON_Delete(figures);
    cJSON_Delete(ratios);
    cJSON_Delete(of);
}

Test(claims, crossovers_lie_between_neighbours)
{
    cJSON *figures = cJSON_Parse(
        "[{\"q\":\"insert\",\"batch\":1,\"n\":1,\"value\":4},{\"q\":\"insert\",\"batch\":1,\"n\":16,\"value\":4},"
        "{\"q\":\"build\",\"n\":1,\"value\":1},{\"q\":\"build\",\"n\":16,\"value\":16}]");
    cJSON *crossover =
        cJSON_Parse("{\"along\":\"n\",\"left\":{\"q\":\"insert\"},\"right\":{\"q\":\"build\"},\"for\":\"batch\","
                    "\"gives\":{\"q\":\"crossover\"}}");
    figures_add_crossovers(crossover, figures);
    cr_expect_float_eq(value_at(figures, "{\"q\":\"crossover\",\"batch\":1}"), 4, 1e-6);
    cJSON_Delete(crossover);
    cJSON_Delete(figures);
}
