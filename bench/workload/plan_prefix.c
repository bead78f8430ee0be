/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "bench/common/threads.h"

#include <stdlib.h>

static bool by_prefixes(const struct dict_plan *plan)
{
    return plan->spec.variant == XFAST;
}

/* ---- prefixes ------------------------------------------------------------------------------------------------ */

/* The length of prefix i: 0 for the first, else uniform. */
static unsigned length_of(const struct dict_plan *plan, size_t i)
{
    const unsigned least = plan->spec.type == ORDO_U32 ? 8 : 16, most = plan->spec.type == ORDO_U32 ? 28 : 60;
    return i == 0 ? 0 : least + (unsigned) (draw(stream(plan, STREAM_WIDTH), i) % (most - least + 1));
}

/* The bits of all prefixes. The caller frees them; NULL without memory. */
static void *draw_bits(const struct dict_plan *plan)
{
    void *bits = malloc(plan->spec.count * plan->model.key_bytes + 1);
    if (bits)
        keys_draw(plan->spec.type, plan->spec.dist == ZIPF ? UNIFORM : plan->spec.dist, stream(plan, STREAM_TABLE),
                  plan->spec.count, bits);
    return bits;
}

static uint64_t prefix_of(const struct dict_plan *plan, const void *bits, size_t i)
{
    return prefix_key(plan->spec.type, element(bits, plan->model.key_bytes, i), length_of(plan, i));
}

/* ---- segments with one longest prefix ------------------------------------------------------------------------ */

struct range {
    uint64_t first, last, value;
};

/* Outer ranges before inner ones. */
static int from_outer(const void *a_, const void *b_)
{
    const struct range *a = a_, *b = b_;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->last > b->last ? -1 : a->last < b->last;
}

struct segments {
    uint64_t *first, *value;
    size_t    n;
};

/* The last segment at a place counts. */
static void begin_segment(struct segments *s, uint64_t first, uint64_t value)
{
    s->n -= s->n > 0 && s->first[s->n - 1] == first;
    s->first[s->n] = first;
    s->value[s->n++] = value;
}

#define NESTED_MAX 65

/* Ranges come outer before inner, and the first holds all, so segments come in order. */
static void cut_segments(const struct range *ranges, size_t n, struct segments *s)
{
    const struct range *within[NESTED_MAX];
    size_t              depth = 0;
    for (size_t i = 0; i <= n; i++) {
        while (depth > 1 && (i == n || within[depth - 1]->last < ranges[i].first)) {
            const struct range *ends = within[--depth];
            if (ends->last < within[0]->last)
                begin_segment(s, ends->last + 1, within[depth - 1]->value);
        }
        if (i == n || (depth > 0 && from_outer(within[depth - 1], &ranges[i]) == 0))
            continue;
        within[depth++] = &ranges[i];
        begin_segment(s, ranges[i].first, ranges[i].value);
    }
}

static void set_ranges(const struct dict_plan *plan, const void *bits, struct range *ranges)
{
    const ordo_type type = plan->spec.type;
    for (size_t i = 0; i < plan->spec.count; i++) {
        const uint64_t prefix = prefix_of(plan, bits, i);
        const unsigned length = prefix_length(type, prefix);
        ranges[i] = (struct range) { prefix_least(type, prefix, length), prefix_greatest(type, prefix, length),
                                     value_by_key(prefix) };
    }
    qsort(ranges, plan->spec.count, sizeof *ranges, from_outer);
}

/* Allocates two segments per range, because one begins at each end. */
static bool put_segments(const struct dict_plan *plan, const void *bits, struct column_batch *cols)
{
    const size_t    count = plan->spec.count;
    struct range   *ranges = malloc(count * sizeof *ranges + 1);
    struct segments s = { malloc(2 * count * sizeof *s.first + 1), malloc(2 * count * sizeof *s.value + 1), 0 };
    bool            made = ranges && s.first && s.value;
    if (made) {
        set_ranges(plan, bits, ranges);
        cut_segments(ranges, count, &s);
        made = column_reserve(cols, COL_KEYS, s.n) && column_reserve(cols, COL_VALUES, s.n);
    }
    for (size_t i = 0; made && i < s.n; i++) {
        column_set(cols, COL_KEYS, i, s.first[i]);
        column_set(cols, COL_VALUES, i, s.value[i]);
    }
    free(ranges);
    free(s.first);
    free(s.value);
    return made;
}

