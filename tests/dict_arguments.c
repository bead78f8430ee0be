/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries and what they are given: bad arguments, queues, threads, too little memory; and what they say about
 * themselves. What they answer is tested by dict.c. */
#include "model.h"
#include "support.h"

#include "ordo/lsm.h"
#include "ordo/sorted_array.h"
#include "runtime/device_private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- dictionaries to test ------------------------------------------------------------------------------------ */

enum { SORTED_ARRAY, LSM, N_STRUCTURES };
static const char *const structure_name[N_STRUCTURES] = { "sorted array", "lsm" };

static ordo_status create(ordo_device *dev, int structure, ordo_type key, uint32_t value_bytes, ordo_dict **out)
{
    const struct ordo_dict_config config = { key, value_bytes };

    if (structure == SORTED_ARRAY)
        return ordo_sorted_array_create(dev, ordo_sorted_array_config(.dict = config), out);
    return ordo_lsm_create(dev, ordo_lsm_config(.dict = config), out);
}

/* The first key and value of a number. */
static uint32_t key_of(uint32_t i)
{
    return i * 2654435761u;
}
static uint32_t value_of(uint32_t i)
{
    return i ^ 0xabcdu;
}

/* A dictionary of u32 keys and 4-byte values with the elements of the numbers from `from` on. */
static ordo_dict *make_dict(struct test *t, ordo_device *dev, int structure, uint32_t from, uint32_t count)
{
    ordo_dict *dict = NULL;
    uint32_t  *keys = test_alloc(count * sizeof *keys), *values = test_alloc(count * sizeof *values);

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = key_of(from + i);
        values[i] = value_of(from + i);
    }
    test_ok(t, create(dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, count));
    free(keys);
    free(values);
    return dict;
}

/* That the dictionary is sound and holds just the model's elements. */
static void expect_content(struct test *t, ordo_dict *dict, const struct model *model)
{
    uint32_t *keys = test_alloc(model->count * sizeof *keys), *values = test_alloc(model->count * sizeof *values);
    uint32_t *want = test_alloc(model->count * sizeof *want);
    size_t    count = 0;

    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_export_host(dict, keys, values, model->count, &count));
    test_true(t, count == model->count);
    for (size_t i = 0; i < count; i++)
        want[i] = (uint32_t) model->element[i].key;
    test_same(t, "exported keys", ORDO_U32, keys, want, count);
    for (size_t i = 0; i < count; i++)
        want[i] = (uint32_t) model->element[i].value;
    test_same(t, "exported values", ORDO_U32, values, want, count);
    free(keys);
    free(values);
    free(want);
}

/* The model after operations of one code on these keys; values may be NULL. */
static void model_batch(struct model *model, ordo_code code, const uint32_t *keys, const uint32_t *values, size_t count)
{
    uint8_t *codes = test_alloc(count);

    memset(codes, (int) code, count);
    (void) model_apply(model,
                       &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = values, .count = count });
    free(codes);
}

static void model_fill(struct model *model, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; i < from + count; i++)
        model_batch(model, ORDO_UPSERT, &(uint32_t) { key_of(i) }, &(uint32_t) { value_of(i) }, 1);
}

static void expect_numbers(struct test *t, ordo_dict *dict, uint32_t from, uint32_t count)
{
    struct model model = model_empty(ORDO_U32, 4);

    model_fill(&model, from, count);
    expect_content(t, dict, &model);
    model_free(&model);
}

/* ---- making dictionaries ------------------------------------------------------------------------------------- */

static void making(struct test *t)
{
    static const uint32_t bad_bytes[] = { 1, 2, 3, 5, 7, 12, 16, UINT32_MAX };
    static const uint32_t bad_growth[] = { 1, 17, 1000, UINT32_MAX };
    ordo_dict            *dict = NULL;

    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict *const something = (ordo_dict *) t;
        test_context(t, "making a %s", structure_name[s]);
        for (int type = -1; type < 20; type += type < 0 ? 7 : 1) {
            dict = something;
            test_status(t, create(t->dev, s, (ordo_type) type, 4, &dict), ORDO_INVALID);
            test_true(t, dict == NULL);
        }
        for (size_t i = 0; i < LENGTH(bad_bytes); i++) {
            dict = something;
            test_status(t, create(t->dev, s, ORDO_U32, bad_bytes[i], &dict), ORDO_INVALID);
            test_true(t, dict == NULL);
        }
        dict = something;
        test_status(t, create(NULL, s, ORDO_U32, 4, &dict), ORDO_INVALID);
        test_true(t, dict == NULL);
        test_status(t, create(t->dev, s, ORDO_U32, 4, NULL), ORDO_INVALID);
        test_ok(t, create(t->dev, s, ORDO_U32, 4, &dict));
        test_true(t, strcmp(ordo_dict_name(dict), structure_name[s]) == 0);
        for (int op = ORDO_CAN_BUILD; op <= ORDO_CAN_COMPACT; op++)
            test_true(t, ordo_dict_can(dict, (ordo_dict_op) op) && !ordo_dict_can(NULL, (ordo_dict_op) op));
        test_true(t, !ordo_dict_can(dict, (ordo_dict_op) 1000));
        ordo_dict_destroy(&dict);
        test_true(t, dict == NULL);
    }
    test_context(t, "configurations");
    test_status(t, ordo_lsm_create(t->dev, NULL, &dict), ORDO_INVALID);
    test_status(t, ordo_sorted_array_create(t->dev, NULL, &dict), ORDO_INVALID);
    for (size_t i = 0; i < LENGTH(bad_growth); i++) {
        test_status(t, ordo_lsm_create(t->dev, ordo_lsm_config(.growth = bad_growth[i]), &dict), ORDO_INVALID);
        test_true(t, dict == NULL);
    }
    for (uint32_t growth = 2; growth <= 16; growth++) {
        test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.growth = growth), &dict));
        ordo_dict_destroy(&dict);
    }
    test_status(t, ordo_lsm_create(t->dev, ordo_lsm_config(.cleanup_stale_percent = 101), &dict), ORDO_INVALID);
    ordo_dict_destroy(NULL);
    ordo_dict_destroy(&dict);
    test_true(t, strcmp(ordo_dict_name(NULL), "") == 0);
}

Test(dict_arguments, configurations_are_checked)
{
    test_each_device(making);
}

/* ---- bad arguments of calls ---------------------------------------------------------------------------------- */

enum { ARRAYS_MAX = 11, ROOM = 300, HELD = 50 };
#define N ((size_t) 100)

struct given {
    ordo_dict *dict;
    size_t     count;
};

/* A call and its arrays, in their order. Outputs come last. */
struct subject {
    const char *name;
    ordo_status (*call)(const struct given *g, const struct ordo_slice a[]);
    bool counted; /* how many operations there are, the caller says */
    struct {
        const char *name;
        size_t      bytes, count;
        bool        output, optional;
    } array[ARRAYS_MAX];
};

static ordo_status build(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_build(g->dict, a[0], a[1], g->count, NULL);
}

