/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a history: keys by number, random operations, and a tree with the initial content. */
#include "history_run.h"
#include "tree.h"

#include "tests/dict/history_batch.h"

#include "runtime/runtime.h"

/* The keys among which SLIDING chooses. */
enum { WINDOW = 64 };

/* ---- keys by number ---------------------------------------------------------------------------------------------- */

size_t n_numbers(const struct plan *plan)
{
    return (size_t) plan->keys * (plan->background + 1);
}

key_form form_of(const struct run *r, size_t number)
{
    return history_key(r->plan->type, number, n_numbers(r->plan));
}

static void put_value(const struct run *r, uint8_t *values, size_t i, uint64_t number)
{
    write_bits(values, r->plan->value_bytes, i, history_value(r->plan->value_bytes, number));
}

static void put_key(const struct run *r, uint8_t *keys, size_t i, size_t number)
{
    put_form(r->plan->type, keys, i, form_of(r, number));
}

/* Whether operations change a number. The others are the background. */
static bool is_changed(const struct run *r, size_t number)
{
    return (number + r->seed) % (r->plan->background + 1) == 0;
}

static size_t changed_number(const struct run *r, size_t which)
{
    const size_t step = r->plan->background + 1;
    return which * step + (step - (size_t) (r->seed % step)) % step;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static size_t pick_which(struct run *r, size_t i)
{
    const size_t keys = r->plan->keys, along = i * keys / r->n;
    if (r->plan->order == ANY_ORDER)
        return test_below(r->t, keys);
    if (r->plan->order == SLIDING)
        return (along + test_below(r->t, WINDOW)) % keys;
    return r->plan->order == ASCENDING ? along : keys - 1 - along;
}

/* Makes an operation. Ranges have some keys, sometimes all, sometimes lo > hi. Their capacities are sometimes too
 * small. */
static void make_operation(struct run *r, size_t i)
{
    const uint8_t code = r->in.codes[i] = history_code(r->t, r->plan->mixture, ORDO_N_CONCURRENT_CODES);
    const size_t  number = changed_number(r, pick_which(r, i)), last = n_numbers(r->plan) - 1;
    const size_t  span = test_below(r->t, 20) == 0 ? last : test_below(r->t, 60);
    const size_t  high = number + span > last ? last : number + span;
    size_t        room = 0;

    put_key(r, r->in.keys, i, number);
    put_key(r, r->in.hi, i, test_below(r->t, 30) == 0 && number > 0 ? number - 1 : high);
    put_value(r, r->in.values, i, i + 1);
    if (code == ORDO_RANGE)
        room = test_below(r->t, 8) == 0 ? test_below(r->t, span + 1) : high - number + 1;
    r->in.rooms[i + 1] = r->in.rooms[i] + room;
}

static uint8_t *empty(size_t bytes)
{
    uint8_t *made = test_alloc(bytes);
    memset(made, TEST_EMPTY, bytes);
    return made;
}

void make_input(struct run *r)
{
    const size_t n = r->n, kb = r->key_bytes, vb = r->plan->value_bytes;

    r->in = (struct input) { test_alloc(n), test_alloc(n * kb), test_alloc(n * kb), test_alloc(n * vb),
                             test_alloc((n + 1) * sizeof(uint64_t)) };
    r->in.rooms[0] = 0;
    for (size_t i = 0; i < n; i++)
        make_operation(r, i);
    const size_t room = (size_t) r->in.rooms[n];
    r->out = (struct output) { empty(n),
                               empty(n),
                               empty(n * kb),
                               empty(n * vb),
                               (uint32_t *) (void *) empty(n * sizeof(uint32_t)),
                               empty(room * kb),
                               empty(room * vb),
                               test_alloc(2 * n * sizeof(uint32_t)) };
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Writes the initial elements. Returns their number. */
static size_t initial_elements(struct run *r, uint8_t *keys, uint8_t *values)
{
    size_t count = 0;

    for (size_t number = 0; number < n_numbers(r->plan); number++) {
        if (is_changed(r, number) && test_below(r->t, 100) >= r->plan->initial)
            continue;
        put_key(r, keys, count, number);
        put_value(r, values, count++, 1000000 + number);
    }
    return count;
}

static ordo_status create_and_build(struct run *r, const uint8_t *keys, const uint8_t *values, size_t count)
{
    ORDO_TRY(create_tree(r->t->dev,
                         ordo_blink_config(.dict = { r->plan->type, r->plan->value_bytes },
                                           .max_leaves = r->plan->max_leaves * 28 / tree_slots(),
                                           .fill_percent = 50 + (uint32_t) (r->seed % 51)),
                         &r->dict));
    return count ? ordo_dict_build_host(r->dict, keys, r->plan->value_bytes ? values : NULL, count) : ORDO_OK;
}

bool make_dict(struct run *r)
{
    const size_t       all = n_numbers(r->plan);
    AUTO_FREE uint8_t *keys = test_alloc(all * r->key_bytes), *values = test_alloc(all * r->plan->value_bytes);
    const size_t       count = initial_elements(r, keys, values);

    r->before = model_of_arrays(r->plan->type, r->plan->value_bytes, keys, values, count);
    const ordo_status made = create_and_build(r, keys, values, count);
    return made == ORDO_OK || is_wrong(r, "making the tree: %s", ordo_status_string(made));
}
