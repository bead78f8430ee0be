/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives over arrays: scan, reduce, compact, gather, scatter, sort, top k, group by, merge, search.
 *
 *     // sort count keys with their values, on the device's own queue
 *     ordo_sort(dev, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4),
 *               ordo_at(keys, 0), ordo_at(values, 0), ordo_at(sorted_keys, 0), ordo_at(sorted_values, 0), count, NULL);
 *
 * What holds for every call here:
 *   Arrays     a cl_mem of the device's context and an offset in elements (ordo_at). Any alignment of elements.
 *   Blocking   calls enqueue and return; inputs must stay untouched, and outputs unread, until the commands are done.
 *              Calls ending in _host take arrays in host memory (NULL for ordo_none()), need room on the device for
 *              these besides scratch (on a CPU only for those that are both read and written), and block until the
 *              result is there.
 *   First calls  a call waits for the kernels that it is the first to need on this device: on an H200 0.05 to 1 s each and
 *              up to 1.2 s in all, on a CPU up to 4 s; some ms where they are on the disk already (prepare.h).
 *   Count      0 is fine and does nothing but signal order->done. Up to ORDO_MAX_COUNT elements a call.
 *   Overlap    outputs must not overlap inputs or each other unless a call says so: ORDO_INVALID. Inputs may overlap.
 *   Results    depend on the input alone: the same bits on every device, with every tuning, in every run.
 *   Scratch    comes from the device's pool and returns to it; each call says how much. ordo_device_memory has the peak.
 *   Errors     ORDO_INVALID (NULL, a range outside its buffer, overlap, another context's buffer or queue, an unknown
 *              type), ORDO_TOO_LARGE (count), ORDO_UNSUPPORTED (sums of floats), ORDO_NO_DEVICE_MEMORY,
 *              ORDO_NO_HOST_MEMORY, ORDO_BUILD, ORDO_OPENCL, ORDO_DEVICE_FAILED, ORDO_FORKED;
 *              ordo_device_last_error says which argument, and what is wrong with it. After an error inputs are as they
 *              were, and the call may be made again; outputs may be partly written only if the driver failed in the middle.
 *
 * Order of keys: integers by value; floats in IEEE total order (-NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN).
 */
#ifndef ORDO_ARRAY_H
#define ORDO_ARRAY_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ordo_type {
    ORDO_U32 = 0,
    ORDO_U64 = 1,
    ORDO_I32 = 2,
    ORDO_I64 = 3,
    ORDO_F32 = 4,
    ORDO_F64 = 5,
} ordo_type;

/* 4 or 8; 0 for an unknown type. */
ORDO_API size_t ordo_type_bytes(ordo_type type);

/* The most elements in one call: ranks and counts are 32 bits wide. */
#define ORDO_MAX_COUNT ((size_t) 0xfff00000u)

/* An array in device memory: it begins at element `at` of `mem`. */
struct ordo_slice {
    cl_mem mem;
    size_t at;
};
static inline struct ordo_slice ordo_at(cl_mem mem, size_t at)
{
    struct ordo_slice slice;
    slice.mem = mem;
    slice.at = at;
    return slice;
}
/* No array: for values where value_bytes is 0, and for outputs that are not wanted. */
static inline struct ordo_slice ordo_none(void)
{
    return ordo_at((cl_mem) 0, 0);
}

/* ---- scan, reduce, compact ----------------------------------------------------------------------------------- */

typedef enum ordo_op {
    ORDO_SUM = 0, /* integers only, modulo 2^32 or 2^64: a float sum would depend on the device's grouping */
    ORDO_MIN = 1, /* every type, in its order */
    ORDO_MAX = 2,
} ordo_op;

struct ordo_scan_params {
    ordo_type type;
    ordo_op   op;
    bool      inclusive; /* out[i] covers in[0..i]; else in[0..i-1], out[0] being the identity of op */
};

/* Prefix sums (minima, maxima) of count elements. out may be in itself (the same mem and at).
 * Cost     reads and writes each element once where look-back is allowed, else reads it twice.
 * Scratch  at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_scan(ordo_device *device, const struct ordo_scan_params *params, struct ordo_slice in,
                               struct ordo_slice out, size_t count, const struct ordo_order *order);
ORDO_API ordo_status ordo_scan_host(ordo_device *device, const struct ordo_scan_params *params, const void *in,
                                    void *out, size_t count);

/* The same within segments: a new segment begins at every i where heads[i] (one byte each) is not 0, and at 0. */
ORDO_API ordo_status ordo_segmented_scan(ordo_device *device, const struct ordo_scan_params *params,
                                         struct ordo_slice in, struct ordo_slice heads, struct ordo_slice out,
                                         size_t count, const struct ordo_order *order);
