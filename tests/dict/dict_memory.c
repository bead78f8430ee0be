/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of dictionaries: what they do with too little, what they say they hold, what they give back. */
#include "dict_case.h"

#include "dict/runs/runs.h"
#include "runtime/device_private.h"

/* ---- too little memory --------------------------------------------------------------------------------------- */

enum { OLD = 20000, NEW = 4000, ASKED = 3000 };

/* A dictionary of more than one run where the structure has such, the batch that comes next, and the model. */
struct memory_case {
    struct test      *t;
    ordo_device      *dev;
    ordo_dict        *dict;
    struct model      model;
    struct test_array keys, his, values, codes, out_keys, out_values, found, counts, offsets;
};

static void prepare(struct memory_case *m, struct test *t, ordo_device *dev, int structure, const struct model *old)
{
    static uint32_t keys[NEW], his[NEW], values[NEW];
    static uint8_t  codes[NEW];

    *m = (struct memory_case) { .t = t, .dev = dev, .model = model_copy(old) };
    m->dict = make_dict(t, dev, structure, 0, OLD);
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

enum { FIRST_QUERY = 6, CLEANUP = 14, MEMORY_CALLS };

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
    case 12:
        return ordo_dict_size(m->dict, NULL, &size);
    case CLEANUP:
        return ordo_lsm_cleanup(m->dict, NULL);
    default:
        return ordo_dict_statistics(m->dict, NULL, &statistics);
    }
}

