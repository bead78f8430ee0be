/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and outputs of dictionary calls in host memory: a batch of columns, and steps that use its rows. A script
 * runs on a dictionary (dict_measure.c) and on the model (model_run.c). */
#pragma once

#include "workload.h"

#include "ordo/dict.h"
#include "ordo/ordo.h"

/* id, name, bytes of an element of a batch with keys of `key` and values of `value` bytes. Inputs come first. */
#define COLUMN_MAP(X)                                                                                                  \
    X(CODES, "codes", 1)                                                                                               \
    X(KEYS, "keys", key) /* lower bounds of counts and ranges */                                                       \
    X(HI, "hi", key)                                                                                                   \
    X(VALUES, "values", value)                                                                                         \
    X(RANKS, "ranks", 4)     /* for selections */                                                                      \
    X(LENGTHS, "lengths", 1) /* of prefixes, in bits */                                                                \
    X(ROOMS, "rooms", 8)     /* of concurrent ranges */                                                                \
    X(FOUND, "found", 1)                                                                                               \
    X(KEYS_OUT, "keys_out", key)                                                                                       \
    X(VALUES_OUT, "values_out", value)                                                                                 \
    X(COUNTS, "counts", 4)                                                                                             \
    X(OFFSETS, "offsets", 8)                                                                                           \
    X(RANGE_KEYS, "range_keys", key)                                                                                   \
    X(RANGE_VALUES, "range_values", value)                                                                             \
    X(OUTCOMES, "outcomes", 1)

enum column_id {
#define X(id, name, width) COL_##id,
    COLUMN_MAP(X)
#undef X
        N_COLUMNS,
    FIRST_OUTPUT = COL_FOUND
};

struct column_batch {
    ordo_type type;
    uint32_t  value_bytes;
    size_t    rows[N_COLUMNS]; /* 0: no such column */
    void     *at[N_COLUMNS];
    /* The approximate place of each key in the model, to save a search. NULL: unknown. */
    uint32_t *hints;
};

/* Bytes of an element; 0 for values of 0 bytes. */
size_t      column_width(const struct column_batch *cols, enum column_id column);
const char *column_name(enum column_id column);

/* Allocates `rows` rows; outputs get POISON_BYTE. Old content is lost. False without memory. */
bool column_reserve(struct column_batch *cols, enum column_id column, size_t rows);
/* Allocates several: a sum of bits IN(KEYS), IN(VALUES), ... */
#define IN(name) (1u << COL_##name)
bool columns_reserve(struct column_batch *cols, size_t rows, unsigned columns);
/* Enlarges a column of outputs and keeps its content. */
bool column_grow(struct column_batch *cols, enum column_id column, size_t rows);
void columns_clear(struct column_batch *cols);

/* Returns a key of 16 bytes as its number; column_set takes the number. */
uint64_t column_get(const struct column_batch *cols, enum column_id column, size_t row);
/* Does nothing without the column. */
void column_set(struct column_batch *cols, enum column_id column, size_t row, uint64_t value);

/* ---- scripts ------------------------------------------------------------------------------------------------- */

enum step_call {
    DO_BUILD,
    DO_UPSERT,
    DO_ERASE,
    DO_COMBINE, /* adds */
    DO_ERASE_RANGE,
    DO_TAKE_FIRST,
    DO_PEEK_FIRST,
    DO_PEEK_LAST,
    DO_FIND,
    DO_SEEK,
    DO_COUNT,
    DO_RANGE,
    DO_RANK, /* number of smaller keys */
    DO_SELECT,
    DO_SEEK_WITHIN,
    DO_PAGE,
    DO_AGGREGATE, /* adds up */
    DO_LONGEST_PREFIX,
    DO_COUNT_PREFIX,
    DO_APPLY,
    DO_CONCURRENT,
    DO_CLEAN_UP,
    DO_COMPACT,
    DO_EXPORT /* all elements, as one range */
};

/* One call on rows at .. at + count - 1. */
struct step {
    enum step_call call;
    ordo_relation  relation; /* for seeks */
    size_t         at, count;
    size_t         limit;                 /* for pages */
    size_t         offsets_at;            /* ranges: place of the count + 1 offsets */
    size_t         range_at, range_count; /* place and number of their elements, set by the model */
};

struct script {
    struct column_batch cols;
    struct step        *steps;
    size_t              n_steps;
};

/* Add steps; the other replaces all steps by one. False without memory. */
bool script_steps(struct script *script, const struct step *steps, size_t n);
bool script_one(struct script *script, struct step step);
void script_free(struct script *script);

/* The reference dictionary: a sorted array in host memory. */

struct model {
    ordo_type type;
    uint32_t  key_bytes, value_bytes;
    size_t    count;
    void     *keys; /* distinct and ascending, in ordered form (key_order); numbers of keys of 16 bytes */
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

static inline void model_set(const struct model *model, size_t i, uint64_t key, uint64_t value)
{
    set_element(model->keys, model->key_bytes, i, key);
    if (model->value_bytes)
        set_element(model->values, model->value_bytes, i, value);
}

/* Number of keys below `key` (ordered form); fast if it is `hint`. */
size_t model_below(const struct model *model, uint64_t key, size_t hint);
/* Number of keys <= `key`, at least `from`; fast if it is slightly more. */
size_t model_up_to(const struct model *model, uint64_t key, size_t from);

/* The first of the model's count elements, keys in stored form, that is not the model's; the count if none. */
size_t model_differs(const struct model *model, const void *keys, const void *values);

/* The operation of a row, and whether it is an update. */
ordo_code code_of_row(const struct column_batch *cols, const struct step *step, size_t row);
bool      changes_content(ordo_code code);
/* Merges the updates of a step into the model. present: NULL, or for DO_APPLY gets a new array with a flag per element.
 * Then the keys of all updates are added, and old keys have the flag. False without memory. */
bool model_update(struct model *model, const struct column_batch *cols, const struct step *step, bool **present);

/* Erases intervals, and counts for each row the elements that it erases first. False without memory. */
bool model_erase_ranges(struct model *model, struct column_batch *cols, const struct step *step);
/* Drops the elements that do not stay. */
void model_keep(struct model *model, const bool *stays);

/* Runs a step and writes the expected outputs. Range columns grow, and the step gets its number of elements. A
 * concurrent batch must have the same results in any order. False without memory. */
bool model_do(struct model *model, struct column_batch *cols, struct step *step);
/* Runs a script. Each step appends its range elements. */
bool model_run(struct model *model, struct script *script);

/* A prefix as a key and its length in bits (ordo/xfast.h); the least and the greatest key with the first `length`
 * bits. */
uint64_t prefix_key(ordo_type type, uint64_t bits, unsigned length);
unsigned prefix_length(ordo_type type, uint64_t prefix);
uint64_t prefix_least(ordo_type type, uint64_t bits, unsigned length);
uint64_t prefix_greatest(ordo_type type, uint64_t bits, unsigned length);
