/* SPDX-License-Identifier: Apache-2.0 */
/* Opens devices, and tests scan, sort and search on each. */
#include "runtime/self_test.h"

#include <inttypes.h>
#include <stdlib.h>

/* A dry-run device computes nothing, so its results are not checked. */
#define WRONG(dev, ...) (ordo_is_dry_run(dev) ? ORDO_OK : ORDO_FAIL((dev), ORDO_SELF_TEST, __VA_ARGS__))

struct arrays {
    size_t    count;
    uint32_t *keys, *out_keys, *out_values, *queries;
};

/* Returns a random number for key i. Every 16th key equals the key before it. */
static uint32_t key_of(size_t i)
{
    uint32_t x = (uint32_t) (i - (i % 16 == 15)) * 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca77u;
    x = (x ^ x >> 13) * 0xc2b2ae3du;
    return x ^ x >> 16;
}

static ordo_status test_scan(ordo_device *dev, const struct arrays *a)
{
    const struct ordo_scan_params sums = { .type = ORDO_U32, .op = ORDO_SUM };
    uint32_t                      sum = 0;
    ORDO_TRY(ordo_scan_host(dev, &sums, a->keys, a->out_keys, a->count));
    for (size_t i = 0; i < a->count; sum += a->keys[i++])
        if (a->out_keys[i] != sum)
            return WRONG(dev, "scan of %zu elements: the sum before element %zu is %" PRIu32 ", not %" PRIu32, a->count,
                         i, a->out_keys[i], sum);
    return ORDO_OK;
}

/* Checks that each value is the index of its key in the input, and that the pairs strictly ascend. */
static ordo_status check_sorted(ordo_device *dev, const struct arrays *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const uint32_t key = a->out_keys[i], from = a->out_values[i];
        if (from >= a->count || a->keys[from] != key)
            return WRONG(dev, "sort of %zu pairs: pair %zu is (%" PRIu32 ", %" PRIu32 "), which was not in the input",
                         a->count, i, key, from);
        if (i == 0)
            continue;
        const uint32_t last_key = a->out_keys[i - 1], last_from = a->out_values[i - 1];
        if (last_key > key || (last_key == key && last_from >= from))
            return WRONG(
                dev, "sort of %zu pairs: pair %zu, (%" PRIu32 ", %" PRIu32 "), stands after (%" PRIu32 ", %" PRIu32 ")",
                a->count, i, key, from, last_key, last_from);
    }
    return ORDO_OK;
}

static ordo_status test_sort(ordo_device *dev, const struct arrays *a)
{
    const struct ordo_sort_params pairs = { .key = ORDO_U32, .value_bytes = sizeof *a->out_values };
    for (size_t i = 0; i < a->count; i++) {
        a->out_keys[i] = a->keys[i];
        a->out_values[i] = (uint32_t) i;
    }
    ORDO_TRY(ordo_sort_host(dev, &pairs, a->out_keys, a->out_values, a->count));
    return check_sorted(dev, a);
}

enum { QUERIES_MAX = 4096 };

static ordo_status test_search(ordo_device *dev, const struct arrays *a)
{
    const struct ordo_search_params lower = { .key = ORDO_U32 };
    const size_t                    n = a->count < QUERIES_MAX ? a->count : QUERIES_MAX, step = a->count / n;
    uint32_t                       *ranks = a->out_values;
    for (uint32_t more = 0; more < 2; more++) {
        for (size_t i = 0; i < n; i++)
            a->queries[i] = a->keys[i * step] + more;
        ORDO_TRY(ordo_search_host(dev, &lower, a->out_keys, a->count, a->queries, n, ranks));
        for (size_t i = 0; i < n; i++) {
            const uint32_t rank = ranks[i], query = a->queries[i];
            if (rank > a->count || (rank > 0 && a->out_keys[rank - 1] >= query) ||
                (rank < a->count && a->out_keys[rank] < query))
                return WRONG(dev, "search in %zu keys: the rank of %" PRIu32 " is not %" PRIu32, a->count, query, rank);
        }
    }
    return ORDO_OK;
}

static ordo_status test_count(ordo_device *dev, size_t count)
{
    uint32_t *all = malloc(4 * count * sizeof *all);
    ORDO_REQUIRE_MEMORY(dev, all);
    const struct arrays a = { count, all, all + count, all + 2 * count, all + 3 * count };
    for (size_t i = 0; i < count; i++)
        a.keys[i] = key_of(i);

    ordo_status status = test_scan(dev, &a);
    if (status == ORDO_OK)
        status = test_sort(dev, &a);
    if (status == ORDO_OK)
        status = test_search(dev, &a);
    free(all);
    return status;
}

/* If `all` is true, also tests a small array. Its sort kernels take 0.3 s to compile (H200). */
static ordo_status test_primitives(ordo_device *dev, bool all)
{
    const size_t many = ordo_device_facts(dev)->lanes == ORDO_LANES_ONE ? 60001 : 262147;
    if (all)
        ORDO_TRY(test_count(dev, 1000));
    return test_count(dev, many);
}

ordo_status ordo_device_open(const struct ordo_device_config *config, ordo_device **out)
{
    return ordo_open_device(config, NULL, test_primitives, out);
}

ordo_status ordo_device_adopt(cl_context context, cl_device_id id, cl_command_queue queue,
                              const struct ordo_device_config *config, ordo_device **out)
{
    return ordo_open_device(config, &(struct ordo_adopted) { context, id, queue }, test_primitives, out);
}
