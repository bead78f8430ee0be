/* SPDX-License-Identifier: Apache-2.0 */
/* What goes into calls on dictionaries and what comes out, in host memory: a cols of columns, and the steps that work
 * on its rows. The same script runs on a dictionary (dict_subject.h) and on the model (model_step.h). */
#ifndef BENCH_WORKLOAD_MODEL_H
#define BENCH_WORKLOAD_MODEL_H

#include "workload.h"

#include "ordo/dict.h"
#include "ordo/ordo.h"

enum column_id {
    /* inputs */
    COL_CODES,
    COL_KEYS, /* of counts and ranges the lower bounds */
    COL_HIS,
    COL_VALUES,
    COL_RANKS,   /* of selections */
    COL_LENGTHS, /* of prefixes, in bits: bytes */
    /* outputs */
    COL_FOUND,
    COL_KEYS_OUT,
    COL_VALUES_OUT,
    COL_COUNTS,
    COL_OFFSETS,
    COL_RANGE_KEYS,
    COL_RANGE_VALUES,
    COL_OUTCOMES,
    N_COLUMNS
};
#define FIRST_OUTPUT COL_FOUND

struct column_batch {
    ordo_type type;
    uint32_t  value_bytes;
    size_t    rows[N_COLUMNS]; /* 0: there is no such column */
    void     *at[N_COLUMNS];
    /* Where each key stands in the model, or thereabouts: spares the model a search. NULL: not known. Host only. */
    uint32_t *hints;
};

/* Bytes of an element of a column; 0 for values of no bytes. */
size_t      column_width(const struct column_batch *cols, enum column_id column);
const char *column_name(enum column_id column);

/* Gives a column room for `rows`; outputs are filled with POISON_BYTE. What it held is lost. False without memory. */
bool column_reserve(struct column_batch *cols, enum column_id column, size_t rows);
/* The same of several: a sum of bits IN(KEYS), IN(VALUES) ... */
#define IN(name) (1u << COL_##name)
bool columns_reserve(struct column_batch *cols, size_t rows, unsigned columns);
/* Gives a column of outputs room for `rows` and keeps what it holds. */
bool column_grow(struct column_batch *cols, enum column_id column, size_t rows);
void columns_clear(struct column_batch *cols);

static inline uint64_t column_get(const struct column_batch *cols, enum column_id column, size_t row)
{
    return element(cols->at[column], column_width(cols, column), row);
}
/* Nothing without such a column. */
void column_set(struct column_batch *cols, enum column_id column, size_t row, uint64_t value);

/* ---- scripts ------------------------------------------------------------------------------------------------- */

enum step_call {
    DO_BUILD,
    DO_UPSERT,
    DO_ERASE,
    DO_COMBINE, /* sums */
    DO_ERASE_RANGE,
    DO_TAKE_FIRST,
    DO_PEEK_FIRST,
    DO_PEEK_LAST,
    DO_FIND,
    DO_SEEK,
    DO_COUNT,
    DO_RANGE,
    DO_RANK, /* keys that are less */
    DO_SELECT,
    DO_SEEK_WITHIN,
    DO_PAGE,
    DO_AGGREGATE, /* sums */
    DO_LONGEST_PREFIX,
    DO_COUNT_PREFIX,
    DO_APPLY,
    DO_CONCURRENT,
    DO_CLEAN_UP,
    DO_COMPACT,
    DO_EXPORT /* all elements, as the elements of one range */
};

/* One call on rows at .. at + count - 1. */
struct step {
    enum step_call call;
    ordo_relation  relation; /* of seeks */
    size_t         at, count;
    size_t         limit;                 /* of pages */
    size_t         offsets_at;            /* ranges: where their count + 1 offsets begin, and ... */
    size_t         range_at, range_count; /* ... their elements, which the model finds out */
};

struct script {
    struct column_batch cols;
    struct step        *steps;
    size_t              n_steps;
};

/* Room for n steps, all zero; one step. False without memory. */
bool script_steps(struct script *script, size_t n);
bool script_one(struct script *script, struct step step);
void script_free(struct script *script);

/* The dictionary that others are checked against: a sorted array in host memory, changed and queried by plain code. */

struct model {
    ordo_type type;
    uint32_t  key_bytes, value_bytes;
    size_t    count;
    void     *keys; /* distinct and ascending, in ordered form (key_order of keys.h) */
    void     *values;
};

struct model model_empty(ordo_type type, uint32_t value_bytes);
void         model_free(struct model *model);

static inline uint64_t model_key(const struct model *model, size_t i)
{
    return element(model->keys, model->key_bytes, i);
}
static inline uint64_t model_value(const struct model *model, size_t i)
{
    return model->value_bytes ? element(model->values, model->value_bytes, i) : 0;
}

/* How many keys are below `key` (ordered form); quick if it is `hint`. */
size_t model_below(const struct model *model, uint64_t key, size_t hint);
/* How many keys are at or below `key`, of which `from` are known to be; quick if it is little more. */
size_t model_up_to(const struct model *model, uint64_t key, size_t from);

/* The steps of a script, done by the model. */

/* Does the step (of a concurrent batch: one whose results no order of its operations would change), and writes to the
 * cols's outputs what a dictionary must give. Range columns grow as needed, and the step learns how many elements it
 * gives. False without memory. */
bool model_do(struct model *model, struct column_batch *cols, struct step *step);
/* The whole script; elements of ranges follow those of the steps before. */
bool model_run(struct model *model, struct script *script);

/* Mixed batches on the model. */

/* Does a step of DO_APPLY as model_do (model_step.h) does. */
bool model_apply(struct model *model, struct column_batch *cols, struct step *step);

/* A prefix as a key, and how many bits it has (ordo/xfast.h); the least and the greatest key that begin with the first bits of one. */
uint64_t prefix_key(ordo_type type, uint64_t bits, unsigned length);
unsigned prefix_length(ordo_type type, uint64_t prefix);
uint64_t prefix_least(ordo_type type, uint64_t bits, unsigned length);
uint64_t prefix_greatest(ordo_type type, uint64_t bits, unsigned length);

/* Ranges erased, and the ends of the model taken or looked at. Each does its step as model_do (model_step.h) does. */

/* False without memory. */
bool model_erase_ranges(struct model *model, struct column_batch *cols, const struct step *step);
void model_take_first(struct model *model, struct column_batch *cols, const struct step *step);
/* The first or the last elements, as step->call says. */
void model_peek(const struct model *model, struct column_batch *cols, const struct step *step);

#endif
