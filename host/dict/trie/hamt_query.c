/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

#include "dict/batch.h"

#define MODULE "dict/trie/hamt_query.cl"

static struct ordo_launch steps(ordo_dict *dict, const char *kernel, size_t n)
{
    return ordo_hamt_kernel(ordo_hamt_of(dict), MODULE, kernel, ordo_dict_step_items(dict->dev, n));
}

ordo_status ordo_hamt_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    const cl_uint    n = (cl_uint) finds->count;
    struct ordo_args args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);

    ordo_args_slice(&args, &finds->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &finds->values_out);
    ordo_args_slice(&args, &finds->found);
    const struct ordo_launch launch = steps(dict, "hamt_find", finds->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hamt_rank(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranks *ranks)
{
    const cl_uint    n = (cl_uint) ranks->count, upper = ranks->upper;
    struct ordo_args args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);

    ordo_args_slice(&args, &ranks->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(upper));
    ordo_args_slice(&args, &ranks->ranks);
    const struct ordo_launch launch = steps(dict, "hamt_rank", ranks->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hamt_select(ordo_dict *dict, struct ordo_call *call, const struct ordo_selects *selects)
{
    const cl_uint    n = (cl_uint) selects->count;
    struct ordo_args args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);

    ordo_args_slice(&args, &selects->ranks);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &selects->keys_out);
    ordo_args_slice(&args, &selects->values_out);
    ordo_args_slice(&args, &selects->found);
    const struct ordo_launch launch = ordo_hamt_kernel(ordo_hamt_of(dict), MODULE, "hamt_select", selects->count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hamt_seek(ordo_dict *dict, struct ordo_call *call, const struct ordo_seeks *seeks)
{
    const cl_uint    n = (cl_uint) seeks->count;
    const cl_uint    forward = seeks->relation == ORDO_GE || seeks->relation == ORDO_GT;
    const cl_uint    upper = seeks->relation == ORDO_LE || seeks->relation == ORDO_GT;
    struct ordo_args args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);

    ordo_args_slice(&args, &seeks->keys);
    ORDO_ADD(&args, ORDO_ARG(n), ORDO_ARG(forward), ORDO_ARG(upper));
    ordo_args_slice(&args, &seeks->keys_out);
    ordo_args_slice(&args, &seeks->values_out);
    ordo_args_slice(&args, &seeks->found);
    const struct ordo_launch launch = steps(dict, "hamt_seek", seeks->count);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status measure(struct ordo_call *call, ordo_dict *dict, struct ordo_slice lo, struct ordo_slice hi,
                           size_t count, struct ordo_slice counts, cl_mem firsts)
{
    const cl_uint    n = (cl_uint) count;
    struct ordo_args args = ordo_hamt_args(&ordo_hamt_of(dict)->trie);

    ordo_args_slice(&args, &lo);
    ordo_args_slice(&args, &hi);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &counts);
    ORDO_ADD(&args, ORDO_ARG(firsts));
    const struct ordo_launch launch = steps(dict, "hamt_count", count);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hamt_count(ordo_dict *dict, struct ordo_call *call, const struct ordo_counts *counts)
{
    return measure(call, dict, counts->lo, counts->hi, counts->count, counts->counts, NULL);
}

ordo_status ordo_hamt_write(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_slices *s)
{
    const cl_uint    n = (cl_uint) s->count;
    const cl_ulong   most = s->most;
    const size_t     share = HAMT_SHARE(ordo_device_facts(call->dev)->cpu);
    struct ordo_args args = ordo_hamt_args(&hamt->trie);

    if (s->most == 0 || hamt->trie.n_leaves == 0)
        return ORDO_OK;
    ordo_args_slice(&args, &s->offsets);
    ORDO_ADD(&args, ORDO_ARG(s->firsts), ORDO_ARG(n), ORDO_ARG(most));
    ordo_args_slice(&args, &s->keys_out);
    ordo_args_slice(&args, &s->values_out);
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_write", ordo_ceil_div(s->most, share));
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hamt_range(ordo_dict *dict, struct ordo_call *call, const struct ordo_ranges *ranges)
{
    struct ordo_hamt_slices s = { .offsets = ranges->offsets,
                                  .count = ranges->count,
                                  .most = ranges->capacity,
                                  .keys_out = ranges->keys_out,
                                  .values_out = ranges->values_out };
    cl_mem                  counts = NULL;

    ORDO_TRY(ordo_call_scratch(call, ranges->count * sizeof(cl_uint), &s.firsts));
    if (!ranges->offsets_known)
        ORDO_TRY(ordo_call_scratch(call, ranges->count * sizeof(cl_uint), &counts));
    ORDO_TRY(measure(call, dict, ranges->lo, ranges->hi, ranges->count, ordo_at(counts, 0), s.firsts));
    if (!ranges->offsets_known)
        ORDO_TRY(ordo_dict_offsets(call, dict, ordo_at(counts, 0), ranges->count, ranges->offsets));
    if (!ranges->keys_out.mem && !ranges->values_out.mem)
        return ORDO_OK;
    return ordo_hamt_write(call, ordo_hamt_of(dict), &s);
}

ordo_status ordo_hamt_size(ordo_dict *dict, struct ordo_call *call, size_t *out)
{
    (void) call;
    *out = ordo_hamt_of(dict)->trie.n;
    return ORDO_OK;
}

ordo_status ordo_hamt_export(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys_out,
                             struct ordo_slice values_out, size_t capacity, size_t *count)
{
    struct ordo_hamt             *hamt = ordo_hamt_of(dict);
    const struct ordo_hamt_slices all = {
        .count = 1, .most = hamt->trie.n, .keys_out = keys_out, .values_out = values_out
    };
    *count = hamt->trie.n;
    if (*count > capacity)
        return ORDO_FAIL(call->dev, ORDO_TOO_SMALL, "capacity is %zu: the dictionary has %zu elements", capacity,
                         *count);
    return keys_out.mem || values_out.mem ? ordo_hamt_write(call, hamt, &all) : ORDO_OK;
}

ordo_status ordo_hamt_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out)
{
    const struct ordo_hamt      *hamt = ordo_hamt_of(dict);
    const struct ordo_hamt_trie *trie = &hamt->trie;

    (void) call;
    *out = (struct ordo_statistics) { .elements = trie->n,
                                      .bytes_peak = hamt->bytes_peak,
                                      .cleanups = hamt->rebuilds,
                                      .leaves = trie->n_leaves,
                                      .restarts = hamt->drafts.restarts };
    if (trie->n_leaves > 0) {
        out->levels = hamt->fixed_depth ? HAMT_LEVELS(8 * dict->key_bytes) + 1 : 2;
        out->bytes_data = trie->live * HAMT_UNIT;
        out->bytes_index = ((size_t) trie->n_leaves + 1) * HAMT_RECORD(dict->key_bytes) +
                           ordo_hamt_table_words(trie) * sizeof(cl_uint);
    }
    out->bytes_spare = hamt->bytes + hamt->runs.bytes - out->bytes_data - out->bytes_index;
    return ORDO_OK;
}
