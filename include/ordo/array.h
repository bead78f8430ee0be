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
 *   Types        All calls take types of 4 and 8 bytes. Keys of 16 bytes are for these only:
 *                ordo_sort, ordo_unique, ordo_reduce_by_key, ordo_merge, ordo_merge_runs,
 *                ordo_search, ordo_equal_range, ordo_lookup, ordo_index_build, ordo_compact.
 *                Equal keys have equal bits, so -0 is not +0.
 *   Count        Calls take 0 to ORDO_MAX_COUNT elements. With 0 a call only writes totals and
 *                signals order->done.
 *   Order        Integers are ordered by value, floats in IEEE total order: -NaN first, -0 before
 *                +0, +NaN last.
 *   Optional     An optional output may be ordo_none(), or NULL in _host calls.
 *   Overlap      Outputs must not overlap other arrays, unless a call allows it. Inputs may
 *                overlap.
 *   Bounds       Unsorted keys and wrong indices or offsets cause no access outside of the arrays.
 *   Results      Results depend, bit by bit, on the input alone, not on the device or tuning.
 *   Memory       Each call states its scratch memory, taken from the device's pool until the
 *                commands have ended. _host calls also copy the arrays to the device, on a CPU only
 *                arrays that are read and written.
 *   Blocking     Calls enqueue commands and return. Do not change inputs or read outputs until the
 *                commands have ended. _host calls wait for the result.
 *   First call   The first call that needs a kernel compiles it, which takes up to some seconds.
 *                prepare.h compiles kernels earlier.
 *   Errors       ORDO_INVALID means a NULL argument, an array that exceeds its buffer, overlapping
 *                arrays, a buffer or queue of another context, an unknown type, or keys of 16 bytes
 *                in a buffer with less alignment (CL_MEM_USE_HOST_PTR). ORDO_UNSUPPORTED means a
 *                sum of floats, or a type that the call does not take. status.h lists other errors.
 *                After an error inputs are unchanged. After a driver error outputs may be partly
 *                written. */

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
    /* Keys of 16 bytes are aligned to 16 bytes in device memory. ORDO_U128 is an unsigned integer
     * with its low 64 bits first, as unsigned __int128. ORDO_BYTES16 is ordered by memcmp, for
     * UUIDs and IPv6 addresses in network byte order. */
    ORDO_U128 = 6,
    ORDO_BYTES16 = 7,
} ordo_type;

/* Returns the size of an element in bytes, or 0 for an unknown type. */
ORDO_API size_t ordo_type_bytes(ordo_type type);

/* Greatest number of elements per call, because ranks and counts have 32 bits. */
#define ORDO_MAX_COUNT ((size_t) 0xfff00000u)

/* An array in device memory. It begins with element number `at` of `mem`. */
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
/* Returns a slice that means no array. Pass it for unneeded outputs, and for values if value_bytes
 * is 0. */
static inline struct ordo_slice ordo_none(void)
{
    return ordo_at((cl_mem) 0, 0);
}

/* ---- scan, reduce, compact ----------------------------------------------------------------- */

typedef enum ordo_op {
    ORDO_SUM = 0, /* for integers only, modulo 2^32 or 2^64 */
    ORDO_MIN = 1, /* for every type, in its order */
    ORDO_MAX = 2,
} ordo_op;

struct ordo_scan_params {
    ordo_type type;
    ordo_op   op;
    /* If true, out[i] combines in[0] to in[i]. Otherwise out[i] combines in[0] to in[i - 1], and
     * out[0] is the identity of op. */
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

/* Scans each segment separately. A segment begins at element 0 and at each element i whose heads[i]
 * (a byte) is not 0. */
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
    uint32_t value_bytes; /* 0, 4 or 8 */
};

/* Copies the keys and values whose flag (a byte) is not 0. They keep their order. keys_out and
 * values_out must hold `count` elements. `kept` receives the number of copied elements (uint32_t).
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

/* A row is an element of any size up to this number of bytes. In a slice of rows, `at` counts rows.
 * To sort rows, sort their keys with row indices as values, then call ordo_gather. */
#define ORDO_MAX_ROW_BYTES ((uint32_t) 1 << 30)

