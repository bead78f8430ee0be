/* SPDX-License-Identifier: Apache-2.0 */
#include "model_prefix.h"

#include "bench/common/threads.h"

/* ---- prefixes ------------------------------------------------------------------------------------------------ */

static unsigned bits_of(ordo_type type)
{
    return type == ORDO_U32 ? 32 : 64;
}

uint64_t prefix_key(ordo_type type, uint64_t bits, unsigned length)
{
    return type == ORDO_U32 ? ordo_prefix_u32((uint32_t) bits, length) : ordo_prefix_u64(bits, length);
}

unsigned prefix_length(ordo_type type, uint64_t prefix)
{
    return type == ORDO_U32 ? ordo_prefix_u32_length((uint32_t) prefix) : ordo_prefix_u64_length(prefix);
}

/* The bits of a key behind its first ones; not all of it is before. */
static uint64_t rest(ordo_type type, unsigned length)
{
    return (type == ORDO_U32 ? UINT32_MAX : UINT64_MAX) >> length;
}

uint64_t prefix_least(ordo_type type, uint64_t bits, unsigned length)
{
    return bits & ~rest(type, length);
}

uint64_t prefix_greatest(ordo_type type, uint64_t bits, unsigned length)
{
    return bits | rest(type, length);
}

/* ---- questions ----------------------------------------------------------------------------------------------- */

struct question {
    const struct model *model;
    struct sheet       *sheet;
    const struct step  *step;
    uint64_t            lengths; /* a bit for each that a prefix of the model has */
};

static void count_span(void *question_, size_t from, size_t to, int part)
{
    const struct question *q = question_;
    const ordo_type        type = q->model->type;
    (void) part;
    for (size_t row = q->step->at + from; row < q->step->at + to; row++) {
        const uint64_t key = sheet_get(q->sheet, COL_KEYS, row);
        const unsigned length = ((const uint8_t *) q->sheet->at[COL_LENGTHS])[row];
        const size_t   below = model_below(q->model, prefix_least(type, key, length), SIZE_MAX);
        sheet_set(q->sheet, COL_COUNTS, row, model_up_to(q->model, prefix_greatest(type, key, length), below) - below);
    }
}

void model_count_prefix(const struct model *model, struct sheet *sheet, const struct step *step)
{
    struct question q = { model, sheet, step, 0 };
    for_spans(step->count, count_span, &q);
}

static void longest_row(const struct question *q, size_t row)
{
    const struct model *model = q->model;
    const uint64_t      key = sheet_get(q->sheet, COL_KEYS, row);
    sheet_set(q->sheet, COL_FOUND, row, false);
    for (unsigned length = bits_of(model->type); length-- > 0;) {
        const uint64_t prefix = prefix_key(model->type, key, length);
        const size_t   at = q->lengths >> length & 1 ? model_below(model, prefix, SIZE_MAX) : model->count;
        if (at == model->count || model_key(model, at) != prefix)
            continue;
        sheet_set(q->sheet, COL_FOUND, row, true);
        sheet_set(q->sheet, COL_KEYS_OUT, row, prefix);
        sheet_set(q->sheet, COL_VALUES_OUT, row, model_value(model, at));
        return;
    }
}

static void longest_span(void *question_, size_t from, size_t to, int part)
{
    const struct question *q = question_;
    (void) part;
    for (size_t row = q->step->at + from; row < q->step->at + to; row++)
        longest_row(q, row);
}

void model_longest_prefix(const struct model *model, struct sheet *sheet, const struct step *step)
{
    struct question q = { model, sheet, step, 0 };
    for (size_t i = 0; i < model->count; i++)
        q.lengths |= UINT64_C(1) << prefix_length(model->type, model_key(model, i)) % 64;
    for_spans(step->count, longest_span, &q);
}
