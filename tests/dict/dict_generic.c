/* SPDX-License-Identifier: Apache-2.0 */
/* The generic operations: combine, ranks, selections, limited ranges, bounded seeks, erased ranges, first and last
 * elements, aggregates. Compares each structure with the model, for every key type, on updated content, over host and
 * over device memory. */
#include "call_model.h"
#include "sequence.h"

#include "tests/support/words.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- a dictionary and its model ---------------------------------------------------------------------------------- */

struct pair {
    struct test *t;
    ordo_dict   *dict;
    struct model model;
    ordo_type    type;
    uint32_t     value_bytes;
    size_t       key_bytes;
    uint32_t     n_keys;  /* number of possible keys */
    key_form     spacing; /* their distance in ordered form */
};

static struct pair pair_make(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes)
{
    struct pair p = { t, NULL, model_empty(type, value_bytes), type, value_bytes, ordo_type_bytes(type), 0, 0 };

    test_ok(t, create(t->dev, (int) subject, type, value_bytes, &p.dict));
    return p;
}

static void pair_free(struct pair *p)
{
    ordo_dict_destroy(&p->dict);
    model_free(&p->model);
}

/* The key of number k; 0 and n_keys are the ends of the type. */
static key_form form_of(const struct pair *p, uint32_t k)
{
    const key_form all = form_mask(p->type);
    return k >= p->n_keys ? all : k * p->spacing & all;
}

static uint32_t below(struct pair *p, uint32_t n)
{
    return (uint32_t) test_below(p->t, n);
}

/* Draws present and absent keys. */
static void *draw_keys(struct pair *p, size_t count)
{
    void          *keys = test_alloc((count + 1) * p->key_bytes);
    const uint32_t few = below(p, 4) == 0 ? 1 + below(p, 9) : p->n_keys + 1;

    for (size_t i = 0; i < count; i++)
        put_form(p->type, keys, i, form_of(p, below(p, few)));
    return keys;
}

/* Zeros, infinities and NaNs of both signs, extreme integers, and random words. */
static uint64_t draw_word(struct pair *p, size_t bytes)
{
    static const uint64_t narrow[] = { 0,          0x80000000, 0x7f800000, 0xff800000,
                                       0x7fc00001, 0xffc00001, 0x7fffffff, 0xffffffff },
                          wide[] = { 0,
                                     (uint64_t) 1 << 63,
                                     0x7ff0000000000000,
                                     0xfff0000000000000,
                                     0x7ff8000000000001,
                                     0xfff8000000000001,
                                     INT64_MAX,
                                     UINT64_MAX };

    if (below(p, 8) == 0)
        return (bytes == 8 ? wide : narrow)[below(p, LENGTH(wide))];
    return test_random(p->t) >> below(p, 64);
}

static void *draw_words(struct pair *p, size_t count, size_t bytes)
{
    uint8_t *words = test_alloc((count + 1) * 16);

    for (size_t i = 0; i < count; i++) {
        const key_form word = draw_word(p, bytes);
        write_bits(words, bytes, i, bytes == 16 ? word << 64 | draw_word(p, 8) : word);
    }
    return words;
}

static void *empty(size_t count, size_t bytes)
{
    void *array = test_alloc((count + 1) * 16);

    memset(array, TEST_EMPTY, count * bytes);
    return array;
}

static void change(struct pair *p, ordo_code code, size_t count)
{
    AUTO_FREE void              *keys = draw_keys(p, count), *values = draw_words(p, count, p->value_bytes);
    AUTO_FREE uint8_t           *codes = test_alloc(count + 1);
    const struct ordo_host_batch batch = { .codes = codes, .keys = keys, .values = values, .count = count };

    memset(codes, (int) code, count);
    (void) model_apply(&p->model, &batch);
    if (code == ORDO_ERASE)
        test_ok(p->t, ordo_dict_erase_host(p->dict, keys, count));
    else
        test_ok(p->t, ordo_dict_upsert_host(p->dict, keys, p->value_bytes ? values : NULL, count));
}

