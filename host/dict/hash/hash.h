/* SPDX-License-Identifier: Apache-2.0 */
/* cl/shared/hash_table.h describes the layout and invariants. */
#ifndef ORDO_HASH_PRIVATE_H
#define ORDO_HASH_PRIVATE_H

#include "dict/launch.h"
#include "dict/sorted_run.h"
#include "ordo/hash.h"
#include "shared/hash_table.h"

/* All members are 0 for an empty table. */
struct ordo_hash_table {
    cl_mem   buckets, spills, starts, counts;
    size_t   n_buckets;
    cl_uint  bits; /* log2 of the number of partitions */
    cl_ulong seed;
};

struct ordo_hash {
    ordo_dict               dict;
    struct ordo_hash_config config;
    struct ordo_hash_table  table;
    /* True if an earlier change did not complete. The next call then checks the table. */
    bool needs_check;
    bool broken; /* a check has failed */
    /* True if the next call must count the keys outside their home buckets again (kernel hash_recount). */
    bool             recounts;
    size_t           elements_min; /* lower bound of the element count */
    size_t           bytes, bytes_peak, rebuilds;
    struct ordo_runs runs; /* sorts batches with many equal keys */
    /* For tests: updates always use kernel hash_update_dense, and builds kernel hash_fill. */
    bool whole;
    /* After ordo_hash_update_small declines a batch, the next `sits_out` batches do not use it. */
    cl_uint sits_out;
    /* Maximum size of a batch whose keys are not distributed to bins. Tests change it. */
    size_t scan_max;
    /* For tests: number of batches that ordo_hash_update_small has applied. */
    size_t small_batches;
    /* For tests: faults to inject, a sum of enum ordo_fault. */
    uint32_t faults;
    /* For tests: two time stamps (uint32_t) per operation, or NULL. */
    cl_mem history;
};

static inline struct ordo_hash *ordo_hash_of(ordo_dict *dict)
{
    return (struct ordo_hash *) dict;
}

static inline size_t ordo_hash_partitions(const struct ordo_hash_table *table)
{
    return (size_t) 1 << table->bits;
}

/* Mask of an operation's code in found[HASH_CODES] (enum hash_found). */
#define HASH_CODE_BIT(code) (1u << (code))

/* Returns a lower bound of the number of elements after `count` operations, whose codes are in found[HASH_CODES]. The
 * table has found[HASH_TOTAL] elements before them. */
static inline size_t ordo_hash_least_elements(const cl_uint found[HASH_FOUND_WORDS], size_t count)
{
    const bool erases = (found[HASH_CODES] & HASH_CODE_BIT(ORDO_ERASE)) != 0;
    return found[HASH_TOTAL] - (erases ? ordo_min_size(found[HASH_TOTAL], count) : 0);
}

/* ---- table.c ----------------------------------------------------------------------------------------------------- */

/* Returns the size in bytes of the spill counts and filters together. */
size_t  ordo_hash_mark_bytes(const struct ordo_hash *hash, const struct ordo_hash_table *table);
size_t  ordo_hash_bucket_bytes(const ordo_dict *dict);
cl_uint ordo_hash_bits_for(size_t elements, unsigned load);
/* Advances the state `from` of SplitMix64 (Steele et al., OOPSLA 2014) by `steps` steps. Returns its output. */
cl_ulong ordo_hash_seed(cl_ulong from, cl_ulong steps);

ordo_status ordo_hash_allocate(struct ordo_hash *hash, struct ordo_hash_table *table);
void        ordo_hash_release(struct ordo_hash *hash, struct ordo_hash_table *table);
void        ordo_hash_replace(struct ordo_hash *hash, const struct ordo_hash_table *table);
void        ordo_hash_clear(ordo_dict *dict);

bool ordo_hash_is_underfull(const struct ordo_hash *hash, size_t elements);
void ordo_hash_add_table(struct ordo_args *args, const struct ordo_hash_table *table);
/* Returns a launch of at most `groups` work-groups. Each has at most `group` work-items, or one on CPUs. */
struct ordo_launch ordo_hash_kernel(const struct ordo_hash *hash, const char *file, const char *kernel, size_t groups,
                                    size_t group);
/* Returns a launch whose work-groups have one work-item and share the partitions of *table. */
struct ordo_launch ordo_hash_serial_kernel(const struct ordo_hash *hash, const char *file, const char *kernel,
                                           const struct ordo_hash_table *table);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Each call must begin with this function. It does a check or recount if one is due. Returns ORDO_BROKEN if a check has
 * failed. */
ordo_status ordo_hash_begin(struct ordo_call *call, struct ordo_hash *hash);
void        ordo_hash_invalidate(ordo_dict *dict);
ordo_status ordo_hash_check(ordo_dict *dict, struct ordo_call *call);

/* ---- query.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
ordo_status ordo_hash_erase(struct ordo_call *call, struct ordo_hash *hash, struct ordo_slice keys, size_t count);

/* ---- export.c ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_size(ordo_dict *dict, struct ordo_call *call, size_t *out);
ordo_status ordo_hash_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count);
ordo_status ordo_hash_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- partition.c ------------------------------------------------------------------------------------------------- */

