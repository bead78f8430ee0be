/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches of a hash table: what operations on single keys return, and what they come to, partition by partition. The batch was parted in
 * its order, so of equal keys, which are in one partition, an operation that comes later has a greater number.
 *
 *   hash_resolve    results, and what is left to store
 *
 * Operations on one key are a chain. Each finds for itself what it needs of those before it: the last upsert or erasure, and the
 * first insert since.
 *
 * The host gives ORDO_KEY, ORDO_VALUE_BYTES, HASH_GROUP.
 */
#pragma once
#include "device/atomic.cl"
#include "dict/codes.cl"
#include "dict/hash/part.cl"

/* Places of the table that finds equal keys: more than operations. */
#define HASH_CHAINS (HASH_RESOLVE_MOST + HASH_RESOLVE_MOST / 2)

typedef struct {
    uint   places[HASH_CHAINS];      /* the first to come of each chain, by number, + 1 */
    uint   next[HASH_RESOLVE_MOST];  /* of its chain, by number, + 1; 0: the last */
    ushort chain[HASH_RESOLVE_MOST]; /* the first to come of its chain */
    uchar  codes[HASH_RESOLVE_MOST];
    uint   stored, gone;
} hash_chains;
ORDO_STATIC_ASSERT(sizeof(hash_chains) <= HASH_LOCAL_MOST, "a device of little local memory has the room");

/* Ends with a barrier. */
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
        uint           at = hash_share(hash_again(mixed) * 0x9e3779b1u, places), first = u;
        for (uint tries = 0; tries < places; tries++) {
            const uint was = atomic_cmpxchg(&mem->places[at], 0u, u + 1);
            first = was ? was - 1 : u;
            if (!was || part->mixed[first] == mixed)
                break;
            at = at + 1 == places ? 0 : at + 1;
        }
        mem->chain[u] = (ushort) first;
        if (first != u)
            mem->next[u] = atomic_xchg(&mem->next[first], u + 1);
    }
    hash_barrier();
}

/* What an operation sees of those before it on its key: numbers, or HASH_NONE. */
typedef struct {
    uint set;    /* the last upsert or erasure */
    uint insert; /* the first insert since */
    bool last;   /* none comes after it */
} hash_before;

#define HASH_EACH_LINK(v, mem, u)                                                                                      \
    for (uint v = (mem)->chain[u] + 1u, v##_left = HASH_RESOLVE_MOST; v && v##_left; v = (mem)->next[v - 1], v##_left--)

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

/* A key's state: HASH_ERASED, it is not there; HASH_LEFT, as before the batch; else with the value of that operation of the batch. */
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

/* Whether the batch is one for hash_resolve: only points, values for what is stored, and no partition with too many. */
ORDO_FN bool hash_can_resolve(__global const uint *found, bool has_values)
{
    const uint codes = found[HASH_CODES];
    bool       can = codes >> CODE_SEEK_LT == 0 && found[HASH_LARGEST] <= HASH_RESOLVE_MOST;
#if ORDO_VALUE_BYTES
    can = can && (has_values || !(codes & (1u << CODE_UPSERT | 1u << CODE_INSERT)));
#else
    (void) has_values;
#endif
    return can;
}

/* The batch's values are by index. found_out and values_out may be NULL. left[u]: what operation u leaves to be stored, as HASH_RESOLVED
 * says. found: HASH_LACKS, 1 if a partition has not the room for that. Does nothing if there is anything that it cannot do. */
ORDO_KERNEL(HASH_GROUP)
void hash_resolve(HASH_TABLE, HASH_BATCH, __global const uchar *codes, ulong codes_at, __global uint *left,
                  __global uchar *found_out, ulong found_out_at, __global hash_value *values_out, ulong values_out_at,
                  __global uint *found)
{
    __local hash_chains mem;
    const hash_table    table = HASH_TABLE_HERE;
    if (!hash_can_resolve(found, batch_values != 0))
        return;
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
                atomic_inc(&mem.gone);
            else if (changes && !there)
                atomic_inc(&mem.stored);
        }
        hash_barrier();
        if (get_local_id(0) == 0 && mem.stored > mem.gone &&
            table.counts[p] + mem.stored - mem.gone > HASH_LIMIT(part.buckets))
            ordo_or(&found[HASH_LACKS], 1u);
        hash_barrier();
    }
}
