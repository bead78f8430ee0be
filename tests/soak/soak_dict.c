/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of dict.h over arrays (soak.h). Arrays are numbered as in tests/support/calls_dicts.c. */
#include "soak.h"

#include "tests/dict/call_model.h"
#include "tests/primitive/scan_common.h"

#include <stdlib.h>

static void model(struct life *l, struct play *p)
{
    struct model *const       changed = (p->row->traits & ROW_CHANGES) ? &p->after : &l->model;
    const struct call_outcome right = model_call(changed, p->call, &p->g, p->want);

    p->want_status = right.status;
    p->want_number = right.number;
    p->counts_elements = right.has_number;
    memcpy(p->compared, right.defined, sizeof p->compared);
}

static void choose_rank(struct life *l, struct play *p)
{
    p->g.relation = soak_one_in(l, 2) ? ORDO_LT : ORDO_LE;
}

/* Mostly large enough. */
static void choose_export(struct life *l, struct play *p)
{
    if (soak_one_in(l, 8))
        return;
    p->g.n = l->model.count / CALL_ROOM + 1;
    p->g.room = CALL_ROOM * p->g.n;
}

/* The model moves all elements after a new key, so batches with order are smaller, the larger the dictionary is. */
static void choose_apply(struct life *l, struct play *p)
{
    const size_t most = ((size_t) 1 << 27) / (l->model.count + l->n_forms + 1);

    if (!ordo_dict_can(l->dict, ORDO_CAN_ORDER) || p->g.n <= most)
        return;
    p->g.n = p->g.count = most;
    p->g.room = CALL_ROOM * most;
}

static void fix_apply(struct life *l, struct play *p)
{
    static const uint8_t points[] = { ORDO_FIND, ORDO_CONTAINS, ORDO_UPSERT, ORDO_INSERT, ORDO_ERASE, ORDO_COMBINE };
    const bool           order = ordo_dict_can(l->dict, ORDO_CAN_ORDER) && soak_one_in(l, 2);
    const uint8_t        most = (uint8_t) soak_below(l, ORDO_N_CODES);
    uint8_t             *codes = p->want[0];

    for (size_t i = 0; i < p->g.count; i++) {
        codes[i] = points[soak_below(l, LENGTH(points))];
        if (order)
            codes[i] = soak_one_in(l, 3) ? (uint8_t) soak_below(l, ORDO_N_CODES) : most;
        if (codes[i] == ORDO_COMBINE && (l->config.value_bytes == 0 || l->config.value_bytes == 16))
            codes[i] = ORDO_UPSERT;
        if (codes[i] == ORDO_SELECT)
            write_bits(p->want[1], p->bytes[1], i, soak_below(l, l->model.count + 3));
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Weights in a life that is mixed, grows, empties, queries. */
/* clang-format off */
#define OFTEN_GROWS   { 10, 20, 1, 1 }
#define OFTEN_EMPTIES { 8, 1, 24, 1 }
#define UPDATE        { 8, 6, 3, 1 }
#define SELDOM        { 2, 1, 1, 0 }
#define QUERY         { 3, 2, 1, 8 }
/* clang-format on */

const struct soak_row soak_dict_rows[] = {
    { "ordo_dict_build", SELDOM, ROW_CHANGES | ROW_STORES, .model = model },
    { "ordo_dict_upsert", OFTEN_GROWS, ROW_CHANGES | ROW_STORES, .model = model },
    { "ordo_dict_insert", UPDATE, ROW_CHANGES | ROW_STORES, .model = model },
    { "ordo_dict_combine", OFTEN_GROWS, ROW_CHANGES | ROW_STORES | ROW_NEEDS_VALUES, .model = model },
    { "ordo_dict_erase", OFTEN_EMPTIES, ROW_CHANGES, .model = model },
    { "ordo_dict_erase_range", UPDATE, ROW_CHANGES, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_take_first", SELDOM, ROW_CHANGES, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_take_last", SELDOM, ROW_CHANGES, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_apply", UPDATE, ROW_CHANGES | ROW_STORES, .choose = choose_apply, .fix = fix_apply, .model = model },
    { "ordo_dict_find", QUERY, .model = model },
    { "ordo_dict_contains", QUERY, .model = model },
    { "ordo_dict_count", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_range", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_range_limited", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_aggregate", QUERY, ROW_NEEDS_VALUES, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_seek", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_seek_within", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_rank", QUERY, 0, ORDO_CAN_ORDER, .choose = choose_rank, .model = model },
    { "ordo_dict_select", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_first", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_last", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_peek_first", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_peek_last", QUERY, 0, ORDO_CAN_ORDER, .model = model },
    { "ordo_dict_export", QUERY, ROW_ANY_ORDER, .choose = choose_export, .model = model },
};
const size_t n_soak_dict_rows = LENGTH(soak_dict_rows);
