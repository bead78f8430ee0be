/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every function of device/atomic.cl from many work-groups on the same words. host/runtime/self_test_atomics.c
 * checks the results. */
#include "device/atomic.cl"
#include "shared/self_test.h"

/* Built together: self_test_updates self_test_updates64 self_test_peeks self_test_optimistic self_test_contend
 * self_test_local_updates self_test_chain */

#ifndef GROUP_SIZE
#define GROUP_SIZE 1
#endif

/* Defines a kernel that calls the atomic functions. `words` has ATOMICS_WORDS words. Word ATOMICS_MIN must have all
 * bits set, and the others must be 0. Each work-item uses one word of `own` and ATOMICS_ANSWERS words of `answers`. */
#define UPDATES(kernel_name, word, suffix, spread, oppose)                                                             \
    ORDO_FN bool cas_add##suffix(volatile __global word *p)                                                            \
    {                                                                                                                  \
        word seen = ordo_load_relaxed##suffix(p);                                                                      \
        for (uint tries = 0; tries < ATOMICS_CAS_TRIES; tries++) {                                                     \
            const word before = ordo_cas##suffix(p, seen, seen + 1);                                                   \
            if (before == seen)                                                                                        \
                return true;                                                                                           \
            seen = before;                                                                                             \
        }                                                                                                              \
        return false;                                                                                                  \
    }                                                                                                                  \
    ORDO_KERNEL(GROUP_SIZE) void kernel_name(__global word *words, __global word *own, __global word *answers)         \
    {                                                                                                                  \
        const uint i = (uint) get_global_id(0), n = (uint) get_global_size(0);                                         \
        const word mark = oppose(atomics_mark(i));                                                                     \
        answers[ATOMICS_SEEN_ADD * n + i] = ordo_add##suffix(words + ATOMICS_ADD, spread);                             \
        (void) ordo_add##suffix(words + ATOMICS_CARRY, ATOMICS_CARRIED);                                               \
        (void) ordo_max##suffix(words + ATOMICS_MAX, mark);                                                            \
        (void) ordo_min##suffix(words + ATOMICS_MIN, mark);                                                            \
        answers[ATOMICS_SEEN_EXCHANGE * n + i] = ordo_exchange##suffix(words + ATOMICS_EXCHANGE, (i + 1) * (spread));  \
        (void) ordo_or##suffix(words + ATOMICS_OR, (word) 1 << i / 8 % (8 * sizeof(word)));                            \
        answers[ATOMICS_SEEN_CAS * n + i] = cas_add##suffix(words + ATOMICS_CAS + i % ATOMICS_CAS_WORDS);              \
        ordo_store_relaxed##suffix(own + i, mark);                                                                     \
        answers[ATOMICS_SEEN_RELAXED * n + i] = ordo_load_relaxed##suffix(own + i);                                    \
        ordo_store_release##suffix(own + i, mark + 1);                                                                 \
        answers[ATOMICS_SEEN_ACQUIRE * n + i] = ordo_load_acquire##suffix(own + i);                                    \
        answers[ATOMICS_SEEN_REFUSED * n + i] = ordo_cas##suffix(own + i, mark, 0);                                    \
        (void) ordo_cas##suffix(own + i, (mark + 1) ^ (word) 1 << (8 * sizeof(word) - 1), 0);                          \
        answers[ATOMICS_SEEN_AGREED * n + i] = ordo_cas##suffix(own + i, mark + 1, mark + 2);                          \
    }

#define AS_IT_IS(mark) (mark)
UPDATES(self_test_updates, uint, , 1u, AS_IT_IS)
#if ORDO_INT64_ATOMICS
UPDATES(self_test_updates64, ulong, 64, (ulong) ATOMICS_SPREAD64, ATOMICS_OPPOSE64)
#endif

/* Tests uncached loads and stores. Each work-item uses ATOMICS_PEEK_WORDS words of `own` and of `answers`, aligned to
 * 16 bytes. Argument `never` must be 0, but the compiler does not know this. */
