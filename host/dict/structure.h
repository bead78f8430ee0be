/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a structure implements for include/ordo/dict.h, and their arguments. */
#ifndef ORDO_DICT_PRIVATE_H
#define ORDO_DICT_PRIVATE_H

#include "ordo/dict.h"
#include "primitive/host_array.h"
#include "primitive/primitive.h"

#include "dict/structure_map.h"

/* A batch of updates in ascending order of keys. erased[i] (one byte) is 1 if keys[i] is erased, else 0. If a key
 * repeats, its last update takes effect. */
struct ordo_sorted_updates {
    /* `values` may be ordo_none() if all keys are erased. `erased` may be ordo_none() if no key is erased. */
    struct ordo_slice keys, values, erased;
    size_t            count;
    bool              distinct;
    bool              waits; /* the caller waits for the update */
};

/* Combines values[i] with the stored value of keys[i]. Keys are in any order and may repeat. */
struct ordo_combines {
    ordo_type         value;
    ordo_op           op;
    struct ordo_slice keys, values;
    size_t            count;
    bool              once; /* see struct ordo_finds */
};

/* `values_out` and `found` may be ordo_none(). */
struct ordo_finds {
    struct ordo_slice keys;
    size_t            count;
    bool              sorted;
    struct ordo_slice values_out, found;
    /* If true, the keys ascend, and the find builds no search index, because it is part of an update that replaces all
     * stored elements. */
    bool once;
};

struct ordo_seeks {
    ordo_relation     relation;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
    /* The first n_ge seeks use ORDO_GE instead of `relation`. If n_ge > 0, `relation` must be ORDO_LT. */
    size_t n_ge;
};

/* Returns the number of seeks that use ORDO_GE or ORDO_GT. */
static inline cl_uint ordo_seeks_forward(const struct ordo_seeks *s)
{
    const bool forward = s->relation == ORDO_GE || s->relation == ORDO_GT;
    return (cl_uint) (forward ? s->count : s->n_ge);
}

static inline struct ordo_seeks ordo_seeks_from(const struct ordo_seeks *s, size_t at, size_t most)
{
    struct ordo_seeks        part = *s;
    struct ordo_slice *const slices[] = { &part.keys, &part.keys_out, &part.values_out, &part.found };
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        slices[i]->at += slices[i]->mem ? at : 0;
    part.count = ordo_min_size(s->count - at, most);
    part.n_ge = ordo_min_size(s->n_ge > at ? s->n_ge - at : 0, part.count);
    return part;
}

struct ordo_counts {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice counts; /* uint32_t */
};

/* ranks[i] (uint32_t) becomes the number of stored keys less than keys[i]. If `upper`, a stored key equal to keys[i]
 * also counts. */
struct ordo_ranks {
    bool              upper;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice ranks;
};

/* Selection i finds the element with ranks[i] (uint32_t) elements before it. If there is none, found[i] becomes 0.
 * Outputs may be ordo_none(). */
struct ordo_selects {
    struct ordo_slice ranks;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
};

/* If the last offset exceeds `capacity`, only offsets are written. */
struct ordo_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice offsets; /* count + 1 uint64_t */
    bool              offsets_known;
    struct ordo_slice keys_out, values_out; /* or ordo_none() */
    size_t            capacity;
    bool              waits; /* the caller waits for the results */
};

struct ordo_interval_erasure {
    struct ordo_slice lo, hi;     /* one key each */
    struct ordo_slice erased;     /* number of erased keys (one uint32_t), or ordo_none() */
    bool              counted;    /* the caller has set `gone` and `left` */
    size_t            gone, left; /* numbers of elements to erase and to keep */
};

struct ordo_ends {
    bool              last, take;
    size_t            count;
    struct ordo_slice keys_out, values_out;
};

/* The functions of a structure. Rules:
 *
 *   arguments  The caller has checked the arguments, holds the lock and has ordered the queues. Slices do not overlap,
 *              and counts are at least 1.
 *   waiting    A function enqueues commands and does not wait, unless its comment says "Waits".
 *   memory     A function allocates all memory before its first launch that changes the dictionary. So an error leaves
 *              the dictionary unchanged.
 *   indexes    A query calls ordo_call_changes before it builds an index or merges runs. If the caller's wait list has
 *              incomplete events, ordo_call_changes fails. ORDO_DICT_QUERY then waits for these events, and starts the
 *              query again. */
