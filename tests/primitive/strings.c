/* SPDX-License-Identifier: Apache-2.0 */
/* Rows sorted by strings, compared with qsort and memcmp on the host. */
#include "tests/primitive/string_case.h"

#include "primitive/strings.h"
#include "shared/strings.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the model --------------------------------------------------------------------------------------------------- */

static const struct string_case *sorted_column;
static bool                      sorted_descending;

static int by_string(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    const int      order = string_compare(sorted_column, x, y);
    return order ? (sorted_descending ? -order : order) : x < y ? -1 : x > y;
}

static void model_sort(const struct string_case *c, bool descending, uint32_t *rows, uint8_t *equal)
{
    for (size_t i = 0; i < c->count; i++)
        rows[i] = (uint32_t) i;
    sorted_column = c;
    sorted_descending = descending;
    qsort(rows, c->count, sizeof *rows, by_string);
    for (size_t i = 0; i < c->count; i++)
        equal[i] = i > 0 && string_compare(c, rows[i - 1], rows[i]) == 0;
}

/* ---- one sort ---------------------------------------------------------------------------------------------------- */

struct sorting {
    const char *name;
    bool        descending;
    uint32_t    offset_bytes;
    uint32_t   *rows; /* of the model */
    uint8_t    *equal;
};

static void sort_on_device(struct test *t, const struct string_case *c, const struct sorting *s, const void *offsets)
{
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, offsets, c->count + 1, s->offset_bytes, test_below(t, 4));
    AUTO_ARRAY struct test_array on_bytes = test_upload(t, c->bytes, c->n_bytes, 1, test_below(t, 20));
    AUTO_ARRAY struct test_array rows = test_upload(t, NULL, c->count, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array equal = test_upload(t, NULL, c->count, 1, test_below(t, 4));
    const bool                   wants_equal = test_below(t, 4) > 0;
    const struct ordo_strings    column = { .offsets = test_slice(&on_offsets),
                                            .offset_bytes = s->offset_bytes,
                                            .bytes = test_slice(&on_bytes),
                                            .n_bytes = c->n_bytes,
                                            .count = c->count };
    test_ok(t, ordo_sort_strings(t->dev, ordo_sort_strings_params(.descending = s->descending), &column,
                                 test_slice(&rows), wants_equal ? test_slice(&equal) : ordo_none(), NULL));
    test_expect(t, ORDO_U32, &rows, s->rows, c->count);
    if (!wants_equal)
        return;
    AUTO_FREE uint8_t *got = test_alloc(c->count + 1);
    test_download(t, &equal, got);
    test_same_bytes(t, "equal_out", got, s->equal, c->count);
}

static void sort_on_host(struct test *t, const struct string_case *c, const struct sorting *s, const void *offsets)
{
    AUTO_FREE uint32_t            *rows = test_alloc((c->count + 1) * sizeof *rows);
    AUTO_FREE uint8_t             *equal = test_alloc(c->count + 1);
    const struct ordo_host_strings column = { offsets, s->offset_bytes, c->bytes, c->n_bytes, c->count };
    test_ok(
        t, ordo_sort_strings_host(t->dev, ordo_sort_strings_params(.descending = s->descending), &column, rows, equal));
    test_same(t, "rows_out", ORDO_U32, rows, s->rows, c->count);
    test_same_bytes(t, "equal_out", equal, s->equal, c->count);
}

