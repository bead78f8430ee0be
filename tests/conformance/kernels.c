/* SPDX-License-Identifier: Apache-2.0 */
/* Runs every kernel on input as small as possible, because oclgrind.sh runs this under a simulator that checks each
 * memory access and is some thousand times slower.
 *
 * The sources name all kernels; the log names each launched kernel. Uses the one device that ORDO_DEVICE selects. */
#include "tests/dict/dict_case.h"
#include "tests/dict/sequence.h"
#include "tests/support/calls.h"
#include "tests/support/words.h"

#include "dict/hash/hash.h"
#include "dict/ltree/ltree.h"
#include "dict/trie/hamt.h"
#include "dict/trie/xfast.h"
#include "runtime/cl_files.h"
#include "runtime/internal.h"
#include "shared/hamt_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- list of kernels --------------------------------------------------------------------------------------------- */

enum { KERNELS_MAX = 512 };

struct kernels {
    size_t n;
    struct {
        char name[48];
        bool ran;
    } of[KERNELS_MAX];
};

static void add_kernel(struct kernels *k, const char *name, size_t length)
{
    cr_assert(k->n < KERNELS_MAX && length < sizeof k->of[0].name, "%.*s", (int) length, name);
    memcpy(k->of[k->n].name, name, length);
    k->of[k->n++].name[length] = '\0';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The name and its length of a kernel that begins on this line; 0 if there is none. __kernel or a macro that ends in
 * KERNEL(...) is on this line or the one before. (Skips kernels of the self-test made by macros.) */
static size_t kernel_on(const char *line, size_t bytes, const char **name)
{
    const char *void_at = strstr(line, "void ");

    if (!void_at || void_at > line + bytes || line[bytes - 1] == '\\')
        return 0;
    *name = void_at + strlen("void ");
    size_t length = 0;
    while (is_name((*name)[length]))
        length++;
    return (*name)[length] == '(' ? length : 0;
}

static bool announces(const char *line, size_t length)
{
    const char *word = strstr(line, "KERNEL"), *plain = strstr(line, "__kernel");

    return line[0] != '#' && ((word && word < line + length) || (plain && plain < line + length));
}

static void find_kernels(struct kernels *k)
{
    for (size_t i = 0; i < ordo_n_cl_files; i++) {
        bool announced = false;
        if (strncmp(ordo_cl_files[i].path, "primitive/", 10) != 0 && strncmp(ordo_cl_files[i].path, "dict/", 5) != 0)
            continue; /* only examples in comments */
        for (const char *line = ordo_cl_files[i].text; line && *line;) {
            const char  *end = strchr(line, '\n'), *name = NULL;
            const size_t bytes = end ? (size_t) (end - line) : strlen(line);
            const bool   here = announces(line, bytes);
            const size_t length = announced || here ? kernel_on(line, bytes, &name) : 0;
            if (length)
                add_kernel(k, name, length);
            announced = here && !length;
            line = end ? end + 1 : NULL;
        }
    }
}

/* Kernels that do not run here. Some need several compute units, and a simulator has one. Others need a concurrent
 * batch that leaves much undone (ltree_room runs these). */
static const char *const elsewhere[] = { "self_test_contend", "self_test_optimistic", "ltree_gather", "ltree_scatter" };

static bool has_run(const struct kernels *k, const char *name)
{
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->of[i].name, name) == 0 && k->of[i].ran)
            return true;
    for (size_t i = 0; i < LENGTH(elsewhere); i++)
        if (strcmp(elsewhere[i], name) == 0)
            return true;
    return false;
}

/* "launch NAME: ..." */
static void note_launch(void *user, ordo_log_level level, const char *message)
{
    struct kernels *k = user;
    size_t          length = 0;

    if (level != ORDO_LOG_DEBUG || strncmp(message, "launch ", 7) != 0)
        return;
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "%s\n", message);
    while (is_name(message[7 + length]))
        length++;
    for (size_t i = 0; i < k->n; i++)
        if (strlen(k->of[i].name) == length && memcmp(k->of[i].name, message + 7, length) == 0)
            k->of[i].ran = true;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void run_call(struct test *t, const struct array_call *call, ordo_dict *dict, size_t n, size_t held)
{
    struct given      g = call_given(t->dev, dict, n);
    void             *host[CALL_ARRAYS];
    struct test_array array[CALL_ARRAYS];
    struct ordo_slice slice[CALL_ARRAYS];

    AUTO_STRINGS struct call_strings strings = call_strings_of(t, call, n);
    g.strings = strings;
    test_context(t, "%s, %zu elements", call->name, n);
    for (size_t i = 0; i < call_arrays(call); i++)
        host[i] = test_alloc(call_array_count(&call->array[i], n) * call->array[i].bytes);
    call_fill(t, call, n, held, host);
    for (size_t i = 0; i < call_arrays(call); i++) {
        const struct call_array *is = &call->array[i];
        array[i] = test_upload(t, is->output ? NULL : host[i], call_array_count(is, n), is->bytes, i % 2 * 3);
        slice[i] = test_slice(&array[i]);
    }
    test_ok(t, call->run(&g, slice));
    test_ok(t, ordo_device_finish(t->dev));
    for (size_t i = 0; i < call_arrays(call); i++) {
        test_download(t, &array[i], host[i]);
        test_free(&array[i]);
        free(host[i]);
    }
}

