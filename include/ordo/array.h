/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives over arrays: scan, reduce, compact, gather, scatter, sort, top k, group by, merge,
 * search. Algorithms and measurements: share/doc/array.md.
 *
 * Order of keys: integers by value; floats in IEEE total order (-NaN < -inf < ... < -0 < +0 < ... <
 * +inf < +NaN).
 *
 * For every call here:
 *   Arrays       a cl_mem of the device's context and an offset in elements (ordo_at), of any
 *                alignment. Calls ending in _host take arrays in host memory (NULL for none).
 *   Count        0 to ORDO_MAX_COUNT elements. 0 does nothing but signal order->done.
 *   Overlap      outputs overlap no other arrays unless a call allows it. Inputs may overlap.
 *   Results      depend on the input alone: the same bits on every device, with every tuning.
 *   Memory       is scratch from the device's pool (ordo_device_memory). Calls ending in _host also
 *                need device memory for the arrays; on a CPU only for those both read and written.
 *   Blocking     calls enqueue. Inputs must stay unchanged and outputs unread until the commands
 *                are done. Calls ending in _host wait for the result.
 *   First calls  build the kernels that they are the first to use. On an H200 a kernel takes 0.05
 *                to 1 s, and a call at most 1.2 s; on a CPU up to 4 s; from the cache some ms
 *                (prepare.h).
 *   Errors       ORDO_INVALID (NULL, a range outside its buffer, overlap, a buffer or queue of
 *                another context, an unknown type), ORDO_TOO_LARGE, ORDO_UNSUPPORTED (sums of
 *                floats), ORDO_NO_DEVICE_MEMORY, ORDO_NO_HOST_MEMORY, ORDO_BUILD, ORDO_OPENCL,
 *                ORDO_DEVICE_FAILED, ORDO_FORKED. ordo_device_last_error names the argument. An
 *                error leaves inputs unchanged. After a driver error outputs may be partly written.
 *
 * Example: sorts count keys with their values, on the device's own queue.
 *
 *     ordo_sort(dev, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4), ordo_at(keys, 0),
 *               ordo_at(values, 0), ordo_at(sorted_keys, 0), ordo_at(sorted_values, 0), count,
 *               NULL); */
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

/* Returns the bytes of an element, 4 or 8; 0 for an unknown type. */
ORDO_API size_t ordo_type_bytes(ordo_type type);

/* The most elements per call, because ranks and counts have 32 bits. */
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
/* Stands for no array: for values if value_bytes is 0, and for outputs that the caller does not
 * want. */
static inline struct ordo_slice ordo_none(void)
{
    return ordo_at((cl_mem) 0, 0);
}

/* ---- scan, reduce, compact ----------------------------------------------------------------- */

typedef enum ordo_op {
    ORDO_SUM = 0, /* integers only, modulo 2^32 or 2^64 */
    ORDO_MIN = 1, /* every type, in its order */
    ORDO_MAX = 2,
} ordo_op;

struct ordo_scan_params {
    ordo_type type;
    ordo_op   op;
    bool      inclusive; /* out[i] covers in[0..i]; else in[0..i-1], and out[0] is op's identity */
};

/* Computes the prefix sums (minima, maxima) of count elements. out may be in.
 * Cost: one read and one write of each element with look-back, else two reads.
 * Memory: at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_scan(ordo_device *device, const struct ordo_scan_params *params,
                               struct ordo_slice in, struct ordo_slice out, size_t count,
                               const struct ordo_order *order);
ORDO_API ordo_status ordo_scan_host(ordo_device *device, const struct ordo_scan_params *params,
                                    const void *in, void *out, size_t count);

/* Scans as ordo_scan within segments. A segment begins at 0 and at every i with heads[i] != 0 (one
 * byte each). */
ORDO_API ordo_status ordo_segmented_scan(ordo_device *device, const struct ordo_scan_params *params,
                                         struct ordo_slice in, struct ordo_slice heads,
                                         struct ordo_slice out, size_t count,
                                         const struct ordo_order *order);
ORDO_API ordo_status ordo_segmented_scan_host(ordo_device                   *device,
                                              const struct ordo_scan_params *params, const void *in,
                                              const uint8_t *heads, void *out, size_t count);

struct ordo_reduce_params {
    ordo_type type;
    ordo_op   op;
};

/* out[0] = the sum (minimum, maximum) of all elements, or the identity of op.
 * Cost: one read of each element.
 * Memory: at most 64 KiB. */