static ordo_status upsert(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_upsert(g->dict, a[0], a[1], g->count, NULL);
}

static ordo_status insert(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_insert(g->dict, a[0], a[1], g->count, a[2], NULL);
}

static ordo_status erase(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_erase(g->dict, a[0], g->count, NULL);
}

static ordo_status find(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_find(g->dict, a[0], g->count, a[1], a[2], NULL);
}

static ordo_status contains(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_contains(g->dict, a[0], g->count, a[1], NULL);
}

static ordo_status count(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_count(g->dict, a[0], a[1], g->count, a[2], NULL);
}

static ordo_status range(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_range(g->dict, a[0], a[1], g->count, a[2], a[3], a[4], ROOM, NULL, NULL);
}

static ordo_status seek(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_seek(g->dict, ORDO_GE, a[0], g->count, a[1], a[2], a[3], NULL);
}

static ordo_status first(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_first(g->dict, a[0], a[1], a[2], NULL);
}

static ordo_status last(const struct given *g, const struct ordo_slice a[])
{
    return ordo_dict_last(g->dict, a[0], a[1], a[2], NULL);
}

static ordo_status export_all(const struct given *g, const struct ordo_slice a[])
{
    size_t needed = 0;
    return ordo_dict_export(g->dict, a[0], a[1], ROOM, &needed, NULL);
}

static ordo_status apply(const struct given *g, const struct ordo_slice a[])
{
    const struct ordo_batch batch = { .codes = a[0],
                                      .keys = a[1],
                                      .his = a[2],
                                      .values = a[3],
                                      .count = g->count,
                                      .found = a[4],
                                      .keys_out = a[5],
                                      .values_out = a[6],
                                      .counts = a[7],
                                      .offsets = a[8],
                                      .range_keys = a[9],
                                      .range_values = a[10],
                                      .range_capacity = ROOM };
    return ordo_dict_apply(g->dict, &batch, NULL, NULL);
}

#define KEYS                                                                                                           \
    {                                                                                                                  \
        "keys", 4, N                                                                                                   \
    }
#define HIS                                                                                                            \
    {                                                                                                                  \
        "his", 4, N                                                                                                    \
    }
#define VALUES                                                                                                         \
    {                                                                                                                  \
        "values", 4, N                                                                                                 \
    }
#define OUT(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__, .output = true                                                                                    \
    }
#define MAY(...)                                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__, .output = true, .optional = true                                                                  \
    }
static const struct subject subjects[] = {
    { "find", find, true, { KEYS, MAY("values_out", 4, N), MAY("found", 1, N) } },
    { "contains", contains, true, { KEYS, OUT("found", 1, N) } },
    { "count", count, true, { KEYS, HIS, OUT("counts", 4, N) } },
    { "range",
      range,
      true,
      { KEYS, HIS, OUT("offsets", 8, N + 1), MAY("keys_out", 4, ROOM), MAY("values_out", 4, ROOM) } },
    { "seek", seek, true, { KEYS, MAY("keys_out", 4, N), MAY("values_out", 4, N), MAY("found", 1, N) } },
    { "first", first, false, { MAY("key_out", 4, 1), MAY("value_out", 4, 1), MAY("found", 1, 1) } },
    { "last", last, false, { MAY("key_out", 4, 1), MAY("value_out", 4, 1), MAY("found", 1, 1) } },
    { "export", export_all, false, { OUT("keys_out", 4, ROOM), MAY("values_out", 4, ROOM) } },
    { "apply",
      apply,
      true,
      { { "codes", 1, N },
        KEYS,
        HIS,
        VALUES,
        MAY("found", 1, N),
        MAY("keys_out", 4, N),
        MAY("values_out", 4, N),
        MAY("counts", 4, N),
        OUT("offsets", 8, N + 1),
        MAY("range_keys", 4, ROOM),
        MAY("range_values", 4, ROOM) } },
    { "insert", insert, true, { KEYS, VALUES, MAY("inserted", 1, N) } },
    { "upsert", upsert, true, { KEYS, VALUES } },
    { "erase", erase, true, { KEYS } },
    { "build", build, true, { KEYS, VALUES } },
};

/* A subject with arrays to give it: apart, and all in one buffer. */
struct trial {
    struct test          *t;
    const struct subject *subject;
    struct given          good;
    size_t                n;
    struct test_array     array[ARRAYS_MAX], arena;
    struct ordo_slice     slice[ARRAYS_MAX];
};

enum { APART = 4096 }; /* bytes between arrays in the arena */

static void refuse(const struct trial *r, const struct given *g, ordo_status want, const char *what)
{
    test_context(r->t, "%s of a %s: %s", r->subject->name, ordo_dict_name(r->good.dict), what);
    test_status(r->t, r->subject->call(g, r->slice), want);
}

static void bad_values(const struct trial *r)
{
    struct given g = r->good;

    g.dict = NULL;
    refuse(r, &g, ORDO_INVALID, "no dictionary");
    g = r->good;
    if (!r->subject->counted)
        return;
    g.count = ORDO_MAX_COUNT + 1;
    refuse(r, &g, ORDO_TOO_LARGE, "more than a call takes");
    g.count = SIZE_MAX;
    refuse(r, &g, ORDO_TOO_LARGE, "more than there can be");
    g.count = ORDO_MAX_COUNT / 2;
    refuse(r, &g, ORDO_INVALID, "more than the arrays have");
}

/* One array after the other. */
static void bad_arrays(struct trial *r, cl_mem foreign)
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
        for (size_t b = 0; b < LENGTH(bad); b++) {
            if (!bad[b].slice.mem && r->subject->array[i].optional)
                continue;
            r->slice[i] = bad[b].slice;
            (void) snprintf(what, sizeof what, "%s %s", r->subject->array[i].name, bad[b].text);
            refuse(r, &r->good, ORDO_INVALID, what);
        }
        r->slice[i] = was;
    }
}

/* Each output begins where another array ends: at its last element. */
static void overlaps(struct trial *r)
{
    struct ordo_slice apart[ARRAYS_MAX];
    char              what[96];

    memcpy(apart, r->slice, sizeof apart);
    for (size_t i = 0; i < r->n; i++)
        r->slice[i] = ordo_at(r->arena.mem, i * APART / r->array[i].bytes);
    for (size_t out = 0; out < r->n; out++) {
        const struct ordo_slice was = r->slice[out];
        for (size_t i = 0; i < r->n; i++) {
            if (i == out || !r->subject->array[out].output)
                continue;
            const size_t end = i * APART + (r->array[i].count - 1) * r->array[i].bytes;
            r->slice[out] = ordo_at(r->arena.mem, end / r->array[out].bytes);
            (void) snprintf(what, sizeof what, "%s overlaps %s", r->subject->array[out].name,
                            r->subject->array[i].name);
            refuse(r, &r->good, ORDO_INVALID, what);
        }
        r->slice[out] = was;
    }
    memcpy(r->slice, apart, sizeof apart);
}

