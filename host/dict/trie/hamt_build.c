/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

#include "primitive/scan.h"

static struct ordo_launch pass(const struct ordo_hamt *hamt, const char *kernel, size_t items)
{
    return ordo_hamt_kernel(hamt, "dict/trie/hamt_build.cl", kernel, ordo_dict_pass_items(hamt->dict.dev, items));
}

static ordo_status words(struct ordo_call *call, size_t n, cl_mem *out)
{
    return ordo_call_scratch(call, n * sizeof(cl_uint), out);
}

struct leaves {
    const struct ordo_sorted_run *run;
    /* If not NULL, the leaves are these instead of the leaves of `run`. */
    const struct ordo_hamt_ready *ready;
    cl_uint                       n, n_elements;
    size_t                        units;
    cl_mem                        number, starts, fresh, sizes, owner, places;
};

static ordo_status divide(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_trie *old,
                          struct leaves *l)
{
    struct ordo_args heads = ordo_hamt_args(old);

    ORDO_TRY(words(call, (size_t) l->n_elements + 1, &l->number));
    ORDO_ADD(&heads, ORDO_ARG(l->run->mem), ORDO_ARG(l->n_elements), ORDO_ARG(l->number));
    const struct ordo_launch launch_heads = pass(hamt, "hamt_heads", (size_t) l->n_elements + 1);
    ORDO_TRY(ordo_call_launch(call, &launch_heads, &heads));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, l->number, (size_t) l->n_elements + 1));
    ORDO_TRY(ordo_call_read(call, l->number, l->n_elements * sizeof(cl_uint), &l->n, sizeof l->n));
    if (ordo_is_dry_run(call->dev))
        l->n = 1;
    return ORDO_OK;
}

static ordo_status shape(struct ordo_call *call, const struct ordo_hamt *hamt, const struct ordo_hamt_trie *old,
                         struct leaves *l)
{
    struct ordo_args starts = { .n = 0 }, shape = ordo_hamt_args(old);
    cl_uint          units = 0;

    ORDO_TRY(words(call, (size_t) l->n + 1, &l->starts));
    ORDO_TRY(words(call, (size_t) l->n + 1, &l->sizes));
    ORDO_TRY(words(call, l->n, &l->owner));
    ORDO_TRY(words(call, l->n, &l->places));
    ORDO_TRY(ordo_call_scratch(call, (size_t) l->n * HAMT_RECORD(hamt->dict.key_bytes), &l->fresh));
    ORDO_ADD(&starts, ORDO_ARG(l->number), ORDO_ARG(l->n_elements), ORDO_ARG(l->starts));
    const struct ordo_launch launch_starts = pass(hamt, "hamt_starts", (size_t) l->n_elements + 1);
    ORDO_TRY(ordo_call_launch(call, &launch_starts, &starts));
    ORDO_ADD(&shape, ORDO_ARG(l->run->mem), ORDO_ARG(l->starts), ORDO_ARG(l->n), ORDO_ARG(l->fresh), ORDO_ARG(l->sizes),
             ORDO_ARG(l->owner));
    const struct ordo_launch launch_shape = pass(hamt, "hamt_shape", (size_t) l->n + 1);
    ORDO_TRY(ordo_call_launch(call, &launch_shape, &shape));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, l->sizes, (size_t) l->n + 1));
    ORDO_TRY(ordo_call_read(call, l->sizes, l->n * sizeof units, &units, sizeof units));
    l->units = units;
    return ORDO_OK;
}

static ordo_status fill(struct ordo_call *call, const struct ordo_hamt *hamt, const struct leaves *l,
                        const struct ordo_hamt_trie *next)
{
    const struct ordo_slice values = ordo_run_values(&hamt->dict, l->run);
    struct ordo_args        args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(l->run->mem));
    ordo_args_slice(&args, &values);
    ORDO_ADD(&args, ORDO_ARG(l->n_elements), ORDO_ARG(l->number), ORDO_ARG(l->starts), ORDO_ARG(l->places),
             ORDO_ARG(next->leaves.mem), ORDO_ARG(next->pool.mem));
    const struct ordo_launch launch = pass(hamt, "hamt_fill", l->n_elements);
    return ordo_call_launch(call, &launch, &args);
}

struct assembly {
    const struct ordo_hamt_touched *touched;
    struct ordo_hamt_trie           old, next;
    struct leaves                   l;
    bool                            reserve, moves;
    cl_mem                          follow, counts, from;
};

