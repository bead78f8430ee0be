/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

#define MODULE "dict/trie/hamt_check.cl"

static const char *const finding[] = {
#define X(id, text) text,
    HAMT_FINDINGS(X)
#undef X
};

#define BROKEN(dev, ...) ORDO_FAIL((dev), ORDO_BROKEN, __VA_ARGS__)

static ordo_status report(struct ordo_call *call, cl_mem wrong, int from, int to, cl_uint found[HAMT_FINDING_WORDS])
{
    ORDO_TRY(ordo_call_read(call, wrong, 0, found, HAMT_FINDING_WORDS * sizeof *found));
    for (int f = from; f < to; f++)
        if (found[f] != UINT32_MAX && !ordo_is_dry_run(call->dev))
            return BROKEN(call->dev, finding[f], found[f]);
    return ORDO_OK;
}

static ordo_status check_records(struct ordo_call *call, const struct ordo_hamt *hamt, cl_mem wrong)
{
    const struct ordo_hamt_trie *trie = &hamt->trie;
    const size_t                 bytes = ordo_ceil_div(trie->used, 32) * sizeof(cl_uint);
    const cl_uint                used = (cl_uint) trie->used;
    const int                    mark = call->n_scratch;
    struct ordo_args             args = { .n = 0 };
    cl_mem                       marks = NULL;

    ORDO_TRY(ordo_call_scratch(call, bytes, &marks));
    ORDO_TRY(ordo_call_fill(call, marks, 0, bytes, 0));
    ORDO_ADD(&args, ORDO_ARG(trie->leaves.mem), ORDO_ARG(trie->n_leaves), ORDO_ARG(trie->n), ORDO_ARG(used),
             ORDO_ARG(marks), ORDO_ARG(wrong));
    const struct ordo_launch launch = ordo_hamt_kernel(hamt, MODULE, "hamt_check_records", trie->n_leaves);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status check_nodes(struct ordo_call *call, const struct ordo_hamt *hamt, cl_mem wrong)
{
    const struct ordo_hamt_trie *trie = &hamt->trie;
    cl_mem                       number = NULL, least = NULL;
    const int                    mark = call->n_scratch;
    size_t                       nodes = 0;

    ORDO_TRY(ordo_hamt_number_nodes(call, hamt, trie, &number, &nodes));
    if (nodes != trie->nodes && !ordo_is_dry_run(call->dev))
        return BROKEN(call->dev, "T5: the leaves make %zu nodes, the trie counts %zu", nodes, trie->nodes);
    ORDO_TRY(ordo_call_scratch(call, sizeof(cl_uint), &least));
    ORDO_TRY(ordo_call_fill(call, least, 0, sizeof(cl_uint), UINT32_MAX));
    ORDO_TRY(ordo_hamt_nodes(call, hamt, trie, number, least));
    ORDO_TRY(ordo_call_copy(call, least, 0, wrong, HAMT_WRONG_NODES * sizeof(cl_uint), sizeof(cl_uint)));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status check_rest(struct ordo_call *call, const struct ordo_hamt *hamt, cl_mem wrong)
{
    const size_t             words = ordo_hamt_table_words(&hamt->trie);
    const struct ordo_launch leaves = ordo_hamt_kernel(hamt, MODULE, "hamt_check_leaves", hamt->trie.n_leaves);
    const struct ordo_launch tables = ordo_hamt_kernel(hamt, MODULE, "hamt_check_tables", words);
    struct ordo_args         args = ordo_hamt_args(&hamt->trie);

    ORDO_ADD(&args, ORDO_ARG(wrong));
    ORDO_TRY(ordo_call_launch(call, &leaves, &args));
    if (hamt->fixed_depth)
        ORDO_TRY(check_nodes(call, hamt, wrong));
    return ordo_call_launch(call, &tables, &args);
}

ordo_status ordo_hamt_check(ordo_dict *dict, struct ordo_call *call)
{
    const struct ordo_hamt *hamt = ordo_hamt_of(dict);
    cl_uint                 found[HAMT_FINDING_WORDS];
    cl_mem                  wrong = NULL;

    if (hamt->trie.n_leaves == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_scratch(call, sizeof found, &wrong));
    ORDO_TRY(ordo_call_fill(call, wrong, 0, HAMT_UNITS_IN_USE * sizeof *found, UINT32_MAX));
    ORDO_TRY(ordo_call_fill(call, wrong, HAMT_UNITS_IN_USE * sizeof *found, sizeof *found, 0));
    ORDO_TRY(check_records(call, hamt, wrong));
    ORDO_TRY(report(call, wrong, 0, HAMT_WRONG_CELLS, found));
    if (found[HAMT_UNITS_IN_USE] != hamt->trie.live && !ordo_is_dry_run(call->dev))
        return BROKEN(call->dev, "T4: blocks take %u units, the trie counts %zu", found[HAMT_UNITS_IN_USE],
                      hamt->trie.live);
    ORDO_TRY(check_rest(call, hamt, wrong));
    return report(call, wrong, 0, HAMT_UNITS_IN_USE, found);
}
