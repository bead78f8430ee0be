/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrent batches: checks that some order of the operations explains all results (soak.h). */
#include "soak.h"

#include "tests/primitive/scan_common.h"

#include <stdlib.h>

/* Arrays of the call, as in tests/support/calls_dicts.c. */
enum { CODES, KEYS, HI, VALUES, ROOMS, FOUND, KEYS_OUT, VALUES_OUT, COUNTS, OUTCOMES, RANGE_KEYS, RANGE_VALUES };

/* The changes of one key by the batch. */
struct key_change {
    key_form form;
    size_t   first, end;          /* its operations among the turns */
    uint32_t came, went, upserts; /* upserts: operations that may have written its value */
    bool     was_there;
};

struct turn {
    key_form form;
    size_t   i;
};

/* A batch and its results, by key. `always` and `once`: keys that existed during all of the batch, and at some
 * moment. */
struct history {
    struct life       *l;
    struct play       *p;
    struct turn       *turns;
    struct key_change *changes;
    size_t             n_changes;
    key_form          *always, *once;
    size_t             n_always, n_once;
};

static key_form form_at(const struct play *p, const void *array, size_t i)
{
    return form_of_key(p->g.type, array, i);
}

static uint8_t code_at(const struct play *p, size_t i)
{
    return ((const uint8_t *) p->want[CODES])[i];
}

static uint8_t outcome_at(const struct play *p, size_t i)
{
    return ((const uint8_t *) p->got[OUTCOMES])[i];
}

static uint8_t found_at(const struct play *p, size_t i)
{
    return ((const uint8_t *) p->got[FOUND])[i];
}

static bool stores(uint8_t code)
{
    return code == ORDO_UPSERT || code == ORDO_INSERT;
}

static bool wrote(const struct play *p, size_t i)
{
    return outcome_at(p, i) == ORDO_DONE &&
           (code_at(p, i) == ORDO_UPSERT || (code_at(p, i) == ORDO_INSERT && !found_at(p, i)));
}

#define MUST(h, i, cond)                                                                                               \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            fail_operation((h), (i), __LINE__, #cond);                                                                 \
    } while (0)

static _Noreturn void fail_operation(const struct history *h, size_t i, int line, const char *what)
{
    const struct play *p = h->p;

    test_fail(&h->l->t, __FILE__, line, "operation %zu of %zu, code %u, key %#llx: outcome %u, found %u. Not so: %s", i,
              p->g.count, code_at(p, i), (unsigned long long) read_bits(p->want[KEYS], p->bytes[KEYS], i),
              outcome_at(p, i), found_at(p, i), what);
}

/* ---- the batch --------------------------------------------------------------------------------------------------- */

/* Outcomes and found are always outputs, because all checks need them. */
static void demand(struct play *p, size_t array)
{
    if (p->want[array])
        return;
    p->want[array] = test_alloc(p->count[array] * p->bytes[array]);
    p->got[array] = test_alloc(p->count[array] * p->bytes[array]);
}

static void fix(struct life *l, struct play *p)
{
    static const uint8_t mixtures[][ORDO_N_CONCURRENT_CODES] = {
        { 0, 0, 1 },                         /* upserts */
        { 0, 0, 0, 0, 1 },                   /* erasures */
        { 0, 0, 2, 2, 3 },                   /* updates */
        { 4, 1, 3, 1, 2 },                   /* single keys */
        { 4, 1, 3, 1, 2, 1, 1, 1, 1, 1, 1 }, /* everything */
    };
    const bool order = ordo_dict_can(l->dict, ORDO_CAN_ORDER);
    size_t     m = soak_below(l, order ? 5 : 4), room = 0, all = 0;
    uint8_t   *codes = p->want[CODES];
    uint64_t  *rooms = p->want[ROOMS];

    if (l->mood == MOOD_EMPTY || l->mood == MOOD_GROW)
        m = soak_one_in(l, 3) ? m : l->mood == MOOD_EMPTY;
    for (size_t c = 0; c < ORDO_N_CONCURRENT_CODES; c++)
        all += mixtures[m][c];
    for (size_t i = 0; i < p->g.count; i++) {
        size_t  left = soak_below(l, all);
        uint8_t code = 0;
        while (left >= mixtures[m][code])
            left -= mixtures[m][code++];
        codes[i] = code;
        rooms[i] = room;
        room += code == ORDO_RANGE ? soak_below(l, 4) : 0;
    }
    rooms[p->g.count] = room;
    demand(p, FOUND);
    demand(p, OUTCOMES);
}