static void make_arrays(struct trial *r)
{
    uint8_t codes[N];

    for (size_t i = 0; i < N; i++)
        codes[i] = (uint8_t) (i % ORDO_N_CODES);
    r->arena = test_upload(r->t, NULL, (size_t) ARRAYS_MAX * APART, 1, 0);
    for (r->n = 0; r->n < ARRAYS_MAX && r->subject->array[r->n].name; r->n++) {
        const bool   is_codes = strcmp(r->subject->array[r->n].name, "codes") == 0;
        const size_t i = r->n;
        r->array[i] =
            test_upload(r->t, is_codes ? codes : NULL, r->subject->array[i].count, r->subject->array[i].bytes, 3 * i);
        r->slice[i] = test_slice(&r->array[i]);
    }
}

static void expect_untouched(const struct trial *r, const struct test_array *array, const char *name)
{
    const size_t bytes = array->count * array->bytes;
    uint8_t     *got = test_alloc(bytes), *want = test_alloc(bytes);

    memset(want, TEST_EMPTY, bytes);
    test_download(r->t, array, got);
    test_same_bytes(r->t, name, got, want, bytes);
    free(got);
    free(want);
}

static void check_subject(struct test *t, int structure, const struct subject *subject, cl_mem foreign)
{
    struct trial r = { .t = t, .subject = subject, .good = { make_dict(t, t->dev, structure, 0, HELD), N } };

    make_arrays(&r);
    bad_values(&r);
    bad_arrays(&r, foreign);
    overlaps(&r);
    test_context(t, "%s of a %s: after what was refused", subject->name, structure_name[structure]);
    expect_numbers(t, r.good.dict, 0, HELD);
    expect_untouched(&r, &r.arena, "the arena");
    for (size_t i = 0; i < r.n; i++)
        if (subject->array[i].output)
            expect_untouched(&r, &r.array[i], subject->array[i].name);
    refuse(&r, &r.good, ORDO_OK, "what is right is not refused");
    test_ok(t, ordo_device_finish(t->dev));
    for (size_t i = 0; i < r.n; i++)
        test_free(&r.array[i]);
    test_free(&r.arena);
    ordo_dict_destroy(&r.good.dict);
}

static void every_subject(struct test *t)
{
    const cl_device_id id = ordo_device_id(t->dev);
    cl_int             code = CL_SUCCESS;
    cl_context         context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_mem             foreign = clCreateBuffer(context, CL_MEM_READ_WRITE, ROOM * sizeof(uint64_t), NULL, &code);

    test_true(t, code == CL_SUCCESS);
    for (int s = 0; s < N_STRUCTURES; s++)
        for (size_t i = 0; i < LENGTH(subjects); i++)
            check_subject(t, s, &subjects[i], foreign);
    (void) clReleaseMemObject(foreign);
    (void) clReleaseContext(context);
}

Test(dict_arguments, bad_ones_are_refused_and_nothing_happens)
{
    test_each_device(every_subject);
}

/* ---- arguments that single calls have ------------------------------------------------------------------------ */

