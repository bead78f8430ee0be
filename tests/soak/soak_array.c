/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of array.h (soak.h). Arrays are numbered as in tests/support/calls_primitives.c. */
#include "soak.h"

#include "tests/primitive/array_model.h"
#include "tests/primitive/scan_common.h"

#include <stdlib.h>

static void model(struct life *l, struct play *p)
{
    (void) l;
    model_array_call(p->call, &p->g, p->want);
}

static void model_compact(struct life *l, struct play *p)
{
    model(l, p);
    p->compared[3] = p->compared[4] = *(const uint32_t *) p->want[5];
}

/* Sorts an input by key. */
static void sort_input(struct play *p, size_t array, size_t from, size_t n)
{
    test_sort_keys(p->g.type, p->g.descending, n, (char *) p->want[array] + from * p->bytes[array]);
}

static void choose_scan(struct life *l, struct play *p)
{
    p->g.array_op = (ordo_op) (goes_with(p->g.type, ORDO_SUM) ? soak_below(l, 3) : 1 + soak_below(l, 2));
    p->g.inclusive = soak_one_in(l, 2);
}

static void choose_sort(struct life *l, struct play *p)
{
    const uint32_t all = (uint32_t) (8 * ordo_type_bytes(p->g.type));

    p->g.descending = soak_one_in(l, 2);
    if (soak_one_in(l, 2))
        return;
    p->g.first_bit = (uint32_t) soak_below(l, all);
    p->g.bits = (uint32_t) soak_below(l, all - p->g.first_bit + 1);
}

static void choose_merge(struct life *l, struct play *p)
{
    p->g.descending = soak_one_in(l, 2);
}

static void fix_merge(struct life *l, struct play *p)
{
    (void) l;
    sort_input(p, 0, 0, p->g.count);
    sort_input(p, 2, 0, p->g.second);
}

/* Runs in any order, some empty. */
static void fix_merge_runs(struct life *l, struct play *p)
{
    static struct ordo_run runs[ORDO_MAX_RUNS];
    const size_t           n = 1 + soak_below(l, ORDO_MAX_RUNS);
    size_t                 at = 0;

    for (size_t r = 0; r < n; r++) {
        const size_t left = p->g.count - at;
        runs[r] = (struct ordo_run) { at, r + 1 == n ? left : soak_below(l, left + 1) };
        sort_input(p, 0, at, runs[r].count);
        at += runs[r].count;
    }
    for (size_t r = n; r > 1; r--) {
        const size_t          other = soak_below(l, r);
        const struct ordo_run was = runs[r - 1];
        runs[r - 1] = runs[other];
        runs[other] = was;
    }
    p->g.runs = runs;
    p->g.n_runs = n;
}

static void choose_top(struct life *l, struct play *p)
{
    p->g.greatest = soak_one_in(l, 2);
    if (soak_one_in(l, 2))
        p->g.k = soak_below(l, p->g.n < 1000 ? p->g.n : 1000);
}

static void choose_groups(struct life *l, struct play *p)
{
    static const ordo_type values[] = { ORDO_U32, ORDO_U64, ORDO_I32, ORDO_F32 };

    p->g.value = values[soak_below(l, LENGTH(values))];
    p->g.array_op = (ordo_op) (goes_with(p->g.value, ORDO_SUM) ? soak_below(l, 3) : 1 + soak_below(l, 2));
    p->g.wide = p->g.array_op == ORDO_SUM && (p->g.value == ORDO_U32 || p->g.value == ORDO_I32) && soak_one_in(l, 2);
    p->g.sorted = soak_one_in(l, 3);
}

static void choose_search(struct life *l, struct play *p)
{
    p->g.upper = soak_one_in(l, 2);
    p->g.sorted_queries = soak_one_in(l, 4);
    p->g.scheme = (ordo_scheme) soak_below(l, 4);
}

static void choose_rows(struct life *l, struct play *p)
{
    p->g.row_bytes = (uint32_t) soak_size(l, 40);
}

static void choose_fields(struct life *l, struct play *p)
{
    (void) l;
    p->g.type = ORDO_U64;
}

/* Strings of 0 to 16 bytes, all in CALL_STRING_BYTES per row. Few values per byte, so that strings share prefixes. */
static void fix_strings(struct life *l, struct play *p)
{
    uint32_t *offsets = p->want[0];
    uint8_t  *bytes = p->want[1];

    for (size_t i = 0; i < CALL_STRING_BYTES * p->g.count; i++)
        bytes[i] %= 2;
    for (size_t i = 0; i <= p->g.count; i++)
        offsets[i] = (uint32_t) (CALL_STRING_BYTES * i - (i > 0 ? soak_below(l, CALL_STRING_BYTES + 1) : 0));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define ROW                                                                                                            \
    {                                                                                                                  \
        1, 0, 0, 1                                                                                                     \
    }

const struct soak_row soak_array_rows[] = {
    { "ordo_scan", ROW, ROW_ARRAY, .choose = choose_scan, .model = model },
    { "ordo_segmented_scan", ROW, ROW_ARRAY, .choose = choose_scan, .model = model },
    { "ordo_reduce", ROW, ROW_ARRAY, .choose = choose_scan, .model = model },
    { "ordo_compact", ROW, ROW_ARRAY, .model = model_compact },
    { "ordo_sort", ROW, ROW_ARRAY, .choose = choose_sort, .model = model },
    { "ordo_merge", ROW, ROW_ARRAY, .choose = choose_merge, .fix = fix_merge, .model = model },
    { "ordo_merge_runs", ROW, ROW_ARRAY, .choose = choose_merge, .fix = fix_merge_runs, .model = model },
    { "ordo_search", ROW, ROW_ARRAY, .choose = choose_search, .model = model },
    { "ordo_lookup", ROW, ROW_ARRAY, .choose = choose_search, .model = model },
    { "ordo_equal_range", ROW, ROW_ARRAY, .choose = choose_search, .model = model },
    { "ordo_reduce_by_key", ROW, ROW_ARRAY, .choose = choose_groups, .model = model },
    { "ordo_unique", ROW, ROW_ARRAY, .choose = choose_groups, .model = model },
    { "ordo_top_k", ROW, ROW_ARRAY, .choose = choose_top, .model = model },
    { "ordo_select", ROW, ROW_ARRAY, .choose = choose_top, .model = model },
    { "ordo_gather", ROW, ROW_ARRAY, .choose = choose_rows, .model = model },
    { "ordo_scatter", ROW, ROW_ARRAY, .choose = choose_rows, .model = model },
    { "ordo_key_pack", ROW, ROW_ARRAY, .choose = choose_fields, .model = model },
    { "ordo_key_unpack", ROW, ROW_ARRAY, .choose = choose_fields, .model = model },
    { "ordo_sort_strings", ROW, ROW_ARRAY, .choose = choose_merge, .fix = fix_strings, .model = model },
};
const size_t n_soak_array_rows = LENGTH(soak_array_rows);
