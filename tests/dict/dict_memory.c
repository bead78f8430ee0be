/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries with too little memory, and queries that merge runs. */
#include "call_model.h"
#include "dict_case.h"

#include "dict/runs/runs.h"
#include "runtime/internal.h"

/* ---- too little memory ------------------------------------------------------------------------------------------- */

enum { OLD = 20000, NEW = 4000, FEW = 200 /* ranges erased, elements taken */ };

/* A dictionary (of several runs if it has runs), a call, and the model. */
struct memory_case {
    struct test      *t;
    ordo_device      *dev;
    ordo_dict        *dict;
    struct model      model;
    struct array_call call;
    struct given      given;
    void             *input[CALL_ARRAYS]; /* NULL: an output, or absent */
    struct test_array array[CALL_ARRAYS];
};

static void make_old(struct memory_case *m, int structure)
{
    static uint32_t keys[NEW], values[NEW];

    m->dict = make_dict(m->t, m->dev, structure, 0, OLD);
    for (uint32_t i = 0; i < NEW; i++) {
        keys[i] = key_of(i * 7);
        values[i] = i;
    }
    test_ok(m->t, ordo_dict_upsert_host(m->dict, keys, values, NEW));
    test_ok(m->t, ordo_dict_erase_host(m->dict, keys, NEW / 4));
    model_batch(&m->model, ORDO_UPSERT, keys, values, NEW);
    model_batch(&m->model, ORDO_ERASE, keys, NULL, NEW / 4);
}

/* The words of inputs. Keys differ. */
static uint32_t word_of(const char *name, uint32_t i)
{
    const bool above = strcmp(name, "hi") == 0 || strcmp(name, "bounds") == 0;

    if (strcmp(name, "values") == 0 || strcmp(name, "ranks") == 0)
        return i + 5;
    return strcmp(name, "limits") == 0 ? 3 : key_of(i * 11) + (above ? 1000000 : 0);
}

/* Concurrent batches get no rooms for ranges. */
static uint8_t code_of(const struct memory_case *m, uint32_t i)
{
    const uint8_t code = (uint8_t) (i % (ordo_dict_can(m->dict, ORDO_CAN_ORDER) ? ORDO_N_CODES : ORDO_ERASE + 1));
    return m->call.needs == ORDO_CAN_CONCURRENT && code == ORDO_RANGE ? ORDO_COUNT : code;
}

static void make_arrays(struct memory_case *m)
{
    for (size_t i = 0; i < call_arrays(&m->call); i++) {
        const struct call_array *is = &m->call.array[i];
        const size_t             n = call_array_elements(is, &m->given);
        if (m->call.needs == ORDO_CAN_CONCURRENT && (is->times == CALL_ROOM || strcmp(is->name, "rooms") == 0))
            continue;
        if (!is->output)
            m->input[i] = test_alloc(n * is->bytes);
        for (uint32_t k = 0; k < n && !is->output; k++)
            if (is->bytes == 1)
                ((uint8_t *) m->input[i])[k] = code_of(m, k);
            else
                ((uint32_t *) m->input[i])[k] = word_of(is->name, k);
        m->array[i] = test_upload(m->t, m->input[i], n, is->bytes, 1);
    }
}

static struct memory_case prepare(struct test *t, ordo_device *dev, int structure, const struct array_call *call,
                                  const struct model *old)
{
    struct memory_case m = { .t = t, .dev = dev, .model = model_copy(old), .call = *call };
    const bool few = strstr(call->name, "erase_range") || strstr(call->name, "take") || strstr(call->name, "peek");

    make_old(&m, structure);
    m.given = call_given(dev, m.dict, few ? FEW : NEW);
    m.given.room = 4 * (size_t) OLD;
    m.given.op = ORDO_SUM;
    make_arrays(&m);
    return m;
}

static ordo_status run(const struct memory_case *m)
{
    struct ordo_slice slice[CALL_ARRAYS];

    for (size_t i = 0; i < CALL_ARRAYS; i++)
        slice[i] = m->array[i].mem ? test_slice(&m->array[i]) : ordo_none();
    return m->call.run(&m->given, slice);
}

static void finish(struct memory_case *m)
{
    ordo_dict_destroy(&m->dict);
    test_ok(m->t, ordo_device_finish(m->dev));
    model_free(&m->model);
    for (size_t i = 0; i < CALL_ARRAYS; i++) {
        free(m->input[i]);
        if (m->array[i].mem)
            test_free(&m->array[i]);
    }
}