static void expect_same(struct pair *p, const char *what, const void *got, const void *want, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && ((const uint8_t *) got)[i] == ((const uint8_t *) want)[i])
        i++;
    if (i < bytes)
        test_fail(p->t, __FILE__, __LINE__, "%s: byte %zu of %zu is 0x%02x, not 0x%02x", what, i, bytes,
                  ((const uint8_t *) got)[i], ((const uint8_t *) want)[i]);
}

/* Checks the dictionary and compares its content with the model. */
static void expect_model(struct pair *p)
{
    const size_t       n = p->model.count;
    AUTO_FREE uint8_t *keys = empty(n, p->key_bytes), *values = empty(n, p->value_bytes);
    size_t             count = 0;

    test_ok(p->t, ordo_dict_check(p->dict, NULL));
    test_ok(p->t, ordo_dict_export_host(p->dict, keys, p->value_bytes ? values : NULL, n, &count));
    test_true(p->t, count == n);
    model_put_in_order(p->dict, p->type, p->value_bytes, keys, p->value_bytes ? values : NULL, n);
    for (size_t i = 0; i < n; i++) {
        test_true(p->t, read_key(keys, p->key_bytes, i) == p->model.element[i].key);
        test_true(p->t, p->value_bytes == 0 || read_key(values, p->value_bytes, i) == p->model.element[i].value);
    }
}

/* ---- one call ---------------------------------------------------------------------------------------------------- */

static struct given given_of(struct pair *p, size_t count)
{
    struct given g = call_given(p->t->dev, p->dict, count);
    g.type = p->type;
    g.value_bytes = p->value_bytes;
    return g;
}

/* Over device memory each array is uploaded at a random offset and read back. */
static ordo_status call_with(struct pair *p, const struct array_call *call, const struct given *g, bool on_host,
                             void *const host[])
{
    struct test_array array[CALL_ARRAYS];
    struct ordo_slice slice[CALL_ARRAYS];

    if (on_host)
        return call->run_host(g, host);
    for (size_t i = 0; i < call_arrays(call); i++) {
        slice[i] = ordo_none();
        if (!host[i])
            continue;
        array[i] = test_upload(p->t, host[i], call_array_elements(&call->array[i], g),
                               call_array_bytes(&call->array[i], g), below(p, 20));
        slice[i] = test_slice(&array[i]);
    }
    const ordo_status status = call->run(g, slice);
    for (size_t i = 0; i < call_arrays(call); i++)
        if (slice[i].mem) {
            test_true(p->t, test_read(p->t, &array[i], host[i], "an array") == SIZE_MAX);
            test_free(&array[i]);
        }
    return status;
}

/* Makes a call on the model and on the dictionary, and compares all arrays. */
static void check_call(struct pair *p, const struct array_call *call, struct given *g, bool on_host, void *const want[])
{
    void  *got[CALL_ARRAYS] = { NULL };
    size_t bytes[CALL_ARRAYS], number = SIZE_MAX;

    for (size_t i = 0; i < call_arrays(call); i++) {
        bytes[i] = call_array_elements(&call->array[i], g) * call_array_bytes(&call->array[i], g);
        if (want[i])
            got[i] = memcpy(test_alloc(bytes[i]), want[i], bytes[i]);
    }
    const struct call_outcome right = model_call(&p->model, call, g, want);
    g->got = &number;
    test_status(p->t, call_with(p, call, g, on_host, got), right.status);
    test_true(p->t, !right.has_number || number == right.number);
    for (size_t i = 0; i < call_arrays(call); i++) {
        if (want[i])
            expect_same(p, call->array[i].name, got[i], want[i], bytes[i]);
        free(got[i]);
    }
    if (call->changes)
        expect_model(p);
}

/* Draws upper bounds close to most of the lower bounds, some below them. */
static void *draw_above(struct pair *p, const void *lo, size_t count)
{
    const key_form all = form_mask(p->type);
    const uint32_t wide = below(p, 3) ? 12 : p->n_keys;
    void          *hi = test_alloc((count + 1) * p->key_bytes);

    for (size_t i = 0; i < count; i++) {
        const key_form low = form_of_key(p->type, lo, i);
        const key_form more = p->spacing * below(p, wide + 1);
        const bool     any = below(p, 16) == 0;
        put_form(p->type, hi, i, any ? form_of(p, below(p, p->n_keys + 1)) : more > all - low ? all : low + more);
    }
    return hi;
}

