/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of sorted runs: searches in each run, and launches of cl/dict/runs/runs.cl over the ranks; and intervals of keys erased in
 * place, which are such ranks. */
#include "dict/runs/runs.h"

#include "dict/batch.h"
#include "primitive/scan.h"
#include "primitive/search.h"

/* ---- launches ---------------------------------------------------------------------------------------------------- */

ordo_status ordo_runs_launch(struct ordo_call *call, const ordo_dict *dict, const char *name, size_t items,
                             const struct ordo_arg *args, size_t n_args)
{
    return ordo_dict_launch(call, dict, "dict/runs/runs.cl", name, items, args, n_args);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static struct ordo_search search_for(const ordo_dict *dict, const struct ordo_finds *finds,
                                     const struct ordo_sorted_run *run)
{
    return (struct ordo_search) { .key = dict->key,
                                  .lookup = true,
                                  .sorted = finds->sorted,
                                  .value_bytes = dict->value_bytes,
                                  .keys = ordo_run_keys(run),
                                  .count = run->count,
                                  .queries = finds->keys,
                                  .n_queries = finds->count,
                                  .values = ordo_run_values(dict, run),
                                  .values_out = finds->values_out,
                                  .found = finds->found };
}

/* An index is made where the search goes by it. */
static ordo_status search_run(struct ordo_call *call, const ordo_dict *dict, bool once, struct ordo_sorted_run *run,
                              struct ordo_search *search)
{
    if (ordo_search_by_index(search) && (run->indexed || !once)) {
        ORDO_TRY(ordo_run_index(call, dict, run));
        search->index = &run->index;
    }
    return ordo_call_search(call, search);
}

/* One run in which all keys differ and nothing is hidden: nothing to remember between runs. */
static ordo_status find_clean(struct ordo_call *call, const ordo_dict *dict, const struct ordo_finds *finds,
                              struct ordo_sorted_run *run)
{
    struct ordo_search search = search_for(dict, finds, run);
    return search_run(call, dict, finds->once, run, &search);
}

/* finds->found is there: it passes from run to run. */
static ordo_status find_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_finds *finds,
                               struct ordo_sorted_run *run, bool first, bool last)
{
    struct ordo_search search = search_for(dict, finds, run);
    search.upper = search.in_run = true;
    search.first_run = first;
    search.last_run = last;
    search.hidden = ordo_run_hidden(run);
    return search_run(call, dict, finds->once, run, &search);
}

/* found[0 .. count - 1] = 0, in bytes of any number at any place. */
static ordo_status find_nothing(struct ordo_call *call, const ordo_dict *dict, struct ordo_slice found, size_t count)
{
    const cl_ulong at = found.at;
    const cl_uint  n = (cl_uint) count;
    if (!found.mem)
        return ORDO_OK;
    return ordo_runs_launch(call, dict, "run_none", count, ORDO_ARGS(ORDO_ARG(found.mem), ORDO_ARG(at), ORDO_ARG(n)));
}

/* What was asked for, or scratch. */
static ordo_status or_scratch(struct ordo_call *call, struct ordo_slice wanted, size_t bytes, struct ordo_slice *out)
{
    *out = wanted;
    return wanted.mem ? ORDO_OK : ordo_call_scratch(call, bytes, &out->mem);
}

ordo_status ordo_runs_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    struct ordo_finds    all = *finds;

    if (set->n == 0)
        return find_nothing(call, dict, finds->found, finds->count);
    if (ordo_run_set_is_clean(set))
        return find_clean(call, dict, finds, &set->run[0]);
    ORDO_TRY(or_scratch(call, finds->found, finds->count, &all.found));
    for (size_t r = set->n; r-- > 0;)
        ORDO_TRY(find_in_run(call, dict, &all, &set->run[r], r == set->n - 1, r == 0));
    return ORDO_OK;
}

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

/* ranks[i] = how many of the run's keys are less than keys[i], or not greater (`upper`). */
static ordo_status rank_in_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run,
                               struct ordo_slice keys, size_t count, bool upper, struct ordo_slice ranks)
{
    ORDO_TRY(ordo_run_index(call, dict, run));
    struct ordo_search search = { .key = dict->key,
                                  .upper = upper,
                                  .index = &run->index,
                                  .keys = ordo_run_keys(run),
                                  .count = run->count,
                                  .queries = keys,
                                  .n_queries = count,
                                  .ranks = ranks };
    return ordo_call_search(call, &search);
}

