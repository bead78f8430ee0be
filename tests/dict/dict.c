/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every structure with the model, for every type and value size, on every device.
 *
 * ORDO_TEST_KINDS=all: every type with each structure and every value size with each type, else some pairs.
 * ORDO_TEST_TYPES=all: every type with one value size. ORDO_TEST_OPS: operations in random sequences (default 2400000
 * for all types together). ORDO_TEST_REPLAY=file runs one sequence. ORDO_TEST_TRACE=1 prints each step before it runs.
 */
#include "dict_case.h"
#include "sequence.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- every operation --------------------------------------------------------------------------------------------- */

/* Sizes at the ends of groups, words of bits and blocks. Each shape gets each size with some type and value size. */
static void every_operation(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes)
{
    static const uint32_t counts[] = { 0, 1, 2, 31, 32, 33, 511, 512, 513, 3001 };

    for (size_t i = 0; i < LENGTH(counts); i++) {
        const enum key_shape shape =
            (enum key_shape)((i + subject + 3 * (size_t) type + value_bytes / 4) % N_KEY_SHAPES);
        const struct sequence s = sequence_every(subject, type, value_bytes, shape, counts[i]);
        sequence_pass(t, &s);
    }
}

/* ---- many updates between two keys ------------------------------------------------------------------------------- */

enum { APART = 10000, HELD = 60000, CROWD = 2300 };

/* Mixed updates, each key twice. `erases`: a bit for each update that erases. */
static void crowd_mixed(struct test *t, ordo_dict *dict, struct model *model, const uint32_t *keys, uint32_t erases)
{
    AUTO_FREE uint32_t *twice = test_alloc((size_t) 2 * CROWD * sizeof *twice),
                       *values = test_alloc((size_t) 2 * CROWD * sizeof *values);
    AUTO_FREE uint8_t *codes = test_alloc((size_t) 2 * CROWD);

    for (uint32_t i = 0; i < 2 * CROWD; i++) {
        twice[i] = keys[i / 2];
        values[i] = i;
        codes[i] = erases >> i % 4 & 1 ? ORDO_ERASE : ORDO_UPSERT;
    }
    const struct ordo_host_batch batch = {
        .codes = codes, .keys = twice, .values = values, .count = (size_t) 2 * CROWD
    };
    test_ok(t, ordo_dict_apply_host(dict, &batch, NULL));
    (void) model_apply(model, &batch);
}

/* A batch between two neighbouring keys, that is, for one leaf of a tree too large for a rebuild. Many of its
 * operations erase absent keys. */
static void crowd(struct test *t, int structure)
{
    AUTO_FREE uint32_t     *keys = test_alloc(HELD * sizeof *keys), *values = test_alloc(HELD * sizeof *values);
    AUTO_DICT ordo_dict    *dict = NULL;
    AUTO_MODEL struct model model = model_empty(ORDO_U32, 4);

    for (uint32_t i = 0; i < HELD; i++) {
        keys[i] = APART * i;
        values[i] = i;
    }
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, HELD));
    model_batch(&model, ORDO_UPSERT, keys, values, HELD);
    for (uint32_t i = 0; i < CROWD; i++)
        keys[i] = APART * 77 + 1 + (i * 7 % CROWD);
    test_context(t, "%s: %d erased that are not there", structures[structure].name, CROWD);
    test_ok(t, ordo_dict_erase_host(dict, keys, CROWD));
    expect_content(t, dict, &model);
    static const uint32_t patterns[] = { 0xf, 0x1, 0x2,
                                         0x9 }; /* the first erases all; after the second none is erased */
    for (size_t p = 0; p < LENGTH(patterns); p++) {
        test_context(t, "%s: %d mixed, by 0x%x", structures[structure].name, 2 * CROWD, patterns[p]);
        crowd_mixed(t, dict, &model, keys, patterns[p]);
        expect_content(t, dict, &model);
    }
    test_context(t, "%s: all erased", structures[structure].name);
    model_batch(&model, ORDO_ERASE, keys, NULL, CROWD);
    test_ok(t, ordo_dict_erase_host(dict, keys, CROWD));
    expect_content(t, dict, &model);
}

