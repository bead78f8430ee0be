/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a dictionary of strings, which a life fills, empties and fills again (soak.h). */
#include "soak.h"

#include "runtime/internal.h"

/* The dictionary of the life, with values of a size that depends on the seed alone. */
static struct string_trial *strings_of(struct life *l)
{
    static const uint32_t sizes[] = { 4, 8, 0 };

    if (!l->strings.dict)
        l->strings = string_trial_begin(&l->t, sizes[l->seed % LENGTH(sizes)]);
    l->strings.t = &l->t;
    l->strings.lacks_memory = !l->without[HAZARD_LIMITS] || !l->without[HAZARD_FAULTS];
    return &l->strings;
}

void soak_end_strings(struct life *l)
{
    if (!l->strings.dict)
        return;
    string_trial_export(strings_of(l));
    string_trial_end(&l->strings);
}

static enum string_shape any_shape(struct life *l)
{
    return (enum string_shape)(RANDOM + soak_below(l, N_SHAPES - RANDOM));
}

/* ---- updates with hazards ---------------------------------------------------------------------------------------- */

struct attempt {
    struct life   *l;
    struct hazards b;
};

static void set_hazards(void *attempt, bool begins)
{
    struct attempt *a = attempt;

    if (begins)
        soak_begin_hazards(a->l, &a->b);
    else
        soak_end_hazards(a->l, &a->b);
}

static void describe(const struct attempt *a, enum string_change kind, const struct string_case *c)
{
    static const char *const names[] = { "build", "upsert", "erase" };
    const struct hazards    *b = &a->b;
    const size_t             n = a->l->strings.m.n;

    if (b->fault)
        life_context(a->l, "ordo_string_dict_%s of %zu, %zu strings, call %lu of %s refused%s", names[kind], c->count,
                     n, b->plan.at, b->plan.only ? b->plan.only : "the driver",
                     b->plan.lasting ? ", and all after" : "");
    else if (b->limit || b->alloc)
        life_context(a->l, "ordo_string_dict_%s of %zu, %zu strings, %llu bytes %s", names[kind], c->count, n,
                     (unsigned long long) b->more, b->limit ? "left" : "at once");
    else
        life_context(a->l, "ordo_string_dict_%s of %zu, %zu strings", names[kind], c->count, n);
}

static bool suits(const struct hazards *b, ordo_status status)
{
    return b->fault ? fault_suits(fault_opencl, status)
                    : (b->limit && status == ORDO_NO_DEVICE_MEMORY) || (b->alloc && status == ORDO_TOO_LARGE);
}

/* Repeats the update until it succeeds. After an error the content must be as before. */
static void change(struct life *l, enum string_change kind, const struct string_case *c)
{
    struct string_trial *r = strings_of(l);
    struct attempt       a = { l, soak_draw_hazards(l, c->n_bytes + 16 * c->count, 5, 3) };

    r->hazard = set_hazards;
    r->user = &a;
    for (int tries = 1;; tries++) {
        describe(&a, kind, c);
        const ordo_status status = string_trial_try(r, kind, c);
        if (status == ORDO_OK)
            break;
        if (!suits(&a.b, status))
            soak_fail(l, "'%s' does not suit the hazards", ordo_status_string(status));
        test_ok(&l->t, ordo_string_dict_check(r->dict, NULL));
        string_trial_export(r);
        a.b = soak_next_hazards(&a.b, tries);
    }
    r->hazard = NULL;
    l->calls++;
    l->operations += c->count;
}

/* `stored` of 10 strings are in the dictionary already. */
static void change_some(struct life *l, enum string_change kind, uint64_t stored)
{
    AUTO_COLUMN struct string_case c =
        string_trial_batch(strings_of(l), any_shape(l), soak_size(l, 4000), stored, false);
    change(l, kind, &c);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static void build(struct life *l)
{
    change_some(l, STRINGS_BUILD, 3);
}

static void upsert(struct life *l)
{
    change_some(l, STRINGS_UPSERT, soak_below(l, 8));
}

static void erase(struct life *l)
{
    change_some(l, STRINGS_ERASE, 9);
}

static void erase_all(struct life *l)
{
    const struct string_trial     *r = strings_of(l);
    AUTO_COLUMN struct string_case c = string_trial_all(r);

    change(l, STRINGS_ERASE, &c);
    SOAK_MUST(l, r->m.n == 0);
}

static void cleanup(struct life *l)
{
    struct ordo_string_dict_statistics statistics;
    struct string_trial               *r = strings_of(l);

    life_context(l, "ordo_string_dict_cleanup of %zu strings", r->m.n);
    test_ok(&l->t, ordo_string_dict_cleanup(r->dict, NULL));
    test_ok(&l->t, ordo_string_dict_get_statistics(r->dict, &statistics));
    SOAK_MUST(l, statistics.stale == 0 && statistics.runs <= 1);
}

static void clear(struct life *l)
{
    struct string_trial *r = strings_of(l);

    life_context(l, "ordo_string_dict_clear of %zu strings", r->m.n);
    test_ok(&l->t, ordo_string_dict_clear(r->dict));
    string_map_clear(&r->m);
}

static void query(struct life *l)
{
    struct string_trial *r = strings_of(l);

    life_context(l, "all queries of %zu strings", r->m.n);
    string_trial_check(r, any_shape(l));
}

const struct soak_row soak_string_rows[] = {
    { "string_build", { 1, 0, 0, 0 }, .run = build },     { "string_upsert", { 3, 4, 1, 1 }, .run = upsert },
    { "string_erase", { 2, 1, 3, 1 }, .run = erase },     { "string_erase_all", { 0, 0, 1, 0 }, .run = erase_all },
    { "string_cleanup", { 1, 1, 1, 1 }, .run = cleanup }, { "string_clear", { 1, 0, 0, 0 }, .run = clear },
    { "string_queries", { 2, 1, 1, 3 }, .run = query },
};
const size_t n_soak_string_rows = LENGTH(soak_string_rows);