/* ---- changes of each key ----------------------------------------------------------------------------------------- */

static int by_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;

    return x->form != y->form ? (x->form < y->form ? -1 : 1) : x->i < y->i ? -1 : x->i > y->i;
}

static const struct model_element *element_of(const struct model *model, key_form form)
{
    const size_t at = model_rank(model, form);

    return at < model->count && model->element[at].form == form ? &model->element[at] : NULL;
}

static void count_change(const struct history *h, struct key_change *c)
{
    for (size_t k = c->first; k < c->end; k++) {
        const size_t  i = h->turns[k].i;
        const uint8_t code = code_at(h->p, i);
        MUST(h, i, outcome_at(h->p, i) <= ORDO_CUT_SHORT);
        if (outcome_at(h->p, i) != ORDO_DONE || code > ORDO_ERASE)
            continue;
        MUST(h, i, found_at(h->p, i) <= 1);
        c->came += stores(code) && !found_at(h->p, i);
        c->went += code == ORDO_ERASE && found_at(h->p, i);
        c->upserts += code == ORDO_UPSERT;
    }
}

static void gather_changes(struct history *h)
{
    const size_t n = h->p->g.count;

    h->turns = test_alloc(n * sizeof *h->turns);
    h->changes = test_alloc(n * sizeof *h->changes);
    for (size_t i = 0; i < n; i++)
        h->turns[i] = (struct turn) { form_at(h->p, h->p->want[KEYS], i), i };
    qsort(h->turns, n, sizeof *h->turns, by_turn);
    for (size_t k = 0, end = 0; k < n; k = end) {
        struct key_change *c = &h->changes[h->n_changes++];
        while (end < n && h->turns[end].form == h->turns[k].form)
            end++;
        *c = (struct key_change) { .form = h->turns[k].form,
                                   .first = k,
                                   .end = end,
                                   .was_there = element_of(&h->l->model, h->turns[k].form) != NULL };
        count_change(h, c);
    }
}

/* Gathers `always` and `once`. */
static void gather_keys(struct history *h)
{
    const struct model *m = &h->l->model;
    size_t              c = 0;

    h->always = test_alloc((m->count + 1) * sizeof *h->always);
    h->once = test_alloc((m->count + h->n_changes + 1) * sizeof *h->once);
    for (size_t at = 0; at < m->count || c < h->n_changes;) {
        const bool     changed = c < h->n_changes && (at == m->count || h->changes[c].form <= m->element[at].form);
        const bool     there = at < m->count && (!changed || h->changes[c].form == m->element[at].form);
        const key_form form = changed ? h->changes[c].form : m->element[at].form;
        if (there || h->changes[c].came)
            h->once[h->n_once++] = form;
        if (there && !(changed && h->changes[c].went))
            h->always[h->n_always++] = form;
        at += there;
        c += changed;
    }
}