/* Keys differ, so the outcomes describe the result in any order. An operation without memory changed nothing. In a trie
 * an erase needs memory, too. */
static void model_concurrent(struct memory_case *m)
{
    enum { CODES, KEYS, HI, VALUES, OUTCOMES = 9 };
    static uint8_t outcomes[NEW];
    uint8_t       *codes = m->input[CODES];
    const char    *name = ordo_dict_name(m->dict);
    const bool     trie = strcmp(name, structures[HAMT].name) == 0 || strcmp(name, structures[XFAST].name) == 0;

    test_download(m->t, &m->array[OUTCOMES], outcomes);
    for (size_t i = 0; i < NEW; i++) {
        const bool stores = codes[i] == ORDO_UPSERT || codes[i] == ORDO_INSERT || (trie && codes[i] == ORDO_ERASE);
        if (codes[i] >= ORDO_N_CONCURRENT_CODES)
            test_true(m->t, outcomes[i] == ORDO_UNKNOWN);
        else
            test_true(m->t, outcomes[i] == ORDO_DONE || (stores && outcomes[i] == ORDO_NOT_STORED));
        if (outcomes[i] != ORDO_DONE)
            codes[i] = ORDO_FIND;
    }
    (void) model_apply(
        &m->model,
        &(struct ordo_host_batch) {
            .codes = codes, .keys = m->input[KEYS], .hi = m->input[HI], .values = m->input[VALUES], .count = NEW });
}

/* Every call on dictionaries. */
static const struct array_call *memory_call(size_t i)
{
    return i < n_dict_calls ? &dict_calls[i] : &other_calls[i - n_dict_calls];
}
#define N_MEMORY_CALLS (n_dict_calls + n_other_calls)

/* Whether the structure has this call. Variants repeat no queries. */
static bool is_tried(int structure, const struct array_call *c)
{
    if (c->stem)
        return strcmp(c->stem, "lsm") == 0 && structure_is(structure, ORDO_KEEPS_STALE);
    if (c->needs == ORDO_CAN_CONCURRENT)
        return structure_is(structure, ORDO_IS_TREE) || structure == HAMT || structure == XFAST;
    if (c->needs == ORDO_CAN_ORDER && structure_is(structure, ORDO_NO_ORDER))
        return false;
    return structure < N_STRUCTURES || structure_is(structure, ORDO_KEEPS_STALE);
}

/* The scarce resource: all memory, or one allocation. */
enum scarce { IN_ALL, AT_ONCE };

/* The quick ring tests one resource for each call and structure, selected by the seed. ORDO_TEST_KINDS=all tests
 * both. */
static bool is_met(const struct test *t, int structure, size_t call, enum scarce scarce)
{
    return test_wants_all("ORDO_TEST_KINDS") || ((uint64_t) structure + call + t->seed) % 2 == (uint64_t) scarce;
}

/* Makes the call with `more` bytes above the content, or with allocations of up to `more` bytes. Returns whether they
 * sufficed. */
static bool try_with(struct test *t, ordo_device *dev, const struct model *old, int structure,
                     const struct array_call *c, enum scarce scarce, uint64_t more)
{
    AUTO(finish) struct memory_case m = prepare(t, dev, structure, c, old);
    struct ordo_memory              memory;

    test_context(t, "%s on a %s with %llu bytes %s", c->name, structures[structure].word, (unsigned long long) more,
                 scarce == IN_ALL ? "more" : "at once");
    test_ok(t, ordo_device_finish(dev));
    test_ok(t, ordo_device_trim(dev));
    test_ok(t, ordo_device_memory(dev, &memory));
    const uint64_t unlimited = dev->memory_limit, largest = dev->facts.max_alloc_bytes;
    if (scarce == IN_ALL)
        dev->memory_limit = memory.held_bytes + more;
    else
        dev->facts.max_alloc_bytes = more;
    const ordo_status got = run(&m);
    test_ok(t, ordo_device_memory(dev, &memory));
    test_true(t, memory.held_bytes <= dev->memory_limit);
    dev->memory_limit = unlimited;
    dev->facts.max_alloc_bytes = largest;
    test_ok(t, ordo_device_finish(dev));
    if (got != (scarce == IN_ALL ? ORDO_NO_DEVICE_MEMORY : ORDO_TOO_LARGE))
        test_ok(t, got);
    if (got == ORDO_OK && c->needs == ORDO_CAN_CONCURRENT)
        model_concurrent(&m);
    else if (got == ORDO_OK && strcmp(c->name, "ordo_dict_clear") == 0)
        model_clear(&m.model);
    else if (got == ORDO_OK && c->changes)
        (void) model_call(&m.model, c, &m.given, m.input);
    expect_content(t, m.dict, &m.model);
    return got == ORDO_OK;
}