ORDO_API ordo_status ordo_segmented_scan_host(ordo_device *device, const struct ordo_scan_params *params,
                                              const void *in, const uint8_t *heads, void *out, size_t count);

struct ordo_reduce_params {
    ordo_type type;
    ordo_op   op;
};

/* One element at `out`: the sum (minimum, maximum) of all; of none: the identity of op.
 * Cost reads each element once. Scratch at most 64 KiB. */
ORDO_API ordo_status ordo_reduce(ordo_device *device, const struct ordo_reduce_params *params, struct ordo_slice in,
                                 size_t count, struct ordo_slice out, const struct ordo_order *order);
ORDO_API ordo_status ordo_reduce_host(ordo_device *device, const struct ordo_reduce_params *params, const void *in,
                                      size_t count, void *out);

struct ordo_compact_params {
    uint32_t key_bytes;   /* 4 or 8 */
    uint32_t value_bytes; /* 0, 4 or 8 */
};

/* Keeps, in order, the keys (and values) whose flag (one byte each) is not 0.
 *   keys_out, values_out  receive the kept ones; must have room for `count`
 *   kept                  receives their number as one uint32_t
 * Cost reads flags and input once, writes what is kept. Scratch at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_compact(ordo_device *device, const struct ordo_compact_params *params, struct ordo_slice keys,
                                  struct ordo_slice values, struct ordo_slice flags, size_t count,
                                  struct ordo_slice keys_out, struct ordo_slice values_out, struct ordo_slice kept,
                                  const struct ordo_order *order);
ORDO_API ordo_status ordo_compact_host(ordo_device *device, const struct ordo_compact_params *params, const void *keys,
                                       const void *values, const uint8_t *flags, size_t count, void *keys_out,
                                       void *values_out, uint32_t *kept);

/* ---- rows ---------------------------------------------------------------------------------------------------- */

/* Rows are elements of any size, whose offsets count rows: values wider than 8 bytes travel as row numbers through a sort, a
 * dictionary or ordo_top_k, and are gathered at the end. */
#define ORDO_MAX_ROW_BYTES ((uint32_t) 1 << 30)

struct ordo_gather_params {
    uint32_t row_bytes; /* 1 to ORDO_MAX_ROW_BYTES */
};

/* rows_out[i] = rows[indices[i]] for `count` indices (uint32_t) into n_rows rows; the same row may be asked for any number of
 * times. Where an index is n_rows or more, rows_out[i] is left alone.
 * Cost     reads each index and each row asked for, in whatever order they lie; writes each row once. No scratch. */
ORDO_API ordo_status ordo_gather(ordo_device *device, const struct ordo_gather_params *params, struct ordo_slice rows,
                                 size_t n_rows, struct ordo_slice indices, size_t count, struct ordo_slice rows_out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_gather_host(ordo_device *device, const struct ordo_gather_params *params, const void *rows,
                                      size_t n_rows, const uint32_t *indices, size_t count, void *rows_out);

struct ordo_scatter_params {
    uint32_t row_bytes; /* 1 to ORDO_MAX_ROW_BYTES */
    bool
        distinct; /* no index occurs twice, which is faster. If one does, its row may be a mixture of those meant for it */
};

/* rows_out[indices[i]] = rows[i] for `count` indices (uint32_t) into n_rows rows. Of rows with one index the last counts.
 * Rows whose index is n_rows or more go nowhere; what no index names is left alone.
 * Cost     reads each index and row, writes each row where it goes; without params->distinct also an atomic update of a
 *          counter per index. Scratch 4 bytes per row of rows_out; none with params->distinct. */
ORDO_API ordo_status ordo_scatter(ordo_device *device, const struct ordo_scatter_params *params, struct ordo_slice rows,
                                  struct ordo_slice indices, size_t count, struct ordo_slice rows_out, size_t n_rows,
                                  const struct ordo_order *order);
ORDO_API ordo_status ordo_scatter_host(ordo_device *device, const struct ordo_scatter_params *params, const void *rows,
                                       const uint32_t *indices, size_t count, void *rows_out, size_t n_rows);

/* ---- sort ---------------------------------------------------------------------------------------------------- */

struct ordo_sort_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool      descending;  /* stable too: equal keys keep the order of the input */
    uint32_t  first_bit;   /* sorts by bits first_bit .. first_bit + bits - 1 of ordo_key_bits */
    uint32_t  bits;        /* 0: all from first_bit up */
};

