/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/runs/runs.h"

#include "primitive/search.h"

static struct ordo_launch kernel(const ordo_dict *dict, const char *name, size_t items)
{
    return ordo_dict_kernel(dict, "dict/runs/runs.cl", name, items);
}

ordo_status ordo_runs_rank_in_run(struct ordo_call *call, const ordo_dict *dict, struct ordo_sorted_run *run,
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

/* ---- parts of many queries --------------------------------------------------------------------------------------- */

/* Scratch memory has space for at most RANKS_MAX queries. While memory is short, this number is halved, down to
 * RANKS_MIN. */
#define RANKS_MAX ((size_t) 1 << 25)
#define RANKS_MIN ((size_t) 1 << 12)

size_t ordo_runs_part(const struct ordo_call *call, size_t count, size_t bytes)
{
    const size_t most = (size_t) ordo_device_facts(call->dev)->max_alloc_bytes / bytes;
    return ordo_min_size(count, ordo_min_size(RANKS_MAX, most > 1 ? most - 1 : 1));
}

ordo_status ordo_runs_take_scratch(struct ordo_call *call, ordo_runs_scratch *take, const void *what, size_t *most,
                                   void *scratch)
{
    const int   mark = call->n_scratch;
    ordo_status status = take(call, what, *most, scratch);
    while (ordo_lacks_memory(status) && *most > RANKS_MIN) {
        ordo_call_release(call, mark);
        *most /= 2;
        status = take(call, what, *most, scratch);
    }
    return status;
}

static ordo_status take_ranks(struct ordo_call *call, const void *bytes, size_t most, void *out)
{
    return ordo_call_scratch(call, most * *(const size_t *) bytes, out);
}

static ordo_status count_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_counts *c,
                                struct ordo_sorted_run *run, bool first, cl_mem ranks)
{
    const struct ordo_launch launch = kernel(dict, "run_count", c->count);
    const struct ordo_slice  hidden = ordo_run_hidden(run), visible = ordo_run_visible(run);
    const cl_uint            n = (cl_uint) c->count, is_first = first;
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_runs_rank_in_run(call, dict, run, c->lo, c->count, false, ordo_at(ranks, 0)));
    ORDO_TRY(ordo_runs_rank_in_run(call, dict, run, c->hi, c->count, true, ordo_at(ranks, c->count)));
    ordo_args_slice(&args, &c->lo);
    ordo_args_slice(&args, &c->hi);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(ranks));
    ordo_args_slice(&args, &hidden);
    ordo_args_slice(&args, &visible);
    ORDO_ADD(&args, ORDO_ARG(is_first));
    ordo_args_slice(&args, &c->counts);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_runs_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    const size_t         bytes = 2 * sizeof(cl_uint);
    size_t               most = ordo_runs_part(call, counts->count, bytes);
    cl_mem               ranks = NULL;

    if (set->n == 0)
        return ordo_call_fill(call, counts->counts.mem, counts->counts.at * sizeof(cl_uint),
                              counts->count * sizeof(cl_uint), 0);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(ordo_runs_take_scratch(call, take_ranks, &bytes, &most, &ranks));
    for (size_t at = 0; at < counts->count; at += most) {
        const struct ordo_counts part = { ordo_slice_from(counts->lo, at), ordo_slice_from(counts->hi, at),
                                          ordo_min_size(counts->count - at, most),
                                          ordo_slice_from(counts->counts, at) };
        for (size_t r = 0; r < set->n; r++)
            ORDO_TRY(count_in_run(call, dict, &part, &set->run[r], r == 0, ranks));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status seek_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_seeks *seeks,
                               struct ordo_sorted_run *run, bool first, cl_mem ranks)
{
    const struct ordo_launch launch = kernel(dict, "run_seek", seeks->count);
    const struct ordo_slice  values = ordo_run_values(dict, run), hidden = ordo_run_hidden(run),
                            visible = ordo_run_visible(run);
    const cl_uint    count = (cl_uint) run->count, n = (cl_uint) seeks->count, is_first = first;
    const cl_uint    n_forward = ordo_seeks_forward(seeks);
    const bool       upper = seeks->relation == ORDO_LE || seeks->relation == ORDO_GT;
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(ordo_runs_rank_in_run(call, dict, run, seeks->keys, seeks->count, upper, ordo_at(ranks, 0)));
    ORDO_ADD(&args, ORDO_ARG(run->mem));
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(count));
    ordo_args_slice(&args, &hidden);
    ordo_args_slice(&args, &visible);
    ORDO_ADD(&args, ORDO_ARG(ranks), ORDO_ARG(n), ORDO_ARG(n_forward), ORDO_ARG(is_first));
    ordo_args_slice(&args, &seeks->keys_out);
    ordo_args_slice(&args, &seeks->values_out);
    ordo_args_slice(&args, &seeks->found);
    return ordo_call_launch(call, &launch, &args);
}

