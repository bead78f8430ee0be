/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments, figures and claims of papers as data (README.md explains the fields). */
#ifndef BENCH_PAPERS_PAPERS_H
#define BENCH_PAPERS_PAPERS_H

#include "bench/common/why.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Loads a built-in paper, or a file if the name ends in .json. NULL with the reason in `why`. The caller deletes it. */
cJSON *paper_load(const char *name, char *why);

/* Ordo's name of a paper's structure; "" if it has none. */
const char *paper_structure(const cJSON *paper, const char *structure);
/* The paper's name of Ordo's structure; "" if it has none. */
const char *paper_name_of(const cJSON *paper, const char *ordo);
/* Whether Ordo has the structure. */
bool paper_has(const cJSON *paper, const char *structure);
/* NULL, or the needed structure that is missing. */
const char *paper_needs(const cJSON *paper);

const cJSON *paper_experiment(const cJSON *paper, const char *id);

/* Figures are objects { column: value, ..., "value": number }: a paper's rows, or computed from rows of ordo-bench. */

struct figure_point {
    double x, y;
};

/* One of the paper's "runs". Its sizes and batches are the paper's over `scale`; figures have the sizes that ran. */
struct measured_run {
    const cJSON *paper, *run, *limits;
    double       scale;
};

/* Adds the figures of a row. Rates come from its samples. */
void figures_add(const struct measured_run *measured, const cJSON *row, cJSON *figures);
/* Adds a figure that is a device limit. */
void figures_add_limit(const struct measured_run *measured, cJSON *figures);
/* Adds the first place on an axis where `left` and `right` change the lead, interpolated by logarithms. */
void figures_add_crossovers(const cJSON *crossover, cJSON *figures);

/* Adds "worst" and "best" at each place: the least and the largest ratio of `left` to `right` in figures `of`
 * another experiment. */
void figures_add_ratios(const cJSON *ratios, const cJSON *of, cJSON *figures);

/* Figures along an axis, ascending. */
struct line {
    struct figure_point *points;
    int                  n;
    bool                 rates; /* means are harmonic */
};

/* Some figures. The caller frees `all`. */
struct figure_set {
    const cJSON **all;
    int           n;
};

/* The figures with the given cells; null matches any. */
struct figure_set figures_with(const cJSON *figures, const cJSON *cells);
/* Keeps each figure with a partner in `other`, which has the same cells but for the columns of either selection. */
void set_meet(struct figure_set *set, const struct figure_set *other, const cJSON *cells, const cJSON *other_cells);
/* Keeps the figures whose other cells all places along an axis have. */
void set_balance(struct figure_set *set, const char *along);
/* Their values by axis `along`, equal places averaged. along NULL: all at 0. The caller frees line.points. */
struct line set_line(const struct figure_set *set, const char *along, bool rates);
/* The line of the figures with the given cells. */
struct line figures_select(const cJSON *figures, const cJSON *cells, const char *along, bool rates);
/* The mean; NaN for none. */
double line_mean(const struct line *line);
/* The first point with the least or the largest figure, { NaN, NaN } for none; the figure at a place, NaN for none. */
const struct figure_point *line_least(const struct line *line);
const struct figure_point *line_most(const struct line *line);
double                     line_at(const struct line *line, double x);
/* Keep the places that both have; and divide `a` by `b`, unless `b` has no points. */
void line_meet(struct line *a, struct line *b);
void line_divide(struct line *a, struct line *b);

/* Cells and one more, which the caller deletes. */
cJSON *with_cell(const cJSON *cells, const char *column, double number);

/* The cells of a row without "value". The caller deletes it. */
cJSON *figure_cells(const cJSON *experiment, const cJSON *row);
/* The number in the row; NaN if missing. */
double figure_value(const cJSON *experiment, const cJSON *row);

/* All rows of the paper as figures, by experiment id. The caller deletes them. */
cJSON *paper_figures(const cJSON *paper);

/* Whether the unit is a rate, so that means are harmonic. */
bool figures_are_rates(const cJSON *experiment);

enum verdict {
    HOLDS,   /* within a tenth */
    BY_LESS, /* in the same direction */
    DOES_NOT,
    CANNOT_BE_ASKED,
    N_VERDICTS
};
const char *verdict_name(enum verdict verdict);

struct judgement {
    enum verdict verdict;
    double       here;           /* the measured figure; NaN: none */
    double       there;          /* the paper's at the cells that were measured; NaN: its text has it, or none */
    char         why[WHY_BYTES]; /* the reason */
};

/* Judges a claim by figures (by experiment id) and device limits. */
struct judgement claim_judge(const cJSON *paper, const cJSON *claim, const cJSON *figures, const cJSON *limits);

#endif
