/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of primitives: see ask.h. */
#include "ask.h"

#include "primitive/primitive.h"
#include "runtime/internal.h"
#include "tests/support/auto.h"

/* From one group to many rounds of the largest device. */
static const size_t counts[] = { 600, 3000, 1 << 14, 1 << 17, 1 << 19, 1 << 21, 1 << 25 };

static void ask_folds(ordo_device *dev, const struct arrays *a, size_t count)
{
    static const struct {
        ordo_type type;
        ordo_op   op;
    } folds[] = { { ORDO_U32, ORDO_SUM }, { ORDO_U64, ORDO_SUM }, { ORDO_U32, ORDO_MAX },
                  { ORDO_F32, ORDO_MIN }, { ORDO_F64, ORDO_MAX }, { ORDO_I64, ORDO_MIN } };
    for (size_t i = 0; i < COUNT_OF(folds); i++) {
        const struct ordo_scan_params   scan = { .type = folds[i].type, .op = folds[i].op };
        const struct ordo_reduce_params reduce = { .type = folds[i].type, .op = folds[i].op };
        ignore(ordo_scan(dev, &scan, a->at[0], a->at[1], count, NULL));
        ignore(ordo_segmented_scan(dev, &scan, a->at[0], a->at[2], a->at[1], count, NULL));
        ignore(ordo_reduce(dev, &reduce, a->at[0], count, a->at[1], NULL));
    }
}

static void ask_compact(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_compact_params params = { (uint32_t) ordo_type_bytes(pair->key), pair->value_bytes };
    ignore(ordo_compact(dev, &params, a->at[0], if_bytes(a->at[1], pair->value_bytes), a->at[2], count, a->at[3],
                        if_bytes(a->at[4], pair->value_bytes), a->at[5], NULL));
}

static void ask_by_key(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    static const ordo_type types[] = { ORDO_U32, ORDO_I32, ORDO_F32, ORDO_U64, ORDO_I64, ORDO_F64 };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        for (int sorted = 0; sorted < 2; sorted++) {
            const bool                             is_float = types[i] == ORDO_F32 || types[i] == ORDO_F64;
            const struct ordo_reduce_by_key_params reduce = {
                pair->key, types[i], is_float ? ORDO_MIN : ORDO_SUM, !is_float && ordo_type_bytes(types[i]) == 4,
                sorted,    0
            };
            const struct ordo_unique_params unique = { pair->key, sorted, 0 };
            ignore(ordo_reduce_by_key(dev, &reduce, a->at[0], a->at[1], count, a->at[2], a->at[3], a->at[4], count,
                                      a->at[5], NULL));
            ignore(ordo_unique(dev, &unique, a->at[0], count, a->at[2], a->at[3], count, a->at[4], NULL));
            struct ordo_reduce_by_key_params few = reduce;
            few.bits = 4;
            if (dev->facts.cpu) /* by tables, without a sort */
                ignore(ordo_reduce_by_key(dev, &few, a->at[0], a->at[1], count, a->at[2], a->at[3], a->at[4], count,
                                          a->at[5], NULL));
        }
}

static void ask_top(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_top_k_params  top = { pair->key, pair->value_bytes, pair->descending };
    const struct ordo_select_params one = { pair->key, pair->descending };
    const struct ordo_slice         values = if_bytes(a->at[1], pair->value_bytes);
    for (size_t k = 10; k <= count; k = k == count ? k + 1 : ordo_min_size(k * 20, count))
        ignore(ordo_top_k(dev, &top, a->at[0], values, count, k, a->at[2], if_bytes(a->at[3], pair->value_bytes),
                          a->at[4], NULL));
    ignore(ordo_select(dev, &one, a->at[0], count, count / 2, a->at[1], a->at[2], NULL));
}

static void ask_rows(ordo_device *dev, const struct arrays *a, size_t count)
{
    static const uint32_t bytes[] = { 1, 2, 4, 8 };
    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        const struct ordo_gather_params  gather = { bytes[i] };
        const struct ordo_scatter_params scatter = { bytes[i], false };
        ignore(ordo_gather(dev, &gather, a->at[0], count, a->at[1], count, a->at[2], NULL));
        ignore(ordo_scatter(dev, &scatter, a->at[0], a->at[1], count, a->at[2], count, NULL));
    }
    ignore(ordo_gather(dev, &(struct ordo_gather_params) { 16 }, a->at[0], count / 4, a->at[1], count / 4, a->at[2],
                       NULL));
}

static void ask_keys(ordo_device *dev, const struct arrays *a, size_t count)
{
    const struct ordo_slice     columns[] = { a->at[0], a->at[1], a->at[4] };
    const struct ordo_key_field fields[] = { { .type = ORDO_U32 }, { .type = ORDO_F32 }, { .type = ORDO_U64 } };
    for (size_t n = 1; n <= COUNT_OF(fields); n++) { /* keys of 4, 8 and 16 bytes */
        ignore(ordo_key_pack(dev, fields, n, columns, NULL, count, a->at[2], a->at[3], NULL));
        ignore(ordo_key_unpack(dev, fields, n, a->at[2], count, columns, NULL, NULL));
    }
}

