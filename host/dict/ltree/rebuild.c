/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/ltree/ltree.h"

static ordo_status run_of_tree(struct ordo_call *call, struct ordo_ltree *tree, size_t count,
                               struct ordo_sorted_run *out)
{
    size_t again = 0;
    ORDO_TRY(ordo_runs_block(&tree->runs, call, count, out));
    out->distinct = true;
    const ordo_status status =
        ordo_ltree_export(&tree->dict, call, ordo_run_keys(out), ordo_run_values(&tree->dict, out), count, &again);
    if (status != ORDO_OK)
        ordo_runs_release(&tree->runs, out);
    return status;
}

/* Builds the tree from *run. Returns ORDO_OK even after an error if the old tree is already overwritten. Then
 * tree->rescue keeps *run. */
static ordo_status build_of_run(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *run,
                                unsigned fill)
{
    if (!run->mem) {
        ordo_ltree_clear(&tree->dict);
        return ORDO_OK;
    }
    const ordo_status status = ordo_ltree_bulk_build(call, tree, run, fill);
    return run->mem ? status : ORDO_OK;
}

static ordo_status build_of_set(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_run_set *set,
                                unsigned fill)
{
    struct ordo_sorted_run all = { .mem = NULL };
    ordo_status            status = ordo_runs_filter(&tree->runs, call, set, &all);
    for (size_t r = 0; r < set->n; r++)
        ordo_runs_release(&tree->runs, &set->run[r]);
    if (tree->bytes_peak < tree->bytes + tree->runs.bytes_peak)
        tree->bytes_peak = tree->bytes + tree->runs.bytes_peak;
    if (status == ORDO_OK)
        status = build_of_run(call, tree, &all, fill);
    ordo_runs_release(&tree->runs, &all);
    ordo_runs_drop_spare(&tree->runs);
    tree->runs.bytes_peak = 0;
    return status;
}

unsigned ordo_ltree_update_fill(const struct ordo_ltree *tree)
{
    const unsigned fill = tree->config.fill_percent;
    return fill > ORDO_LTREE_UPDATE_FILL ? ORDO_LTREE_UPDATE_FILL : fill;
}

ordo_status ordo_ltree_rebuild(struct ordo_call *call, struct ordo_ltree *tree, struct ordo_sorted_run *batch,
                               unsigned fill)
{
    struct ordo_run_set set = { .n = 0 };
    size_t              count = 0;
    ordo_status         status = ordo_ltree_size(&tree->dict, call, &count);
    if (status == ORDO_OK && count > 0) {
        status = run_of_tree(call, tree, count, &set.run[0]);
        set.n = status == ORDO_OK;
    }
    if (status != ORDO_OK) {
        if (batch)
            ordo_runs_release(&tree->runs, batch);
        ordo_runs_drop_spare(&tree->runs);
        return status;
    }
    if (batch)
        set.run[set.n++] = *batch;
    tree->rebuilds++;
    return build_of_set(call, tree, &set, fill);
}

ordo_status ordo_ltree_build(ordo_dict *dict, struct ordo_call *call, struct ordo_slice keys, struct ordo_slice values,
                             size_t count)
{
    struct ordo_ltree  *tree = ordo_ltree_of(dict);
    struct ordo_run_set set = { .n = 1 };
    ORDO_TRY(ordo_runs_sort(&tree->runs, call, false, keys, values, count, &set.run[0]));
    return build_of_set(call, tree, &set, tree->config.fill_percent);
}

ordo_status ordo_ltree_compact(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_ltree *tree = ordo_ltree_of(dict);
    if (!ordo_ltree_has_nodes(tree))
        return ORDO_OK;
    ORDO_TRY(ordo_ltree_validate(call, tree));
    ordo_ltree_drop_list(tree);
    const ordo_status status = ordo_ltree_rebuild(call, tree, NULL, tree->config.fill_percent);
    ordo_ltree_drop_list(tree);
    return status;
}
