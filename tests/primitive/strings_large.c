/* SPDX-License-Identifier: Apache-2.0 */
/* A column of more than 4 GiB: sort, gather, index and searches. A formula gives the expected results. Takes a minute
 * and 10 GiB, so it is in the suite `slow`. */
#include "tests/support/support.h"

#include "ordo/strings.h"

#include <unistd.h>

/* Rows 2k and 2k + 1 have strings of the same length. They begin with the same 8 bytes, the key of k, and continue with
 * equal bytes. For odd k, the last byte of row 2k + 1 is less than the last byte of row 2k. All keys are different. */
enum { PAIRS = 1 << 16, ROWS = 2 * PAIRS, KEY_BYTES = 8, LENGTH_MAX = 33004, TILE = 256 };

static size_t length_of(uint32_t row)
{
    return LENGTH_MAX - row / 2 % 5;
}

static uint64_t key_of(uint32_t k)
{
    return (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void write_string(uint32_t row, uint8_t *to)
{
    const uint32_t k = row / 2;
    const size_t   length = length_of(row);
    memset(to, (int) (k % 251), length);
    for (int i = 0; i < KEY_BYTES; i++)
        to[i] = (uint8_t) (key_of(k) >> (56 - 8 * i));
    to[length - 1] = k % 2 && row % 2 ? 1 : 2;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = key_of(*(const uint32_t *) a), y = key_of(*(const uint32_t *) b);
    return (x > y) - (x < y);
}

/* The right results. Sorted row i is row rows[i], with the id ids[i]. equal[i] is 1 if it equals sorted row
 * i - 1. */
struct expected {
    uint64_t offsets[ROWS + 1], sorted_offsets[ROWS + 1];
    uint32_t rows[ROWS], ids[ROWS];
    uint8_t  equal[ROWS];
};

static void expect(struct expected *e)
{
    AUTO_FREE uint32_t *pairs = test_alloc(PAIRS * sizeof *pairs);
    e->offsets[0] = e->sorted_offsets[0] = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        e->offsets[i + 1] = e->offsets[i] + length_of(i);
    for (uint32_t k = 0; k < PAIRS; k++)
        pairs[k] = k;
    qsort(pairs, PAIRS, sizeof *pairs, by_key);
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint32_t k = pairs[i / 2];
        e->rows[i] = 2 * k + (i + k) % 2 * (k % 2) + i % 2 * (k % 2 == 0);
        e->equal[i] = i % 2 && k % 2 == 0;
        e->ids[i] = i ? e->ids[i - 1] + !e->equal[i] : 0;
        e->sorted_offsets[i + 1] = e->sorted_offsets[i] + length_of(e->rows[i]);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static cl_mem buffer(const struct test *t, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    cl_mem mem = clCreateBuffer(ordo_device_context(t->dev), CL_MEM_READ_WRITE, bytes, NULL, &code);
    cr_assert(code == CL_SUCCESS, "a buffer of %zu bytes: %d", bytes, (int) code);
    return mem;
}

static void release(cl_mem *mem)
{
    (void) clReleaseMemObject(*mem);
}
#define AUTO_MEM AUTO(release)

/* Writes the strings rows[0] to rows[ROWS - 1] to `mem`, one after the other, or reads `mem` and compares. */
static void transfer(struct test *t, const struct expected *e, bool sorted, cl_mem mem, bool reads)
{
    const uint64_t    *offsets = sorted ? e->sorted_offsets : e->offsets;
    AUTO_FREE uint8_t *strings = test_alloc((size_t) TILE * LENGTH_MAX), *got = test_alloc((size_t) TILE * LENGTH_MAX);
    for (uint32_t first = 0; first < ROWS; first += TILE) {
        const size_t at = offsets[first], bytes = offsets[first + TILE] - at;
        cl_int       code = CL_SUCCESS;
        for (uint32_t i = first; i < first + TILE; i++)
            write_string(sorted ? e->rows[i] : i, strings + (offsets[i] - at));
        if (reads)
            code = clEnqueueReadBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, at, bytes, got, 0, NULL, NULL);
        else
            code = clEnqueueWriteBuffer(ordo_device_queue(t->dev), mem, CL_TRUE, at, bytes, strings, 0, NULL, NULL);
        cr_assert(code == CL_SUCCESS);
        if (reads)
            test_same_bytes(t, "strings", got, strings, bytes);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void sort_and_gather(struct test *t, const struct expected *e, const struct ordo_strings *column, cl_mem sorted)
{
    AUTO_ARRAY struct test_array rows = test_upload(t, NULL, ROWS, 4, 1);
    AUTO_ARRAY struct test_array equal = test_upload(t, NULL, ROWS, 1, 1);
    AUTO_ARRAY struct test_array offsets = test_upload(t, NULL, ROWS + 1, 8, 1);
    size_t                       needed = 0;
    test_context(t, "sort");
    test_ok(
        t, ordo_sort_strings(t->dev, ordo_sort_strings_params(0), column, test_slice(&rows), test_slice(&equal), NULL));
    test_expect(t, ORDO_U32, &rows, e->rows, ROWS);
    test_expect(t, ORDO_U32, &equal, e->equal, ROWS);
    test_context(t, "gather");
    test_ok(t, ordo_gather_strings(t->dev, column, test_slice(&rows), ROWS, test_slice(&offsets), ordo_at(sorted, 0),
                                   column->n_bytes, &needed, NULL));
    test_true(t, needed == column->n_bytes);
    test_expect(t, ORDO_U64, &offsets, e->sorted_offsets, ROWS + 1);
    transfer(t, e, true, sorted, true);
}

/* The queries are the sorted rows. */
static void search(struct test *t, const struct expected *e, const ordo_string_index *index,
                   const struct ordo_strings *queries)
{
    AUTO_ARRAY struct test_array ids = test_upload(t, NULL, ROWS, 4, 1);
    AUTO_FREE uint32_t          *after = test_alloc(ROWS * sizeof *after);
    for (uint32_t i = 0; i < ROWS; i++)
        after[i] = e->ids[i] + 1;
    test_context(t, "find");
    test_ok(t, ordo_string_index_search(index, ORDO_STRING_FIND, queries, test_slice(&ids), NULL));
    test_expect(t, ORDO_U32, &ids, e->ids, ROWS);
    test_context(t, "upper bound");
    test_ok(t, ordo_string_index_search(index, ORDO_STRING_UPPER, queries, test_slice(&ids), NULL));
    test_expect(t, ORDO_U32, &ids, after, ROWS);
}

static void index_and_search(struct test *t, const struct expected *e, const struct ordo_strings *column,
                             const struct ordo_strings *queries, bool sorted)
{
    struct ordo_string_index_statistics                stats;
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;
    test_context(t, "index of %s strings", sorted ? "sorted" : "unsorted");
    test_ok(t, ordo_string_index_build(t->dev, ordo_string_index_params(.sorted = sorted), column, NULL, &index));
    test_ok(t, ordo_string_index_get_statistics(index, &stats));
    test_true(t, stats.ids == e->ids[ROWS - 1] + 1 && stats.rows == ROWS);
    search(t, e, index, queries);
}

static void need_memory(const struct test *t, size_t bytes)
{
    const uint64_t room = t->facts->cpu ? (uint64_t) sysconf(_SC_AVPHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE)
                                        : t->facts->global_bytes;
    if (t->facts->max_alloc_bytes < bytes || room / 5 * 2 < bytes)
        test_skip("%s has %llu bytes, and at most %llu in one buffer: the test takes two buffers of %zu",
                  t->facts->name, (unsigned long long) room, (unsigned long long) t->facts->max_alloc_bytes, bytes);
}

DEVICE_TEST(strings_large, take_more_than_4_GiB)
{
    AUTO_FREE struct expected *e = test_alloc(sizeof *e);
    test_optimized(t);
    expect(e);
    const size_t n_bytes = e->offsets[ROWS];
    cr_assert(n_bytes > (size_t) 1 << 32);
    need_memory(t, n_bytes);
    AUTO_ARRAY struct test_array offsets = test_upload(t, e->offsets, ROWS + 1, 8, 1);
    AUTO_ARRAY struct test_array sorted_offsets = test_upload(t, e->sorted_offsets, ROWS + 1, 8, 1);
    AUTO_MEM cl_mem              bytes = buffer(t, n_bytes), sorted_bytes = buffer(t, n_bytes);
    const struct ordo_strings    column = { test_slice(&offsets), 8, ordo_at(bytes, 0), n_bytes, ROWS };
    const struct ordo_strings    sorted = { test_slice(&sorted_offsets), 8, ordo_at(sorted_bytes, 0), n_bytes, ROWS };
    transfer(t, e, false, bytes, false);
    sort_and_gather(t, e, &column, sorted_bytes);
    index_and_search(t, e, &column, &sorted, false);
    index_and_search(t, e, &sorted, &sorted, true);
}