static void ask_sort(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_sort_params params = { pair->key, pair->value_bytes, pair->descending, 0, 0 };
    const struct ordo_slice       values = if_bytes(a->at[1], pair->value_bytes);
    ignore(ordo_sort(dev, &params, a->at[0], values, a->at[2], if_bytes(a->at[3], pair->value_bytes), count, NULL));
    ignore(ordo_sort(dev, &params, a->at[0], values, a->at[0], values, count, NULL));
}

static void ask_merges(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const struct ordo_merge_params params = { pair->key, pair->value_bytes, pair->descending };
    const struct ordo_slice        values = if_bytes(a->at[1], pair->value_bytes);
    struct ordo_run                runs[ORDO_MAX_RUNS];
    ignore(ordo_merge(dev, &params, a->at[0], values, count / 2, a->at[2], if_bytes(a->at[3], pair->value_bytes),
                      count - count / 2, a->at[4], if_bytes(a->at[5], pair->value_bytes), NULL));
    for (size_t n = 2; n <= ORDO_MAX_RUNS; n += 7) {
        for (size_t i = 0; i < n; i++)
            runs[i] = (struct ordo_run) { i * (count / n), count / n };
        ignore(ordo_merge_runs(dev, &params, a->at[0], values, runs, n, a->at[4], if_bytes(a->at[5], pair->value_bytes),
                               NULL));
    }
}

static void ask_searches(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair)
{
    const size_t                         n = count / 4;
    AUTO(ordo_index_destroy) ordo_index *index = NULL;
    ignore(ordo_index_build(dev, pair->key, a->at[0], count, NULL, &index));
    for (int i = 0; i < 8; i++) {
        const struct ordo_search_params search = { pair->key, (i & 1) != 0, (i & 2) != 0, i & 4 ? index : NULL };
        const struct ordo_lookup_params lookup = { pair->key, pair->value_bytes, (i & 2) != 0, i & 4 ? index : NULL };
        const struct ordo_equal_range_params range = { pair->key, (i & 2) != 0, i & 4 ? index : NULL };
        ignore(ordo_search(dev, &search, a->at[0], count, a->at[2], n, a->at[3], NULL));
        ignore(ordo_equal_range(dev, &range, a->at[0], count, a->at[2], n, a->at[3], a->at[4], NULL));
        ignore(ordo_lookup(dev, &lookup, a->at[0], if_bytes(a->at[1], pair->value_bytes), count, a->at[2], n,
                           if_bytes(a->at[4], pair->value_bytes), a->at[5], NULL));
    }
    for (int scheme = ORDO_SCHEME_BUFFERED; scheme <= ORDO_SCHEME_SORTED; scheme++) {
        const struct ordo_search_params in_order = { .key = pair->key, .index = index, .scheme = (ordo_scheme) scheme };
        ignore(ordo_search(dev, &in_order, a->at[0], count, a->at[2], n, a->at[3], NULL));
    }
    ordo_index_destroy(&index);
    ignore(ordo_index_build_compressed(dev, pair->key, a->at[0], count, NULL, &index));
    for (int i = 0; i < 2; i++) {
        const struct ordo_search_params search = { pair->key, i == 1, false, index };
        ignore(ordo_search(dev, &search, ordo_none(), count, a->at[2], n, a->at[3], NULL));
    }
    const struct ordo_lookup_params      lookup = { pair->key, pair->value_bytes, false, index };
    const struct ordo_equal_range_params range = { pair->key, false, index };
    ignore(ordo_equal_range(dev, &range, ordo_none(), count, a->at[2], n, a->at[3], a->at[4], NULL));
    ignore(ordo_lookup(dev, &lookup, ordo_none(), if_bytes(a->at[1], pair->value_bytes), count, a->at[2], n,
                       if_bytes(a->at[4], pair->value_bytes), a->at[5], NULL));
}

static void ask_pairs(ordo_device *dev, const char *tunable, const struct arrays *a, size_t count)
{
    static const struct {
        const char *name;
        void (*ask)(ordo_device *dev, const struct arrays *a, size_t count, const struct pair *pair);
    } primitives[] = { { "compact", ask_compact }, { "by_key", ask_by_key }, { "top", ask_top },
                       { "sort", ask_sort },       { "merge", ask_merges },  { "merge_runs", ask_merges },
                       { "search", ask_searches } };
    for (size_t i = 0; i < COUNT_OF(primitives); i++)
        for (size_t p = 0; p < COUNT_OF(pairs); p++)
            if (is_of(tunable, primitives[i].name) && is_for(tunable, &pairs[p]))
                primitives[i].ask(dev, a, count, &pairs[p]);
}

void ask_primitives(ordo_device *dev, const char *tunable)
{
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        struct arrays a = arrays_create(counts[c]);
        if (is_of(tunable, "scan") || is_of(tunable, "compact"))
            ask_folds(dev, &a, counts[c]);
        if (is_of(tunable, "compact")) {
            ask_rows(dev, &a, counts[c]);
            ask_keys(dev, &a, counts[c]);
        }
        if (is_of(tunable, "compact") || is_of(tunable, "strings"))
            ask_strings(dev, &a, counts[c]);
        ask_pairs(dev, tunable, &a, counts[c]);
        arrays_destroy(&a);
    }
}