ORDO_KERNEL(GROUP_SIZE) void self_test_peeks(__global uint *own, __global uint *answers, uint never)
{
    const uint           i = (uint) get_global_id(0), mark = atomics_mark(i);
    __global uint       *written = own + i * ATOMICS_PEEK_WORDS, *by_4 = written + ATOMICS_PEEK_BY_4;
    __global ulong      *by_2 = (__global ulong *) (written + ATOMICS_PEEK_BY_2);
    __global uint *const seen = answers + i * ATOMICS_PEEK_WORDS;

    ordo_store_uncached(written, mark);
    ordo_store_uncached64(by_2, ATOMICS_OPPOSE64(mark));
    ordo_store_uncached128(by_4, (uint4) (mark + 4, mark + 5, mark + 6, mark + 7));
    ordo_fence_device();
    ordo_fence_acquire();
    seen[0] = ordo_load_uncached(written + ordo_after(mark, never));
    seen[1] = written[1];
    const ulong two = ordo_load_uncached64(by_2);
    const uint4 four = ordo_load_uncached128(by_4);
    seen[2] = (uint) two;
    seen[3] = (uint) (two >> 32);
    vstore4(four, 0, seen + ATOMICS_PEEK_BY_4);
}

/* ---- words under a latch --------------------------------------------------------------------------------------- */

ORDO_FN uint optimistic_wrong(uint4 piece, uint version, uint j, uint *which)
{
    const uint is[4] = { piece.x, piece.y, piece.z, piece.w };
    uint       wrong = 0;
    for (uint k = 0; k < 4; k++)
        if (j + k != OPTIMISTIC_HEADER && is[k] != OPTIMISTIC_WORD(version, j + k)) {
            wrong++;
            *which = j + k;
        }
    return wrong;
}

ORDO_FN bool optimistic_change(__global uint *line)
{
    __global uint *header = line + OPTIMISTIC_HEADER;
    const uint     was = ordo_load_relaxed(header), version = was / 2 + 1;

    if ((was & 1) || ordo_cas(header, was, was | 1) != was)
        return false;
#if !ORDO_AFTER_ORDERS
    ordo_fence_device();
#endif
    ORDO_KEEP_LOOP
    for (uint j = 0; j < OPTIMISTIC_BY_2; j += 4)
        ordo_store_uncached128(line + j, (uint4) (OPTIMISTIC_WORD(version, j), OPTIMISTIC_WORD(version, j + 1),
                                                  OPTIMISTIC_WORD(version, j + 2), OPTIMISTIC_WORD(version, j + 3)));
    ORDO_KEEP_LOOP
    for (uint j = OPTIMISTIC_BY_2; j < OPTIMISTIC_BY_1; j += 2)
        ordo_store_uncached64((__global ulong *) (line + j),
                              OPTIMISTIC_WORD(version, j) | (ulong) OPTIMISTIC_WORD(version, j + 1) << 32);
    ORDO_KEEP_LOOP
    for (uint j = OPTIMISTIC_BY_1; j < OPTIMISTIC_WORDS; j++)
        if (j != OPTIMISTIC_HEADER)
            ordo_store_uncached(line + j, OPTIMISTIC_WORD(version, j));
    ordo_store_release(header, version * 2);
    return true;
}

ORDO_FN void optimistic_read(__global uint *line, uint never, __private uint count[OPTIMISTIC_REPORT])
{
    __global uint *header = line + OPTIMISTIC_HEADER;
#if ORDO_AFTER_ORDERS
    const uint4 last = ordo_load_uncached128(header);
    const uint  was = last.x;
    line += ordo_after(was, never);
#else
    const uint  was = ordo_load_acquire(header);
    const uint4 last = ordo_load_uncached128(header);
#endif
    uint which = 0, seen = last.y ^ last.z ^ last.w;
    uint wrong = optimistic_wrong(last, was / 2, OPTIMISTIC_HEADER, &which);

    ORDO_KEEP_LOOP
    for (uint j = 0; j < OPTIMISTIC_HEADER; j += 4) {
        uint4 piece;
        if (j < OPTIMISTIC_BY_2)
            piece = ordo_load_uncached128(line + j);
        else if (j < OPTIMISTIC_BY_1)
            piece = as_uint4((ulong2) (ordo_load_uncached64((__global const ulong *) (line + j)),
                                       ordo_load_uncached64((__global const ulong *) (line + j + 2))));
        else
            piece = (uint4) (ordo_load_uncached(line + j), ordo_load_uncached(line + j + 1),
                             ordo_load_uncached(line + j + 2), ordo_load_uncached(line + j + 3));
        seen ^= piece.x ^ piece.y ^ piece.z ^ piece.w;
        wrong += optimistic_wrong(piece, was / 2, j, &which);
    }
#if ORDO_AFTER_ORDERS
    const uint again = ordo_load_relaxed(header + ordo_after(seen, never));
#else
    (void) seen;
    ordo_fence_acquire();
    const uint again = ordo_load_relaxed(header);
#endif
    if ((was & 1) || again != was) {
        count[OPTIMISTIC_TORN] += wrong > 0 && !(was & 1);
        return;
    }
    count[OPTIMISTIC_GOOD] += wrong == 0;
    count[OPTIMISTIC_BAD] += wrong > 0;
    if (wrong > 0) {
        count[OPTIMISTIC_BAD_WORD] = which;
        count[OPTIMISTIC_BAD_VERSION] = was / 2;
    }
}

