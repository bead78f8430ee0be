/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of dictionaries: see ask.h. */
#include "ask.h"

#include "dict/hash/hash.h"
#include "dict/ltree/ltree.h"
#include "runtime/internal.h"
#include "tests/dict/structures.h"
#include "tests/support/auto.h"

#include <stdlib.h>

#define KEYS ((size_t) 20000)

cl_uint answer;

/* A B-link tree of two levels, so that there is work above its leaves. */
static void make_up_state(cl_uint *state)
{
    state[LTREE_ROOT] = 1u << LTREE_LEVEL_SHIFT;
    state[LTREE_LEAVES] = answer;
    state[LTREE_INNER] = 1;
    state[LTREE_ELEMENTS] = answer;
    state[LTREE_GROUPS] = answer;
    state[LTREE_WANTED] = answer;
    state[LTREE_LARGEST] = answer == 600 ? 0 : answer;
    state[LTREE_LAST_WANTED] = state[LTREE_WANTED];
    state[LTREE_LAST_LARGEST] = state[LTREE_LARGEST];
    state[LTREE_PENDING] = answer;
    for (size_t i = 0; i < N_TALLIES; i++)
        state[LTREE_TALLY + i] = answer;
    state[LTREE_SPLITS_PENDING] = answer;
    state[LTREE_ZOMBIES] = answer;
}

/* A mixed batch has operations of every known code. An unknown code would refuse the batch, and so would a combine of a
 * dictionary without values. */
static void make_up_histogram(cl_uint *histogram)
{
    for (size_t code = 0; code < ORDO_N_CODES; code++)
        histogram[code] = code == ORDO_COMBINE && answer == 600 ? 0 : answer;
}

void make_up(cl_uint *to, size_t words)
{
    if (words == LTREE_STATE_WORDS)
        make_up_state(to);
    else if (words == ORDO_HISTOGRAM_WORDS)
        make_up_histogram(to);
    else
        for (size_t i = 0; i < words; i++)
            to[i] = to[i] || (words == 2 && i == 1) ? to[i] : answer; /* two words are one 64-bit number */
}

static void ask_ranks(ordo_dict *dict, const struct arrays *a, struct ordo_slice values, size_t count)
{
    const struct ordo_limited_ranges limited = {
        a->at[0], a->at[1], count, 2, ordo_none(), true, a->at[6], a->at[7], values, KEYS,
    };
    size_t needed = 0;
    ignore(ordo_dict_rank(dict, ORDO_LT, a->at[0], count, a->at[5], NULL));
    ignore(ordo_dict_rank(dict, ORDO_LE, a->at[0], count, a->at[5], NULL));
    ignore(ordo_dict_select(dict, a->at[5], count, a->at[7], values, a->at[4], NULL));
    ignore(ordo_dict_seek_within(dict, ORDO_GE, a->at[0], a->at[1], count, a->at[7], values, a->at[4], NULL));
    ignore(ordo_dict_range_limited(dict, &limited, &needed, NULL));
    ignore(ordo_dict_peek_last(dict, count, a->at[7], values, &needed, NULL));
    ignore(ordo_dict_take_first(dict, count, a->at[7], values, &needed, NULL));
    ignore(ordo_dict_erase_range(dict, a->at[0], a->at[1], count, a->at[5], NULL));
}

/* Combines every type of values by every operation. */
static void ask_aggregates(ordo_dict *dict, const struct arrays *a, uint32_t value_bytes, size_t count)
{
    for (int type = ORDO_U32; type <= ORDO_F64; type++)
        for (int op = ORDO_SUM; op <= ORDO_MAX; op++) {
            if (ordo_type_bytes((ordo_type) type) != value_bytes || (op == ORDO_SUM && type >= ORDO_F32))
                continue;
            ignore(ordo_dict_combine(dict, (ordo_type) type, (ordo_op) op, a->at[0], a->at[3], count, NULL));
            ignore(ordo_dict_aggregate(dict, (ordo_type) type, (ordo_op) op, a->at[0], a->at[1], count, a->at[8],
                                       a->at[5], NULL));
        }
}