/* NAME=VALUE pairs separated by spaces. */
static void set_tunables(struct test *t, const char *text)
{
    char copy[256], *rest = NULL;

    (void) snprintf(copy, sizeof copy, "%s", text);
    for (char *one = strtok_r(copy, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value++ = '\0';
        test_ok(t, ordo_device_set_tunable(t->dev, one, (uint32_t) strtoul(value, NULL, 10)));
    }
}

/* More elements than a CPU's chunk keeps, and all elements. */
static void whole_top(struct test *t)
{
    enum { N = 300 };
    uint32_t keys[N], out[N];

    for (uint32_t i = 0; i < N; i++)
        keys[i] = i * 7919 % N;
    test_context(t, "the first of all, all of them");
    test_ok(t, ordo_top_k_host(t->dev, ordo_top_k_params(.key = ORDO_U32), keys, NULL, N, N, out, NULL, NULL));
    for (uint32_t i = 0; i < N; i++)
        test_true(t, out[i] == i);
}

/* Blocks of mixed widths and of one width. */
static void compressed_index(struct test *t)
{
    enum { N = 300 };
    uint32_t          keys[N], want[N], ranks[N];
    struct test_array on, out;

    for (uint32_t mixed = 0; mixed < 2; mixed++) {
        AUTO(ordo_index_destroy) ordo_index *index = NULL;
        for (uint32_t i = 0; i < N; i++) {
            keys[i] = mixed && i >= N / 2 ? i * 100000 : i;
            want[i] = i;
        }
        test_context(t, "a compressed index, widths %s", mixed ? "mixed" : "alike");
        on = test_upload(t, keys, N, sizeof *keys, 0);
        out = test_upload(t, NULL, N, sizeof *ranks, 0);
        test_ok(t, ordo_index_build_compressed(t->dev, ORDO_U32, test_slice(&on), N, NULL, &index));
        test_ok(t, ordo_search(t->dev, ordo_search_params(.key = ORDO_U32, .index = index), ordo_none(), N,
                               test_slice(&on), N, test_slice(&out), NULL));
        test_ok(t, ordo_device_finish(t->dev));
        test_download(t, &out, ranks);
        test_same(t, "ranks", ORDO_U32, ranks, want, N);
        test_free(&on);
        test_free(&out);
    }
}

/* Elements of more tiles than one group takes (tiles.c): more than four, of four items for each work-item. */
static size_t elements_of_tiles(const struct test *t)
{
    const size_t n = (size_t) 18 * t->facts->max_group;
    return n > 600 ? n : 600;
}

/* A sort of 8-byte keys that ends in local memory. Keys of odd index are in no sample: some fill one bin, others a
 * segment longer than a group takes. */
static void local_sort(struct test *t)
{
    enum { N = 4100, LONG = 600, FULL = 300 };
    AUTO_FREE uint64_t *keys = test_alloc(N * sizeof *keys), *out = test_alloc(N * sizeof *out);
    AUTO_FREE uint32_t *values = test_alloc(N * sizeof *values);

    test_context(t, "a sort that ends in local memory");
    set_tunables(t, "sort.method=0 sort.merged=0 sort.digit_bits=8 sort.local=12 sort.local_group=64 "
                    "sort.local_items=16");
    for (uint32_t i = 0; i < N; i++) {
        const bool odd = i % 2 == 1;
        keys[i] = test_random(t);
        if (odd && i < 2 * LONG)
            keys[i] = (uint64_t) 1 << 63 | keys[i] >> 16;
        else if (odd && i < 2 * (LONG + FULL))
            keys[i] = 1;
        values[i] = i;
    }
    memcpy(out, keys, N * sizeof *out);
    test_ok(t, ordo_sort_host(t->dev, ordo_sort_params(.key = ORDO_U64, .value_bytes = 4), out, values, N));
    for (uint32_t i = 0; i < N; i++) {
        test_true(t, values[i] < N && out[i] == keys[values[i]]);
        test_true(t, i == 0 || out[i - 1] < out[i] || (out[i - 1] == out[i] && values[i - 1] < values[i]));
    }
}

static void group_by_index(struct test *t)
{
    enum { N = 3000, KEYS = 200 };
    uint32_t keys[N], values[N], groups[N], counts[N], n = 0;
    uint64_t sums[N];

    test_context(t, "groups of indices");
    for (uint32_t i = 0; i < N; i++)
        keys[i] = values[i] = i % KEYS;
    test_ok(t, ordo_reduce_by_key_host(
                   t->dev, ordo_reduce_by_key_params(.key = ORDO_U32, .value = ORDO_U32, .wide = true, .bits = 8), keys,
                   values, N, groups, sums, counts, N, &n));
    test_true(t, n == KEYS);
    for (uint32_t i = 0; i < n; i++)
        test_true(t, groups[i] == i && counts[i] == N / KEYS && sums[i] == (uint64_t) i * counts[i]);
}

/* With and without look-back; each kind of sort. */
static void primitives(struct test *t)
{
    static const char *const tunings[] = { "sort.method=0 sort.merged=0 scan.method=0", "sort.method=1 scan.method=1" };

    whole_top(t);
    compressed_index(t);
    if (t->facts->cpu) {
        for (size_t i = 0; i < n_primitive_calls; i++)
            run_call(t, &primitive_calls[i], NULL, 300, 300);
        run_call(t, call_named("ordo_sort"), NULL, 17000, 300); /* more than one work-item sorts by itself */
        set_tunables(t, "sort.local=12");
        run_call(t, call_named("ordo_sort"), NULL, 17000, 300); /* by buckets */
        group_by_index(t);
        return;
    }
    set_tunables(
        t, "scan.items=4 compact.items=4 by_key.items=4 top.items=4 sort.items=4 merge.items=4 merge_runs.items=5");
    for (size_t tuning = 0; tuning < LENGTH(tunings); tuning++) {
        set_tunables(t, tunings[tuning]);
        for (size_t i = 0; i < n_primitive_calls; i++)
            run_call(t, &primitive_calls[i], NULL, elements_of_tiles(t), 300);
    }
    set_tunables(t, "sort.merged=32 sort.small_group=64 sort.small_items=4");
    run_call(t, call_named("ordo_sort"), NULL, 600, 300);
    local_sort(t);
}

static void run_sequence(struct test *t, size_t subject, ordo_type type)
{
    const struct sequence s = sequence_every(subject, type, 4, KEYS_CLUSTERED, 40);
    const struct outcome  o = sequence_run(t, &s, NULL);
    if (o.failed)
        sequence_fail(t, &s, &o);
}

/* Every operation of every structure, on neighbouring keys with many duplicates. */
static void sequences(struct test *t)
{
    for (size_t subject = 0; subject < N_SUBJECTS; subject++) {
        if (!structure_is((int) subject, ORDO_SIMULATED))
            continue;
        run_sequence(t, subject, ORDO_U32);
        if (structure_takes(subject, ORDO_U128))
            run_sequence(t, subject, ORDO_U128);
    }
}

enum { BATCH = 40 };

static void upsert_numbers(struct test *t, ordo_dict *dict, uint32_t from, uint32_t times)
{
    uint32_t keys[BATCH], values[BATCH];

    for (uint32_t i = 0; i < BATCH; i++) {
        keys[i] = key_of(from + i / times);
        values[i] = value_of(from + i / times);
    }
    test_ok(t, ordo_dict_upsert_host(dict, keys, values, BATCH));
}

/* More overflowing leaves than a group has teams. */
static void crowded(struct test *t)
{
    enum { HELD = 12000, STORED = 1024, BATCHES = 8 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, BLINK, 0, HELD);
    uint32_t             keys[STORED], values[STORED];

    test_context(t, "leaves that overflow");
    for (uint32_t b = 0; b < BATCHES; b++) {
        for (uint32_t i = 0; i < STORED; i++) {
            keys[i] = key_of(HELD + b * STORED + i);
            values[i] = value_of(HELD + b * STORED + i);
        }
        test_ok(t, ordo_dict_upsert_host(dict, keys, values, STORED));
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    expect_numbers(t, dict, 0, HELD + BATCHES * STORED);
}

/* Adds parts, `times` for each key, up to the values of elements from `from` on. The first `there` have theirs
 * already. */
static void combine_numbers(struct test *t, ordo_dict *dict, uint32_t from, uint32_t there, uint32_t times)
{
    uint32_t keys[BATCH], values[BATCH], sum = 0;

    for (uint32_t i = 0; i < BATCH; i++) {
        const uint32_t number = from + i / times, all = number < from + there ? 0 : value_of(number);
        const bool     last = i % times + 1 == times;
        keys[i] = key_of(number);
        values[i] = last ? all - sum : i + 1;
        sum = last ? 0 : sum + values[i];
    }
    test_ok(t, ordo_dict_combine_host(dict, ORDO_U32, ORDO_SUM, keys, values, BATCH));
}

/* Batches small enough for updates in place; leaves split, and the root above them. Then batches that overflow a
 * bucket. Some of both combine. */
static void batches_in(struct test *t, int structure)
{
    enum { HELD = 500, BATCHES = 8 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, structure, 0, HELD);

    test_context(t, "batches in place, %s", structures[structure].word);
    for (uint32_t i = 0; i < BATCHES; i++)
        upsert_numbers(t, dict, HELD + i * BATCH, 1);
    upsert_numbers(t, dict, 7, BATCH);
    combine_numbers(t, dict, HELD + BATCHES * BATCH - BATCH / 4, BATCH / 4, 2);
    combine_numbers(t, dict, 7, 1, BATCH);
    expect_numbers(t, dict, 0, HELD + BATCHES * BATCH + BATCH / 4);
}

static void batches(struct test *t)
{
    batches_in(t, BLINK);
    batches_in(t, SKIPLIST_16);
    if (getenv("ORDO_TEST_PART")) /* too slow for a simulator */
        crowded(t);
}

/* Unresolved runs with replaced and erased elements, if groups make progress. */
static void cleanup(struct test *t)
{
    enum { HELD = 500, ERASED = 20 };
    AUTO_DICT ordo_dict *dict = NULL;
    uint32_t             keys[ERASED];

    if (t->facts->cpu)
        return;
    dict = make_dict(t, t->dev, LSM, 0, HELD + ERASED);
    test_look_back(t);
    set_tunables(t, "merge_runs.items=5");
    test_context(t, "cleanup");
    upsert_numbers(t, dict, HELD - BATCH, 1);
    for (uint32_t i = 0; i < ERASED; i++)
        keys[i] = key_of(HELD + i);
    test_ok(t, ordo_dict_erase_host(dict, keys, ERASED));
    test_ok(t, ordo_lsm_cleanup(dict, NULL));
    expect_numbers(t, dict, 0, HELD);
    ordo_dict_destroy(&dict);
    /* the first batch of an LSM that bounds stale elements from 1 live element on is counted */
    test_ok(t, ordo_lsm_create(t->dev, ordo_lsm_config(.dict = { ORDO_U32, 4 }, .cleanup_least = 1), &dict));
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, ERASED));
}