static void no_dictionary(struct test *t)
{
    uint32_t                     word = 0;
    uint64_t                     offsets[2] = { 0 };
    uint8_t                      flag = 0;
    size_t                       size = 0;
    struct ordo_dict_statistics  statistics;
    const struct ordo_host_batch batch = { .codes = &flag, .keys = &word, .count = 1 };

    test_context(t, "no dictionary");
    test_status(t, ordo_dict_build_host(NULL, &word, &word, 1), ORDO_INVALID);
    test_status(t, ordo_dict_upsert_host(NULL, &word, &word, 1), ORDO_INVALID);
    test_status(t, ordo_dict_insert_host(NULL, &word, &word, 1, &flag), ORDO_INVALID);
    test_status(t, ordo_dict_erase_host(NULL, &word, 1), ORDO_INVALID);
    test_status(t, ordo_dict_find_host(NULL, &word, 1, &word, &flag), ORDO_INVALID);
    test_status(t, ordo_dict_contains_host(NULL, &word, 1, &flag), ORDO_INVALID);
    test_status(t, ordo_dict_count_host(NULL, &word, &word, 1, &word), ORDO_INVALID);
    test_status(t, ordo_dict_range_host(NULL, &word, &word, 1, offsets, &word, &word, 1, &size), ORDO_INVALID);
    test_status(t, ordo_dict_seek_host(NULL, ORDO_LT, &word, 1, &word, &word, &flag), ORDO_INVALID);
    test_status(t, ordo_dict_first_host(NULL, &word, &word, &flag), ORDO_INVALID);
    test_status(t, ordo_dict_last_host(NULL, &word, &word, &flag), ORDO_INVALID);
    test_status(t, ordo_dict_export_host(NULL, &word, &word, 1, &size), ORDO_INVALID);
    test_status(t, ordo_dict_apply_host(NULL, &batch, &size), ORDO_INVALID);
    test_status(t, ordo_dict_clear(NULL), ORDO_INVALID);
    test_status(t, ordo_dict_compact(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_check(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_size(NULL, NULL, &size), ORDO_INVALID);
    test_status(t, ordo_dict_statistics(NULL, NULL, &statistics), ORDO_INVALID);
}

static void host_arguments(struct test *t, ordo_dict *dict)
{
    uint32_t words[2] = { 7, 8 };
    uint64_t offsets[3] = { 0 };
    uint8_t  flags[2] = { 0 };
    size_t   size = 0;

    test_context(t, "host arrays of a %s", ordo_dict_name(dict));
    test_status(t, ordo_dict_build_host(dict, NULL, words, 2), ORDO_INVALID);
    test_status(t, ordo_dict_build_host(dict, words, NULL, 2), ORDO_INVALID);
    test_status(t, ordo_dict_upsert_host(dict, words, NULL, 2), ORDO_INVALID);
    test_status(t, ordo_dict_upsert_host(dict, words, words, ORDO_MAX_COUNT + 1), ORDO_TOO_LARGE);
    test_status(t, ordo_dict_insert_host(dict, NULL, words, 2, flags), ORDO_INVALID);
    test_status(t, ordo_dict_erase_host(dict, NULL, 2), ORDO_INVALID);
    test_status(t, ordo_dict_erase_host(dict, words, SIZE_MAX), ORDO_TOO_LARGE);
    test_status(t, ordo_dict_find_host(dict, NULL, 2, words, flags), ORDO_INVALID);
    test_status(t, ordo_dict_contains_host(dict, words, 2, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_count_host(dict, words, NULL, 2, words), ORDO_INVALID);
    test_status(t, ordo_dict_count_host(dict, words, words, 2, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_range_host(dict, words, words, 2, NULL, words, words, 2, &size), ORDO_INVALID);
    test_status(t, ordo_dict_range_host(dict, words, words, SIZE_MAX, offsets, words, words, 2, &size), ORDO_TOO_LARGE);
    test_status(t, ordo_dict_seek_host(dict, (ordo_relation) 4, words, 2, words, words, flags), ORDO_INVALID);
    test_status(t, ordo_dict_seek_host(dict, (ordo_relation) -1, words, 2, words, words, flags), ORDO_INVALID);
    test_status(t, ordo_dict_export_host(dict, NULL, words, 2, &size), ORDO_INVALID);
    test_status(t, ordo_dict_export_host(dict, words, words, 2, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_apply_host(dict, NULL, &size), ORDO_INVALID);
    test_status(t, ordo_dict_apply(dict, NULL, &size, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_size(dict, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_statistics(dict, NULL, NULL), ORDO_INVALID);
    test_true(t, words[0] == 7 && words[1] == 8);
}

/* Values where there are none. */
static void superfluous_values(struct test *t, int structure)
{
    struct test_array       words_on = test_upload(t, NULL, 8, 4, 1), more_on = test_upload(t, NULL, 8, 4, 1);
    const struct ordo_slice words = test_slice(&words_on), more = test_slice(&more_on);
    ordo_dict              *dict = NULL;
    size_t                  size = 0;

    test_context(t, "values for a %s without", structure_name[structure]);
    test_ok(t, create(t->dev, structure, ORDO_U32, 0, &dict));
    test_status(t, ordo_dict_upsert(dict, words, more, 8, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_insert(dict, words, more, 8, ordo_none(), NULL), ORDO_INVALID);
    test_status(t, ordo_dict_build(dict, words, more, 8, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_find(dict, words, 8, more, ordo_none(), NULL), ORDO_INVALID);
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 0);
    test_ok(t, ordo_dict_upsert(dict, words, ordo_none(), 8, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 1);
    ordo_dict_destroy(&dict);
    test_free(&words_on);
    test_free(&more_on);
}

static void single_calls(struct test *t)
{
    no_dictionary(t);
    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
        host_arguments(t, dict);
        expect_numbers(t, dict, 0, HELD);
        ordo_dict_destroy(&dict);
        superfluous_values(t, s);
    }
}

Test(dict_arguments, each_call_refuses_what_it_cannot_do)
{
    test_each_device(single_calls);
}

/* ---- mixed batches ------------------------------------------------------------------------------------------- */

/* A batch that changes much, but for what the tests make wrong in it. */
struct mixed {
    uint8_t                codes[N], found[N];
    uint32_t               keys[N], his[N], values[N], counts[N], range_keys[ROOM], range_values[ROOM];
    uint64_t               offsets[N + 1];
    struct ordo_host_batch batch;
};

static void make_mixed(struct mixed *m, uint8_t query)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < N; i++) {
        m->codes[i] = i % 3 == 0 ? ORDO_ERASE : i % 3 == 1 ? ORDO_UPSERT : query;
        m->keys[i] = key_of(i);
        m->his[i] = UINT32_MAX;
        m->values[i] = i;
    }
    m->batch = (struct ordo_host_batch) { .codes = m->codes,
                                          .keys = m->keys,
                                          .his = m->his,
                                          .values = m->values,
                                          .count = N,
                                          .found = m->found,
                                          .counts = m->counts,
                                          .offsets = m->offsets,
                                          .range_keys = m->range_keys,
                                          .range_values = m->range_values,
                                          .range_capacity = ROOM };
}

static void refuse_mixed(struct test *t, ordo_dict *dict, const struct mixed *m, const char *what)
{
    test_context(t, "a mixed batch on a %s: %s", ordo_dict_name(dict), what);
    test_status(t, ordo_dict_apply_host(dict, &m->batch, NULL), ORDO_INVALID);
    expect_numbers(t, dict, 0, HELD);
}

static void unknown_codes(struct test *t, ordo_dict *dict)
{
    static const size_t  places[] = { 0, 1, 32, N - 1 };
    static const uint8_t codes[] = { ORDO_N_CODES, 64, 128, 255 };
    struct mixed         m;

    for (size_t p = 0; p < LENGTH(places); p++)
        for (size_t c = 0; c < LENGTH(codes); c++) {
            make_mixed(&m, ORDO_FIND);
            m.codes[places[p]] = codes[c];
            refuse_mixed(t, dict, &m, "an unknown code");
        }
    make_mixed(&m, ORDO_FIND);
    memset(m.codes, 77, sizeof m.codes);
    refuse_mixed(t, dict, &m, "unknown codes only");
}

static void missing_arrays(struct test *t, ordo_dict *dict)
{
    struct mixed m;

    make_mixed(&m, ORDO_COUNT);
    m.batch.his = NULL;
    refuse_mixed(t, dict, &m, "counts without upper bounds");
    make_mixed(&m, ORDO_RANGE);
    m.batch.his = NULL;
    refuse_mixed(t, dict, &m, "ranges without upper bounds");
    make_mixed(&m, ORDO_RANGE);
    m.batch.offsets = NULL;
    refuse_mixed(t, dict, &m, "ranges without offsets");
    make_mixed(&m, ORDO_FIND);
    m.batch.values = NULL;
    refuse_mixed(t, dict, &m, "upserts without values");
    make_mixed(&m, ORDO_FIND);
    memset(m.codes, ORDO_INSERT, sizeof m.codes);
    m.batch.values = NULL;
    refuse_mixed(t, dict, &m, "inserts without values");
    make_mixed(&m, ORDO_FIND);
    m.batch.codes = NULL;
    refuse_mixed(t, dict, &m, "no codes");
    make_mixed(&m, ORDO_FIND);
    m.batch.keys = NULL;
    refuse_mixed(t, dict, &m, "no keys");
}

static void little_room(struct test *t, ordo_dict *dict)
{
    struct model model = model_empty(ORDO_U32, 4);
    struct mixed m, want;
    size_t       needed = 0, room = 0;

    model_fill(&model, 0, HELD);
    make_mixed(&m, ORDO_FIND);
    m.codes[N - 1] = m.codes[N / 2] = m.codes[3] = ORDO_RANGE;
    m.keys[N - 1] = m.keys[N / 2] = m.keys[3] = 1000;
    memcpy(&want, &m, sizeof want);
    room = model_room(&model, &m.batch);
    test_true(t, room > 20 && room <= ROOM);
    for (size_t capacity = 0; capacity < room; capacity += capacity + 1 < room ? room - 1 : 1) {
        test_context(t, "a mixed batch on a %s: room for %zu of %zu", ordo_dict_name(dict), capacity, room);
        m.batch.range_capacity = capacity;
        test_status(t, ordo_dict_apply_host(dict, &m.batch, &needed), ORDO_TOO_SMALL);
        test_true(t, needed == room);
        test_status(t, ordo_dict_apply_host(dict, &m.batch, NULL), ORDO_TOO_SMALL);
        expect_numbers(t, dict, 0, HELD);
    }
    m.batch.range_capacity = room;
    test_ok(t, ordo_dict_apply_host(dict, &m.batch, &needed));
    test_true(t, needed == room);
    want.batch.offsets = want.offsets;
    want.batch.found = want.found;
    want.batch.counts = want.counts;
    want.batch.range_keys = want.range_keys;
    want.batch.range_values = want.range_values;
    (void) model_apply(&model, &want.batch);
    test_same(t, "offsets", ORDO_U64, m.offsets, want.offsets, N + 1);
    test_same(t, "range_keys", ORDO_U32, m.range_keys, want.range_keys, ROOM);
    test_same(t, "range_values", ORDO_U32, m.range_values, want.range_values, ROOM);
    test_same_bytes(t, "found", m.found, want.found, N);
    expect_content(t, dict, &model);
    model_free(&model);
}

static void mixed_batches(struct test *t)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
        unknown_codes(t, dict);
        missing_arrays(t, dict);
        little_room(t, dict);
        ordo_dict_destroy(&dict);
    }
}

Test(dict_arguments, a_mixed_batch_is_refused_as_a_whole)
{
    test_each_device(mixed_batches);
}

/* ---- order between calls ------------------------------------------------------------------------------------- */

static cl_command_queue make_queue(const struct test *t, cl_command_queue_properties properties)
{
    const cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, properties, 0 };
    cl_int                    code = CL_SUCCESS;
    cl_command_queue          queue =
        clCreateCommandQueueWithProperties(ordo_device_context(t->dev), ordo_device_id(t->dev), list, &code);

    return code == CL_SUCCESS ? queue : NULL;
}

static cl_int state_of(cl_event event)
{
    cl_int state = CL_QUEUED;

    (void) clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state;
}

/* Every call that is given arrays and an order, with no operations. */
static ordo_status call_nothing(ordo_dict *dict, int which, struct ordo_slice offsets, const struct ordo_order *order)
{
    const struct ordo_slice none = ordo_none();
    const struct ordo_batch batch = { .count = 0 };

    switch (which) {
    case 0:
        return ordo_dict_upsert(dict, none, none, 0, order);
    case 1:
        return ordo_dict_insert(dict, none, none, 0, none, order);
    case 2:
        return ordo_dict_erase(dict, none, 0, order);
    case 3:
        return ordo_dict_find(dict, none, 0, none, none, order);
    case 4:
        return ordo_dict_contains(dict, none, 0, none, order);
    case 5:
        return ordo_dict_count(dict, none, none, 0, none, order);
    case 6:
        return ordo_dict_seek(dict, ORDO_LE, none, 0, none, none, none, order);
    case 7:
        return ordo_dict_range(dict, none, none, 0, offsets, none, none, 0, NULL, order);
    default:
        return ordo_dict_apply(dict, &batch, NULL, order);
    }
}

static void check_nothing(struct test *t, int structure)
{
    ordo_dict        *dict = make_dict(t, t->dev, structure, 0, HELD);
    struct test_array offsets = test_upload(t, NULL, 1, 8, 2);
    cl_int            code = CL_SUCCESS;

    for (int which = 0; which < 9; which++) {
        cl_event                go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
        const struct ordo_order order = { .n_wait = 1, .wait = &go, .done = &done };
        test_context(t, "call %d of no operations on a %s", which, structure_name[structure]);
        test_ok(t, call_nothing(dict, which, test_slice(&offsets), &order));
        test_true(t, done != NULL && state_of(done) != CL_COMPLETE);
        test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
        (void) clReleaseEvent(go);
        (void) clReleaseEvent(done);
        test_ok(t, call_nothing(dict, which, test_slice(&offsets), NULL));
        if (which == 7)
            test_expect(t, ORDO_U64, &offsets, &(uint64_t) { 0 }, 1);
    }
    expect_numbers(t, dict, 0, HELD);
    test_free(&offsets);
    ordo_dict_destroy(&dict);
}

/* Updates and a query on queues in turn, nothing waited for in between; the first update waits for an event. */
static void check_turns(struct test *t, const cl_command_queue queue[3])
{
    enum { COUNT = 5000 };
    struct model model = model_empty(ORDO_U32, 4);
    uint32_t    *keys = test_alloc(COUNT * sizeof *keys), *values = test_alloc(COUNT * sizeof *values);
    uint8_t     *found = test_alloc(COUNT), *want = test_alloc(COUNT);
    cl_int       code = CL_SUCCESS;
    cl_event     go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
    ordo_dict   *dict = NULL;

    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = key_of(i);
        values[i] = value_of(i);
        want[i] = i >= COUNT / 3;
    }
    struct test_array keys_on = test_upload(t, keys, COUNT, 4, 1), values_on = test_upload(t, values, COUNT, 4, 5),
                      found_on = test_upload(t, NULL, COUNT, 1, 3);
    const struct ordo_order orders[] = { { .queue = queue[0], .n_wait = 1, .wait = &go },
                                         { .queue = queue[1] },
                                         { .queue = queue[2], .done = &done } };

    test_ok(t, create(t->dev, LSM, ORDO_U32, 4, &dict)); /* whose updates do not wait */
    test_ok(t, ordo_dict_upsert(dict, test_slice(&keys_on), test_slice(&values_on), COUNT, &orders[0]));
    test_ok(t, ordo_dict_erase(dict, test_slice(&keys_on), COUNT / 3, &orders[1]));
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys_on), COUNT, test_slice(&found_on), &orders[2]));
    test_true(t, done != NULL && state_of(done) != CL_COMPLETE);
    test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
    test_download(t, &found_on, found);
    test_same_bytes(t, "found", found, want, COUNT);
    model_batch(&model, ORDO_UPSERT, keys, values, COUNT);
    model_batch(&model, ORDO_ERASE, keys, NULL, COUNT / 3);
    expect_content(t, dict, &model);

    model_free(&model);
    ordo_dict_destroy(&dict);
    (void) clReleaseEvent(go);
    (void) clReleaseEvent(done);
    test_free(&keys_on);
    test_free(&values_on);
    test_free(&found_on);
    free(keys);
    free(values);
    free(found);
    free(want);
}