/* Copies the records of unchanged old leaves. a->follow[i] becomes the index of the first new record for old leaf i. */
static ordo_status keep(struct ordo_call *call, const struct ordo_hamt *hamt, struct assembly *a)
{
    const size_t     n = a->old.n_leaves;
    struct ordo_args replace = { .n = 0 }, keep = ordo_hamt_args(&a->old);

    ORDO_TRY(words(call, n + 1, &a->follow));
    ORDO_TRY(ordo_call_fill(call, a->follow, 0, n * sizeof(cl_uint), 1));
    ORDO_TRY(ordo_call_fill(call, a->follow, n * sizeof(cl_uint), sizeof(cl_uint), 0));
    ORDO_ADD(&replace, ORDO_ARG(a->touched->leaves), ORDO_ARG(a->touched->n), ORDO_ARG(a->l.owner), ORDO_ARG(a->l.n),
             ORDO_ARG(a->follow));
    const struct ordo_launch launch_replace = pass(hamt, "hamt_replace", a->touched->n);
    ORDO_TRY(ordo_call_launch(call, &launch_replace, &replace));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, a->follow, n + 1));
    ORDO_ADD(&keep, ORDO_ARG(a->follow), ORDO_ARG(a->next.leaves.mem), ORDO_ARG(a->counts), ORDO_ARG(a->from));
    const struct ordo_launch launch_keep = pass(hamt, "hamt_keep", n);
    return ordo_call_launch(call, &launch_keep, &keep);
}

static ordo_status add(struct ordo_call *call, const struct ordo_hamt *hamt, struct assembly *a)
{
    const cl_uint    first_unit = a->moves ? 0 : (cl_uint) a->old.used;
    struct ordo_args args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(a->l.fresh), ORDO_ARG(a->l.sizes), ORDO_ARG(a->l.owner), ORDO_ARG(a->l.n),
             ORDO_ARG(first_unit), ORDO_ARG(a->follow), ORDO_ARG(a->next.leaves.mem), ORDO_ARG(a->counts),
             ORDO_ARG(a->from), ORDO_ARG(a->l.places));
    const struct ordo_launch launch = pass(hamt, "hamt_add", a->l.n);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status number_elements(struct ordo_call *call, const struct ordo_hamt *hamt, struct assembly *a)
{
    const size_t     n = a->next.n_leaves;
    struct ordo_args args = { .n = 0 };

    ORDO_TRY(ordo_call_fill(call, a->counts, n * sizeof(cl_uint), sizeof(cl_uint), 0));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, a->counts, n + 1));
    ORDO_ADD(&args, ORDO_ARG(a->counts), ORDO_ARG(a->next.n_leaves), ORDO_ARG(a->next.leaves.mem));
    const struct ordo_launch launch = pass(hamt, "hamt_before", n + 1);
    return ordo_call_launch(call, &launch, &args);
}

static ordo_status move(struct ordo_call *call, const struct ordo_hamt *hamt, struct assembly *a)
{
    const size_t     n = a->next.n_leaves;
    struct ordo_args sizes = { .n = 0 }, move = { .n = 0 };

    ORDO_ADD(&sizes, ORDO_ARG(a->next.leaves.mem), ORDO_ARG(a->next.n_leaves), ORDO_ARG(a->counts));
    const struct ordo_launch launch_sizes = pass(hamt, "hamt_sizes", n + 1);
    ORDO_TRY(ordo_call_launch(call, &launch_sizes, &sizes));
    ORDO_TRY(ordo_call_sum_before(call, ORDO_U32, a->counts, n + 1));
    ORDO_ADD(&move, ORDO_ARG(a->counts), ORDO_ARG(a->from), ORDO_ARG(a->next.n_leaves), ORDO_ARG(a->old.pool.mem),
             ORDO_ARG(a->next.leaves.mem), ORDO_ARG(a->next.pool.mem));
    const struct ordo_launch launch_move = pass(hamt, "hamt_move", n);
    return ordo_call_launch(call, &launch_move, &move);
}

static ordo_status make_nodes(struct ordo_call *call, struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve)
{
    cl_mem number = NULL;

    ORDO_TRY(ordo_hamt_number_nodes(call, hamt, next, &number, &next->nodes));
    ORDO_TRY(ordo_hamt_make_node_block(hamt, next, reserve));
    return ordo_hamt_nodes(call, hamt, next, number, NULL);
}

ordo_status ordo_hamt_make_tables(struct ordo_call *call, struct ordo_hamt *hamt, struct ordo_hamt_trie *next,
                                  bool reserve)
{
    struct ordo_args args = { .n = 0 };

    if (hamt->fixed_depth)
        ORDO_TRY(make_nodes(call, hamt, next, reserve));
    ORDO_ADD(&args, ORDO_ARG(next->leaves.mem), ORDO_ARG(next->n_leaves), ORDO_ARG(next->n), ORDO_ARG(next->cell_bits),
             ORDO_ARG(next->rank_bits), ORDO_ARG(next->tables.mem));
    const struct ordo_launch launch = pass(hamt, "hamt_cells", next->n_leaves);
    return ordo_call_launch(call, &launch, &args);
}