/* Combines into a sorted array, if groups make progress: present and absent keys, each in parts. */
static void merge_combining(struct test *t)
{
    enum { HELD = 500, THERE = 8 };
    AUTO_DICT ordo_dict *dict = NULL;

    if (t->facts->cpu)
        return;
    dict = make_dict(t, t->dev, SORTED_ARRAY, 0, HELD);
    test_look_back(t);
    set_tunables(t, "merge_runs.items=5");
    test_context(t, "combines that are merged");
    combine_numbers(t, dict, HELD - THERE, THERE, 2);
    expect_numbers(t, dict, 0, HELD - THERE + BATCH / 2);
}

/* Merges a batch that is small for a sorted array, of present and absent keys. */
static void merge_few(struct test *t)
{
    enum { HELD = 64 * BATCH };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, SORTED_ARRAY, 0, HELD);

    test_context(t, "a small batch");
    upsert_numbers(t, dict, HELD - BATCH / 2, 1);
    expect_numbers(t, dict, 0, HELD + BATCH / 2);
}

/* Calls that no step of a sequence makes, on a tree and on several runs. */
static void generic(struct test *t)
{
    static const int in[] = { BLINK, LSM_GROWTH_2 };
    const uint32_t   least = 0, greatest = UINT32_MAX;
    uint32_t         result = 0;

    if (!t->facts->cpu && !getenv("ORDO_TEST_PART")) /* the kernels are the same */
        return;
    for (size_t s = 0; s < LENGTH(in); s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, in[s], 0, 310);
        upsert_numbers(t, dict, 300, 20);
        test_ok(t, ordo_dict_aggregate_host(dict, ORDO_U32, ORDO_MIN, &least, &greatest, 1, &result, NULL));
        for (size_t i = 0; i < n_dict_calls; i++)
            if (!step_makes(dict_calls[i].name) && dict_calls[i].needs != ORDO_CAN_CONCURRENT)
                run_call(t, &dict_calls[i], dict, 60, 310);
        test_ok(t, ordo_dict_erase_range_host(dict, &least, &least, 1, &result));
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

static void self_test(struct test *t)
{
    test_ok(t, ordo_device_self_test(t->dev));
}

/* Stores more new keys in one leaf than a team takes, into a tree too large for a rebuild. Erases them, and stores keys
 * that split leaves. */
static void one_leaf(struct test *t)
{
    enum { UPDATES = 1030, HELD = 29 * UPDATES / 2 };
    uint32_t             keys[UPDATES];
    AUTO_DICT ordo_dict *dict = NULL;

    if (!t->facts->cpu && !getenv("ORDO_TEST_PART")) /* the kernels are the same */
        return;
    dict = make_dict(t, t->dev, BLINK, 0, HELD);

    test_context(t, "updates of one leaf");
    for (uint32_t i = 0; i < UPDATES; i++)
        keys[i] = key_of(7) + 1 + i;
    test_ok(t, ordo_dict_upsert_host(dict, keys, keys, UPDATES));
    test_ok(t, ordo_dict_erase_host(dict, keys, UPDATES));
    upsert_numbers(t, dict, HELD, 1);
    expect_numbers(t, dict, 0, HELD + BATCH);
}

/* Erases most of a skiplist of several levels concurrently. */
static void merging_in(struct test *t, int skiplist)
{
    enum { HELD = 310, LEFT = 40 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, skiplist, 0, HELD);
    uint32_t             keys[HELD - LEFT];
    uint8_t              codes[HELD - LEFT];

    test_context(t, "chunks that merge, %s", structures[skiplist].word);
    for (uint32_t i = 0; i < HELD - LEFT; i++) {
        keys[i] = key_of(LEFT + i);
        codes[i] = ORDO_ERASE;
    }
    const struct ordo_host_concurrent_batch batch = { .codes = codes, .keys = keys, .count = HELD - LEFT };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_numbers(t, dict, 0, LEFT);
}

static void merging(struct test *t)
{
    merging_in(t, SKIPLIST);
    merging_in(t, SKIPLIST_16);
}

/* Finds present keys concurrently with updates of other keys. */
static void find_beside(struct test *t, ordo_dict *dict, uint32_t held)
{
    static const uint8_t kinds[] = { ORDO_FIND, ORDO_CONTAINS, ORDO_UPSERT, ORDO_ERASE, ORDO_INSERT };
    uint8_t              codes[310], found[310];
    uint32_t             keys[310], values[310];

    for (uint32_t i = 0; i < held; i++) {
        codes[i] = kinds[i % LENGTH(kinds)];
        keys[i] = key_of(i);
        values[i] = value_of(i);
    }
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = keys, .values = values, .count = held, .found = found
    };
    test_ok(t, ordo_dict_apply_concurrent_host(dict, &batch));
    for (uint32_t i = 0; i < held; i++)
        test_true(t, i % LENGTH(kinds) > 1 || found[i] == 1);
}