/* Work-items read lines without a lock, while others change them. Counts reads with wrong words. Each line has
 * OPTIMISTIC_WORDS words, and must have version 0 at first. */
ORDO_KERNEL(GROUP_SIZE) void self_test_optimistic(__global uint *lines, __global uint *report, uint n_lines, uint never)
{
    const uint i = (uint) get_global_id(0);
    uint       count[OPTIMISTIC_REPORT] = { 0 };

    for (uint round = 0; round < OPTIMISTIC_ROUNDS; round++) {
        __global uint *line = lines + (ulong) ((i + round * 7) % n_lines) * OPTIMISTIC_WORDS;
        if ((i + round) % 4 == 0)
            count[OPTIMISTIC_CHANGES] += optimistic_change(line);
        else
            optimistic_read(line, never, count);
    }
    for (uint word = OPTIMISTIC_CHANGES; word <= OPTIMISTIC_BAD; word++)
        if (count[word])
            (void) ordo_add(report + word, count[word]);
    if (count[OPTIMISTIC_BAD]) {
        (void) ordo_exchange(report + OPTIMISTIC_BAD_WORD, count[OPTIMISTIC_BAD_WORD]);
        (void) ordo_exchange(report + OPTIMISTIC_BAD_VERSION, count[OPTIMISTIC_BAD_VERSION]);
    }
}

/* ---- contention -------------------------------------------------------------------------------------------------- */

/* Adds `step` to *p, CONTEND_BURST times. Adds the number of these additions to *balance. Returns how often another
 * work-item changed *p between two additions. */
#define BURST_OF_ADDITIONS(name, word, suffix, step)                                                                   \
    ORDO_FN uint name(volatile __global word *p, uint *balance)                                                        \
    {                                                                                                                  \
        uint met = 0;                                                                                                  \
        word own = 0;                                                                                                  \
        ORDO_KEEP_LOOP                                                                                                 \
        for (uint k = 0; k < CONTEND_BURST; k++) {                                                                     \
            const word before = ordo_add##suffix(p, step);                                                             \
            met += k > 0 && before != own;                                                                             \
            own = before + (step);                                                                                     \
        }                                                                                                              \
        *balance += CONTEND_BURST;                                                                                     \
        return met;                                                                                                    \
    }

BURST_OF_ADDITIONS(burst_of_additions, uint, , 1u)

ORDO_FN uint burst_of_swaps(volatile __global uint *p, uint *balance)
{
    uint met = 0, own = 0;
    ORDO_KEEP_LOOP
    for (uint k = 0; k < CONTEND_BURST; k++) {
        const uint before = ordo_load_relaxed(p), swapped = ordo_cas(p, before, before + 1) == before;
        met += k > 0 && before != own;
        own = before + swapped;
        *balance += swapped;
    }
    return met;
}

ORDO_FN uint burst_of_exchanges(volatile __global uint *p, uint first, uint *balance)
{
    uint met = 0;
    ORDO_KEEP_LOOP
    for (uint k = 0; k < CONTEND_BURST; k++) {
        const uint before = ordo_exchange(p, first + k);
        met += k > 0 && before != first + k - 1;
        *balance += first + k - before;
    }
    return met;
}

#if ORDO_INT64_ATOMICS
BURST_OF_ADDITIONS(burst_of_additions64, ulong, 64, (ulong) CONTEND_STEP64)

/* Stores and loads one 64-bit word. Returns how often another work-item changed it. Adds to *balance the number of
 * loads that return halves of two stores. */