static void *draw_numbers(struct pair *p, size_t count, uint32_t one_in, uint32_t n)
{
    uint32_t *numbers = test_alloc((count + 1) * sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = below(p, one_in) == 0 ? UINT32_MAX - below(p, 2) : below(p, n);
    return numbers;
}

/* Draws an input, or makes an empty output. Some optional arrays are absent. */
static void *draw_array(struct pair *p, const struct call_array *array, const struct given *g, const void *before)
{
    const size_t bytes = call_array_bytes(array, g), count = call_array_elements(array, g);

    if (bytes == 0 || (array->optional && below(p, 3) == 0))
        return NULL;
    if (array->output)
        return empty(count, bytes);
    if (strcmp(array->name, "hi") == 0)
        return draw_above(p, before, count);
    if (strcmp(array->name, "ranks") == 0)
        return draw_numbers(p, count, 20, (uint32_t) p->model.count + 2);
    if (strcmp(array->name, "limits") == 0)
        return draw_numbers(p, count, 6, 9);
    return strcmp(array->name, "values") == 0 ? draw_words(p, count, bytes) : draw_keys(p, count);
}

/* Each type needs its own kernels, as in sequence.c. */
static ordo_type value_type(struct pair *p, ordo_op op)
{
    static const ordo_type narrow[] = { ORDO_U32, ORDO_I32, ORDO_F32 }, wide[] = { ORDO_U64, ORDO_I64, ORDO_F64 };
    const uint32_t         types = op == ORDO_SUM ? 2 : 3;
    const bool             all = p->type == ORDO_U32 || p->type == ORDO_F64 || test_wants_all("ORDO_TEST_KINDS");
    return (p->value_bytes == 4 ? narrow : wide)[all ? below(p, types) : (uint32_t) p->type % types];
}

/* A way to combine values. */
struct how {
    ordo_type value;
    ordo_op   op;
};

static struct how draw_how(struct pair *p)
{
    const ordo_op op = (ordo_op) below(p, 3);
    return (struct how) { value_type(p, op), op };
}

/* Room for the elements of ranges, sometimes too little. The last array drawn is the offsets. */
static size_t draw_room(struct pair *p, const struct array_call *call, const struct given *g, void *const drawn[],
                        size_t n)
{
    AUTO_FREE void *offsets = empty(g->count + 1, 8);
    void           *a[CALL_ARRAYS] = { NULL };

    memcpy(a, drawn, n * sizeof *a);
    a[n - 1] = offsets;
    const size_t total = model_call(&p->model, call, g, a).number;
    return below(p, 8) == 0 && total > 0 ? below(p, (uint32_t) total) : total + below(p, 3);
}

/* Makes ordo_dict_NAME with `count` operations. */
static void draw_call(struct pair *p, const char *name, size_t count, bool on_host)
{
    const struct array_call *call = call_named(name);
    struct given             g = given_of(p, count);
    const struct how         how = draw_how(p);
    void                    *want[CALL_ARRAYS] = { NULL };

    g.relation = strstr(name, "rank") ? (below(p, 2) ? ORDO_LT : ORDO_LE) : (ordo_relation) below(p, 4);
    g.value = how.value;
    g.op = how.op;
    g.limit = below(p, 3) ? below(p, 20) : 0;
    g.ascending = below(p, 2);
    for (size_t i = 0; i < call_arrays(call); i++) {
        if (call->array[i].times == CALL_ROOM && call->array[i - 1].times != CALL_ROOM)
            g.room = draw_room(p, call, &g, want, i);
        want[i] = draw_array(p, &call->array[i], &g, i ? want[i - 1] : NULL);
    }
    check_call(p, call, &g, on_host, want);
    for (size_t i = 0; i < call_arrays(call); i++)
        free(want[i]);
}

/* ---- combine ----------------------------------------------------------------------------------------------------- */

static void combine_keys(struct pair *p, struct how how, void *keys, size_t count, bool on_host)
{
    AUTO_FREE void *values = draw_words(p, count, p->value_bytes);
    struct given    g = given_of(p, count);

    g.value = how.value;
    g.op = how.op;
    check_call(p, call_named("ordo_dict_combine"), &g, on_host, (void *[CALL_ARRAYS]) { keys, values });
}

/* Batches for a dictionary of keys 0, 8, 16 ...: `keys` keys, `apart` apart, in turn, beginning with `first`. A node
 * of a linked tree holds up to 28 elements. A GPU applies up to 24 updates of a node directly; a team applies up to
 * 1024. */
static const struct boundary {
    const char *what;
    uint32_t    held, first, keys, apart, count;
} combine_boundaries[] = {
    { "into nothing, each key once", 0, 0, 50, 8, 50 },
    { "into nothing, one key", 0, 3, 1, 1, 65536 },
    { "a key that is not there", 4000, 1, 1, 1, 1 },
    { "a key that is not there, some times", 4000, 1, 1, 1, 7 },
    { "a key that is there, some times", 4000, 80, 1, 1, 7 },
    { "a key more often than a bucket has room for", 4000, 80, 1, 1, 60 },
    { "a key more often than a team takes", 30000, 80, 1, 1, 1100 },
    { "a key that is not there more often than a team takes", 30000, 81, 1, 1, 1100 },
    { "neighbours more often than a team takes", 30000, 80, 9, 4, 1200 },
    { "a key 2^16 times", 30000, 80, 1, 1, 65536 },
    { "neighbours that are there", 4000, 160, 20, 8, 20 },
    { "neighbours that are there, some times", 4000, 160, 10, 8, 30 },
    { "neighbours of which half are there", 4000, 160, 20, 4, 20 },
    { "a leaf that splits", 4000, 161, 20, 2, 20 },
    { "a leaf that splits, each key some times", 4000, 161, 20, 2, 60 },
    { "a leaf that splits into many", 30000, 161, 800, 1, 800 },
    { "a leaf that splits into many in rounds", 60000, 161, 2000, 1, 2000 },
    { "leaves far apart, all keys there", 30000, 0, 300, 800, 300 },
    { "leaves far apart, all keys there, some times", 30000, 0, 100, 800, 350 },
    { "leaves far apart, no key there", 30000, 1, 300, 800, 300 },
    { "more keys than there are", 100, 0, 3000, 4, 4000 },
};

static void combine_at(struct pair *p, const struct boundary *boundary, struct how how)
{
    AUTO_FREE void *keys = test_alloc(boundary->count * p->key_bytes);

    for (uint32_t i = 0; i < boundary->count; i++)
        put_form(p->type, keys, i, boundary->first + (uint64_t) (i * 7919 % boundary->keys) * boundary->apart);
    combine_keys(p, how, keys, boundary->count, below(p, 3) == 0);
}

static void hold(struct pair *p, uint32_t count)
{
    AUTO_FREE void    *keys = test_alloc(count * p->key_bytes), *values = draw_words(p, count, p->value_bytes);
    AUTO_FREE uint8_t *codes = test_alloc(count);
    const struct ordo_host_batch batch = { .codes = codes, .keys = keys, .values = values, .count = count };

    memset(codes, ORDO_UPSERT, count);
    for (uint32_t i = 0; i < count; i++)
        put_form(p->type, keys, i, (key_form) i * 8);
    (void) model_apply(&p->model, &batch);
    test_ok(p->t, ordo_dict_build_host(p->dict, keys, values, count));
}

/* Applies each batch twice, so that the second combines with the first. */
static void combine_at_boundaries(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes)
{
    for (size_t s = 0; s < LENGTH(combine_boundaries); s++) {
        AUTO(pair_free) struct pair p = pair_make(t, subject, type, value_bytes);
        test_context(t, "%s, %s, %u bytes of value: %s", structures[subject].name, test_type_name[type], value_bytes,
                     combine_boundaries[s].what);
        if (combine_boundaries[s].held)
            hold(&p, combine_boundaries[s].held);
        combine_at(&p, &combine_boundaries[s], draw_how(&p));
        combine_at(&p, &combine_boundaries[s], draw_how(&p));
    }
}

/* Batches for an array of keys 0, 8, 16 ...; 0 keys: as many keys as elements. */
static const struct boundary tile_boundaries[] = {
    { "one key that is there", 0, 40, 1, 8, 0 },  { "the 158th", 0, 157 * 8, 1, 8, 0 },
    { "one that is not", 0, 41, 1, 8, 0 },        { "keys that are there", 0, 0, 0, 8, 0 },
    { "from the 121st on", 0, 120 * 8, 0, 8, 0 }, { "keys that are not", 0, 1, 0, 8, 0 },
    { "both, in turn", 0, 0, 0, 4, 0 },           { "nine keys, some there", 0, 0, 9, 4, 0 },
    { "keys before all but one", 0, 0, 0, 1, 0 },
};

/* Here merge tiles have 64 elements on CPUs, 160 to 320 on GPUs. */
static const uint32_t tile_held[] = { 1, 63, 64, 65, 127, 315, 640 }, tile_counts[] = { 1, 2, 63, 64, 65, 321 };

static void combine_in_tiles(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes,
                             const struct boundary *boundary, struct how how)
{
    AUTO(pair_free) struct pair p = pair_make(t, subject, type, value_bytes);

    test_context(t, "%s, %s, values %s, operation %d, %u into %u: %s", structures[subject].name, test_type_name[type],
                 test_type_name[how.value], (int) how.op, (unsigned) boundary->count, (unsigned) boundary->held,
                 boundary->what);
    hold(&p, boundary->held);
    combine_at(&p, boundary, how);
}

/* Pairs of a type and an operation, except sums of floats. */
static struct how how_of(uint32_t value_bytes, size_t i)
{
    static const ordo_type narrow[] = { ORDO_U32, ORDO_I32, ORDO_F32 }, wide[] = { ORDO_U64, ORDO_I64, ORDO_F64 };
    return (struct how) { (value_bytes == 4 ? narrow : wide)[i % 3],
                          (ordo_op) (i % 3 == 2 ? 1 + i / 3 % 2 : i / 3 % 3) };
}

static void combines_in_tiles(struct test *t, ordo_type type, uint32_t value_bytes)
{
    size_t i = 0;
    for (size_t s = 0; s < LENGTH(tile_boundaries); s++)
        for (size_t h = 0; h < LENGTH(tile_held); h++)
            for (size_t c = 0; c < LENGTH(tile_counts); c++) {
                struct boundary boundary = tile_boundaries[s];
                boundary.held = tile_held[h];
                boundary.count = tile_counts[c];
                boundary.keys = boundary.keys ? boundary.keys : boundary.count;
                combine_in_tiles(t, t->facts->cpu && ordo_type_bytes(type) <= 8 && i % 16 == 7 ? XFAST : SORTED_ARRAY,
                                 type, value_bytes, &boundary, how_of(value_bytes, i));
                i++;
            }
}

/* ---- all against the model --------------------------------------------------------------------------------------- */

/* Whether this test makes a call: sequences make the others. */
static bool is_generic(const struct array_call *call, size_t subject, uint32_t value_bytes)
{
    const bool needs_values = strstr(call->name, "combine") || strstr(call->name, "aggregate");

    return !step_makes(call->name) && call->needs != ORDO_CAN_CONCURRENT &&
           ((value_bytes > 0 && value_bytes <= 8) || !needs_values) &&
           (call->needs != ORDO_CAN_ORDER || !structure_is((int) subject, ORDO_NO_ORDER));
}

static size_t draw_count(struct pair *p)
{
    static const uint32_t seams[] = { 1, 1, 2, 31, 33, 64, 127, 129 };
    return below(p, 2) ? seams[below(p, LENGTH(seams))] : below(p, 700);
}

static void one_dictionary(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes, size_t rounds)
{
    AUTO(pair_free) struct pair p = pair_make(t, subject, type, value_bytes);

    p.n_keys = 1 + below(&p, below(&p, 3) ? 6000 : 40);
    p.spacing = below(&p, 2) ? 1 : form_mask(type) / p.n_keys;
    for (size_t round = 0; round < rounds; round++) {
        if (round > 0)
            for (uint32_t i = below(&p, 4); i > 0; i--)
                change(&p, below(&p, 3) ? ORDO_UPSERT : ORDO_ERASE, 1 + below(&p, 2500));
        for (size_t i = 0; i < n_dict_calls; i++) {
            const size_t count = draw_count(&p);
            if (!is_generic(&dict_calls[i], subject, value_bytes))
                continue;
            test_context(t, "%s, %s, %u bytes of value, round %zu: %s of %zu", structures[subject].name,
                         test_type_name[type], value_bytes, round, dict_calls[i].name, count);
            draw_call(&p, dict_calls[i].name, count, below(&p, 3) == 0);
        }
    }
}

/* Types and value sizes as in dict.c. ORDO_TEST_KINDS=all tests all. */
DEVICE_TEST(dict_generic, equals_the_model)
{
    const bool all = test_wants_all("ORDO_TEST_KINDS");

    for (size_t subject = 0; subject < N_SUBJECTS; subject++)
        for (ordo_type type = ORDO_U32; type <= ORDO_BYTES16; type++) {
            if (!structure_takes(subject, type) || !(all || type_is_met(type, subject, t->seed, t->facts->cpu)))
                continue;
            for (size_t v = 0; v < test_n_value_sizes(); v++)
                one_dictionary(t, subject, type, test_value_bytes[type][v], 6);
        }
}

MASK_TEST(dict_generic, equals_the_model_with_gpu_kernels, "cpu=0")
{
    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        one_dictionary(t, subject, ORDO_U32, 4, 4);
        if (test_wants_all("ORDO_TEST_KINDS"))
            one_dictionary(t, subject, ORDO_F64, 4, 4);
    }
}