/* What the call changes, in the model. */
static void model_in_case(struct memory_case *m, int which)
{
    static const ordo_code code[] = { ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_UPSERT };
    uint32_t              *keys = test_alloc(NEW * sizeof(uint32_t)), *his = test_alloc(NEW * sizeof(uint32_t)),
             *values = test_alloc(NEW * sizeof(uint32_t));
    uint8_t *codes = test_alloc(NEW);

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

/* What there is too little of. */
enum scarce { IN_ALL, AT_ONCE };

/* The call with `more` bytes than it held before, or with allocations of up to `more` bytes; returns whether they were
 * enough. */
static bool try_with(struct test *t, ordo_device *dev, const struct model *old, int structure, int which,
                     enum scarce scarce, uint64_t more)
{
    struct memory_case m;
    struct ordo_memory memory;

    prepare(&m, t, dev, structure, old);
    test_context(t, "call %d on a %s with %llu bytes %s", which, structures[structure].word, (unsigned long long) more,
                 scarce == IN_ALL ? "more" : "at once");
    test_ok(t, ordo_device_finish(dev));
    test_ok(t, ordo_device_trim(dev));
    test_ok(t, ordo_device_memory(dev, &memory));
    const uint64_t unlimited = dev->memory_limit, largest = dev->facts.max_alloc_bytes;
    if (scarce == IN_ALL)
        dev->memory_limit = memory.held_bytes + more;
    else
        dev->facts.max_alloc_bytes = more;
    const ordo_status got = call_in_case(&m, which);
    test_ok(t, ordo_device_memory(dev, &memory));
    test_true(t, memory.held_bytes <= dev->memory_limit);
    dev->memory_limit = unlimited;
    dev->facts.max_alloc_bytes = largest;
    test_ok(t, ordo_device_finish(dev));
    if (got != (scarce == IN_ALL ? ORDO_NO_DEVICE_MEMORY : ORDO_TOO_LARGE))
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
    struct model old = model_empty(ORDO_U32, 4);

    model_fill(&old, 0, OLD);
    for (int s = 0; s < N_CONFIGURED; s++)
        for (int which = 0; which < MEMORY_CALLS; which++) {
            uint64_t more = 0;
            if (which == CLEANUP && !structure_is(s, KEEPS_STALE))
                continue;
            while (!try_with(t, dev, &old, s, which, IN_ALL, more) && more < (64u << 20))
                more += more / 2 + 4096;
            test_true(t, more < (64u << 20));
            /* What needs no memory cannot run out of it; nor what an LSM has in spare blocks. */
            test_true(t, more > 0 || which >= 5 || structure_is(s, KEEPS_STALE));
        }
    model_free(&old);
    ordo_device_close(&dev);
}

Test(dict_memory, too_little_memory_changes_nothing)
{
    test_each_device(little_memory);
}

/* Queries ask for no more at once than a few bytes a query, however large the runs or the tree are. */
static void small_allocations(struct test *t)
{
    ordo_device *dev = test_open_again(t);
    struct model old = model_empty(ORDO_U32, 4);

    model_fill(&old, 0, OLD);
    for (int s = 0; s < N_CONFIGURED; s++)
        for (int which = 0; which < MEMORY_CALLS; which++) {
            uint64_t largest = 1024;
            if (which == CLEANUP && !structure_is(s, KEEPS_STALE))
                continue;
            while (!try_with(t, dev, &old, s, which, AT_ONCE, largest) && largest < (16u << 20))
                largest *= 4;
            test_true(t, largest <= (which < FIRST_QUERY ? 4u << 20 : 64u << 10));
        }
    model_free(&old);
    ordo_device_close(&dev);
}

Test(dict_memory, a_small_largest_allocation_changes_nothing)
{
    test_each_device(small_allocations);
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

/* Elements from .. end - 1 are there with these values, those before are not. */
static void expect_found(struct test *t, ordo_dict *dict, uint32_t from, uint32_t end, const uint32_t *values)
{
    uint32_t *keys = test_alloc(end * sizeof *keys), *found_values = test_alloc(end * sizeof *found_values);
    uint8_t  *found = test_alloc(end);

    number_keys(keys, 0, end);
    test_ok(t, ordo_dict_find_host(dict, keys, end, found_values, found));
    for (uint32_t i = 0; i < end; i++)
        if (found[i] != (i >= from) || (found[i] && found_values[i] != values[i]))
            test_fail(t, __FILE__, __LINE__, "element %u is %sfound, with %u", i, found[i] ? "" : "not ",
                      found_values[i]);
    free(keys);
    free(found_values);
    free(found);
}

/* Sizes of which none is merged with another, on any device. */
enum { STORED = 400000, REPLACED = 60000, ERASED = 15000, ABSENT = 4000 };
enum { FEW_BYTES = 4 << 20 }; /* of spare blocks that are not worth giving back */

static void check_statistics(struct test *t, int structure)
{
    uint32_t                   *keys = test_alloc(STORED * sizeof *keys);
    ordo_dict                  *dict = NULL;
    struct ordo_dict_statistics s;

    const bool   stale = structure_is(structure, KEEPS_STALE), tree = structure_is(structure, IS_TREE);
    const size_t run = structure_is(structure, HAS_RUNS);

    test_context(t, "statistics of a %s", structures[structure].name);
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    s = statistics_of(t, dict);
    expect_elements(t, &s, 0, 0, 0, 0);
    test_true(t, bytes_now(&s) == 0 && s.bytes_peak == 0 && s.cleanups == 0);

    number_keys(keys, 0, STORED);
    test_ok(t, ordo_dict_build_host(dict, keys, keys, STORED));
    s = statistics_of(t, dict);
    expect_elements(t, &s, STORED, 0, 0, run);
    number_keys(keys, 1000, REPLACED);
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, REPLACED));
    s = statistics_of(t, dict);
    expect_elements(t, &s, STORED, stale ? REPLACED : 0, 0, stale ? 2 : run);
    number_keys(keys, STORED - ERASED, ERASED);
    test_ok(t, ordo_dict_erase_host(dict, keys, ERASED));
    s = statistics_of(t, dict);
    if (stale)
        expect_elements(t, &s, STORED - ERASED, REPLACED + ERASED, ERASED, 3);
    else
        expect_elements(t, &s, STORED - ERASED, 0, 0, run);
    number_keys(keys, STORED, ABSENT);
    test_ok(t, ordo_dict_erase_host(dict, keys, ABSENT));
    s = statistics_of(t, dict);
    if (stale) /* the runs of tombstones may be one by now */
        expect_elements(t, &s, STORED - ERASED, REPLACED + ERASED, ERASED + ABSENT, s.runs);
    else
        expect_elements(t, &s, STORED - ERASED, 0, 0, run);

    test_status(t, ordo_lsm_cleanup(dict, NULL), stale ? ORDO_OK : ORDO_UNSUPPORTED);
    if (stale) {
        s = statistics_of(t, dict);
        expect_elements(t, &s, STORED - ERASED, 0, 0, 1);
        test_true(t, bytes_now(&s) <= (s.bytes_data + s.bytes_index + s.bytes_marks) / 10 * 21 + FEW_BYTES);
    }
    test_ok(t, ordo_dict_compact(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, &s, STORED - ERASED, 0, 0, run);
    test_true(t, tree ? s.cleanups > 0 : s.cleanups == stale);
    test_true(t, (s.leaves > 0) == tree && (s.levels > 0) == tree);
    if (tree)
        test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 * 4);
    else
        test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 + s.elements * 4 / 100 * 8);
    ordo_dict_destroy(&dict);
    free(keys);
}