/* The ordered form of a key: unsigned integers as they are, signed ones with the sign bit flipped, floats so that
 * unsigned order is total order. `key` points to one element of the type. */
ORDO_API uint64_t ordo_key_bits(ordo_type type, const void *key);

/* Stable radix sort. keys_out may be keys_in, and values_out values_in, but only both or neither.
 * Cost     one read of the keys, and per 8 bits one read and one write of everything (one-sweep), or
 *          two reads and one write (elsewhere). One-sweep leaves out digits that all 8-byte keys share.
 *          Small inputs: one launch.
 * Local    2^22 keys of 8 bytes or more, sorted by all bits from first_bit up: where a sample of
 *          the keys shows that their top digits split them into short segments, two or three passes
 *          sort by these digits, and one more launch sorts the segments in local memory. The result
 *          is the same. (Stehle and Jacobsen, A Memory Bandwidth-Efficient Hybrid Radix Sort on
 *          GPUs, SIGMOD 2017.)
 * Scratch  one buffer of the input's size, plus at most 2 % and 4 MiB. The bounds of the ranges of
 *          segments, two words each, and the plan of the passes, 104 bytes, are part of that. */
ORDO_API ordo_status ordo_sort(ordo_device *device, const struct ordo_sort_params *params, struct ordo_slice keys_in,
                               struct ordo_slice values_in, struct ordo_slice keys_out, struct ordo_slice values_out,
                               size_t count, const struct ordo_order *order);
/* In host memory, in place. */
ORDO_API ordo_status ordo_sort_host(ordo_device *device, const struct ordo_sort_params *params, void *keys,
                                    void *values, size_t count);

/* ---- the first of an order ----------------------------------------------------------------------------------- */

struct ordo_top_k_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool      greatest;    /* the k greatest, the greatest first; else the k least, the least first */
};

/* The first k of `count` keys in the order of keys, sorted; equal keys in the order of the input, of which the first ones are
 * taken where not all are. If k is more than count, all come out: min(k, count) elements.
 *   keys_out, values_out  room for min(k, count)
 *   indices               which elements they are (uint32_t each), say for ordo_gather of rows; or ordo_none()
 * Cost     two reads of all keys, and some launches that work on little; more reads only where most keys share their
 *          highest bits. Then a sort of what comes out (of up to 1024 elements with their values in one launch), and a read of its
 *          values. On a CPU one read of all keys if k is small beside count.
 * Scratch  half of the keys' bytes and 2 bytes per key, at most 256 KiB, and for what comes out two buffers of its keys and
 *          indices besides what their sort takes. */
ORDO_API ordo_status ordo_top_k(ordo_device *device, const struct ordo_top_k_params *params, struct ordo_slice keys,
                                struct ordo_slice values, size_t count, size_t k, struct ordo_slice keys_out,
                                struct ordo_slice values_out, struct ordo_slice indices,
                                const struct ordo_order *order);
ORDO_API ordo_status ordo_top_k_host(ordo_device *device, const struct ordo_top_k_params *params, const void *keys,
                                     const void *values, size_t count, size_t k, void *keys_out, void *values_out,
                                     uint32_t *indices);

struct ordo_select_params {
    ordo_type key;
    bool      greatest; /* counts from the greatest key down; else from the least up */
};

/* The key that k others come before in order (0: the least; count / 2: the median), and where it is: element k of what
 * ordo_top_k would put out for a larger one, without finding the others. ORDO_INVALID if k is not less than count.
 *   key_out, index_out  one element; index_out (uint32_t) may be ordo_none()
 * Cost     as ordo_top_k without the sort. Scratch half of the keys' bytes and 2 bytes per key; at most 256 KiB besides. */