ORDO_API ordo_status ordo_reduce(ordo_device *device, const struct ordo_reduce_params *params,
                                 struct ordo_slice in, size_t count, struct ordo_slice out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_reduce_host(ordo_device *device, const struct ordo_reduce_params *params,
                                      const void *in, size_t count, void *out);

struct ordo_compact_params {
    uint32_t key_bytes;   /* 4 or 8 */
    uint32_t value_bytes; /* 0, 4 or 8 */
};

/* Copies, in order, the keys (and values) whose flag (one byte) is not 0. keys_out and values_out
 * have capacity for `count`; kept receives the number of copied keys as one uint32_t.
 * Cost: one read of flags and input, one write of the kept elements.
 * Memory: at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_compact(ordo_device *device, const struct ordo_compact_params *params,
                                  struct ordo_slice keys, struct ordo_slice values,
                                  struct ordo_slice flags, size_t count, struct ordo_slice keys_out,
                                  struct ordo_slice values_out, struct ordo_slice kept,
                                  const struct ordo_order *order);
ORDO_API ordo_status ordo_compact_host(ordo_device                      *device,
                                       const struct ordo_compact_params *params, const void *keys,
                                       const void *values, const uint8_t *flags, size_t count,
                                       void *keys_out, void *values_out, uint32_t *kept);

/* ---- rows ---------------------------------------------------------------------------------- */

/* Rows are elements of any size. Their offsets count rows. To sort or store wide values, use row
 * numbers as values, then ordo_gather. */
#define ORDO_MAX_ROW_BYTES ((uint32_t) 1 << 30)

struct ordo_gather_params {
    uint32_t row_bytes; /* 1 to ORDO_MAX_ROW_BYTES */
};

/* rows_out[i] = rows[indices[i]] for `count` indices (uint32_t) into n_rows rows. Leaves
 * rows_out[i] unchanged if the index is n_rows or more.
 * Cost: one read of each index and requested row, one write of each row.
 * Memory: none. */
ORDO_API ordo_status ordo_gather(ordo_device *device, const struct ordo_gather_params *params,
                                 struct ordo_slice rows, size_t n_rows, struct ordo_slice indices,
                                 size_t count, struct ordo_slice rows_out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_gather_host(ordo_device *device, const struct ordo_gather_params *params,
                                      const void *rows, size_t n_rows, const uint32_t *indices,
                                      size_t count, void *rows_out);

struct ordo_scatter_params {
    uint32_t row_bytes; /* 1 to ORDO_MAX_ROW_BYTES */
    bool     distinct;  /* no index occurs twice, which is faster; else rows may be mixed */
};

/* rows_out[indices[i]] = rows[i] for `count` indices (uint32_t) into n_rows rows. If an index
 * repeats, its last row counts. Skips indices of n_rows or more. Leaves rows without an index
 * unchanged.
 * Cost: one read of each index and row, one write of each row. Unless `distinct` also an atomic
 *   update per index.
 * Memory: 4 bytes per row of rows_out, none if `distinct`. */
ORDO_API ordo_status ordo_scatter(ordo_device *device, const struct ordo_scatter_params *params,
                                  struct ordo_slice rows, struct ordo_slice indices, size_t count,
                                  struct ordo_slice rows_out, size_t n_rows,
                                  const struct ordo_order *order);
ORDO_API ordo_status ordo_scatter_host(ordo_device                      *device,
                                       const struct ordo_scatter_params *params, const void *rows,
                                       const uint32_t *indices, size_t count, void *rows_out,
                                       size_t n_rows);

/* ---- sort ---------------------------------------------------------------------------------- */

struct ordo_sort_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool      descending;  /* equal keys keep the order of the input, too */
    uint32_t  first_bit;   /* the lowest bit of ordo_key_bits to sort by */
    uint32_t  bits;        /* the number of bits to sort by; 0: all from first_bit up */
};

/* Returns the ordered form of the key, which is one element of the type: unsigned integers
 * unchanged, signed integers with the sign bit flipped, floats as unsigned integers in total order.
 */
ORDO_API uint64_t ordo_key_bits(ordo_type type, const void *key);

/* Sorts stably, by radix. keys_out may be keys_in, and values_out values_in, but only both or
 * neither.
 * Cost: one read of the keys; then for each 8 bits one read and one write of everything
 *   (one-sweep), or two reads and one write. One-sweep skips digits that all 8-byte keys share.
 *   From 2^22 keys of 8 bytes up it may need fewer passes (share/doc/array.md).
 * Memory: one buffer of the input's size, plus at most 2 % and 4 MiB. */
ORDO_API ordo_status ordo_sort(ordo_device *device, const struct ordo_sort_params *params,
                               struct ordo_slice keys_in, struct ordo_slice values_in,
                               struct ordo_slice keys_out, struct ordo_slice values_out,
                               size_t count, const struct ordo_order *order);
/* Sorts in place. */
ORDO_API ordo_status ordo_sort_host(ordo_device *device, const struct ordo_sort_params *params,
                                    void *keys, void *values, size_t count);

/* ---- the first of an order ----------------------------------------------------------------- */

struct ordo_top_k_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool greatest; /* the k greatest keys, the greatest first; else the k least, the least first */
};