/* ---- counts ------------------------------------------------------------------------------------------------------ */

/* Queries whose ranks are in scratch at once, for all runs together: no more than an allocation may have, and where memory is
 * short, half as many again and again. */
#define RANKS_MAX   ((size_t) 1 << 25)
#define RANKS_LEAST ((size_t) 1 << 12)

static size_t stretch_most(const struct ordo_call *call, size_t count, size_t bytes)
{
    const size_t most = (size_t) ordo_device_facts(call->dev)->max_alloc_bytes / bytes;
    return ordo_min_size(count, ordo_min_size(RANKS_MAX, most > 1 ? most - 1 : 1));
}

/* Scratch of `bytes` for each of at most *most queries. */
static ordo_status take_ranks(struct ordo_call *call, size_t bytes, size_t *most, cl_mem *out)
{
    ordo_status status = ordo_call_scratch(call, *most * bytes, out);
    while (ordo_lacks_memory(status) && *most > RANKS_LEAST) {
        *most /= 2;
        status = ordo_call_scratch(call, *most * bytes, out);
    }
    return status;
}

static ordo_status count_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_counts *c,
                                struct ordo_sorted_run *run, bool first, cl_mem ranks)
{
    const struct ordo_slice hidden = ordo_run_hidden(run), visible = ordo_run_visible(run);
    const cl_ulong          lo_at = c->lo.at, hi_at = c->hi.at, counts_at = c->counts.at;
    const cl_ulong          hidden_at = hidden.at, visible_at = visible.at, lows_at = 0, highs_at = c->count;
    const cl_uint           n = (cl_uint) c->count, is_first = first;
    ORDO_TRY(rank_in_run(call, dict, run, c->lo, c->count, false, ordo_at(ranks, lows_at)));
    ORDO_TRY(rank_in_run(call, dict, run, c->hi, c->count, true, ordo_at(ranks, highs_at)));
    return ordo_runs_launch(call, dict, "run_count", c->count,
                            ORDO_ARGS(ORDO_ARG(c->lo.mem), ORDO_ARG(lo_at), ORDO_ARG(c->hi.mem), ORDO_ARG(hi_at),
                                      ORDO_ARG(n), ORDO_ARG(ranks), ORDO_ARG(hidden.mem), ORDO_ARG(hidden_at),
                                      ORDO_ARG(visible.mem), ORDO_ARG(visible_at), ORDO_ARG(is_first),
                                      ORDO_ARG(c->counts.mem), ORDO_ARG(counts_at)));
}

static struct ordo_slice from(struct ordo_slice slice, size_t at)
{
    return slice.mem ? ordo_at(slice.mem, slice.at + at) : slice;
}

ordo_status ordo_runs_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    size_t               most = stretch_most(call, counts->count, 2 * sizeof(cl_uint));
    cl_mem               ranks = NULL;

    if (set->n == 0)
        return ordo_call_fill(call, counts->counts.mem, counts->counts.at * sizeof(cl_uint),
                              counts->count * sizeof(cl_uint), 0);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(take_ranks(call, 2 * sizeof(cl_uint), &most, &ranks));
    for (size_t at = 0; at < counts->count; at += most) {
        const struct ordo_counts part = { from(counts->lo, at), from(counts->hi, at),
                                          ordo_min_size(counts->count - at, most), from(counts->counts, at) };
        for (size_t r = 0; r < set->n; r++)
            ORDO_TRY(count_in_run(call, dict, &part, &set->run[r], r == 0, ranks));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* What a stretch of ranges has in scratch: ranks of run r from r * count on, where each query's candidates begin, and how
 * many visible elements are before it. */
struct range_scratch {
    cl_mem lows, highs, candidates, before;
};

/* So few bounds are looked for in all runs by one launch, without the runs' indexes: two launches a run, and one for the index of
 * a run that is new, take longer than plain searches. */
#define FEW_BOUNDS 1024

/* The ranks of few bounds in each run, by one launch. */
static ordo_status rank_bounds(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                               struct ordo_slice lo, struct ordo_slice hi, size_t count, cl_mem lows, cl_mem highs)
{
    const run_table  table = ordo_run_set_table(dict, set);
    const cl_uint    n = (cl_uint) count;
    struct ordo_args args = { .n = 0 };

    ordo_run_set_add(&args, set, true);
    ORDO_ADD(&args, ORDO_ARG(table));
    ordo_args_slice(&args, &lo);
    ordo_args_slice(&args, &hi);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(lows), ORDO_ARG(highs));
    return ordo_runs_launch(call, dict, "run_bounds", 2 * set->n * count, args.arg, args.n);
}

