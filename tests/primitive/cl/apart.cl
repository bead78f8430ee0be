/* SPDX-License-Identifier: Apache-2.0 */
/* device/apart.cl, for tests/primitive/group.c: neighbouring teams take different branches and make different numbers
 * of turns. */
#include "device/apart.cl"

ORDO_KERNEL(GROUP_SIZE) void apart_turns(__global const uint *in, __global uint *out, __global volatile uint *shared)
{
    const uint i = (uint) get_global_id(0), lane = team_lane(), team = i / TEAM_WIDTH;
    uint       x = in[i];

    for (uint turn = 0; turn <= team % 4; turn++) {
        if (team % 2)
            x = apart_shuffle(x, (lane + 1) % TEAM_WIDTH) + mask_count(apart_ballot(x & 1));
        else
            x = 3 * (uint) (apart_shuffle64((ulong) x << 16, (lane + turn) % TEAM_WIDTH) >> 16) + apart_first(x) +
                apart_all(x % 8 > 0);
        shared[i] = x;
        apart_sync();
        x ^= 5 * shared[i + TEAM_WIDTH - 1 - 2 * lane];
        apart_sync();
    }
    out[i] = apart_leads() ? x : x + 1;
}