static void all_statistics(struct test *t)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        check_statistics(t, s);
}

Test(dict_memory, statistics_count_what_is_stored)
{
    test_each_device(all_statistics);
}

/* New keys batch after batch, then a cleanup: at no time is more held than 2.2 times the keys and values that are stored
 * by then, and the few spare blocks that are not worth giving back. */
static void check_peak(struct test *t, ordo_dict *dict)
{
    enum { BATCH = 30011, BATCHES = 40 };
    static uint32_t             keys[BATCH];
    struct ordo_dict_statistics s;
    size_t                      peak = 0;

    for (uint32_t b = 0; b <= BATCHES; b++) {
        number_keys(keys, b * BATCH, BATCH);
        test_ok(t, b < BATCHES ? ordo_dict_upsert_host(dict, keys, keys, BATCH) : ordo_dict_compact(dict, NULL));
        s = statistics_of(t, dict);
        if (s.bytes_peak > peak && s.bytes_peak > s.bytes_data / 10 * 22 + FEW_BYTES)
            test_fail(t, __FILE__, __LINE__, "batch %u: the peak is %zu bytes for %zu bytes of data", b, s.bytes_peak,
                      s.bytes_data);
        peak = s.bytes_peak;
    }
    ordo_dict_destroy(&dict);
}

static void peaks(struct test *t)
{
    ordo_dict *dict = NULL;

    for (uint32_t growth = 2; growth <= 16; growth *= 2) {
        test_context(t, "the peak of an lsm of growth %u", growth);
        test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .growth = growth), &dict));
        check_peak(t, dict);
    }
    test_context(t, "the peak of a sorted array");
    test_ok(t, create(t->dev, SORTED_ARRAY, ORDO_U32, 4, &dict));
    check_peak(t, dict);
}

Test(dict_memory, the_peak_is_as_promised)
{
    test_each_device(peaks);
}

/* Cleanups of runs that no query has resolved: a run of `held` elements, a tenth of which is replaced, and a run that erases
 * `erased` of them. */
