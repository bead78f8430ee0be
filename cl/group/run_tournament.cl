/* SPDX-License-Identifier: Apache-2.0 */
/* Merges up to 16 sorted runs in one work-item, by a tournament tree. */
#pragma once
#include "group/run_cuts.cl"

/* A head is the key of a run's next element, with the run's number. Heads sort by key, then by run. A run without
 * further elements has the greatest head. */
#if KEY_BITS == 32
typedef ulong     runs_head;
ORDO_FN runs_head runs_head_of(ordo_key_form key, uint r)
{
    return upsample(key, r);
}
ORDO_FN runs_head runs_exhausted(void)
{
    return ~0UL;
}
ORDO_FN ordo_key_form runs_head_key(runs_head head)
{
    return (uint) (head >> 32);
}
ORDO_FN uint runs_head_run(runs_head head)
{
    return (uint) head;
}
ORDO_FN void runs_play(__private runs_head *winner, __private runs_head *loser)
{
    const runs_head a = *winner, b = *loser;
    *winner = min(a, b);
    *loser = max(a, b);
}
#else
typedef struct {
    ordo_key_form key;
    uint          run;
} runs_head;
ORDO_FN runs_head runs_head_of(ordo_key_form key, uint r)
{
    const runs_head head = { key, r };
    return head;
}
ORDO_FN runs_head runs_exhausted(void)
{
    return runs_head_of(KEY_GREATEST, RUN_TABLE_MAX);
}
ORDO_FN ordo_key_form runs_head_key(runs_head head)
{
    return head.key;
}
ORDO_FN uint runs_head_run(runs_head head)
{
    return head.run;
}
ORDO_FN void runs_play(__private runs_head *winner, __private runs_head *loser)
{
    const ordo_key_form a_key = winner->key, b_key = loser->key;
    const uint          a_run = winner->run, b_run = loser->run;
    const bool          stays = (int) key_before(a_key, b_key) | ((int) key_same(a_key, b_key) & (a_run < b_run));
    winner->key = stays ? a_key : b_key;
    winner->run = stays ? a_run : b_run;
    loser->key = stays ? b_key : a_key;
    loser->run = stays ? b_run : a_run;
}
#endif

/* A binary tree whose leaves are the heads of the runs. Node n has the children 2n and 2n + 1. At each node two heads
 * meet: the lesser moves up, and loser[n] keeps the greater. `winner` is the least head of all. Knuth, The Art of
 * Computer Programming 3, 5.4.1. */
typedef struct {
    runs_head winner, loser[RUN_TABLE_MAX];
    uint      at[RUN_TABLE_MAX], end[RUN_TABLE_MAX];
    runs_keys key_of[RUN_TABLE_MAX];
} runs_tournament;

ORDO_FN runs_head runs_next(__private const runs_tournament *t, uint r)
{
    return t->at[r] < t->end[r] ? runs_head_of(key_bits(t->key_of[r][t->at[r]]), r) : runs_exhausted();
}

ORDO_FN void runs_begin_tournament(__private runs_tournament *t, uint n_leaves)
{
    runs_head winner[2 * RUN_TABLE_MAX];
    for (uint r = 0; r < n_leaves; r++)
        winner[n_leaves + r] = runs_next(t, r);
    for (uint node = n_leaves - 1; node > 0; node--) {
        winner[node] = winner[2 * node];
        t->loser[node] = winner[2 * node + 1];
        runs_play(&winner[node], &t->loser[node]);
    }
    t->winner = winner[1];
}
