/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between the interface (include/ordo/dict.h) and a structure.
 *
 * The interface checks every argument, takes the lock and orders the queues. A structure then gets checked slices that
 * do not overlap, and counts of at least 1. A structure's functions run inside an ordo_call. They only enqueue
 * commands, unless their comment says "Waits". A function allocates all memory before its first launch that changes the
 * dictionary, so that an error leaves it unchanged. A driver may drop a query whose wait list has events, so a query
 * calls ordo_call_changes before it builds an index or merges runs. If events are pending, that ends the query, and
 * ORDO_DICT_QUERY waits and repeats it.
 *
 * Each family of structures has a folder, and knows no other family. Lower files reach a structure through struct
 * ordo_structure. */
#ifndef ORDO_DICT_PRIVATE_H
#define ORDO_DICT_PRIVATE_H

#include "ordo/dict.h"
#include "primitive/host_array.h"
#include "primitive/primitive.h"

#include "dict/structure_map.h"

/* Updates in ascending order of keys. erased[i] (one byte) is 1 to remove keys[i], 0 to store it. The last update of a
 * key counts. */
struct ordo_sorted_updates {
    /* values may be ordo_none() if all keys are erased, erased if all are stored */
    struct ordo_slice keys, values, erased;
    size_t            count;
    bool              distinct; /* no key occurs twice */
    bool              waits;    /* the caller waits for the device anyway */
};

/* Combines `values` with the stored values. Keys are in any order and may repeat. */
struct ordo_combines {
    ordo_type         value; /* type of the values */
    ordo_op           op;
    struct ordo_slice keys, values;
    size_t            count;
    bool              once; /* see struct ordo_finds */
};

/* A batch of lookups. The outputs may be ordo_none(). */
struct ordo_finds {
    struct ordo_slice keys;
    size_t            count;
    bool              sorted; /* keys ascend */
    struct ordo_slice values_out, found;
    /* keys ascend, and the caller replaces all elements next: an index for the finds does not pay */
    bool once;
};

struct ordo_seeks {
    ordo_relation     relation;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
    size_t            n_ge; /* with ORDO_LT, the first n_ge seeks are ORDO_GE instead; else 0 */
};

/* Returns the number of leading seeks that go upwards. */
static inline cl_uint ordo_seeks_forward(const struct ordo_seeks *s)
{
    const bool forward = s->relation == ORDO_GE || s->relation == ORDO_GT;
    return (cl_uint) (forward ? s->count : s->n_ge);
}

/* Returns the seeks from index `at` on, at most `most`. */
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

/* Sets ranks[i] (uint32_t) to the number of keys less than keys[i], or less than or equal to keys[i] if `upper`. */
struct ordo_ranks {
    bool              upper;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice ranks;
};

/* Finds the element with ranks[i] (uint32_t) elements before it. Sets found[i] to 0 if there is none. Outputs may be
 * ordo_none(). */
struct ordo_selects {
    struct ordo_slice ranks;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
};

/* Ranges of keys. Writes only the offsets if the last offset exceeds `capacity`. */
struct ordo_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice offsets; /* count + 1 uint64_t */
    bool              offsets_known;
    struct ordo_slice keys_out, values_out; /* each may be ordo_none() */
    size_t            capacity;
    bool              waits; /* the caller waits for the number of results */
};

struct ordo_interval_erasure {
    struct ordo_slice lo, hi;     /* one key each */
    struct ordo_slice erased;     /* uint32_t: the number of erased keys; may be ordo_none() */
    bool              counted;    /* the caller has set gone and left */
    size_t            gone, left; /* elements erased, elements kept */
};

/* Reads the first or last elements. Erases them if `take`. */
struct ordo_ends {
    bool              last, take;
    size_t            count; /* at most */
    struct ordo_slice keys_out, values_out;
};