/* The ranks of the bounds in each run. */
static ordo_status rank_ranges(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                               const struct ordo_ranges *ranges, const struct range_scratch *s)
{
    if (2 * set->n * ranges->count <= FEW_BOUNDS)
        return rank_bounds(call, dict, set, ranges->lo, ranges->hi, ranges->count, s->lows, s->highs);
    for (size_t r = 0; r < set->n; r++) {
        ORDO_TRY(rank_in_run(call, dict, &set->run[r], ranges->lo, ranges->count, false,
                             ordo_at(s->lows, r * ranges->count)));
        ORDO_TRY(rank_in_run(call, dict, &set->run[r], ranges->hi, ranges->count, true,
                             ordo_at(s->highs, r * ranges->count)));
    }
    return ORDO_OK;
}

/* Ranks, candidates and, if wanted, the numbers of results in the place of offsets. */
static ordo_status measure_ranges(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                  const struct ordo_ranges *ranges, bool offsets, const struct range_scratch *s)
{
    const run_table         table = ordo_run_set_table(dict, set);
    const cl_uint           n = (cl_uint) ranges->count;
    const struct ordo_slice sums = { offsets ? ranges->offsets.mem : NULL, ranges->offsets.at };
    struct ordo_args        args = { .n = 0 };

    ORDO_TRY(rank_ranges(call, dict, set, ranges, s));
    ordo_run_set_add(&args, set, true);
    ORDO_ADD(&args, ORDO_ARG(table));
    ordo_args_slice(&args, &ranges->lo);
    ordo_args_slice(&args, &ranges->hi);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(s->lows), ORDO_ARG(s->highs), ORDO_ARG(s->candidates), ORDO_ARG(s->before));
    ordo_args_slice(&args, &sums);
    return ordo_runs_launch(call, dict, "run_measure", ranges->count + 1, args.arg, args.n);
}

static ordo_status scan_sums(struct ordo_call *call, struct ordo_slice sums, size_t count)
{
    const struct ordo_scan scan = { .type = ORDO_U64, .op = ORDO_SUM, .in = sums, .out = sums, .count = count };
    return ordo_call_scan(call, &scan);
}

/* `all`: of which these ranges are a stretch, so that all say whether there is room. */
static ordo_status write_ranges(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                                const struct ordo_ranges *ranges, const struct ordo_ranges *all,
                                const struct range_scratch *s)
{
    const run_table  table = ordo_run_set_table(dict, set);
    const cl_uint    n = (cl_uint) ranges->count;
    const cl_ulong   last = all->offsets.at + all->count, capacity = all->capacity;
    struct ordo_args args = { .n = 0 };

    ordo_run_set_add(&args, set, true);
    ordo_run_set_add(&args, set, dict->value_bytes > 0);
    ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(s->lows), ORDO_ARG(s->highs), ORDO_ARG(n), ORDO_ARG(s->candidates),
             ORDO_ARG(s->before));
    ordo_args_slice(&args, &ranges->offsets);
    ORDO_ADD(&args, ORDO_ARG(last), ORDO_ARG(capacity));
    ordo_args_slice(&args, &ranges->keys_out);
    ordo_args_slice(&args, &ranges->values_out);
    /* How many candidates there are is known on the device alone: groups for all that there is room for, within
     * reason. */
    const size_t items = ordo_min_size(all->capacity, (size_t) 1 << 20);
    return ordo_dict_launch_shares(call, dict, "dict/runs/runs.cl", "run_range",
                                   items > ranges->count ? items : ranges->count, args.arg, args.n);
}

static struct ordo_ranges stretch_of(const struct ordo_ranges *ranges, size_t at, size_t most)
{
    struct ordo_ranges part = *ranges;
    part.lo = from(ranges->lo, at);
    part.hi = from(ranges->hi, at);
    part.offsets = from(ranges->offsets, at);
    part.count = ordo_min_size(ranges->count - at, most);
    return part;
}

