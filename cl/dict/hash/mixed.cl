/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a mixed batch of operations on single keys. Computes the results, and one update for each changed key. The
 * batch must be sorted by partition, with equal keys in the caller's order. */
#pragma once
#include "dict/codes.cl"
#include "dict/hash/batch.cl"

#define HASH_CHAINS (HASH_MIXED_MAX + HASH_MIXED_MAX / 2)

/* A chain is a list of the operations on one key, in any order. */
typedef struct {
    uint   places[HASH_CHAINS]; /* a hash table: index of a chain's first operation plus 1, or 0 if unused */
    uint   next[HASH_MIXED_MAX];
    ushort chain[HASH_MIXED_MAX];
    uchar  codes[HASH_MIXED_MAX];
    uint   stored, gone;
} hash_chains;
ORDO_STATIC_ASSERT(sizeof(hash_chains) <= HASH_LOCAL_MAX, "small devices have the local memory");

ORDO_FN void hash_link(const hash_part *part, __global const uchar *codes, __local hash_chains *mem)
{
    const uint places = min((uint) HASH_CHAINS, 2 * part->n + 32);
    HASH_EACH (i, places)
        mem->places[i] = 0;
    HASH_EACH (u, part->n) {
        mem->next[u] = 0;
        mem->codes[u] = codes[part->index[u]];
    }
    if (get_local_id(0) == 0)
        mem->stored = mem->gone = 0;
    hash_barrier();
    HASH_EACH (u, part->n) {
        const ordo_key mixed = part->mixed[u];
        uint           at = hash_first_place(mixed, places), first = u;
        for (uint tries = 0; tries < places; tries++) {
            const uint was = hash_cas(&mem->places[at], 0u, u + 1);
            first = was ? was - 1 : u;
            if (!was || key_same(part->mixed[first], mixed))
                break;
            at = at + 1 == places ? 0 : at + 1;
        }
        mem->chain[u] = (ushort) first;
        if (first != u)
            mem->next[u] = atomic_xchg(&mem->next[first], u + 1);
    }
    hash_barrier();
}

/* Describes the other operations on the key of operation u. An index is HASH_NONE if no such operation exists. */
typedef struct {
    uint set;    /* last upsert or erasure before u */
    uint insert; /* first insert before u, and after operation `set` if `set` is not HASH_NONE */
    bool last;
} hash_before;

#define HASH_EACH_LINK(v, mem, u)                                                                                      \
    for (uint v = (mem)->chain[u] + 1u, v##_left = HASH_MIXED_MAX; v && v##_left; v = (mem)->next[v - 1], v##_left--)

ORDO_FN hash_before hash_look_back(const __local hash_chains *mem, uint u)
{
    hash_before before = { HASH_NONE, HASH_NONE, true };
    HASH_EACH_LINK(link, mem, u)
    {
        const uint v = link - 1, code = mem->codes[v];
        before.last = before.last && v <= u;
        if (v < u && (code == CODE_UPSERT || code == CODE_ERASE) && (before.set == HASH_NONE || v > before.set))
            before.set = v;
    }
    HASH_EACH_LINK(link, mem, u)
    {
        const uint v = link - 1;
        if (v < u && mem->codes[v] == CODE_INSERT && (before.set == HASH_NONE || v > before.set))
            before.insert = min(before.insert, v);
    }
    return before;
}

/* Returns HASH_ERASED if the key is absent before the operation. Returns HASH_LEFT if the key still has its value from
 * the table. Otherwise returns the index of the operation that wrote the key's value. */
ORDO_FN uint hash_state_before(const hash_part *part, const __local hash_chains *mem, const hash_before *before,
                               bool there)
{
    const uint set = before->set, code = set == HASH_NONE ? CODE_FIND : mem->codes[set];
    if (code == CODE_UPSERT)
        return part->index[set];
    if (code != CODE_ERASE && there)
        return HASH_LEFT;
    return before->insert == HASH_NONE ? HASH_ERASED : part->index[before->insert];
}

ORDO_FN uint hash_state_after(uint code, uint before, uint i)
{
    if (code == CODE_ERASE)
        return HASH_ERASED;
    return code == CODE_UPSERT || (code == CODE_INSERT && before == HASH_ERASED) ? i : before;
}

ORDO_FN bool hash_can_do(__global const uint *found, bool has_values)
{
    const uint codes = found[HASH_CODES];
    const bool needs_values = ORDO_VALUE_BYTES > 0 && (codes & (1u << CODE_UPSERT | 1u << CODE_INSERT));
    return codes >> CODE_SEEK_LT == 0 && found[HASH_LARGEST] <= HASH_MIXED_MAX && (has_values || !needs_values);
}

/* Sets left[u] for each operation u:
 *
 *   HASH_ERASED   Operation u is the last one on its key. The batch erases this key.
 *   an index      Operation u is the last one on its key. The key gets the value of the operation with this index.
 *   HASH_LEFT     Any other operation. */
ORDO_KERNEL(HASH_GROUP)
void hash_mixed(HASH_TABLE, HASH_BATCH, __global const uchar *codes, ulong codes_at, __global uint *left,
                __global uchar *found_out, ulong found_out_at, __global hash_value *values_out, ulong values_out_at,
                __global uint *found)
{
    __local hash_chains mem;
    const hash_table    table = HASH_TABLE_HERE;
    if (!hash_can_do(found, batch_values != 0)) {
        if (get_global_id(0) == 0)
            ordo_or(&found[HASH_REFUSED], 1u);
        return;
    }
    HASH_PARTITIONS (p, table) {
        HASH_PART_HERE(part, table, p)
        if (part.n == 0)
            continue;
        hash_link(&part, codes + codes_at, &mem);
        HASH_EACH (u, part.n) {
            const uint        i = part.index[u], code = mem.codes[u];
            const hash_before before = hash_look_back(&mem, u);
            hash_place        place = { 0, HASH_NONE };
            if (part.buckets)
                place = hash_look(&table, part.start, part.buckets, part.mixed[u]);
            const bool there = place.slot != HASH_NONE;
            const uint state = hash_state_before(&part, &mem, &before, there);
            const uint after = hash_state_after(code, state, i);
            if (found_out)
                found_out[found_out_at + i] = state != HASH_ERASED;
#if ORDO_VALUE_BYTES
            if (values_out && code == CODE_FIND && state != HASH_ERASED)
                values_out[values_out_at + i] =
                    state == HASH_LEFT ? hash_values(&table, place.bucket)[place.slot] : part.values[state];
#endif
            const bool changes = before.last && after != (there ? HASH_LEFT : HASH_ERASED);
            left[part.first + u] = changes ? after : HASH_LEFT;
            if (changes && after == HASH_ERASED)
                hash_add(&mem.gone, 1u);
            else if (changes && !there)
                hash_add(&mem.stored, 1u);
        }
        hash_barrier();
        if (get_local_id(0) == 0 && mem.stored > mem.gone &&
            table.counts[p] + mem.stored - mem.gone > HASH_LIMIT(part.buckets))
            ordo_or(&found[HASH_REFUSED], 1u);
        hash_barrier();
    }
}
