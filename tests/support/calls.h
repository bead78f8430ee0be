/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all public calls on arrays and dictionaries. Every test of all calls iterates over it: faults, events,
 * bad arguments, memory, the soak, kernels, and the list of programs (tests/offline/ask.h). Add a new call here. */
#ifndef ORDO_TESTS_CALLS_H
#define ORDO_TESTS_CALLS_H

#include "ordo/ordo.h"

struct test;

/* An index or a dictionary of strings, which a call searches instead of the device. */
struct call_strings {
    ordo_string_index *index;
    ordo_string_dict  *dict;
};

/* Arguments of a call, except for its arrays. call_given makes valid ones. */
struct given {
    ordo_device             *dev;
    ordo_dict               *dict;      /* instead of the device, for dictionary calls */
    bool                     no_params; /* passes NULL for the parameters or the batch */
    bool                     no_count;  /* passes NULL for the pointer to the number of elements */
    bool                     no_column; /* passes NULL for the column of strings */
    ordo_type                type;
    uint32_t                 value_bytes;
    size_t                   n;       /* the size of the arrays; of the runs of merge_runs, with gaps */
    size_t                   count;   /* the count that is passed; n if valid */
    size_t                   second;  /* size of the other array: keys searched, second array merged, rows */
    size_t                   k;       /* number of elements of top_k, or index of select */
    size_t                   room;    /* capacity of ranges, exports and groups */
    struct call_strings      strings; /* call_strings_of */
    ordo_relation            relation;
    ordo_string_search       string_search;
    ordo_op                  op;
    const struct ordo_run   *runs; /* for merge_runs */
    size_t                   n_runs;
    const struct ordo_order *order;
    size_t                  *got; /* receives the number of elements; NULL: not needed */

    /* Parameters of array calls, each with default 0. */
    ordo_op           array_op;
    ordo_type         value; /* type of the values of reduce_by_key, combines and aggregates */
    bool              inclusive, descending, greatest, sorted, wide, upper, sorted_queries, distinct;
    uint32_t          first_bit, bits, row_bytes; /* row_bytes 0: 4 */
    const ordo_index *index;
    ordo_scheme       scheme;
    size_t            n_fields;     /* fields of keys; 0: 2 */
    uint32_t          offset_bytes; /* of a column of strings; 0: 4 */
    size_t            n_bytes;      /* of a column of strings; 0: CALL_STRING_BYTES * count */
    /* Parameters of ordo_dict_range_limited. */
    uint32_t limit;
    bool     ascending;
};

/* Contents of an input. */
enum call_input {
    INPUT_RANDOM,
    INPUT_ASCENDING,
    INPUT_DISTINCT,
    INPUT_RANKS, /* ranks of present elements, and some past the last */
    INPUT_ABOVE, /* upper bounds for the array before it */
    INPUT_FLAGS,
    INPUT_BITS,
    INPUT_CODES,
    INPUT_POINTS, /* codes of operations on single keys */
    INPUT_UPSERTS,
    INPUT_ROOMS,
    INPUT_INDICES, /* of n rows; some out of range */
    INPUT_IDS,     /* of n strings */
    INPUT_LETTERS, /* bytes less than CALL_LETTERS */
    INPUT_OFFSETS, /* of strings of 4 to 9 bytes, in CALL_STRING_BYTES * n bytes */
};

/* The elements of an array, where they are not times * count + more. */
enum call_extent { EXTENT_COUNT, EXTENT_SECOND, EXTENT_BOTH, EXTENT_FIRST_K, EXTENT_RUNS };

enum {
    CALL_ARRAYS = 12,
    CALL_ROOM = 3 /* capacity of ranges, as a multiple of n */,
    CALL_STRING_BYTES = 8,
    CALL_LETTERS = 64
};
struct call_array {
    const char      *name;
    size_t           bytes;
    size_t           times, more; /* times * n + more elements */
    enum call_input  input;
    bool             output, optional, value; /* value: absent if value_bytes is 0 */
    enum call_extent extent;
    bool             bits; /* bytes with a bit for each element */
};

/* The object of a call: the device or a dictionary, or one of given.strings. */
enum call_object { OBJECT_OTHER, OBJECT_STRING_INDEX, OBJECT_STRING_DICT };

struct array_call {
    const char *name; /* the function over device memory; NAME_host is the other form, if there is one */
    ordo_status (*run)(const struct given *g, const struct ordo_slice a[]);
    ordo_status (*run_host)(const struct given *g, void *const a[]);
    bool              typed, has_values;  /* has a type; has value_bytes */
    struct call_array array[CALL_ARRAYS]; /* outputs last */
    ordo_dict_op      needs;              /* capability that a dictionary needs */
    bool              once;               /* has another result when repeated */
    bool              changes;            /* may change the dictionary's content */
    enum call_object  object;
    const char       *stem; /* the only structure with this call; NULL: all */
};

/* Calls on arrays; calls on dictionaries with both forms; other calls on dictionaries. */
extern const struct array_call primitive_calls[], dict_calls[], other_calls[];
extern const size_t            n_primitive_calls, n_dict_calls, n_other_calls;

/* The entry of a function, or NULL. */
const struct array_call *call_named(const char *name);

/* A copy for dictionaries without order: operations on single keys only. */
struct array_call call_without_order(const struct array_call *call);

struct given call_given(ordo_device *dev, ordo_dict *dict, size_t n);

/* The object of a call for given.strings, with n strings of 1 to 3 letters. A dictionary has two runs and hidden
 * strings. Has no object if `call` is NULL or needs none. */
struct call_strings call_strings_of(struct test *t, const struct array_call *call, size_t n);
void                call_strings_free(struct call_strings *strings);
#define AUTO_STRINGS AUTO(call_strings_free)

size_t call_arrays(const struct array_call *call);
/* Elements of an array of size n. */
static inline size_t call_array_count(const struct call_array *array, size_t n)
{
    return array->bits ? (n + 7) / 8 : array->times * n + array->more;
}
/* Elements that the call reads or writes at most. */
size_t call_array_elements(const struct call_array *array, const struct given *g);
/* Whether the array holds keys, or elements of an array call. */
bool call_array_is_key(const struct call_array *array);
/* Size of an element by its content: key, value or row of `g`. 0: the array is absent. */
size_t call_array_bytes(const struct call_array *array, const struct given *g);
/* Writes inputs for a whole call: 4-byte keys, mostly close to the keys of elements 0 to `held` of dict_case.h. A range
 * holds about one of these keys. */
void call_fill(struct test *t, const struct array_call *call, size_t n, size_t held, void *const a[]);

#endif