/* With a mask, tests every fourth structure, selected by the seed. */
MASK_TEST(dict, many_updates_between_two_keys, "", "cpu=0")
{
    const bool all = t->mask[0] == 0 || test_wants_all("ORDO_TEST_KINDS");

    for (int structure = 0; structure < N_STRUCTURES; structure++)
        if (all || ((uint64_t) structure + t->seed) % 4 == 0)
            crowd(t, structure);
}

/* ---- seeks across changing keys ---------------------------------------------------------------------------------- */

enum { STRIDE = 1000, BEFORE = 600, COME = 300, GO = 250, SOUGHT = 120 };

/* A batch built operation by operation, with space for its results. */
struct mixture {
    struct ordo_host_batch batch;
    uint8_t               *codes, *found;
    uint32_t              *keys, *hi, *values, *keys_out, *values_out, *counts;
};

enum { MIXTURE = 8192 };

static uint32_t *words(void)
{
    return test_alloc(MIXTURE * sizeof(uint32_t));
}

static struct mixture mixture_empty(void)
{
    struct mixture m = { .codes = test_alloc(MIXTURE),
                         .found = test_alloc(MIXTURE),
                         .keys = words(),
                         .hi = words(),
                         .values = words(),
                         .keys_out = words(),
                         .values_out = words(),
                         .counts = words() };

    memset(m.found, 0, MIXTURE);
    memset(m.keys_out, 0, MIXTURE * sizeof(uint32_t));
    memset(m.values_out, 0, MIXTURE * sizeof(uint32_t));
    memset(m.counts, 0, MIXTURE * sizeof(uint32_t));
    m.batch = (struct ordo_host_batch) { .codes = m.codes,
                                         .keys = m.keys,
                                         .hi = m.hi,
                                         .values = m.values,
                                         .found = m.found,
                                         .keys_out = m.keys_out,
                                         .values_out = m.values_out,
                                         .counts = m.counts };
    return m;
}

static void mixture_free(struct mixture *m)
{
    void *const all[] = { m->codes, m->found, m->keys, m->hi, m->values, m->keys_out, m->values_out, m->counts };

    for (size_t i = 0; i < LENGTH(all); i++)
        free(all[i]);
}

static void mix(struct mixture *m, ordo_code code, uint32_t key, uint32_t value)
{
    const size_t at = m->batch.count++;

    cr_assert(at < MIXTURE);
    m->codes[at] = (uint8_t) code;
    m->keys[at] = key;
    m->hi[at] = key + STRIDE * 2;
    m->values[at] = value;
}

/* Seeks of each kind around the keys that come and go, and from both ends of the key space. */
static void mix_seeks(struct mixture *m, struct test *t)
{
    static const uint32_t ends[] = { 0, 1, UINT32_MAX - 1, UINT32_MAX };

    for (uint32_t i = 0; i < SOUGHT; i++)
        mix(m, (ordo_code) ((uint32_t) ORDO_SEEK_LT + i % 4),
            i < 4 * LENGTH(ends) ? ends[i / 4] : (uint32_t) test_below(t, (uint64_t) STRIDE * (BEFORE + 2)), 0);
}

/* Inserts keys between two others, erases a segment of the old keys, and inserts some of it again. Seeks in between
 * skip hundreds of absent keys. `counts`: counts among them. */
static struct mixture across(struct test *t, uint32_t held, bool counts)
{
    struct mixture m = mixture_empty();

