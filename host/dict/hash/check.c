/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

#include <stdlib.h>

static const char *const finding[HASH_FINDINGS] = {
    [HASH_WRONG_HOME] = "H1: a lookup does not find an element of partition %u in its place",
    [HASH_WRONG_EMPTY] = "H2: an empty slot of partition %u has a wrong word",
    [HASH_WRONG_SPILLS] = "H3: the spills of partition %u are wrong",
    [HASH_WRONG_COUNT] = "H4: the count of elements of partition %u is wrong",
    [HASH_WRONG_FILTER] = "H5: a filter of partition %u has other bits than the keys of its bucket",
};

#define BROKEN(dev, ...) ORDO_FAIL((dev), ORDO_BROKEN, __VA_ARGS__)

/* Checks table->starts on the host, before the checking kernel uses the entries as indices. */
static ordo_status check_starts(struct ordo_call *call, const struct ordo_hash_table *table)
{
    const size_t partitions = ordo_hash_partitions(table);
    cl_uint     *starts = calloc(partitions + 1, sizeof *starts);
    ORDO_REQUIRE_MEMORY(call->dev, starts);
    ordo_status status = ordo_call_read(call, table->starts, 0, starts, (partitions + 1) * sizeof *starts);
    size_t      wrong = partitions + 1;
    for (size_t p = 0; p < partitions; p++)
        if (starts[p] > starts[p + 1] || starts[p + 1] - starts[p] > HASH_BUCKETS_MAX)
            wrong = p;
    if (starts[0] != 0 || starts[partitions] != table->n_buckets)
        wrong = partitions;
    free(starts);
    if (status == ORDO_OK && wrong <= partitions && !ordo_is_dry_run(call->dev))
        status = BROKEN(call->dev, "H4: starts of partition %zu is wrong", wrong);
    return status;
}

static ordo_status check(struct ordo_call *call, const struct ordo_hash *hash)
{
    const size_t             partitions = ordo_hash_partitions(&hash->table);
    const struct ordo_launch launch =
        ordo_hash_kernel(hash, "dict/hash/check.cl", "hash_check", partitions, HASH_GROUP_DENSE);
    const int        mark = call->n_scratch;
    struct ordo_args args = { .n = 0 };
    cl_uint          found[HASH_FINDINGS];
    cl_mem           wrong = NULL;

    if (!hash->table.starts)
        return ORDO_OK;
    ORDO_TRY(check_starts(call, &hash->table));
    ORDO_TRY(ordo_call_scratch(call, sizeof found, &wrong));
    ORDO_TRY(ordo_call_fill(call, wrong, 0, sizeof found, UINT32_MAX));
    ordo_hash_add_table(&args, &hash->table);
    ORDO_ADD(&args, ORDO_ARG(wrong));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, wrong, 0, found, sizeof found));
    ordo_call_release(call, mark);
    for (int f = 0; f < HASH_FINDINGS; f++)
        if (found[f] != UINT32_MAX)
            return BROKEN(call->dev, finding[f], found[f]);
    return ORDO_OK;
}

#define RECOUNT_SHARE 16

static ordo_status recount(struct ordo_call *call, struct ordo_hash *hash)
{
    const size_t             groups = ordo_ceil_div(ordo_hash_partitions(&hash->table), RECOUNT_SHARE);
    const struct ordo_launch launch =
        ordo_hash_kernel(hash, "dict/hash/check.cl", "hash_recount", groups, HASH_GROUP_DENSE);
    struct ordo_args args = { .n = 0 };

    if (hash->needs_check)
        ORDO_TRY(check_starts(call, &hash->table));
    ordo_hash_add_table(&args, &hash->table);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    hash->recounts = false;
    return ORDO_OK;
}

ordo_status ordo_hash_begin(struct ordo_call *call, struct ordo_hash *hash)
{
    if (hash->recounts || (hash->needs_check && !hash->broken))
        ORDO_TRY(ordo_call_changes(call));
    if (hash->recounts)
        ORDO_TRY(recount(call, hash));
    if (hash->needs_check && !hash->broken) {
        const ordo_status status = check(call, hash);
        hash->broken = status == ORDO_BROKEN;
        hash->needs_check = status != ORDO_OK;
        ORDO_TRY(status);
    }
    if (hash->broken)
        return BROKEN(call->dev, "a call that failed half way broke the table: build or clear it");
    return ORDO_OK;
}

void ordo_hash_invalidate(ordo_dict *dict)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    hash->needs_check = hash->recounts = hash->table.starts != NULL;
}

ordo_status ordo_hash_check(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    ORDO_TRY(ordo_hash_begin(call, hash));
    return check(call, hash);
}