/* The quick ring takes larger steps than ORDO_TEST_KINDS=all. */
DEVICE_TEST(dict_memory, too_little_memory_changes_nothing)
{
    const bool               all = test_wants_all("ORDO_TEST_KINDS");
    AUTO_DEVICE ordo_device *dev = test_open_again(t);
    AUTO_MODEL struct model  old = model_empty(ORDO_U32, 4);

    model_fill(&old, 0, OLD);
    for (int s = 0; s < N_CONFIGURED; s++)
        for (size_t i = 0; i < N_MEMORY_CALLS; i++) {
            const struct array_call *c = memory_call(i);
            uint64_t                 more = 0;
            if (!is_tried(s, c) || !is_met(t, s, i, IN_ALL))
                continue;
            while (!try_with(t, dev, &old, s, c, IN_ALL, more) && more < (64u << 20))
                more += (all ? more / 2 : more) + 4096;
            test_true(t, more < (64u << 20));
            /* A call that needs no memory, or that cached blocks suffice for, always succeeds. */
            test_true(t, more > 0 || !c->changes || call_arrays(c) == 0 || structure_is(s, ORDO_HAS_RUNS) ||
                             structure_is(s, ORDO_REBUILDS));
        }
}

/* Queries allocate only a few bytes for each query, whatever the size of the runs or tree. Aggregates allocate for the
 * elements of their ranges. */
DEVICE_TEST(dict_memory, a_small_largest_allocation_changes_nothing)
{
    const bool               all = test_wants_all("ORDO_TEST_KINDS");
    AUTO_DEVICE ordo_device *dev = test_open_again(t);
    AUTO_MODEL struct model  old = model_empty(ORDO_U32, 4);

    model_fill(&old, 0, OLD);
    for (int s = 0; s < N_CONFIGURED; s++)
        for (size_t i = 0; i < N_MEMORY_CALLS; i++) {
            const struct array_call *c = memory_call(i);
            const bool               keeps = c->changes || strstr(c->name, "compact") || strstr(c->name, "aggregate");
            uint64_t                 largest = keeps || all ? 1024 : 4096;
            if (!is_tried(s, c) || !is_met(t, s, i, AT_ONCE))
                continue;
            while (!try_with(t, dev, &old, s, c, AT_ONCE, largest) && largest < (16u << 20))
                largest *= all ? 4 : 16;
            test_true(t, largest <= (keeps ? 4u << 20 : 64u << 10));
        }
}

/* ---- runs that queries merge ------------------------------------------------------------------------------------- */

enum { ASKED_FIND, ASKED_COUNT, ASKED_SEEK, ASKED_RANGE, ASKED_WIDE, N_ASKED };
enum { LAYER = 100000, RECENT = 20000, STALE = RECENT / 2 }; /* not merged with each other on any device */
enum { POINTS = 20000, WIDE = 40 };

/* Keys, half of them present, and results. */
struct asker {
    uint32_t *keys, *hi, *out;
    uint8_t  *found;
    uint64_t *offsets;
    size_t    room, stored;
};

static struct asker asker_make(size_t stored)
{
    struct asker a = { .room = (size_t) WIDE * stored, .stored = stored };
    a.keys = test_alloc(POINTS * sizeof *a.keys);
    a.hi = test_alloc(POINTS * sizeof *a.hi);
    a.found = test_alloc(POINTS);
    a.offsets = test_alloc((POINTS + 1) * sizeof *a.offsets);
    a.out = test_alloc(a.room * sizeof *a.out);
    return a;
}

static void asker_free(struct asker *a)
{
    free(a->keys);
    free(a->hi);
    free(a->found);
    free(a->offsets);
    free(a->out);
}