static size_t count_in(const key_form *forms, size_t n, key_form lo, key_form hi)
{
    const size_t end = rank_of_form(forms, n, hi);

    return lo > hi ? 0 : end + (end < n && forms[end] == hi) - rank_of_form(forms, n, lo);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Whether the key had this value at some moment. */
static bool had_value(const struct history *h, key_form form, uint64_t value)
{
    const struct model_element *old = element_of(&h->l->model, form);
    size_t                      low = 0;

    if (old && value_number_of(old->value) == value)
        return true;
    for (size_t high = h->n_changes; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (h->changes[middle].form < form)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == h->n_changes || h->changes[low].form != form)
        return false;
    for (size_t k = h->changes[low].first; k < h->changes[low].end; k++)
        if (wrote(h->p, h->turns[k].i) && read_value(h->p->want[VALUES], h->p->bytes[VALUES], h->turns[k].i) == value)
            return true;
    return false;
}

static void check_point(const struct history *h, const struct key_change *c, size_t i)
{
    const uint8_t code = code_at(h->p, i);

    if (found_at(h->p, i))
        MUST(h, i, c->was_there || c->came > 0);
    else
        MUST(h, i, !c->was_there || c->went > 0);
    if (code == ORDO_FIND && found_at(h->p, i) && h->p->got[VALUES_OUT])
        MUST(h, i, had_value(h, c->form, read_value(h->p->got[VALUES_OUT], h->p->bytes[VALUES_OUT], i)));
}

static void check_seek(const struct history *h, key_form form, size_t i)
{
    const uint8_t code = code_at(h->p, i);
    const bool    up = code == ORDO_SEEK_GE || code == ORDO_SEEK_GT, own = code == ORDO_SEEK_LE || code == ORDO_SEEK_GE;
    const key_form last = up ? ~(key_form) 0 : 0;

    MUST(h, i, found_at(h->p, i) <= 1);
    if (!own && form == last)
        return;
    const key_form from = own ? form : up ? form + 1 : form - 1;
    if (!found_at(h->p, i)) {
        MUST(h, i, count_in(h->always, h->n_always, up ? from : 0, up ? last : from) == 0);
        return;
    }
    if (!h->p->got[KEYS_OUT])
        return;
    const key_form hit = form_at(h->p, h->p->got[KEYS_OUT], i);
    MUST(h, i, count_in(h->once, h->n_once, hit, hit) == 1);
    if (h->p->got[VALUES_OUT] && h->l->config.value_bytes)
        MUST(h, i, had_value(h, hit, read_value(h->p->got[VALUES_OUT], h->p->bytes[VALUES_OUT], i)));
    MUST(h, i, up ? hit >= from : hit <= from);
    if (up ? hit > from : hit < from)
        MUST(h, i, count_in(h->always, h->n_always, up ? from : hit + 1, up ? hit - 1 : from) == 0);
}

/* Checks a range's elements: they ascend, existed, and include all keys that always existed. */
static void check_elements(const struct history *h, key_form lo, key_form hi, size_t n, bool cut, size_t i)
{
    const size_t from = (size_t) ((const uint64_t *) h->p->want[ROOMS])[i];
    key_form     next = lo;

    for (size_t e = from; e < from + n; e++) {
        const key_form form = form_at(h->p, h->p->got[RANGE_KEYS], e);
        MUST(h, i, form >= next && form <= hi && count_in(h->once, h->n_once, form, form) == 1);
        if (h->p->got[RANGE_VALUES] && h->l->config.value_bytes)
            MUST(h, i, had_value(h, form, read_value(h->p->got[RANGE_VALUES], h->p->bytes[RANGE_VALUES], e)));
        MUST(h, i, form == next || count_in(h->always, h->n_always, next, form - 1) == 0);
        if (form == ~(key_form) 0)
            return;
        next = form + 1;
    }
    MUST(h, i, cut || next > hi || count_in(h->always, h->n_always, next, hi) == 0);
}

static void check_interval(const struct history *h, key_form lo, size_t i)
{
    const struct play *p = h->p;
    const key_form     hi = form_at(p, p->want[HI], i);
    const uint64_t    *rooms = p->want[ROOMS];
    const size_t       end = rooms[i + 1] < p->g.room ? rooms[i + 1] : p->g.room;
    const size_t       room = rooms[i] < end ? end - rooms[i] : 0;

    if (!p->got[COUNTS])
        return;
    const uint32_t n = ((const uint32_t *) p->got[COUNTS])[i];
    MUST(h, i, n >= count_in(h->always, h->n_always, lo, hi) && n <= count_in(h->once, h->n_once, lo, hi));
    if (code_at(p, i) != ORDO_RANGE)
        return;
    MUST(h, i, outcome_at(p, i) == (n > room ? ORDO_CUT_SHORT : ORDO_DONE));
    if (p->got[RANGE_KEYS])
        check_elements(h, lo, hi, n < room ? n : room, n > room, i);
}

static void check_results(const struct history *h)
{
    for (size_t k = 0; k < h->n_changes; k++)
        for (size_t at = h->changes[k].first; at < h->changes[k].end; at++) {
            const size_t i = h->turns[at].i;
            if (outcome_at(h->p, i) == ORDO_NOT_STORED)
                continue;
            if (code_at(h->p, i) <= ORDO_ERASE)
                check_point(h, &h->changes[k], i);
            else if (code_at(h->p, i) <= ORDO_SEEK_GT)
                check_seek(h, h->changes[k].form, i);
            else
                check_interval(h, h->changes[k].form, i);
        }
}

/* ---- the content afterwards -------------------------------------------------------------------------------------- */

static bool may_be_value(const struct history *h, const struct key_change *c, uint64_t value)
{
    const struct model_element *old = element_of(&h->l->model, c->form);

    if (old && value_number_of(old->value) == value && c->upserts == 0 && c->went == 0)
        return true;
    for (size_t k = c->first; k < c->end; k++)
        if (wrote(h->p, h->turns[k].i) &&
            (!h->l->config.value_bytes || read_value(h->p->want[VALUES], h->p->bytes[VALUES], h->turns[k].i) == value))
            return true;
    return false;
}

/* Takes the dictionary's content over, if the batch explains it. */
static void adopt_content(struct history *h)
{
    struct model now = soak_read_content(h->l);
    size_t       k = 0;

    test_ok(&h->l->t, ordo_dict_check(h->l->dict, NULL));
    for (size_t c = 0; c < h->n_changes; c++) {
        const struct key_change    *is = &h->changes[c];
        const struct model_element *e = element_of(&now, is->form);
        if (is->was_there + is->came != is->went + (e != NULL))
            soak_fail(h->l, "key of form %#llx: %s before, came %u, went %u, %s now", (unsigned long long) is->form,
                      is->was_there ? "there" : "not there", is->came, is->went, e ? "there" : "not there");
        if (e && !may_be_value(h, is, value_number_of(e->value)))
            soak_fail(h->l, "key of form %#llx has value %#llx, which nothing wrote", (unsigned long long) is->form,
                      (unsigned long long) value_number_of(e->value));
    }
    for (size_t at = 0; at < now.count; at++) {
        const struct model_element *e = &now.element[at], *old = element_of(&h->l->model, e->form);
        while (k < h->n_changes && h->changes[k].form < e->form)
            k++;
        if ((k == h->n_changes || h->changes[k].form != e->form) && (!old || old->value != e->value))
            soak_fail(h->l, "key of form %#llx changed, which no operation names", (unsigned long long) e->form);
    }
    for (size_t at = 0; at < h->l->model.count; at++)
        if (!element_of(&now, h->l->model.element[at].form) &&
            count_in(h->always, h->n_always, h->l->model.element[at].form, h->l->model.element[at].form))
            soak_fail(h->l, "key of form %#llx is gone", (unsigned long long) h->l->model.element[at].form);
    model_free(&h->p->after);
    h->p->after = now;
}

/* Gathers refused stores of new keys: memory or nodes were short. */
static void gather_refused(const struct history *h)
{
    struct play *p = h->p;
    const size_t n = p->g.count, key_bytes = p->bytes[KEYS], value_bytes = p->bytes[VALUES];

    p->refused_keys = test_alloc(n * key_bytes);
    p->refused_values = value_bytes ? test_alloc(n * value_bytes) : NULL;
    for (size_t i = 0; i < n; i++) {
        const bool is_new = stores(code_at(p, i)) && !element_of(&p->after, form_at(p, p->want[KEYS], i));
        p->n_stores += wrote(p, i);
        if (outcome_at(p, i) != ORDO_NOT_STORED)
            continue;
        MUST(h, i, p->is_limited || h->l->most_nodes);
        if (!is_new)
            continue;
        write_bits(p->refused_keys, key_bytes, p->n_refused, read_key(p->want[KEYS], key_bytes, i));
        if (value_bytes)
            write_bits(p->refused_values, value_bytes, p->n_refused, read_key(p->want[VALUES], value_bytes, i));
        p->n_refused++;
    }
}

static void check(struct life *l, struct play *p)
{
    struct history h = { .l = l, .p = p };

    gather_changes(&h);
    gather_keys(&h);
    check_results(&h);
    adopt_content(&h);
    gather_refused(&h);
    free(h.turns);
    free(h.changes);
    free(h.always);
    free(h.once);
}

static void model(struct life *l, struct play *p)
{
    (void) l;
    (void) p;
}

const struct soak_row soak_concurrent_rows[] = {
    { "ordo_dict_apply_concurrent",
      { 24, 20, 20, 2 },
      ROW_CHANGES | ROW_STORES,
      ORDO_CAN_CONCURRENT,
      .fix = fix,
      .model = model,
      .check = check },
};
const size_t n_soak_concurrent_rows = sizeof soak_concurrent_rows / sizeof *soak_concurrent_rows;
