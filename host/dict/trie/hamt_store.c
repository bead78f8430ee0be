/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

size_t ordo_hamt_table_words(const struct ordo_hamt_trie *trie)
{
    return HAMT_NODES_AT(trie->cell_bits, trie->rank_bits) + trie->nodes * HAMT_NODE;
}

/* Two units per leaf allow for rounding. With fixed depth, each leaf has a bitmap instead of keys. */
size_t ordo_hamt_units_max(const struct ordo_hamt *hamt, size_t elements, size_t leaves)
{
    const size_t key_bytes = hamt->fixed_depth ? 0 : hamt->dict.key_bytes;
    const size_t bitmap = hamt->fixed_depth ? HAMT_WORDS * sizeof(cl_uint) : 0;
    return elements * (key_bytes + hamt->dict.value_bytes) / HAMT_UNIT + leaves * (2 + bitmap / HAMT_UNIT);
}

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

static void drop(struct ordo_hamt *hamt, struct ordo_hamt_block *block)
{
    if (!block->mem)
        return;
    ordo_buffer_destroy(hamt->dict.dev, &block->mem);
    hamt->bytes -= block->bytes;
    block->bytes = 0;
}

static bool fits(const struct ordo_hamt_block *block, size_t bytes)
{
    return block->mem && block->bytes >= bytes && block->bytes / 2 <= bytes + 4096;
}

static ordo_status renew(struct ordo_hamt *hamt, struct ordo_hamt_block *spare, size_t bytes, bool reserve)
{
    const size_t quarter = (bytes / 4 + 4096) / HAMT_UNIT * HAMT_UNIT;

    if (fits(spare, bytes))
        return ORDO_OK;
    drop(hamt, spare);
    if (reserve && allocate(hamt, bytes + quarter, spare) == ORDO_OK)
        return ORDO_OK;
    return allocate(hamt, bytes, spare);
}

/* Moves the spare block to *out. A later allocation may free spare blocks, but not this one. */
static ordo_status take(struct ordo_hamt *hamt, struct ordo_hamt_block *spare, size_t bytes, bool reserve,
                        struct ordo_hamt_block *out)
{
    ORDO_TRY(renew(hamt, spare, bytes, reserve));
    *out = *spare;
    *spare = (struct ordo_hamt_block) { .mem = NULL };
    return ORDO_OK;
}

static size_t leaf_bytes(const struct ordo_hamt *hamt, size_t leaves)
{
    return (leaves + 1) * HAMT_RECORD(hamt->dict.key_bytes);
}

static size_t table_bytes(const struct ordo_hamt_trie *trie)
{
    return ordo_hamt_table_words(trie) * sizeof(cl_uint);
}

static cl_uint bits_over(size_t n)
{
    cl_uint bits = 0;
    while (n > (size_t) 1 << bits)
        bits++;
    return bits;
}

static void set_bits(const struct ordo_hamt *hamt, struct ordo_hamt_trie *next, size_t leaves)
{
    const cl_uint bits = bits_over(leaves);

    next->cell_bits = hamt->fixed_depth ? HAMT_HEADER_BITS : bits;
    next->rank_bits = bits > 2 ? bits - 2 : 0;
}

ordo_status ordo_hamt_make_node_block(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve)
{
    return take(hamt, &hamt->spare_tables, table_bytes(next), reserve, &next->tables);
}

ordo_status ordo_hamt_make_blocks(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, bool reserve)
{
    set_bits(hamt, next, next->n_leaves);
    ORDO_TRY(take(hamt, &hamt->spare_leaves, leaf_bytes(hamt, next->n_leaves), reserve, &next->leaves));
    return hamt->fixed_depth ? ORDO_OK : ordo_hamt_make_node_block(hamt, next, reserve);
}

ordo_status ordo_hamt_make_pool(struct ordo_hamt *hamt, struct ordo_hamt_trie *next, size_t units, bool reserve)
{
    return take(hamt, &hamt->spare_pool, units * HAMT_UNIT, reserve, &next->pool);
}

