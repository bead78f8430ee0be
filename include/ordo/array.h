/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on arrays in device memory: scan, reduce, compact, gather, scatter, sort, keys of
 * several columns, top k, group by, merge and search. share/doc/array.md has the algorithms.
 *
 * Example: sorts `count` keys with their values.
 *
 *     ordo_sort(dev, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4), ordo_at(keys, 0),
 *               ordo_at(values, 0), ordo_at(sorted_keys, 0), ordo_at(sorted_values, 0), count,
 *               NULL); */

/* ---- rules of all calls -------------------------------------------------------------------------
 *
 *   Arrays       Calls take a cl_mem of the device's context and an offset in elements (ordo_at).
 *                Calls that end in _host take host pointers instead, or NULL for no array.
 *                Memory of ordo_host_alloc (device.h) is copied fastest.
 *   Types        All calls take types of 4 and 8 bytes. Only these calls take keys of 16 bytes:
 *                ordo_sort, ordo_top_k, ordo_select, ordo_unique, ordo_reduce_by_key, ordo_merge,
 *                ordo_merge_runs, ordo_search, ordo_equal_range, ordo_lookup, ordo_index_build,
 *                ordo_compact, and the dictionaries that dict.h names.
 *                Equal keys have equal bits, so -0 is not +0. Calls copy values, whose bits have
 *                any meaning. For values of more than 16 bytes, use a row number as value, and
 *                ordo_gather (examples/records.cpp).
 *   Alignment    Keys and values of 16 bytes need an alignment of 16 bytes, which only buffers with
 *                CL_MEM_USE_HOST_PTR can lack. Arrays of _host calls may have any alignment.
 *   Count        Calls take 0 to ORDO_MAX_COUNT elements. With 0 elements a call only writes
 *                totals and signals order->done.
 *   Order        Integers are ordered by value, floats in IEEE total order: -NaN first, -0 before
 *                +0, +NaN last.
 *   Optional     An optional output may be ordo_none(), or NULL in _host calls.
 *   Overlap      Outputs must not overlap other arrays, unless a call allows it. Inputs may
 *                overlap.
 *   Bounds       Unsorted keys and wrong indices or offsets cause no access outside of the arrays.
 *   Results      The same input gives the same bits on every device, with all tunables.
 *   Memory       The comment of each call states its scratch memory. The call takes it from the
 *                device's pool until its commands have ended. _host calls also copy the arrays to
 *                the device. On a CPU they only copy arrays that are both input and output.
 *                Large batches in memory of ordo_host_alloc pass in pieces, unless the device is a
 *                CPU: kernels answer one piece while others are copied. At most four pieces, of
 *                16 MiB each, are in device memory. Such batches are searches, and those queries of
 *                dictionaries that dict.h names.
 *   Blocking     Calls enqueue commands and return. Do not change inputs or read outputs until the
 *                commands have ended. _host calls wait for the result.
 *   First call   The first call that needs a kernel compiles it, which can take seconds.
 *                ordo_device_prepare (prepare.h) compiles kernels earlier.
 *   Errors       ORDO_INVALID means a NULL argument, an array that exceeds its buffer, overlapping
 *                arrays, a buffer or queue of another context, an unknown type, or a buffer with
 *                too little alignment. ORDO_UNSUPPORTED means a sum of floats, or a type that the
 *                call does not take. status.h lists other errors. After an error inputs are
 *                unchanged. After a driver error outputs may be partly written. */

/* ---- arrays ------------------------------------------------------------------------------- */
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
    /* Types of 16 bytes are for keys only. They need an alignment of 16 bytes in device memory.
     * ORDO_U128 is an unsigned integer whose low 64 bits come first. ORDO_BYTES16 is ordered by
     * memcmp. */
    ORDO_U128 = 6,
    ORDO_BYTES16 = 7,
} ordo_type;

/* Returns the size of an element in bytes, or 0 for an unknown type. */
ORDO_API size_t ordo_type_bytes(ordo_type type);

/* Maximum number of elements per call. Ranks and counts have 32 bits. */
#define ORDO_MAX_COUNT ((size_t) 0xfff00000u)

/* An array in device memory. Its first element has index `at` in the buffer `mem`. */
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
/* Means no array. Pass it for outputs that you do not need, and for values if value_bytes is 0. */
static inline struct ordo_slice ordo_none(void)
{
    return ordo_at((cl_mem) 0, 0);
}

/* ---- scan, reduce, compact ----------------------------------------------------------------- */

typedef enum ordo_op {
    ORDO_SUM = 0, /* for integers only, modulo 2^32 or 2^64 */
    ORDO_MIN = 1,
    ORDO_MAX = 2,
} ordo_op;