static void ask_queries(ordo_dict *dict, const struct arrays *a, uint32_t value_bytes, size_t count)
{
    const struct ordo_slice values = if_bytes(a->at[3], value_bytes);
    size_t                  needed = 0;
    ignore(ordo_dict_find(dict, a->at[0], count, values, a->at[4], NULL));
    ignore(ordo_dict_contains(dict, a->at[0], count, a->at[4], NULL));
    ignore(ordo_dict_count(dict, a->at[0], a->at[1], count, a->at[5], NULL));
    ignore(ordo_dict_range(dict, a->at[0], a->at[1], count, a->at[6], a->at[7], values, KEYS, &needed, NULL));
    for (int relation = ORDO_LT; relation <= ORDO_GT; relation++)
        ignore(ordo_dict_seek(dict, (ordo_relation) relation, a->at[0], count, a->at[7], values, a->at[4], NULL));
    ask_ranks(dict, a, values, count);
    ask_aggregates(dict, a, value_bytes, count);
    ignore(ordo_dict_size(dict, NULL, &needed));
    ignore(ordo_dict_export(dict, a->at[7], values, KEYS, &needed, NULL));
}

static void ask_batches(ordo_dict *dict, const struct arrays *a, uint32_t value_bytes, size_t count)
{
    const struct ordo_slice values = if_bytes(a->at[3], value_bytes), values_out = if_bytes(a->at[8], value_bytes);
    const struct ordo_slice range_values = if_bytes(a->at[9], value_bytes);
    size_t                  needed = 0;
    const struct ordo_batch batch = {
        a->at[0],   a->at[1], a->at[2], values,    count,        a->at[4], a->at[5],
        values_out, a->at[6], a->at[7], a->at[10], range_values, KEYS,     value_bytes == 8 ? ORDO_U64 : ORDO_U32,
        ORDO_SUM,
    };
    const struct ordo_concurrent_batch concurrent = {
        a->at[0],   a->at[1], a->at[2],  values,   count,     a->at[4],     a->at[5],
        values_out, a->at[6], a->at[11], a->at[7], a->at[10], range_values, KEYS,
    };
    ignore(ordo_dict_apply(dict, &batch, &needed, NULL));
    for (uint32_t finds = 1; finds <= 2; finds++) { /* finds first, then by the number of operations */
        ignore(ordo_device_set_tunable(dict->dev, "links.finds", finds));
        ignore(ordo_dict_apply_concurrent(dict, &concurrent, NULL));
    }
}

static void ask_dict(ordo_dict *dict, uint32_t value_bytes)
{
    static const size_t     batches[] = { 100, 3000, KEYS };
    struct arrays           a = arrays_create(2 * KEYS);
    const struct ordo_slice values = if_bytes(a.at[1], value_bytes);
    struct ordo_statistics  statistics;

    ignore(ordo_dict_build(dict, a.at[0], values, KEYS, NULL));
    for (size_t i = 0; i < COUNT_OF(batches); i++) {
        ask_queries(dict, &a, value_bytes, batches[i]);
        ignore(ordo_dict_upsert(dict, a.at[0], values, batches[i], NULL));
        ignore(ordo_dict_insert(dict, a.at[0], values, batches[i], a.at[2], NULL));
        ignore(ordo_dict_erase(dict, a.at[0], batches[i], NULL));
        ask_batches(dict, &a, value_bytes, batches[i]);
    }
    ignore(ordo_dict_upsert(dict, a.at[0], values, KEYS, NULL));
    ignore(ordo_lsm_cleanup(dict, NULL));
    ignore(ordo_dict_check(dict, NULL));
    ignore(ordo_dict_statistics(dict, NULL, &statistics));
    ignore(ordo_dict_compact(dict, NULL));
    ask_queries(dict, &a, value_bytes, KEYS);
    arrays_destroy(&a);
}

