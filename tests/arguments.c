/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of every call over device arrays, from one table: each is refused with its status, and nothing is
 * written. What only one call has (bit ranges, runs, overlaps) is tested with that call. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

enum { ARRAYS_MAX = 8 };
#define N ((size_t) 100)

/* What a call is given besides its arrays. */
struct given {
    ordo_device *dev;
    bool         no_params;
    ordo_type    type;
    uint32_t     value_bytes;
    size_t       count;
};

typedef ordo_status (*call_fn)(const struct given *g, const struct ordo_slice a[]);

/* A call and its arrays, in their order. */
struct subject {
    const char *name;
    call_fn     call;
    bool        typed, has_values;
    struct {
        const char *name;
        size_t      bytes, count;
        bool        value, optional;
    } array[ARRAYS_MAX];
};

#define OR_NULL(g, params) ((g)->no_params ? NULL : (params))

static ordo_status scan(const struct given *g, const struct ordo_slice a[])
{
    return ordo_scan(g->dev, OR_NULL(g, ordo_scan_params(.type = g->type)), a[0], a[1], g->count, NULL);
}

static ordo_status segmented_scan(const struct given *g, const struct ordo_slice a[])
{
    return ordo_segmented_scan(g->dev, OR_NULL(g, ordo_scan_params(.type = g->type)), a[0], a[1], a[2], g->count, NULL);
}

static ordo_status reduce(const struct given *g, const struct ordo_slice a[])
{
    return ordo_reduce(g->dev, OR_NULL(g, ordo_reduce_params(.type = g->type)), a[0], g->count, a[1], NULL);
}

static ordo_status compact(const struct given *g, const struct ordo_slice a[])
{
    return ordo_compact(g->dev, OR_NULL(g, ordo_compact_params(.key_bytes = 4, .value_bytes = g->value_bytes)), a[0],
                        a[1], a[2], g->count, a[3], a[4], a[5], NULL);
}

static ordo_status sort(const struct given *g, const struct ordo_slice a[])
{
    return ordo_sort(g->dev, OR_NULL(g, ordo_sort_params(.key = g->type, .value_bytes = g->value_bytes)), a[0], a[1],
                     a[2], a[3], g->count, NULL);
}

static ordo_status merge(const struct given *g, const struct ordo_slice a[])
{
    return ordo_merge(g->dev, OR_NULL(g, ordo_merge_params(.key = g->type, .value_bytes = g->value_bytes)), a[0], a[1],
                      g->count, a[2], a[3], N, a[4], a[5], NULL);
}

static ordo_status merge_runs(const struct given *g, const struct ordo_slice a[])
{
    const struct ordo_run runs[] = { { 0, g->count / 2 }, { g->count / 2, g->count - g->count / 2 } };
    return ordo_merge_runs(g->dev, OR_NULL(g, ordo_merge_params(.key = g->type, .value_bytes = g->value_bytes)), a[0],
                           a[1], runs, 2, a[2], a[3], NULL);
}

static ordo_status search(const struct given *g, const struct ordo_slice a[])
{
    return ordo_search(g->dev, OR_NULL(g, ordo_search_params(.key = g->type)), a[0], N, a[1], g->count, a[2], NULL);
}

static ordo_status lookup(const struct given *g, const struct ordo_slice a[])
{
    return ordo_lookup(g->dev, OR_NULL(g, ordo_lookup_params(.key = g->type, .value_bytes = g->value_bytes)), a[0],
                       a[1], N, a[2], g->count, a[3], a[4], NULL);
}

static const struct subject subjects[] = {
    { "scan", scan, true, false, { { "in", 4, N }, { "out", 4, N } } },
    { "segmented_scan", segmented_scan, true, false, { { "in", 4, N }, { "heads", 1, N }, { "out", 4, N } } },
    { "reduce", reduce, true, false, { { "in", 4, N }, { "out", 4, 1 } } },
    { "compact",
      compact,
      false,
      true,
      { { "keys", 4, N },
        { "values", 4, N, .value = true },
        { "flags", 1, N },
        { "keys_out", 4, N },
        { "values_out", 4, N, .value = true },
        { "kept", 4, 1 } } },
    { "sort",
      sort,
      true,
      true,
      { { "keys_in", 4, N },
        { "values_in", 4, N, .value = true },
        { "keys_out", 4, N },
        { "values_out", 4, N, .value = true } } },
    { "merge",
      merge,
      true,
      true,
      { { "a_keys", 4, N },
        { "a_values", 4, N, .value = true },
        { "b_keys", 4, N },
        { "b_values", 4, N, .value = true },
        { "keys_out", 4, 2 * N },
        { "values_out", 4, 2 * N, .value = true } } },
    { "merge_runs",
      merge_runs,
      true,
      true,
      { { "keys", 4, N },
        { "values", 4, N, .value = true },
        { "keys_out", 4, N },
        { "values_out", 4, N, .value = true } } },
    { "search", search, true, false, { { "keys", 4, N }, { "queries", 4, N }, { "ranks", 4, N } } },
    { "lookup",
      lookup,
      true,
      true,
      { { "keys", 4, N },
        { "values", 4, N, .value = true },
        { "queries", 4, N },
        { "values_out", 4, N, .value = true },
        { "found", 1, N, .optional = true } } },
};

/* A subject with arrays to give it. */
struct trial {
    struct test          *t;
    const struct subject *subject;
    struct test_array     array[ARRAYS_MAX];
    struct ordo_slice     slice[ARRAYS_MAX];
    size_t                n;
};

