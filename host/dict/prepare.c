/* SPDX-License-Identifier: Apache-2.0 */
/* Implements ordo_device_prepare. A dry run lists the programs that calls need, and launches nothing. After these
 * programs are built, each call is made once. */
#include "dict/warm_up.h"

#include <stdlib.h>

/* After the builds, calls with this number of elements run on the device, if params->batch is 0. */
#define COUNT_MADE     ((size_t) 20000)
#define COUNT_MADE_MAX ((size_t) 1 << 17)
/* Elements per dry run, if params->batch is 0. */
static const size_t counts[] = { 600, 3000, 1 << 14, 1 << 17, 1 << 20, 1 << 24 };

struct combination {
    ordo_type key;
    uint32_t  value_bytes;
    uint32_t  operations;

    struct ordo_dict_config *config;
};

static struct ordo_slice if_values(const struct combination *c, struct ordo_slice slice)
{
    return c->value_bytes ? slice : ordo_none();
}

static void first_of(ordo_status *first, ordo_status status)
{
    if (*first == ORDO_OK && status != ORDO_UNSUPPORTED)
        *first = status;
}

static ordo_status sort(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a)
{
    const struct ordo_slice values = if_values(c, a->at[1]), values_out = if_values(c, a->at[4]);
    ordo_status             got = ORDO_OK;
    for (int descending = 0; descending < 2; descending++) {
        const struct ordo_sort_params params = { .key = c->key,
                                                 .value_bytes = c->value_bytes,
                                                 .descending = descending };
        first_of(&got, ordo_sort(dev, &params, a->at[0], values, a->at[3], values_out, a->count, NULL));
        first_of(&got, ordo_sort(dev, &params, a->at[3], values_out, a->at[3], values_out, a->count, NULL));
    }
    return got;
}

static ordo_status merge(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a)
{
    const struct ordo_merge_params params = { .key = c->key, .value_bytes = c->value_bytes };
    const struct ordo_slice        values = if_values(c, a->at[1]), values_out = if_values(c, a->at[4]);
    const size_t                   part = a->count / 4;
    const struct ordo_run          runs[] = { { 0, part }, { part, part }, { 2 * part, part } };
    ordo_status                    got = ORDO_OK;
    first_of(&got, ordo_merge(dev, &params, a->at[0], values, part, a->at[5], if_values(c, a->at[6]), part, a->at[3],
                              values_out, NULL));
    first_of(&got, ordo_merge_runs(dev, &params, a->at[0], values, runs, 3, a->at[3], values_out, NULL));
    return got;
}

static ordo_status scan(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a)
{
    const struct ordo_compact_params compact = { .key_bytes = (uint32_t) ordo_type_bytes(c->key),
                                                 .value_bytes = c->value_bytes };
    ordo_status                      got = ORDO_OK;
    for (int op = ORDO_SUM; op <= ORDO_MAX; op++) {
        const struct ordo_scan_params   scan = { .type = c->key, .op = (ordo_op) op };
        const struct ordo_reduce_params reduce = { .type = c->key, .op = (ordo_op) op };
        if (op == ORDO_SUM && (c->key == ORDO_F32 || c->key == ORDO_F64))
            continue;
        first_of(&got, ordo_scan(dev, &scan, a->at[0], a->at[3], a->count, NULL));
        first_of(&got, ordo_segmented_scan(dev, &scan, a->at[0], a->at[2], a->at[3], a->count, NULL));
        first_of(&got, ordo_reduce(dev, &reduce, a->at[0], a->count, a->at[3], NULL));
    }
    first_of(&got, ordo_compact(dev, &compact, a->at[0], if_values(c, a->at[1]), a->at[2], a->count, a->at[3],
                                if_values(c, a->at[4]), a->at[5], NULL));
    return got;
}

static ordo_status search_with(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a,
                               ordo_index *index)
{
    ordo_status got = ORDO_OK;
    for (int i = 0; i < 4; i++) {
        const struct ordo_search_params search = { c->key, (i & 1) != 0, (i & 2) != 0, index };
        const struct ordo_lookup_params lookup = { c->key, c->value_bytes, (i & 2) != 0, index };
        first_of(&got, ordo_search(dev, &search, a->at[0], a->count, a->at[5], a->count, a->at[3], NULL));
        if (i % 2 == 0)
            first_of(&got, ordo_lookup(dev, &lookup, a->at[0], if_values(c, a->at[1]), a->count, a->at[5], a->count,
                                       if_values(c, a->at[4]), a->at[6], NULL));
    }
    return got;
}

