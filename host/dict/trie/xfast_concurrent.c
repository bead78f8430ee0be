/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/xfast.h"

#include <string.h>

static size_t elements(ordo_dict *dict)
{
    const struct ordo_xfast *xfast = ordo_xfast_of(dict);
    return xfast->runs.set.n ? xfast->runs.set.run[0].count : 0;
}

/* The batch's updates drop the trie. So a batch with updates builds it only if the batch has enough reads. */
static ordo_status prepare(ordo_dict *dict, struct ordo_call *call, size_t reads, size_t updates)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);

    if (xfast->flat || updates == 0 || ordo_xfast_pays(xfast, reads))
        return ordo_xfast_prepare(xfast, call, reads);
    xfast->searched += reads;
    return ORDO_OK;
}

static void add_trie(ordo_dict *dict, struct ordo_args *args)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);

    memset(&xfast->before, 0, sizeof xfast->before);
    if (xfast->runs.set.n > 0) {
        xfast->before.keys = ordo_xfast_run(xfast)->mem;
        xfast->before.values = ordo_run_values(dict, ordo_xfast_run(xfast));
        xfast->before.shape.count = (cl_uint) elements(dict);
    }
    if (xfast->flat)
        xfast->before.shape = xfast->shape;
    ORDO_ADD(args, ORDO_ARG(xfast->before.keys), ORDO_ARG(xfast->flat), ORDO_ARG(xfast->before.shape));
    ordo_xfast_add_table(args, xfast);
    ordo_args_slice(args, &xfast->before.values);
}

static struct ordo_launch query(ordo_dict *dict, size_t items, struct ordo_args *args)
{
    add_trie(dict, args);
    return ordo_xfast_kernel(ordo_xfast_of(dict), "dict/trie/xfast_in_batch.cl", "xfast_query_in_batch", items);
}

static struct ordo_launch apply(ordo_dict *dict, size_t items, const struct ordo_draft *draft, struct ordo_args *args)
{
    (void) draft;
    add_trie(dict, args);
    return ordo_xfast_kernel(ordo_xfast_of(dict), "dict/trie/xfast_concurrent.cl", "xfast_apply", items);
}

ordo_status ordo_xfast_apply_concurrent(ordo_dict *dict, struct ordo_call *call,
                                        const struct ordo_concurrent_batch *batch)
{
    static const struct ordo_draft_kind kind = {
        .words = DRAFT_WORDS,
        .elements = elements,
        .prepare = prepare,
        .query = query,
        .apply = apply,
        .collect = ordo_draft_collect,
    };
    return ordo_draft_apply(dict, call, &ordo_xfast_of(dict)->drafts, &kind, batch);
}
