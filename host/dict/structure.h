/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between the interface (include/ordo/dict.h) and a structure.
 *
 * dict.c checks every argument, takes the lock, orders queues and hands structures calls that are right: slices
 * checked, counts from 1 up, no overlap. A structure's functions run inside an ordo_call and only enqueue, unless they
 * say "waits". They leave the dictionary as it was when they fail before their first launch that changes it; all memory
 * comes first. A query whose wait list has events may be dropped. So before it changes what the host knows of the
 * dictionary (an index is built, runs are merged), it calls ordo_call_changes. While events are pending that ends the
 * query, which then waits for them and is made again (ORDO_DICT_QUERY).
 *
 * Files, each of which calls only those before it: batch.c (batches in key order), generic/ (what any structure
 * does by its other operations), apply.c (mixed batches), dict.c (the interface), dict_host.c (the same over host memory), sorted_run.c, sorted_run_resolve.c and sorted_run_merge.c (sorted runs, of which
 * structures are made or built). Structures stand on top of these, a folder for each family, and do not know of each
 * other; what is below reaches them through struct ordo_structure alone.
 */
#ifndef ORDO_DICT_PRIVATE_H
#define ORDO_DICT_PRIVATE_H

#include "ordo/dict.h"
#include "primitive/host_array.h"
#include "primitive/primitive.h"

#include "dict/structure_map.h"

/* Updates in sorted order: erased[i] (one byte) 1 removes keys[i], 0 stores it; of equal keys the last counts. */
struct ordo_sorted_updates {
    struct ordo_slice keys, values, erased; /* values: ordo_none() if all are erased; erased: if all are stored */
    size_t            count;
    bool              distinct; /* no key is there twice */
    bool              waits;    /* the caller waits for the device anyway */
};

/* Stores that combine with what is there: keys in any order, with equal ones. */
struct ordo_combines {
    ordo_type         value; /* as wide as the values */
    ordo_op           op;
    struct ordo_slice keys, values;
    size_t            count;
    bool              once; /* of the finds that it takes */
};

/* A batch of lookups. The outputs may be ordo_none(). */
struct ordo_finds {
    struct ordo_slice keys;
    size_t            count;
    bool              sorted; /* keys ascend */
    struct ordo_slice values_out, found;
    bool once; /* sorted, and all that is there goes before the next ones: nothing is made for these to be faster */
};

struct ordo_seeks {
    ordo_relation     relation;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
    size_t n_ge; /* so many of the first are of ORDO_GE, the others of ORDO_LT, which `relation` is; else 0 */
};

/* How many of the first go upwards. */
static inline cl_uint ordo_seeks_forward(const struct ordo_seeks *s)
{
    const bool forward = s->relation == ORDO_GE || s->relation == ORDO_GT;
    return (cl_uint) (forward ? s->count : s->n_ge);
}

/* Those from `at` on, `most` at most. */
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

/* ranks[i] (uint32_t) = how many keys are less than keys[i], or not greater (`upper`). */
struct ordo_ranks {
    bool              upper;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice ranks;
};

/* The elements that ranks[i] (uint32_t) elements are before; found is 0 where there are not so many. Outputs may be
 * ordo_none(). */
struct ordo_selects {
    struct ordo_slice ranks;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
};

/* Nothing is written to keys_out and values_out if the last offset is more than capacity. */
struct ordo_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice offsets; /* count + 1 uint64_t */
    bool              offsets_known;
    struct ordo_slice keys_out, values_out; /* each may be ordo_none() */
    size_t            capacity;
    bool              waits; /* the caller waits for the number of results */
};

/* The keys from the one at lo to the one at hi are erased. */
struct ordo_interval_erasure {
    struct ordo_slice lo, hi;     /* a key each */
    struct ordo_slice erased;     /* uint32_t: how many they were; may be ordo_none() */
    bool              counted;    /* it is known ... */
    size_t            gone, left; /* ... how many they are, and how many elements stay */
};

/* The first or last elements; `take`: they are erased. */
struct ordo_ends {
    bool              last, take;
    size_t            count; /* at most */
    struct ordo_slice keys_out, values_out;
};

/* A structure: what ordo_dict_create needs, then its operations. */
struct ordo_structure {
    const char *name;
    size_t      bytes;        /* of its object, which begins with a struct ordo_dict */
    size_t      config_bytes; /* of its configuration, which begins with a struct ordo_dict_config */
    /* Sets up a new object, all zero except for its struct ordo_dict, or refuses the configuration. NULL: nothing to do. */
    ordo_status (*configure)(ordo_dict *dict, const void *config);
    void (*destroy)(ordo_dict *dict); /* what it holds, not *dict itself */
    void (*clear)(ordo_dict *dict);
    /* Before `check`, after commands were dropped: forgets what is made of the elements (indexes, lists); NULL: nothing is. */
    void (*doubt)(ordo_dict *dict);
    /* keys in any order, with equal ones: of these the last wins. Waits. */
    ordo_status (*build)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count);
    /* The same, not replacing; `erase`: removes the keys, values is ordo_none(). */
    ordo_status (*update)(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count);
    ordo_status (*update_sorted)(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
    /* NULL where the way of generic/combine.c is the best there is. */
    ordo_status (*combine)(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
    /* NULL where there is nothing better than to erase key by key. *done: false, and nothing is changed, if that is to be done all
     * the same. Waits, unless `counted`. */
    ordo_status (*erase_interval)(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e,
                                  bool *done);
    /* NULL where the way of generic/erase.c is the best there is. *got: how many there are. *done: as above. Waits. */
    ordo_status (*ends)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got, bool *done);
    /* NULL where there is no such thing. *done: false, and nothing is changed, if the batch is to go the way of all others: it has
     * other operations than those on single keys, or is refused. Waits. */
    ordo_status (*apply_points)(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch, bool *done);
    /* NULL where there is no such thing. Waits. */
    ordo_status (*apply_concurrent)(ordo_dict *dict, struct ordo_call *call, const struct ordo_concurrent_batch *batch);
    /* Lets go of memory that is held for later, in the midst of any call; NULL: there is none. */
    void (*give_spare)(ordo_dict *dict);
    ordo_status (*clean_up)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*compact)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*find)(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
    ordo_status (*count)(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
    ordo_status (*range)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
    ordo_status (*seek)(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
    bool seeks_both; /* seek takes n_ge */
    ordo_status (*rank)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks);
    ordo_status (*select)(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects);
    ordo_status (*size)(ordo_dict *dict, struct ordo_call *call, size_t *out); /* waits */
    ordo_status (*export_all)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count);         /* waits */
    ordo_status (*check)(ordo_dict *dict, struct ordo_call *call);                                   /* waits */
    ordo_status (*statistics)(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out); /* waits */
};