/* Makes one call, whose results do not depend on the runs. */
static void ask(struct test *t, ordo_dict *dict, struct asker *a, int kind)
{
    size_t needed = 0, wrong = 0;

    for (uint32_t i = 0; i < POINTS; i++)
        a->hi[i] = a->keys[i] = key_of(i % 2 ? i : (uint32_t) a->stored + i);
    if (kind == ASKED_FIND)
        test_ok(t, ordo_dict_find_host(dict, a->keys, POINTS, NULL, a->found));
    else if (kind == ASKED_COUNT)
        test_ok(t, ordo_dict_count_host(dict, a->keys, a->hi, POINTS, a->out));
    else if (kind == ASKED_SEEK)
        test_ok(t, ordo_dict_seek_host(dict, ORDO_GE, a->keys, POINTS, a->out, NULL, a->found));
    else if (kind == ASKED_RANGE)
        test_ok(t, ordo_dict_range_host(dict, a->keys, a->hi, POINTS, a->offsets, a->out, NULL, POINTS, &needed));
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
            a->hi[q] = UINT32_MAX;
        }
        test_ok(t, ordo_dict_range_host(dict, a->keys, a->hi, WIDE, a->offsets, a->out, NULL, a->room, &needed));
        for (size_t q = 0; q < WIDE; q++)
            wrong += a->offsets[q + 1] != (q + 1) * a->stored;
        for (size_t i = 0; i < needed; i++)
            wrong += i % a->stored > 0 && a->out[i - 1] >= a->out[i];
    }
    if (wrong > 0)
        test_fail(t, __FILE__, __LINE__, "%zu answers of kind %d are wrong", wrong, kind);
}

/* Two runs with some stale elements. */
static ordo_dict *make_layers(struct test *t, ordo_device *dev, bool keep_runs)
{
    const struct ordo_lsm_config config = { .dict = { ORDO_U32, 0 }, .keep_runs = keep_runs };
    AUTO_FREE uint32_t          *keys = test_alloc(LAYER * sizeof *keys);
    ordo_dict                   *dict = NULL;

    test_ok(t, ordo_lsm_create(dev, &config, &dict));
    number_keys(keys, 0, LAYER);
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, LAYER));
    number_keys(keys, LAYER - STALE, RECENT);
    test_ok(t, ordo_dict_upsert_host(dict, keys, NULL, RECENT));
    return dict;
}

/* At the second call, queries have incurred query_cost, or nothing. */
static void check_query_cost(struct test *t, int kind, bool keep_runs, uint64_t query_cost, size_t runs_after)
{
    AUTO_DICT ordo_dict          *dict = make_layers(t, t->dev, keep_runs);
    AUTO(asker_free) struct asker a = asker_make(LAYER + RECENT - STALE);
    const bool                    at_once = kind == ASKED_WIDE && !keep_runs && t->facts->cpu;

    test_context(t, "queries of kind %d, %s", kind, keep_runs ? "keep_runs" : "runs may be merged");
    ask(t, dict, &a, kind);
    test_true(t, ordo_runs_of(dict)->set.n == (at_once ? 1 : 2));
    ordo_runs_of(dict)->set.run[1].query_cost += at_once ? 0 : query_cost;
    ask(t, dict, &a, kind);
    const struct ordo_statistics s = statistics_of(t, dict);
    test_true(t, s.runs == runs_after && s.elements == a.stored && s.cleanups == 0);
    ask(t, dict, &a, kind);
    test_ok(t, ordo_dict_check(dict, NULL));
}

#define ENOUGH ((uint64_t) 1 << 32)

DEVICE_TEST(dict_memory, queries_merge_costly_runs)
{
    for (int kind = 0; kind < N_ASKED; kind++)
        check_query_cost(t, kind, false, ENOUGH, 1);
    check_query_cost(t, ASKED_FIND, false, 0, 2);
    check_query_cost(t, ASKED_FIND, true, ENOUGH, 2);
    check_query_cost(t, ASKED_WIDE, true, ENOUGH, 2);
}

/* The incurred cost survives merges by updates, and finally triggers the merge. */
DEVICE_TEST(dict_memory, queries_incur_their_cost)
{
    enum { TURNS = 100, SMALL = 100 };
    AUTO_DICT ordo_dict          *dict = make_layers(t, t->dev, false);
    AUTO(asker_free) struct asker a = asker_make(LAYER + RECENT - STALE);
    uint32_t                      keys[SMALL];
    int                           turn = 0;

    test_context(t, "queries charge little by little");
    for (; turn < TURNS; turn++) {
        ask(t, dict, &a, ASKED_FIND);
        if (ordo_runs_of(dict)->set.n == 1)
            break;
        number_keys(keys, 0, SMALL);
        test_ok(t, ordo_dict_upsert_host(dict, keys, NULL, SMALL));
    }
    test_true(t, turn > 3 && turn < TURNS);
}

