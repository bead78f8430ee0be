/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of sequences: all that batches may store, and draws from them. */
#include "sequence_run.h"

#include <stdlib.h>

const char *const key_shape_name[N_KEY_SHAPES] = { "sparse", "dense", "ascending", "descending",
                                                   "equal",  "few",   "clustered", "extremes" };

/* ---- all keys ---------------------------------------------------------------------------------------------------- */

/* A random form. In keys of 16 bytes, the word with the low bits is sometimes nearly all ones. */
static key_form random_form(struct run *run)
{
    const uint64_t low = test_random(&run->random);

    if (ordo_type_bytes(run->s->type) < 16)
        return low;
    return (key_form) test_random(&run->random) << 64 | (low % 2 ? low : UINT64_MAX - low % 40);
}

static void keys_in_segments(struct run *run, size_t length)
{
    key_form form = 0;

    for (size_t i = 0; i < run->n_keys; i++, form++) {
        if (i % length == 0)
            form = random_form(run);
        run->keys[i] = form & form_mask(run->s->type);
    }
}

static void keys_of_test_shape(struct run *run, enum test_shape shape)
{
    const size_t       bytes = ordo_type_bytes(run->s->type);
    AUTO_FREE uint8_t *keys = test_alloc(run->n_keys * bytes);

    test_keys(&run->random, run->s->type, shape, run->n_keys, keys);
    for (size_t i = 0; i < run->n_keys; i++)
        run->keys[i] = form_of_key(run->s->type, keys, i);
}

/* Draws keys of the sequence's shape. */
static void draw_shape(struct run *run)
{
    enum { CLUSTER = 50 };
    const enum key_shape shape = run->s->shape;

    if (shape == KEYS_DENSE)
        keys_in_segments(run, run->n_keys);
    else if (shape == KEYS_CLUSTERED)
        keys_in_segments(run, CLUSTER);
    else
        keys_of_test_shape(run, shape == KEYS_EQUAL      ? TEST_EQUAL
                                : shape == KEYS_FEW      ? TEST_FEW
                                : shape == KEYS_EXTREMES ? TEST_EXTREMES
                                                         : TEST_RANDOM);
}

static void sort_and_drop_equal(struct run *run)
{
    size_t n = 0;

    qsort(run->keys, run->n_keys, sizeof *run->keys, compare_forms);
    for (size_t i = 0; i < run->n_keys; i++)
        if (n == 0 || run->keys[i] != run->keys[n - 1])
            run->keys[n++] = run->keys[i];
    run->n_keys = n;
}

void run_make_keys(struct run *run)
{
    enum { EXTREMES = 200 };

    run->n_keys = run->s->n_keys ? run->s->n_keys : 1;
    if (run->s->shape == KEYS_EXTREMES && run->n_keys > EXTREMES)
        run->n_keys = EXTREMES;
    run->keys = test_alloc(run->n_keys * sizeof *run->keys);
    draw_shape(run);
    sort_and_drop_equal(run);
}

/* ---- keys of a batch --------------------------------------------------------------------------------------------- */

struct draw draw_begin(struct run *run, bool query)
{
    struct draw d = { .first = run_below(run, run->n_keys),
                      .window = run->n_keys,
                      .near = query || run_below(run, 8) == 0 };

    if (run->s->shape == KEYS_ASCENDING || run->s->shape == KEYS_DESCENDING)
        d.turn = run->s->shape == KEYS_ASCENDING ? 1 : -1;
    else if (run_below(run, 6) == 0) /* a few keys many times */
        d.window = 1 + run_below(run, run->n_keys < 40 ? run->n_keys : 40);
    return d;
}

key_form draw_key(struct run *run, const struct draw *d, size_t i)
{
    const size_t   offset = d->turn == 0 ? run_below(run, d->window) : i % run->n_keys;
    const size_t   at = d->turn < 0 ? d->first + run->n_keys - offset : d->first + offset;
    const key_form form = run->keys[at % run->n_keys];

    if (!d->near)
        return form;
    switch (run_below(run, 16)) {
    case 0:
        return random_form(run) & form_mask(run->s->type);
    case 1:
    case 2:
        return (form + 1) & form_mask(run->s->type);
    case 3:
    case 4:
        return (form - 1) & form_mask(run->s->type);
    default:
        return form;
    }
}

key_form draw_bound(struct run *run, key_form low, size_t wide_of)
{
    if (run_below(run, wide_of) == 0)
        return run->keys[run_below(run, run->n_keys)];
    if (run_below(run, 12) == 0)
        return (low - run_below(run, 3)) & form_mask(run->s->type);
    const size_t at = rank_of_form(run->keys, run->n_keys, low) + run_below(run, 20);
    return run->keys[at < run->n_keys ? at : run->n_keys - 1];
}