struct ordo_gather_params {
    uint32_t row_bytes; /* 1 to ORDO_MAX_ROW_BYTES */
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
    uint32_t row_bytes; /* 1 to ORDO_MAX_ROW_BYTES */
    /* Set to true, for speed, if no index occurs twice. A repeated index may then give a row with
     * bytes of several rows. */
    bool distinct;
};

/* Copies row i of `rows` to row indices[i] (uint32_t) of rows_out for all i < count. If an index
 * occurs several times, the last of its rows is kept. Rows whose index is n_rows or more are
 * skipped. Other rows of rows_out stay unchanged.
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
    uint32_t  value_bytes; /* 0, 4 or 8 */
    bool      descending;
    /* Lowest bit to sort by, in the integer that ordo_key_bits returns or in a key of 16 bytes. */
    uint32_t first_bit;
    /* Number of bits to sort by, from first_bit up. 0 means all of them. */
    uint32_t bits;
};

/* Converts a key to an unsigned integer of the same order. Signed integers get their sign bit
 * flipped. Floats get IEEE total order. Returns 0 for types of 16 bytes. */
ORDO_API uint64_t ordo_key_bits(ordo_type type, const void *key);

/* Sorts keys with their values by radix sort. Equal keys keep their order, also if `descending`. To
 * sort in place, pass the inputs as outputs.
 * Cost: one read of the keys. Then, for every 8 bits, at most two reads and one write of keys and
 *   values (share/doc/array.md).
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

/* A field of a key holds the values of one column. To sort, group or join by several columns, pack
 * them into keys, and unpack the result's keys. */
struct ordo_key_field {
    ordo_type type;
    /* Number of bits. 0 means all bits of the type. Only integers may have fewer. Unsigned values
     * must then be below 2^bits, signed values from -2^(bits - 1) to 2^(bits - 1) - 1. */
    uint32_t bits;
    bool     descending; /* if true, great values come first; does not affect nulls */
    /* The column may have nulls. The field then takes one more bit. In a validity bitmap, as in
     * Arrow, bit i % 8 of byte i / 8 is 0 if row i is null. In its slice, `at` counts bits. */
    bool nullable;
    bool nulls_last; /* if true, nulls come after all values, otherwise before */
};

/* Positions of the fields in a key. The first field is the most significant. Field f begins at bit
 * first_bit[f]. Sorts by all fields are faster if ordo_sort_params.bits is `bits`. To sort by
 * fields 0 to f, set first_bit of ordo_sort_params to first_bit[f], and its bits to bits -
 * first_bit[f]. */
struct ordo_key_layout {
    ordo_type key;  /* the narrowest of ORDO_U32, ORDO_U64 and ORDO_U128 */
    uint32_t  bits; /* number of bits of all fields, from bit 0 on */
    uint32_t  first_bit[ORDO_MAX_KEY_FIELDS];
};

/* Computes the layout of keys with 1 to ORDO_MAX_KEY_FIELDS fields, without using the device.
 * Errors: ORDO_INVALID if the fields exceed 128 bits, a field exceeds its type, or a field of
 *   floats has fewer bits than its type. The message names the field. */
ORDO_API ordo_status ordo_key_plan(ordo_device *device, const struct ordo_key_field *fields,
                                   size_t n_fields, struct ordo_key_layout *out);

/* Packs row i of all columns into keys_out[i], of type ordo_key_layout.key. valid[f] is the bitmap
 * of a nullable column, or ordo_none() if column f has no nulls. `valid` may be NULL if no column
 * has nulls. outside[f] receives the first row (uint32_t) whose value does not fit into field f, or
 * UINT32_MAX if all values fit. If a value does not fit, keys_out is undefined.
 * Cost: one read of each column, one write of the keys.
 * Memory: 32 bytes.
 * Blocking: waits if `outside` is ordo_none() and a field has fewer bits than its type.
 * Errors: if `outside` is ordo_none(), ORDO_INVALID for a value that does not fit. The message has
 *   field and row. */
ORDO_API ordo_status ordo_key_pack(ordo_device *device, const struct ordo_key_field *fields,
                                   size_t n_fields, const struct ordo_slice *columns,
                                   const struct ordo_slice *valid, size_t count,
                                   struct ordo_slice keys_out, struct ordo_slice outside,
                                   const struct ordo_order *order);
