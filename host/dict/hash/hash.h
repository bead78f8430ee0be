/* SPDX-License-Identifier: Apache-2.0 */
/* The hash table on the host's side; cl/shared/hash_table.h draws it and has the invariants.
 *
 * Files from the bottom up. Each calls only files before it:
 *
 *   table.c        memory, and the constructor of launches
 *   check.c        the invariants, and the begin of every call
 *   query.c        lookups, and erasures of keys
 *   export.c       size, export, statistics
 *   partition.c    sorts a batch by partition
 *   update.c       a batch in place; update_dense.cl and update_sparse.cl
 *   build.c        new tables, of a batch, of the elements, or of both
 *   store.c        batches of updates: in place, or in a new table
 *   mixed.c        mixed batches of operations on single keys
 *   concurrent.c   concurrent batches
 *   hash.c         the structure's table
 */
#ifndef ORDO_HASH_PRIVATE_H
#define ORDO_HASH_PRIVATE_H

#include "dict/launch.h"
#include "dict/sorted_run.h"
#include "ordo/hash.h"
#include "shared/hash_table.h"

/* The arguments of kernels that describe a table. All zero: an empty table. */
struct ordo_hash_table {
    cl_mem   buckets, spills, starts, counts;
    size_t   n_buckets;
    cl_uint  bits; /* bits of a partition's number */
    cl_ulong seed;
};

struct ordo_hash {
    ordo_dict               dict; /* first */
    struct ordo_hash_config config;
    struct ordo_hash_table  table;
    bool                    needs_check;  /* a change was not completed: the next call checks the table */
    bool                    broken;       /* the check failed */
    bool                    recounts;     /* the next call counts the spills of marked partitions */
    size_t                  elements_min; /* a lower bound of the elements */
    size_t                  bytes, bytes_peak, rebuilds;
    struct ordo_runs        runs; /* sorts batches with many equal keys */
    /* Tests: updates read whole partitions always. */
    bool whole;
    /* Tests: faults of concurrent batches (enum ordo_fault), and their history (two uint32_t ticks for each operation)
     * or NULL. */
    uint32_t faults;
    cl_mem   history;
};

static inline struct ordo_hash *ordo_hash_of(ordo_dict *dict)
{
    return (struct ordo_hash *) dict;
}

static inline size_t ordo_hash_partitions(const struct ordo_hash_table *table)
{
    return (size_t) 1 << table->bits;
}

/* ---- table.c ----------------------------------------------------------------------------------------------------- */

/* Bytes of spills, and of filters on CPUs. */
size_t ordo_hash_mark_bytes(const struct ordo_hash *hash, const struct ordo_hash_table *table);
/* Bytes of a bucket without its spills and filter. */
size_t ordo_hash_bucket_bytes(const ordo_dict *dict);
/* Bits of a partition's number for these elements in a table `load` percent full. */
cl_uint ordo_hash_bits_for(size_t elements, unsigned load);
/* SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014), `steps` steps after `from`. A table's first seed is one
 * step after the configuration's. */
cl_ulong ordo_hash_seed(cl_ulong from, cl_ulong steps);

/* Allocates the memory of a table of these bits and buckets, but for parts that it has. Writes nothing. */
ordo_status ordo_hash_allocate(struct ordo_hash *hash, struct ordo_hash_table *table);
void        ordo_hash_release(struct ordo_hash *hash, struct ordo_hash_table *table);
void        ordo_hash_replace(struct ordo_hash *hash, const struct ordo_hash_table *table);
void        ordo_hash_clear(ordo_dict *dict);

void ordo_hash_add_table(struct ordo_args *args, const struct ordo_hash_table *table);
/* A kernel of dict/hash with work-groups of up to `group` work-items (HASH_GROUP_DENSE or _SPARSE); of one on CPUs.
 * Kernels loop over partitions, so any number of groups is correct. */
struct ordo_launch ordo_hash_kernel(const struct ordo_hash *hash, const char *file, const char *kernel, size_t groups,
                                    size_t group);

/* ---- check.c ----------------------------------------------------------------------------------------------------- */

/* Begins a call: counts marked spills, and checks the table if it needs_check. ORDO_BROKEN if that fails or failed
 * before. */
ordo_status ordo_hash_begin(struct ordo_call *call, struct ordo_hash *hash);
void        ordo_hash_invalidate(ordo_dict *dict);
ordo_status ordo_hash_check(ordo_dict *dict, struct ordo_call *call);

/* ---- query.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds);
/* Erases keys, and only enqueues. */
ordo_status ordo_hash_erase(struct ordo_call *call, struct ordo_hash *hash, struct ordo_slice keys, size_t count);

/* ---- export.c ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_size(ordo_dict *dict, struct ordo_call *call, size_t *out);
ordo_status ordo_hash_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count);
ordo_status ordo_hash_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out);

/* ---- partition.c ------------------------------------------------------------------------------------------------- */