/* Tests each structure in one configuration. */
DEVICE_TEST(dict_generic, combines_at_boundaries)
{
    for (size_t subject = 0; subject < N_STRUCTURES; subject++) {
        combine_at_boundaries(t, subject, ORDO_U32, 4);
        if (test_wants_all("ORDO_TEST_KINDS"))
            combine_at_boundaries(t, subject, ORDO_F64, 8);
    }
}

/* Structures that combine in place. */
MASK_TEST(dict_generic, combines_at_boundaries_with_gpu_kernels, "cpu=0")
{
    for (size_t subject = 0; subject < N_STRUCTURES; subject++)
        if (structure_is((int) subject, ORDO_IS_TREE) && (subject == BLINK || test_wants_all("ORDO_TEST_KINDS")))
            combine_at_boundaries(t, subject, ORDO_U32, 4);
}

/* Uses tiles so small that few elements cross tile boundaries, and all operations of runs. */
static void small_tiles(struct test *t)
{
    static const int in[] = { SORTED_ARRAY, LSM_GROWTH_2, FAST, XFAST };

    test_look_back(t);
    test_ok(t, ordo_device_set_tunable(t->dev, "merge_runs.items", 5));
    if (!t->facts->cpu)
        test_ok(t, ordo_device_set_tunable(t->dev, "merge_runs.group", 64));
    combines_in_tiles(t, ORDO_U32, 4);
    if (t->facts->cpu || test_wants_all("ORDO_TEST_KINDS")) {
        combines_in_tiles(t, ORDO_F64, 8);
        combines_in_tiles(t, ORDO_BYTES16, 4);
    }
    for (size_t i = 0; i < LENGTH(in); i++)
        if (in[i] != XFAST || t->facts->cpu)
            one_dictionary(t, (size_t) in[i], ORDO_U32, 4, 6);
}