static void refuse(const struct trial *r, const struct given *g, ordo_status want, const char *what)
{
    test_context(r->t, "%s: %s", r->subject->name, what);
    test_status(r->t, r->subject->call(g, r->slice), want);
}

/* The arguments that are no arrays. */
static void bad_values(struct trial *r, const struct given *good)
{
    struct given g = *good;
    g.dev = NULL;
    refuse(r, &g, ORDO_INVALID, "no device");
    g = *good;
    g.no_params = true;
    refuse(r, &g, ORDO_INVALID, "no parameters");
    g = *good;
    g.count = ORDO_MAX_COUNT + 1;
    refuse(r, &g, ORDO_TOO_LARGE, "more than a call takes");
    g.count = ORDO_MAX_COUNT / 2;
    refuse(r, &g, ORDO_INVALID, "more than the arrays have");

    g = *good;
    for (int type = -1; r->subject->typed && type < 20; type += type < 0 ? 7 : 13) {
        g.type = (ordo_type) type;
        refuse(r, &g, ORDO_INVALID, "no type");
    }
    static const uint32_t bad_bytes[] = { 0, 1, 3, 5, 7, 12, 16, UINT32_MAX };
    g = *good;
    for (size_t i = 0; r->subject->has_values && i < sizeof bad_bytes / sizeof *bad_bytes; i++) {
        g.value_bytes = bad_bytes[i]; /* 0 is a size, but there are values */
        refuse(r, &g, ORDO_INVALID, "no size of values, or values for none");
    }
}

/* One array after the other. */
static void bad_arrays(struct trial *r, const struct given *good, cl_mem foreign)
{
    char what[96];
    for (size_t i = 0; i < r->n; i++) {
        const struct ordo_slice was = r->slice[i];
        const struct {
            const char       *text;
            struct ordo_slice slice;
        } bad[] = {
            { "absent", ordo_none() },
            { "of another context", ordo_at(foreign, 0) },
            { "that begins at the end of time", ordo_at(was.mem, SIZE_MAX) },
            { "whose bytes overflow", ordo_at(was.mem, SIZE_MAX / r->array[i].bytes) },
            { "whose end overflows", ordo_at(was.mem, SIZE_MAX - r->array[i].count + 1) },
            /* 64 guard bytes lie behind each array: this many elements and one more */
            { "that ends one element too late", ordo_at(was.mem, was.at + 64 / r->array[i].bytes + 1) },
        };
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            if (!bad[b].slice.mem && r->subject->array[i].optional)
                continue;
            r->slice[i] = bad[b].slice;
            snprintf(what, sizeof what, "%s %s", r->subject->array[i].name, bad[b].text);
            refuse(r, good, ORDO_INVALID, what);
        }
        r->slice[i] = was;
    }
}

static void check_untouched(const struct trial *r)
{
    char want[2 * N * 4];
    memset(want, TEST_EMPTY, sizeof want);
    test_context(r->t, "%s: after what was refused", r->subject->name);
    test_ok(r->t, ordo_device_finish(r->t->dev));
    for (size_t i = 0; i < r->n; i++) {
        char *got = test_alloc(r->array[i].count * r->array[i].bytes);
        test_download(r->t, &r->array[i], got);
        test_same_bytes(r->t, r->subject->array[i].name, got, want, r->array[i].count * r->array[i].bytes);
        free(got);
    }
}

static void check_subject(struct test *t, const struct subject *subject, cl_mem foreign)
{
    struct trial       r = { .t = t, .subject = subject };
    const struct given good = {
        .dev = t->dev, .type = ORDO_U32, .value_bytes = subject->has_values ? 4 : 0, .count = N
    };
    for (; r.n < ARRAYS_MAX && subject->array[r.n].name; r.n++) {
        r.array[r.n] = test_upload(t, NULL, subject->array[r.n].count, subject->array[r.n].bytes, 3 * r.n);
        r.slice[r.n] = test_slice(&r.array[r.n]);
    }
    bad_values(&r, &good);
    bad_arrays(&r, &good, foreign);
    check_untouched(&r);
    refuse(&r, &good, ORDO_OK, "what is right is not refused");
    test_ok(t, ordo_device_finish(t->dev));
    for (size_t i = 0; i < r.n; i++)
        test_free(&r.array[i]);
}

static void every_subject(struct test *t)
{
    const cl_device_id id = ordo_device_id(t->dev);
    cl_int             code = CL_SUCCESS;
    cl_context         context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_mem             foreign = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * N * sizeof(uint64_t), NULL, &code);
    test_true(t, code == CL_SUCCESS);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        check_subject(t, &subjects[i], foreign);
    clReleaseMemObject(foreign);
    clReleaseContext(context);
}

Test(arguments, bad_ones_are_refused_and_nothing_is_written)
{
    test_each_device(every_subject);
}

/* An image is an OpenCL memory object too. */
static void image(struct test *t)
{
    const cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
    const cl_image_desc   desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 64 };
    cl_int                code = CL_SUCCESS;
    cl_mem made = clCreateImage(ordo_device_context(t->dev), CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    if (code != CL_SUCCESS) {
        cr_log_warn("%s has no such images", t->facts->name);
        return;
    }
    test_status(t, ordo_scan(t->dev, ordo_scan_params(.type = ORDO_U32), ordo_at(made, 0), ordo_at(made, 0), N, NULL),
                ORDO_INVALID);
    clReleaseMemObject(made);
}

Test(arguments, an_image_is_no_array)
{
    test_each_device(image);
}