/* Returns the first min(k, count) keys in order; equal keys in the order of the input. indices
 * receives the position of each in the input (uint32_t), or is ordo_none().
 * Cost: two reads of all keys, more if most share their highest bits. On a CPU one read if k is
 *   small compared with count. Then a sort of k elements (one launch up to 1024) and a read of
 *   their values.
 * Memory: half of the keys' bytes, 2 bytes per key, 256 KiB, two buffers of the output's keys and
 *   indices, and the scratch of a sort. */
ORDO_API ordo_status ordo_top_k(ordo_device *device, const struct ordo_top_k_params *params,
                                struct ordo_slice keys, struct ordo_slice values, size_t count,
                                size_t k, struct ordo_slice keys_out, struct ordo_slice values_out,
                                struct ordo_slice indices, const struct ordo_order *order);
ORDO_API ordo_status ordo_top_k_host(ordo_device *device, const struct ordo_top_k_params *params,
                                     const void *keys, const void *values, size_t count, size_t k,
                                     void *keys_out, void *values_out, uint32_t *indices);

struct ordo_select_params {
    ordo_type key;
    bool      greatest; /* ranks count from the greatest key down; else from the least up */
};

/* Returns the key of rank k (0: the least; count / 2: the median), and its index (uint32_t; or
 * ordo_none()).
 * Cost: as ordo_top_k, except the sort.
 * Memory: half of the keys' bytes, 2 bytes per key, and 256 KiB.
 * Errors: ORDO_INVALID if k >= count. */
ORDO_API ordo_status ordo_select(ordo_device *device, const struct ordo_select_params *params,
                                 struct ordo_slice keys, size_t count, size_t k,
                                 struct ordo_slice key_out, struct ordo_slice index_out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_select_host(ordo_device *device, const struct ordo_select_params *params,
                                      const void *keys, size_t count, size_t k, void *key_out,
                                      uint32_t *index_out);

/* ---- groups of equal keys ------------------------------------------------------------------ */

struct ordo_reduce_by_key_params {
    ordo_type key; /* equal keys have the same bits: -0 is not +0 */
    ordo_type value;
    ordo_op   op;
    bool      wide;   /* sums of u32 are u64, sums of i32 are i64: values_out has 8 bytes per
                         element */
    bool      sorted; /* no sort: each run of equal neighbours in the input is a group */
    /* Sorts by only this number of the lowest bits of ordo_key_bits, which is faster; 0: all. Each
     * run of equal keys is then a group. Groups with the same lowest bits come in any order. */
    uint32_t bits;
};

/* Groups elements by key. Returns for each different key the sum (minimum, maximum) of its values
 * and its number of elements (counts, uint32_t each; or ordo_none()). Groups ascend by key, or have
 * the input's order if `sorted`. groups receives their number, a uint32_t. Groups beyond capacity
 * are not written.
 * Cost: a sort unless `sorted`; then one read of each element with look-back, else two.
 * Memory: at most 1 % of the input plus 64 KiB. Unless `sorted` also a sort's scratch and one
 *   buffer of the input's size. */
ORDO_API ordo_status ordo_reduce_by_key(ordo_device                            *device,
                                        const struct ordo_reduce_by_key_params *params,
                                        struct ordo_slice keys, struct ordo_slice values,
                                        size_t count, struct ordo_slice keys_out,
                                        struct ordo_slice values_out, struct ordo_slice counts,
                                        size_t capacity, struct ordo_slice groups,
                                        const struct ordo_order *order);
ORDO_API ordo_status ordo_reduce_by_key_host(ordo_device                            *device,
                                             const struct ordo_reduce_by_key_params *params,
                                             const void *keys, const void *values, size_t count,
                                             void *keys_out, void *values_out, uint32_t *counts,
                                             size_t capacity, uint32_t *groups);

struct ordo_unique_params {
    ordo_type key;
    bool      sorted; /* this and bits as in ordo_reduce_by_key_params */
    uint32_t  bits;
};

/* Returns each different key once, and its number of elements, as ordo_reduce_by_key without
 * values. */
ORDO_API ordo_status ordo_unique(ordo_device *device, const struct ordo_unique_params *params,
                                 struct ordo_slice keys, size_t count, struct ordo_slice keys_out,
                                 struct ordo_slice counts, size_t capacity,
                                 struct ordo_slice groups, const struct ordo_order *order);
ORDO_API ordo_status ordo_unique_host(ordo_device *device, const struct ordo_unique_params *params,
                                      const void *keys, size_t count, void *keys_out,
                                      uint32_t *counts, size_t capacity, uint32_t *groups);

/* ---- merge --------------------------------------------------------------------------------- */

struct ordo_merge_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool      descending;  /* both inputs and the output are descending */
};