ORDO_API ordo_status ordo_select(ordo_device *device, const struct ordo_select_params *params, struct ordo_slice keys,
                                 size_t count, size_t k, struct ordo_slice key_out, struct ordo_slice index_out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_select_host(ordo_device *device, const struct ordo_select_params *params, const void *keys,
                                      size_t count, size_t k, void *key_out, uint32_t *index_out);

/* ---- groups of equal keys ------------------------------------------------------------------------------------ */

struct ordo_reduce_by_key_params {
    ordo_type key; /* two keys are equal if they are the same bits: -0 is not +0 */
    ordo_type value;
    ordo_op   op;
    bool      wide; /* sums of u32 as u64, of i32 as i64: values_out has 8 bytes an element */
    bool sorted; /* equal keys lie side by side already, in any order of keys: nothing is sorted. If some do not, each
                         stretch of equal keys is a group of its own */
    uint32_t
        bits; /* sorts by this many of the lowest bits of ordo_key_bits alone, which is faster; 0: all. Keys that differ
                         above them may come out in any order, each stretch of equal ones a group of its own */
};

/* Group-by: of each different key its sum (minimum, maximum) of values and the number of its elements. Groups come out in
 * ascending order of keys; if params->sorted, in the order of the input.
 *   keys, values          count of each
 *   keys_out, values_out  one of each per group; values_out in the type of values, or in 8 bytes (params->wide)
 *   counts                uint32_t per group; or ordo_none()
 *   capacity              groups that the outputs have room for; what is beyond is not written
 *   groups                receives how many there are as one uint32_t; may exceed capacity, never count
 * Cost     sorted: reads each element once where look-back is allowed, else twice; writes the groups. Else a sort besides.
 * Scratch  sorted: at most 1 % of the input plus 64 KiB. Else as much as a sort, and one buffer of the input's size. */
ORDO_API ordo_status ordo_reduce_by_key(ordo_device *device, const struct ordo_reduce_by_key_params *params,
                                        struct ordo_slice keys, struct ordo_slice values, size_t count,
                                        struct ordo_slice keys_out, struct ordo_slice values_out,
                                        struct ordo_slice counts, size_t capacity, struct ordo_slice groups,
                                        const struct ordo_order *order);
ORDO_API ordo_status ordo_reduce_by_key_host(ordo_device *device, const struct ordo_reduce_by_key_params *params,
                                             const void *keys, const void *values, size_t count, void *keys_out,
                                             void *values_out, uint32_t *counts, size_t capacity, uint32_t *groups);

struct ordo_unique_params {
    ordo_type key;
    bool      sorted; /* these as in ordo_reduce_by_key_params */
    uint32_t  bits;
};

/* Each different key once, and how many elements have it: ordo_reduce_by_key without values. */
ORDO_API ordo_status ordo_unique(ordo_device *device, const struct ordo_unique_params *params, struct ordo_slice keys,
                                 size_t count, struct ordo_slice keys_out, struct ordo_slice counts, size_t capacity,
                                 struct ordo_slice groups, const struct ordo_order *order);
ORDO_API ordo_status ordo_unique_host(ordo_device *device, const struct ordo_unique_params *params, const void *keys,
                                      size_t count, void *keys_out, uint32_t *counts, size_t capacity,
                                      uint32_t *groups);

/* ---- merge --------------------------------------------------------------------------------------------------- */

struct ordo_merge_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool      descending;  /* both inputs and the output are in descending order */
};

/* Stable merge of two sorted sequences: of equal keys, a's come before b's. a_count + b_count <= ORDO_MAX_COUNT.
 * Inputs that are not sorted give an output of undefined order, never an access outside the buffers.
 * Cost     one read and one write of everything. Scratch at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_merge(ordo_device *device, const struct ordo_merge_params *params, struct ordo_slice a_keys,
                                struct ordo_slice a_values, size_t a_count, struct ordo_slice b_keys,
                                struct ordo_slice b_values, size_t b_count, struct ordo_slice keys_out,
                                struct ordo_slice values_out, const struct ordo_order *order);
ORDO_API ordo_status ordo_merge_host(ordo_device *device, const struct ordo_merge_params *params, const void *a_keys,
                                     const void *a_values, size_t a_count, const void *b_keys, const void *b_values,
                                     size_t b_count, void *keys_out, void *values_out);

/* One sorted run of a multi-way merge: `count` elements from element `at` on, counted from the start of the call's
 * keys (and of its values). */