/* Queries of prefixes of an X-fast trie. */
static void ask_prefixes(ordo_dict *dict, uint32_t value_bytes)
{
    struct arrays           a = arrays_create(2 * KEYS);
    const struct ordo_slice values = if_bytes(a.at[4], value_bytes);

    ignore(ordo_dict_build(dict, a.at[0], if_bytes(a.at[1], value_bytes), KEYS, NULL));
    ignore(ordo_xfast_count_prefix(dict, a.at[0], a.at[2], KEYS, a.at[3], NULL));
    ignore(ordo_xfast_longest_prefix(dict, a.at[0], KEYS, a.at[3], values, a.at[2], NULL));
    arrays_destroy(&a);
}

/* Roaring sets of a HAMT, with keys of both widths. */
static void ask_roaring(ordo_device *dev)
{
    struct arrays a = arrays_create(2 * KEYS);
    size_t        size = 0;

    for (int wide = 0; wide < 2; wide++) {
        AUTO_DICT ordo_dict *dict = NULL;
        if (create(dev, HAMT, wide ? ORDO_U64 : ORDO_U32, 0, &dict) != ORDO_OK)
            abort();
        ignore(ordo_dict_build(dict, a.at[0], ordo_none(), KEYS, NULL));
        ignore(ordo_hamt_write_roaring(dict, a.at[1], KEYS, &size, NULL));
        ignore(ordo_hamt_read_roaring(dict, a.at[1], KEYS, NULL));
    }
    arrays_destroy(&a);
}

/* A tree with the histories and delays of tests in its concurrent kernels. */
static void ask_tested_tree(ordo_dict *dict, uint32_t value_bytes)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    tree->history = no_driver_buffer(16 * KEYS);
    tree->faults = FAULT_LATCHES;
    ask_dict(dict, value_bytes);
    clReleaseMemObject(tree->history);
}

/* A small batch for a hash table that seems to have many buckets. */
static void ask_small_batch(ordo_dict *dict, uint32_t value_bytes)
{
    struct arrays     a = arrays_create(2 * KEYS);
    struct ordo_hash *hash = ordo_hash_of(dict);

    ignore(ordo_dict_build(dict, a.at[0], if_bytes(a.at[1], value_bytes), KEYS, NULL));
    const size_t n_buckets = hash->table.n_buckets;
    hash->table.n_buckets = hash->elements_min = KEYS;
    hash->scan_max = 0;
    ignore(ordo_dict_upsert(dict, a.at[0], if_bytes(a.at[1], value_bytes), 100, NULL));
    hash->table.n_buckets = n_buckets;
    arrays_destroy(&a);
}

static ordo_dict *make_structure(ordo_device *dev, int structure, const struct pair *pair)
{
    ordo_dict *dict = NULL;
    if (create(dev, structure, pair->key, pair->value_bytes, &dict) != ORDO_OK)
        abort();
    return dict;
}

void ask_structures(ordo_device *dev, const struct pair *pair)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        if (!structure_takes((size_t) s, pair->key))
            continue;
        AUTO_DICT ordo_dict *dict = make_structure(dev, s, pair);
        ask_dict(dict, pair->value_bytes);
        if (s == XFAST)
            ask_prefixes(dict, pair->value_bytes);
        if (s == HASH)
            ask_small_batch(dict, pair->value_bytes);
    }
    if (pair->value_bytes != 4)
        return;
    ordo_dict *tree = make_structure(dev, BLINK, pair);
    ask_tested_tree(tree, pair->value_bytes);
    ordo_dict_destroy(&tree);
    static const int variants[] = { HAMT_FIXED, SKIPLIST_16, XFAST_LEVELS };
    for (size_t v = 0; v < COUNT_OF(variants); v++) {
        if (!structure_takes((size_t) variants[v], pair->key))
            continue;
        AUTO_DICT ordo_dict *other = make_structure(dev, variants[v], pair);
        ask_dict(other, pair->value_bytes);
        if (variants[v] == XFAST_LEVELS)
            ask_prefixes(other, pair->value_bytes);
    }
}

void ask_dicts(ordo_device *dev)
{
    static const unsigned answers[] = { 0, 1, 600, 5000 };
    for (size_t i = 0; i < COUNT_OF(answers); i++)
        for (size_t p = 0; p < COUNT_OF(pairs); p++) {
            answer = answers[i];
            ask_structures(dev, &pairs[p]);
            ask_roaring(dev);
        }
}
