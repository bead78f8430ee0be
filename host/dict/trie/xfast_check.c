/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/xfast.h"

#define MODULE "dict/trie/xfast_check.cl"

#define BROKEN(dev, ...) ORDO_FAIL((dev), ORDO_BROKEN, __VA_ARGS__)

static ordo_status look(struct ordo_xfast *xfast, struct ordo_call *call, cl_uint found[XFAST_FINDING_WORDS])
{
    const int        mark = call->n_scratch;
    struct ordo_args args = ordo_xfast_args(xfast);
    cl_mem           wrong = NULL;

    ORDO_TRY(ordo_call_scratch(call, XFAST_FINDING_WORDS * sizeof *found, &wrong));
    ORDO_TRY(ordo_call_fill(call, wrong, 0, XFAST_FINDING_WORDS * sizeof *found, UINT32_MAX));
    ORDO_TRY(ordo_call_fill(call, wrong, XFAST_ENTRIES * sizeof *found, 2 * sizeof *found, 0));
    ORDO_ADD(&args, ORDO_ARG(xfast->masks), ORDO_ARG(wrong));
    const struct ordo_launch launch = ordo_xfast_kernel(xfast, MODULE, "xfast_check", xfast->shape.count);
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    ORDO_TRY(ordo_call_read(call, wrong, 0, found, XFAST_FINDING_WORDS * sizeof *found));
    ordo_call_release(call, mark);
    return ORDO_OK;
}

static ordo_status validate(ordo_device *dev, const cl_uint found[XFAST_FINDING_WORDS], size_t entries)
{
    static const char *const finding[] = {
#define X(id, text) text,
        XFAST_FINDINGS(X)
#undef X
    };
    for (int f = 0; f < XFAST_ENTRIES; f++)
        if (found[f] != UINT32_MAX)
            return BROKEN(dev, finding[f], found[f]);
    if (found[XFAST_ENTRIES] != entries)
        return BROKEN(dev, "X3: the table has %zu entries, the leaves make %u", entries, found[XFAST_ENTRIES]);
    return ORDO_OK;
}

ordo_status ordo_xfast_check(ordo_dict *dict, struct ordo_call *call)
{
    struct ordo_xfast *xfast = ordo_xfast_of(dict);
    cl_uint            found[XFAST_FINDING_WORDS];
    size_t             entries = 0;

    ORDO_TRY(ordo_runs_check(dict, call));
    if (!xfast->flat)
        return ORDO_OK;
    if (!ordo_run_set_is_clean(&xfast->runs.set) || xfast->shape.count != ordo_xfast_run(xfast)->count)
        return BROKEN(call->dev, "X1: the trie is of %u leaves, the run has others", xfast->shape.count);
    ORDO_TRY(ordo_hash_check(&xfast->prefixes.dict, call));
    ORDO_TRY(ordo_hash_size(&xfast->prefixes.dict, call, &entries));
    ORDO_TRY(look(xfast, call, found));
    return validate(call->dev, found, xfast->level_tables ? found[XFAST_USED] : entries);
}

ordo_status ordo_xfast_statistics(ordo_dict *dict, struct ordo_call *call, struct ordo_statistics *out)
{
    const struct ordo_xfast *xfast = ordo_xfast_of(dict);

    ORDO_TRY(ordo_runs_statistics(dict, call, out));
    out->bytes_index += xfast->flat_bytes + xfast->mask_bytes + xfast->slot_bytes + xfast->prefixes.bytes;
    out->bytes_peak += xfast->bytes_peak;
    out->restarts = xfast->drafts.restarts;
    return ORDO_OK;
}