struct ordo_scan_params {
    ordo_type type;
    ordo_op   op;
    /* If true, out[i] combines in[0] to in[i]. Otherwise it combines in[0] to in[i - 1]. Then
     * out[0] is the identity of op, such as 0 for sums. */
    bool inclusive;
};

/* Computes prefix sums, minima or maxima of `count` elements. `out` may be the same array as `in`.
 * Cost: one or two reads (device-dependent) and one write of each element.
 * Memory: at most 1 % of the input plus 64 KiB. */
ORDO_API ordo_status ordo_scan(ordo_device *device, const struct ordo_scan_params *params,
                               struct ordo_slice in, struct ordo_slice out, size_t count,
                               const struct ordo_order *order);
ORDO_API ordo_status ordo_scan_host(ordo_device *device, const struct ordo_scan_params *params,
                                    const void *in, void *out, size_t count);

/* Scans each segment of the array separately. A segment begins at element 0 and at each element i
 * for which heads[i] (a byte) is not 0. */
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

/* Writes the sum, minimum or maximum of all elements to out[0]. If `count` is 0, writes the
 * identity of op.
 * Cost: one read of each element.
 * Memory: at most 64 KiB. */
ORDO_API ordo_status ordo_reduce(ordo_device *device, const struct ordo_reduce_params *params,
                                 struct ordo_slice in, size_t count, struct ordo_slice out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_reduce_host(ordo_device *device, const struct ordo_reduce_params *params,
                                      const void *in, size_t count, void *out);

struct ordo_compact_params {
    uint32_t key_bytes;   /* 4, 8 or 16 */
    uint32_t value_bytes; /* 0, 4, 8 or 16 */
};

/* Copies each element i (key and value) for which flags[i] (a byte) is not 0. The copied elements
 * keep their order. keys_out and values_out must have space for `count` elements. `kept` receives
 * the number of copied elements (uint32_t).
 * Cost: one read of the input, one write of the copied elements.
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

/* A row is an element of 1 to ORDO_MAX_ROW_BYTES bytes. ordo_slice.at counts rows. To sort rows,
 * sort their keys with row indices as values, then call ordo_gather. */
#define ORDO_MAX_ROW_BYTES ((uint32_t) 1 << 30)

struct ordo_gather_params {
    uint32_t row_bytes;
};

/* Copies row indices[i] (uint32_t) of `rows` to row i of rows_out for all i < count. If indices[i]
 * is n_rows or more, row i of rows_out stays unchanged.
 * Cost: one read and one write of each row.
 * Memory: none. */
ORDO_API ordo_status ordo_gather(ordo_device *device, const struct ordo_gather_params *params,
                                 struct ordo_slice rows, size_t n_rows, struct ordo_slice indices,
                                 size_t count, struct ordo_slice rows_out,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_gather_host(ordo_device *device, const struct ordo_gather_params *params,
                                      const void *rows, size_t n_rows, const uint32_t *indices,
                                      size_t count, void *rows_out);

struct ordo_scatter_params {
    uint32_t row_bytes;
    /* True is faster, but no index may occur twice. The output row of a repeated index may mix
     * rows. */
    bool distinct;
};

/* Copies row i of `rows` to row indices[i] (uint32_t) of rows_out for all i < count. If an index
 * occurs several times, the last row with this index is kept. A row whose index is n_rows or more
 * is skipped. Rows of rows_out that get no row stay unchanged.
 * Cost: one read and one write of each row. Without `distinct`, also an atomic update per row.
 * Memory: 4 bytes per row of rows_out. None with `distinct`. */
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
    uint32_t  value_bytes; /* 0, 4, 8 or 16 */
    bool      descending;
    /* The sort compares only `bits` bits of each key from bit first_bit up, or all of them if
     * `bits` is 0. For keys of 4 and 8 bytes, these are bits of the result of ordo_key_bits. */
    uint32_t first_bit;
    uint32_t bits;
};

/* Converts a key to an unsigned integer that has the same order. Returns 0 for types of 16
 * bytes. */
ORDO_API uint64_t ordo_key_bits(ordo_type type, const void *key);

/* Sorts keys with their values by radix sort. Equal keys keep their order, also if `descending`. To
 * sort in place, pass the inputs as outputs.
 * Cost: one read of the keys. Then, for every 8 bits of the key, at most two reads and one write of
 *   keys and values (share/doc/array.md).
 * Memory: one buffer of the input's size, plus at most 2 % of the input and 4 MiB. */
ORDO_API ordo_status ordo_sort(ordo_device *device, const struct ordo_sort_params *params,
                               struct ordo_slice keys_in, struct ordo_slice values_in,
                               struct ordo_slice keys_out, struct ordo_slice values_out,
                               size_t count, const struct ordo_order *order);
/* Sorts in place. */
ORDO_API ordo_status ordo_sort_host(ordo_device *device, const struct ordo_sort_params *params,
                                    void *keys, void *values, size_t count);

/* ---- composite keys ------------------------------------------------------------------------ */

#define ORDO_MAX_KEY_FIELDS 8

/* A field of a key holds the value of one column. To sort, group or join rows by several columns,
 * pack the columns into keys with ordo_key_pack, and unpack the keys of the result. */
struct ordo_key_field {
    ordo_type type;
    /* Bits of a value in the key. 0 means all bits of the type. Only integers may have fewer bits
     * than their type. Unsigned values must then be less than 2^bits. Signed values must be from
     * -2^(bits - 1) to 2^(bits - 1) - 1. */
    uint32_t bits;
    bool     descending; /* does not affect the place of nulls */
    /* If true, the column may have nulls, and the field takes one more bit of the key. The column
     * needs a validity bitmap, as in Arrow: bit i % 8 of byte i / 8 is 0 if row i is null. In
     * the ordo_slice of a bitmap, `at` counts bits, not bytes. */
    bool nullable;
    bool nulls_last;
};

/* Layout of a key. The key uses its `bits` lowest bits. Field f begins at bit first_bit[f]. Field 0
 * has the most significant bits. For keys of type ORDO_U32, ordo_sort is faster with `bits` in
 * ordo_sort_params.bits. For wider keys, leave 0 there, because ordo_sort skips digits that are
 * equal in all keys. To sort by fields 0 to f only, set ordo_sort_params.first_bit to first_bit[f],
 * and its `bits` to bits - first_bit[f]. */
struct ordo_key_layout {
    ordo_type key; /* the first of ORDO_U32, ORDO_U64 and ORDO_U128 with enough bits */
    uint32_t  bits;
    uint32_t  first_bit[ORDO_MAX_KEY_FIELDS];
};

/* Computes the layout of keys with 1 to ORDO_MAX_KEY_FIELDS fields.
 * Errors: ORDO_INVALID if the fields have more than 128 bits together, if a field has more bits
 *   than its type, or if a field of floats has fewer bits than its type. */
ORDO_API ordo_status ordo_key_plan(ordo_device *device, const struct ordo_key_field *fields,
                                   size_t n_fields, struct ordo_key_layout *out);

/* Packs the values in row i of all columns into keys_out[i], of type ordo_key_layout.key. valid[f]
 * is the validity bitmap of column f, or ordo_none() if the column has no nulls. `valid` may be
 * NULL if no column has nulls. outside[f] receives the index (uint32_t) of the first row whose
 * value does not fit into field f, or UINT32_MAX if all values fit. If a value does not fit,
 * keys_out is undefined.
 * Cost: one read of each column, one write of the keys.
 * Memory: 32 bytes.
 * Blocking: waits for the device if `outside` is ordo_none() and a field has fewer bits than its
 *   type.
 * Errors: ORDO_INVALID if a value does not fit and `outside` is ordo_none(). */
ORDO_API ordo_status ordo_key_pack(ordo_device *device, const struct ordo_key_field *fields,
                                   size_t n_fields, const struct ordo_slice *columns,
                                   const struct ordo_slice *valid, size_t count,
                                   struct ordo_slice keys_out, struct ordo_slice outside,
                                   const struct ordo_order *order);
ORDO_API ordo_status ordo_key_pack_host(ordo_device *device, const struct ordo_key_field *fields,
                                        size_t n_fields, const void *const *columns,
                                        const uint8_t *const *valid, size_t count, void *keys_out,
                                        uint32_t *outside);

/* Unpacks keys that ordo_key_pack made with the same fields. Nulls become 0. Columns and bitmaps
 * that are ordo_none() are skipped. `valid_out` may be NULL. Each valid_out[f].at must be a
 * multiple of 8. Bits after the last row in a bitmap's last byte become 0.
 * Cost: one read of the keys, one write of each column.
 * Memory: none. */
ORDO_API ordo_status ordo_key_unpack(ordo_device *device, const struct ordo_key_field *fields,
                                     size_t n_fields, struct ordo_slice keys, size_t count,
                                     const struct ordo_slice *columns_out,
                                     const struct ordo_slice *valid_out,
                                     const struct ordo_order *order);
ORDO_API ordo_status ordo_key_unpack_host(ordo_device *device, const struct ordo_key_field *fields,
                                          size_t n_fields, const void *keys, size_t count,
                                          void *const *columns_out, uint8_t *const *valid_out);

/* ---- the first of an order ----------------------------------------------------------------- */

struct ordo_top_k_params {
    ordo_type key;
    uint32_t  value_bytes; /* 0, 4, 8 or 16 */
    bool      greatest;
};

/* Returns the k elements with the least keys, ascending. With `greatest`, returns those with the
 * greatest keys, descending. If `count` is less than k, returns all elements. Equal keys keep their
 * order. `indices` (optional) receives each element's index in the input (uint32_t).
 * Cost: two reads of all keys, or more if most keys share their highest bits. Then a sort of k
 *   elements.
 * Memory: half of the keys' bytes, plus 2 bytes per key, plus twice the outputs' bytes, plus 256
 *   KiB, plus the scratch of the sort. */
ORDO_API ordo_status ordo_top_k(ordo_device *device, const struct ordo_top_k_params *params,
                                struct ordo_slice keys, struct ordo_slice values, size_t count,
                                size_t k, struct ordo_slice keys_out, struct ordo_slice values_out,
                                struct ordo_slice indices, const struct ordo_order *order);
ORDO_API ordo_status ordo_top_k_host(ordo_device *device, const struct ordo_top_k_params *params,
                                     const void *keys, const void *values, size_t count, size_t k,
                                     void *keys_out, void *values_out, uint32_t *indices);

struct ordo_select_params {
    ordo_type key;
    bool      greatest;
};

/* Returns the key that has index k after a sort, which ascends unless `greatest` is true. index_out
 * (optional) receives the index (uint32_t) of this key in the unsorted input.
 * Cost: as ordo_top_k without the sort.
 * Memory: half of the keys' bytes, plus 2 bytes per key, plus 256 KiB.
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
    ordo_type key;
    ordo_type value;
    ordo_op   op;
    /* If true, sums of 32-bit integers have 64 bits. values_out then takes 8 bytes per element. */
    bool wide;
    /* If true, the call does not sort the input. Each sequence of equal neighbours is a group. */
    bool sorted;
    /* The call sorts the keys by this number of low bits. 0 means all bits. Fewer bits are faster.
     * For keys of 4 and 8 bytes, these are bits of the result of ordo_key_bits. Keys that differ
     * only in higher bits may alternate, so that a key forms several groups. */
    uint32_t bits;
};