static void clean_up(struct test *t, uint32_t held, uint32_t erased)
{
    uint32_t                   *keys = test_alloc(held * sizeof *keys);
    ordo_dict                  *dict = NULL;
    struct ordo_dict_statistics s;
    const size_t                cleanups = held > 1 || erased > 0; /* of one element there is nothing to clean up */
    const size_t                put_in = ((size_t) held + held / 10 + erased) * 8;

    test_context(t, "cleanup of %u elements, %u erased", held, erased);
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .growth = 2), &dict));
    number_keys(keys, 0, held);
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, held));
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys + 1, held / 10));
    test_ok(t, ordo_dict_erase_host(dict, keys, erased));
    test_ok(t, ordo_lsm_cleanup(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, &s, held - erased, 0, 0, held > erased);
    test_true(t, s.cleanups == cleanups && s.bytes_peak <= put_in / 10 * 22 + FEW_BYTES);
    test_true(t, bytes_now(&s) <= s.bytes_data / 10 * 42 + FEW_BYTES); /* the run's block and a spare one */
    test_ok(t, ordo_dict_check(dict, NULL));
    for (uint32_t i = erased; i < held / 10; i++)
        keys[i] = keys[i + 1];
    expect_found(t, dict, erased, held, keys);
    test_ok(t, ordo_dict_compact(dict, NULL));
    s = statistics_of(t, dict);
    expect_elements(t, &s, held - erased, 0, 0, held > erased);
    test_true(t, s.cleanups == cleanups);
    test_true(t, bytes_now(&s) <= s.bytes_data + s.bytes_data / 10 + s.elements * 4 / 100 * 8 + 4096);
    expect_found(t, dict, erased, held, keys);
    ordo_dict_destroy(&dict);
    free(keys);
}

static void clean_up_each(struct test *t)
{
    static const uint32_t held = 600000;

    test_look_back(t);
    clean_up(t, held, 0);
    clean_up(t, held, held / 10);
    clean_up(t, held, held / 10 * 9); /* most of the room that it took is not needed */
    clean_up(t, held, held);
    clean_up(t, 1, 0);
    clean_up(t, 1, 1);
}

Test(dict_memory, a_cleanup_takes_what_is_promised)
{
    test_each_device(clean_up_each);
    test_each_device_with("cpu=0,progress=1", clean_up_each);
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
    static uint32_t   keys[BATCH];
    struct test_array stored = test_upload(t, NULL, BATCH, 4, 0); /* of calls over host memory more is true */

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
                test_free(&stored);
                stored = test_upload(t, keys, BATCH, 4, 0);
                test_ok(t, ordo_dict_upsert(dict, test_slice(&stored), test_slice(&stored), BATCH, NULL));
            }
            const struct ordo_dict_statistics s = statistics_of(t, dict);
            test_true(t, s.elements == (same ? BATCH : (size_t) BATCH * BATCHES));
            test_true(t, (s.cleanups > 0) == (same ? policy[p].cleans_same : policy[p].cleans_new));
            test_ok(t, ordo_dict_check(dict, NULL));
            ordo_dict_destroy(&dict);
        }
    test_free(&stored);
}

Test(dict_memory, cleanup_follows_its_policy)
{
    test_each_device(policies);
}

/* ---- runs that queries merge -------------------------------------------------------------------------------------- */

enum { ASKED_FIND, ASKED_COUNT, ASKED_SEEK, ASKED_RANGE, ASKED_WIDE, N_ASKED };
enum { LAYER = 100000, RECENT = 20000, STALE = RECENT / 2 }; /* which are not merged with each other, on any device */
enum { POINTS = 20000, WIDE = 40 };

/* Keys of which half are there, and room for answers. */
struct asker {
    uint32_t *keys, *his, *out;
    uint8_t  *found;
    uint64_t *offsets;
    size_t    room, stored;
};

static struct asker asker_make(size_t stored)
{
    struct asker a = { .room = (size_t) WIDE * stored, .stored = stored };
    a.keys = test_alloc(POINTS * sizeof *a.keys);
    a.his = test_alloc(POINTS * sizeof *a.his);
    a.found = test_alloc(POINTS);
    a.offsets = test_alloc((POINTS + 1) * sizeof *a.offsets);
    a.out = test_alloc(a.room * sizeof *a.out);
    return a;
}

static void asker_free(struct asker *a)
{
    free(a->keys);
    free(a->his);
    free(a->found);
    free(a->offsets);
    free(a->out);
}