#define X(id, stem, ...) extern const struct ordo_structure ordo_##stem##_structure;
ORDO_STRUCTURE_MAP(X)
#undef X

/* What aggregates over long ranges have left for the next ones: see generic/aggregate.c. */
struct ordo_aggregate_table {
    cl_mem    mem; /* NULL: there is none */
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
    uint32_t                variant;  /* tells configurations apart that need kernels of their own; set by configure */
    struct ordo_last_call   last;     /* dict.c's own */
    struct ordo_reserve     reserve;  /* dict.c's own */
    bool                    in_doubt; /* an update was dropped: to be checked before anything else */
    bool                    broken;   /* the check has failed */
    struct ordo_host_array *results;  /* dict_host.c's own */
    size_t                  n_results;
    struct ordo_aggregate_table aggregates;
};

/* A dictionary of the same kind, for a part of a structure that no call reaches by itself. It is in no list of the device,
 * and copies no field that other threads change. */
static inline ordo_dict ordo_dict_kind(const ordo_dict *dict)
{
    return (ordo_dict) { .dev = dict->dev,
                         .structure = dict->structure,
                         .key = dict->key,
                         .value_bytes = dict->value_bytes,
                         .key_bytes = dict->key_bytes };
}

/* Checks the configuration and creates a dictionary. `config` is the structure's own. */
ordo_status ordo_dict_create(ordo_device *dev, const struct ordo_structure *structure, const void *config,
                             ordo_dict **out);
/* A structure's configuration with default settings, for the caller to free. NULL: no memory. */
struct ordo_dict_config *ordo_dict_default_config(const struct ordo_structure *structure, ordo_type key,
                                                  uint32_t value_bytes);

/* ORDO_UNSUPPORTED unless the dictionary is one of this structure: for calls that one structure alone has. */
ordo_status ordo_dict_check_own(const ordo_dict *dict, const struct ordo_structure *structure);
/* Begins a query; `waits`: as ordo_call_begin_after. */
ordo_status ordo_dict_begin(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op, const struct ordo_order *order,
                            bool waits);
/* Begins a call that changes the dictionary. Blocks until no event is pending for it. */
ordo_status ordo_dict_begin_update(struct ordo_call *call, ordo_dict *dict, ordo_dict_op op,
                                   const struct ordo_order *order);
ordo_status ordo_dict_end(struct ordo_call *call, ordo_dict *dict, ordo_status status);

/* Makes a query and leaves the function with its status. `enqueue` is an expression that has &call. A query that meets work
 * for which no event may be pending (ordo_call_settled) is made again, and waits first. */
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

/* The least (greatest) key that there can be, as stored, in the low bytes. */
uint64_t ordo_dict_end_key(const ordo_dict *dict, bool greatest);

/* How many operations of a batch have each code; then n less the first that has none of them, or 0. Waits. */
enum { ORDO_SURVEY_WORDS = ORDO_N_CODES + 1 };
ordo_status ordo_dict_survey(const ordo_dict *dict, struct ordo_call *call, struct ordo_slice codes, size_t count,
                             cl_uint out[ORDO_SURVEY_WORDS]);

/* A mixed batch, checked by dict.c but for the codes, which apply.c looks at first. Waits. */
ordo_status ordo_dict_apply_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch,
                                    size_t *needed);

/* Offsets of a batch without ranges, if they are wanted. */
ordo_status ordo_dict_no_ranges(struct ordo_call *call, const struct ordo_batch *batch);

/* Every update that has results asks for this once they are written and before it stores anything: a call over host
 * memory reads them then, so that nothing can fail once it has stored. */
static inline ordo_status ordo_dict_before_store(ordo_dict *dict, struct ordo_call *call)
{
    return dict->results ? ordo_host_receive(call, dict->results, dict->n_results) : ORDO_OK;
}

/* Whether the caller waits for the device anyway: calls over host memory do. */
static inline bool ordo_dict_blocks(const ordo_dict *dict)
{
    return dict->results != NULL;
}

/* ordo_lsm_cleanup, where the structure has such. */
ordo_status ordo_dict_clean_up(ordo_dict *dict, const struct ordo_order *order);

/* Inserts of absent keys as upserts that change nothing where the key is there: no wait. */
ordo_status ordo_dict_insert_enqueue(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count, struct ordo_slice inserted);

#endif