static void gather_on_device(struct test *t, const struct ordo_host_strings *c, const uint32_t *rows,
                             const struct string_case *want)
{
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, c->offsets, c->count + 1, c->offset_bytes, 1);
    AUTO_ARRAY struct test_array on_bytes = test_upload(t, c->bytes, c->n_bytes, 1, test_below(t, 20));
    AUTO_ARRAY struct test_array of = test_upload(t, rows, c->count, 4, test_below(t, 4));
    AUTO_ARRAY struct test_array offsets = test_upload(t, NULL, c->count + 1, 8, test_below(t, 4));
    AUTO_ARRAY struct test_array bytes = test_upload(t, NULL, want->n_bytes, 1, test_below(t, 20));
    const struct ordo_strings    column = { test_slice(&on_offsets), c->offset_bytes, test_slice(&on_bytes), c->n_bytes,
                                            c->count };
    const uint64_t               none = 0;
    size_t                       needed = 7;
    if (want->n_bytes)
        test_status(t,
                    ordo_gather_strings(t->dev, &column, test_slice(&of), c->count, test_slice(&offsets),
                                        test_slice(&bytes), want->n_bytes - 1, &needed, NULL),
                    ORDO_TOO_SMALL);
    test_true(t, needed == (want->n_bytes ? want->n_bytes : 7));
    test_ok(t, ordo_gather_strings(t->dev, &column, test_slice(&of), c->count, test_slice(&offsets), test_slice(&bytes),
                                   want->n_bytes, &needed, NULL));
    test_true(t, needed == want->n_bytes);
    test_expect(t, ORDO_U64, &offsets, c->count ? want->offsets : &none, c->count + 1);
    test_expect(t, ORDO_U32, &bytes, want->bytes, want->n_bytes);
}

/* Gathers the sorted column. */
static void gather_sorted(struct test *t, const struct string_case *c, const struct sorting *s, const void *offsets)
{
    const struct ordo_host_strings column = { offsets, s->offset_bytes, c->bytes, c->n_bytes, c->count };
    AUTO_FREE uint64_t            *got_offsets = test_alloc((c->count + 1) * sizeof *got_offsets);
    AUTO_FREE uint8_t             *got = test_alloc(c->n_bytes + 1);
    AUTO_COLUMN struct string_case want = { .count = 0 };
    for (size_t i = 0; i < c->count; i++)
        string_add_text(&want, (const char *) c->bytes + c->offsets[s->rows[i]], string_length(c, s->rows[i]));
    gather_on_device(t, &column, s->rows, &want);
    test_ok(t, ordo_gather_strings_host(t->dev, &column, s->rows, c->count, got_offsets, got, want.n_bytes, NULL));
    if (c->count)
        test_same(t, "offsets_out", ORDO_U64, got_offsets, want.offsets, c->count + 1);
    test_same_bytes(t, "bytes_out", got, want.bytes, want.n_bytes);
}

static void try_offsets(struct test *t, const char *name, const struct string_case *c, uint32_t offset_bytes,
                        bool descending)
{
    AUTO_FREE uint32_t  *rows = test_alloc((c->count + 1) * sizeof *rows);
    AUTO_FREE uint8_t   *equal = test_alloc(c->count + 1);
    AUTO_FREE void      *offsets = string_offsets(c, offset_bytes);
    const struct sorting s = { name, descending, offset_bytes, rows, equal };
    model_sort(c, descending, rows, equal);
    test_context(t, "%s: %zu strings of %zu bytes, %s, offsets of %u", name, c->count, c->n_bytes,
                 descending ? "descending" : "ascending", offset_bytes);
    sort_on_device(t, c, &s, offsets);
    sort_on_host(t, c, &s, offsets);
    gather_sorted(t, c, &s, offsets);
}