/* The ranks of one stretch stay for the second half; those of more are found again. */
static ordo_status range_in_stretches(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set,
                                      const struct ordo_ranges *ranges, size_t most, const struct range_scratch *s)
{
    const bool wanted = ranges->capacity > 0 && (ranges->keys_out.mem || ranges->values_out.mem);

    for (size_t at = 0; at < ranges->count && !ranges->offsets_known; at += most) {
        const struct ordo_ranges part = stretch_of(ranges, at, most);
        ORDO_TRY(measure_ranges(call, dict, set, &part, true, s));
    }
    if (!ranges->offsets_known)
        ORDO_TRY(scan_sums(call, ranges->offsets, ranges->count + 1));
    for (size_t at = 0; at < ranges->count && wanted; at += most) {
        const struct ordo_ranges part = stretch_of(ranges, at, most);
        if (ranges->offsets_known || most < ranges->count)
            ORDO_TRY(measure_ranges(call, dict, set, &part, false, s));
        ORDO_TRY(scan_sums(call, ordo_at(s->candidates, 0), part.count + 1));
        ORDO_TRY(write_ranges(call, dict, set, &part, ranges, s));
    }
    return ORDO_OK;
}

static ordo_status take_scratch_for(struct ordo_call *call, size_t n, size_t most, struct range_scratch *s)
{
    ORDO_TRY(ordo_call_scratch(call, n * most * sizeof(cl_uint), &s->lows));
    ORDO_TRY(ordo_call_scratch(call, n * most * sizeof(cl_uint), &s->highs));
    ORDO_TRY(ordo_call_scratch(call, most * sizeof(cl_uint), &s->before));
    return ordo_call_scratch(call, (most + 1) * sizeof(cl_ulong), &s->candidates);
}

/* Scratch for at most *most ranges at a time in n runs. */
static ordo_status take_range_scratch(struct ordo_call *call, size_t n, size_t *most, struct range_scratch *s)
{
    const int   mark = call->n_scratch;
    ordo_status status = take_scratch_for(call, n, *most, s);
    while (ordo_lacks_memory(status) && *most > RANKS_LEAST) {
        ordo_call_release(call, mark);
        *most /= 2;
        status = take_scratch_for(call, n, *most, s);
    }
    return status;
}

ordo_status ordo_runs_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    struct range_scratch s;

    if (set->n == 0)
        return ordo_call_fill(call, ranges->offsets.mem, ranges->offsets.at * sizeof(cl_ulong),
                              (ranges->count + 1) * sizeof(cl_ulong), 0);
    size_t most = ordo_min_size(RANKS_MAX / set->n,
                                stretch_most(call, ranges->count, set->n * sizeof(cl_uint) + sizeof(cl_ulong)));
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(take_range_scratch(call, set->n, &most, &s));
    ORDO_TRY(range_in_stretches(call, dict, set, ranges, most, &s));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* Ranges that are asked for how many elements they have, to know about the others. */
#define SAMPLE_MAX ((size_t) 1 << 14)

ordo_status ordo_runs_estimate(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges, double *out)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    size_t               most = ordo_min_size(ranges->count, SAMPLE_MAX);
    struct range_scratch s;
    cl_ulong             candidates = 0;

    *out = 0;
    if (set->n == 0 || most == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_run_index(call, dict, &set->run[0]));
    struct ordo_run_set oldest = { .run = { set->run[0] }, .n = 1 };
    ORDO_TRY(take_range_scratch(call, 1, &most, &s));
    const struct ordo_ranges part = stretch_of(ranges, 0, most);
    ORDO_TRY(measure_ranges(call, dict, &oldest, &part, false, &s));
    ORDO_TRY(scan_sums(call, ordo_at(s.candidates, 0), part.count + 1));
    ORDO_TRY(ordo_call_read(call, s.candidates, part.count * sizeof candidates, &candidates, sizeof candidates));
    *out = (double) candidates * ((double) ranges->count / (double) part.count);
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