static void turns(struct test *t)
{
    cl_command_queue own = make_queue(t, 0), other = make_queue(t, 0),
                     loose = make_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

    test_true(t, own && other);
    test_context(t, "the device's queue");
    check_turns(t, (const cl_command_queue[3]) { NULL, NULL, NULL });
    test_context(t, "two queues in turn");
    check_turns(t, (const cl_command_queue[3]) { own, other, own });
    test_context(t, "a queue, the device's, another");
    check_turns(t, (const cl_command_queue[3]) { own, NULL, other });
    if (loose) {
        test_context(t, "an out-of-order queue");
        check_turns(t, (const cl_command_queue[3]) { loose, loose, loose });
        test_context(t, "an out-of-order queue and another");
        check_turns(t, (const cl_command_queue[3]) { loose, own, loose });
        (void) clReleaseCommandQueue(loose);
    }
    (void) clReleaseCommandQueue(own);
    (void) clReleaseCommandQueue(other);
}

Test(dict_arguments, calls_on_several_queues_come_in_their_order)
{
    test_each_device(turns);
}

static void nothing_to_do(struct test *t)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        check_nothing(t, s);
}

Test(dict_arguments, no_operations_signal_done)
{
    test_each_device(nothing_to_do);
}

static void bad_orders(struct test *t)
{
    const cl_device_id id = ordo_device_id(t->dev);
    cl_int             code = CL_SUCCESS;
    cl_context         context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cl_command_queue   foreign = clCreateCommandQueueWithProperties(context, id, NULL, &code);
    cl_event           done = NULL;
    struct test_array  words = test_upload(t, NULL, N, 4, 1), more = test_upload(t, NULL, N, 4, 1),
                      found = test_upload(t, NULL, N, 1, 0);

    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict              *dict = make_dict(t, t->dev, s, 0, HELD);
        const struct ordo_order bad[] = { { .queue = foreign, .done = &done }, { .n_wait = 1, .done = &done } };
        size_t                  size = 0;
        for (size_t b = 0; b < LENGTH(bad); b++) {
            test_context(t, "bad order %zu on a %s", b, structure_name[s]);
            test_status(t, ordo_dict_upsert(dict, test_slice(&words), test_slice(&more), N, &bad[b]), ORDO_INVALID);
            test_status(t, ordo_dict_erase(dict, test_slice(&words), N, &bad[b]), ORDO_INVALID);
            test_status(t, ordo_dict_contains(dict, test_slice(&words), N, test_slice(&found), &bad[b]), ORDO_INVALID);
            test_status(t, ordo_dict_compact(dict, &bad[b]), ORDO_INVALID);
            test_status(t, ordo_dict_check(dict, &bad[b]), ORDO_INVALID);
            test_status(t, ordo_dict_size(dict, &bad[b], &size), ORDO_INVALID);
            test_true(t, done == NULL);
        }
        expect_numbers(t, dict, 0, HELD);
        ordo_dict_destroy(&dict);
    }
    test_free(&words);
    test_free(&more);
    test_free(&found);
    (void) clReleaseCommandQueue(foreign);
    (void) clReleaseContext(context);
}

