/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives, on as few elements as reach every kernel: see kernels.c. */
#include "kernel_parts.h"

#include <stdio.h>
#include <stdlib.h>

void run_call(struct test *t, const struct array_call *call, ordo_dict *dict, size_t n, size_t held)
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

void set_tunables(struct test *t, const char *text)
{
    char copy[256], *rest = NULL;

    (void) snprintf(copy, sizeof copy, "%s", text);
    for (char *one = strtok_r(copy, " ", &rest); one; one = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(one, '=');
        *value++ = '\0';
        test_ok(t, ordo_device_set_tunable(t->dev, one, (uint32_t) strtoul(value, NULL, 10)));
    }
}

void part_self_test(struct test *t)
{
    test_ok(t, ordo_device_self_test(t->dev));
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
void part_primitives(struct test *t)
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