ORDO_FN uint burst_of_stores64(volatile __global ulong *p, uint own, uint *balance)
{
    uint met = 0;
    ORDO_KEEP_LOOP
    for (uint k = 0; k < CONTEND_BURST; k++) {
        if (k % CONTEND_LOADS == 0)
            ordo_store_relaxed64(p, CONTEND_WHOLE64(own));
        const ulong whole = ordo_load_relaxed64(p);
        met += whole != CONTEND_WHOLE64(own);
        *balance += !CONTEND_IS_WHOLE64(whole);
    }
    return met;
}
#endif

/* Runs one test for each value of enum contend_kind. Each work-item counts the changes that others make between two of
 * its accesses. A test ends when these counts sum to `enough` or more, or after `rounds` loops. `words` (CONTEND_WORDS
 * words) and `words64` (CONTEND_WORDS64 words) must be 0. `balances` has CONTEND_KINDS words per work-item. */
ORDO_KERNEL(GROUP_SIZE)
void self_test_contend(__global uint *words, __global ulong *words64, __global uint *balances, uint rounds, uint enough)
{
    const uint i = (uint) get_global_id(0), n = (uint) get_global_size(0);
    uint       balance[CONTEND_KINDS] = { 0 };

#define BURST(kind, burst)                                                                                             \
    if (ordo_load_relaxed(words + CONTEND_MET + (kind)) < enough) {                                                    \
        const uint met = (burst);                                                                                      \
        running = true;                                                                                                \
        if (met > 0)                                                                                                   \
            (void) ordo_add(words + CONTEND_MET + (kind), met);                                                        \
    }
    bool running = true;
    for (uint round = 0; running && round < rounds; round++) {
        running = false;
        BURST(CONTEND_ADD, burst_of_additions(words + CONTEND_ADD, balance + CONTEND_ADD))
        BURST(CONTEND_CAS, burst_of_swaps(words + CONTEND_CAS, balance + CONTEND_CAS))
        BURST(CONTEND_EXCHANGE, burst_of_exchanges(words + CONTEND_EXCHANGE, (i * rounds + round) * CONTEND_BURST,
                                                   balance + CONTEND_EXCHANGE))
#if ORDO_INT64_ATOMICS
        BURST(CONTEND_ADD64, burst_of_additions64(words64 + CONTEND_WORD_ADD64, balance + CONTEND_ADD64))
        BURST(CONTEND_STORE64, burst_of_stores64(words64 + CONTEND_WORD_STORE64, i + 1, balance + CONTEND_STORE64))
#endif
    }
    for (uint kind = 0; kind < CONTEND_KINDS; kind++)
        balances[kind * n + i] = balance[kind];
}

/* `outcome` has ATOMICS_LOCALS words per group. */
ORDO_KERNEL(GROUP_SIZE) void self_test_local_updates(__global uint *outcome)
{
    __local uint words[ATOMICS_LOCALS];
    const uint   lid = (uint) get_local_id(0);

    if (lid == 0)
        for (uint w = 0; w < ATOMICS_LOCALS; w++)
            words[w] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    (void) ordo_local_add(words + ATOMICS_LOCAL_ADD, lid + 1);
    (void) ordo_local_max(words + ATOMICS_LOCAL_MAX, atomics_mark((uint) get_global_id(0)));
    (void) ordo_local_or(words + ATOMICS_LOCAL_OR, 1u << lid % 32);
    (void) ordo_local_add(words + ATOMICS_LOCAL_TAKEN, ordo_local_add(words + ATOMICS_LOCAL_TAKE, 1));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0)
        for (uint w = 0; w < ATOMICS_LOCALS; w++)
            outcome[(uint) get_group_id(0) * ATOMICS_LOCALS + w] = words[w];
}

ORDO_FN void publish_turn(volatile __global uint *report, uint turn)
{
    if (turn % 2) {
        ordo_fence_device();
        ordo_store_relaxed(report + CHAIN_TURN, turn);
    } else {
        ordo_store_release(report + CHAIN_TURN, turn);
    }
}

ORDO_FN uint load_turn(volatile __global uint *report, uint awaited)
{
    if (awaited % 4 < 2)
        return ordo_load_acquire(report + CHAIN_TURN);
    const uint turn = ordo_load_relaxed(report + CHAIN_TURN);
    ordo_fence_device();
    return turn;
}