Test(dict_generic, combines_at_tile_boundaries)
{
    test_each_device(small_tiles);
}

Test(dict_generic, combines_at_tile_boundaries_with_gpu_kernels)
{
    test_each_device_with("cpu=0,progress=1", small_tiles);
}

/* ---- refused calls ----------------------------------------------------------------------------------------------- */

DEVICE_TEST(dict_generic, refuses_meaningless_calls)
{
    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        AUTO_DICT ordo_dict *narrow = NULL, *none = NULL;
        uint32_t             key = 7, value = 1, rank_of = 0, result = 0;
        size_t               taken = 7;
        test_context(t, "%s", structures[subject].name);
        test_ok(t, structures[subject].create(t->dev, &(struct ordo_dict_config) { ORDO_U32, 4 }, &narrow));
        test_ok(t, structures[subject].create(t->dev, &(struct ordo_dict_config) { ORDO_U32, 0 }, &none));
        test_status(t, ordo_dict_combine_host(narrow, ORDO_F32, ORDO_SUM, &key, &value, 1), ORDO_UNSUPPORTED);
        test_status(t, ordo_dict_combine_host(narrow, ORDO_U64, ORDO_SUM, &key, &value, 1), ORDO_INVALID);
        test_status(t, ordo_dict_combine_host(narrow, ORDO_U32, (ordo_op) 3, &key, &value, 1), ORDO_INVALID);
        test_status(t, ordo_dict_combine_host(none, ORDO_U32, ORDO_SUM, &key, NULL, 1), ORDO_INVALID);
        if (structure_is((int) subject, ORDO_NO_ORDER)) {
            test_status(t, ordo_dict_rank_host(narrow, ORDO_LE, &key, 1, &rank_of), ORDO_UNSUPPORTED);
            test_status(t, ordo_dict_take_first_host(narrow, 5, NULL, NULL, &taken), ORDO_UNSUPPORTED);
            ordo_dict_destroy(&narrow);
            ordo_dict_destroy(&none);
            continue;
        }
        test_status(t, ordo_dict_aggregate_host(narrow, ORDO_F32, ORDO_SUM, &key, &key, 1, &result, NULL),
                    ORDO_UNSUPPORTED);
        test_status(t, ordo_dict_rank_host(narrow, ORDO_GE, &key, 1, &rank_of), ORDO_INVALID);
        test_ok(t, ordo_dict_take_first_host(narrow, 5, NULL, NULL, &taken));
        test_true(t, taken == 0);
        test_ok(t, ordo_dict_erase_range_host(narrow, &key, &key, 1, &rank_of));
        test_true(t, rank_of == 0);
        test_ok(t, ordo_dict_size(narrow, NULL, &taken));
        test_true(t, taken == 0);
    }
}