static ordo_status seek_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_seeks *seeks,
                               struct ordo_sorted_run *run, bool first, cl_mem ranks)
{
    const struct ordo_slice values = ordo_run_values(dict, run), hidden = ordo_run_hidden(run),
                            visible = ordo_run_visible(run);
    const cl_ulong values_at = values.at, hidden_at = hidden.at, visible_at = visible.at;
    const cl_ulong keys_out_at = seeks->keys_out.at, values_out_at = seeks->values_out.at;
    const cl_ulong found_at = seeks->found.at;
    const cl_uint  count = (cl_uint) run->count, n = (cl_uint) seeks->count, is_first = first;
    const cl_uint  n_forward = ordo_seeks_forward(seeks);
    const bool     upper = seeks->relation == ORDO_LE || seeks->relation == ORDO_GT;
    ORDO_TRY(rank_in_run(call, dict, run, seeks->keys, seeks->count, upper, ordo_at(ranks, 0)));
    return ordo_runs_launch(call, dict, "run_seek", seeks->count,
                            ORDO_ARGS(ORDO_ARG(run->mem), ORDO_ARG(values.mem), ORDO_ARG(values_at), ORDO_ARG(count),
                                      ORDO_ARG(hidden.mem), ORDO_ARG(hidden_at), ORDO_ARG(visible.mem),
                                      ORDO_ARG(visible_at), ORDO_ARG(ranks), ORDO_ARG(n), ORDO_ARG(n_forward),
                                      ORDO_ARG(is_first), ORDO_ARG(seeks->keys_out.mem), ORDO_ARG(keys_out_at),
                                      ORDO_ARG(seeks->values_out.mem), ORDO_ARG(values_out_at),
                                      ORDO_ARG(seeks->found.mem), ORDO_ARG(found_at)));
}

/* Ranks, and the outputs that pass from run to run where the caller does not ask for them. */
struct seek_scratch {
    struct ordo_slice keys, found;
    cl_mem            ranks;
};

static ordo_status take_seek_scratch_for(struct ordo_call *call, const ordo_dict *dict, const struct ordo_seeks *seeks,
                                         size_t most, struct seek_scratch *s)
{
    ORDO_TRY(or_scratch(call, seeks->keys_out, most * dict->key_bytes, &s->keys));
    ORDO_TRY(or_scratch(call, seeks->found, most, &s->found));
    return ordo_call_scratch(call, most * sizeof(cl_uint), &s->ranks);
}

/* Scratch for at most *most seeks at a time. */
static ordo_status take_seek_scratch(struct ordo_call *call, const ordo_dict *dict, const struct ordo_seeks *seeks,
                                     size_t *most, struct seek_scratch *s)
{
    const int   mark = call->n_scratch;
    ordo_status status = take_seek_scratch_for(call, dict, seeks, *most, s);
    while (ordo_lacks_memory(status) && *most > RANKS_LEAST) {
        ordo_call_release(call, mark);
        *most /= 2;
        status = take_seek_scratch_for(call, dict, seeks, *most, s);
    }
    return status;
}

ordo_status ordo_runs_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    size_t               most = stretch_most(call, seeks->count, sizeof(cl_ulong));
    struct seek_scratch  s;

    if (set->n == 0)
        return find_nothing(call, dict, seeks->found, seeks->count);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(take_seek_scratch(call, dict, seeks, &most, &s));
    for (size_t at = 0; at < seeks->count; at += most) {
        struct ordo_seeks part = ordo_seeks_from(seeks, at, most);
        part.keys_out = part.keys_out.mem ? part.keys_out : s.keys;
        part.found = part.found.mem ? part.found : s.found;
        for (size_t r = 0; r < set->n; r++)
            ORDO_TRY(seek_in_run(call, dict, &part, &set->run[r], r == 0, s.ranks));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- ranks of keys, elements of ranks ---------------------------------------------------------------------------- */

static ordo_status add_rank_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_ranks *r,
                                   struct ordo_sorted_run *run, bool first, cl_mem local)
{
    const struct ordo_slice hidden = ordo_run_hidden(run), visible = ordo_run_visible(run);
    const cl_uint           n = (cl_uint) r->count, is_first = first;
    struct ordo_args        args = { .n = 0 };