ORDO_API ordo_status ordo_key_pack_host(ordo_device *device, const struct ordo_key_field *fields,
                                        size_t n_fields, const void *const *columns,
                                        const uint8_t *const *valid, size_t count, void *keys_out,
                                        uint32_t *outside);

/* Unpacks keys of ordo_key_pack with the same fields. Values get their old bits back. Nulls become
 * 0. Columns and bitmaps that are ordo_none() are skipped. `valid_out` may be NULL. Offsets of
 * bitmaps must be multiples of 8. Bits after the last row in a bitmap's last byte become 0.
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
    uint32_t  value_bytes; /* 0, 4 or 8 */
    /* If true, returns the k greatest keys, descending. Otherwise the k least, ascending. */
    bool greatest;
};

/* Returns the first min(k, count) elements in sorted order. Equal keys keep their order. `indices`
 * (optional) receives each element's index in the input (uint32_t).
 * Cost: two reads of all keys, or more if most keys share their highest bits. Then a sort of k
 *   elements.
 * Memory: half of the keys' bytes, twice the outputs' bytes, 2 bytes per key, 256 KiB, and the
 *   scratch of the sort. */
ORDO_API ordo_status ordo_top_k(ordo_device *device, const struct ordo_top_k_params *params,
                                struct ordo_slice keys, struct ordo_slice values, size_t count,
                                size_t k, struct ordo_slice keys_out, struct ordo_slice values_out,
                                struct ordo_slice indices, const struct ordo_order *order);
ORDO_API ordo_status ordo_top_k_host(ordo_device *device, const struct ordo_top_k_params *params,
                                     const void *keys, const void *values, size_t count, size_t k,
                                     void *keys_out, void *values_out, uint32_t *indices);

struct ordo_select_params {
    ordo_type key;
    bool      greatest; /* if true, rank 0 is the greatest key, otherwise the least */
};

/* Returns the key that has index k after sorting. index_out (optional) receives its index in the
 * input (uint32_t). For the median pass k = count / 2.
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
    /* If true, sums of 32-bit integers have 64 bits, and values_out 8 bytes per element. */
    bool wide;
    /* If true, the input is not sorted first. Each sequence of equal neighbours is then a group. */
    bool sorted;
    /* Number of low bits to sort by, of the integer that ordo_key_bits returns. 0 means all. Fewer
     * are faster. But a key can form several groups if another key differs only in higher bits. */
    uint32_t bits;
};

/* Groups elements by key. Returns each group's key, the sum, minimum or maximum of its values, and
 * its number of elements (`counts`, uint32_t, optional). Groups ascend by key. With `sorted`, they
 * have the input's order. `groups` receives the number of groups (uint32_t), but only the first
 * `capacity` of them are written.
 * Cost: a sort if `sorted` is false. Then one or two reads of each element (device-dependent).
 * Memory: at most 1 % of the input plus 64 KiB. If `sorted` is false, also a sort's scratch and one
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
    bool      sorted; /* sorted, bits: see ordo_reduce_by_key_params */
    uint32_t  bits;
};

/* Writes each distinct key once to keys_out, and how often it occurs (uint32_t) to `counts`. Cost
 * and memory are as for ordo_reduce_by_key without values. */
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
    bool      descending;  /* inputs and output descend */
};

/* Merges two sorted arrays. Elements of `a` come before equal elements of `b`. a_count + b_count
 * must not exceed ORDO_MAX_COUNT. Unsorted inputs give an arbitrary order.
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

/* A sorted part of an array: `count` elements from element number `at` on. */
struct ordo_run {
    size_t at, count;
};
#define ORDO_MAX_RUNS 16

/* Merges up to ORDO_MAX_RUNS sorted runs, which are parts of `keys` and `values`. Elements of an
 * earlier run come before equal elements of a later one.
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
 * Memory: 7 % of the keys' bytes, or 14 % for keys of 16 bytes. At most 26 % with other values of
 *   the tunables search.*.
 * Concurrency: any number of threads may search. No call may use the index while it is destroyed.
 *   It may be destroyed while enqueued commands run, and after the device is closed. */
typedef struct ordo_index ordo_index;

