/* SPDX-License-Identifier: Apache-2.0 */
/* What stands between the interface (include/ordo/dict.h) and a structure.
 *
 * dict.c checks every argument, takes the lock, orders queues and hands structures calls that are right: slices checked,
 * counts from 1 up, no overlap. A structure's functions run inside an ordo_call and only enqueue, unless they say "waits".
 * They leave the dictionary as it was when they fail before their first launch that changes it; all memory comes first.
 */
#ifndef ORDO_DICT_PRIVATE_H
#define ORDO_DICT_PRIVATE_H

#include "ordo/dict.h"
#include "primitive/primitive.h"

/* Updates in sorted order of distinct keys: erased[i] (one byte) 1 removes keys[i], 0 stores it. */
struct ordo_sorted_updates {
    struct ordo_slice keys, values, erased; /* erased: ordo_none() if all are stored */
    size_t            count;
};

/* A batch of lookups. The outputs may be ordo_none(). */
struct ordo_finds {
    struct ordo_slice keys;
    size_t            count;
    bool              sorted; /* keys ascend */
    struct ordo_slice values_out, found;
};

struct ordo_seeks {
    ordo_relation     relation;
    struct ordo_slice keys;
    size_t            count;
    struct ordo_slice keys_out, values_out, found;
};

struct ordo_counts {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice counts; /* uint32_t */
};

/* The second half of a range: offsets are known, nothing is written if the last of them is more than capacity. */
struct ordo_ranges {
    struct ordo_slice lo, hi;
    size_t            count;
    struct ordo_slice offsets; /* count + 1 uint64_t */
    struct ordo_slice keys_out, values_out;
    size_t            capacity;
};

struct ordo_structure {
    const char *name;
    void (*destroy)(ordo_dict *dict);
    void (*clear)(ordo_dict *dict); /* also a broken one */
    /* keys in any order, with equal ones: of these the last wins. Waits. */
    ordo_status (*build)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                         size_t count);
    /* The same, not replacing; `erase`: removes the keys, values is ordo_none(). */
    ordo_status (*update)(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                          struct ordo_slice values, size_t count);
    ordo_status (*update_sorted)(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
    ordo_status (*compact)(ordo_dict *dict, struct ordo_call *call);
    ordo_status (*find)(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
    ordo_status (*count)(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts);
    ordo_status (*range)(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges);
    ordo_status (*seek)(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks);
    ordo_status (*size)(ordo_dict *dict, struct ordo_call *call, size_t *out); /* waits */
    ordo_status (*export_all)(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                              struct ordo_slice values_out, size_t capacity, size_t *count);              /* waits */
    ordo_status (*check)(ordo_dict *dict, struct ordo_call *call);                                        /* waits */
    ordo_status (*statistics)(ordo_dict *dict, struct ordo_call *call, struct ordo_dict_statistics *out); /* waits */
};

struct ordo_dict {
    ordo_device                 *dev;
    const struct ordo_structure *structure;
    ordo_type                    key;
    uint32_t                     value_bytes;
    size_t                       key_bytes;
    bool                         broken;
    /* dict.c's own: the queue of the last call and what marks its end */
    cl_command_queue last_queue;
    cl_event         last_done;
};

/* A mixed batch, checked by dict.c but for the codes, which apply.c looks at first. Waits. */
ordo_status ordo_dict_apply_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch,
                                    size_t *needed);

/* Inserts of absent keys as upserts that change nothing where the key is there: no wait. */
ordo_status ordo_dict_insert_enqueue(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys,
                                     struct ordo_slice values, size_t count, struct ordo_slice inserted);

#endif
