/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/batch.h"
ordo_status ordo_dict_apply_enqueue(ordo_dict *dict, struct ordo_call *call, const struct ordo_batch *batch,
                                    size_t *needed)
{
    (void) batch;
    (void) needed;
    (void) dict;
    return ordo_fail(call->dev, ORDO_UNSUPPORTED, 0, __FILE__, __LINE__, "not yet");
}