static void plan(struct assembly *a)
{
    const struct ordo_hamt_touched  none = { .n = a->old.n_leaves, .elements = a->old.n, .units = a->old.live };
    const struct ordo_hamt_touched *gone = a->touched ? a->touched : &none;

    a->next = (struct ordo_hamt_trie) { .n_leaves = a->old.n_leaves - gone->n + a->l.n,
                                        .n = (cl_uint) (a->old.n - gone->elements) + a->l.n_elements,
                                        .live = a->old.live - gone->units + a->l.units,
                                        .pool = a->old.pool,
                                        .used = a->old.used + a->l.units };
    a->moves = !a->touched || a->next.used > a->old.pool.bytes / HAMT_UNIT;
    if (a->moves) {
        a->next.used = a->next.live;
        a->next.pool = (struct ordo_hamt_block) { .mem = NULL };
    }
}

ordo_status ordo_hamt_check_size(struct ordo_call *call, const struct ordo_hamt *hamt,
                                 const struct ordo_hamt_trie *next)
{
    const size_t most = ordo_hamt_units_max(hamt, next->n, next->n_leaves);
    ORDO_REQUIRE(call->dev, most < HAMT_UNITS_MAX && next->used < HAMT_UNITS_MAX, ORDO_TOO_LARGE,
                 "%u elements may need more than 32 GiB: a HAMT may have 32 GiB", (unsigned) next->n);
    return ORDO_OK;
}

static ordo_status make_room(struct ordo_call *call, struct ordo_hamt *hamt, struct assembly *a)
{
    ORDO_TRY(ordo_hamt_check_size(call, hamt, &a->next));
    ORDO_TRY(words(call, (size_t) a->next.n_leaves + 1, &a->counts));
    if (a->moves && a->touched)
        ORDO_TRY(words(call, a->next.n_leaves, &a->from));
    if (a->moves)
        ORDO_TRY(ordo_hamt_make_pool(hamt, &a->next, a->next.live, a->reserve));
    return ordo_hamt_make_blocks(hamt, &a->next, a->reserve);
}

static ordo_status write(struct ordo_call *call, struct ordo_hamt *hamt, struct assembly *a)
{
    ORDO_TRY(make_room(call, hamt, a));
    if (a->touched)
        ORDO_TRY(keep(call, hamt, a));
    if (a->l.n > 0)
        ORDO_TRY(add(call, hamt, a));
    ORDO_TRY(number_elements(call, hamt, a));
    if (a->from)
        ORDO_TRY(move(call, hamt, a));
    if (a->l.ready)
        ORDO_TRY(a->l.ready->fill(call, a->l.ready, &a->next));
    else if (a->l.n > 0)
        ORDO_TRY(fill(call, hamt, &a->l, &a->next));
    return ordo_hamt_make_tables(call, hamt, &a->next, a->reserve);
}

static ordo_status replace(struct ordo_call *call, struct ordo_hamt *hamt, struct assembly *a)
{
    static const struct ordo_hamt_trie nothing = { .n = 0 };

    plan(a);
    if (a->next.n_leaves == 0) {
        ordo_hamt_become(hamt, &nothing);
        return ORDO_OK;
    }
    const ordo_status status = write(call, hamt, a);
    if (status == ORDO_OK)
        ordo_hamt_become(hamt, &a->next);
    else
        ordo_hamt_give_up(hamt, &a->next);
    return status;
}

ordo_status ordo_hamt_assemble(struct ordo_call *call, struct ordo_hamt *hamt, const struct ordo_hamt_touched *touched,
                               const struct ordo_sorted_run *run, bool reserve)
{
    static const struct ordo_hamt_trie nothing = { .n = 0 };
    struct assembly                    a = { .touched = touched, .old = hamt->trie, .reserve = reserve };

    a.l = (struct leaves) { .run = run, .n_elements = run->mem ? (cl_uint) run->count : 0 };
    if (a.l.n_elements > 0) {
        ORDO_TRY(divide(call, hamt, touched ? &a.old : &nothing, &a.l));
        ORDO_TRY(shape(call, hamt, touched ? &a.old : &nothing, &a.l));
    }
    return replace(call, hamt, &a);
}

ordo_status ordo_hamt_assemble_ready(struct ordo_call *call, struct ordo_hamt *hamt,
                                     const struct ordo_hamt_ready *ready)
{
    struct assembly a = { .old = hamt->trie };

    a.l = (struct leaves) { .ready = ready,
                            .n = ready->n,
                            .n_elements = ready->n_elements,
                            .units = ready->units,
                            .fresh = ready->fresh,
                            .sizes = ready->sizes };
    ORDO_TRY(words(call, a.l.n, &a.l.places));
    ORDO_TRY(replace(call, hamt, &a));
    ordo_hamt_note_built(hamt);
    return ORDO_OK;
}