/* Merges two sorted sequences, stably: an element of a comes before equal elements of b. a_count +
 * b_count <= ORDO_MAX_COUNT. Unsorted inputs give an undefined order, and never an access outside
 * the buffers.
 * Cost: one read and one write of everything.
 * Memory: at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_merge(ordo_device *device, const struct ordo_merge_params *params,
                                struct ordo_slice a_keys, struct ordo_slice a_values,
                                size_t a_count, struct ordo_slice b_keys,
                                struct ordo_slice b_values, size_t b_count,
                                struct ordo_slice keys_out, struct ordo_slice values_out,
                                const struct ordo_order *order);
ORDO_API ordo_status ordo_merge_host(ordo_device *device, const struct ordo_merge_params *params,
                                     const void *a_keys, const void *a_values, size_t a_count,
                                     const void *b_keys, const void *b_values, size_t b_count,
                                     void *keys_out, void *values_out);

/* A sorted run of a multi-way merge: count elements from element `at` of keys and values. */
struct ordo_run {
    size_t at, count;
};
#define ORDO_MAX_RUNS 16

/* Merges up to ORDO_MAX_RUNS sorted runs of the same buffers in one pass, stably: elements of an
 * earlier run come before equal elements of a later one. Runs may lie anywhere in the buffers.
 * Cost: one read and one write of everything, plus a search for each 128 elements.
 * Memory: at most 8 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_merge_runs(ordo_device *device, const struct ordo_merge_params *params,
                                     struct ordo_slice keys, struct ordo_slice values,
                                     const struct ordo_run *runs, size_t n_runs,
                                     struct ordo_slice keys_out, struct ordo_slice values_out,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_merge_runs_host(ordo_device                    *device,
                                          const struct ordo_merge_params *params, const void *keys,
                                          const void *values, const struct ordo_run *runs,
                                          size_t n_runs, void *keys_out, void *values_out);

/* ---- search -------------------------------------------------------------------------------- */

/* A static search index over a sorted array, which must stay in place and unchanged.
 * Memory: with nodes of 16 keys (shipped) 7 % of the keys' bytes; with 8 keys 15 %, with 32 keys 4
 *   %; and up to 1 KiB.
 * Concurrency: any number of threads may search. Destroy the index when no call uses it; enqueued
 *   commands may still run, and the device may be closed already. */
typedef struct ordo_index ordo_index;

/* Builds the index of count keys, sorted in ascending order. Calls on the same queue may use *out
 * immediately, calls on another queue after order->done. */
ORDO_API ordo_status ordo_index_build(ordo_device *device, ordo_type key, struct ordo_slice keys,
                                      size_t count, const struct ordo_order *order,
                                      ordo_index **out);
/* Builds an index that holds the keys, compressed. Searches do not read `keys`, which may be
 * changed and freed; later calls may pass ordo_none().
 * Cost: a search for ranks among 2^24 keys runs at 24.8 instead of 29.8 G/s (H200).
 * Memory: for 2^24 uniform keys of 32 bits 0.53 times the keys and their plain index; never more
 *   than 1.13 times.
 * Blocking: waits for the index. */