    mix_seeks(&m, t);
    for (uint32_t i = 0; i < COME; i++)
        mix(&m, ORDO_UPSERT, STRIDE * 100 + 1 + i, i);
    mix_seeks(&m, t);
    for (uint32_t i = 0; i < GO; i++)
        mix(&m, ORDO_ERASE, STRIDE * (80 + i), 0);
    for (uint32_t i = 0; i < COME; i++)
        mix(&m, ORDO_ERASE, STRIDE * 100 + 1 + i * 7 % COME, 0);
    mix_seeks(&m, t);
    if (counts)
        mix(&m, ORDO_COUNT, STRIDE * 90, 0);
    for (uint32_t i = 0; i < GO; i += 50)
        mix(&m, ORDO_INSERT, STRIDE * (80 + i), 7 * i);
    for (uint32_t i = 0; i < held; i++) /* erases all */
        mix(&m, ORDO_ERASE, STRIDE * i, 0);
    mix_seeks(&m, t);
    return m;
}

static void seek_across(struct test *t, int structure, uint32_t held, bool counts)
{
    AUTO_FREE uint32_t               *keys = words(), *values = words();
    AUTO_DICT ordo_dict              *dict = NULL;
    AUTO_MODEL struct model           model = model_empty(ORDO_U32, 4);
    AUTO(mixture_free) struct mixture m = across(t, held, counts), want = mixture_empty();

    test_context(t, "%s: seeks across %u keys%s", structures[structure].name, held, counts ? ", counts" : "");
    for (uint32_t i = 0; i < held; i++) {
        keys[i] = STRIDE * i;
        values[i] = i ^ 0x5555;
    }
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, held));
    model_batch(&model, ORDO_UPSERT, keys, values, held);
    struct ordo_host_batch expected = m.batch;
    expected.found = want.found;
    expected.keys_out = want.keys_out;
    expected.values_out = want.values_out;
    expected.counts = want.counts;
    (void) model_apply(&model, &expected);
    test_ok(t, ordo_dict_apply_host(dict, &m.batch, NULL));
    test_true(t, memcmp(m.found, want.found, m.batch.count) == 0);
    test_same(t, "keys_out", ORDO_U32, m.keys_out, want.keys_out, m.batch.count);
    test_same(t, "values_out", ORDO_U32, m.values_out, want.values_out, m.batch.count);
    test_same(t, "counts", ORDO_U32, m.counts, want.counts, m.batch.count);
    expect_content(t, dict, &model);
}

DEVICE_TEST(dict, seeks_skip_many_absent_keys)
{
    for (int structure = 0; structure < N_STRUCTURES; structure++) {
        if (structure_is(structure, ORDO_NO_ORDER))
            continue;
        seek_across(t, structure, BEFORE, false);
        seek_across(t, structure, BEFORE, true);
        seek_across(t, structure, 0, false);
    }
}

/* ---- random sequences -------------------------------------------------------------------------------------------- */

static size_t wanted_operations(void)
{
    const char *text = getenv("ORDO_TEST_OPS");

    return text ? strtoull(text, NULL, 0) : 2400000;
}

/* Runs random sequences with a total of this many operations, each with its own seed. Returns their number. */
static size_t random_sequences(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes, size_t operations)
{
    size_t   n = 0;
    uint64_t seed = t->seed * 1000000 + (uint64_t) type * 10000 + (uint64_t) value_bytes * 1000 + subject * 100;

    for (size_t done = 0; done < operations;) {
        const struct sequence s = sequence_random(subject, type, value_bytes, seed++);
        sequence_pass(t, &s);
        done += sequence_operations(&s);
        n++;
    }
    return n;
}

static bool type_is_tried(const struct test *t, ordo_type type, size_t subject)
{
    return structure_takes(subject, type) && (test_wants_all("ORDO_TEST_KINDS") || test_wants_all("ORDO_TEST_TYPES") ||
                                              type_is_met(type, subject, t->seed, t->facts->cpu));
}