/* ---- large ------------------------------------------------------------------------------------------------------- */

/* Long ranges over many elements: a cached table answers, and is replaced after a change. */
DEVICE_TEST(dict_generic, aggregates_long_ranges)
{
    enum { N = 200000, QUERIES = 300 };
    for (size_t subject = 0; subject < N_SUBJECTS; subject += 2) {
        if (structure_is((int) subject, ORDO_NO_ORDER))
            continue;
        AUTO(pair_free) struct pair p = pair_make(t, subject, ORDO_U32, 4);
        p.n_keys = N;
        p.spacing = 1;
        AUTO_FREE uint32_t *keys = test_alloc(N * sizeof *keys), *values = test_alloc(N * sizeof *values);
        AUTO_FREE uint8_t  *codes = test_alloc(N);
        for (uint32_t i = 0; i < N; i++) {
            keys[i] = i;
            values[i] = (uint32_t) test_random(t);
            codes[i] = ORDO_UPSERT;
        }
        (void) model_apply(&p.model,
                           &(struct ordo_host_batch) { .codes = codes, .keys = keys, .values = values, .count = N });
        test_ok(t, ordo_dict_build_host(p.dict, keys, values, N));
        for (int round = 0; round < 6; round++) {
            test_context(t, "%s, round %d", structures[subject].name, round);
            draw_call(&p, "ordo_dict_aggregate", QUERIES, round % 2);
            draw_call(&p, "ordo_dict_aggregate", 1 + below(&p, 3), false);
            if (round == 3)
                change(&p, ORDO_UPSERT, 1000);
        }
    }
}