/* Hash tables; the smaller one lacks capacity, so some operations are applied afterwards. */
static void beside_in_hash(struct test *t, const struct array_call *call)
{
    for (uint32_t held = 10; held <= 310; held += 300) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, HASH, 0, held);
        find_beside(t, dict, held);
        run_call(t, call, dict, 100, held);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

/* A HAMT or an X-fast trie; in the end some updates give up. */
static void beside_in_trie(struct test *t, int structure)
{
    struct array_call    call = *call_named("ordo_dict_apply_concurrent");
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, structure, 0, 310);
    struct ordo_drafts  *drafts = structure == HAMT ? &ordo_hamt_of(dict)->drafts : &ordo_xfast_of(dict)->drafts;

    find_beside(t, dict, 310);
    call.array[0].input = INPUT_CODES;
    call.array[1].input = INPUT_RANDOM;
    run_call(t, &call, dict, 220, 310);
    drafts->faults = FAULT_LATCHES + FAULT_NO_TRIES;
    run_call(t, &call, dict, 220, 310);
    test_ok(t, ordo_dict_check(dict, NULL));
}

/* Combines present and absent keys, each twice: few of a table, and all of it. */
static void combined(struct test *t)
{
    enum { HELD = 240, STORED = 60 };
    uint32_t keys[STORED * 2];
    uint64_t words[STORED * 2], got[STORED];

    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        AUTO_DICT ordo_dict *dict = NULL;
        test_context(t, "combines of %u bytes", bytes);
        test_ok(t, create(t->dev, HASH, ORDO_U32, bytes, &dict));
        for (uint32_t i = 0; i < HELD; i += 2 * STORED) {
            for (uint32_t k = 0; k < 2 * STORED; k++)
                keys[k] = key_of(i + k);
            memset(words, 0, sizeof words);
            test_ok(t, ordo_dict_upsert_host(dict, keys, words, (size_t) 2 * STORED));
        }
        for (uint32_t i = 0; i < 2 * STORED; i++) {
            const uint64_t value = (uint64_t) (i + 1) << (bytes == 8 ? 31 : 0);
            keys[i] = key_of(HELD - STORED / 2 + i % STORED);
            memcpy((char *) words + (size_t) i * bytes, &value, bytes);
        }
        for (int whole = 0; whole < 2; whole++) {
            ordo_hash_of(dict)->whole = whole;
            test_ok(t, ordo_dict_combine_host(dict, bytes == 8 ? ORDO_U64 : ORDO_U32, whole ? ORDO_MAX : ORDO_SUM, keys,
                                              words, (size_t) 2 * STORED));
        }
        test_ok(t, ordo_dict_find_host(dict, keys, STORED, got, NULL));
        for (uint32_t i = 0; i < STORED; i++) {
            uint64_t value = 0;
            memcpy(&value, (const char *) got + (size_t) i * bytes, bytes);
            test_true(t, value == (uint64_t) (2 * i + 2 + STORED) << (bytes == 8 ? 31 : 0));
        }
        test_ok(t, ordo_dict_check(dict, NULL));
    }
}

