/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a sequence (sequence.h), for the files that do its steps. */
#ifndef ORDO_TESTS_SEQUENCE_RUN_H
#define ORDO_TESTS_SEQUENCE_RUN_H

#include "sequence.h"

struct run {
    struct test           *t;
    const struct sequence *s;
    struct fault          *fault;
    struct test            random; /* its test_random is the step's */
    struct model           model;
    ordo_dict             *dict;
    cl_command_queue       queue; /* in addition to the device's queue */
    size_t                 n_keys;
    key_form              *keys; /* possible keys of batches: ordered forms, ascending */
    struct outcome         outcome;
};

/* Makes the sequence fail with this sentence, if it has not failed before. */
void run_complain(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

void run_expect_status(struct run *run, const char *what, ordo_status got, ordo_status want);

/* Adds results to the hash of the outcome. */
void run_hash(struct run *run, const void *bytes, size_t n);
void run_hash_number(struct run *run, uint64_t number);

static inline size_t run_below(struct run *run, size_t n)
{
    return (size_t) test_below(&run->random, n);
}

/* Does a step with arrays: a call over device or host memory, compared with the model. */
void run_batch(struct run *run, const struct step *step);

/* ---- steps (sequence_step.c) ------------------------------------------------------------------------------------- */

/* Sets of columns. */
#define BIT(column)    (1u << (column))
#define IN_CODES       BIT(COL_CODES)
#define IN_KEYS        BIT(COL_KEYS)
#define IN_HIS         BIT(COL_HI)
#define IN_VALUES      BIT(COL_VALUES)
#define OUT_FOUND      BIT(COL_FOUND)
#define OUT_KEYS       BIT(COL_KEYS_OUT)
#define OUT_VALUES     BIT(COL_VALUES_OUT)
#define OUT_COUNTS     BIT(COL_COUNTS)
#define OUT_OFFSETS    BIT(COL_OFFSETS)
#define OUT_RANGES     (BIT(COL_RANGE_KEYS) | BIT(COL_RANGE_VALUES))
#define OUT_RANGE_KEYS BIT(COL_RANGE_KEYS)

/* Columns of a step, and its operation in a mixed batch. */
struct step_columns {
    ordo_code code;
    unsigned  inputs, must, may; /* `must` and `may` are outputs */
};

extern const struct step_columns step_columns[N_STEP_KINDS];
extern const char *const         column_name[N_COLUMNS];

bool step_is_update(enum step_kind kind);
bool step_is_order_query(enum step_kind kind);
/* Steps of one operation, whatever `count` is, without keys of the caller. */
bool step_is_one_operation(enum step_kind kind);
bool step_has_columns(enum step_kind kind);
/* The column of an array of a call. */
enum column column_of(enum step_kind kind, const char *name);

/* ---- keys (sequence_keys.c) -------------------------------------------------------------------------------------- */

/* Draws the possible keys of batches; fewer than requested if some are equal. */
void run_make_keys(struct run *run);

/* How a step draws keys. */
struct draw {
    size_t first, window; /* among run->keys, wrapping at the end */
    int    turn;          /* 1 ascending, -1 descending, 0 any order */
    bool   near;          /* includes keys that batches never store */
};

struct draw draw_begin(struct run *run, bool query);
/* The form of the i-th key of a batch. */
key_form draw_key(struct run *run, const struct draw *d, size_t i);
/* An upper bound for a lower one: mostly a little greater, sometimes anything, also less. */
key_form draw_bound(struct run *run, key_form low, size_t wide_of);

/* ---- columns (sequence_columns.c) -------------------------------------------------------------------------------- */

/* A step's arrays in host memory with guard bytes. NULL: absent in the call. */
struct columns {
    size_t    count, room; /* operations; elements of range_keys and range_values */
    void     *of[N_COLUMNS];
    size_t    elements[N_COLUMNS], bytes[N_COLUMNS];
    ordo_type value; /* type of combines */
    ordo_op   combine;
};

/* Adds this set of columns, which are empty. */
void columns_add(struct columns *c, const struct sequence *s, unsigned columns);
void columns_free(struct columns *c);
/* The columns as a batch of the interface. */
struct ordo_host_batch columns_batch(const struct columns *c);
/* Copies element i, or all elements, to a column that is there. */
void columns_take_element(struct columns *to, const struct columns *from, enum column column, size_t i);
void columns_take(struct columns *to, const struct columns *from, enum column column);
/* Reports changed guard bytes. */
void columns_check_guards(struct run *run, const struct columns *c);
/* Reports elements of an output that differ from the model's. */
void columns_compare(struct run *run, enum column column, const struct columns *in, const struct columns *got,
                     const struct columns *want);

/* ---- inputs (sequence_inputs.c) ---------------------------------------------------------------------------------- */

/* Fills all input columns for the model, even columns that the call does not take. */
void draw_inputs(struct run *run, const struct step *step, struct columns *in);
/* Draws the set of columns of the call. Optional ones are sometimes absent. */
unsigned draw_columns(struct run *run, const struct step *step, const struct columns *in);
/* The elements for which ranges have room. Sometimes this is too few. */
size_t draw_room(struct run *run, size_t needed);
/* Whether a batch has one of the codes from `least` to `most`. */
bool has_code(const struct columns *in, ordo_code least, ordo_code most);

#endif