/* A structure's table: data for ordo_dict_create, then the operations. */
struct ordo_structure {
    const char *name;
    size_t      bytes;        /* of its object, which begins with a struct ordo_dict */
    size_t      config_bytes; /* of its configuration, which begins with a struct ordo_dict_config */
    /* Sets up a new object, zeroed behind its struct ordo_dict, or refuses the configuration. May be NULL. */
    ordo_status (*configure)(ordo_dict *dict, const void *config);
    void (*destroy)(ordo_dict *dict); /* frees its content, not *dict itself */
    void (*clear)(ordo_dict *dict);
    /* Called before `check` if commands were dropped. Forgets derived indexes and lists. NULL if there are none. */
    void (*invalidate)(ordo_dict *dict);
    /* Replaces all elements. Keys are in any order and may repeat: the last one of equal keys counts. Waits for the
     * device. */
    ordo_status (*build)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count);
    /* Like build, but keeps the other keys. `erase` removes the keys; values is then ordo_none(). */
    ordo_status (*update)(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count);
    ordo_status (*update_sorted)(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
    /* NULL: generic/combine.c does it. */
    ordo_status (*combine)(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
    /* Optional. Declines by *done = false, without changes: the caller then erases key by key. Waits, unless
     * `counted`. */
    ordo_status (*erase_interval)(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e,
                                  bool *done);
    /* Optional. Declines like erase_interval (generic/erase.c). *got: the number of elements. Waits for the device. */
    ordo_status (*ends)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got, bool *done);
    /* Optional. Declines like erase_interval: invalid batches, and batches beyond single keys. Waits for the device. */
    ordo_status (*apply_points)(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch, bool *done);
    /* NULL if there are no concurrent batches. Waits for the device. */
    ordo_status (*apply_concurrent)(ordo_dict *dict, struct ordo_call *call, const struct ordo_concurrent_batch *batch);
    /* Frees cached memory. May run in the middle of any call. NULL if there is none. */
    void (*release_spare)(ordo_dict *dict);
    ordo_status (*clean_up)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*compact)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*find)(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
    ordo_status (*count)(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
    ordo_status (*range)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
    ordo_status (*seek)(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
    bool seeks_both; /* seek accepts n_ge */
    ordo_status (*rank)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
    ordo_status (*select)(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
    ordo_status (*size)(ordo_dict *dict, struct ordo_call *call, size_t *out); /* waits for the device */
    ordo_status (*export_all)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count); /* waits for the device */
    ordo_status (*check)(ordo_dict *dict, struct ordo_call *call);                           /* waits for the device */
    ordo_status (*statistics)(ordo_dict *dict, struct ordo_call *call,
                              struct ordo_statistics *out); /* waits for the device */
};

#define X(id, stem, ...) extern const struct ordo_structure ordo_##stem##_structure;
ORDO_STRUCTURE_MAP(X)
#undef X

/* A table that an aggregate over long ranges keeps for later ones (generic/aggregate.c). */
struct ordo_aggregate_table {
    cl_mem    mem; /* NULL: no table */
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
    uint32_t                    variant; /* set by configure; configurations that need different kernels differ in it */
    struct ordo_last_call       last;    /* used by dict.c */
    struct ordo_reserve         reserve; /* used by create.c */
    bool                        needs_check; /* an update was dropped: the next call checks the dictionary first */
    bool                        broken;      /* a check has failed */
    struct ordo_host_array     *results;     /* used by dict_host.c */
    size_t                      n_results;
    struct ordo_aggregate_table aggregates;
};

/* Returns a dictionary of the same types for use inside a structure. No call reaches it. Copies only fields that no
 * other thread changes. */
static inline ordo_dict ordo_dict_kind(const ordo_dict *dict)
{
    return (ordo_dict) { .dev = dict->dev,
                         .structure = dict->structure,
                         .key = dict->key,
                         .value_bytes = dict->value_bytes,
                         .key_bytes = dict->key_bytes };
}

ordo_status ordo_dict_create(ordo_device *dev, const struct ordo_structure *structure, const void *config,
                             ordo_dict **out);
/* Returns a structure's configuration with default settings, or NULL if host memory is short. The caller frees it. */
struct ordo_dict_config *ordo_dict_default_config(const struct ordo_structure *structure, ordo_type key,
                                                  uint32_t value_bytes);

/* Returns ORDO_UNSUPPORTED if the dictionary has another structure. */
ordo_status ordo_dict_check_own(const ordo_dict *dict, const struct ordo_structure *structure);
/* Begins a query. waits: see ordo_call_begin_after. */
ordo_status ordo_dict_begin(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op, const struct ordo_order *order,
                            bool waits);
/* Begins a call that changes the dictionary. Blocks until no event is pending for the dictionary. */
ordo_status ordo_dict_begin_update(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op,
                                   const struct ordo_order *order);
ordo_status ordo_dict_end(struct ordo_call *call, ordo_dict *dict, ordo_status status);

/* Makes a query and returns its status. `enqueue` is an expression with &call. If pending events end the query
 * (ordo_call_changes), waits for them and repeats it. */
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

/* Returns the least or greatest possible key in its stored form, in the low bytes of the result. */
uint64_t ordo_dict_end_key(const ordo_dict *dict, bool greatest);

/* Counts the operations of each code. The last word is `count` minus the first unknown code's index, or 0 if all codes
 * are known. Waits for the device. */
enum { ORDO_HISTOGRAM_WORDS = ORDO_N_CODES + 1 };
ordo_status ordo_dict_histogram(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                                cl_uint out[ORDO_HISTOGRAM_WORDS]);

/* Executes a mixed batch. The caller has checked all arguments except the codes. Waits for the device. */
ordo_status ordo_dict_apply_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch,
                                    size_t *needed);

/* Sets the offsets of a batch without ranges to 0, if the batch has offsets. */
ordo_status ordo_dict_no_ranges(struct ordo_call *call, const struct ordo_batch *batch);

/* Call this between an update's results and its store. For a call over host memory, reads the results, so that nothing
 * can fail after the store. */
static inline ordo_status ordo_dict_before_store(ordo_dict *dict, struct ordo_call *call)
{
    return dict->results ? ordo_host_receive(call, dict->results, dict->n_results) : ORDO_OK;
}

/* Whether the caller waits for the device anyway, as calls over host memory do. */
static inline bool ordo_dict_blocks(const ordo_dict *dict)
{
    return dict->results != NULL;
}

/* Does ordo_lsm_cleanup if the structure supports it. */
ordo_status ordo_dict_clean_up(ordo_dict *dict, const struct ordo_order *order);

/* Inserts absent keys. Upserts present keys with the values that they have. Does not wait. */
ordo_status ordo_dict_insert_enqueue(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count, struct ordo_slice inserted);

#endif