/* Upserts of present and absent keys without a sort: from the batch, and from bins. */
static void small_batches(struct test *t)
{
    enum { HELD = 1500, STORED = 100 };
    AUTO_DICT ordo_dict *dict = NULL;
    uint32_t             keys[HELD + STORED], values[HELD + STORED], got[HELD + STORED];

    for (uint32_t i = 0; i < HELD + STORED; i++)
        keys[i] = values[i] = key_of(i);
    test_ok(t, create(t->dev, HASH, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, values, HELD));
    for (int bins = 0; bins < 2; bins++) {
        struct ordo_hash *hash = ordo_hash_of(dict);
        hash->scan_max = bins ? 0 : STORED;
        const size_t first = HELD - (bins ? 0 : STORED / 2);
        test_ok(t, ordo_dict_upsert_host(dict, keys + first, values + first, STORED));
        test_true(t, hash->small_batches == (size_t) bins + 1 || t->dev->facts.cpu);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    test_ok(t, ordo_dict_find_host(dict, keys, HELD + STORED, got, NULL));
    test_true(t, memcmp(values, got, sizeof got) == 0);
}

/* A tree of one leaf, and every operation on a tree of several levels, by many work-items, with finds before and beside
 * the updates. Oclgrind's atomics are ordered, although it does not report it. */
static void concurrent(struct test *t)
{
    struct array_call  call = *call_named("ordo_dict_apply_concurrent");
    const ordo_atomics was = t->dev->facts.atomics;

    if (was == ORDO_ATOMICS_LEGACY)
        t->dev->facts.atomics = ORDO_ATOMICS_C11; /* ORDO_CHECKED spells it otherwise */

    for (uint32_t held = 10; held <= 310; held += 300) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, BLINK, 0, held);
        set_tunables(t, "links.finds=1");
        run_call(t, &call, dict, 100, held);
        test_ok(t, ordo_dict_check(dict, NULL));
        set_tunables(t, "links.finds=0");
        call.array[0].input = INPUT_CODES;
        call.array[1].input = INPUT_RANDOM;
        run_call(t, &call, dict, 220, held);
        test_ok(t, ordo_dict_check(dict, NULL));
        set_tunables(t, "links.coupled=1 links.retry=1");
        run_call(t, &call, dict, 220, held);
        set_tunables(t, "links.coupled=0 links.retry=2 links.fences=1 links.uncached=1");
        run_call(t, &call, dict, 220, held);
        set_tunables(t, "links.retry=0 links.fences=0 links.uncached=0");
        test_ok(t, ordo_dict_check(dict, NULL));
        ordo_ltree_of(dict)->faults = FAULT_LATCHES + FAULT_NO_TRIES; /* some operations give up in each launch */
        run_call(t, &call, dict, 220, held);
        test_ok(t, ordo_dict_check(dict, NULL));
    }
    merging(t);
    beside_in_hash(t, call_named("ordo_dict_apply_concurrent"));
    beside_in_trie(t, HAMT);
    beside_in_trie(t, XFAST);
    t->dev->facts.atomics = was;
}

/* Batches of keys of 16 bytes in place: upserts in descending order, then erases. */
static void wide_batches(struct test *t, ordo_dict *dict)
{
    enum { HELD = 500, BATCHES = 4, ALL = HELD + BATCHES * BATCH };
    uint8_t  keys[ALL * 16], found[ALL];
    uint32_t values[ALL], got[ALL];

    for (uint32_t i = 0; i < ALL; i++) {
        values[i] = ALL - i;
        put_form(ORDO_BYTES16, keys, i, (key_form) (values[i] / 7) << 64 | values[i]);
    }
    test_ok(t, ordo_dict_build_host(dict, keys, values, HELD));
    for (size_t from = HELD; from < ALL; from += BATCH)
        test_ok(t, ordo_dict_upsert_host(dict, keys + 16 * from, values + from, BATCH));
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_find_host(dict, keys, ALL, got, found));
    test_same(t, "values", ORDO_U32, got, values, ALL);
    for (size_t from = 0; from < HELD; from += (size_t) 2 * BATCH)
        test_ok(t, ordo_dict_erase_host(dict, keys + 16 * from, BATCH));
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_contains_host(dict, keys, ALL, found));
    for (size_t i = 0; i < ALL; i++)
        test_true(t, found[i] == (i >= HELD + BATCH || i / BATCH % 2 == 1));
}

/* Every concurrent operation on keys of 16 bytes. Some operations give up. */
static void wide_concurrent(struct test *t, ordo_dict *dict)
{
    enum { N = 110, ROOM = 4 };
    uint8_t  keys[N * 16], hi[N * 16], codes[N], outcomes[N], range_keys[N * ROOM * 16];
    uint32_t values[N], counts[N];
    uint64_t rooms[N + 1] = { 0 };

    for (uint32_t i = 0; i < N; i++) {
        const uint32_t number = 97 * i % 660;
        codes[i] = (uint8_t) (i % ORDO_N_CONCURRENT_CODES);
        values[i] = i;
        put_form(ORDO_BYTES16, keys, i, (key_form) (number / 7) << 64 | number);
        put_form(ORDO_BYTES16, hi, i, (key_form) (number / 7 + 1) << 64);
        rooms[i + 1] = (uint64_t) (i + 1) * ROOM;
    }
    ordo_ltree_of(dict)->faults = FAULT_LATCHES + FAULT_NO_TRIES;
    test_ok(t, ordo_dict_apply_concurrent_host(
                   dict, &(struct ordo_host_concurrent_batch) { .codes = codes,
                                                                .keys = keys,
                                                                .hi = hi,
                                                                .values = values,
                                                                .count = N,
                                                                .counts = counts,
                                                                .outcomes = outcomes,
                                                                .rooms = rooms,
                                                                .range_keys = range_keys,
                                                                .range_capacity = (size_t) N * ROOM }));
    ordo_ltree_of(dict)->faults = 0;
    test_ok(t, ordo_dict_check(dict, NULL));
    for (uint32_t i = 0; i < N; i++)
        test_true(t, outcomes[i] == ORDO_DONE || (codes[i] == ORDO_RANGE && outcomes[i] == ORDO_CUT_SHORT));
}

