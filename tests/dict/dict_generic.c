/* SPDX-License-Identifier: Apache-2.0 */
/* The generic operations: combine, ranks, selections, limited ranges, bounded seeks, erased ranges, first and last
 * elements, aggregates. Compares each structure with the model, for every key type, on updated content, over host and
 * over device memory. */
#include "sequence.h"
#include "tests/support/calls.h"

#include "shared/key.h"

#include <inttypes.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- a dictionary and its model ---------------------------------------------------------------------------------- */

struct pair {
    struct test *t;
    ordo_dict   *dict;
    struct model model;
    ordo_type    type;
    uint32_t     value_bytes;
    size_t       key_bytes;
    uint32_t     n_keys;  /* number of possible keys */
    uint64_t     spacing; /* their distance in ordered form */
};

/* The key of number k; 0 and n_keys are the ends of the type. */
static uint64_t form_of(const struct pair *p, uint32_t k)
{
    const uint64_t all = p->key_bytes == 8 ? UINT64_MAX : UINT32_MAX;
    return k >= p->n_keys ? all : (uint64_t) k * p->spacing & all;
}

static void put_key(const struct pair *p, void *keys, size_t i, uint64_t form)
{
    const uint64_t key = key_from_bits_of((int) p->type, form);
    const uint32_t narrow = (uint32_t) key;

    if (p->key_bytes == 4)
        memcpy((uint8_t *) keys + 4 * i, &narrow, 4);
    else
        memcpy((uint8_t *) keys + 8 * i, &key, 8);
}

static uint64_t get_word(const void *array, size_t bytes, size_t i)
{
    uint64_t word = 0;

    memcpy(&word, (const uint8_t *) array + i * bytes, bytes);
    return word;
}

static void put_word(void *array, size_t bytes, size_t i, uint64_t word)
{
    if (array)
        memcpy((uint8_t *) array + i * bytes, &word, bytes);
}

static uint32_t below(struct pair *p, uint32_t n)
{
    return (uint32_t) test_below(p->t, n);
}

/* Draws present and absent keys, and their forms. */
static void *draw_keys(struct pair *p, size_t count, uint64_t *forms)
{
    void          *keys = test_alloc((count + 1) * p->key_bytes);
    const uint32_t few = below(p, 4) == 0 ? 1 + below(p, 9) : p->n_keys + 1;

    for (size_t i = 0; i < count; i++) {
        const uint64_t form = form_of(p, below(p, few));
        if (forms)
            forms[i] = form;
        put_key(p, keys, i, form);
    }
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
    uint8_t *words = test_alloc((count + 1) * 8);

    for (size_t i = 0; i < count; i++)
        put_word(words, bytes, i, draw_word(p, bytes));
    return words;
}

static void *empty(size_t count, size_t bytes)
{
    void *array = test_alloc((count + 1) * 8);

    memset(array, TEST_EMPTY, count * bytes);
    return array;
}