/* Groups elements by key. For each group, keys_out receives the key. values_out receives the sum,
 * minimum or maximum of the values. `counts` (optional) receives the number of elements (uint32_t).
 * The groups ascend by key, or keep the input's order if `sorted` is true. `groups` receives the
 * number of groups (uint32_t). If there are more than `capacity` groups, only the first `capacity`
 * are written.
 * Cost: a sort if `sorted` is false. Then one or two reads of each element (device-dependent).
 *   On a CPU, integer keys usually need no sort if `bits` is 1 to 20, and 2^bits is at most twice
 *   the number of elements. The call then reads each element once. But if keys also differ in
 *   higher bits, each core reads all elements two more times.
 * Memory: at most 1 % of the input plus 64 KiB. If the call sorts, also a sort's scratch and one
 *   buffer of the input's size. If `sorted` is false and the call does not sort, at most 48 bytes
 *   per element. */
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
    bool      sorted;
    uint32_t  bits;
};

/* Writes each distinct key once to keys_out. `counts` receives the number of its occurrences
 * (uint32_t). All else is as for ordo_reduce_by_key. */
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
    uint32_t  value_bytes; /* 0, 4, 8 or 16 */
    bool      descending;
};

/* Merges two sorted arrays. Both ascend, or descend if `descending` is true. Elements of `a` come
 * before equal elements of `b`. a_count + b_count must not exceed ORDO_MAX_COUNT. Unsorted inputs
 * give an arbitrary order.
 * Cost: one read and one write of each element.
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

/* A sorted part of an array: `count` elements from index `at` on. */
struct ordo_run {
    size_t at, count;
};
#define ORDO_MAX_RUNS 16