static void wide_trees(struct test *t)
{
    static const int              in[] = { BLINK, SKIPLIST_16 };
    const struct ordo_dict_config config = { ORDO_BYTES16, 4 };
    const ordo_atomics            was = t->dev->facts.atomics;

    for (size_t i = 0; i < LENGTH(in); i++) {
        AUTO_DICT ordo_dict *dict = NULL;
        test_context(t, "keys of 16 bytes in a %s", structures[in[i]].word);
        test_ok(t, structures[in[i]].create(t->dev, &config, &dict));
        wide_batches(t, dict);
        if (was == ORDO_ATOMICS_LEGACY)
            t->dev->facts.atomics = ORDO_ATOMICS_C11; /* as in concurrent() */
        wide_concurrent(t, dict);
        t->dev->facts.atomics = was;
    }
}

/* Leaves split while there are no nodes for the upper levels, which are repaired at the end. */
static void levels(struct test *t)
{
    enum { HELD = 1200, STORED = 100 };
    uint8_t              codes[STORED], found[STORED], outcomes[STORED];
    uint32_t             keys[STORED];
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, BLINK, 0, HELD);
    struct ordo_ltree   *tree = ordo_ltree_of(dict);

    test_context(t, "levels that lag behind");
    memset(codes, ORDO_UPSERT, STORED);
    for (uint32_t i = 0; i < STORED; i++)
        keys[i] = 3 * i + 1;
    tree->faults = FAULT_NO_INNER;
    test_ok(t, ordo_dict_apply_concurrent_host(
                   dict, &(struct ordo_host_concurrent_batch) {
                             .codes = codes, .keys = keys, .values = keys, .count = STORED, .outcomes = outcomes }));
    tree->faults = 0;
    test_ok(t, ordo_dict_check(dict, NULL));
    test_ok(t, ordo_dict_contains_host(dict, keys, STORED, found));
    for (uint32_t i = 0; i < STORED; i++)
        test_true(t, found[i] == 1 && outcomes[i] == ORDO_DONE);
}

/* Keys with long common prefixes that are prefixes themselves. */
static void prefixes_in(struct test *t, int structure)
{
    enum { HELD = 150, ASKED = 40 };
    uint32_t             keys[HELD], counts[ASKED], ranks[ASKED];
    uint8_t              lengths[ASKED], found[ASKED];
    AUTO_DICT ordo_dict *dict = NULL;

    test_context(t, "prefixes");
    for (uint32_t i = 0; i < HELD; i++)
        keys[i] = 0x40000001u + i;
    for (uint32_t i = 0; i < ASKED; i++)
        lengths[i] = (uint8_t) (i % 33);
    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, keys, HELD));
    for (int teams = 1; teams >= 0; teams--) {
        set_tunables(t, teams ? "xfast.lanes=8" : "xfast.lanes=1");
        test_ok(t, ordo_dict_rank_host(dict, ORDO_LT, keys, ASKED, ranks));
        for (uint32_t i = 0; i < ASKED; i++)
            test_true(t, ranks[i] == i);
    }
    test_ok(t, ordo_xfast_count_prefix_host(dict, keys, lengths, ASKED, counts));
    test_ok(t, ordo_xfast_longest_prefix_host(dict, keys, ASKED, NULL, NULL, found));
    test_ok(t, ordo_dict_check(dict, NULL));
    for (uint32_t i = 0; i < ASKED; i++)
        test_true(t, counts[i] == (lengths[i] < 25 ? HELD : counts[i]) && counts[i] > 0 && found[i]);
}

static void prefixes(struct test *t)
{
    prefixes_in(t, XFAST_EACH);
    prefixes_in(t, XFAST_LEVELS);
}

/* The first batch moves all leaves. The others are small. */
static void few_of_many_leaves(struct test *t)
{
    enum { HELD = 12000 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, HAMT, 0, HELD);

    test_context(t, "few of many leaves");
    for (uint32_t b = 0; b < 3; b++)
        upsert_numbers(t, dict, HELD + b * BATCH, 1);
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_numbers(t, dict, 0, HELD + 3 * BATCH);
}

/* Batches merged leaf by leaf: one changes only values, one has too many updates for a leaf. */
static void leaves(struct test *t)
{
    enum { HELD = 300, TIMES = 14, SAME = HAMT_UPDATES_MAX + 2 };
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, HAMT, 0, HELD);
    uint32_t             keys[SAME];

    few_of_many_leaves(t);
    test_context(t, "leaves");
    for (uint32_t b = 0; b < 3; b++)
        upsert_numbers(t, dict, HELD + b * BATCH, 1);
    upsert_numbers(t, dict, HELD, 1);
    for (uint32_t i = 0; i < SAME; i++)
        keys[i] = key_of(HELD + 3 * BATCH);
    for (uint32_t i = 0; i < TIMES; i++) { /* until blocks are moved */
        keys[0] = key_of(HELD + 3 * BATCH + 1 + i);
        test_ok(t, ordo_dict_upsert_host(dict, keys, keys, SAME));
    }
    for (uint32_t i = 0; i <= TIMES; i++)
        keys[i] = key_of(HELD + 3 * BATCH + i);
    test_ok(t, ordo_dict_erase_host(dict, keys, TIMES + 1));
    test_ok(t, ordo_dict_check(dict, NULL));
    expect_numbers(t, dict, 0, HELD + 3 * BATCH);
}

