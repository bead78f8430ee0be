/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that dictionaries refuse, in addition to bad_arguments.c: configurations, values of sets, invalid mixed
 * batches. A refused call changes nothing. */
#include "dict_case.h"

enum { HELD = 50 }; /* elements of the dictionaries */

/* ---- after the device is closed ---------------------------------------------------------------------------------- */

static void count_message(void *user, ordo_log_level level, const char *message)
{
    (void) level;
    (void) message;
    ++*(int *) user;
}

/* Dictionaries outlive the device object that opened them, and the log stays empty. */
DEVICE_TEST(dict_arguments, dictionaries_outlive_their_device)
{
    enum { COUNT = 5000 };
    static uint32_t                      keys[COUNT], values[COUNT];
    static uint8_t                       found[COUNT];
    int                                  messages = 0;
    const struct ordo_device_config      config = { .log = count_message, .user = &messages, .no_self_test = true };
    ordo_device                         *dev = NULL;
    ordo_dict                           *dict[N_STRUCTURES] = { NULL };
    AUTO(ordo_index_destroy) ordo_index *index = NULL;
    size_t                               size = 0;

    test_spare_compiler();
    test_ok(t, ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev));
    for (uint32_t i = 0; i < COUNT; i++)
        keys[i] = key_of(i);
    for (int s = 0; s < N_STRUCTURES; s++) {
        test_ok(t, create(dev, s, ORDO_U32, 4, &dict[s]));
        test_ok(t, ordo_dict_upsert_host(dict[s], keys, keys, COUNT / 2));
    }
    test_ok(t, ordo_index_build(dev, ORDO_U32, ordo_none(), 0, NULL, &index));
    test_status(t, ordo_dict_upsert_host(dict[0], NULL, NULL, 1), ORDO_INVALID);
    test_true(t, messages > 0);
    ordo_device_close(&dev);
    messages = 0;
    for (int s = 0; s < N_STRUCTURES; s++) {
        test_context(t, "a %s without its device", structures[s].word);
        test_status(t, ordo_dict_upsert_host(dict[s], NULL, NULL, 1), ORDO_INVALID);
        test_ok(t, ordo_dict_upsert_host(dict[s], keys + COUNT / 2, keys + COUNT / 2, COUNT - COUNT / 2));
        test_ok(t, ordo_dict_find_host(dict[s], keys, COUNT, values, found));
        test_same(t, "values", ORDO_U32, values, keys, COUNT);
        test_ok(t, ordo_dict_compact(dict[s], NULL));
        test_ok(t, ordo_dict_size(dict[s], NULL, &size));
        test_true(t, size == COUNT);
        ordo_dict_destroy(&dict[s]);
    }
    test_true(t, messages == 0);
}

/* ---- making dictionaries ----------------------------------------------------------------------------------------- */

static void try_wide_keys(struct test *t, int structure, ordo_type type)
{
    AUTO_DICT ordo_dict *dict = NULL;
    char                 message[512] = "";
    const ordo_status    got = create(t->dev, structure, type, 4, &dict);

    test_context(t, "making a %s with keys of type %s", structures[structure].name, test_type_name[type]);
    test_status(t, got, structure_takes((size_t) structure, type) ? ORDO_OK : ORDO_UNSUPPORTED);
    if (got == ORDO_OK)
        return;
    (void) ordo_device_last_error(t->dev, message, sizeof message);
    test_true(t, dict == NULL && strstr(message, structures[structure].name) && strstr(message, test_type_name[type]));
    test_true(t, strstr(message, "sorted array, lsm, blink, fast, skiplist, hash"));
}

DEVICE_TEST(dict_arguments, only_some_structures_take_keys_of_16_bytes)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        for (int type = ORDO_U128; type <= ORDO_BYTES16; type++)
            try_wide_keys(t, s, (ordo_type) type);
}

DEVICE_TEST(dict_arguments, unaligned_keys_of_16_bytes_are_refused)
{
    AUTO_UNALIGNED struct test_unaligned buffer = test_unaligned_buffer(t, 1600);
    const struct ordo_slice              odd = ordo_at(buffer.mem, 0), none = ordo_none();
    AUTO_DICT ordo_dict                 *dict = NULL;
    size_t                               size = 1;

    if (!buffer.mem)
        return;
    test_context(t, "unaligned keys");
    test_ok(t, create(t->dev, LSM, ORDO_U128, 0, &dict));
    test_unaligned_refused(t, ordo_dict_upsert(dict, odd, none, 100, NULL), "keys");
    test_unaligned_refused(t, ordo_dict_first(dict, odd, none, none, NULL), "key_out");
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 0);
}