/* A batch, and what ordo_hash_partition makes of it in scratch: HASH_BATCH of cl/dict/hash/batch.cl. */
struct ordo_hash_batch {
    struct ordo_slice keys, values, erased; /* erased: ordo_none() if the batch erases nothing */
    struct ordo_slice codes;                /* of a mixed batch; found[HASH_CODES] gets its codes */
    cl_mem            found;
    size_t            count;
    cl_uint           kind;     /* enum hash_kind */
    bool              combines; /* combines values with those in the table; there are no erasures and no codes */
    ordo_type         value;
    ordo_op           op;
    cl_mem            mixed, index, bounds; /* index: NULL if values are in the order of mixed */
    struct ordo_slice values_by_part;
};

ordo_status ordo_hash_partition(struct ordo_call *call, const struct ordo_hash *hash,
                                const struct ordo_hash_table *table, struct ordo_hash_batch *batch);
/* Sets table->starts: buckets, `load` percent full, for the keys between `bounds` (or NULL), incoming[p] (or NULL) and
 * `more` keys in partition p. found[HASH_LARGEST]: the buckets of the largest. */
ordo_status ordo_hash_size_partitions(struct ordo_call *call, const struct ordo_hash *hash,
                                      const struct ordo_hash_table *table, cl_mem bounds, cl_mem incoming, cl_uint more,
                                      cl_uint load, cl_mem found);
void        ordo_hash_add_batch(struct ordo_args *args, const struct ordo_hash_batch *batch);
/* VALUE_HOW of a batch that combines. */
cl_uint ordo_hash_how(const struct ordo_hash_batch *batch);
/* Drops equal keys of a batch that erases nothing. Afterwards the batch is in a run of hash->runs, or in scratch.
 * Waits. */
ordo_status ordo_hash_make_distinct(struct ordo_call *call, struct ordo_hash *hash, struct ordo_hash_batch *batch,
                                    struct ordo_sorted_run *run);
/* Takes scratch for the words of enum hash_found, all 0; reads them, and waits. */
ordo_status ordo_hash_begin_found(struct ordo_call *call, cl_mem *found);
ordo_status ordo_hash_read_found(struct ordo_call *call, cl_mem found, cl_uint out[HASH_FOUND_WORDS]);
/* Finds HASH_LARGEST, HASH_FULL and HASH_TOTAL. */
ordo_status ordo_hash_look(struct ordo_call *call, const struct ordo_hash_table *table, const ordo_dict *dict,
                           const struct ordo_hash_batch *batch, cl_mem found);
/* The words of ordo_hash_look. Waits. */
ordo_status ordo_hash_measure(struct ordo_call *call, const struct ordo_hash_table *table, const ordo_dict *dict,
                              const struct ordo_hash_batch *batch, cl_uint found[HASH_FOUND_WORDS]);

/* ---- update.c ---------------------------------------------------------------------------------------------------- */

/* Whether all partitions have the capacity for the batch, exactly. Waits. */
ordo_status ordo_hash_has_capacity(struct ordo_call *call, const struct ordo_hash *hash,
                                   const struct ordo_hash_batch *batch, bool *out);
/* Applies a batch in place to a table that has the capacity. Only enqueues. */
ordo_status ordo_hash_change(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_table *table,
                             const struct ordo_hash_batch *batch);

/* ---- build.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                            size_t count);
/* Makes a new table, `load` percent full, of the elements and a batch (or NULL), with capacity for `more` keys.
 * Waits. */
ordo_status ordo_hash_rebuild(struct ordo_call *call, struct ordo_hash *hash, const struct ordo_hash_batch *batch,
                              size_t more, unsigned load);
/* The load of a table that updates rebuild, in percent. */
unsigned    ordo_hash_update_load(const struct ordo_hash *hash);
ordo_status ordo_hash_compact(ordo_dict *dict, struct ordo_call *call);

/* ---- store.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_update(ordo_dict *dict, struct ordo_call *call, bool erase, struct ordo_slice keys,
                             struct ordo_slice values, size_t count);
ordo_status ordo_hash_update_sorted(ordo_dict *dict, struct ordo_call *call, const struct ordo_sorted_updates *updates);
ordo_status ordo_hash_combine(ordo_dict *dict, struct ordo_call *call, const struct ordo_combines *combines);
/* Whether a table with this many elements should be rebuilt smaller. */
bool ordo_hash_is_underfull(const struct ordo_hash *hash, size_t elements);
/* Rebuilds an underfull table if memory is enough. `erased`: erasures since elements_min was set. Waits if it may be
 * underfull. */
ordo_status ordo_hash_shrink(struct ordo_call *call, struct ordo_hash *hash, size_t erased);

/* ---- mixed.c ----------------------------------------------------------------------------------------------------- */

ordo_status ordo_hash_apply_points(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch, bool *done);

/* ---- concurrent.c ------------------------------------------------------------------------------------------------ */

ordo_status ordo_hash_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                       const struct ordo_concurrent_batch *batch);

#endif