/* Merges up to ORDO_MAX_RUNS sorted runs of `keys` and `values`. Elements of an earlier run come
 * before equal elements of a later run.
 * Cost: one read and one write of each element, and a search per 128 elements.
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

/* A search index over a sorted array, which must stay in place and unchanged while the index
 * exists.
 * Memory: 7 % of the keys' bytes, or 14 % for keys of 16 bytes. Other values of the tunables
 *   search.* can make it up to 26 %.
 * Concurrency: any number of threads may search. No call may use the index while it is destroyed.
 *   The index may be destroyed while enqueued commands run, and after the device is closed. */
typedef struct ordo_index ordo_index;

/* Builds an index of `count` keys in ascending order. Calls on another queue must wait for
 * order->done before they use *out. */
ORDO_API ordo_status ordo_index_build(ordo_device *device, ordo_type key, struct ordo_slice keys,
                                      size_t count, const struct ordo_order *order,
                                      ordo_index **out);
/* Builds an index with a compressed copy of the keys. The caller may then free `keys`, and pass
 * ordo_none() as keys to searches.
 * Cost: searches take 1.2 times as long on an H200.
 * Memory: for 2^24 uniform 32-bit keys, 53 % of the bytes that the keys and an uncompressed index
 *   take together. For other keys, at most 113 % of these bytes.
 * Blocking: yes. */
