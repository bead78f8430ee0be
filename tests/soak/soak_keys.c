/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the soak's calls (soak.h). */
#include "soak.h"

#include <stdlib.h>

/* Draws segments of successive keys, of 1, 50 or all of them, and a few extreme keys. */
void soak_draw_forms(struct life *l, size_t n)
{
    const size_t   lengths[] = { 1, 1, 50, n }, length = lengths[soak_below(l, 4)];
    const uint64_t mask = form_mask(l->config.key);
    uint64_t       form = 0;
    size_t         distinct = 0;

    l->forms = test_alloc(n * sizeof *l->forms);
    for (size_t i = 0; i < n; i++, form++) {
        if (i % length == 0)
            form = test_random(&l->t);
        l->forms[i] = form & mask;
    }
    for (size_t i = 0; i < n && i < 20; i++) {
        uint64_t key = 0;
        test_keys(&l->t, l->config.key, TEST_EXTREMES, 1, &key);
        l->forms[soak_below(l, n)] = ordo_key_bits(l->config.key, &key);
    }
    qsort(l->forms, n, sizeof *l->forms, compare_forms);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || l->forms[i] != l->forms[distinct - 1])
            l->forms[distinct++] = l->forms[i];
    l->n_forms = distinct;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* How a batch draws its keys. */
enum draw {
    DRAW_ANY,
    DRAW_WINDOW, /* any of a few */
    DRAW_NEXT,   /* after the last such batch: some of these reach every key */
    DRAW_NEAR,   /* keys and their neighbours */
    N_DRAWS
};

static enum draw choose_draw(struct life *l, const struct play *p)
{
    const bool changes = (p->row->traits & ROW_CHANGES) != 0;

    if (changes && l->mood != MOOD_MIXED)
        return soak_one_in(l, 4) ? DRAW_ANY : DRAW_NEXT;
    return changes ? (enum draw) soak_below(l, DRAW_NEAR) : soak_one_in(l, 3) ? DRAW_NEAR : DRAW_ANY;
}

static void shuffle(struct life *l, key_form *forms, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t   other = soak_below(l, i);
        const key_form was = forms[i - 1];
        forms[i - 1] = forms[other];
        forms[other] = was;
    }
}

static void draw_forms(struct life *l, enum draw draw, key_form *forms, size_t n)
{
    const size_t window = draw == DRAW_WINDOW ? soak_size(l, l->n_forms) : l->n_forms;
    const size_t first = soak_below(l, l->n_forms - window + 1);

    for (size_t i = 0; i < n; i++) {
        forms[i] = l->forms[draw == DRAW_NEXT ? (l->cursor + i) % l->n_forms : first + soak_below(l, window)];
        if (draw == DRAW_NEAR)
            forms[i] = soak_one_in(l, 16) ? test_random(&l->t) : forms[i] + soak_below(l, 5) - 2;
        forms[i] &= form_mask(l->config.key);
    }
    if (draw == DRAW_NEXT)
        l->cursor = (l->cursor + n) % l->n_forms;
    if (draw == DRAW_NEXT && soak_one_in(l, 2))
        shuffle(l, forms, n);
}

static void fill_keys(struct life *l, struct play *p, void *keys, size_t n, bool ascending)
{
    AUTO_FREE key_form *forms = test_alloc((n + 1) * sizeof *forms);

    draw_forms(l, choose_draw(l, p), forms, n);
    if (ascending || soak_one_in(l, 16))
        qsort(forms, n, sizeof *forms, compare_forms);
    for (size_t i = 0; i < n; i++)
        put_form(p->g.type, keys, i, forms[i]);
}

/* Upper bounds. All ranges of a batch have a few million keys at most. Some bounds lie below the lower ones. */
static void fill_above(struct life *l, struct play *p, const void *low, void *high, size_t n)
{
    const size_t most = ((size_t) 1 << 21) / (n + 1) + 1;
    const size_t span = soak_one_in(l, 3) ? most : most < 20 ? most : 20;

    for (size_t i = 0; i < n; i++) {
        const uint64_t form = form_of_key(p->g.type, low, i);
        const size_t   at = rank_of_form(l->forms, l->n_forms, form) + soak_size(l, span) - 1;
        uint64_t       above = l->forms[at < l->n_forms ? at : l->n_forms - 1];
        if (soak_one_in(l, 12))
            above = form - soak_below(l, 3);
        put_form(p->g.type, high, i, above);
    }
}

/* ---- other inputs ------------------------------------------------------------------------------------------------ */

static void fill_numbers(struct life *l, void *to, size_t bytes, size_t n, size_t most)
{
    for (size_t i = 0; i < n; i++)
        if (bytes == 1)
            ((uint8_t *) to)[i] = (uint8_t) soak_below(l, most);
        else
            ((uint32_t *) to)[i] = (uint32_t) soak_below(l, most);
}

/* Values: random, or small numbers with sums that do not wrap. */
static void fill_words(struct life *l, void *to, size_t bytes)
{
    const bool small = soak_one_in(l, 2);

    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = small ? test_random(&l->t) & 0xff000000ffu : test_random(&l->t);
        memcpy((uint8_t *) to + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static void fill_input(struct life *l, struct play *p, size_t i)
{
    const struct call_array *is = &p->call->array[i];
    const size_t             n = p->count[i];
    const bool               key = call_array_is_key(is);

    if (is->input == INPUT_FLAGS)
        fill_numbers(l, p->want[i], 1, n, 3);
    else if (is->input == INPUT_RANKS)
        fill_numbers(l, p->want[i], 4, n, strcmp(is->name, "limits") == 0 ? 6 : l->model.count + 3);
    else if (is->input == INPUT_INDICES)
        fill_numbers(l, p->want[i], 4, n, p->g.second + p->g.second / 8 + 1);
    else if (is->input == INPUT_ABOVE)
        fill_above(l, p, p->want[i - 1], p->want[i], n);
    else if (key)
        fill_keys(l, p, p->want[i], n, is->input == INPUT_ASCENDING);
    else
        fill_words(l, p->want[i], n * p->bytes[i]);
}

void soak_fill(struct life *l, struct play *p)
{
    for (size_t i = 0; i < p->n_arrays; i++)
        if (!p->call->array[i].output && p->want[i])
            fill_input(l, p, i);
}
