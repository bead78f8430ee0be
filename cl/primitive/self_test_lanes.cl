/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every function of device/team.cl, runs a long loop, and tests barriers. host/runtime/self_test.c checks the
 * results. */
#include "device/team.cl"
#include "shared/self_test.h"

/* Built together: self_test_loop self_test_phases self_test_lanes */

#ifndef GROUP_SIZE
#define GROUP_SIZE (2 * ORDO_SUBGROUP)
#endif

typedef struct {
    uint            x;
    ulong           wide;
    uint            n, i;
    __global ulong *answers;
} subject;

ORDO_FN void answer(__private const subject *s, enum lanes_answer which, ulong value)
{
    s->answers[(ulong) which * s->n + s->i] = value;
}

/* The loop makes lanes finish at different times. */
ORDO_FN ulong spread(uint x)
{
    ulong wide = (ulong) x + 1;
    for (uint round = 0; round < LANES_ROUNDS(x); round++)
        wide ^= (ulong) round << 63;
    wide &= ~((ulong) 1 << 63);
    return wide * LANES_MIX;
}

ORDO_FN void test_numbers(__private const subject *s)
{
    answer(s, LANES_LANE, team_lane());
    answer(s, LANES_INDEX, team_index());
    answer(s, LANES_LANES_BELOW, team_lanes_below());
}

ORDO_FN void test_votes(__private const subject *s)
{
    const bool      holds = LANES_HOLDS(s->x);
    const team_mask lanes = team_ballot(holds);
    const team_mask some = lanes | (team_mask) 1 << team_lane();
    answer(s, LANES_BALLOT, lanes);
    answer(s, LANES_ANY, team_any(holds));
    answer(s, LANES_ALL, team_all(holds));
    answer(s, LANES_MASK_COUNT, mask_count(some));
    answer(s, LANES_FIRST_LANE, first_lane(some));
    answer(s, LANES_LAST_LANE, last_lane(some));
}

ORDO_FN void test_common_loop(__private const subject *s)
{
    uint left = LANES_ROUNDS(s->x), rounds = 0;
    while (subgroup_any(left > 0)) {
        left = left > 0 ? left - 1 : 0;
        rounds++;
    }
    answer(s, LANES_SUBGROUP_ANY, rounds);
}

ORDO_FN void test_shuffles(__private const subject *s)
{
    const uint pick = LANES_PICK(s->x) % TEAM_WIDTH;
    ulong      crossed = 0, crossed64 = 0, raised = 0, raised64 = 0;
    for (uint by = 1; by < TEAM_WIDTH; by++) {
        crossed = LANES_JOIN(crossed, team_shuffle_xor(s->x, by));
        crossed64 = LANES_JOIN(crossed64, team_shuffle_xor64(s->wide, by));
        raised = LANES_JOIN(raised, team_shuffle_up(s->x, by));
        raised64 = LANES_JOIN(raised64, team_shuffle_up64(s->wide, by));
    }
    answer(s, LANES_SHUFFLE, team_shuffle(s->x, pick));
    answer(s, LANES_SHUFFLE64, team_shuffle64(s->wide, pick));
    answer(s, LANES_SHUFFLE_XOR, crossed);
    answer(s, LANES_SHUFFLE_XOR64, crossed64);
    answer(s, LANES_SHUFFLE_UP, raised);
    answer(s, LANES_SHUFFLE_UP64, raised64);
    answer(s, LANES_BCAST, team_bcast(s->x, team_index() % (TEAM_WIDTH + 1)));
    answer(s, LANES_BCAST64, team_bcast64(s->wide, team_index() % (TEAM_WIDTH + 1)));
}

ORDO_FN void test_scans(__private const subject *s)
{
    answer(s, LANES_SCAN_INCLUSIVE, team_scan_inclusive_add(s->x));
    answer(s, LANES_SCAN_INCLUSIVE64, team_scan_inclusive_add64(s->wide));
    answer(s, LANES_SCAN_EXCLUSIVE, team_scan_exclusive_add(s->x));
    answer(s, LANES_SCAN_EXCLUSIVE64, team_scan_exclusive_add64(s->wide));
    answer(s, LANES_REDUCE_ADD, team_reduce_add(s->x));
    answer(s, LANES_REDUCE_ADD64, team_reduce_add64(s->wide));
    answer(s, LANES_REDUCE_MAX, team_reduce_max(s->x));
    answer(s, LANES_REDUCE_MAX64, team_reduce_max64(s->wide));
}