struct ordo_run {
    size_t at, count;
};
#define ORDO_MAX_RUNS 16

/* Stable merge of up to ORDO_MAX_RUNS sorted runs, which all lie in the same buffers, in one pass over the data: of
 * equal keys, an earlier run's come first. Runs may be empty, of any lengths, and may lie in any order.
 * Cost     one read and one write of everything, whatever the number of runs, plus a search per 128 elements.
 * Scratch  at most 8 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_merge_runs(ordo_device *device, const struct ordo_merge_params *params,
                                     struct ordo_slice keys, struct ordo_slice values, const struct ordo_run *runs,
                                     size_t n_runs, struct ordo_slice keys_out, struct ordo_slice values_out,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_merge_runs_host(ordo_device *device, const struct ordo_merge_params *params, const void *keys,
                                          const void *values, const struct ordo_run *runs, size_t n_runs,
                                          void *keys_out, void *values_out);

/* ---- search -------------------------------------------------------------------------------------------------- */

/* A static search index over a sorted array: an implicit tree of separators. It holds no keys of the array itself, which
 * must stay in place and unchanged while the index is used. 7 % of the keys' bytes with nodes of 16 keys,
 * as shipped profiles have them (15 % with nodes of 8, 4 % with 32), and up to 1 KiB.
 * Thread-safety: safe for searches; destroy only when no search with it is being enqueued (enqueued ones may run on), before
 * or after its device is closed. */
typedef struct ordo_index ordo_index;

/* Builds the index of `count` sorted keys, enqueued like any call; *out can be used in later calls at once (on another
 * queue: after order->done). count 0 is fine. Descending arrays are not indexed. */
ORDO_API ordo_status ordo_index_build(ordo_device *device, ordo_type key, struct ordo_slice keys, size_t count,
                                      const struct ordo_order *order, ordo_index **out);
/* The same, compressed: the index holds the keys itself, 16 at a time as differences from the last one before them, of 1, 2, 4
 * or 8 bytes as they need. Searches with it do not read `keys`, which may be changed or let go of when the build is done, and then be
 * ordo_none() in calls. Of keys that lie dense this takes much less: 0.53 of keys and index for 2^24 of 2^32 uniform ones; at most
 * 1.13 of them, for keys that nothing can be saved of. That is memory, not time: on an H200 ranks among 2^24 are found at 24.8
 * instead of 29.8 G/s. Waits. Frame of reference, after section 7.2 of Kim et al. (ordo/fast.h). */
ORDO_API ordo_status ordo_index_build_compressed(ordo_device *device, ordo_type key, struct ordo_slice keys,
                                                 size_t count, const struct ordo_order *order, ordo_index **out);
/* Sets *index to NULL. NULL and *NULL are fine. Any number of threads may search with one index; it is destroyed when none
 * of them makes calls with it any more. Commands under way finish. */
ORDO_API void ordo_index_destroy(ordo_index **index);
/* Device memory that the index takes. 0 for NULL. */
ORDO_API size_t ordo_index_bytes(const ordo_index *index);

/* In what order queries that do not ascend are gone through, after section 8 of Kim et al. (ordo/fast.h). Answers are the
 * same, each in its query's place. */
typedef enum ordo_scheme {
    ORDO_SCHEME_AUTO = 0,  /* as the tunables search.buffered and search.sort_queries say, which ordo-tune measures */
    ORDO_SCHEME_PLAIN = 1, /* as they come; no scratch */
    ORDO_SCHEME_BUFFERED = 2, /* partitioned by their highest 8 bits: what a part looks into is in a cache */
    ORDO_SCHEME_SORTED = 3,   /* sorted: they go through the keys in one pass */
} ordo_scheme;

struct ordo_search_params {
    ordo_type         key;
    bool              upper;          /* rank = number of keys <= query; else the number of keys < query */
    bool              sorted_queries; /* queries are ascending: faster; if they are not, results are still right */
    const ordo_index *index;          /* over exactly these keys (mem, at, count); NULL: binary search, and
                                             always so in calls ending in _host. A compressed one: keys may be
                                             ordo_none() */
    ordo_scheme       scheme;         /* scratch, but for a plain one: 8 bytes and two keys per query */
};

