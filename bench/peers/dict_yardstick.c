/* SPDX-License-Identifier: Apache-2.0 */
#include "dict_yardstick.h"

#include "bench/common/timing.h"
#include "bench/workload/keys.h"

#include <math.h>

#if BENCH_BTREE

#include "btree.h"

#include <pthread.h>
#include <stdlib.h>

#define ELEMENTS_MOST ((size_t) 1 << 22)
#define QUERIES_MOST  ((size_t) 1 << 20)
#define TIMES         3

const char *dict_yardstick_name(enum workload workload)
{
    switch (workload) {
    case FILLRANDOM:
    case FILLSEQ:
    case BUILD:
    case OVERWRITE:
    case DELETERANDOM:
    case INSERTRANDOM:
    case MIXED:
    case MIXEDSEEKS:
    case COMBINERANDOM:
    case DELETERANGE:
    case QUEUE:
    case EXPIRY:
    case ORDERBOOK:
    case CONCURRENTFILL:
    case CONCURRENTINSERT:
    case CONCURRENTREAD:
    case READRANDOM:
    case READMISSING:
    case SEEKRANDOM:
    case RANGERANDOM:
        return "btree";
    default:
        return NULL;
    }
}

/* A column of keys in ordered form, which the caller frees; NULL without memory. */
static void *ordered(const struct sheet *sheet, enum column_id column, size_t count)
{
    const size_t bytes = ordo_type_bytes(sheet->type);
    void        *keys = malloc(count * bytes + 1);
    for (size_t i = 0; keys && i < count; i++)
        set_element(keys, bytes, i, key_order(sheet->type, sheet_get(sheet, column, i)));
    return keys;
}

static struct btree *tree_of(const struct sheet *sheet)
{
    struct btree *tree = btree_open(ordo_type_bytes(sheet->type), sheet->value_bytes);
    void         *keys = ordered(sheet, COL_KEYS, sheet->rows[COL_KEYS]);
    if (tree && keys)
        btree_put(tree, keys, sheet->at[COL_VALUES], sheet->rows[COL_KEYS]);
    free(keys);
    if (keys)
        return tree;
    btree_close(tree);
    return NULL;
}

/* ---- updates ------------------------------------------------------------------------------------------------- */

/* The columns of inputs, in ordered form. */
struct inputs_of {
    const char    *keys, *his, *values;
    const uint8_t *codes;
    size_t         key_bytes, value_bytes;
};

static const char *row_of(const char *column, size_t bytes, size_t row)
{
    return column ? column + row * bytes : NULL;
}

static uint64_t do_step(struct btree *tree, const struct inputs_of *in, const struct step *step)
{
    const char *keys = row_of(in->keys, in->key_bytes, step->at), *his = row_of(in->his, in->key_bytes, step->at);
    const char *values = row_of(in->values, in->value_bytes, step->at);
    switch (step->call) {
    case DO_ERASE:
        btree_erase(tree, keys, step->count);
        return 0;
    case DO_COMBINE:
        btree_add(tree, keys, values, step->count);
        return 0;
    case DO_ERASE_RANGE:
        btree_erase_range(tree, keys, his, step->count);
        return 0;
    case DO_TAKE_FIRST:
        return btree_take_first(tree, step->count);
    case DO_PEEK_FIRST:
    case DO_PEEK_LAST:
        return btree_peek(tree, step->call == DO_PEEK_LAST, step->count);
    case DO_APPLY:
        return btree_apply(tree, in->codes + step->at, keys, his, values, step->count);
    default:
        btree_put(tree, keys, values, step->count);
        return 0;
    }
}

static double seconds_of(struct btree *tree, const struct inputs_of *in, const struct script *script)
{
    volatile uint64_t sum = 0;
    const double      before = now();
    for (size_t s = 0; s < script->n_steps; s++)
        sum += do_step(tree, in, &script->steps[s]);
    (void) sum;
    return now() - before;
}

static double update_rate(const struct dict_plan *plan)
{
    const struct sheet *sheet = &plan->work.sheet;
    struct btree       *tree = tree_of(&plan->table.sheet);
    void               *keys = ordered(sheet, COL_KEYS, sheet->rows[COL_KEYS]);
    void               *his = ordered(sheet, COL_HIS, sheet->rows[COL_HIS]);
    double              seconds = NAN;
    if (tree && keys && his)
        seconds =
            seconds_of(tree,
                       &(struct inputs_of) { keys, sheet->rows[COL_HIS] ? his : NULL, sheet->at[COL_VALUES],
                                             sheet->at[COL_CODES], ordo_type_bytes(sheet->type), sheet->value_bytes },
                       &plan->work);
    btree_close(tree);
    free(keys);
    free(his);
    return (double) spec_operations(&plan->spec) / seconds;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

struct half {
    const struct btree *tree;
    enum workload       workload;
    const char         *keys, *his;
    size_t              count;
    uint64_t            sum;
};

static void *ask(void *half_)
{
    struct half *half = half_;
    if (half->workload == SEEKRANDOM)
        half->sum = btree_seek(half->tree, half->keys, half->count);
    else if (half->workload == RANGERANDOM)
        half->sum = btree_range(half->tree, half->keys, half->his, half->count);
    else
        half->sum = btree_find(half->tree, half->keys, half->count);
    return NULL;
}

/* Two halves side by side. */
static double ask_both(struct half halves[2])
{
    pthread_t    other;
    const double before = now();
    const bool   started = pthread_create(&other, NULL, ask, &halves[1]) == 0;
    ask(&halves[0]);
    if (started)
        pthread_join(other, NULL);
    else
        ask(&halves[1]);
    return now() - before;
}

static double query_rate(const struct dict_plan *plan)
{
    const struct sheet *sheet = &plan->work.sheet;
    const size_t        rows = sheet->rows[COL_KEYS], count = rows < QUERIES_MOST ? rows : QUERIES_MOST;
    const size_t        bytes = ordo_type_bytes(sheet->type), first = count / 2;
    struct btree       *tree = tree_of(&plan->table.sheet);
    char               *keys = ordered(sheet, COL_KEYS, count);
    char               *his = sheet->at[COL_HIS] ? ordered(sheet, COL_HIS, count) : keys;
    double              seconds[TIMES];
    int                 times = 0;
    if (tree && keys && his) {
        struct half halves[2] = { { tree, plan->spec.workload, keys, his, first, 0 },
                                  { tree, plan->spec.workload, keys + first * bytes, his + first * bytes, count - first,
                                    0 } };
        while (times < TIMES)
            seconds[times++] = ask_both(halves);
    }
    btree_close(tree);
    if (his != keys)
        free(his);
    free(keys);
    return (double) count / spread_of(seconds, times).median;
}

double dict_yardstick_rate(const struct dict_plan *plan)
{
    if (!dict_yardstick_name(plan->spec.workload) || plan->spec.count > ELEMENTS_MOST)
        return NAN;
    return plan_has_fills(plan->spec.workload) ? query_rate(plan) : update_rate(plan);
}

#else

const char *dict_yardstick_name(enum workload workload)
{
    (void) workload;
    return NULL;
}

double dict_yardstick_rate(const struct dict_plan *plan)
{
    (void) plan;
    return NAN;
}

#endif