ORDO_API ordo_status ordo_index_build_compressed(ordo_device *device, ordo_type key,
                                                 struct ordo_slice keys, size_t count,
                                                 const struct ordo_order *order, ordo_index **out);

/* Destroys the index and sets *index to NULL. Does nothing if `index` or *index is NULL. */
ORDO_API void ordo_index_destroy(ordo_index **index);

/* Returns the index's bytes of device memory, or 0 for NULL. */
ORDO_API size_t ordo_index_bytes(const ordo_index *index);

/* Order in which a call processes unsorted queries. It does not change results.
 *   AUTO       The tunables search.buffered and search.sort_queries choose the order.
 *   PLAIN      The queries keep the caller's order. This needs no scratch memory.
 *   SORTED     The call sorts the queries. Each takes scratch of two keys and 8 bytes.
 *   BUFFERED   The call groups at least 640,000 queries at a time by subtrees of the index. Each
 *              query of a group takes scratch of a key and 24 bytes. Without an index, the call
 *              builds one. */
typedef enum ordo_scheme {
    ORDO_SCHEME_AUTO = 0,
    ORDO_SCHEME_PLAIN = 1,
    ORDO_SCHEME_BUFFERED = 2,
    ORDO_SCHEME_SORTED = 3,
} ordo_scheme;

struct ordo_search_params {
    ordo_type key;
    bool      upper;
    /* Set this to true, for speed, if the queries ascend. Results are correct in any case. */
    bool sorted_queries;
    /* An index of the same slice and number of keys. NULL means binary search. Must be NULL in
     * _host calls. */
    const ordo_index *index;
    ordo_scheme       scheme;
};

/* Sets ranks[i] (uint32_t) to the number of keys less than queries[i]. With `upper`, also counts
 * equal keys. Unsorted keys give arbitrary ranks of at most `count`.
 * Cost: log2(count) reads of keys per query. With an index, log(count) / log(keys per node) reads
 *   of nodes (64 to 128 bytes).
 * Memory: see ordo_scheme. */
ORDO_API ordo_status ordo_search(ordo_device *device, const struct ordo_search_params *params,
                                 struct ordo_slice keys, size_t count, struct ordo_slice queries,
                                 size_t n_queries, struct ordo_slice ranks,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_search_host(ordo_device *device, const struct ordo_search_params *params,
                                      const void *keys, size_t count, const void *queries,
                                      size_t n_queries, uint32_t *ranks);

struct ordo_equal_range_params {
    ordo_type         key;
    bool              sorted_queries;
    const ordo_index *index;
};

/* Finds all keys that equal queries[i]: elements lower[i] to upper[i] - 1 of `keys`. `lower` and
 * `upper` have elements of uint32_t. The members of `params` are as in ordo_search_params. Unsorted
 * keys give arbitrary bounds with lower[i] <= upper[i] <= count.
 * Cost: as ordo_search.
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
    uint32_t          value_bytes; /* 0, 4, 8 or 16 */
    bool              sorted_queries;
    const ordo_index *index;
    ordo_scheme       scheme;
};

/* Finds the first key that equals queries[i]. Sets values_out[i] to its value and found[i] (a byte)
 * to 1. If no key is equal, sets found[i] to 0 and leaves values_out[i] unchanged. `found` is
 * optional. `params`, cost and memory are as for ordo_search. */
ORDO_API ordo_status ordo_lookup(ordo_device *device, const struct ordo_lookup_params *params,
                                 struct ordo_slice keys, struct ordo_slice values, size_t count,
                                 struct ordo_slice queries, size_t n_queries,
                                 struct ordo_slice values_out, struct ordo_slice found,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_lookup_host(ordo_device *device, const struct ordo_lookup_params *params,
                                      const void *keys, const void *values, size_t count,
                                      const void *queries, size_t n_queries, void *values_out,
                                      uint8_t *found);

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