/* Refused calls change nothing, and values of 8 bytes are taken from the same buffer. */
static void unaligned_values(struct test *t, int structure, struct ordo_slice keys, struct ordo_slice odd)
{
    AUTO_DICT ordo_dict    *dict = NULL, *narrow = NULL;
    const struct ordo_slice none = ordo_none();
    size_t                  size = 1;

    test_context(t, "unaligned values of a %s", structures[structure].name);
    test_ok(t, create(t->dev, structure, ORDO_U32, 16, &dict));
    test_unaligned_refused(t, ordo_dict_build(dict, keys, odd, 50, NULL), "values");
    test_unaligned_refused(t, ordo_dict_upsert(dict, keys, odd, 50, NULL), "values");
    test_unaligned_refused(t, ordo_dict_insert(dict, keys, odd, 50, none, NULL), "values");
    test_unaligned_refused(t, ordo_dict_find(dict, keys, 50, odd, none, NULL), "values_out");
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 0);

    test_ok(t, create(t->dev, structure, ORDO_U32, 8, &narrow));
    test_ok(t, ordo_dict_upsert(narrow, keys, odd, 50, NULL));
    test_ok(t, ordo_dict_find(narrow, keys, 50, odd, none, NULL));
    test_ok(t, ordo_device_finish(t->dev));
}

DEVICE_TEST(dict_arguments, unaligned_values_of_16_bytes_are_refused)
{
    AUTO_UNALIGNED struct test_unaligned buffer = test_unaligned_buffer(t, 1600);
    AUTO_ARRAY struct test_array         keys = test_upload(t, NULL, 50, 4, 0);

    for (int s = 0; s < N_STRUCTURES && buffer.mem; s++)
        unaligned_values(t, s, test_slice(&keys), ordo_at(buffer.mem, (size_t) s % 3));
}

DEVICE_TEST(dict_arguments, configurations_are_checked)
{
    static const uint32_t bad_growth[] = { 1, 17, 1000, UINT32_MAX };
    ordo_dict            *dict = NULL;

    for (int s = 0; s < N_STRUCTURES; s++) {
        test_context(t, "making a %s", structures[s].name);
        test_ok(t, create(t->dev, s, ORDO_U32, 4, &dict));
        test_true(t, strcmp(ordo_dict_name(dict), structures[s].name) == 0);
        for (int op = ORDO_CAN_BUILD; op <= ORDO_CAN_COMPACT; op++)
            test_true(t, ordo_dict_can(dict, (ordo_dict_op) op) ==
                             (op != ORDO_CAN_ORDER || !structure_is(s, ORDO_NO_ORDER)));
        ordo_dict_destroy(&dict);
        test_true(t, dict == NULL);
    }
    test_context(t, "configurations");
    for (size_t i = 0; i < LENGTH(bad_growth); i++) {
        test_status(t, ordo_lsm_create(t->dev, ordo_lsm_config(.growth = bad_growth[i]), &dict), ORDO_INVALID);
        test_true(t, dict == NULL);
    }
    for (uint32_t growth = 2; growth <= 16; growth++) {
        test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.growth = growth), &dict));
        ordo_dict_destroy(&dict);
    }
    test_status(t, ordo_lsm_create(t->dev, ordo_lsm_config(.cleanup_stale_percent = 101), &dict), ORDO_INVALID);
    static const uint32_t bad_load[] = { 1, 24, 96, 100, UINT32_MAX };
    for (size_t i = 0; i < LENGTH(bad_load); i++) {
        test_status(t, ordo_hash_create(t->dev, ordo_hash_config(.load_percent = bad_load[i]), &dict), ORDO_INVALID);
        test_true(t, dict == NULL);
    }
    for (uint32_t load = 25; load <= 95; load += 10) {
        test_ok(t, ordo_hash_create(t->dev, ordo_hash_config(.load_percent = load), &dict));
        ordo_dict_destroy(&dict);
    }
}