ORDO_FN void test_match(__private const subject *s)
{
    answer(s, LANES_MATCH0, team_match(LANES_DIGIT(s->x), 0));
    answer(s, LANES_MATCH2, team_match(LANES_DIGIT(s->x), 2));
    answer(s, LANES_MATCH8, team_match(LANES_DIGIT(s->x), 8));
}

ORDO_FN void test_sync(__private const subject *s, __local uint *box)
{
    const uint own = (uint) get_local_id(0), lane = own % ORDO_SUBGROUP;
    ulong      sum = 0;
    for (uint round = 0; round < LANES_SYNC_ROUNDS; round++) {
        box[own] = s->x + round;
        team_sync();
        sum = LANES_JOIN(sum, box[own - lane + (lane + 1 + round) % ORDO_SUBGROUP]);
        team_sync();
    }
    answer(s, LANES_SYNC, sum);
}

ORDO_FN void test_turns(__private const subject *s)
{
    ulong own = 0, all = 0;
    uint  turn = 0;
    TEAM_FOR_EACH (owner, LANES_HOLDS(s->x)) {
        const uint item = team_bcast(s->x, owner);
        turn++;
        if (owner != TEAM_WIDTH)
            all = LANES_JOIN(all, item);
        if (team_lane() == owner)
            own = (ulong) turn << 32 | item;
    }
    answer(s, LANES_TURN, own);
    answer(s, LANES_TURNS, all);
}

ORDO_KERNEL(GROUP_SIZE) void self_test_lanes(__global const uint *words, __global ulong *answers)
{
    __local uint  box[GROUP_SIZE];
    const uint    i = (uint) get_global_id(0);
    const subject s = { words[i], spread(words[i]), (uint) get_global_size(0), i, answers };

    test_numbers(&s);
    test_votes(&s);
    test_common_loop(&s);
    test_shuffles(&s);
    test_scans(&s);
    test_match(&s);
    test_sync(&s, box);
    test_turns(&s);
}

ORDO_KERNEL(GROUP_SIZE) void self_test_loop(__global uint *sums, uint rounds)
{
    uint sum = 0;
    for (uint round = 0; round < rounds; round++)
        sum = LOOP_ROUND(sum);
    sums[get_global_id(0)] = sum;
}

ORDO_FN void phases_barrier(void)
{
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* For each k below PHASES_KEYS, words[k] becomes the least words[i] with i % PHASES_KEYS == k. Without the last
 * barrier, PoCL 6.0 omits the last loop. */
ORDO_FN void phases_fold(__global uint *words, __local uint *greatest, uint n)
{
    const uint lid = (uint) get_local_id(0);

    for (uint i = lid; i < PHASES_KEYS; i += GROUP_SIZE)
        greatest[i] = 0;
    phases_barrier();
    for (uint i = lid; i < n; i += GROUP_SIZE)
        (void) atomic_max(&greatest[i % PHASES_KEYS], ~words[i]);
    phases_barrier();
    for (uint i = lid; i < n; i += GROUP_SIZE)
        if (i < PHASES_KEYS)
            words[i] = greatest[i];
    phases_barrier();
    for (uint i = lid; i < n; i += GROUP_SIZE)
        if (i < PHASES_KEYS)
            words[i] = ~words[i];
    phases_barrier();
}

/* `words` has `parts` arrays of PHASES_WORDS words. */
ORDO_KERNEL(GROUP_SIZE) void self_test_phases(__global uint *words, uint parts, uint n)
{
    __local uint greatest[PHASES_KEYS];
    for (uint p = 0; p < parts; p++) {
        __global uint *part = words + p * PHASES_WORDS;
        phases_fold(part, greatest, n);
        for (uint i = (uint) get_local_id(0); i < n; i += GROUP_SIZE)
            if (i >= PHASES_KEYS)
                part[i] = part[i % PHASES_KEYS];
        phases_barrier();
    }
}