Test(dict_arguments, bad_orders_are_refused)
{
    test_each_device(bad_orders);
}

/* ---- threads and forks --------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 8, SHARE = 700 };

struct worker {
    ordo_dict  *dict;
    uint32_t    first; /* of the thread's own numbers */
    ordo_status status;
    int         wrong;
};

/* Stores and erases keys that no other thread has, and looks at them. */
static void *work(void *argument)
{
    struct worker *w = argument;
    uint32_t       keys[SHARE], values[SHARE], got[SHARE];
    uint8_t        found[SHARE];

    for (uint32_t round = 0; round < ROUNDS && w->status == ORDO_OK; round++) {
        for (uint32_t i = 0; i < SHARE; i++) {
            keys[i] = key_of(w->first + i);
            values[i] = value_of(w->first + i) + (round + 1 < ROUNDS ? round + 1 : 0);
        }
        w->status = ordo_dict_upsert_host(w->dict, keys, values, SHARE);
        if (w->status == ORDO_OK)
            w->status = ordo_dict_find_host(w->dict, keys, SHARE, got, found);
        for (uint32_t i = 0; i < SHARE; i++)
            w->wrong += found[i] != 1 || got[i] != values[i];
        if (w->status == ORDO_OK && round + 1 < ROUNDS)
            w->status = ordo_dict_erase_host(w->dict, keys, SHARE);
        if (w->status == ORDO_OK)
            w->status = ordo_dict_contains_host(w->dict, keys, SHARE, found);
        for (uint32_t i = 0; i < SHARE; i++)
            w->wrong += found[i] != (round + 1 == ROUNDS);
    }
    return NULL;
}

static void threads(struct test *t)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict    *dict = make_dict(t, t->dev, s, 0, 3000);
        pthread_t     thread[THREADS];
        struct worker workers[THREADS];
        test_context(t, "%d threads on a %s", (int) THREADS, structure_name[s]);
        for (uint32_t i = 0; i < THREADS; i++) {
            workers[i] = (struct worker) { dict, 3000 + i * SHARE, ORDO_OK, 0 };
            test_true(t, pthread_create(&thread[i], NULL, work, &workers[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            test_true(t, pthread_join(thread[i], NULL) == 0);
        for (int i = 0; i < THREADS; i++) {
            test_ok(t, workers[i].status);
            test_true(t, workers[i].wrong == 0);
        }
        expect_numbers(t, dict, 0, 3000 + THREADS * SHARE);
        ordo_dict_destroy(&dict);
    }
}

Test(dict_arguments, threads_may_share_a_dictionary)
{
    test_each_device(threads);
}

/* In the child: its exit status says which expectation failed. */
static int child_of_fork(ordo_dict *dict)
{
    uint32_t          words[2] = { 5, 6 };
    uint8_t           flags[2] = { 0 };
    size_t            size = 0;
    const ordo_status got[] = {
        ordo_dict_upsert_host(dict, words, words, 2),
        ordo_dict_find_host(dict, words, 2, words, flags),
        ordo_dict_size(dict, NULL, &size),
        ordo_dict_compact(dict, NULL),
        ordo_dict_check(dict, NULL),
        ordo_dict_clear(dict),
    };
    for (int i = 0; i < (int) LENGTH(got); i++)
        if (got[i] != ORDO_FORKED)
            return 1 + i;
    ordo_dict_destroy(&dict);
    return dict ? 20 : 0;
}

static void forks(struct test *t)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
        int        status = 0;
        test_context(t, "a child of fork with a %s", structure_name[s]);
        const pid_t child = fork();
        if (child == 0)
            _exit(child_of_fork(dict));
        test_true(t, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) != 0)
            test_fail(t, __FILE__, __LINE__, "expectation %d of the child does not hold", WEXITSTATUS(status));
        expect_numbers(t, dict, 0, HELD);
        ordo_dict_destroy(&dict);
    }
}

Test(dict_arguments, after_fork_every_call_says_so)
{
    test_each_device(forks);
}

/* ---- too little memory --------------------------------------------------------------------------------------- */

enum { OLD = 20000, NEW = 4000, ASKED = 3000 };

/* A dictionary of more than one run where the structure has such, the batch that comes next, and the model. */
struct memory_case {
    struct test      *t;
    ordo_device      *dev;
    ordo_dict        *dict;
    struct model      model, after;
    struct test_array keys, his, values, codes, out_keys, out_values, found, counts, offsets;
};