enum { N = 100, ROOM = 300 };

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Values for a dictionary without values. */
static void superfluous_values(struct test *t, int structure)
{
    AUTO_ARRAY struct test_array words_on = test_upload(t, NULL, 8, 4, 1), more_on = test_upload(t, NULL, 8, 4, 1);
    const struct ordo_slice      words = test_slice(&words_on), more = test_slice(&more_on);
    AUTO_DICT ordo_dict         *dict = NULL;
    size_t                       size = 0;

    test_context(t, "values for a %s without", structures[structure].name);
    test_ok(t, create(t->dev, structure, ORDO_U32, 0, &dict));
    test_status(t, ordo_dict_upsert(dict, words, more, 8, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_insert(dict, words, more, 8, ordo_none(), NULL), ORDO_INVALID);
    test_status(t, ordo_dict_build(dict, words, more, 8, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_find(dict, words, 8, more, ordo_none(), NULL), ORDO_INVALID);
    uint32_t host[8] = { 0 }, host_values[8] = { 0 };
    uint8_t  found[8];
    test_status(t, ordo_dict_upsert_host(dict, host, host_values, 8), ORDO_INVALID);
    test_status(t, ordo_dict_insert_host(dict, host, host_values, 8, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_build_host(dict, host, host_values, 8), ORDO_INVALID);
    test_status(t, ordo_dict_find_host(dict, host, 8, host_values, found), ORDO_INVALID);
    test_status(t, ordo_dict_first_host(dict, host, host_values, found), ORDO_INVALID);
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 0);
    test_ok(t, ordo_dict_upsert(dict, words, ordo_none(), 8, NULL));
    test_ok(t, ordo_dict_size(dict, NULL, &size));
    test_true(t, size == 1);
}

DEVICE_TEST(dict_arguments, values_of_a_set_are_refused)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        superfluous_values(t, s);
}

/* Inputs may share memory: one array is keys and values. */
static void keys_as_values(struct test *t, int structure)
{
    enum { COUNT = 20000 };
    AUTO_FREE uint32_t  *numbers = test_alloc(COUNT * sizeof *numbers), *got = test_alloc(COUNT * sizeof *got);
    AUTO_FREE uint8_t   *found = test_alloc(COUNT);
    AUTO_DICT ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = i * 2654435761U;
    AUTO_ARRAY struct test_array array = test_upload(t, numbers, COUNT, 4, 1);
    const struct ordo_slice      both = test_slice(&array);

    test_context(t, "keys that are the values of a %s", structures[structure].name);
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build(dict, both, both, COUNT / 4, NULL));
    test_ok(t, ordo_dict_insert(dict, both, both, COUNT / 2, ordo_none(), NULL));
    test_ok(t, ordo_dict_upsert(dict, both, both, COUNT, NULL));
    test_ok(t, ordo_dict_find_host(dict, numbers, COUNT, got, found));
    test_same(t, "values", ORDO_U32, got, numbers, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        test_true(t, found[i] == 1);
}

MASK_TEST(dict_arguments, keys_may_be_their_own_values, "", "cpu=0")
{
    for (int s = 0; s < N_STRUCTURES; s++)
        keys_as_values(t, s);
}

/* ---- mixed batches ----------------------------------------------------------------------------------------------- */

/* A batch that changes much, except where a test makes it invalid. */
struct mixed {
    uint8_t                codes[N], found[N];
    uint32_t               keys[N], hi[N], values[N], counts[N], range_keys[ROOM], range_values[ROOM];
    uint64_t               offsets[N + 1];
    struct ordo_host_batch batch;
};

static void make_mixed(struct mixed *m, uint8_t query)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < N; i++) {
        m->codes[i] = i % 3 == 0 ? ORDO_ERASE : i % 3 == 1 ? ORDO_UPSERT : query;
        m->keys[i] = key_of(i);
        m->hi[i] = UINT32_MAX;
        m->values[i] = i;
    }
    m->batch = (struct ordo_host_batch) { .codes = m->codes,
                                          .keys = m->keys,
                                          .hi = m->hi,
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
    m.batch.hi = NULL;
    refuse_mixed(t, dict, &m, "counts without upper bounds");
    make_mixed(&m, ORDO_RANGE);
    m.batch.hi = NULL;
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
    AUTO_MODEL struct model model = model_empty(ORDO_U32, 4);
    struct mixed            m, want;
    size_t                  needed = 0, room = 0;

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
}

/* One order query of each code among other operations. */
static void no_order(struct test *t, ordo_dict *dict)
{
    struct mixed m;

    for (int code = 0; code < ORDO_N_CODES; code++) {
        const bool ordered = (code >= ORDO_SEEK_LT && code <= ORDO_RANGE) || code >= ORDO_RANK_LT;
        make_mixed(&m, ORDO_FIND);
        m.codes[N / 2] = (uint8_t) code;
        test_context(t, "a mixed batch on a %s: code %d", ordo_dict_name(dict), code);
        if (!ordered)
            continue;
        test_status(t, ordo_dict_apply_host(dict, &m.batch, NULL), ORDO_UNSUPPORTED);
        expect_numbers(t, dict, 0, HELD);
    }
}

DEVICE_TEST(dict_arguments, a_mixed_batch_is_refused_as_a_whole)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
        unknown_codes(t, dict);
        missing_arrays(t, dict);
        if (structure_is(s, ORDO_NO_ORDER))
            no_order(t, dict);
        else
            little_room(t, dict);
    }
}
