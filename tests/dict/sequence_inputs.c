/* SPDX-License-Identifier: Apache-2.0 */
/* The random input of a step: codes, keys and values, and which arrays the call has. */
#include "sequence_run.h"

#include <stdlib.h>

/* ---- codes ------------------------------------------------------------------------------------------------------- */

static uint8_t draw_update(struct run *run)
{
    static const uint8_t codes[] = { ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_COMBINE };
    return codes[run_below(run, LENGTH(codes))];
}

/* Draws the code of an operation of a mixed batch. */
static uint8_t draw_code(struct run *run, size_t style)
{
    switch (style) {
    case 0: /* point operations */
        return (uint8_t) run_below(run, ORDO_ERASE + 1);
    case 1: /* updates only */
        return draw_update(run);
    case 2: /* updates and order queries */
        return run_below(run, 2) ? draw_update(run) : (uint8_t) (ORDO_SEEK_LT + run_below(run, 6));
    case 3: /* mostly one code */
        return (uint8_t) (run_below(run, 8) ? run->s->seed % ORDO_N_CODES : run_below(run, ORDO_N_CODES));
    case 4: /* updates, ranks and selections */
        return run_below(run, 2) ? draw_update(run) : (uint8_t) (ORDO_RANK_LT + run_below(run, 3));
    default:
        return (uint8_t) run_below(run, ORDO_N_CODES);
    }
}

/* Without values, operations that need them become finds. */
static uint8_t draw_legal(struct run *run, size_t style)
{
    const uint8_t code = draw_code(run, style);
    return code == ORDO_COMBINE && (run->s->value_bytes == 0 || run->s->value_bytes == 16) ? ORDO_FIND : code;
}

static void fill_codes(struct run *run, const struct step *step, uint8_t *codes, size_t count)
{
    const size_t style = run_below(run, 8);

    for (size_t i = 0; i < count; i++)
        codes[i] = step->kind == STEP_APPLY ? draw_legal(run, style) : (uint8_t) step_columns[step->kind].code;
}

bool has_code(const struct columns *in, ordo_code least, ordo_code most)
{
    const uint8_t *codes = in->of[COL_CODES];

    for (size_t i = 0; i < in->count; i++)
        if (codes[i] >= least && codes[i] <= most)
            return true;
    return false;
}

/* ---- keys and values --------------------------------------------------------------------------------------------- */

/* Writes a rank as a key: mostly of an element, else slightly or far past the last. */
static void put_rank(struct run *run, void *keys, size_t i)
{
    const size_t bytes = ordo_type_bytes(run->s->type);
    key_form rank = run_below(run, 20) == 0 ? UINT64_MAX >> run_below(run, 40) : run_below(run, run->model.count + 3);

    if (bytes == 16 && run_below(run, 40) == 0)
        rank <<= 64;
    write_bits(keys, bytes, i, rank);
}

/* Draws type and operation of combines. Each needs kernels, so keys of u32 and f64 get all, others one type for each
 * operation. */
static void draw_combine(struct run *run, struct columns *c)
{
    const ordo_type key = run->s->type;
    const bool      wide = run->s->value_bytes == 8;

    c->combine = (ordo_op) run_below(run, 3);
    const uint32_t types = c->combine == ORDO_SUM ? 2 : 3, any = (uint32_t) run_below(run, types);
    const bool     all = key == ORDO_U32 || key == ORDO_F64 || test_wants_all("ORDO_TEST_KINDS");
    c->value = (ordo_type) ((wide ? ORDO_U64 : ORDO_U32) + 2 * (all ? any : (uint32_t) key % types));
}

/* Writes the bounds of steps that have no keys of the caller. */
static void put_ends(const struct run *run, enum step_kind kind, struct columns *in)
{
    const key_form greatest = ~(key_form) 0;

    if (kind == STEP_FIRST || kind == STEP_EXPORT)
        put_form(run->s->type, in->of[COL_KEYS], 0, 0);
    if (kind == STEP_LAST)
        put_form(run->s->type, in->of[COL_KEYS], 0, greatest);
    if (kind == STEP_EXPORT)
        put_form(run->s->type, in->of[COL_HI], 0, greatest);
}

void draw_inputs(struct run *run, const struct step *step, struct columns *in)
{
    const struct draw d = draw_begin(run, !step_is_update(step->kind));
    const uint8_t    *codes = in->of[COL_CODES];

    fill_codes(run, step, in->of[COL_CODES], in->count);
    draw_combine(run, in);
    const size_t wide_of = step->kind == STEP_COUNT ? 8 : in->count < 9 ? 3 : in->count / 3;
    for (size_t i = 0; i < in->count; i++) {
        const key_form low = draw_key(run, &d, i);
        put_form(run->s->type, in->of[COL_KEYS], i, low);
        put_form(run->s->type, in->of[COL_HI], i, draw_bound(run, low, wide_of));
        if (codes[i] == ORDO_SELECT)
            put_rank(run, in->of[COL_KEYS], i);
    }
    if (in->of[COL_VALUES])
        test_random_bytes(&run->random, in->of[COL_VALUES], in->count * run->s->value_bytes);
    put_ends(run, step->kind, in);
}

/* ---- the arrays of a call ---------------------------------------------------------------------------------------- */

#define VALUE_COLUMNS (BIT(COL_VALUES) | BIT(COL_VALUES_OUT) | BIT(COL_RANGE_VALUES))

unsigned draw_columns(struct run *run, const struct step *step, const struct columns *in)
{
    unsigned columns = step_columns[step->kind].inputs | step_columns[step->kind].must;

    for (int i = 0; i < N_COLUMNS; i++)
        if (step_columns[step->kind].may & BIT(i) && run_below(run, 5) != 0)
            columns |= BIT(i);
    if (step->kind == STEP_APPLY && run_below(run, 2)) {
        if (!has_code(in, ORDO_UPSERT, ORDO_INSERT) && !has_code(in, ORDO_COMBINE, ORDO_COMBINE))
            columns &= ~IN_VALUES;
        if (!has_code(in, ORDO_COUNT, ORDO_RANGE))
            columns &= ~IN_HIS;
        if (!has_code(in, ORDO_RANGE, ORDO_RANGE))
            columns &= ~OUT_OFFSETS;
    }
    return run->s->value_bytes ? columns : columns & ~VALUE_COLUMNS;
}

size_t draw_room(struct run *run, size_t needed)
{
    const size_t luck = run_below(run, 8);

    if (luck == 0 && needed > 0)
        return run_below(run, needed);
    return luck < 3 ? needed + run_below(run, 9) : needed;
}
