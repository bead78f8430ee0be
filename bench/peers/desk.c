/* SPDX-License-Identifier: Apache-2.0 */
#include "desk.h"

#include "bench/workload/element.h"
#include "bench/workload/keys.h"

#include <stdlib.h>
#include <string.h>

void desk_lay_out(const struct desk *desk, const struct spec *spec, const struct inputs *in)
{
    if (spec->workload == GATHER)
        return;
    keys_order(spec->type, in->keys, spec->count, desk->work.keys);
    if (spec->value_bytes)
        memcpy(desk->work.values, in->values, spec->count * spec->value_bytes);
}

bool desk_open(struct desk *desk, const struct spec *spec)
{
    const size_t keys = spec->count * ordo_type_bytes(spec->type) + 8, values = spec->count * spec->value_bytes + 8;
    const size_t rows = spec->workload == GATHER ? spec->count * spec_row_bytes(spec) + 8 : 8;
    *desk = (struct desk) {
        { malloc(keys), malloc(values) }, { malloc(keys), malloc(values) }, ordo_type_bytes(spec->type), malloc(rows)
    };
    if (!desk->rows)
        return false;
    memset(desk->rows, 0, rows);
    if (!desk->work.keys || !desk->work.values || !desk->spare.keys || !desk->spare.values)
        return false;
    memset(desk->spare.keys, 0, keys);
    memset(desk->spare.values, 0, values);
    return true;
}

void desk_close(struct desk *desk)
{
    free(desk->work.keys);
    free(desk->work.values);
    free(desk->spare.keys);
    free(desk->spare.values);
    free(desk->rows);
}