    ORDO_TRY(rank_in_run(call, dict, run, r->keys, r->count, r->upper, ordo_at(local, 0)));
    ORDO_ADD(&args, ORDO_ARG(local), ORDO_ARG(n));
    ordo_args_slice(&args, &hidden);
    ordo_args_slice(&args, &visible);
    ORDO_ADD(&args, ORDO_ARG(is_first));
    ordo_args_slice(&args, &r->ranks);
    return ordo_runs_launch(call, dict, "run_rank", r->count, args.arg, args.n);
}

ordo_status ordo_runs_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    size_t               most = stretch_most(call, ranks->count, sizeof(cl_uint));
    cl_mem               local = NULL;

    if (set->n == 0)
        return ordo_call_fill(call, ranks->ranks.mem, ranks->ranks.at * sizeof(cl_uint), ranks->count * sizeof(cl_uint),
                              0);
    if (ordo_run_set_is_clean(set))
        return rank_in_run(call, dict, &set->run[0], ranks->keys, ranks->count, ranks->upper, ranks->ranks);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(take_ranks(call, sizeof(cl_uint), &most, &local));
    for (size_t at = 0; at < ranks->count; at += most) {
        const struct ordo_ranks part = { ranks->upper, from(ranks->keys, at), ordo_min_size(ranks->count - at, most),
                                         from(ranks->ranks, at) };
        for (size_t r = 0; r < set->n; r++)
            ORDO_TRY(add_rank_in_run(call, dict, &part, &set->run[r], r == 0, local));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_runs_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const cl_uint        n = (cl_uint) selects->count;
    struct ordo_args     args = { .n = 0 };

    if (set->n == 0)
        return find_nothing(call, dict, selects->found, selects->count);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    const run_table table = ordo_run_set_table(dict, set);
    ordo_run_set_add(&args, set, true);
    ordo_run_set_add(&args, set, dict->value_bytes > 0);
    ORDO_ADD(&args, ORDO_ARG(table));
    ordo_args_slice(&args, &selects->ranks);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &selects->keys_out);
    ordo_args_slice(&args, &selects->values_out);
    ordo_args_slice(&args, &selects->found);
    return ordo_runs_launch(call, dict, "run_select", selects->count, args.arg, args.n);
}

/* ---- an interval erased ------------------------------------------------------------------------------------------ */

static ordo_status find_spans(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_interval_erasure *e, cl_mem *spans)
{
    const run_table  table = ordo_run_set_table(dict, set);
    struct ordo_args args = { .n = 0 };
    cl_mem           lows = NULL, highs = NULL;

    ORDO_TRY(ordo_call_scratch(call, set->n * 4 * sizeof(cl_uint), spans));
    const int mark = call->n_scratch;
    ORDO_TRY(ordo_call_scratch(call, set->n * sizeof(cl_uint), &lows));
    ORDO_TRY(ordo_call_scratch(call, set->n * sizeof(cl_uint), &highs));
    ORDO_TRY(rank_bounds(call, dict, set, e->lo, e->hi, 1, lows, highs));
    ordo_run_set_add(&args, set, true);
    ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(lows), ORDO_ARG(highs), ORDO_ARG(*spans));
    ORDO_TRY(ordo_runs_launch(call, dict, "run_span", set->n, args.arg, args.n));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* Waits. */
static ordo_status count_gone(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_interval_erasure *e, cl_mem spans, size_t *gone, size_t *left)
{
    const run_table  table = ordo_run_set_table(dict, set);
    struct ordo_args args = { .n = 0 };
    cl_uint          total[2] = { 0, 0 };
    cl_mem           totals = NULL;

    ORDO_TRY(ordo_call_scratch(call, sizeof total, &totals));
    ordo_run_set_add(&args, set, true);
    ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(spans));
    ordo_args_slice(&args, &e->erased);
    ORDO_ADD(&args, ORDO_ARG(totals));
    ORDO_TRY(ordo_runs_launch(call, dict, "run_gone", 2, args.arg, args.n));
    ORDO_TRY(ordo_call_read(call, totals, 0, total, sizeof total));
    *gone = total[0];
    *left = total[1] - total[0];
    return ORDO_OK;
}

/* Words that a work-item of run_hide takes on a CPU, where it is a group by itself. */
#define HIDE_SHARE 1024

