/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the soak's calls (soak.h). */
#include "soak.h"

#include <stdlib.h>

/* A random form. Of keys of 16 bytes, half have one of few first words. */
static key_form random_form(struct life *l)
{
    const uint64_t low = test_random(&l->t);

    if (!has_wide_keys(l))
        return low;
    return (key_form) (soak_one_in(l, 2) ? soak_below(l, 4) * UINT64_C(0x4000000000000001) : test_random(&l->t)) << 64 |
           low;
}

/* An extreme form, at a border of the words if keys have 16 bytes. */
static key_form extreme_form(struct life *l)
{
    static const uint64_t words[] = { 0, 1, UINT64_MAX - 1, UINT64_MAX, UINT64_C(1) << 63 };
    uint64_t              key = 0;

    if (has_wide_keys(l))
        return (key_form) words[soak_below(l, LENGTH(words))] << 64 | words[soak_below(l, LENGTH(words))];
    test_keys(&l->t, l->config.key, TEST_EXTREMES, 1, &key);
    return ordo_key_bits(l->config.key, &key);
}

/* Draws segments of successive keys, of 1, 50 or all of them, and a few extreme keys. */
void soak_draw_forms(struct life *l, size_t n)
{
    const size_t   lengths[] = { 1, 1, 50, n }, length = lengths[soak_below(l, 4)];
    const key_form mask = form_mask(l->config.key);
    key_form       form = 0;
    size_t         distinct = 0;

    l->forms = test_alloc(n * sizeof *l->forms);
    for (size_t i = 0; i < n; i++, form++) {
        if (i % length == 0)
            form = random_form(l);
        l->forms[i] = form & mask;
    }
    for (size_t i = 0; i < n && i < 20; i++) {
        const key_form extreme = extreme_form(l);
        l->forms[soak_below(l, n)] = extreme;
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
            forms[i] = soak_one_in(l, 16) ? random_form(l) : forms[i] + soak_below(l, 5) - 2;
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
    for (size_t i = 0; i < n; i++)
        forms[i] &= form_mask(p->g.type);
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
        const key_form form = form_of_key(p->g.type, low, i);
        const size_t   at = rank_of_form(l->forms, l->n_forms, form) + soak_size(l, span) - 1;
        key_form       above = l->forms[at < l->n_forms ? at : l->n_forms - 1];
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