static void prepare(struct memory_case *m, struct test *t, ordo_device *dev, int structure)
{
    static uint32_t keys[NEW], his[NEW], values[NEW];
    static uint8_t  codes[NEW];

    *m = (struct memory_case) { .t = t, .dev = dev, .model = model_empty(ORDO_U32, 4) };
    m->dict = make_dict(t, dev, structure, 0, OLD);
    model_fill(&m->model, 0, OLD);
    for (uint32_t i = 0; i < NEW; i++) {
        keys[i] = key_of(i * 7);
        values[i] = i;
    }
    test_ok(t, ordo_dict_upsert_host(m->dict, keys, values, NEW));
    test_ok(t, ordo_dict_erase_host(m->dict, keys, NEW / 4));
    model_batch(&m->model, ORDO_UPSERT, keys, values, NEW);
    model_batch(&m->model, ORDO_ERASE, keys, NULL, NEW / 4);
    for (uint32_t i = 0; i < NEW; i++) {
        keys[i] = key_of(i * 11);
        his[i] = keys[i] + 1000000;
        values[i] = i + 5;
        codes[i] = (uint8_t) (i % ORDO_N_CODES);
    }
    m->keys = test_upload(t, keys, NEW, 4, 1);
    m->his = test_upload(t, his, NEW, 4, 1);
    m->values = test_upload(t, values, NEW, 4, 1);
    m->codes = test_upload(t, codes, NEW, 1, 1);
    m->out_keys = test_upload(t, NULL, 4 * (size_t) OLD, 4, 1);
    m->out_values = test_upload(t, NULL, 4 * (size_t) OLD, 4, 1);
    m->found = test_upload(t, NULL, NEW, 1, 1);
    m->counts = test_upload(t, NULL, NEW, 4, 1);
    m->offsets = test_upload(t, NULL, NEW + 1, 8, 1);
}

static void finish(struct memory_case *m)
{
    ordo_dict_destroy(&m->dict);
    test_ok(m->t, ordo_device_finish(m->dev));
    model_free(&m->model);
    test_free(&m->keys);
    test_free(&m->his);
    test_free(&m->values);
    test_free(&m->codes);
    test_free(&m->out_keys);
    test_free(&m->out_values);
    test_free(&m->found);
    test_free(&m->counts);
    test_free(&m->offsets);
}

static ordo_status apply_in_case(struct memory_case *m)
{
    const struct ordo_batch batch = { .codes = test_slice(&m->codes),
                                      .keys = test_slice(&m->keys),
                                      .his = test_slice(&m->his),
                                      .values = test_slice(&m->values),
                                      .count = NEW,
                                      .found = test_slice(&m->found),
                                      .counts = test_slice(&m->counts),
                                      .offsets = test_slice(&m->offsets),
                                      .range_keys = test_slice(&m->out_keys),
                                      .range_values = test_slice(&m->out_values),
                                      .range_capacity = 4 * (size_t) OLD };
    return ordo_dict_apply(m->dict, &batch, NULL, NULL);
}

enum { MEMORY_CALLS = 13 };

static ordo_status call_in_case(struct memory_case *m, int which)
{
    const struct ordo_slice     keys = test_slice(&m->keys), values = test_slice(&m->values);
    const struct ordo_slice     out_keys = test_slice(&m->out_keys), out_values = test_slice(&m->out_values);
    struct ordo_dict_statistics statistics;
    size_t                      size = 0;

    switch (which) {
    case 0:
        return ordo_dict_upsert(m->dict, keys, values, NEW, NULL);
    case 1:
        return ordo_dict_insert(m->dict, keys, values, NEW, test_slice(&m->found), NULL);
    case 2:
        return ordo_dict_erase(m->dict, keys, NEW, NULL);
    case 3:
        return ordo_dict_build(m->dict, keys, values, NEW, NULL);
    case 4:
        return apply_in_case(m);
    case 5:
        return ordo_dict_compact(m->dict, NULL);
    case 6:
        return ordo_dict_find(m->dict, keys, NEW, out_values, ordo_none(), NULL);
    case 7:
        return ordo_dict_count(m->dict, keys, test_slice(&m->his), NEW, test_slice(&m->counts), NULL);
    case 8:
        return ordo_dict_range(m->dict, keys, test_slice(&m->his), NEW, test_slice(&m->offsets), out_keys, out_values,
                               4 * (size_t) OLD, NULL, NULL);
    case 9:
        return ordo_dict_seek(m->dict, ORDO_GT, keys, NEW, out_keys, out_values, ordo_none(), NULL);
    case 10:
        return ordo_dict_export(m->dict, out_keys, out_values, 4 * (size_t) OLD, &size, NULL);
    case 11:
        return ordo_dict_check(m->dict, NULL);
    default:
        return ordo_dict_statistics(m->dict, NULL, &statistics);
    }
}

/* What the call changes, in the model. */
static void model_in_case(struct memory_case *m, int which)
{
    static const ordo_code code[] = { ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_UPSERT };
    uint32_t              *keys = test_alloc(NEW * 4), *his = test_alloc(NEW * 4), *values = test_alloc(NEW * 4);
    uint8_t               *codes = test_alloc(NEW);

    test_download(m->t, &m->keys, keys);
    test_download(m->t, &m->his, his);
    test_download(m->t, &m->values, values);
    test_download(m->t, &m->codes, codes);
    if (which == 3)
        model_clear(&m->model);
    if (which < 4)
        model_batch(&m->model, code[which], keys, values, NEW);
    else if (which == 4)
        (void) model_apply(&m->model, &(struct ordo_host_batch) {
                                          .codes = codes, .keys = keys, .his = his, .values = values, .count = NEW });
    free(keys);
    free(his);
    free(values);
    free(codes);
}

/* The call with `more` bytes than it held before; returns whether they were enough. */
static bool try_with(struct test *t, ordo_device *dev, int structure, int which, uint64_t more)
{
    struct memory_case m;
    struct ordo_memory memory;

    prepare(&m, t, dev, structure);
    test_context(t, "call %d on a %s with %llu bytes more", which, structure_name[structure],
                 (unsigned long long) more);
    test_ok(t, ordo_device_finish(dev));
    test_ok(t, ordo_device_trim(dev));
    test_ok(t, ordo_device_memory(dev, &memory));
    const uint64_t unlimited = dev->memory_limit;
    dev->memory_limit = memory.held_bytes + more;
    const ordo_status got = call_in_case(&m, which);
    test_ok(t, ordo_device_memory(dev, &memory));
    test_true(t, memory.held_bytes <= dev->memory_limit);
    dev->memory_limit = unlimited;
    test_ok(t, ordo_device_finish(dev));
    if (got != ORDO_NO_DEVICE_MEMORY)
        test_ok(t, got);
    if (got == ORDO_OK)
        model_in_case(&m, which);
    expect_content(t, m.dict, &m.model);
    finish(&m);
    return got == ORDO_OK;
}

static void little_memory(struct test *t)
{
    ordo_device *dev = test_open_again(t);

    for (int s = 0; s < N_STRUCTURES; s++)
        for (int which = 0; which < MEMORY_CALLS; which++) {
            uint64_t more = 0;
            while (!try_with(t, dev, s, which, more) && more < (64u << 20))
                more += more / 2 + 4096;
            test_true(t, more < (64u << 20));
            test_true(t, more > 0 || which >= 5); /* what needs no memory cannot run out of it */
        }
    ordo_device_close(&dev);
}

Test(dict_arguments, too_little_memory_changes_nothing)
{
    test_each_device(little_memory);
}

