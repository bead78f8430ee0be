/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, and what all of its parts are drawn with: keys of the table, and keys that requests ask for. */
#ifndef BENCH_PLAN_DRAW_H
#define BENCH_PLAN_DRAW_H

#include "keys.h"
#include "model.h"
#include "sheet.h"
#include "workload.h"

struct dict_plan {
    struct spec spec;
    /* Upserts in batches of spec_batch, by which a dictionary gets its content. */
    struct script table;
    /* What happens to it before the timed calls, such as that elements become stale. */
    struct script churn;
    /* The timed calls. Of queries those of the fill at hand. */
    struct script work;
    /* Queries of each fill that was reached, where there is room to keep them; else only the one in `work`. */
    struct script *asked;
    size_t         n_asked;
    bool           keeps;
    /* After the table's batches that were done so far; in the end, after all that is to be timed. */
    struct model model;
};

/* Streams of draws that have nothing to do with each other. */
enum { STREAM_TABLE, STREAM_NEW, STREAM_PICK, STREAM_MISS, STREAM_WIDTH, STREAM_CODE };
uint64_t stream(const struct dict_plan *plan, int which);

/* ---- the table ----------------------------------------------------------------------------------------------- */

/* Whether what is timed is how the dictionary gets its content. */
bool is_fill(enum workload workload);

/* Keys and values that upserts will store: values say which of the workload's elements they are, from `first` on. False
 * without memory. */
bool draw_elements(const struct dict_plan *plan, struct sheet *sheet, int from_stream, size_t first, size_t count);
/* Upserts of all elements. False without memory. */
bool fill_script(const struct dict_plan *plan, struct script *script);

/* The value of a key (in stored form) where its key alone decides it; and gives that to a row. */
static inline uint64_t value_by_key(uint64_t key)
{
    return draw(STREAM_NEW, key);
}
void set_value_by_key(struct sheet *sheet, size_t row);
void set_values_by_key(struct sheet *sheet, size_t rows);

size_t batches_of(size_t batch, size_t count);
/* Steps of one batch each, over `count` rows from `at` on. */
void batch_steps(size_t batch, struct step *steps, enum step_call call, size_t at, size_t count);

/* ---- requests ------------------------------------------------------------------------------------------------ */

/* Takes the ordered form. */
void set_stored(struct sheet *sheet, enum column_id column, size_t row, uint64_t key);
/* Which key of the model the i-th of `count` requests is about. */
size_t pick(const struct dict_plan *plan, size_t i, size_t count);
/* The same of so many keys. */
size_t pick_of(const struct dict_plan *plan, size_t keys, size_t i, size_t count);
/* The highest key there is, in ordered form. */
uint64_t highest(const struct dict_plan *plan);
/* The interval of row `row`, from the model's key `at` on: of 1 to 2 width - 1 keys. */
void set_interval(const struct dict_plan *plan, struct sheet *sheet, size_t row, size_t at);

struct requests {
    const struct dict_plan *plan;
    struct sheet           *sheet;
    size_t                  at; /* row of the first */
    size_t                  count;
};
/* A span_fn (threads.h) over requests: keys that are there, or not, as the workload says. */
void point_span(void *requests, size_t from, size_t to, int part);

#endif
