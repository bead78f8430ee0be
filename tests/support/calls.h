/* SPDX-License-Identifier: Apache-2.0 */
/* Every public call over arrays, as tables: over device memory and over host memory. Tests that hold for all calls alike
 * (faults.c, bad_arguments.c) go through them. */
#ifndef ORDO_TESTS_CALLS_H
#define ORDO_TESTS_CALLS_H

#include "support.h"

/* What a call is given besides its arrays; call_given makes what is right. */
struct given {
    ordo_device             *dev;
    ordo_dict               *dict;      /* of dictionary calls, instead of the device */
    bool                     no_params; /* NULL for the parameters, or for the batch */
    bool                     no_count;  /* NULL for where the number of elements goes */
    ordo_type                type;
    uint32_t                 value_bytes;
    size_t                   n;      /* elements that the arrays are made for */
    size_t                   count;  /* elements that the call is told of: n where it is right */
    size_t                   second; /* of the other array: the keys searched, the second one merged, the rows */
    size_t                   k;      /* elements wanted of an order, or the one */
    size_t                   room;   /* elements that ranges, exports and groups may write */
    ordo_relation            relation;
    ordo_op                  op;
    const struct ordo_run   *runs; /* of merge_runs */
    size_t                   n_runs;
    const struct ordo_order *order;
    size_t                  *got; /* receives how many elements came out; NULL: nobody asks */

    /* Parameters of array calls. Zero is the default of each. */
    ordo_op           array_op;
    ordo_type         value; /* what values are that reduce_by_key, combines and aggregates work on */
    bool              inclusive, descending, greatest, sorted, wide, upper, sorted_queries, distinct;
    uint32_t          first_bit, bits, row_bytes; /* row_bytes 0: 4 */
    const ordo_index *index;
    ordo_scheme       scheme;
    /* Parameters of ordo_dict_range_limited. */
    uint32_t limit;
    bool     ascending;
};

/* What an input holds, so that the call has something to do. */
enum call_input {
    INPUT_RANDOM,
    INPUT_ASCENDING,
    INPUT_DISTINCT,
    INPUT_RANKS, /* of what the dictionary holds, and some past the last */
    INPUT_ABOVE, /* the array before it */
    INPUT_FLAGS,
    INPUT_CODES,
    INPUT_POINTS, /* codes of operations on single keys */
    INPUT_UPSERTS,
    INPUT_ROOMS,
    INPUT_INDICES, /* of n rows; some of no row */
};

enum { CALL_ARRAYS = 12, CALL_ROOM = 3 /* times n: what outputs of ranges have room for */ };
struct call_array {
    const char     *name;
    size_t          bytes;
    size_t          times, more; /* it has times * n + more elements */
    enum call_input input;
    bool            output, optional, value; /* value: not there if value_bytes is 0 */
};

struct array_call {
    const char *name; /* the function over device memory; `name`_host is that over host memory */
    ordo_status (*run)(const struct given *g, const struct ordo_slice a[]);
    ordo_status (*run_host)(const struct given *g, void *const a[]);
    bool              typed, has_values;  /* whether it looks at the type, at value_bytes */
    struct call_array array[CALL_ARRAYS]; /* outputs come last */
    ordo_dict_op      needs;              /* what a dictionary must be able to do */
    bool              once;               /* made again it does something else */
};

extern const struct array_call primitive_calls[], dict_calls[];
extern const size_t            n_primitive_calls, n_dict_calls;

/* The table's entry of a function, or NULL. */
const struct array_call *call_named(const char *name);

/* The same as a dictionary without order takes it: of its operations those on single keys. */
struct array_call call_without_order(const struct array_call *call);

struct given call_given(ordo_device *dev, ordo_dict *dict, size_t n);

size_t call_arrays(const struct array_call *call);
/* Elements of an array made for n. */
static inline size_t call_array_count(const struct call_array *array, size_t n)
{
    return array->times * n + array->more;
}
/* Whether the array holds keys, or elements of an array call. */
bool call_array_is_key(const struct call_array *array);
/* Bytes of an element, by what the array holds: a key, a value or a row of `g`. 0: there is no such array. */
size_t call_array_bytes(const struct call_array *array, const struct given *g);
/* Writes inputs for the whole call: 4-byte keys, of which most lie close to those of elements 0 to `held` of
 * dict_case.h; ranges hold about one of them each. */
void call_fill(struct test *t, const struct array_call *call, size_t n, size_t held, void *const a[]);

#endif