ORDO_API ordo_status ordo_index_build_compressed(ordo_device *device, ordo_type key,
                                                 struct ordo_slice keys, size_t count,
                                                 const struct ordo_order *order, ordo_index **out);
/* Destroys the index and sets *index to NULL. Accepts NULL and *NULL. Pending commands finish. */
ORDO_API void ordo_index_destroy(ordo_index **index);
/* Returns the index's device memory; 0 for NULL. */
ORDO_API size_t ordo_index_bytes(const ordo_index *index);

/* The order in which queries that do not ascend are processed. Answers are the same. */
typedef enum ordo_scheme {
    ORDO_SCHEME_AUTO = 0,  /* the tunables search.buffered and search.sort_queries choose */
    ORDO_SCHEME_PLAIN = 1, /* in the caller's order */
    /* partitioned by their highest 8 bits, so that the keys of a partition stay in a cache */
    ORDO_SCHEME_BUFFERED = 2,
    ORDO_SCHEME_SORTED = 3, /* sorted, then answered in one pass through the keys */
} ordo_scheme;

struct ordo_search_params {
    ordo_type key;
    bool      upper;          /* counts the keys <= query; else the keys < query */
    bool      sorted_queries; /* queries ascend, which is faster; if they do not, results are still
                                 right */
    /* The index of these keys (same mem, at, count); NULL: binary search. _host calls take NULL. */
    const ordo_index *index;
    ordo_scheme       scheme; /* all but PLAIN may take 8 bytes and two keys per query */
};

/* ranks[i] (uint32_t) = the number of keys less than queries[i] (`upper`: or equal), among count
 * ascending keys. Unsorted keys give undefined ranks within 0..count, and never an access outside
 * the buffer.
 * Cost: a random query reads about log(count) / log(keys per node) nodes of the index, 64 to 128
 *   bytes each. Without an index it reads log2(count) keys, on a GPU about ten of them from local
 *   memory.
 * Memory: none with ORDO_SCHEME_PLAIN. */
ORDO_API ordo_status ordo_search(ordo_device *device, const struct ordo_search_params *params,
                                 struct ordo_slice keys, size_t count, struct ordo_slice queries,
                                 size_t n_queries, struct ordo_slice ranks,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_search_host(ordo_device *device, const struct ordo_search_params *params,
                                      const void *keys, size_t count, const void *queries,
                                      size_t n_queries, uint32_t *ranks);

struct ordo_equal_range_params {
    ordo_type         key;
    bool              sorted_queries; /* this and index as in ordo_search_params */
    const ordo_index *index;
};

/* Finds both bounds: the keys lower[i] .. upper[i] - 1 (uint32_t each) are equal to queries[i].
 * Unsorted keys give lower[i] <= upper[i] <= count.
 * Cost: ordo_search, and about 2 log2(upper[i] - lower[i] + 1) reads of nearby keys.
 * Memory: none. */
ORDO_API ordo_status ordo_equal_range(ordo_device                          *device,
                                      const struct ordo_equal_range_params *params,
                                      struct ordo_slice keys, size_t count,
                                      struct ordo_slice queries, size_t n_queries,
                                      struct ordo_slice lower, struct ordo_slice upper,
                                      const struct ordo_order *order);
ORDO_API ordo_status ordo_equal_range_host(ordo_device                          *device,
                                           const struct ordo_equal_range_params *params,
                                           const void *keys, size_t count, const void *queries,
                                           size_t n_queries, uint32_t *lower, uint32_t *upper);

struct ordo_lookup_params {
    ordo_type         key;
    uint32_t          value_bytes;    /* 0, 4 or 8 */
    bool              sorted_queries; /* this, index, scheme as in ordo_search_params */
    const ordo_index *index;
    ordo_scheme       scheme;
};

/* values_out[i] = the value of the first key equal to queries[i] in total order (-0 is not +0);
 * unchanged if there is none. found (one byte each: 1 or 0) may be ordo_none(). */
ORDO_API ordo_status ordo_lookup(ordo_device *device, const struct ordo_lookup_params *params,
                                 struct ordo_slice keys, struct ordo_slice values, size_t count,
                                 struct ordo_slice queries, size_t n_queries,
                                 struct ordo_slice values_out, struct ordo_slice found,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_lookup_host(ordo_device *device, const struct ordo_lookup_params *params,
                                      const void *keys, const void *values, size_t count,
                                      const void *queries, size_t n_queries, void *values_out,
                                      uint8_t *found);

/* See ordo.h. */
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