ORDO_FN bool await_turn(volatile __global uint *report, uint ticket)
{
    for (uint look = 0; look < CHAIN_PATIENCE; look++) {
        if (load_turn(report, ticket) == ticket)
            return true;
        if (ordo_load_relaxed(report + CHAIN_STOPPED))
            return false;
        ordo_pause();
    }
    ordo_store_relaxed(report + CHAIN_STOPPED, 1);
    return false;
}

/* Waits until bit `flag`, the highest bit, is 1 in sums[ticket - 1]. Then sets sums[ticket] to sums[ticket - 1] +
 * ticket + 1. Returns false after a timeout. One work-item per ticket must call. */
#define PASS_SUM(name, word, suffix, flag)                                                                             \
    ORDO_FN bool name(volatile __global uint *report, volatile __global word *sums, uint ticket)                       \
    {                                                                                                                  \
        word before = ticket == 0 ? (flag) : 0;                                                                        \
        for (uint look = 0; !(before & (flag)); look++) {                                                              \
            if (look == CHAIN_PATIENCE) {                                                                              \
                ordo_store_relaxed(report + CHAIN_STOPPED, 1);                                                         \
                return false;                                                                                          \
            }                                                                                                          \
            if (ordo_load_relaxed(report + CHAIN_STOPPED))                                                             \
                return false;                                                                                          \
            ordo_pause();                                                                                              \
            before = ordo_load_relaxed##suffix(sums + ticket - 1);                                                     \
        }                                                                                                              \
        ordo_store_relaxed##suffix(sums + ticket, before + ticket + 1);                                                \
        return true;                                                                                                   \
    }

PASS_SUM(pass_sum, uint, , CHAIN_FLAG)
#if ORDO_INT64_ATOMICS
PASS_SUM(pass_sum64, ulong, 64, CHAIN_FLAG64)
#endif

/* Tools that detect data races do not know release stores. Builds for such tools (ORDO_CHECKED) use uncached
 * accesses. */
#if ORDO_CHECKED
#define PAYLOAD(p)        ordo_load_uncached(p)
#define SET_PAYLOAD(p, x) ordo_store_uncached((p), (x))
#else
#define PAYLOAD(p)        (*(p))
#define SET_PAYLOAD(p, x) (*(p) = (x))
#endif

ORDO_FN void replace_payload(__global uint *payload, volatile __global uint *report, uint ticket)
{
    for (uint j = (uint) get_local_id(0); j < CHAIN_PAYLOAD; j += GROUP_SIZE) {
        const uint want = CHAIN_PAYLOAD_AFTER(ticket - 1, j), got = PAYLOAD(payload + j);
        if (got != want && ordo_add(report + CHAIN_STALE, 1) == 0) {
            ordo_store_relaxed(report + CHAIN_STALE_GROUP, ticket);
            ordo_store_relaxed(report + CHAIN_STALE_GOT, got);
            ordo_store_relaxed(report + CHAIN_STALE_WANT, want);
        }
        SET_PAYLOAD(payload + j, CHAIN_PAYLOAD_AFTER(ticket, j));
    }
}

/* Tests memory order in a chain of work-groups. The device must run a started group until it ends, even while other
 * groups wait. `report`, `sums` and `sums64` must be 0 before. Word j of `payload` must be
 * CHAIN_PAYLOAD_AFTER(-1, j). */
ORDO_KERNEL(GROUP_SIZE)
void self_test_chain(__global uint *report, __global uint *payload, __global uint *sums, __global ulong *sums64)
{
    __local struct {
        uint ticket, comes;
    } turn;
    const uint lid = (uint) get_local_id(0);

    if (lid == 0) {
        const uint ticket = ordo_add(report + CHAIN_TICKET, 1);
        bool       comes = pass_sum(report, sums, ticket);
#if ORDO_INT64_ATOMICS
        comes = comes && pass_sum64(report, sums64, ticket);
#endif
        turn.ticket = ticket;
        turn.comes = comes && await_turn(report, ticket);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (turn.comes)
        replace_payload(payload, report, turn.ticket);
    ordo_barrier_release(); /* for publish_turn */
    if (lid == 0 && turn.comes)
        publish_turn(report, turn.ticket + 1);
}