/* Hides what lies in the spans: `gone` elements. The last launch of a call. */
static ordo_status hide_spans(struct ordo_call *call, const ordo_dict *dict, struct ordo_run_set *set, cl_mem spans,
                              size_t gone)
{
    const run_table  table = ordo_run_set_table(dict, set);
    struct ordo_args args = { .n = 0 };

    ordo_run_set_add(&args, set, true);
    ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(spans));
    /* However few are hidden, all entries of the directories after them change. */
    const size_t words = ordo_ceil_div(gone, 32) + ordo_run_entries(ordo_run_set_stored(set));
    const size_t items = ordo_device_facts(call->dev)->cpu ? ordo_ceil_div(words, HIDE_SHARE) : words;
    return ordo_dict_launch_shares(call, dict, "dict/runs/runs.cl", "run_hide", items, args.arg, args.n);
}

ordo_status ordo_runs_hide(ordo_dict *dict, struct ordo_call *call, const struct ordo_interval_erasure *e, size_t *gone,
                           size_t *left)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    cl_mem               spans = NULL;

    ORDO_TRY(ordo_run_set_add_bits(call, dict, set));
    ORDO_TRY(find_spans(call, dict, set, e, &spans));
    *gone = e->gone;
    *left = e->left;
    if (!e->counted)
        ORDO_TRY(count_gone(call, dict, set, e, spans, gone, left));
    ORDO_TRY(ordo_dict_before_store(dict, call));
    ORDO_TRY(hide_spans(call, dict, set, spans, *gone));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- the first or last elements ---------------------------------------------------------------------------------- */

/* On a GPU each run brings as many candidates as are wanted, and all but so many are looked at for nothing; a CPU takes them by one
 * work-item. */
#define ENDS_MOST ((size_t) 1 << 14)

/* Writes them; where they lie, and how many elements there are, is in scratch. */
static ordo_status write_ends(struct ordo_call *call, const ordo_dict *dict, const struct ordo_run_set *set,
                              const struct ordo_ends *ends, cl_mem spans, cl_mem total)
{
    const run_table  table = ordo_run_set_table(dict, set);
    const cl_uint    most = (cl_uint) ends->count, last = ends->last;
    struct ordo_args args = { .n = 0 };

    ordo_run_set_add(&args, set, true);
    ordo_run_set_add(&args, set, dict->value_bytes > 0);
    ORDO_ADD(&args, ORDO_ARG(table), ORDO_ARG(most), ORDO_ARG(last));
    ordo_args_slice(&args, &ends->keys_out);
    ordo_args_slice(&args, &ends->values_out);
    ORDO_ADD(&args, ORDO_ARG(spans), ORDO_ARG(total));
    return ordo_dict_launch_shares(call, dict, "dict/runs/runs.cl", "run_ends",
                                   ordo_device_facts(call->dev)->cpu ? 1 : set->n * ends->count, args.arg, args.n);
}

static ordo_status no_ends(ordo_dict *dict, struct ordo_call *call, size_t *got, size_t *left)
{
    *got = *left = 0;
    return ordo_dict_before_store(dict, call);
}

ordo_status ordo_runs_ends(ordo_dict *dict, struct ordo_call *call, const struct ordo_ends *ends, size_t *got,
                           size_t *left, bool *done)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    cl_uint              all = 0;
    cl_mem               spans = NULL, total = NULL;

    *done = ends->count <= ENDS_MOST;
    if (!*done)
        return ORDO_OK;
    if (set->n == 0)
        return no_ends(dict, call, got, left);
    ORDO_TRY(ends->take ? ordo_run_set_add_bits(call, dict, set) : ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(ordo_call_scratch(call, set->n * 4 * sizeof(cl_uint), &spans));
    ORDO_TRY(ordo_call_scratch(call, sizeof all, &total));
    ORDO_TRY(write_ends(call, dict, set, ends, spans, total));
    ORDO_TRY(ordo_call_read(call, total, 0, &all, sizeof all));
    *got = ordo_min_size(all, ends->count);
    *left = all - *got;
    if (ends->take) {
        ORDO_TRY(ordo_dict_before_store(dict, call));
        if (*got > 0)
            ORDO_TRY(hide_spans(call, dict, set, spans, *got));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

ordo_status ordo_runs_size(ordo_dict *dict, struct ordo_call *call, size_t *out)
{
    return ordo_run_set_size(call, dict, &ordo_runs_of(dict)->set, out);
}