/* NVIDIA allocates a buffer when its first command is enqueued: about 120 us on an H200. */
static void prepare(struct ordo_call *call, struct ordo_hamt *hamt, struct ordo_hamt_block *spare, size_t bytes,
                    size_t slack)
{
    if (fits(spare, bytes + slack))
        return;
    drop(hamt, spare);
    if (renew(hamt, spare, bytes, true) == ORDO_OK)
        (void) ordo_call_fill(call, spare->mem, 0, sizeof(cl_uint), 0);
}

void ordo_hamt_foresee_records(struct ordo_call *call, struct ordo_hamt *hamt, size_t leaves)
{
    const size_t          records = leaf_bytes(hamt, leaves);
    struct ordo_hamt_trie next = { .n = 0 };

    prepare(call, hamt, &hamt->spare_leaves, records, records / 8);
    if (hamt->fixed_depth)
        return;
    set_bits(hamt, &next, leaves + leaves / 8);
    prepare(call, hamt, &hamt->spare_tables, table_bytes(&next), 0);
}

void ordo_hamt_foresee(struct ordo_call *call, struct ordo_hamt *hamt, size_t leaves, size_t units)
{
    const size_t bytes = units * HAMT_UNIT;

    prepare(call, hamt, &hamt->spare_pool, bytes, bytes / 16 * 3);
    ordo_hamt_foresee_records(call, hamt, leaves);
}

void ordo_hamt_give_up(struct ordo_hamt *hamt, struct ordo_hamt_trie *next)
{
    drop(hamt, &next->leaves);
    drop(hamt, &next->tables);
    if (next->pool.mem != hamt->trie.pool.mem)
        drop(hamt, &next->pool);
}

void ordo_hamt_put_back(struct ordo_hamt *hamt, struct ordo_hamt_trie *next)
{
    drop(hamt, &hamt->spare_leaves);
    drop(hamt, &hamt->spare_tables);
    hamt->spare_leaves = next->leaves;
    hamt->spare_tables = next->tables;
    next->leaves = next->tables = (struct ordo_hamt_block) { .mem = NULL };
}

void ordo_hamt_drop_spare(struct ordo_hamt *hamt)
{
    drop(hamt, &hamt->spare_leaves);
    drop(hamt, &hamt->spare_tables);
    drop(hamt, &hamt->spare_pool);
}

void ordo_hamt_release_spare(ordo_dict *dict)
{
    ordo_runs_drop_spare(&ordo_hamt_of(dict)->runs);
    ordo_hamt_drop_spare(ordo_hamt_of(dict));
}

/* Keeps the old trie's blocks for the next batch, except a pool of more than twice the new size. If the tries share
 * their pool, keeps the spare pool. NVIDIA frees a large buffer in about 110 us on an H200. */
void ordo_hamt_become(struct ordo_hamt *hamt, const struct ordo_hamt_trie *next)
{
    struct ordo_hamt_trie *old = &hamt->trie;

    note_peak(hamt);
    drop(hamt, &hamt->spare_leaves);
    drop(hamt, &hamt->spare_tables);
    if (old->pool.mem != next->pool.mem) {
        drop(hamt, &hamt->spare_pool);
        if (old->pool.bytes / 2 <= next->pool.bytes)
            hamt->spare_pool = old->pool;
        else
            drop(hamt, &old->pool);
    }
    hamt->spare_leaves = old->leaves;
    hamt->spare_tables = old->tables;
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

struct ordo_launch ordo_hamt_kernel(const struct ordo_hamt *hamt, const char *file, const char *kernel, size_t items)
{
    struct ordo_launch launch = ordo_dict_kernel(&hamt->dict, file, kernel, items);
    if (hamt->fixed_depth)
        ordo_launch_define(&launch, "HAMT_FIXED_DEPTH", 1);
    return launch;
}

struct ordo_args ordo_hamt_args(const struct ordo_hamt_trie *trie)
{
    struct ordo_args args = { .n = 0 };

    ORDO_ADD(&args, ORDO_ARG(trie->leaves.mem), ORDO_ARG(trie->tables.mem), ORDO_ARG(trie->pool.mem),
             ORDO_ARG(trie->n_leaves), ORDO_ARG(trie->n), ORDO_ARG(trie->cell_bits), ORDO_ARG(trie->rank_bits));
    return args;
}
