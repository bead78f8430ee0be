/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of each point of the axes, and its form in JSON (bench/README.md says what each field means). */
#ifndef BENCH_BENCH_ROWS_H
#define BENCH_BENCH_ROWS_H

#include "bench/common/json.h"
#include "bench/common/timing.h"
#include "bench/measure/dict_measure.h"
#include "bench/peers/dict_yardstick.h"

enum outcome { GOOD, WRONG, FAILED, TOO_LARGE, SKIPPED, N_OUTCOMES };
const char *outcome_name(enum outcome outcome);

struct row {
    struct spec         spec;
    enum outcome        outcome;
    char                why[512];
    struct timing       timing;
    double              rate, bytes_per_second, copy_share; /* by the wall clock; NaN where nothing was measured */
    struct transfers    transfers;                          /* 0 where arrays are the device's */
    double              transfer_share;            /* of the time, what they take at the rates of the device's limits */
    double              yardstick[MAX_YARDSTICKS]; /* operations a second */
    uint64_t            scratch_bytes;
    size_t              index_bytes;
    double              index_seconds;
    struct dict_figures dict;       /* of a dictionary's workload */
    double              array_rate; /* the same by a sorted array; NaN: not known */
    const cJSON        *peer;       /* NULL: none */
    double              before;     /* rate in the file to compare with; NaN: not there */
};

/* Nothing measured yet. What row->dict holds later is the caller's to free (dict_figures_free). */
void row_empty(struct row *row, const struct spec *spec);

/* The caller deletes it. */
cJSON *row_to_json(const struct row *row);
/* The fields that say where a row lies. The caller deletes it. */
cJSON *row_point(const struct spec *spec);
/* "rate" and all of the timing into an object; and one of its spreads back. */
void          json_timing(cJSON *json, double rate, const struct timing *timing);
struct spread spread_from_json(const cJSON *row, const char *name);
/* Whether two rows, or points, are of the same point. */
bool rows_are_alike(const cJSON *a, const cJSON *b);

/* Options of ordo-bench that measure this row alone, but for the seed, repetitions and device. */
#define MOST_WORDS 40
#define WORD_BYTES 128
struct command {
    char words[MOST_WORDS][WORD_BYTES];
    int  n;
};
void row_command(const cJSON *row, struct command *command);
/* What tables show of a row, into an empty one. row->peer points into the JSON. */
void row_from_json(struct row *row, const cJSON *json);

#endif