/* The number of pairs of a type and a subject. */
static size_t pairs_tried(const struct test *t)
{
    size_t n = 0;

    for (ordo_type type = ORDO_U32; type <= ORDO_BYTES16; type++)
        for (size_t subject = 0; subject < N_SUBJECTS; subject++)
            n += type_is_tried(t, type, subject);
    return n;
}

static void check_type(struct test *t, ordo_type type)
{
    const size_t n_sizes = test_n_value_sizes();
    const size_t share = wanted_operations() / (pairs_tried(t) * n_sizes) + 1;
    size_t       seeds = 0, subjects = 0;

    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        if (!type_is_tried(t, type, subject))
            continue;
        subjects++;
        const struct sequence emptied =
            sequence_emptied(subject, type, test_value_bytes[type][(subject + t->seed) % n_sizes], t->seed + subject);
        sequence_pass(t, &emptied);
        for (size_t v = 0; v < n_sizes; v++) {
            every_operation(t, subject, type, test_value_bytes[type][v]);
            seeds += random_sequences(t, subject, type, test_value_bytes[type][v], share);
        }
    }
    if (subjects == 0)
        test_skip("%s keys: with another seed, or in the suite `slow` (ORDO_TEST_TYPES=all)", test_type_name[type]);
    test_true(t, seeds >= subjects);
    cr_log_info("%s: %zu seeds, each at least %zu operations", test_type_name[type], seeds, share);
}

#define TYPE_TEST(type, TYPE)                                                                                          \
    static void check_##type(struct test *t)                                                                           \
    {                                                                                                                  \
        check_type(t, ORDO_##TYPE);                                                                                    \
    }                                                                                                                  \
    Test(dict, type##_keys_are_as_in_the_model)                                                                        \
    {                                                                                                                  \
        test_each_device(check_##type);                                                                                \
    }

TYPE_TEST(u32, U32)
TYPE_TEST(u64, U64)
TYPE_TEST(i32, I32)
TYPE_TEST(i64, I64)
TYPE_TEST(f32, F32)
TYPE_TEST(f64, F64)
TYPE_TEST(u128, U128)
TYPE_TEST(bytes16, BYTES16)

/* ---- structures agree -------------------------------------------------------------------------------------------- */

/* All results of one sequence hash to this for all structures and devices. (conformance.c has u32 keys.) */
#define HASH_OF_F64 UINT64_C(0xa88b1e9f7106c0f5)

DEVICE_TEST(dict, results_are_bit_identical_everywhere)
{
    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        if (!type_is_tried(t, ORDO_F64, subject))
            continue;
        const struct sequence s = sequence_random(subject, ORDO_F64, 8, 2);
        const struct outcome  o = sequence_run(t, &s, NULL);
        if (o.failed)
            sequence_fail(t, &s, &o);
        if (o.hash != HASH_OF_F64)
            test_fail(t, __FILE__, __LINE__, "all results of %s hash to 0x%016" PRIx64, structures[subject].word,
                      o.hash);
    }
}

/* ---- devices that can less --------------------------------------------------------------------------------------- */

/* On a CPU, "cpu=0" selects the kernels of an unknown GPU, which compile slowly. The seed selects the structures (a
 * quarter on one device, an eighth on the other) and types. ORDO_TEST_KINDS=all tests all. */
static void check_part(struct test *t, size_t part, size_t parts, const ordo_type *types, size_t n_types,
                       uint32_t value_bytes)
{
    const bool all = test_wants_all("ORDO_TEST_KINDS");

    for (size_t i = 0; i < n_types; i++)
        for (size_t subject = 0; subject < N_SUBJECTS; subject++)
            if (structure_takes(subject, types[i]) &&
                (all || (i == t->seed / parts % n_types && structure_family(subject) % parts == part)))
                (void) random_sequences(t, subject, types[i], value_bytes, 60000);
}

MASK_TEST(dict, a_gpu_whose_groups_make_progress_returns_the_same, "cpu=0,progress=1")
{
    static const ordo_type types[] = { ORDO_U64, ORDO_U32, ORDO_I64, ORDO_U128 };

    test_look_back(t);
    check_part(t, 2 * (t->seed % 2) + 1, 4, types, LENGTH(types), 4);
}

MASK_TEST(dict, a_gpu_of_small_groups_returns_the_same, "cpu=0,group=64,local=16384,int64_atomics=0")
{
    static const ordo_type types[] = { ORDO_F64, ORDO_U64, ORDO_I64 }, wide = ORDO_BYTES16;

    check_part(t, 2 * (t->seed % 4), 8, types, LENGTH(types), 0);
    if (t->seed % 4 == 0 || test_wants_all("ORDO_TEST_KINDS"))
        check_part(t, 0, 8, &wide, 1, 0);
}

/* ---- sequences that have failed, or well might ------------------------------------------------------------------- */

static void replay(struct test *t, const char *path)
{
    struct sequence s;

    if (!sequence_read(path, &s))
        test_fail(t, __FILE__, __LINE__, "%s is no sequence", path);
    sequence_pass(t, &s);
}

static void replay_all(struct test *t)
{
    DIR           *folder = opendir(TEST_REPLAY_DIR);
    struct dirent *entry = NULL;
    size_t         n = 0;
    char           path[1024];

    test_true(t, folder != NULL);
    while ((entry = readdir(folder))) {
        const char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".txt") != 0)
            continue;
        (void) snprintf(path, sizeof path, "%s/%s", TEST_REPLAY_DIR, entry->d_name);
        replay(t, path);
        n++;
    }
    (void) closedir(folder);
    test_true(t, n >= 2);
}

