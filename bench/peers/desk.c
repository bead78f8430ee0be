/* SPDX-License-Identifier: Apache-2.0 */
#include "desk.h"

#include "bench/common/threads.h"
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

/* Of queries the spare arrays take ranks only. */
#define RANKS_MOST ((size_t) 1 << 20)

bool desk_open(struct desk *desk, const struct spec *spec)
{
    const size_t key = ordo_type_bytes(spec->type);
    const size_t keys = spec->count * key + 8, values = spec->count * spec->value_bytes + 8;
    const size_t out = workload_has_queries(spec->workload) && spec->count > RANKS_MOST ? RANKS_MOST : spec->count;
    const size_t spare_keys = out * key + 8, spare_values = out * spec->value_bytes + 8;
    const size_t rows = spec->workload == GATHER ? spec->count * spec_row_bytes(spec) + 8 : 8;
    *desk = (struct desk) {
        { malloc(keys), malloc(values) }, { malloc(spare_keys), malloc(spare_values) }, key, malloc(rows)
    };
    if (!desk->rows)
        return false;
    memset(desk->rows, 0, rows);
    if (!desk->work.keys || !desk->work.values || !desk->spare.keys || !desk->spare.values)
        return false;
    fill_bytes(desk->spare.keys, 0, spare_keys);
    fill_bytes(desk->spare.values, 0, spare_values);
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
