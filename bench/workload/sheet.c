/* SPDX-License-Identifier: Apache-2.0 */
#include "sheet.h"

#include "bench/common/threads.h"

#include <stdlib.h>
#include <string.h>

size_t sheet_width(const struct sheet *sheet, enum column_id column)
{
    switch (column) {
    case COL_CODES:
    case COL_LENGTHS:
    case COL_FOUND:
    case COL_OUTCOMES:
        return 1;
    case COL_VALUES:
    case COL_VALUES_OUT:
    case COL_RANGE_VALUES:
        return sheet->value_bytes;
    case COL_COUNTS:
    case COL_RANKS:
        return 4;
    case COL_OFFSETS:
        return 8;
    default:
        return ordo_type_bytes(sheet->type);
    }
}

const char *column_name(enum column_id column)
{
    static const char *const names[N_COLUMNS] = { "codes",   "keys",       "his",          "values",     "ranks",
                                                  "lengths", "found",      "keys_out",     "values_out", "counts",
                                                  "offsets", "range_keys", "range_values", "outcomes" };
    return names[column];
}

bool sheet_column(struct sheet *sheet, enum column_id column, size_t rows)
{
    free(sheet->at[column]);
    sheet->at[column] = NULL;
    sheet->rows[column] = 0;
    return sheet_grow(sheet, column, rows);
}

bool sheet_grow(struct sheet *sheet, enum column_id column, size_t rows)
{
    const size_t width = sheet_width(sheet, column), before = sheet->rows[column];
    if (width == 0 || rows <= before)
        return true;
    char *more = realloc(sheet->at[column], rows * width);
    if (!more)
        return false;
    sheet->at[column] = more;
    sheet->rows[column] = rows;
    fill_bytes(more + before * width, column >= FIRST_OUTPUT ? POISON_BYTE : 0, (rows - before) * width);
    return true;
}

void sheet_free(struct sheet *sheet)
{
    for (int c = 0; c < N_COLUMNS; c++)
        free(sheet->at[c]);
    free(sheet->hints);
    *sheet = (struct sheet) { .type = sheet->type, .value_bytes = sheet->value_bytes };
}

void sheet_set(struct sheet *sheet, enum column_id column, size_t row, uint64_t value)
{
    if (!sheet->at[column])
        return;
    if (sheet_width(sheet, column) == 1)
        ((uint8_t *) sheet->at[column])[row] = (uint8_t) value;
    else
        set_element(sheet->at[column], sheet_width(sheet, column), row, value);
}

bool script_steps(struct script *script, size_t n)
{
    free(script->steps);
    script->steps = calloc(n + 1, sizeof *script->steps);
    script->n_steps = script->steps ? n : 0;
    return script->steps;
}

void script_free(struct script *script)
{
    sheet_free(&script->sheet);
    free(script->steps);
    script->steps = NULL;
    script->n_steps = 0;
}