/* One call, whose answers are as they must be whatever the runs are. */
static void ask(struct test *t, ordo_dict *dict, struct asker *a, int kind)
{
    size_t needed = 0, wrong = 0;

    for (uint32_t i = 0; i < POINTS; i++)
        a->his[i] = a->keys[i] = key_of(i % 2 ? i : (uint32_t) a->stored + i);
    if (kind == ASKED_FIND)
        test_ok(t, ordo_dict_find_host(dict, a->keys, POINTS, NULL, a->found));
    else if (kind == ASKED_COUNT)
        test_ok(t, ordo_dict_count_host(dict, a->keys, a->his, POINTS, a->out));
    else if (kind == ASKED_SEEK)
        test_ok(t, ordo_dict_seek_host(dict, ORDO_GE, a->keys, POINTS, a->out, NULL, a->found));
    else if (kind == ASKED_RANGE)
        test_ok(t, ordo_dict_range_host(dict, a->keys, a->his, POINTS, a->offsets, a->out, NULL, POINTS, &needed));
    for (uint32_t i = 0; i < POINTS && kind != ASKED_WIDE; i++) {
        const uint32_t here = i % 2;
        wrong += kind == ASKED_FIND    ? a->found[i] != here
                 : kind == ASKED_COUNT ? a->out[i] != here
                 : kind == ASKED_SEEK
                     ? a->found[i] && (a->out[i] == a->keys[i]) != here
                     : a->offsets[i + 1] - a->offsets[i] != here || (here && a->out[i / 2] != a->keys[i]);
    }
    if (kind == ASKED_WIDE) {
        for (size_t q = 0; q < WIDE; q++) {
            a->keys[q] = 0;
            a->his[q] = UINT32_MAX;
        }
        test_ok(t, ordo_dict_range_host(dict, a->keys, a->his, WIDE, a->offsets, a->out, NULL, a->room, &needed));
        for (size_t q = 0; q < WIDE; q++)
            wrong += a->offsets[q + 1] != (q + 1) * a->stored;
        for (size_t i = 0; i < needed; i++)
            wrong += i % a->stored > 0 && a->out[i - 1] >= a->out[i];
    }
    if (wrong > 0)
        test_fail(t, __FILE__, __LINE__, "%zu answers of kind %d are wrong", wrong, kind);
}

/* Two runs, some elements of which are stale. */
static ordo_dict *make_layers(struct test *t, ordo_device *dev, bool keep_runs)
{
    const struct ordo_lsm_config config = { .dict = { ORDO_U32, 0 }, .keep_runs = keep_runs };
    uint32_t                    *keys = test_alloc(LAYER * sizeof *keys);
    ordo_dict                   *dict = NULL;

    test_ok(t, ordo_lsm_create(dev, &config, &dict));
    number_keys(keys, 0, LAYER);
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, LAYER));
    number_keys(keys, LAYER - STALE, RECENT);
    test_ok(t, ordo_dict_upsert_host(dict, keys, NULL, RECENT));
    free(keys);
    return dict;
}

/* By the second call other queries have `query_cost` what it takes, or nothing. */
static void check_query_cost(struct test *t, int kind, bool keep_runs, uint64_t query_cost, size_t runs_after)
{
    ordo_dict   *dict = make_layers(t, t->dev, keep_runs);
    struct asker a = asker_make(LAYER + RECENT - STALE);
    const bool   at_once = kind == ASKED_WIDE && !keep_runs && t->facts->cpu;

    test_context(t, "queries of kind %d, %s", kind, keep_runs ? "keep_runs" : "runs may be merged");
    ask(t, dict, &a, kind);
    test_true(t, ordo_runs_of(dict)->set.n == (at_once ? 1 : 2));
    ordo_runs_of(dict)->set.run[1].query_cost += at_once ? 0 : query_cost;
    ask(t, dict, &a, kind);
    const struct ordo_dict_statistics s = statistics_of(t, dict);
    test_true(t, s.runs == runs_after && s.elements == a.stored && s.cleanups == 0);
    ask(t, dict, &a, kind);
    test_ok(t, ordo_dict_check(dict, NULL));
    asker_free(&a);
    ordo_dict_destroy(&dict);
}

#define ENOUGH ((uint64_t) 1 << 32)