static ordo_status search(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a)
{
    ordo_index *index = NULL;
    ordo_status got = search_with(dev, c, a, NULL);
    first_of(&got, ordo_index_build(dev, c->key, a->at[0], a->count, NULL, &index));
    if (index)
        first_of(&got, search_with(dev, c, a, index));
    ordo_index_destroy(&index);
    first_of(&got, ordo_index_build_compressed(dev, c->key, a->at[0], a->count, NULL, &index));
    if (index)
        first_of(&got, search_with(dev, c, a, index));
    ordo_index_destroy(&index);
    return got;
}

static ordo_status pack(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a)
{
    const struct ordo_key_field field = { .type = c->key };
    ordo_status                 got = ORDO_OK;
    first_of(&got, ordo_key_pack(dev, &field, 1, &a->at[0], NULL, a->count, a->at[3], ordo_none(), NULL));
    first_of(&got, ordo_key_unpack(dev, &field, 1, a->at[0], a->count, &a->at[3], NULL, NULL));
    return got;
}

static const struct {
    uint32_t what;
    ordo_status (*call)(ordo_device *dev, const struct combination *c, const struct ordo_warm_up_arrays *a);
    const struct ordo_structure *structure;
} kinds[] = { { ORDO_PREPARE_SORT, sort, NULL },
              { ORDO_PREPARE_MERGE, merge, NULL },
              { ORDO_PREPARE_SCAN, scan, NULL },
              { ORDO_PREPARE_SEARCH, search, NULL },
              { ORDO_PREPARE_PACK, pack, NULL },
#define X(id, stem, ...) { ORDO_PREPARE_##id, NULL, &ordo_##stem##_structure },
              ORDO_STRUCTURE_MAP(X)
#undef X
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

struct preparation {
    ordo_device                      *dev;
    const struct ordo_prepare_params *params;
    struct ordo_gathering             gathering;
    size_t                            done, total;
    size_t                            programs;
    ordo_status                       first_error;
};

static bool is_in(uint32_t list, uint32_t one)
{
    return list == 0 || (list & one);
}

typedef bool each_combination(struct preparation *p, size_t kind, const struct combination *c);

static bool make_combination(struct preparation *p, size_t kind, ordo_type key, uint32_t value_bytes,
                             each_combination *each)
{
    struct combination c = { .key = key,
                             .value_bytes = value_bytes,
                             .operations = p->params->operations ? p->params->operations : ~0u };
    if (kinds[kind].structure)
        c.config = ordo_dict_default_config(kinds[kind].structure, key, value_bytes);
    if (kinds[kind].structure && !c.config)
        first_of(&p->first_error, ORDO_FAIL(p->dev, ORDO_NO_HOST_MEMORY, NULL));
    const bool go_on = (kinds[kind].structure && !c.config) || each(p, kind, &c);
    free(c.config);
    return go_on;
}

static bool for_each(struct preparation *p, each_combination *each)
{
    static const uint32_t value_bytes[] = { 0, 4, 8, 16 };
    const uint32_t        keys = p->params->keys ? p->params->keys : (2u << ORDO_F64) - 1;
    const uint32_t        sizes = p->params->value_bytes ? p->params->value_bytes : 1u << 0 | 1u << 4 | 1u << 8;
    for (size_t k = 0; k < N_KINDS; k++)
        for (int key = ORDO_U32; is_in(p->params->what, kinds[k].what) && key <= ORDO_BYTES16; key++)
            for (size_t v = 0; is_in(keys, 1u << key) && v < 4; v++) {
                if (is_in(sizes, 1u << value_bytes[v]) &&
                    !make_combination(p, k, (ordo_type) key, value_bytes[v], each))
                    return false;
            }
    return true;
}

static void dry_run_count(ordo_device *dry, size_t kind, const struct combination *c, size_t count)
{
    struct ordo_warm_up_arrays a;
    if (kinds[kind].structure) {
        ordo_dict_dry_run(dry, kinds[kind].structure, c->config, c->operations, count);
    } else if (ordo_warm_up_arrays_create(dry, count, &a) == ORDO_OK) {
        ordo_dry_run_answer(dry, 0);
        (void) kinds[kind].call(dry, c, &a);
        ordo_warm_up_arrays_destroy(&a);
    }
}

static bool dry_run(struct preparation *p, size_t kind, const struct combination *c)
{
    ordo_device *dry = NULL;
    const size_t batch = p->params->batch;
    p->total += p->params->parts == 0;
    if (ordo_dry_run_open(p->dev, &p->gathering, &dry) != ORDO_OK)
        return true;
    for (size_t i = 0; batch == 0 && i < sizeof counts / sizeof *counts; i++)
        dry_run_count(dry, kind, c, counts[i]);
    dry_run_count(dry, kind, c, batch ? batch : COUNT_MADE);
    ordo_dry_run_close(&dry);
    return true;
}

static bool tell(struct preparation *p)
{
    return !p->params->progress || p->params->progress(p->params->user, p->programs + p->done, p->programs + p->total);
}

static bool make_calls(struct preparation *p, size_t kind, const struct combination *c)
{
    const size_t               count = p->params->batch ? ordo_min_size(p->params->batch, COUNT_MADE_MAX) : COUNT_MADE;
    struct ordo_warm_up_arrays a;
    ordo_dict                 *dict = NULL;
    ordo_status                got = ordo_warm_up_arrays_create(p->dev, count, &a);
    if (got == ORDO_OK && kinds[kind].call)
        got = kinds[kind].call(p->dev, c, &a);
    else if (got == ORDO_OK)
        got = ordo_dict_create(p->dev, kinds[kind].structure, c->config, &dict);
    if (dict)
        got = ordo_dict_warm_up(dict, c->operations, &a);
    ordo_dict_destroy(&dict);
    ordo_warm_up_arrays_destroy(&a);
    first_of(&p->first_error, got);
    p->done++;
    return tell(p);
}

static bool tell_of_programs(void *user, size_t done, size_t total)
{
    struct preparation *p = user;
    p->programs = total;
    return !p->params->progress || p->params->progress(p->params->user, done, total + p->total);
}

static ordo_status check(ordo_device *dev, const struct ordo_prepare_params *params)
{
    uint32_t kinds_known = 0;
    for (size_t k = 0; k < N_KINDS; k++)
        kinds_known |= kinds[k].what;
    ORDO_REQUIRE(dev, !(params->what & ~kinds_known), ORDO_INVALID, "what is 0x%x: not a sum of ORDO_PREPARE_SORT ...",
                 params->what);
    ORDO_REQUIRE(dev, !(params->keys >> (ORDO_BYTES16 + 1)), ORDO_INVALID,
                 "keys is 0x%x: not a sum of 1u << ORDO_U32 ...", params->keys);
    ORDO_REQUIRE(dev, !(params->value_bytes & ~0x10111u), ORDO_INVALID,
                 "value_bytes is 0x%x: not a sum of 1u << 0, 1u << 4, 1u << 8 and 1u << 16", params->value_bytes);
    ORDO_REQUIRE(dev, !(params->operations >> 7), ORDO_INVALID,
                 "operations is 0x%x: not a sum of ORDO_PREPARE_BUILD ...", params->operations);
    ORDO_REQUIRE(dev, params->parts == 0 ? params->part == 0 : params->part < params->parts, ORDO_INVALID,
                 "part %u of %u parts: they are numbered from 0", params->part, params->parts);
    ORDO_REQUIRE_COUNT(dev, "batch", params->batch);
    return ORDO_OK;
}

static ordo_status prepare(struct preparation *p, struct ordo_prepared *out)
{
    p->gathering = (struct ordo_gathering) { .part = p->params->part, .parts = p->params->parts };
    ordo_builds_begin(p->dev);
    (void) for_each(p, dry_run);
    const ordo_status built = ordo_builds_finish(p->dev, tell_of_programs, p, &out->programs, &out->failed);
    if (built == ORDO_CANCELLED)
        return built;
    p->programs = out->programs;
    if (p->params->parts > 0)
        return built;
    if (!for_each(p, make_calls))
        return ORDO_FAIL(p->dev, ORDO_CANCELLED, NULL);
    return built != ORDO_OK ? built : p->first_error;
}

ordo_status ordo_device_prepare(ordo_device *device, const struct ordo_prepare_params *params,
                                struct ordo_prepared *out)
{
    static const struct ordo_prepare_params everything = { 0 };
    struct ordo_prepared                    prepared = { 0 };
    struct preparation                      p = { .dev = device, .params = params ? params : &everything };
    struct ordo_call                        call;
    const double                            start = ordo_now_ms();
    ORDO_TRY(ordo_call_begin(&call, device, NULL));
    ORDO_TRY(ordo_call_end(&call, ORDO_OK));
    ORDO_TRY(check(device, p.params));
    const ordo_status got = prepare(&p, &prepared);
    prepared.seconds = (ordo_now_ms() - start) / 1e3;
    if (out)
        *out = prepared;
    return got;
}