struct ordo_hash_batch {
    struct ordo_slice keys, values, erased; /* `erased` may be none */
    struct ordo_slice codes;
    cl_mem            found;
    size_t            count;
    cl_uint           kind; /* enum hash_kind */
    /* If true, values are combined with stored values, and the batch has no erasures and no codes. */
    bool      combines;
    ordo_type value;
    ordo_op   op;
    /* Results of ordo_hash_partition, sorted by partition. Partition p begins at index bounds[p]. mixed[u] is a hashed
     * key, and index[u] its index in the batch. If `index` is NULL, the key's value is values_by_part[u]. */
    cl_mem            mixed, index, bounds;
    struct ordo_slice values_by_part;
};

ordo_status ordo_hash_partition(struct ordo_call *call, const struct ordo_hash *hash,
                                const struct ordo_hash_table *table, struct ordo_hash_batch *batch);
/* Sets table->starts[p] to the first bucket of partition p. The keys of a partition will fill `load` percent of its
 * slots. Partition p has bounds[p + 1] - bounds[p] + incoming[p] + `more` keys. `bounds` or `incoming` may be NULL. */
ordo_status ordo_hash_size_partitions(struct ordo_call *call, const struct ordo_hash *hash,
                                      const struct ordo_hash_table *table, cl_mem bounds, cl_mem incoming, cl_uint more,
                                      cl_uint load, cl_mem found);
void        ordo_hash_add_batch(struct ordo_args *args, const struct ordo_hash_batch *batch);
cl_uint     ordo_hash_how(const struct ordo_hash_batch *batch);
/* Removes repeated keys from *batch, which must erase nothing. Scratch memory or *run holds the new arrays. Waits for
 * the device. */
ordo_status ordo_hash_make_distinct(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                                    struct ordo_sorted_run *run);
/* Allocates *found in scratch memory, with all words 0. */
ordo_status ordo_hash_begin_found(struct ordo_call *call, cl_mem *found);
ordo_status ordo_hash_read_found(struct ordo_call *call, cl_mem found, cl_uint out[HASH_FOUND_WORDS]);
/* Sets found[HASH_LARGEST], found[HASH_FULL] and found[HASH_TOTAL] (enum hash_found). ordo_hash_measure also copies
 * `found` to the host. It waits for the device. */
ordo_status ordo_hash_look(struct ordo_call *call, const struct ordo_hash_table *table, const ordo_dict *dict,
                           const struct ordo_hash_batch *batch, cl_mem found);
ordo_status ordo_hash_measure(struct ordo_call *call, const struct ordo_hash_table *table, const ordo_dict *dict,
                              const struct ordo_hash_batch *batch, cl_uint found[HASH_FOUND_WORDS]);

/* ---- update.c ---------------------------------------------------------------------------------------------------- */

/* Sets *out to whether every partition has capacity for the batch. Waits for the device. */
ordo_status ordo_hash_has_capacity(struct ordo_call *call, const struct ordo_hash *hash,
                                   const struct ordo_hash_batch *batch, bool *out);
/* True on CPUs, unless the batch both repeats and erases keys. */
bool ordo_hash_is_serial(const struct ordo_hash *hash, const struct ordo_hash_batch *batch);
/* Executes the batch. Empties the table first if `fills` is true. */
ordo_status ordo_hash_update_serial(struct ordo_call *call, const struct ordo_hash *hash,
                                    const struct ordo_hash_table *table, const struct ordo_hash_batch *batch,
                                    bool fills);
/* Every partition must have capacity for the batch. */
ordo_status ordo_hash_change(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_table *table,
                             const struct ordo_hash_batch *batch);

/* ---- direct.c ---------------------------------------------------------------------------------------------------- */

/* On CPUs, applies a batch without a sort. If the batch is not suited, sets *done to false and changes nothing. Waits
 * for the device. */
ordo_status ordo_hash_apply_direct(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                                   struct ordo_slice found_out, struct ordo_slice values_out, bool *done);

/* ---- small.c ----------------------------------------------------------------------------------------------------- */

/* Applies a small batch of upserts without a sort. If the batch is not suited, sets *done to false and changes nothing.
 * Waits for the device. */
ordo_status ordo_hash_update_small(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                                   bool *done);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
/* Rebuilds the table from its elements and *batch, which may be NULL. After `more` further inserts, the table is `load`
 * percent full. Waits for the device. */
ordo_status ordo_hash_rebuild(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                              size_t more, unsigned load);
/* Returns the percentage of slots that are full after an update rebuilds the table. */
unsigned    ordo_hash_update_load(const struct ordo_hash *hash);
ordo_status ordo_hash_compact(ordo_dict *dict, struct ordo_call *call);

/* ---- store.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count);
ordo_status ordo_hash_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
ordo_status ordo_hash_combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
/* Subtracts `erased` from hash->elements_min, which must then be a lower bound of the number of elements. Then rebuilds
 * the table if few slots are used and memory suffices. May wait for the device. */
ordo_status ordo_hash_shrink(struct ordo_call *call, struct ordo_hash *hash, size_t erased);

/* ---- mixed.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_apply_points(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch, bool *done);

/* ---- concurrent.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_hash_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch);

#endif
