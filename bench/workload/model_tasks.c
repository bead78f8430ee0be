/* SPDX-License-Identifier: Apache-2.0 */
#include "model_tasks.h"

#include "keys.h"

#include <stdlib.h>
#include <string.h>

/* ---- erased ranges ------------------------------------------------------------------------------------------- */

/* Of each row how many elements it is the first to erase. */
static void mark_ranges(const struct model *model, struct sheet *sheet, const struct step *step, bool *erased)
{
    for (size_t row = step->at; row < step->at + step->count; row++) {
        const uint64_t lo = key_order(model->type, sheet_get(sheet, COL_KEYS, row));
        const uint64_t hi = key_order(model->type, sheet_get(sheet, COL_HIS, row));
        size_t         n = 0;
        for (size_t i = model_below(model, lo, SIZE_MAX); i < model->count && model_key(model, i) <= hi; i++) {
            n += !erased[i];
            erased[i] = true;
        }
        sheet_set(sheet, COL_COUNTS, row, n);
    }
}

bool model_erase_ranges(struct model *model, struct sheet *sheet, const struct step *step)
{
    bool  *erased = calloc(model->count + 1, sizeof *erased);
    size_t kept = 0;
    if (!erased)
        return false;
    mark_ranges(model, sheet, step, erased);
    for (size_t i = 0; i < model->count; i++) {
        if (erased[i])
            continue;
        set_element(model->keys, model->key_bytes, kept, model_key(model, i));
        if (model->value_bytes)
            set_element(model->values, model->value_bytes, kept, model_value(model, i));
        kept++;
    }
    model->count = kept;
    free(erased);
    return true;
}

/* ---- both ends ----------------------------------------------------------------------------------------------- */

static size_t at_most(const struct model *model, const struct step *step)
{
    return step->count < model->count ? step->count : model->count;
}

void model_peek(const struct model *model, struct sheet *sheet, const struct step *step)
{
    const size_t n = at_most(model, step);
    for (size_t i = 0; i < n; i++) {
        const size_t at = step->call == DO_PEEK_LAST ? model->count - 1 - i : i;
        sheet_set(sheet, COL_KEYS_OUT, step->at + i, key_stored(model->type, model_key(model, at)));
        sheet_set(sheet, COL_VALUES_OUT, step->at + i, model_value(model, at));
    }
}

void model_take_first(struct model *model, struct sheet *sheet, const struct step *step)
{
    const size_t n = at_most(model, step);
    model_peek(model, sheet, step);
    model->count -= n;
    memmove(model->keys, (char *) model->keys + n * model->key_bytes, model->count * model->key_bytes);
    if (model->value_bytes)
        memmove(model->values, (char *) model->values + n * model->value_bytes, model->count * model->value_bytes);
}