/* ---- intervals erased in place ----------------------------------------------------------------------------------- */

/* An LSM of many runs. Erases intervals and ends between updates of the same keys, with limits small enough for
 * cleanups. */
DEVICE_TEST(dict_generic, erases_intervals_in_place)
{
    enum { ROUNDS = 24 };
    static const char *const     ends[] = { "ordo_dict_take_first", "ordo_dict_take_last", "ordo_dict_peek_first",
                                            "ordo_dict_peek_last" };
    const struct ordo_lsm_config config = {
        .dict = { ORDO_U32, 4 }, .growth = 2, .cleanup_least = 1000, .keep_runs = true
    };
    for (uint32_t n_keys = 100; n_keys <= 10000; n_keys *= 10) {
        AUTO(pair_free)
        struct pair p = { t, NULL, model_empty(ORDO_U32, 4), ORDO_U32, 4, 4, n_keys, UINT32_MAX / n_keys };
        test_ok(t, ordo_lsm_create(t->dev, &config, &p.dict));
        for (int round = 0; round < ROUNDS; round++) {
            test_context(t, "of %u keys, round %d", (unsigned) n_keys, round);
            for (uint32_t i = 1 + below(&p, 3); i > 0; i--)
                change(&p, below(&p, 4) ? ORDO_UPSERT : ORDO_ERASE, 1 + below(&p, n_keys / 2));
            for (uint32_t i = below(&p, 4); i > 0; i--)
                draw_call(&p, "ordo_dict_erase_range", 1, below(&p, 2));
            draw_call(&p, ends[below(&p, 4)], below(&p, 2) ? below(&p, 140) : p.model.count, below(&p, 2));
        }
    }
}