struct ordo_structure {
    const char *name;
    size_t      bytes;        /* size of the object, which begins with a struct ordo_dict */
    size_t      config_bytes; /* size of the configuration, which begins with a struct ordo_dict_config */
    /* Initialises the structure's own members of a new object, which are 0 before. Returns an error if the
     * configuration is impossible. May be NULL. */
    ordo_status (*configure)(ordo_dict *dict, const void *config);
    void (*destroy)(ordo_dict *dict); /* frees the content, but not *dict */
    void (*clear)(ordo_dict *dict);
    /* Discards indexes and lists of elements, because a driver dropped commands. `check` is called next. May be
     * NULL. */
    void (*invalidate)(ordo_dict *dict);
    /* Replaces all elements. Keys are in any order. Of equal keys the last is stored. Waits. */
    ordo_status (*build)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count);
    /* Stores the keys. If `erase`, erases them instead, and `values` is ordo_none(). Keys are in any order and may
     * repeat. */
    ordo_status (*update)(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count);
    ordo_status (*update_sorted)(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
    /* If NULL, generic/combine.c combines with find and update. */
    ordo_status (*combine)(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
    /* Erases an interval of keys, or sets *done to false. Then the caller erases key by key. Waits if e->counted is
     * false. May be NULL. */
    ordo_status (*erase_interval)(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e,
                                  bool *done);
    /* Reads the first or last elements, and erases them if `take`. Sets *got to their number. May set *done to false
     * and change nothing. Waits for the device. May be NULL. */
    ordo_status (*ends)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got, bool *done);
    /* Executes a mixed batch of operations on single keys. For any other batch, sets *done to false and changes
     * nothing. Waits. May be NULL. */
    ordo_status (*apply_points)(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch, bool *done);
    /* Waits for the device. May be NULL. */
    ordo_status (*apply_concurrent)(ordo_dict *dict, struct ordo_call *call, const struct ordo_concurrent_batch *batch);
    /* Frees cached memory. May be called during any call. May be NULL. */
    void (*release_spare)(ordo_dict *dict);
    ordo_status (*clean_up)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*compact)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*find)(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
    ordo_status (*count)(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
    ordo_status (*range)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
    ordo_status (*seek)(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
    bool seeks_both; /* `seek` accepts n_ge > 0 */
    ordo_status (*rank)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
    ordo_status (*select)(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
    ordo_status (*size)(ordo_dict *dict, struct ordo_call *call, size_t *out); /* Waits. */
    ordo_status (*export_all)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count);         /* Waits. */
    ordo_status (*check)(ordo_dict *dict, struct ordo_call *call);                                   /* Waits. */
    ordo_status (*statistics)(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out); /* Waits. */
};

#define X(id, stem, ...) extern const struct ordo_structure ordo_##stem##_structure;
ORDO_STRUCTURE_MAP(X)
#undef X

/* Partial results of aggregates over long ranges, which later calls reuse (generic/aggregate.c). */
struct ordo_aggregate_table {
    cl_mem    mem;
    size_t    bytes, count;
    ordo_type value;
    ordo_op   op;
};

struct ordo_dict {
    ordo_device                 *dev;
    const struct ordo_structure *structure;
    ordo_type                    key;
    uint32_t                     value_bytes;
    size_t                       key_bytes;
    /* Set by `configure`. Configurations that need different kernels have different variants. */
    uint32_t              variant;
    struct ordo_last_call last;
    struct ordo_reserve   reserve;
    /* True if a driver dropped commands of an update. The next call then checks the dictionary. */
    bool                        needs_check;
    bool                        broken;
    struct ordo_host_array     *results;
    size_t                      n_results;
    struct ordo_aggregate_table aggregates;
};

/* Returns a dictionary with the same types, for internal use. Copies only members that never change, so other threads
 * may use *dict. */
static inline ordo_dict ordo_dict_kind(const ordo_dict *dict)
{
    return (ordo_dict) { .dev = dict->dev,
                         .structure = dict->structure,
                         .key = dict->key,
                         .value_bytes = dict->value_bytes,
                         .key_bytes = dict->key_bytes };
}

/* Returns the unsigned integer type that has the size of a key. */
static inline ordo_type ordo_dict_form_type(const ordo_dict *dict)
{
    return dict->key_bytes == 16 ? ORDO_U128 : dict->key_bytes == 8 ? ORDO_U64 : ORDO_U32;
}

ordo_status ordo_dict_create(ordo_device *dev, const struct ordo_structure *structure, const void *config,
                             ordo_dict **out);
/* Returns a default configuration, or NULL without host memory. The caller frees it. */
struct ordo_dict_config *ordo_dict_default_config(const struct ordo_structure *structure, ordo_type key,
                                                  uint32_t value_bytes);

ordo_status ordo_dict_check_own(const ordo_dict *dict, const struct ordo_structure *structure);
/* Begins a query. If `waits`, first waits for the events of *order. */
ordo_status ordo_dict_begin(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op, const struct ordo_order *order,
                            bool waits);
/* Begins a change of the dictionary. Blocks until the dictionary has no pending events. */
ordo_status ordo_dict_begin_update(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op,
                                   const struct ordo_order *order);
ordo_status ordo_dict_end(struct ordo_call *call, ordo_dict *dict, ordo_status status);

/* Runs a query. `enqueue` is an expression such as find(&call, dict), where the macro declares `call`. */
#define ORDO_DICT_QUERY(dict, op, order, enqueue)                                                                      \
    for (bool waits = false;; waits = true) {                                                                          \
        struct ordo_call call;                                                                                         \
        call.again = false;                                                                                            \
        ordo_status status = ordo_dict_begin(&call, (dict), (op), (order), waits);                                     \
        if (status == ORDO_OK)                                                                                         \
            status = ordo_dict_end(&call, (dict), (enqueue));                                                          \
        if (!call.again)                                                                                               \
            return status;                                                                                             \
    }

/* Returns the bits of the least or greatest possible key, as stored in memory. For keys of 16 bytes, returns one of its
 * two equal halves. */
uint64_t ordo_dict_end_key(const ordo_dict *dict, bool greatest);

/* Sets out[c] to the number of operations with code c. The last word becomes count - i if operation i has the first
 * unknown code, or 0 if all codes are known. Waits for the device. */
enum { ORDO_HISTOGRAM_WORDS = ORDO_N_CODES + 1 };
ordo_status ordo_dict_histogram(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                                cl_uint out[ORDO_HISTOGRAM_WORDS]);
size_t      ordo_histogram_sum(const cl_uint histogram[ORDO_HISTOGRAM_WORDS], int least, int most);

/* Checks that a concurrent batch has the arrays for its operations. `stores` is the number of upserts and inserts,
 * `scans` the number of counts and ranges. */
ordo_status ordo_dict_check_concurrent(const ordo_dict *dict, const struct ordo_concurrent_batch *batch, size_t stores,
                                       size_t scans, size_t ranges);

/* Checks and executes a mixed batch. If it has ranges, sets *needed to the number of their elements. `needed` may be
 * NULL. Waits. */
ordo_status ordo_dict_apply_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch,
                                    size_t *needed);

ordo_status ordo_dict_no_ranges(struct ordo_call *call, const struct ordo_batch *batch);

/* Downloads an update's results to the caller's host arrays, if any. Must run before the update changes the dictionary,
 * because a download can fail. */
static inline ordo_status ordo_dict_before_store(ordo_dict *dict, struct ordo_call *call)
{
    return dict->results ? ordo_host_receive(call, dict->results, dict->n_results) : ORDO_OK;
}

/* Implements ordo_lsm_cleanup. Returns ORDO_UNSUPPORTED for other structures. */
ordo_status ordo_dict_clean_up(ordo_dict *dict, const struct ordo_order *order);

/* Inserts absent keys, and sets inserted[i] to whether keys[i] was absent. Stores present keys again, with their old
 * values. */
ordo_status ordo_dict_insert_enqueue(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count, struct ordo_slice inserted);

#endif