/* Sorts with offsets of 32 and 64 bits, one ascending and one descending, in device and in host memory. */
static void try_column(struct test *t, const char *name, const struct string_case *c)
{
    const bool turn = test_below(t, 2);
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4)
        try_offsets(t, name, c, bytes, turn == (bytes == 4));
}
static void try_shape(struct test *t, enum string_shape shape, size_t count)
{
    AUTO_COLUMN struct string_case c = string_make_column(t, shape, count);
    try_column(t, string_shape_name[shape], &c);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

/* Most of the time goes into qsort. */
enum { SEAM_ROWS = 9000 };

MOST_MASKS_TEST(strings, are_sorted_at_every_seam_on_every_device_and_mask)
{
    const struct ordo_strings four = { .offset_bytes = 4 };
    const struct ordo_launch  launch = ordo_strings_launch(t->dev, &four, "strings_keys", 1);
    size_t                    counts[TEST_SEAMS];
    const size_t              n = test_seams(launch.group, (size_t) launch.defines[2].value, counts);
    for (size_t i = 0; i < n && counts[i] <= SEAM_ROWS; i++)
        try_shape(t, (enum string_shape)((i + t->seed) % CHAIN), counts[i]);
}

MASK_TEST(strings, of_every_shape_are_sorted, "", "cpu=0")
{
    for (int shape = 0; shape < N_SHAPES; shape++) {
        try_shape(t, (enum string_shape) shape, 1 + test_below(t, 40));
        try_shape(t, (enum string_shape) shape, 1000 + test_below(t, 5000));
    }
}

/* Strings longer than a launch compares, and than 64 KiB. Some differ in their last bytes, or in length, and some are
 * equal. */
MASK_TEST(strings, longer_than_64_KiB_are_sorted, "", "cpu=0")
{
    static const size_t lengths[] = { STRINGS_PREFIX_MAX - 1, STRINGS_PREFIX_MAX, STRINGS_PREFIX_MAX + 1, 200001 };
    AUTO_COLUMN struct string_case c = { .count = 0 };
    for (size_t i = 0; i < LENGTH(lengths); i++)
        for (int copy = 0; copy < 3; copy++) {
            string_add_long(&c, lengths[i], SIZE_MAX, 0);
            string_add_long(&c, lengths[i], lengths[i] - 1 - (size_t) copy, 0);
            string_add_long(&c, lengths[i], STRINGS_PREFIX_MAX - (size_t) copy, 0xff);
        }
    for (int i = 0; i < 20; i++)
        string_add_shape(t, &c, RANDOM);
    try_column(t, "long strings", &c);
}

/* One long string among many short ones. */
MASK_TEST(strings, with_one_long_among_them_are_sorted, "", "cpu=0")
{
    AUTO_COLUMN struct string_case c = { .count = 0 };
    for (int i = 0; i < 3000; i++) {
        string_add_shape(t, &c, EDGES);
        if (i == 1000)
            memset(string_add(&c, 300000), 'x', 300000);
    }
    try_column(t, "one long string", &c);
}

/* More segments than 12 bits number, so that windows become shorter. */
MASK_TEST(strings, in_many_segments_are_sorted, "")
{
    AUTO_COLUMN struct string_case c = { .count = 0 };
    for (size_t i = 0; i < 60000; i++) {
        uint8_t *string = string_add(&c, 24);
        memset(string, '-', 24);
        for (int k = 0; k < 4; k++)
            string[3 + k] = (uint8_t) (i % 6000 >> 4 * k & 15);
        string_fill(t, string + 20, 4, (const uint8_t[]) { 0, 1, 255 }, 3);
    }
    try_column(t, "many segments", &c);
}

/* More segments than 20 bits number: the first round leaves two rows for each number. Then windows have 4 bytes. */
MASK_TEST(strings, in_a_million_segments_are_sorted, "")
{
    AUTO_COLUMN struct string_case c = { .count = 0 };
    for (size_t i = 0; i < ((size_t) 2 << 20) + 6; i++) {
        uint8_t *string = string_add(&c, 13);
        memset(string, '-', 13);
        for (int k = 0; k < 3; k++)
            string[4 + k] = (uint8_t) (i / 2 >> 8 * k & 255);
        string[11] = (uint8_t) test_below(t, 256);
        string[12] = (uint8_t) test_below(t, 2);
    }
    try_offsets(t, "a million segments", &c, 4, test_below(t, 2));
}

/* Segments of different sizes, whose strings begin with the same `prefix` bytes and then have few values. */
static void add_segments(struct test *t, struct string_case *c, size_t prefix)
{
    static const size_t  sizes[] = { 1, 2, 3, 15, 16, 17, 18, 33, 100, 255, 256, 257, 300, 1000 };
    static const uint8_t values[] = { 0, 1, 'a', 255 };
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (size_t k = 0; k < sizes[i]; k++) {
            const size_t length = test_below(t, 12);
            uint8_t     *string = string_add(c, prefix + length);
            memset(string, 'p', prefix);
            string[0] = (uint8_t) i;
            string_fill(t, string + prefix, length, values, 1 + test_below(t, LENGTH(values)));
        }
}

MASK_TEST(strings, in_segments_of_every_size_are_sorted, "", "cpu=0", "group=64")
{
    static const size_t prefixes[] = { 7, 8, 9, 14, 15, 16, 17 };
    for (size_t i = 0; i < LENGTH(prefixes); i++) {
        AUTO_COLUMN struct string_case c = { .count = 0 };
        add_segments(t, &c, prefixes[i]);
        try_column(t, "segments of every size", &c);
        add_segments(t, &c, prefixes[i] + 7); /* also makes the first segments larger */
        try_column(t, "more segments", &c);
    }
}

/* Sets values so that a median of the three elements at a quarter, a half and three quarters is always one of the least
 * values. Such a median divides badly. */
static void make_bad_medians(uint16_t *values, size_t count)
{
    AUTO_FREE size_t *left = test_alloc(count * sizeof *left);
    uint16_t          next = 1;
    for (size_t i = 0; i < count; i++) {
        left[i] = i;
        values[i] = 0;
    }
    for (size_t n = count; n >= 4;) {
        size_t kept = 0;
        for (size_t quarter = 1; quarter <= 3; quarter++) {
            uint16_t *value = &values[left[quarter == 2 ? n / 2 : n / 4 * quarter]];
            *value = *value ? *value : next++;
        }
        for (size_t i = 0; i < n; i++) /* The greatest of the three stays. */
            if (values[left[i]] == 0 || values[left[i]] + 1 == next)
                left[kept++] = left[i];
        n = kept;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] ? values[i] : next;
}

MASK_TEST(strings, with_bad_medians_are_sorted, "")
{
    enum { COUNT = 250 };
    uint16_t                       values[COUNT];
    AUTO_COLUMN struct string_case c = { .count = 0 };
    make_bad_medians(values, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        uint8_t *string = string_add(&c, 9);
        memset(string, 's', 7);
        string[7] = (uint8_t) (values[i] >> 8);
        string[8] = (uint8_t) values[i];
    }
    string_add_text(&c, "", 0);
    try_offsets(t, "bad medians", &c, 4, false);
}

/* Counts the launches of a kernel that runs once per round. */
static void count_round(void *rounds, ordo_log_level level, const char *message)
{
    if (level == ORDO_LOG_DEBUG && strstr(message, "launch strings_keys:"))
        ++*(int *) rounds;
}

/* Returns the number of rounds that a sort of a column takes. Opens another device for it. */
static int rounds_of(const struct string_case *c)
{
    int                             rounds = 0;
    const struct ordo_device_config config = {
        .no_self_test = true, .build_threads = -1, .log = count_round, .user = &rounds
    };
    const struct ordo_host_strings column = { c->offsets, 8, c->bytes, c->n_bytes, c->count };
    AUTO_FREE uint32_t            *rows = test_alloc(c->count * sizeof *rows);
    AUTO_DEVICE ordo_device       *dev = NULL;
    (void) setenv("ORDO_LOG", "debug", 1);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    cr_assert(ordo_sort_strings_host(dev, ordo_sort_strings_params(0), &column, rows, NULL) == ORDO_OK);
    return rounds;
}

/* Common bytes take no rounds of their own, in strings that are equal and in strings with a long common prefix. */
Test(strings, that_are_long_take_few_rounds)
{
    AUTO_COLUMN struct string_case equal = { .count = 0 }, deep = { .count = 0 };
    for (int i = 0; i < 100; i++) {
        string_add_long(&equal, 5000, SIZE_MAX, 0);
        string_add_long(&deep, 5000, 4990, (uint8_t) i);
    }
    cr_assert(rounds_of(&equal) == 1, "%d rounds", rounds_of(&equal));
    cr_assert(rounds_of(&deep) == 1, "%d rounds", rounds_of(&deep));
}

/* A column without rows, and one without bytes. */
MASK_TEST(strings, without_arrays_are_sorted, "")
{
    const struct ordo_host_strings none = { .offset_bytes = 4 };
    const uint64_t                 offsets[] = { 0, 0, 0 };
    const struct ordo_host_strings empty = { .offsets = offsets, .offset_bytes = 8, .count = 2 };
    uint32_t                       rows[2] = { 7, 7 };
    uint8_t                        equal[2] = { 7, 7 };
    test_context(t, "columns without arrays");
    test_ok(t, ordo_sort_strings_host(t->dev, ordo_sort_strings_params(0), &none, NULL, NULL));
    test_ok(t, ordo_sort_strings_host(t->dev, ordo_sort_strings_params(0), &empty, rows, equal));
    test_true(t, rows[0] == 0 && rows[1] == 1 && equal[0] == 0 && equal[1] == 1);
}

/* The header's promise: 65.3 bytes per row, and 4 MiB. */
DEVICE_TEST(strings, take_the_scratch_that_the_header_states)
{
    enum { COUNT = 100000 };
    static const enum string_shape shapes[] = { RANDOM, EQUAL, PATHS };
    for (size_t i = 0; i < LENGTH(shapes); i++) {
        AUTO_COLUMN struct string_case c = string_make_column(t, shapes[i], COUNT);
        AUTO_ARRAY struct test_array   offsets = test_upload(t, c.offsets, c.count + 1, 8, 0);
        AUTO_ARRAY struct test_array   bytes = test_upload(t, c.bytes, c.n_bytes, 1, 0);
        AUTO_ARRAY struct test_array   rows = test_upload(t, NULL, c.count, 4, 0);
        const struct ordo_strings      column = { test_slice(&offsets), 8, test_slice(&bytes), c.n_bytes, c.count };
        struct ordo_memory             memory;
        test_ok(t, ordo_device_trim(t->dev));
        test_ok(t,
                ordo_sort_strings(t->dev, ordo_sort_strings_params(0), &column, test_slice(&rows), ordo_none(), NULL));
        test_ok(t, ordo_device_memory(t->dev, &memory));
        test_context(t, "%s: %zu rows, %llu bytes of scratch", string_shape_name[shapes[i]], c.count,
                     (unsigned long long) memory.scratch_peak_bytes);
        test_true(t, memory.scratch_peak_bytes > 0);
        test_true(t, (double) memory.scratch_peak_bytes <= 65.3 * (double) c.count + (4 << 20));
    }
}

/* ---- bad offsets ------------------------------------------------------------------------------------------------- */

struct bad_offsets {
    uint64_t    from, to; /* of row `row` */
    size_t      row;
    const char *message; /* a part of it */
};

/* Sorts a column whose row `row` is bad, and others after it, with offsets of both sizes. */
static void refuse(struct test *t, const struct string_case *good, const struct bad_offsets *bad)
{
    AUTO_FREE uint32_t *rows = test_alloc(good->count * sizeof *rows), *kept = test_alloc(good->count * sizeof *rows);
    uint64_t            ends_out[2];
    uint8_t             out[10];
    memset(rows, TEST_EMPTY, good->count * sizeof *rows);
    memset(kept, TEST_EMPTY, good->count * sizeof *rows);
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        AUTO_FREE uint8_t *offsets = string_offsets(good, bytes);
        const uint64_t     ends[] = { bad->from, bad->to };
        for (size_t i = 0; i < 2; i++) {
            const uint32_t narrow = (uint32_t) ends[i];
            memcpy(offsets + (bad->row + i) * bytes, bytes == 4 ? (const void *) &narrow : &ends[i], bytes);
        }
        const struct ordo_host_strings column = { offsets, bytes, good->bytes, good->n_bytes, good->count };
        test_context(t, "row %zu from %llu to %llu, offsets of %u", bad->row, (unsigned long long) bad->from,
                     (unsigned long long) bad->to, bytes);
        test_status(t, ordo_sort_strings_host(t->dev, ordo_sort_strings_params(0), &column, rows, NULL), ORDO_INVALID);
        char message[256] = "";
        (void) ordo_device_last_error(t->dev, message, sizeof message);
        test_true(t, strstr(message, bad->message) != NULL);
        test_same(t, "rows_out", ORDO_U32, rows, kept, good->count);
        test_status(t, ordo_gather_strings_host(t->dev, &column, (const uint32_t[]) { 3 }, 1, ends_out, out, 10, NULL),
                    ORDO_INVALID);
        test_message(t, bad->message);
    }
}

