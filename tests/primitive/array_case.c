/* SPDX-License-Identifier: Apache-2.0 */
/* See array_case.h. */
#include "array_case.h"

struct given array_given(struct test *t, ordo_type type, uint32_t value_bytes, size_t count)
{
    struct given g = call_given(t->dev, NULL, count);

    g.type = type;
    g.value_bytes = value_bytes;
    return g;
}

size_t array_seams(const struct test *t, enum ordo_tunable group, enum ordo_tunable items, size_t bytes,
                   size_t counts[TEST_SEAMS])
{
    const struct ordo_tiles tiles = ordo_tiles_of(t->dev, group, items, bytes, 1, 0);

    return test_seams(tiles.group, tiles.group * tiles.items, counts);
}

static size_t elements(const struct array_case *c, size_t i)
{
    return call_array_elements(&c->call->array[i], &c->g);
}

static size_t element_bytes(const struct array_case *c, size_t i)
{
    return call_array_bytes(&c->call->array[i], &c->g);
}

static size_t array_bytes(const struct array_case *c, size_t i)
{
    return elements(c, i) * element_bytes(c, i);
}

void array_case_want(struct array_case *c, size_t i, bool present)
{
    free(c->host[i]);
    c->host[i] = present ? memset(test_alloc(array_bytes(c, i)), TEST_EMPTY, array_bytes(c, i)) : NULL;
}

struct array_case array_case(struct test *t, const char *call, const struct given *g)
{
    struct array_case c = { .t = t, .call = call_named(call), .g = *g };

    for (size_t i = 0; i < call_arrays(c.call); i++) {
        const struct call_array *is = &c.call->array[i];
        c.at[i] = test_below(t, 6);
        c.as[i] = i;
        array_case_want(&c, i, element_bytes(&c, i) > 0 && !(is->optional && test_below(t, 4) == 0));
        if (!is->output && c.host[i])
            test_random_bytes(t, c.host[i], array_bytes(&c, i));
    }
    return c;
}

void array_case_free(struct array_case *c)
{
    for (size_t i = 0; i < CALL_ARRAYS; i++)
        free(c->host[i]);
}

static bool is_overwritten(const struct array_case *c, size_t input)
{
    for (size_t i = 0; i < CALL_ARRAYS; i++)
        if (i != input && c->host[i] && c->as[i] == input)
            return true;
    return false;
}

static void describe(struct array_case *c, const char *form)
{
    const struct given *g = &c->g;

    test_context(c->t,
                 "%s%s%s%s: %s keys, values of %u (%s), operation %d, %zu of %zu, second %zu, k %zu, room %zu, "
                 "bits %u+%u, rows of %u, %s%s%s%s%s%s%s%sat %zu %zu %zu %zu",
                 c->call->name, form, *c->name ? ", " : "", c->name, test_type_name[g->type], g->value_bytes,
                 test_type_name[g->value], (int) g->array_op, g->count, g->n, g->second, g->k, g->room, g->first_bit,
                 g->bits, g->row_bytes, g->inclusive ? "inclusive " : "",
                 g->descending || g->greatest ? "descending " : "", g->sorted || g->sorted_queries ? "sorted " : "",
                 g->wide ? "wide " : "", g->upper ? "upper " : "", g->distinct ? "distinct " : "",
                 g->index ? "with an index " : "", is_overwritten(c, 0) ? "in place " : "", c->at[0], c->at[1],
                 c->at[2], c->at[3]);
}

/* The type in which messages show elements. */
static ordo_type shown_type(const struct array_case *c, size_t i)
{
    const size_t bytes = element_bytes(c, i);

    if (call_array_is_key(&c->call->array[i]))
        return c->g.type;
    return bytes == 16 ? ORDO_U128 : bytes == 8 ? ORDO_U64 : ORDO_U32;
}

static void upload(const struct array_case *c, struct test_array on[CALL_ARRAYS], struct ordo_slice a[CALL_ARRAYS])
{
    for (size_t i = 0; i < CALL_ARRAYS; i++) {
        on[i] = (struct test_array) { .mem = NULL };
        a[i] = ordo_none();
        if (!c->host[i])
            continue;
        if (c->as[i] == i && !c->on[i])
            on[i] = test_upload(c->t, c->call->array[i].output ? NULL : c->host[i], elements(c, i), element_bytes(c, i),
                                c->at[i]);
        a[i] = test_slice(c->on[i] ? c->on[i] : &on[c->as[i]]);
    }
    if (c->gone && c->g.second)
        a[0] = ordo_none();
}

static void apply_model(struct array_case *c)
{
    if (!c->unsorted && !c->is_modelled)
        model_array_call(c->call, &c->g, c->host);
    c->is_modelled = true;
}

bool array_case_runs(struct array_case *c)
{
    struct test_array on[CALL_ARRAYS];
    struct ordo_slice a[CALL_ARRAYS];

    apply_model(c);
    upload(c, on, a);
    describe(c, "");
    const ordo_status got = c->run ? c->run(c, a) : c->call->run(&c->g, a);
    if (got != ORDO_UNSUPPORTED)
        test_ok(c->t, got);
    for (size_t i = 0; i < CALL_ARRAYS; i++)
        if (on[c->as[i]].mem && c->host[i] && !is_overwritten(c, i) && got == ORDO_OK)
            test_check_expect(c->t, shown_type(c, i), &on[c->as[i]], c->host[i],
                              c->unsorted && c->call->array[i].output ? 0 : elements(c, i), c->call->array[i].name,
                              __FILE__, __LINE__);
    for (size_t i = 0; i < CALL_ARRAYS; i++)
        if (on[i].mem)
            test_free(&on[i]);
    return got == ORDO_OK;
}

void array_case_check_host(struct array_case *c)
{
    void *got[CALL_ARRAYS] = { NULL };

    apply_model(c);
    for (size_t i = 0; i < CALL_ARRAYS; i++) {
        if (!c->host[i])
            continue;
        got[i] = test_alloc(array_bytes(c, i));
        if (c->call->array[i].output)
            memset(got[i], TEST_EMPTY, array_bytes(c, i));
        else
            memcpy(got[i], c->host[i], array_bytes(c, i));
    }
    describe(c, "_host");
    test_ok(c->t, c->call->run_host(&c->g, got));
    for (size_t i = 0; i < CALL_ARRAYS; i++) {
        if (got[i])
            test_check_same(c->t, c->call->array[i].name, shown_type(c, i), element_bytes(c, i), got[i], c->host[i],
                            elements(c, i), __FILE__, __LINE__);
        free(got[i]);
    }
}