static void due_merges(struct test *t)
{
    for (int kind = 0; kind < N_ASKED; kind++)
        check_query_cost(t, kind, false, ENOUGH, 1);
    check_query_cost(t, ASKED_FIND, false, 0, 2);
    check_query_cost(t, ASKED_FIND, true, ENOUGH, 2);
    check_query_cost(t, ASKED_WIDE, true, ENOUGH, 2);
}

/* What was counted stays when an update merges runs, and in the end is enough. */
static void rent(struct test *t)
{
    enum { TURNS = 100, SMALL = 100 };
    ordo_dict   *dict = make_layers(t, t->dev, false);
    struct asker a = asker_make(LAYER + RECENT - STALE);
    uint32_t     keys[SMALL];
    int          turn = 0;

    test_context(t, "queries charge little by little");
    for (; turn < TURNS; turn++) {
        ask(t, dict, &a, ASKED_FIND);
        if (ordo_runs_of(dict)->set.n == 1)
            break;
        number_keys(keys, 0, SMALL);
        test_ok(t, ordo_dict_upsert_host(dict, keys, NULL, SMALL));
    }
    test_true(t, turn > 3 && turn < TURNS);
    asker_free(&a);
    ordo_dict_destroy(&dict);
}

Test(dict_memory, queries_pay_little_by_little)
{
    test_each_device(rent);
}

Test(dict_memory, queries_merge_the_runs_that_have_cost_enough)
{
    test_each_device(due_merges);
}

/* Without the memory to merge, queries go on as before. */
static void undue_merges(struct test *t)
{
    ordo_device       *dev = test_open_again(t);
    ordo_dict         *dict = make_layers(t, dev, false);
    struct test_array  found = test_upload(t, NULL, POINTS, 1, 0), keys = test_upload(t, NULL, POINTS, 4, 0);
    struct ordo_memory memory;

    test_context(t, "no memory to merge");
    test_ok(t, ordo_device_finish(dev));
    test_ok(t, ordo_device_trim(dev));
    test_ok(t, ordo_device_memory(dev, &memory));
    const uint64_t unlimited = dev->memory_limit;
    dev->memory_limit = memory.held_bytes + 4096;
    ordo_runs_of(dict)->set.run[1].query_cost = ENOUGH;
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys), POINTS, test_slice(&found), NULL));
    dev->memory_limit = unlimited;
    test_true(t, ordo_runs_of(dict)->set.n == 2 && ordo_runs_of(dict)->set.run[1].query_cost == 0);
    ordo_runs_of(dict)->set.run[1].query_cost = ENOUGH;
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys), POINTS, test_slice(&found), NULL));
    test_true(t, ordo_runs_of(dict)->set.n == 1);
    ordo_dict_destroy(&dict);
    test_free(&found);
    test_free(&keys);
    ordo_device_close(&dev);
}

Test(dict_memory, queries_go_on_without_the_memory_to_merge)
{
    test_each_device(undue_merges);
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
        test_context(t, "memory of a %s", structures[s].name);
        const uint64_t before = held_by(t, dev);
        ordo_dict     *dict = make_dict(t, dev, s, 0, 50000);
        uint32_t       keys[1000];
        number_keys(keys, 0, 1000);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, 1000));
        test_ok(t, ordo_dict_erase_host(dict, keys, 500));
        test_true(t, held_by(t, dev) >= before + (uint64_t) 50000 * 8);
        test_ok(t, ordo_dict_clear(dict));
        const struct ordo_dict_statistics is = statistics_of(t, dict);
        test_true(t, is.elements == 0 && bytes_now(&is) == 0 && is.bytes_peak >= (size_t) 50000 * 8);
        test_true(t, held_by(t, dev) == before);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, 1000));
        test_true(t, held_by(t, dev) > before);
        ordo_dict_destroy(&dict);
        test_true(t, held_by(t, dev) == before);
    }
    ordo_device_close(&dev);
}

Test(dict_memory, clear_and_destroy_give_memory_back)
{
    test_each_device(memory_goes_back);
}