static void change(struct pair *p, ordo_code code, size_t count)
{
    AUTO_FREE void              *keys = draw_keys(p, count, NULL), *values = draw_words(p, count, p->value_bytes);
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
        test_true(p->t, get_word(keys, p->key_bytes, i) == p->model.element[i].key);
        test_true(p->t, p->value_bytes == 0 || get_word(values, p->value_bytes, i) == p->model.element[i].value);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static struct given given_of(struct pair *p, size_t count)
{
    struct given g = call_given(p->t->dev, p->dict, count);
    g.type = p->type;
    g.value_bytes = p->value_bytes;
    return g;
}

/* Calls ordo_dict_NAME with host arrays in the order of calls.h; NULL: absent. Over device memory each array is
 * uploaded at a random offset and read back. */
static ordo_status call_with(struct pair *p, const char *name, const struct given *g, bool on_host, void *const host[])
{
    const struct array_call *call = call_named(name);
    struct test_array        array[CALL_ARRAYS];
    struct ordo_slice        slice[CALL_ARRAYS];

    if (on_host)
        return call->run_host(g, host);
    for (size_t i = 0; i < call_arrays(call); i++) {
        const struct call_array *is = &call->array[i];
        const size_t             count = is->times == CALL_ROOM ? g->room : call_array_count(is, g->count);
        const size_t             bytes = call_array_bytes(is, g);
        slice[i] = ordo_none();
        if (!host[i] || bytes == 0)
            continue;
        array[i] = test_upload(p->t, host[i], count, bytes, below(p, 20));
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

/* ---- combine ----------------------------------------------------------------------------------------------------- */

/* Each type needs its own kernels, as in sequence.c. */
static ordo_type value_type(struct pair *p, ordo_op op)
{
    static const ordo_type narrow[] = { ORDO_U32, ORDO_I32, ORDO_F32 }, wide[] = { ORDO_U64, ORDO_I64, ORDO_F64 };
    const uint32_t         types = op == ORDO_SUM ? 2 : 3;
    const bool             all = p->type == ORDO_U32 || p->type == ORDO_F64 || test_wants_all("ORDO_TEST_KINDS");
    return (p->value_bytes == 4 ? narrow : wide)[all ? below(p, types) : (uint32_t) p->type % types];
}

static uint64_t combined(ordo_type type, ordo_op op, uint64_t a, uint64_t b)
{
    const uint64_t mask = ordo_type_bytes(type) == 4 ? UINT32_MAX : UINT64_MAX;

    if (op == ORDO_SUM)
        return (a + b) & mask;
    return (key_bits_of((int) type, a) < key_bits_of((int) type, b)) == (op == ORDO_MIN) ? a : b;
}

/* Combines key by key. Adjacent equal keys are combined first. */
static void model_combine(struct pair *p, ordo_type value, ordo_op op, const uint64_t *forms, const void *keys,
                          const void *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t at = model_rank(&p->model, forms[i]);
        const bool   there = at < p->model.count && p->model.element[at].form == forms[i];
        uint64_t     word = get_word(values, p->value_bytes, i);
        word = there ? combined(value, op, p->model.element[at].value, word) : word;
        for (; i + 1 < count && forms[i + 1] == forms[i]; i++)
            word = combined(value, op, word, get_word(values, p->value_bytes, i + 1));
        const struct ordo_host_batch one = { .codes = &(uint8_t) { ORDO_UPSERT },
                                             .keys = (const uint8_t *) keys + i * p->key_bytes,
                                             .values = &word,
                                             .count = 1 };
        (void) model_apply(&p->model, &one);
    }
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

static void combine_keys(struct pair *p, struct how how, const uint64_t *forms, const void *keys, size_t count,
                         bool on_host)
{
    AUTO_FREE void *taken = memcpy(test_alloc(count * p->key_bytes), keys, count * p->key_bytes);
    AUTO_FREE void *values = draw_words(p, count, p->value_bytes);
    struct given    g = given_of(p, count);

    g.value = how.value;
    g.op = how.op;
    model_combine(p, how.value, how.op, forms, keys, values, count);
    test_ok(p->t, call_with(p, "ordo_dict_combine", &g, on_host, (void *[]) { taken, values }));
    test_true(p->t, memcmp(taken, keys, count * p->key_bytes) == 0);
    expect_model(p);
}

static void combine(struct pair *p, size_t count, bool on_host)
{
    AUTO_FREE uint64_t *forms = test_alloc((count + 1) * sizeof *forms);
    AUTO_FREE void     *keys = draw_keys(p, count, forms);

    combine_keys(p, draw_how(p), forms, keys, count, on_host);
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
    AUTO_FREE uint64_t *forms = test_alloc(boundary->count * sizeof *forms);
    AUTO_FREE void     *keys = test_alloc(boundary->count * p->key_bytes);

    for (uint32_t i = 0; i < boundary->count; i++) {
        forms[i] = boundary->first + (uint64_t) (i * 7919 % boundary->keys) * boundary->apart;
        put_key(p, keys, i, forms[i]);
    }
    combine_keys(p, how, forms, keys, boundary->count, below(p, 3) == 0);
}

static void hold(struct pair *p, uint32_t count)
{
    AUTO_FREE void    *keys = test_alloc(count * p->key_bytes), *values = draw_words(p, count, p->value_bytes);
    AUTO_FREE uint8_t *codes = test_alloc(count);
    const struct ordo_host_batch batch = { .codes = codes, .keys = keys, .values = values, .count = count };

    memset(codes, ORDO_UPSERT, count);
    for (uint32_t i = 0; i < count; i++)
        put_key(p, keys, i, (uint64_t) i * 8);
    (void) model_apply(&p->model, &batch);
    test_ok(p->t, ordo_dict_build_host(p->dict, keys, values, count));
}

/* Applies each batch twice, so that the second combines with the first. */
static void combine_at_boundaries(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes)
{
    const struct ordo_dict_config config = { type, value_bytes };

    for (size_t s = 0; s < LENGTH(combine_boundaries); s++) {
        struct pair p = { t, NULL, model_empty(type, value_bytes), type, value_bytes, ordo_type_bytes(type), 0, 0 };
        test_context(t, "%s, %s, %u bytes of value: %s", structures[subject].name, test_type_name[type], value_bytes,
                     combine_boundaries[s].what);
        test_ok(t, structures[subject].create(t->dev, &config, &p.dict));
        if (combine_boundaries[s].held)
            hold(&p, combine_boundaries[s].held);
        combine_at(&p, &combine_boundaries[s], draw_how(&p));
        combine_at(&p, &combine_boundaries[s], draw_how(&p));
        ordo_dict_destroy(&p.dict);
        model_free(&p.model);
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
    const struct ordo_dict_config config = { type, value_bytes };
    struct pair p = { t, NULL, model_empty(type, value_bytes), type, value_bytes, ordo_type_bytes(type), 0, 0 };

    test_context(t, "%s, %s, values %s, operation %d, %u into %u: %s", structures[subject].name, test_type_name[type],
                 test_type_name[how.value], (int) how.op, (unsigned) boundary->count, (unsigned) boundary->held,
                 boundary->what);
    test_ok(t, structures[subject].create(t->dev, &config, &p.dict));
    hold(&p, boundary->held);
    combine_at(&p, boundary, how);
    ordo_dict_destroy(&p.dict);
    model_free(&p.model);
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
                combine_in_tiles(t, t->facts->cpu && i % 16 == 7 ? XFAST : SORTED_ARRAY, type, value_bytes, &boundary,
                                 how_of(value_bytes, i));
                i++;
            }
}

/* ---- ranks and selections ---------------------------------------------------------------------------------------- */

static void rank(struct pair *p, size_t count, bool on_host)
{
    const ordo_relation relation = below(p, 2) ? ORDO_LT : ORDO_LE;
    AUTO_FREE uint64_t *forms = test_alloc((count + 1) * sizeof *forms);
    AUTO_FREE void     *keys = draw_keys(p, count, forms);
    AUTO_FREE uint32_t *got = empty(count, 4), *want = empty(count, 4);
    struct given        g = given_of(p, count);

    g.relation = relation;
    for (size_t i = 0; i < count; i++) {
        const size_t at = model_rank(&p->model, forms[i]);
        const bool   there = at < p->model.count && p->model.element[at].form == forms[i];
        want[i] = (uint32_t) (at + (relation == ORDO_LE && there));
    }
    test_ok(p->t, call_with(p, "ordo_dict_rank", &g, on_host, (void *[]) { keys, got }));
    expect_same(p, "ranks", got, want, count * 4);
}

/* Outputs with one element for each query. */
struct hits {
    void    *keys, *values;
    uint8_t *found;
};

static struct hits empty_hits(const struct pair *p, size_t count, unsigned wanted)
{
    return (struct hits) { wanted & 1 ? empty(count, p->key_bytes) : NULL,
                           wanted & 2 && p->value_bytes ? empty(count, p->value_bytes) : NULL,
                           wanted & 4 ? empty(count, 1) : NULL };
}

/* Writes the element found, or that there is none. */
static void put_hit(const struct pair *p, struct hits *h, size_t i, size_t at)
{
    put_word(h->found, 1, i, at < p->model.count);
    if (at >= p->model.count)
        return;
    put_word(h->keys, p->key_bytes, i, p->model.element[at].key);
    put_word(h->values, p->value_bytes, i, p->model.element[at].value);
}

static void expect_hits(struct pair *p, struct hits *got, struct hits *want, size_t count)
{
    if (got->found)
        expect_same(p, "found", got->found, want->found, count);
    if (got->keys)
        expect_same(p, "keys", got->keys, want->keys, count * p->key_bytes);
    if (got->values)
        expect_same(p, "values", got->values, want->values, count * p->value_bytes);
    free(got->keys);
    free(got->values);
    free(got->found);
    free(want->keys);
    free(want->values);
    free(want->found);
}

static void select_some(struct pair *p, size_t count, bool on_host)
{
    const unsigned      wanted = below(p, 8);
    AUTO_FREE uint32_t *ranks = test_alloc((count + 1) * sizeof *ranks);
    struct hits         got = empty_hits(p, count, wanted), want = empty_hits(p, count, wanted);
    struct given        g = given_of(p, count);

    for (size_t i = 0; i < count; i++) {
        ranks[i] = below(p, 20) == 0 ? UINT32_MAX - below(p, 2) : below(p, (uint32_t) p->model.count + 2);
        put_hit(p, &want, i, ranks[i]);
    }
    test_ok(p->t, call_with(p, "ordo_dict_select", &g, on_host, (void *[]) { ranks, got.keys, got.values, got.found }));
    expect_hits(p, &got, &want, count);
}

/* ---- seeks with bounds ------------------------------------------------------------------------------------------- */

/* Position of the nearest key; the model's count if there is none. */
static size_t nearest(const struct model *m, ordo_relation relation, uint64_t form)
{
    const size_t at = model_rank(m, form), there = at < m->count && m->element[at].form == form;

    if (relation == ORDO_GE)
        return at;
    if (relation == ORDO_GT)
        return at + there;
    const size_t past = relation == ORDO_LE ? at + there : at;
    return past > 0 ? past - 1 : m->count;
}

static void seek_within(struct pair *p, size_t count, bool on_host)
{
    const ordo_relation relation = (ordo_relation) below(p, 4);
    const bool          forward = relation == ORDO_GE || relation == ORDO_GT;
    const unsigned      wanted = below(p, 8);
    AUTO_FREE uint64_t *forms = test_alloc((count + 1) * sizeof *forms), *ends = test_alloc((count + 1) * sizeof *ends);
    AUTO_FREE void     *keys = draw_keys(p, count, forms), *bounds = draw_keys(p, count, ends);
    struct hits         got = empty_hits(p, count, wanted), want = empty_hits(p, count, wanted);
    struct given        g = given_of(p, count);

    g.relation = relation;
    for (size_t i = 0; i < count; i++) {
        const size_t at = nearest(&p->model, relation, forms[i]);
        const bool   within = at < p->model.count &&
                            (forward ? p->model.element[at].form <= ends[i] : p->model.element[at].form >= ends[i]);
        put_hit(p, &want, i, within ? at : p->model.count);
    }
    test_ok(p->t, call_with(p, "ordo_dict_seek_within", &g, on_host,
                            (void *[]) { keys, bounds, got.keys, got.values, got.found }));
    expect_hits(p, &got, &want, count);
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Bounds, some of them reversed. first and past are positions in the model. */
struct bounds {
    void   *lo, *hi;
    size_t *first, *past;
};

static struct bounds draw_bounds(struct pair *p, size_t count)
{
    struct bounds       b = { .first = test_alloc((count + 1) * sizeof(size_t)),
                              .past = test_alloc((count + 1) * sizeof(size_t)) };
    AUTO_FREE uint64_t *low = test_alloc((count + 1) * sizeof *low);
    const uint32_t      wide = below(p, 3) ? 12 : p->n_keys;

    b.lo = draw_keys(p, count, low);
    b.hi = test_alloc((count + 1) * p->key_bytes);
    for (size_t i = 0; i < count; i++) {
        const uint64_t all = p->key_bytes == 8 ? UINT64_MAX : UINT32_MAX;
        const uint64_t more = p->spacing * below(p, wide + 1);
        uint64_t       high = more > all - low[i] ? all : low[i] + more;
        if (below(p, 16) == 0)
            high = form_of(p, below(p, p->n_keys + 1));
        put_key(p, b.hi, i, high);
        b.first[i] = model_rank(&p->model, low[i]);
        b.past[i] = high == UINT64_MAX ? p->model.count : model_rank(&p->model, high + 1);
        if (low[i] > high)
            b.past[i] = b.first[i];
    }
    return b;
}

static void free_bounds(struct bounds *b)
{
    free(b->lo);
    free(b->hi);
    free(b->first);
    free(b->past);
}

static void range_limited(struct pair *p, size_t count, bool on_host)
{
    const bool                      descending = below(p, 2), has_limits = below(p, 2);
    const uint32_t                  limit = below(p, 3) ? below(p, 20) : 0;
    AUTO(free_bounds) struct bounds b = draw_bounds(p, count);
    AUTO_FREE uint32_t             *limits = test_alloc((count + 1) * sizeof *limits);
    AUTO_FREE uint64_t             *offsets = empty(count + 1, 8), *want_offsets = empty(count + 1, 8);
    size_t                          total = 0, needed = SIZE_MAX;

    for (size_t i = 0; i < count; i++) {
        size_t n = b.past[i] - b.first[i];
        limits[i] = below(p, 6) ? below(p, 9) : UINT32_MAX;
        n = limit && n > limit ? limit : n;
        n = has_limits && n > limits[i] ? limits[i] : n;
        want_offsets[i] = total;
        total += n;
    }
    want_offsets[count] = total;
    const size_t       room = below(p, 8) == 0 && total > 0 ? below(p, (uint32_t) total) : total + below(p, 3);
    AUTO_FREE uint8_t *keys = empty(room, p->key_bytes), *values = empty(room, p->value_bytes);
    AUTO_FREE uint8_t *want_keys = empty(room, p->key_bytes), *want_values = empty(room, p->value_bytes);
    for (size_t i = 0; i < count && total <= room; i++)
        for (size_t x = 0; x < want_offsets[i + 1] - want_offsets[i]; x++) {
            const size_t at = descending ? b.past[i] - 1 - x : b.first[i] + x;
            put_word(want_keys, p->key_bytes, want_offsets[i] + x, p->model.element[at].key);
            put_word(want_values, p->value_bytes, want_offsets[i] + x, p->model.element[at].value);
        }
    void *const       values_out = p->value_bytes ? values : NULL;
    const ordo_status want = total > room ? ORDO_TOO_SMALL : ORDO_OK;
    struct given      g = given_of(p, count);
    g.limit = limit;
    g.ascending = !descending;
    g.room = room;
    g.got = &needed;
    test_status(p->t,
                call_with(p, "ordo_dict_range_limited", &g, on_host,
                          (void *[]) { b.lo, b.hi, has_limits ? limits : NULL, offsets, keys, values_out }),
                want);
    test_true(p->t, needed == total);
    expect_same(p, "offsets", offsets, want_offsets, (count + 1) * 8);
    expect_same(p, "range keys", keys, want_keys, room * p->key_bytes);
    expect_same(p, "range values", values, want_values, room * p->value_bytes);
}

static void model_erase(struct pair *p, size_t first, size_t past)
{
    struct model *m = &p->model;

    memmove(m->element + first, m->element + past, (m->count - past) * sizeof *m->element);
    m->count -= past - first;
}

static void erase_range(struct pair *p, size_t count, bool on_host)
{
    const bool                      asks = below(p, 4) != 0;
    AUTO(free_bounds) struct bounds b = draw_bounds(p, count);
    AUTO_FREE uint32_t             *got = empty(count, 4), *want = empty(count, 4);
    AUTO_FREE uint8_t              *gone = test_alloc(p->model.count + 1);
    size_t                          kept = 0;

    memset(gone, 0, p->model.count + 1);
    for (size_t i = 0; i < count; i++) {
        want[i] = asks ? 0 : want[i];
        for (size_t at = b.first[i]; at < b.past[i]; at++) {
            want[i] += asks && !gone[at];
            gone[at] = 1;
        }
    }
    for (size_t at = 0; at < p->model.count; at++)
        if (!gone[at])
            p->model.element[kept++] = p->model.element[at];
    p->model.count = kept;
    struct given g = given_of(p, count);
    test_ok(p->t, call_with(p, "ordo_dict_erase_range", &g, on_host, (void *[]) { b.lo, b.hi, asks ? got : NULL }));
    expect_same(p, "erased", got, want, count * 4);
    expect_model(p);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void ends(struct pair *p, size_t count, bool on_host)
{
    const bool     last = below(p, 2), takes = below(p, 2);
    const size_t   size = p->model.count, n = count < size ? count : size;
    const unsigned wanted = below(p, 4);
    struct hits    got = empty_hits(p, count, wanted), want = empty_hits(p, count, wanted);
    size_t         number = SIZE_MAX;
    struct given   g = given_of(p, count);

    g.got = &number;
    for (size_t i = 0; i < n; i++)
        put_hit(p, &want, i, last ? size - 1 - i : i);
    test_ok(p->t, call_with(p,
                            takes  ? last ? "ordo_dict_take_last" : "ordo_dict_take_first"
                            : last ? "ordo_dict_peek_last"
                                   : "ordo_dict_peek_first",
                            &g, on_host, (void *[]) { got.keys, got.values }));
    test_true(p->t, number == n);
    expect_hits(p, &got, &want, count);
    if (takes)
        model_erase(p, last ? size - n : 0, last ? size : n);
    expect_model(p);
}

/* ---- aggregates -------------------------------------------------------------------------------------------------- */

static uint64_t identity_of(ordo_type type, ordo_op op)
{
    return op == ORDO_SUM ? 0
                          : key_from_bits_of((int) type, op == ORDO_MAX               ? 0
                                                         : ordo_type_bytes(type) == 4 ? UINT32_MAX
                                                                                      : UINT64_MAX);
}

static void aggregate(struct pair *p, size_t count, bool on_host)
{
    const ordo_op                   op = (ordo_op) below(p, 3);
    const ordo_type                 value = value_type(p, op);
    const bool                      counts = below(p, 2);
    AUTO(free_bounds) struct bounds b = draw_bounds(p, count);
    AUTO_FREE void                 *got = empty(count, p->value_bytes), *want = empty(count, p->value_bytes);
    AUTO_FREE uint32_t             *got_counts = empty(count, 4), *want_counts = empty(count, 4);

    for (size_t i = 0; i < count; i++) {
        uint64_t sum = identity_of(value, op);
        for (size_t at = b.first[i]; at < b.past[i]; at++)
            sum = combined(value, op, sum, p->model.element[at].value);
        put_word(want, p->value_bytes, i, sum);
        want_counts[i] = counts ? (uint32_t) (b.past[i] - b.first[i]) : want_counts[i];
    }
    struct given g = given_of(p, count);
    g.value = value;
    g.op = op;
    test_ok(p->t, call_with(p, "ordo_dict_aggregate", &g, on_host,
                            (void *[]) { b.lo, b.hi, got, counts ? got_counts : NULL }));
    expect_same(p, "aggregates", got, want, count * p->value_bytes);
    expect_same(p, "counts of aggregates", got_counts, want_counts, count * 4);
}

/* ---- all against the model --------------------------------------------------------------------------------------- */

typedef void operation(struct pair *p, size_t count, bool on_host);

static const struct {
    const char *name;
    operation  *run;
    bool        numbers;  /* needs values */
    bool        no_order; /* works without an order of keys */
} operations[] = {
    { "combine", combine, true, true },
    { "rank", rank, false },
    { "select", select_some, false },
    { "seek_within", seek_within, false },
    { "range_limited", range_limited, false },
    { "erase_range", erase_range, false },
    { "ends", ends, false },
    { "aggregate", aggregate, true },
};

static size_t draw_count(struct pair *p)
{
    static const uint32_t seams[] = { 1, 1, 2, 31, 33, 64, 127, 129 };
    return below(p, 2) ? seams[below(p, LENGTH(seams))] : below(p, 700);
}

static void one_dictionary(struct test *t, size_t subject, ordo_type type, uint32_t value_bytes, size_t rounds)
{
    const struct ordo_dict_config config = { type, value_bytes };
    struct pair p = { t, NULL, model_empty(type, value_bytes), type, value_bytes, ordo_type_bytes(type), 0, 0 };

    p.n_keys = 1 + below(&p, below(&p, 3) ? 6000 : 40);
    p.spacing = below(&p, 2) ? 1 : (p.key_bytes == 8 ? UINT64_MAX : UINT32_MAX) / p.n_keys;
    test_ok(t, structures[subject].create(t->dev, &config, &p.dict));
    for (size_t round = 0; round < rounds; round++) {
        if (round > 0)
            for (uint32_t i = below(&p, 4); i > 0; i--)
                change(&p, below(&p, 3) ? ORDO_UPSERT : ORDO_ERASE, 1 + below(&p, 2500));
        for (size_t o = 0; o < LENGTH(operations); o++) {
            const size_t count = draw_count(&p);
            if (operations[o].numbers && !value_bytes)
                continue;
            if (!operations[o].no_order && structure_is((int) subject, ORDO_NO_ORDER))
                continue;
            test_context(t, "%s, %s, %u bytes of value, round %zu: %s of %zu", structures[subject].name,
                         test_type_name[type], value_bytes, round, operations[o].name, count);
            operations[o].run(&p, count, below(&p, 3) == 0);
        }
    }
    ordo_dict_destroy(&p.dict);
    model_free(&p.model);
}

/* Types and value sizes as in dict.c. ORDO_TEST_KINDS=all tests all. */
DEVICE_TEST(dict_generic, equals_the_model)
{
    const bool all = test_wants_all("ORDO_TEST_KINDS");

    for (size_t subject = 0; subject < N_SUBJECTS; subject++)
        for (int type = ORDO_U32; type <= ORDO_F64; type++)
            for (size_t v = 0;
                 v < test_n_value_sizes() && (all || type_is_met((ordo_type) type, subject, t->seed, t->facts->cpu));
                 v++)
                one_dictionary(t, subject, (ordo_type) type, test_value_bytes[type][v], 6);
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
    if (t->facts->cpu || test_wants_all("ORDO_TEST_KINDS"))
        combines_in_tiles(t, ORDO_F64, 8);
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
        ordo_dict *narrow = NULL, *none = NULL;
        uint32_t   key = 7, value = 1, rank_of = 0, result = 0;
        size_t     taken = 7;
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
        ordo_dict_destroy(&narrow);
        ordo_dict_destroy(&none);
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
        struct pair p = { t, NULL, model_empty(ORDO_U32, 4), ORDO_U32, 4, 4, N, 1 };
        test_ok(t, structures[subject].create(t->dev, &(struct ordo_dict_config) { ORDO_U32, 4 }, &p.dict));
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
            aggregate(&p, QUERIES, round % 2);
            aggregate(&p, 1 + below(&p, 3), false);
            if (round == 3)
                change(&p, ORDO_UPSERT, 1000);
        }
        ordo_dict_destroy(&p.dict);
        model_free(&p.model);
    }
}

/* ---- intervals erased in place ----------------------------------------------------------------------------------- */

/* An LSM of many runs. Erases intervals and ends between updates of the same keys, with limits small enough for
 * cleanups. */
DEVICE_TEST(dict_generic, erases_intervals_in_place)
{
    enum { ROUNDS = 24 };
    const struct ordo_lsm_config config = {
        .dict = { ORDO_U32, 4 }, .growth = 2, .cleanup_least = 1000, .keep_runs = true
    };
    for (uint32_t n_keys = 100; n_keys <= 10000; n_keys *= 10) {
        struct pair p = { t, NULL, model_empty(ORDO_U32, 4), ORDO_U32, 4, 4, n_keys, UINT32_MAX / n_keys };
        test_ok(t, ordo_lsm_create(t->dev, &config, &p.dict));
        for (int round = 0; round < ROUNDS; round++) {
            test_context(t, "of %u keys, round %d", (unsigned) n_keys, round);
            for (uint32_t i = 1 + below(&p, 3); i > 0; i--)
                change(&p, below(&p, 4) ? ORDO_UPSERT : ORDO_ERASE, 1 + below(&p, n_keys / 2));
            for (uint32_t i = below(&p, 4); i > 0; i--)
                erase_range(&p, 1, below(&p, 2));
            ends(&p, below(&p, 2) ? below(&p, 140) : p.model.count, below(&p, 2));
        }
        ordo_dict_destroy(&p.dict);
        model_free(&p.model);
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