/* `keys` and `found` hold the results until all runs are searched. Scratch memory replaces outputs that the caller did
 * not request. */
struct seek_scratch {
    uint32_t          key_bytes;
    struct ordo_slice keys, found;
    cl_mem            ranks;
};

static ordo_status take_seek_scratch(struct ordo_call *call, const void *what, size_t most, void *scratch)
{
    const struct ordo_seeks *seeks = what;
    struct seek_scratch     *s = scratch;

    ORDO_TRY(ordo_runs_or_scratch(call, seeks->keys_out, most * s->key_bytes, &s->keys));
    ORDO_TRY(ordo_runs_or_scratch(call, seeks->found, most, &s->found));
    return ordo_call_scratch(call, most * sizeof(cl_uint), &s->ranks);
}

ordo_status ordo_runs_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    size_t               most = ordo_runs_part(call, seeks->count, sizeof(cl_ulong));
    struct seek_scratch  s = { .key_bytes = dict->key_bytes };

    if (set->n == 0)
        return ordo_runs_find_none(call, dict, &seeks->found, seeks->count);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(ordo_runs_take_scratch(call, take_seek_scratch, seeks, &most, &s));
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

static ordo_status add_rank_in_run(struct ordo_call *call, const ordo_dict *dict, const struct ordo_ranks *r,
                                   struct ordo_sorted_run *run, bool first, cl_mem local)
{
    const struct ordo_slice hidden = ordo_run_hidden(run), visible = ordo_run_visible(run);
    const cl_uint           n = (cl_uint) r->count, is_first = first;
    struct ordo_args        args = { .n = 0 };

    ORDO_TRY(ordo_runs_rank_in_run(call, dict, run, r->keys, r->count, r->upper, ordo_at(local, 0)));
    ORDO_ADD(&args, ORDO_ARG(local), ORDO_ARG(n));
    ordo_args_slice(&args, &hidden);
    ordo_args_slice(&args, &visible);
    ORDO_ADD(&args, ORDO_ARG(is_first));
    ordo_args_slice(&args, &r->ranks);
    const struct ordo_launch launch = kernel(dict, "run_rank", r->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_runs_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    struct ordo_run_set *set = &ordo_runs_of(dict)->set;
    const int            mark = call->n_scratch;
    const size_t         bytes = sizeof(cl_uint);
    size_t               most = ordo_runs_part(call, ranks->count, bytes);
    cl_mem               local = NULL;

    if (set->n == 0)
        return ordo_call_fill(call, ranks->ranks.mem, ranks->ranks.at * sizeof(cl_uint), ranks->count * sizeof(cl_uint),
                              0);
    if (ordo_run_set_is_clean(set))
        return ordo_runs_rank_in_run(call, dict, &set->run[0], ranks->keys, ranks->count, ranks->upper, ranks->ranks);
    ORDO_TRY(ordo_run_set_resolve(call, dict, set));
    ORDO_TRY(ordo_runs_take_scratch(call, take_ranks, &bytes, &most, &local));
    for (size_t at = 0; at < ranks->count; at += most) {
        const struct ordo_ranks part = { ranks->upper, ordo_slice_from(ranks->keys, at),
                                         ordo_min_size(ranks->count - at, most), ordo_slice_from(ranks->ranks, at) };
        for (size_t r = 0; r < set->n; r++)
            ORDO_TRY(add_rank_in_run(call, dict, &part, &set->run[r], r == 0, local));
    }
    ordo_call_release(call, mark);
    return ORDO_OK;
}

ordo_status ordo_runs_size(ordo_dict *dict, struct ordo_call *call, size_t *out)
{
    return ordo_run_set_size(call, dict, &ordo_runs_of(dict)->set, out);
}