/* Without memory to merge, queries still work. */
DEVICE_TEST(dict_memory, queries_work_without_memory_to_merge)
{
    AUTO_DEVICE ordo_device     *dev = test_open_again(t);
    AUTO_DICT ordo_dict         *dict = make_layers(t, dev, false);
    AUTO_ARRAY struct test_array found = test_upload(t, NULL, POINTS, 1, 0), keys = test_upload(t, NULL, POINTS, 4, 0);
    struct ordo_memory           memory;

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
}

/* ---- host arrays larger than device memory ----------------------------------------------------------------------- */

enum { HELD = 30000, LONG = 100000 };

struct answers {
    uint32_t counts[LONG], keys[4][LONG], values[4][LONG], ranks[LONG], sums[LONG], counted[LONG];
    uint8_t  found[5][LONG];
};

/* Every query that answers each element separately. */
static void ask_all(struct test *t, ordo_dict *dict, int structure, const uint32_t *keys, const uint32_t *hi,
                    const uint32_t *ranks, struct answers *a)
{
    memset(a, 7, sizeof *a); /* keys and values of absent elements stay unchanged */
    test_ok(t, ordo_dict_find_host(dict, keys, LONG, a->values[0], a->found[0]));
    test_ok(t, ordo_dict_contains_host(dict, hi, LONG, a->found[1]));
    if (structure_is(structure, ORDO_NO_ORDER))
        return;
    test_ok(t, ordo_dict_count_host(dict, keys, hi, LONG, a->counts));
    test_ok(t, ordo_dict_seek_host(dict, ORDO_GT, keys, LONG, a->keys[1], a->values[1], a->found[2]));
    test_ok(t, ordo_dict_seek_within_host(dict, ORDO_GE, keys, hi, LONG, a->keys[2], a->values[2], a->found[3]));
    test_ok(t, ordo_dict_rank_host(dict, ORDO_LE, keys, LONG, a->ranks));
    test_ok(t, ordo_dict_select_host(dict, ranks, LONG, a->keys[3], a->values[3], a->found[4]));
    test_ok(t, ordo_dict_aggregate_host(dict, ORDO_U32, ORDO_SUM, keys, hi, LONG, a->sums, a->counted));
}

/* The quick ring tests a tree and one structure selected by the seed. */
MASK_TEST(dict_memory, queries_of_host_arrays_need_no_memory_for_them, "cpu=0")
{
    static struct answers    asked, again;
    static uint32_t          keys[LONG], hi[LONG], ranks[LONG];
    const bool               all = test_wants_all("ORDO_TEST_KINDS");
    AUTO_DEVICE ordo_device *dev = test_open_again(t);

    for (uint32_t i = 0; i < LONG; i++) {
        keys[i] = key_of(i);
        hi[i] = keys[i] + 1000000;
        ranks[i] = LONG - 1 - i;
    }
    for (int s = 0; s < N_STRUCTURES; s++) {
        struct ordo_memory memory;
        if (!all && s != BLINK && s != (int) (test_seed() % N_STRUCTURES))
            continue;
        test_context(t, "queries of a %s without room for their arrays", structures[s].name);
        AUTO_DICT ordo_dict *dict = make_dict(t, dev, s, 0, HELD);
        ask_all(t, dict, s, keys, hi, ranks, &asked);
        test_ok(t, ordo_device_trim(dev));
        test_ok(t, ordo_device_memory(dev, &memory));
        const uint64_t unlimited = dev->memory_limit, largest = dev->facts.max_alloc_bytes;
        dev->memory_limit = memory.held_bytes + 524288; /* less than the keys and values need */
        ask_all(t, dict, s, keys, hi, ranks, &again);
        dev->memory_limit = unlimited;
        test_true(t, memcmp(&asked, &again, sizeof asked) == 0);
        dev->facts.max_alloc_bytes = 300000; /* less than an array of 4-byte elements needs */
        ask_all(t, dict, s, keys, hi, ranks, &again);
        dev->facts.max_alloc_bytes = largest;
        test_true(t, memcmp(&asked, &again, sizeof asked) == 0);
        test_true(t, asked.found[0][HELD - 1] == 1 && asked.found[0][HELD] == 0);
    }
}