MASK_TEST(strings, with_bad_offsets_are_refused, "", "cpu=0")
{
    AUTO_COLUMN struct string_case c = { .count = 0 };
    for (size_t i = 0; i < 10000; i++)
        string_add_text(&c, "0123456789", 10);
    const size_t             last = c.count - 1;
    const struct bad_offsets bad[] = {
        { 5, 4, 0, "offsets descend at row 0, from 5 to 4" },
        { 10, 9, 1, "offsets descend at row 1, from 10 to 9" },
        { 61770, 50000, 6177, "offsets descend at row 6177, from 61770 to 50000" },
        { 99990, 100001, last, "row 9999 has bytes 99990 to 100001: the column has 100000" },
        { 99990, UINT32_MAX, last, "row 9999 has bytes 99990 to 4294967295: the column has 100000" },
        { UINT32_MAX, UINT32_MAX, 5000, "row 4999 has bytes 49990 to 4294967295" },
        { 70000, 70010, 50, "offsets descend at row 51, from 70010 to 520" },
    };
    for (size_t i = 0; i < LENGTH(bad); i++)
        refuse(t, &c, &bad[i]);
}

MASK_TEST(strings, of_rows_out_of_range_are_not_gathered, "", "cpu=0")
{
    static const uint32_t          offsets[] = { 2, 3, 3, 6 }, rows[] = { 2, 1, 0, 2 }, bad[] = { 0, 2, 3, UINT32_MAX };
    const struct ordo_host_strings column = { offsets, 4, "..cbad", 6, 3 }, none = { .offset_bytes = 8 };
    uint64_t                       got_offsets[5] = { 9 };
    uint8_t                        got[16];
    size_t                         needed = 5;
    test_context(t, "rows out of range");
    test_status(t, ordo_gather_strings_host(t->dev, &column, bad, 4, got_offsets, got, 16, &needed), ORDO_INVALID);
    test_message(t, "rows[2] is 3: there are 3 strings");
    test_status(t, ordo_gather_strings_host(t->dev, &none, bad, 4, got_offsets, got, 16, &needed), ORDO_INVALID);
    test_message(t, "rows are given, but there are no strings");
    test_status(t, ordo_gather_strings_host(t->dev, &column, rows, 4, got_offsets, got, 6, &needed), ORDO_TOO_SMALL);
    test_true(t, needed == 7);
    test_ok(t, ordo_gather_strings_host(t->dev, &column, rows, 4, got_offsets, got, 16, &needed));
    test_true(t, memcmp(got, "badcbad", 7) == 0 && got_offsets[1] == 3 && got_offsets[2] == 3 && got_offsets[4] == 7);
    test_ok(t, ordo_gather_strings_host(t->dev, &none, NULL, 0, got_offsets, NULL, 0, &needed));
    test_true(t, needed == 0 && got_offsets[0] == 0);
}
