/* SPDX-License-Identifier: Apache-2.0 */
/* Papers' experiments as data (README.md here says what each field means): what is to be measured, the figures that a paper's
 * text gives, and what it claims. */
#ifndef BENCH_PAPERS_PAPERS_H
#define BENCH_PAPERS_PAPERS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* The built-in paper of that name, or a file that a name ending in .json says. NULL with the reason in `why`. The caller
 * deletes it. */
cJSON *paper_load(const char *name, char *why, size_t why_bytes);

/* What Ordo calls a structure of the paper's; "" if it has none. */
const char *paper_structure(const cJSON *paper, const char *structure);
/* The paper's name for what Ordo calls so; "" if it has none. */
const char *paper_name_of(const cJSON *paper, const char *ordo);
/* Whether Ordo has the structure here. */
bool paper_has(const cJSON *paper, const char *structure);
/* NULL if some structure that only Ordo can stand for is there; else what the paper needs and is not. */
const char *paper_needs(const cJSON *paper);

const cJSON *paper_experiment(const cJSON *paper, const char *id);

/* Figures: numbers with the cells (column: value) that say what they are of. A paper's are its rows; those measured here are
 * made of rows of ordo-bench. Both are arrays of objects { column: value, ..., "value": number }. */

struct figure_point {
    double x, y;
};

/* One of the paper's "runs" as it was measured: sizes and batches are the paper's over `scale`. */
struct measured_run {
    const cJSON *paper, *run, *limits;
    double       scale;
};

/* Adds what a row of the run says to `figures`. Rates are recomputed from the row's samples. */
void figures_add(const struct measured_run *measured, const cJSON *row, cJSON *figures);
/* Adds what a run says that is only a limit of the device. */
void figures_add_limit(const struct measured_run *measured, cJSON *figures);
/* Adds where, along an axis, `left` comes to lie below `right`: between neighbours by their logarithms. */
void figures_add_crossovers(const cJSON *crossover, cJSON *figures);

/* Adds, at each place of an axis, the least and the largest of the ratios of `left` to `right` among figures `of` another
 * experiment, of which there is one for each value of a second column: "worst" and "best". */
void figures_add_ratios(const cJSON *ratios, const cJSON *of, cJSON *figures);

/* The figures in which all cells are those given (null: any, and "experiment" is none), by the axis `along`, ascending, several at
 * one place as their mean (harmonic, if they are rates); NULL: all as one, at 0. The caller frees *points. */
int figures_select(const cJSON *figures, const cJSON *cells, const char *along, bool rates,
                   struct figure_point **points);
/* Their mean; NaN of none. */
double figures_mean(const struct figure_point *points, int n, bool rates);

/* A row of an experiment's columns as the cells it has; "value" is not among them. The caller deletes it. */
cJSON *figure_cells(const cJSON *experiment, const cJSON *row);
/* The number in the row; NaN if it has none. */
double figure_value(const cJSON *experiment, const cJSON *row);

/* Whether the experiment's unit is a rate: means are harmonic. */
bool figures_are_rates(const cJSON *experiment);

/* Whether what a paper claims holds of figures measured here. */

enum verdict {
    HOLDS,   /* as the paper says, to a tenth */
    BY_LESS, /* in the same direction */
    DOES_NOT,
    CANNOT_BE_ASKED,
    N_VERDICTS
};
const char *verdict_name(enum verdict verdict);

struct judgement {
    enum verdict verdict;
    double       here;     /* the figure that stands beside the claim's "paper"; NaN: none */
    char         why[240]; /* what was seen; of what cannot be asked why not */
};

/* `figures` has an array of figures (figures.h) by the id of each experiment, `limits` those of the device. */
struct judgement claim_judge(const cJSON *paper, const cJSON *claim, const cJSON *figures, const cJSON *limits);

#endif