/* One run with long hidden segments. Selects the element of every rank. */
DEVICE_TEST(dict_generic, selects_around_gaps)
{
    enum { N = 20000, GAPS = 5 };
    static const uint32_t        lo[][GAPS] = { { 1 }, { 0 }, { 10000 }, { 100, 300, 700, 19872, 19999 } };
    static const uint32_t        hi[][GAPS] = { { 1 }, { 9999 }, { 19990 }, { 227, 680, 16000, 19998, 19999 } };
    const struct ordo_lsm_config config = { .dict = { ORDO_U32, 4 }, .keep_runs = true };
    AUTO_FREE uint32_t          *keys = test_alloc(N * sizeof *keys), *ranks = test_alloc(N * sizeof *ranks),
                       *got = test_alloc(N * sizeof *got);
    AUTO_FREE uint8_t *found = test_alloc(N);

    for (uint32_t i = 0; i < N; i++)
        keys[i] = ranks[i] = i;
    for (size_t gaps = 0; gaps < sizeof lo / sizeof *lo; gaps++) {
        AUTO_DICT ordo_dict *dict = NULL;
        uint32_t             rank = 0;

        test_context(t, "gaps %zu", gaps);
        test_ok(t, ordo_lsm_create(t->dev, &config, &dict));
        test_ok(t, ordo_dict_build_host(dict, keys, keys, N));
        for (size_t i = 0; i < GAPS && hi[gaps][i]; i++)
            test_ok(t, ordo_dict_erase_range_host(dict, &lo[gaps][i], &hi[gaps][i], 1, NULL));
        test_ok(t, ordo_dict_select_host(dict, ranks, N, got, NULL, found));
        for (uint32_t key = 0; key < N; key++) {
            bool gone = false;
            for (size_t i = 0; i < GAPS && hi[gaps][i]; i++)
                gone |= lo[gaps][i] <= key && key <= hi[gaps][i];
            if (!gone && (!found[rank] || got[rank++] != key))
                test_fail(t, __FILE__, __LINE__, "rank %u: %u, not %u", rank - 1, got[rank - 1], key);
        }
        test_true(t, rank == N || !found[rank]);
    }
}
