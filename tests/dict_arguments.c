/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of dictionaries: each is refused with its status, and nothing happens. */
#include "dict_case.h"

#include <stdio.h>

enum { HELD = 50 }; /* elements of the dictionaries */

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

enum { ARRAYS_MAX = 11, ROOM = 300 };
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