/* Sets with containers of all kinds, to the Roaring format and back. */
static void roaring(struct test *t)
{
    enum { SOME = 200, FULL = 4200, ALL = SOME + FULL + SOME };
    AUTO_FREE uint32_t  *keys = test_alloc(ALL * sizeof *keys), *out = test_alloc(ALL * sizeof *keys);
    uint8_t              bytes[16384];
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0, count = 0;

    test_context(t, "roaring");
    for (uint32_t i = 0; i < ALL; i++)
        keys[i] = i < SOME ? 7 * i : i < SOME + FULL ? 65536 + 3 * i : 1u << 20 | i;
    test_ok(t, create(t->dev, HAMT, ORDO_U32, 0, &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, ALL));
    test_ok(t, ordo_hamt_write_roaring_host(dict, bytes, sizeof bytes, &size));
    test_ok(t, ordo_dict_clear(dict));
    test_ok(t, ordo_hamt_read_roaring_host(dict, bytes, size));
    test_ok(t, ordo_dict_export_host(dict, out, NULL, ALL, &count));
    test_true(t, count == ALL);
    test_same(t, "keys", ORDO_U32, out, keys, ALL);
}

/* Queries sorted by the library, or partitioned through an index of blocks; a build that checks for ascending keys; a
 * seek past all keys that its batch erases. */
static void seldom(struct test *t)
{
    enum { ASCENDING = 1 << 16, ERASED = 150, ASKED = 100 };
    AUTO_FREE uint32_t  *keys = test_alloc(ASCENDING * sizeof *keys);
    uint32_t             ranks[ASKED], keys_out[ERASED + 1];
    uint8_t              codes[ERASED + 1], found[ERASED + 1];
    AUTO_DICT ordo_dict *dict = NULL;

    test_context(t, "seldom");
    for (uint32_t i = 0; i < ASCENDING; i++)
        keys[i] = 3 * i;
    set_tunables(t, "search.layout=1 search.simd_depth=2");
    for (int scheme = ORDO_SCHEME_BUFFERED; scheme <= ORDO_SCHEME_SORTED; scheme++) {
        test_ok(t, ordo_search_host(t->dev, ordo_search_params(.key = ORDO_U32, .scheme = (ordo_scheme) scheme), keys,
                                    ERASED, keys, ASKED, ranks));
        for (uint32_t i = 0; i < ASKED; i++)
            test_true(t, ranks[i] == i);
    }
    set_tunables(t, "search.layout=0 search.simd_depth=0");
    test_ok(t, ordo_sorted_array_create(t->dev, ordo_sorted_array_config(.dict = { .key = ORDO_U32 }), &dict));
    test_ok(t, ordo_dict_build_host(dict, keys, NULL, ASCENDING));
    memset(codes, ORDO_ERASE, ERASED);
    codes[ERASED] = ORDO_SEEK_GE;
    keys[ERASED] = 0;
    test_ok(t, ordo_dict_apply_host(
                   dict,
                   &(struct ordo_host_batch) {
                       .codes = codes, .keys = keys, .count = ERASED + 1, .found = found, .keys_out = keys_out },
                   NULL));
    test_true(t, found[ERASED] == 1 && keys_out[ERASED] == 3 * ERASED);
}

/* Strings of four bytes, whose ids are known. */
static void index_of(struct test *t, const struct ordo_host_strings *column, const uint32_t *ids,
                     const struct ordo_string_index_params *params)
{
    enum { MOST = 60 };
    ordo_string_index *index = NULL;
    uint32_t           found[MOST], first[MOST], counts[MOST], rows[MOST], starts[MOST + 1];
    uint64_t           offsets[MOST + 1];
    uint8_t            bytes[4 * MOST];
    size_t             needed = 0;

    struct ordo_string_index_statistics stats = { 0 };
    test_ok(t, ordo_string_index_build_host(t->dev, params, column, &index));
    test_ok(t, ordo_string_index_get_statistics(index, &stats));
    test_true(t, stats.ids == column->count && stats.compared >= stats.ids);
    for (int search = ORDO_STRING_FIND; search <= ORDO_STRING_LONGEST_PREFIX; search++) {
        const int64_t off[] = { 0, -1, 0, 0, 1, 0, 1, 0 };
        test_ok(t, ordo_string_index_search_host(index, (ordo_string_search) search, column, found));
        for (size_t i = 0; i < column->count; i++) {
            const int64_t want = ids[i] + off[search];
            const bool    none = want < 0 || (search == ORDO_STRING_GT && want == (int64_t) column->count);
            test_true(t, found[i] == (none ? ORDO_NO_ID : (uint32_t) want));
        }
    }
    test_ok(t, ordo_string_index_prefix_host(index, column, first, counts));
    test_true(t, first[1] == ids[1] && counts[1] == 1);
    test_ok(t, ordo_string_index_range_host(index, column, column, first, counts));
    test_true(t, first[1] == ids[1] && counts[1] == 1);
    test_ok(t, ordo_string_index_common_host(index, column, offsets, first, counts));
    test_true(t, offsets[1] == 4 && first[1] == ids[1] && counts[1] == 1);
    test_ok(t, ordo_string_index_rows_host(index, starts, rows, MOST));
    for (size_t i = 0; i < column->count; i++)
        test_true(t, rows[ids[i]] == i && starts[i] == i);
    test_ok(t, ordo_string_index_strings_host(index, ids, column->count, offsets, bytes, sizeof bytes, &needed));
    test_true(t, needed == column->n_bytes && memcmp(bytes, column->bytes, needed) == 0);
    ordo_string_index_destroy(&index);
}