static bool put_prefixes(const struct dict_plan *plan, const void *bits, struct column_batch *cols)
{
    const size_t count = plan->spec.count;
    if (!columns_reserve(cols, count, IN(KEYS) | IN(VALUES)))
        return false;
    for (size_t i = 0; i < count; i++) {
        column_set(cols, COL_KEYS, i, prefix_of(plan, bits, i));
        set_value_by_key(cols, i);
    }
    return true;
}

bool prefix_script(const struct dict_plan *plan, struct script *script)
{
    void *bits = draw_bits(plan);
    bool  made = bits && script_steps(script, 1);
    made = made && (by_prefixes(plan) ? put_prefixes : put_segments)(plan, bits, &script->cols);
    if (made)
        script->steps[0] = (struct step) { .call = DO_UPSERT, .count = script->cols.rows[COL_KEYS] };
    free(bits);
    return made;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

struct drawn {
    const struct dict_plan *plan;
    struct column_batch    *cols;
    const void             *bits; /* for longestprefix */
};

static uint64_t random_rest(const struct dict_plan *plan, size_t row)
{
    return draw(stream(plan, STREAM_MISS), row);
}

/* A uniform prefix, and an address in it. */
static void address_at(void *drawn_, size_t row)
{
    const struct drawn     *d = drawn_;
    const struct dict_plan *plan = d->plan;
    const ordo_type         type = plan->spec.type;
    const uint64_t prefix = prefix_of(plan, d->bits, pick_of(plan, plan->spec.count, row, plan->spec.n_queries));
    const unsigned length = prefix_length(type, prefix);
    const uint64_t least = prefix_least(type, prefix, length), most = prefix_greatest(type, prefix, length);
    column_set(d->cols, COL_KEYS, row, least | (random_rest(plan, row) & (most ^ least)));
}

/* The first 8 to all but 8 bits of a present key. */
static void count_at(void *drawn_, size_t row)
{
    const struct drawn     *d = drawn_;
    const struct dict_plan *plan = d->plan;
    const ordo_type         type = plan->spec.type;
    const uint64_t          key = model_key(&plan->model, pick(plan, row, plan->spec.n_queries));
    const unsigned length = 8 + (unsigned) (draw(stream(plan, STREAM_WIDTH), row) % (8 * plan->model.key_bytes - 15));
    const uint64_t least = prefix_least(type, key, length), most = prefix_greatest(type, key, length);
    column_set(d->cols, COL_KEYS, row, by_prefixes(plan) ? least | (random_rest(plan, row) & (most ^ least)) : least);
    column_set(d->cols, COL_HI, row, most);
    column_set(d->cols, COL_LENGTHS, row, length);
}

static bool query_columns(const struct dict_plan *plan, struct column_batch *cols)
{
    const size_t rows = plan->spec.n_queries;
    columns_clear(cols);
    if (plan->spec.workload == LONGESTPREFIX)
        return columns_reserve(cols, rows, IN(KEYS) | IN(FOUND) | IN(VALUES_OUT));
    return columns_reserve(cols, rows, IN(KEYS) | IN(COUNTS) | (by_prefixes(plan) ? IN(LENGTHS) : IN(HI)));
}

static struct step query_step(const struct dict_plan *plan)
{
    const bool longest = plan->spec.workload == LONGESTPREFIX, prefixes = by_prefixes(plan);
    return (struct step) { .call = longest ? (prefixes ? DO_LONGEST_PREFIX : DO_SEEK)
                                           : (prefixes ? DO_COUNT_PREFIX : DO_COUNT),
                           .relation = ORDO_LE,
                           .count = plan->spec.n_queries };
}

bool draw_prefix_queries(struct dict_plan *plan)
{
    const bool   longest = plan->spec.workload == LONGESTPREFIX;
    void        *bits = longest ? draw_bits(plan) : NULL;
    struct drawn drawn = { plan, &plan->work.cols, bits };
    const bool   made = (bits || !longest) && query_columns(plan, &plan->work.cols) && script_steps(&plan->work, 1);
    if (made) {
        for_each(plan->spec.n_queries, longest ? address_at : count_at, &drawn);
        plan->work.steps[0] = query_step(plan);
    }
    free(bits);
    return made;
}
