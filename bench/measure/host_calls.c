/* SPDX-License-Identifier: Apache-2.0 */
#include "host_calls.h"

#include "bench/common/threads.h"

#include <stdlib.h>

static size_t bytes_of(const struct sheet *sheet, int column)
{
    return sheet->rows[column] * sheet_width(sheet, (enum column_id) column);
}

void host_outputs_free(struct host_outputs *outputs)
{
    for (int c = 0; c < N_COLUMNS; c++)
        free(outputs->at[c]);
    *outputs = (struct host_outputs) { .exported = 0 };
}

void host_outputs_poison(const struct sheet *sheet, struct host_outputs *outputs)
{
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++)
        if (outputs->at[c])
            fill_bytes(outputs->at[c], POISON_BYTE, bytes_of(sheet, c));
}

bool host_outputs_make(const struct sheet *sheet, struct host_outputs *outputs)
{
    host_outputs_free(outputs);
    for (int c = FIRST_OUTPUT; c < N_COLUMNS; c++) {
        if (bytes_of(sheet, c) == 0)
            continue;
        outputs->at[c] = malloc(bytes_of(sheet, c));
        if (!outputs->at[c]) {
            host_outputs_free(outputs);
            return false;
        }
    }
    host_outputs_poison(sheet, outputs);
    return true;
}

static void *place(const struct sheet *sheet, void *const *columns, enum column_id column, size_t row)
{
    char *at = columns[column];
    return at ? at + row * sheet_width(sheet, column) : NULL;
}

ordo_status host_step(ordo_dict *dict, const struct sheet *sheet, struct host_outputs *outputs, const struct step *step)
{
    const void *keys = place(sheet, sheet->at, COL_KEYS, step->at),
               *values = place(sheet, sheet->at, COL_VALUES, step->at);
    switch (step->call) {
    case DO_BUILD:
        return ordo_dict_build_host(dict, keys, values, step->count);
    case DO_UPSERT:
        return ordo_dict_upsert_host(dict, keys, values, step->count);
    case DO_FIND:
        return ordo_dict_find_host(dict, keys, step->count, place(sheet, outputs->at, COL_VALUES_OUT, step->at),
                                   place(sheet, outputs->at, COL_FOUND, step->at));
    case DO_EXPORT:
        return ordo_dict_export_host(dict, outputs->at[COL_RANGE_KEYS], outputs->at[COL_RANGE_VALUES],
                                     step->range_count, &outputs->exported);
    default:
        return ORDO_UNSUPPORTED;
    }
}