/* Stores every second string with its number as the value. */
static void dictionary_of(struct test *t, const struct ordo_host_strings *column)
{
    enum { MOST = 60 };
    uint32_t          values[MOST], ranks[MOST], first[MOST], counts[MOST], longest[MOST];
    uint64_t          offsets[MOST + 1];
    uint8_t           found[MOST], bytes[4 * MOST];
    size_t            count = 0, needed = 0;
    ordo_string_dict *dict = NULL;

    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &dict));
    for (uint32_t i = 0; i < column->count; i++)
        values[i] = i;
    test_ok(t, ordo_string_dict_upsert_host(dict, column, values));
    for (size_t i = 1; i < column->count; i += 2) {
        const struct ordo_host_strings one = { (const uint32_t *) column->offsets + i, 4, column->bytes,
                                               column->n_bytes, 1 };
        test_ok(t, i % 4 == 1 ? ordo_string_dict_upsert_host(dict, &one, values + i) : ORDO_OK);
        test_ok(t, ordo_string_dict_erase_host(dict, &one));
    }
    const uint32_t                 greater = 60, ends[] = { 2, 3 };
    const struct ordo_host_strings b = { ends, 4, column->bytes, column->n_bytes, 1 };
    test_ok(t, ordo_string_dict_upsert_host(dict, &b, &greater)); /* "b", in a second run */
    test_ok(t, ordo_string_dict_check(dict, NULL));
    test_ok(t, ordo_string_dict_find_host(dict, column, values, found));
    test_ok(t, ordo_string_dict_search_host(dict, ORDO_STRING_FIND, column, ranks));
    test_ok(t, ordo_string_dict_prefix_host(dict, column, first, counts));
    test_ok(t, ordo_string_dict_search_host(dict, ORDO_STRING_LONGEST_PREFIX, column, longest));
    for (uint32_t i = 0; i < column->count; i++) {
        test_true(t, found[i] == !(i % 2) && values[i] == i && ranks[i] == (i % 2 ? ORDO_NO_ID : i / 2));
        test_true(t, first[i] == (i + 1) / 2 && counts[i] == !(i % 2) && longest[i] == ranks[i]);
    }
    const struct ordo_host_string_elements out = { offsets, bytes, sizeof bytes, values };
    test_ok(t, ordo_string_dict_select_host(dict, first, 3, &out, found, &needed));
    test_true(t, needed == 12 && values[0] == 0 && values[1] == 2 && memcmp(bytes, column->bytes, 4) == 0);
    test_ok(t, ordo_string_dict_export_host(dict, &out, MOST, &count, &needed));
    for (size_t i = 0; i < count; i++)
        test_true(t, values[i] == 2 * i);
    test_true(t, count == column->count / 2 + 1 && needed == 4 * (count - 1) + 1);
    ordo_string_dict_destroy(&dict);
}

static void strings(struct test *t)
{
    enum { N = 60, STEP = 37 };
    uint8_t  bytes[4 * N];
    uint32_t offsets[N + 1] = { 0 }, ids[N];

    test_context(t, "strings");
    for (uint32_t step = 1; step <= STEP; step += STEP - 1) {
        for (uint32_t i = 0; i < N; i++) {
            ids[i] = i * step % N;
            memcpy(bytes + 4 * (size_t) i, (const uint8_t[]) { 'a', (uint8_t) (ids[i] / 8), 'b', (uint8_t) ids[i] }, 4);
            offsets[i + 1] = 4 * (i + 1);
        }
        const struct ordo_host_strings column = { offsets, 4, bytes, sizeof bytes, N };
        index_of(t, &column, ids, ordo_string_index_params(.sorted = step == 1));
        index_of(t, &column, ids, ordo_string_index_params(.sorted = step == 1, .partial = { 4, 16 }));
        if (step == 1)
            dictionary_of(t, &column);
    }
}

/* Whether a part is selected: by its name, by another's name after a minus, or by NULL. */
static bool is_asked_for(const char *only, const char *part)
{
    return !only || (only[0] == '-' ? strcmp(only + 1, part) != 0 : strcmp(only, part) == 0);
}

static void run_all(struct kernels *k, const char *mask, const char *only)
{
    char                            message[512] = "";
    const struct ordo_device_config config = { .log = note_launch,
                                               .user = k,
                                               .mask = mask,
                                               .no_self_test = true,
                                               .message = message,
                                               .message_bytes = sizeof message };
    struct test                     t = { .mask = mask, .seed = 1, .random = 1 };

    cr_assert(ordo_device_open(&config, &t.dev) == ORDO_OK, "%s: %s", mask, message);
    t.facts = ordo_device_facts(t.dev);
    const struct {
        const char *name;
        void (*run)(struct test *t);
    } parts[] = { { "self-test", self_test },
                  { "primitives", primitives },
                  { "sequences", sequences },
                  { "batches", batches },
                  { "one_leaf", one_leaf },
                  { "concurrent", concurrent },
                  { "levels", levels },
                  { "cleanup", cleanup },
                  { "merge_combining", merge_combining },
                  { "merge_few", merge_few },
                  { "generic", generic },
                  { "prefixes", prefixes },
                  { "leaves", leaves },
                  { "roaring", roaring },
                  { "seldom", seldom },
                  { "combined", combined },
                  { "small_batches", small_batches },
                  { "strings", strings },
                  { "wide_trees", wide_trees } };
    for (size_t i = 0; i < LENGTH(parts); i++) {
        const clock_t since = clock();
        if (!is_asked_for(only, parts[i].name))
            continue;
        parts[i].run(&t);
        (void) fprintf(stderr, "%s%s%s in %.1f s\n", parts[i].name, *mask ? ", mask " : "", mask,
                       (double) (clock() - since) / CLOCKS_PER_SEC);
    }
    ordo_device_close(&t.dev);
}

/* The device as a CPU, and with the kernels of a GPU. ORDO_TEST_PART and ORDO_MASK select one part, or with a minus all
 * but one. */
Test(kernels, each_runs)
{
    static const char *const masks[] = { "", "cpu=0,group=32,progress=1" };
    const char *const part = getenv("ORDO_TEST_PART"), *const mask = getenv("ORDO_MASK");
    struct kernels k = { 0 };
    size_t         missing = 0;

    if (part) {
        run_all(&k, mask ? mask : "", part);
        return;
    }
    find_kernels(&k);
    cr_assert(setenv("ORDO_LOG", "debug", 1) == 0);
    for (size_t i = 0; i < LENGTH(masks); i++)
        run_all(&k, masks[i], NULL);
    for (size_t i = 0; i < k.n; i++)
        if (!has_run(&k, k.of[i].name)) {
            (void) fprintf(stderr, "%s did not run\n", k.of[i].name);
            missing++;
        }
    cr_assert(k.n > 60 && missing == 0, "%zu of %zu kernels did not run", missing, k.n);
}