/* ---- what dictionaries say about themselves ------------------------------------------------------------------ */

static struct ordo_dict_statistics statistics_of(struct test *t, ordo_dict *dict)
{
    struct ordo_dict_statistics s;

    memset(&s, 0x77, sizeof s);
    test_ok(t, ordo_dict_statistics(dict, NULL, &s));
    return s;
}

static size_t bytes_now(const struct ordo_dict_statistics *s)
{
    return s->bytes_data + s->bytes_index + s->bytes_marks + s->bytes_spare;
}

static void expect_elements(struct test *t, const struct ordo_dict_statistics *s, size_t elements, size_t stale,
                            size_t tombstones, size_t runs)
{
    if (s->elements != elements || s->stale != stale || s->tombstones != tombstones || s->runs != runs)
        test_fail(t, __FILE__, __LINE__,
                  "the statistics say %zu elements, %zu stale, %zu tombstones, %zu runs; not %zu, %zu, %zu, %zu",
                  s->elements, s->stale, s->tombstones, s->runs, elements, stale, tombstones, runs);
    test_true(t, s->bytes_data == (elements + stale + tombstones) * 8);
    test_true(t, s->bytes_peak >= bytes_now(s));
}

/* Writes keys of the numbers from `from` on. */
static void number_keys(uint32_t *keys, uint32_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        keys[i] = key_of(from + i);
}

/* Sizes of which none is merged with another, on any device. */
enum { STORED = 400000, REPLACED = 60000, ERASED = 15000, ABSENT = 4000 };

static void check_statistics(struct test *t, int structure)
{
    uint32_t                   *keys = test_alloc(STORED * sizeof *keys);
    ordo_dict                  *dict = NULL;
    struct ordo_dict_statistics s;

    test_context(t, "statistics of a %s", structure_name[structure]);
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    s = statistics_of(t, dict);
    expect_elements(t, &s, 0, 0, 0, 0);
    test_true(t, bytes_now(&s) == 0 && s.bytes_peak == 0 && s.cleanups == 0);

    number_keys(keys, 0, STORED);
    test_ok(t, ordo_dict_build_host(dict, keys, keys, STORED));
    s = statistics_of(t, dict);
    expect_elements(t, &s, STORED, 0, 0, 1);
    number_keys(keys, 1000, REPLACED);
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, REPLACED));
    s = statistics_of(t, dict);
    expect_elements(t, &s, STORED, structure == LSM ? REPLACED : 0, 0, structure == LSM ? 2 : 1);
    number_keys(keys, STORED - ERASED, ERASED);
    test_ok(t, ordo_dict_erase_host(dict, keys, ERASED));
    s = statistics_of(t, dict);
    if (structure == LSM)
        expect_elements(t, &s, STORED - ERASED, REPLACED + ERASED, ERASED, 3);
    else
        expect_elements(t, &s, STORED - ERASED, 0, 0, 1);
    number_keys(keys, STORED, ABSENT);
    test_ok(t, ordo_dict_erase_host(dict, keys, ABSENT));
    s = statistics_of(t, dict);
    if (structure == LSM) /* the runs of tombstones may be one by now */
        expect_elements(t, &s, STORED - ERASED, REPLACED + ERASED, ERASED + ABSENT, s.runs);
    else
        expect_elements(t, &s, STORED - ERASED, 0, 0, 1);

    test_ok(t, ordo_dict_compact(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, &s, STORED - ERASED, 0, 0, 1);
    test_true(t, s.cleanups == (structure == LSM));
    test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 + s.elements * 4 / 100 * 8);
    ordo_dict_destroy(&dict);
    free(keys);
}

static void all_statistics(struct test *t)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        check_statistics(t, s);
}

Test(dict_arguments, statistics_count_what_is_stored)
{
    test_each_device(all_statistics);
}

/* Policies count cleanups; off, there are none. */
static void policies(struct test *t)
{
    static const struct {
        bool     doubled;
        uint32_t percent;
        bool     cleans_new, cleans_same; /* up when keys are new; when they are the same again and again */
    } policy[] = { { false, 0, false, false }, { true, 0, true, true }, { false, 30, false, true } };
    enum { BATCH = 2000, BATCHES = 20 };
    static uint32_t keys[BATCH];

    for (size_t p = 0; p < LENGTH(policy); p++)
        for (int same = 0; same < 2; same++) {
            const struct ordo_lsm_config config = { .dict = { ORDO_U32, 4 },
                                                    .cleanup_doubled = policy[p].doubled,
                                                    .cleanup_stale_percent = policy[p].percent,
                                                    .cleanup_least = 1000 };
            ordo_dict                   *dict = NULL;
            test_context(t, "cleanup policy %zu, keys %s", p, same ? "the same" : "new");
            test_ok(t, ordo_lsm_create(t->dev, &config, &dict));
            for (uint32_t b = 0; b < BATCHES; b++) {
                number_keys(keys, same ? 0 : b * BATCH, BATCH);
                test_ok(t, ordo_dict_upsert_host(dict, keys, keys, BATCH));
            }
            const struct ordo_dict_statistics s = statistics_of(t, dict);
            test_true(t, s.elements == (same ? BATCH : BATCH * BATCHES));
            test_true(t, (s.cleanups > 0) == (same ? policy[p].cleans_same : policy[p].cleans_new));
            test_ok(t, ordo_dict_check(dict, NULL));
            ordo_dict_destroy(&dict);
        }
}

Test(dict_arguments, cleanup_follows_its_policy)
{
    test_each_device(policies);
}

static uint64_t held_by(struct test *t, ordo_device *dev)
{
    struct ordo_memory memory;

    test_ok(t, ordo_device_finish(dev));
    test_ok(t, ordo_device_trim(dev));
    test_ok(t, ordo_device_memory(dev, &memory));
    return memory.held_bytes;
}

static void memory_goes_back(struct test *t)
{
    ordo_device *dev = test_open_again(t);

    for (int s = 0; s < N_STRUCTURES; s++) {
        test_context(t, "memory of a %s", structure_name[s]);
        const uint64_t before = held_by(t, dev);
        ordo_dict     *dict = make_dict(t, dev, s, 0, 50000);
        uint32_t       keys[1000];
        number_keys(keys, 0, 1000);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, 1000));
        test_ok(t, ordo_dict_erase_host(dict, keys, 500));
        test_true(t, held_by(t, dev) >= before + 50000 * 8);
        test_ok(t, ordo_dict_clear(dict));
        const struct ordo_dict_statistics is = statistics_of(t, dict);
        test_true(t, is.elements == 0 && bytes_now(&is) == 0 && is.bytes_peak >= 50000 * 8);
        test_true(t, held_by(t, dev) == before);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, 1000));
        test_true(t, held_by(t, dev) > before);
        ordo_dict_destroy(&dict);
        test_true(t, held_by(t, dev) == before);
    }
    ordo_device_close(&dev);
}

Test(dict_arguments, clear_and_destroy_give_memory_back)
{
    test_each_device(memory_goes_back);
}