/* Builds an index of `count` keys in ascending order. Calls on another queue must wait for
 * order->done before they use *out. */
ORDO_API ordo_status ordo_index_build(ordo_device *device, ordo_type key, struct ordo_slice keys,
                                      size_t count, const struct ordo_order *order,
                                      ordo_index **out);
/* Builds an index that contains compressed keys. `keys` may then be freed, and searches may pass
 * ordo_none() as keys.
 * Cost: searches take 1.2 times as long on an H200.
 * Memory: at most 1.13 times the bytes of the keys and an uncompressed index. 0.53 times for 2^24
 *   uniform 32-bit keys.
 * Blocking: waits for the index. */
ORDO_API ordo_status ordo_index_build_compressed(ordo_device *device, ordo_type key,
                                                 struct ordo_slice keys, size_t count,
                                                 const struct ordo_order *order, ordo_index **out);
/* Destroys the index and sets *index to NULL. Does nothing if `index` or *index is NULL. */
ORDO_API void ordo_index_destroy(ordo_index **index);
/* Returns the index's bytes of device memory, or 0 for NULL. */
ORDO_API size_t ordo_index_bytes(const ordo_index *index);

/* Order in which a call processes unsorted queries. It does not change results. */
typedef enum ordo_scheme {
    ORDO_SCHEME_AUTO = 0,  /* chosen by the tunables search.buffered and search.sort_queries */
    ORDO_SCHEME_PLAIN = 1, /* in the caller's order */
    /* In batches. A batch is partitioned by subtree of the index, so that each subtree stays in a
     * cache. Builds an index if the caller passes none. */
    ORDO_SCHEME_BUFFERED = 2,
    ORDO_SCHEME_SORTED = 3, /* sorted, then answered in one pass */
} ordo_scheme;

struct ordo_search_params {
    ordo_type key;
    /* If true, counts the keys <= query. Otherwise the keys < query. */
    bool upper;
    /* Set to true, for speed, if the queries ascend. Unsorted queries also get correct results. */
    bool sorted_queries;
    /* Index of the same slice and number of keys, or NULL for binary search. Must be NULL in _host
     * calls. */
    const ordo_index *index;
    /* Scratch memory: PLAIN takes none. SORTED takes 8 bytes and two keys per query. BUFFERED takes
     * 24 bytes and a key per query of a batch (640,000 queries or more), and an index if the caller
     * passes none. */
    ordo_scheme scheme;
};

/* Sets ranks[i] (uint32_t) to the number of keys less than queries[i]. With `upper`, also counts
 * the keys equal to queries[i]. Unsorted keys give arbitrary ranks of at most `count`.
 * Cost: log2(count) reads of keys per query. With an index, log(count) / log(keys per node) reads
 *   of nodes (64 to 128 bytes).
 * Memory: see ordo_search_params.scheme. */
ORDO_API ordo_status ordo_search(ordo_device *device, const struct ordo_search_params *params,
                                 struct ordo_slice keys, size_t count, struct ordo_slice queries,
                                 size_t n_queries, struct ordo_slice ranks,
                                 const struct ordo_order *order);
ORDO_API ordo_status ordo_search_host(ordo_device *device, const struct ordo_search_params *params,
                                      const void *keys, size_t count, const void *queries,
                                      size_t n_queries, uint32_t *ranks);

struct ordo_equal_range_params {
    ordo_type         key;
    bool              sorted_queries; /* sorted_queries, index: see ordo_search_params */
    const ordo_index *index;
};

/* Finds the keys that equal queries[i]: elements lower[i] to upper[i] - 1 (uint32_t) of `keys`.
 * Unsorted keys give arbitrary bounds with lower[i] <= upper[i] <= count.
 * Cost: as ordo_search. Then about 2 log2(upper[i] - lower[i] + 1) reads of nearby keys.
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
    bool              sorted_queries; /* for the last three members see ordo_search_params */
    const ordo_index *index;
    ordo_scheme       scheme;
};

/* Finds the first key that equals queries[i]. Sets values_out[i] to its value and found[i] (a byte)
 * to 1. If no key is equal, sets found[i] to 0 and leaves values_out[i] unchanged. `found` is
 * optional. */
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