/* Batched lower or upper bound: ranks[i] (uint32_t) = where queries[i] falls among `count` ascending keys, 0 to count.
 * Keys that are not sorted give undefined ranks within 0..count, never an access outside the buffer.
 * Cost     random queries: with an index about log(count)/log(node keys) reads of a node (64 to 128 bytes) per query,
 *          without, log2(count) reads, of which a GPU does the first ten or so in local memory. No scratch. */
ORDO_API ordo_status ordo_search(ordo_device *device, const struct ordo_search_params *params, struct ordo_slice keys,
                                 size_t count, struct ordo_slice queries, size_t n_queries, struct ordo_slice ranks,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_search_host(ordo_device *device, const struct ordo_search_params *params, const void *keys,
                                      size_t count, const void *queries, size_t n_queries, uint32_t *ranks);

struct ordo_equal_range_params {
    ordo_type         key;
    bool              sorted_queries; /* both as in ordo_search_params */
    const ordo_index *index;
};

/* Both bounds in one search: the keys equal to queries[i] are lower[i] .. upper[i] - 1 (uint32_t each). Keys that are not
 * sorted give lower[i] <= upper[i] <= count.
 * Cost     that of ordo_search, and about 2 log2(upper[i] - lower[i] + 1) reads that begin where it ended. No scratch. */
ORDO_API ordo_status ordo_equal_range(ordo_device *device, const struct ordo_equal_range_params *params,
                                      struct ordo_slice keys, size_t count, struct ordo_slice queries, size_t n_queries,
                                      struct ordo_slice lower, struct ordo_slice upper, const struct ordo_order *order);
ORDO_API ordo_status ordo_equal_range_host(ordo_device *device, const struct ordo_equal_range_params *params,
                                           const void *keys, size_t count, const void *queries, size_t n_queries,
                                           uint32_t *lower, uint32_t *upper);

struct ordo_lookup_params {
    ordo_type         key;
    uint32_t          value_bytes;    /* 0, 4 or 8 */
    bool              sorted_queries; /* all three as in ordo_search_params */
    const ordo_index *index;
    ordo_scheme       scheme;
};

/* Batched find: values_out[i] = the value of the first key equal to queries[i] in total order (-0 is not +0); where there
 * is none, values_out[i] is left alone. found (one byte each: 1 or 0) may be ordo_none(). */
ORDO_API ordo_status ordo_lookup(ordo_device *device, const struct ordo_lookup_params *params, struct ordo_slice keys,
                                 struct ordo_slice values, size_t count, struct ordo_slice queries, size_t n_queries,
                                 struct ordo_slice values_out, struct ordo_slice found, const struct ordo_order *order);
ORDO_API ordo_status ordo_lookup_host(ordo_device *device, const struct ordo_lookup_params *params, const void *keys,
                                      const void *values, size_t count, const void *queries, size_t n_queries,
                                      void *values_out, uint8_t *found);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_scan_params(...)          (&(struct ordo_scan_params) { __VA_ARGS__ })
#define ordo_reduce_params(...)        (&(struct ordo_reduce_params) { __VA_ARGS__ })
#define ordo_compact_params(...)       (&(struct ordo_compact_params) { __VA_ARGS__ })
#define ordo_gather_params(...)        (&(struct ordo_gather_params) { __VA_ARGS__ })
#define ordo_scatter_params(...)       (&(struct ordo_scatter_params) { __VA_ARGS__ })
#define ordo_sort_params(...)          (&(struct ordo_sort_params) { __VA_ARGS__ })
#define ordo_top_k_params(...)         (&(struct ordo_top_k_params) { __VA_ARGS__ })
#define ordo_select_params(...)        (&(struct ordo_select_params) { __VA_ARGS__ })
#define ordo_reduce_by_key_params(...) (&(struct ordo_reduce_by_key_params) { __VA_ARGS__ })
#define ordo_unique_params(...)        (&(struct ordo_unique_params) { __VA_ARGS__ })
#define ordo_merge_params(...)         (&(struct ordo_merge_params) { __VA_ARGS__ })
#define ordo_search_params(...)        (&(struct ordo_search_params) { __VA_ARGS__ })
#define ordo_equal_range_params(...)   (&(struct ordo_equal_range_params) { __VA_ARGS__ })
#define ordo_lookup_params(...)        (&(struct ordo_lookup_params) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
