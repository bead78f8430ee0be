/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the seeks of a mixed batch. A seek returns the nearer of two keys: the nearest present key of the batch, and
 * the nearest dictionary key that the batch does not erase. */
#include "dict/apply.h"

#define SEEK_FILE "dict/apply_seek.cl"

static ordo_status list_seeks(struct apply *a)
{
    struct seeks    *s = &a->seeks;
    struct ordo_args args = { .n = 0 };

    *s = (struct seeks) { .n_up = ordo_apply_n_of(a, ORDO_SEEK_GE, ORDO_SEEK_GT),
                          .n = ordo_apply_n_seeks(a),
                          .n_erased = a->histogram[ORDO_ERASE] };
    ORDO_TRY(ordo_apply_scratch(a, s->n, sizeof(cl_uint), &s->ops));
    ORDO_TRY(ordo_apply_scratch(a, s->n + (size_t) 2 * s->n_erased, a->dict->key_bytes, &s->keys));
    if (s->n_erased)
        ORDO_TRY(ordo_apply_scratch(a, s->n_erased, a->dict->key_bytes, &s->erased));
    ordo_args_slice(&args, &a->batch->codes);
    ORDO_ADD(&args, ORDO_ARG(a->sorted.keys), ORDO_ARG(a->sorted.index), ORDO_ARG(a->n), ORDO_ARG(a->places),
             ORDO_ARG(s->n_up), ORDO_ARG(s->n), ORDO_ARG(s->n_erased), ORDO_ARG(s->ops), ORDO_ARG(s->keys),
             ORDO_ARG(s->erased));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, SEEK_FILE, "apply_list_seeks", a->n);
    return ordo_call_launch(a->call, &launch, &args);
}

static ordo_status seek_neighbours(struct apply *a, ordo_relation relation, size_t first, size_t count, size_t n_ge)
{
    const struct seeks     *s = &a->seeks;
    const struct ordo_slice values = s->base.values ? ordo_at(s->base.values, first) : ordo_none();
    const struct ordo_seeks seeks = { .relation = relation,
                                      .keys = ordo_at(s->keys, first),
                                      .count = count,
                                      .keys_out = ordo_at(s->base.keys, first),
                                      .values_out = values,
                                      .found = ordo_at(s->base.found, first),
                                      .n_ge = n_ge };
    return a->dict->structure->seek(a->dict, a->call, &seeks);
}

static ordo_status find_neighbours(struct apply *a)
{
    struct seeks *s = &a->seeks;
    const cl_uint n_down = s->n - s->n_up;
    const size_t  up = (size_t) s->n_up + s->n_erased, down = (size_t) n_down + s->n_erased;
    ORDO_TRY(ordo_apply_scratch(a, up + down, a->dict->key_bytes, &s->base.keys));
    ORDO_TRY(ordo_apply_scratch(a, up + down, a->dict->value_bytes, &s->base.values));
    ORDO_TRY(ordo_apply_scratch(a, up + down, 1, &s->base.found));
    if (s->n_up && n_down && a->dict->structure->seeks_both)
        return seek_neighbours(a, ORDO_LT, 0, up + down, up);
    if (s->n_up)
        ORDO_TRY(seek_neighbours(a, ORDO_GE, 0, up, 0));
    return n_down ? seek_neighbours(a, ORDO_LT, up, down, 0) : ORDO_OK;
}

static void add_queries(struct ordo_args *args, const struct apply *a)
{
    const struct seeks *s = &a->seeks;
    ORDO_ADD(args, ORDO_ARG(s->ops), ORDO_ARG(s->base.keys), ORDO_ARG(s->base.values), ORDO_ARG(s->base.found),
             ORDO_ARG(s->erased), ORDO_ARG(s->end), ORDO_ARG(s->n_up), ORDO_ARG(s->n), ORDO_ARG(s->n_erased),
             ORDO_ARG(a->places));
}

static ordo_status find_chains(struct apply *a)
{
    struct seeks    *s = &a->seeks;
    const cl_uint    first = s->n_up ? 0 : s->n_erased, last = s->n_erased * (s->n > s->n_up ? 2 : 1);
    struct ordo_args args = { .n = 0 };

    if (s->n_erased == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_apply_scratch(a, (size_t) 2 * s->n_erased, sizeof(cl_uint), &s->end));
    ORDO_ADD(&args, ORDO_ARG(a->n));
    add_queries(&args, a);
    ORDO_ADD(&args, ORDO_ARG(s->end), ORDO_ARG(first), ORDO_ARG(last));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, SEEK_FILE, "apply_chain", last - first);
    ORDO_TRY(ordo_call_launch(a->call, &launch, &args));
    if (last - first <= ORDO_MAX_COUNT)
        return ordo_apply_scan(a, ORDO_U32, ORDO_MAX, true, s->end, first, last - first);
    ORDO_TRY(ordo_apply_scan(a, ORDO_U32, ORDO_MAX, true, s->end, 0, s->n_erased));
    return ordo_apply_scan(a, ORDO_U32, ORDO_MAX, true, s->end, s->n_erased, s->n_erased);
}

static void add_seek_out(struct ordo_args *args, const struct apply *a)
{
    ordo_args_slice(args, &a->batch->keys_out);
    ordo_args_slice(args, &a->batch->values_out);
    ordo_args_slice(args, &a->batch->found);
}

ordo_status ordo_apply_resolve_seeks(struct apply *a)
{
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(list_seeks(a));
    ORDO_TRY(find_neighbours(a));
    ORDO_TRY(find_chains(a));
    ordo_apply_add_batch(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->group_of), ORDO_ARG(a->first_of));
    add_queries(&args, a);
    add_seek_out(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->places));
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, SEEK_FILE, "apply_seek", a->seeks.n);
    return ordo_call_launch(a->call, &launch, &args);
}

ordo_status ordo_apply_resolve_far(struct apply *a)
{
    struct ordo_args args = { .n = 0 };

    if (!a->masks)
        ORDO_TRY(ordo_apply_build_timeline(a));
    ordo_apply_add_batch(&args, a);
    ordo_apply_add_timeline(&args, a);
    ORDO_ADD(&args, ORDO_ARG(a->first_of));
    add_queries(&args, a);
    add_seek_out(&args, a);
    const struct ordo_launch launch = ordo_dict_kernel(a->dict, SEEK_FILE, "apply_seek_far", a->seeks.n);
    return ordo_call_launch(a->call, &launch, &args);
}
