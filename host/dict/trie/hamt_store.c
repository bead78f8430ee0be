/* SPDX-License-Identifier: Apache-2.0 */
/* A HAMT's memory, and how its kernels are launched. */
#include "dict/trie/hamt.h"

size_t ordo_hamt_table_words(const struct ordo_hamt_trie *trie)
{
    return HAMT_NODES_AT(trie->cell_bits, trie->rank_bits) + trie->nodes * HAMT_NODE;
}

/* Keys, each block rounded up, and once more where keys end; of fixed depth each leaf a bitmap. */
size_t ordo_hamt_units_most(const struct ordo_hamt *hamt, size_t elements, size_t leaves)
{
    const size_t key_bytes = hamt->fixed_depth ? 0 : hamt->dict.key_bytes;
    const size_t bitmap = hamt->fixed_depth ? HAMT_WORDS * sizeof(cl_uint) : 0;
    return elements * (key_bytes + hamt->dict.value_bytes) / HAMT_UNIT + leaves * (2 + bitmap / HAMT_UNIT);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------- */

static void note_peak(struct ordo_hamt *hamt)
{
    if (hamt->bytes_peak < hamt->bytes + hamt->runs.bytes)
        hamt->bytes_peak = hamt->bytes + hamt->runs.bytes;
}

static ordo_status allocate(struct ordo_hamt *hamt, size_t bytes, struct ordo_hamt_block *out)
{
    *out = (struct ordo_hamt_block) { .mem = NULL };
    ORDO_TRY(ordo_buffer_create(hamt->dict.dev, bytes, &out->mem));
    out->bytes = bytes;
    hamt->bytes += bytes;
    note_peak(hamt);
    return ORDO_OK;
}

/* A quarter: of what lives so much must be written anew before all is copied. */
ordo_status ordo_hamt_allocate(struct ordo_hamt *hamt, size_t bytes, bool roomy, struct ordo_hamt_block *out)
{
    const size_t room = (bytes / 4 + 4096) / HAMT_UNIT * HAMT_UNIT;
    if (roomy && allocate(hamt, bytes + room, out) == ORDO_OK)
        return ORDO_OK;
    return allocate(hamt, bytes, out);
}

void ordo_hamt_drop(struct ordo_hamt *hamt, struct ordo_hamt_block *block)
{
    if (!block->mem)
        return;
    ordo_buffer_destroy(hamt->dict.dev, &block->mem);
    hamt->bytes -= block->bytes;
    block->bytes = 0;
}

/* ---- tries -------------------------------------------------------------------------------------------------------- */

static cl_uint bits_over(size_t n)
{
    cl_uint bits = 0;
    while (n > (size_t) 1 << bits)
        bits++;
    return bits;
}

static bool fits(const struct ordo_hamt_block *block, size_t bytes)
{
    return block->mem && block->bytes >= bytes && block->bytes / 2 <= bytes + 4096;
}

/* `spare`, if it has the room and not much more. It is no longer one once it is taken: what is left of memory may then be asked for in
 * its place, and memory that is short be given. */
static ordo_status take(struct ordo_hamt *hamt, struct ordo_hamt_block *spare, size_t bytes, bool roomy,
                        struct ordo_hamt_block *out)
{
    if (!fits(spare, bytes)) {
        ordo_hamt_drop(hamt, spare);
        return ordo_hamt_allocate(hamt, bytes, roomy, out);
    }
    *out = *spare;
    *spare = (struct ordo_hamt_block) { .mem = NULL };
    return ORDO_OK;
}

ordo_status ordo_hamt_make_room(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool roomy)
{
    const cl_uint bits = bits_over(next->n_leaves);

    next->cell_bits = hamt->fixed_depth ? HAMT_HEADER_BITS : bits;
    next->rank_bits = bits > 2 ? bits - 2 : 0;
    ORDO_TRY(take(hamt, &hamt->spare_leaves, ((size_t) next->n_leaves + 1) * HAMT_RECORD(hamt->dict.key_bytes), roomy,
                  &next->leaves));
    if (hamt->fixed_depth)
        return ORDO_OK;
    return take(hamt, &hamt->spare_tables, ordo_hamt_table_words(next) * sizeof(cl_uint), roomy, &next->tables);
}

ordo_status ordo_hamt_make_node_room(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool roomy)
{
    return take(hamt, &hamt->spare_tables, ordo_hamt_table_words(next) * sizeof(cl_uint), roomy, &next->tables);
}

ordo_status ordo_hamt_make_pool(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, size_t units, bool roomy)
{
    return take(hamt, &hamt->spare_pool, units * HAMT_UNIT, roomy, &next->pool);
}

static void foresee(struct ordo_hamt *hamt, struct ordo_hamt_block *spare, size_t bytes)
{
    if (fits(spare, bytes))
        return;
    ordo_hamt_drop(hamt, spare);
    (void) ordo_hamt_allocate(hamt, bytes, true, spare);
}

void ordo_hamt_foresee(struct ordo_hamt *hamt, size_t leaves, size_t units)
{
    const struct ordo_hamt_trie next = { .cell_bits = bits_over(leaves), .rank_bits = bits_over(leaves) };

    foresee(hamt, &hamt->spare_pool, units * HAMT_UNIT);
    foresee(hamt, &hamt->spare_leaves, (leaves + 1) * HAMT_RECORD(hamt->dict.key_bytes));
    if (!hamt->fixed_depth)
        foresee(hamt, &hamt->spare_tables, ordo_hamt_table_words(&next) * sizeof(cl_uint));
}

void ordo_hamt_give_up(struct ordo_hamt *hamt, struct ordo_hamt_trie *next)
{
    ordo_hamt_drop(hamt, &next->leaves);
    ordo_hamt_drop(hamt, &next->tables);
    if (next->pool.mem != hamt->trie.pool.mem)
        ordo_hamt_drop(hamt, &next->pool);
}

void ordo_hamt_drop_spare(struct ordo_hamt *hamt)
{
    ordo_hamt_drop(hamt, &hamt->spare_leaves);
    ordo_hamt_drop(hamt, &hamt->spare_tables);
    ordo_hamt_drop(hamt, &hamt->spare_pool);
}

void ordo_hamt_give_spare(ordo_dict *dict)
{
    ordo_runs_drop_spare(&ordo_hamt_of(dict)->runs);
    ordo_hamt_drop_spare(ordo_hamt_of(dict));
}

/* Batches that are small for the trie leave its blocks where they are, mostly; one after which it is in another pool may be followed by
 * more such, for which drivers would take 0.1 ms and more to make one each. */
static void keep_pool(struct ordo_hamt *hamt, const struct ordo_hamt_trie *next)
{
    ordo_hamt_drop(hamt, &hamt->spare_pool);
    if (hamt->trie.pool.mem == next->pool.mem)
        return;
    if (hamt->trie.pool.bytes / 2 <= next->pool.bytes)
        hamt->spare_pool = hamt->trie.pool;
    else
        ordo_hamt_drop(hamt, &hamt->trie.pool);
}

void ordo_hamt_become(struct ordo_hamt *hamt, const struct ordo_hamt_trie *next)
{
    note_peak(hamt);
    ordo_hamt_drop(hamt, &hamt->spare_leaves);
    ordo_hamt_drop(hamt, &hamt->spare_tables);
    keep_pool(hamt, next);
    hamt->spare_leaves = hamt->trie.leaves;
    hamt->spare_tables = hamt->trie.tables;
    hamt->trie = *next;
    if (hamt->most_elements < next->n)
        hamt->most_elements = next->n;
}

void ordo_hamt_clear(ordo_dict *dict)
{
    struct ordo_hamt *hamt = ordo_hamt_of(dict);
    ordo_hamt_become(hamt, &(struct ordo_hamt_trie) { .n = 0 });
    ordo_hamt_drop_spare(hamt);
    ordo_runs_clear(&hamt->runs.dict);
    hamt->built_elements = hamt->built_leaves = hamt->most_elements = 0;
}

/* ---- launches ----------------------------------------------------------------------------------------------------- */

struct ordo_launch ordo_hamt_kernel(const struct ordo_hamt *hamt, const char *file, const char *kernel, size_t items)
{
    struct ordo_launch launch = ordo_dict_kernel(&hamt->dict, file, kernel, items);
    if (hamt->fixed_depth)
        ordo_launch_define(&launch, "HAMT_FIXED_DEPTH", 1);
    return launch;
}

void ordo_hamt_add_trie(struct ordo_args *args, const struct ordo_hamt_trie *trie)
{
    ORDO_ADD(args, ORDO_ARG(trie->leaves.mem), ORDO_ARG(trie->tables.mem), ORDO_ARG(trie->pool.mem),
             ORDO_ARG(trie->n_leaves), ORDO_ARG(trie->n), ORDO_ARG(trie->cell_bits), ORDO_ARG(trie->rank_bits));
}
