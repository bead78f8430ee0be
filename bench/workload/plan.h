/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, and what all of its parts are drawn with: keys of the table, and keys that requests ask for. */
#ifndef BENCH_WORKLOAD_PLAN_H
#define BENCH_WORKLOAD_PLAN_H

#include "keys.h"
#include "model.h"
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
bool draw_elements(const struct dict_plan *plan, struct column_batch *cols, int from_stream, size_t first,
                   size_t count);
/* Upserts of all elements. False without memory. */
bool fill_script(const struct dict_plan *plan, struct script *script);

/* The value of a key (in stored form) where its key alone decides it; and gives that to a row. */
static inline uint64_t value_by_key(uint64_t key)
{
    return draw(STREAM_NEW, key);
}
void set_value_by_key(struct column_batch *cols, size_t row);
void set_values_by_key(struct column_batch *cols, size_t rows);

size_t batches_of(size_t batch, size_t count);
/* Steps of one batch each, over `count` rows from `at` on. */
void batch_steps(size_t batch, struct step *steps, enum step_call call, size_t at, size_t count);

/* ---- requests ------------------------------------------------------------------------------------------------ */

/* Takes the ordered form. */
void set_stored(struct column_batch *cols, enum column_id column, size_t row, uint64_t key);
/* Which key of the model the i-th of `count` requests is about. */
size_t pick(const struct dict_plan *plan, size_t i, size_t count);
/* The same of so many keys. */
size_t pick_of(const struct dict_plan *plan, size_t keys, size_t i, size_t count);
/* The highest key there is, in ordered form. */
uint64_t highest(const struct dict_plan *plan);
/* The interval of row `row`, from the model's key `at` on: of 1 to 2 width - 1 keys. */
void set_interval(const struct dict_plan *plan, struct column_batch *cols, size_t row, size_t at);

struct requests {
    const struct dict_plan *plan;
    struct column_batch    *cols;
    size_t                  at; /* row of the first */
    size_t                  count;
};
/* An each_fn (threads.h): the i-th request is for a key that is there, or not, as the workload says. */
void point_at(void *requests, size_t i);

/* The timed calls of workloads that change a dictionary by batches in order. All draw plan->work (churn also plan->churn),
 * after the model has the table, and are false without memory. */

/* Requests, each for a key that was there at first. */
bool draw_changes(struct dict_plan *plan, enum step_call call);
/* One batch of new keys. */
bool draw_inserts(struct dict_plan *plan);
/* Rounds of a batch of upserts of new keys, and a batch of finds. */
bool draw_rounds(struct dict_plan *plan);
/* Mixed batches. */
bool draw_mix(struct dict_plan *plan);
/* Some are replaced, then as many others erased (spec_churn); timed is what cleans up after it. */
bool draw_churn(struct dict_plan *plan);

/* The timed calls of tasks, each some rounds of a few calls. As those of plan_updates.h. */

/* One batch of intervals, which may overlap. */
bool draw_erase_ranges(struct dict_plan *plan);
/* Rounds: the first elements are taken, as many new ones put in. */
bool draw_queue(struct dict_plan *plan);
/* Keys are times. Rounds: newer keys come, and as many of the oldest go. */
bool draw_expiry(struct dict_plan *plan);
/* Rounds: quantities are added to prices, and the least and the greatest price asked for. */
bool draw_order_book(struct dict_plan *plan);

/* Questions about prefixes: an X-fast trie answers them itself, other structures in another way that gives the same. As plan_updates.h. */

/* The table of longestprefix. Of the X-fast trie: prefixes, among them that of no bits. Of others: where each stretch of addresses begins
 * that have one longest prefix, with its value, which is that of the last of these at or before an address. */
bool prefix_script(const struct dict_plan *plan, struct script *script);
/* The queries of both, and their one step. */
bool draw_prefix_queries(struct dict_plan *plan);

/* The timed calls of workloads of concurrent batches: one batch each. Draw plan->work after the model has the table; false
 * without memory. */

/* Upserts. Which of equal keys is the first there is no telling: nobody asks what was found. */
bool draw_concurrent_upserts(struct dict_plan *plan, int from_stream);
/* Operations of every kind, each of which has a key, and what is near it, for itself. */
bool draw_concurrent_mix(struct dict_plan *plan);

/* Keys of a range of spec.count, in ordered form, and back. */
uint64_t range_key(const struct dict_plan *plan, size_t i);
size_t   range_place(const struct dict_plan *plan, uint64_t key);
/* Half of them as the table; inserts, erases and finds of any of them, of which only explain.h knows whether what they
 * return is right. */
bool draw_half_of_range(struct dict_plan *plan);
bool draw_concurrent_points(struct dict_plan *plan);

/* A workload on a dictionary, spelled out: what is put in beforehand and the calls to be timed, with all that they get
 * and all that they must give. Knows no dictionary but the model. */

/* Draws the table and, unless the workload is one of queries, everything else; the model goes through it all. False
 * without memory: then *plan is empty. */
bool plan_make(const struct spec *spec, struct dict_plan *plan);
void plan_free(struct dict_plan *plan);

/* Whether the workload is one of queries, which are timed at several fills of the dictionary. */
bool plan_has_fills(enum workload workload);
/* The number of such fills, and how many of the table's batches the i-th has: ascending. */
size_t plan_fills(const struct dict_plan *plan);
size_t plan_fill(const struct dict_plan *plan, size_t i);
/* Brings the model from the fill before to the i-th, and draws the queries for that; or takes those that were drawn for it before. False
 * without memory. */
bool plan_advance(struct dict_plan *plan, size_t i);

/* The plan of a point, as plan_make makes it: that of the call before, where both differ in nothing but the structure. It belongs to
 * this module, and the next call may change it. NULL without memory. */
struct dict_plan *plan_borrow(const struct spec *spec);
/* To be called when the plan is done with: it stays for the next call if all went well with it and it is small beside the host's
 * memory. */
void plan_return(bool good);

/* Bytes of all that a device must hold for it, roughly, and of the largest buffer: for one that may be too small. */
struct workload_bytes plan_bytes(const struct spec *spec);

/* Whether there is an order of a concurrent batch's operations that explains what they returned, where several are about one key:
 * of inserts, erases and finds all of which overlap. */

/* found, values_out: what the work of a plan of concurrentpoints returned. *after: what the dictionary then holds, which the
 * caller frees with model_free. False, with the reason in `why`, if nothing explains it, or without memory. */
bool explain_points(const struct dict_plan *plan, const uint8_t *found, const void *values_out, struct model *after,
                    char *why, size_t why_bytes);

#endif