DEVICE_TEST(dict, replayed_sequences_pass)
{
    const char *path = getenv("ORDO_TEST_REPLAY");

    if (path)
        replay(t, path);
    else
        replay_all(t);
}

DEVICE_TEST(dict, a_sequence_survives_a_file)
{
    const struct sequence s = sequence_random(1, ORDO_I64, 8, 77);
    char                  path[] = "/tmp/ordo-sequence-XXXXXX";
    const int             fd = mkstemp(path);
    FILE                 *to = fd < 0 ? NULL : fdopen(fd, "w");
    struct sequence       read;

    test_true(t, to != NULL);
    sequence_print(to, &s);
    (void) fclose(to);
    test_true(t, sequence_read(path, &read));
    (void) remove(path);
    test_true(t, read.subject == s.subject && read.type == s.type && read.value_bytes == s.value_bytes);
    test_true(t, read.shape == s.shape && read.n_keys == s.n_keys && read.seed == s.seed);
    test_true(t, read.n_steps == s.n_steps && memcmp(read.step, s.step, s.n_steps * sizeof *s.step) == 0);
    test_true(t, !sequence_read("/nonexistent", &read));
}

/* ---- these tests can fail ---------------------------------------------------------------------------------------- */

/* Flips one bit of one result, for each output of each kind of step. The test must fail. */
DEVICE_TEST(dict, a_wrong_bit_is_reported)
{
    const struct sequence s = sequence_every(1, ORDO_U32, 4, KEYS_SPARSE, 203);
    size_t                noticed = 0;

    test_true(t, !sequence_run(t, &s, NULL).failed);
    for (int kind = 0; kind < STEP_QUERIES; kind++)
        for (int column = COL_FOUND; column <= N_COLUMNS; column++) {
            if (column == N_COLUMNS && kind != STEP_BUILD) /* no step may read it before the next build */
                continue;
            struct fault         fault = { .kind = (enum step_kind) kind, .column = (enum column) column };
            const struct outcome o = sequence_run(t, &s, &fault);
            test_context(t, "fault of step kind %d, column %d", kind, column);
            test_true(t, o.failed == fault.done);
            noticed += o.failed;
        }
    test_true(t, noticed > 30);
}
