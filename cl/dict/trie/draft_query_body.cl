/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "dict/trie/draft_query.cl"

ORDO_FN bool draft_seek(const draft_trie *t, uint code, ordo_key_form key, const draft_output *out, ulong at)
{
    const bool forward = CODE_SEEKS_UP(code);
    const uint rank = draft_rank(t, key, code == CODE_SEEK_LE || code == CODE_SEEK_GT);
    if (forward ? rank == draft_size(t) : rank == 0)
        return false;
    draft_copy(t, forward ? rank : rank - 1, 1, out, at);
    return true;
}

ORDO_FN uint draft_scan(const draft_trie *t, const draft_queries *q, uint i, uint code, ordo_key_form key)
{
    const ordo_key_form last = key_bits(q->hi[i]);
    const uint          below = draft_rank(t, key, false);
    const uint          all = key <= last ? draft_rank(t, last, true) - below : 0;
    if (q->counts)
        q->counts[i] = all;
    if (code != CODE_RANGE)
        return OUTCOME_DONE;
    const ulong end = min(q->rooms[i + 1], q->range_capacity), begin = min(q->rooms[i], end);
    draft_copy(t, below, (uint) min((ulong) all, end - begin), &q->range, begin);
    return all > end - begin ? OUTCOME_CUT_SHORT : OUTCOME_DONE;
}

ORDO_FN void draft_answer_queries(const draft_trie *t, const draft_queries *q)
{
    RUN_EACH (uint, i, q->n) {
        const uint code = q->codes[i];
        uint       outcome = OUTCOME_DONE;
        if (code <= CODE_ERASE || code >= N_CONCURRENT_CODES)
            continue;
        const ordo_key_form key = key_bits(q->keys[i]);
        if (code >= CODE_COUNT) {
            outcome = draft_scan(t, q, i, code, key);
        } else {
            const bool there = draft_seek(t, code, key, &q->out, i);
            if (q->found)
                q->found[i] = there;
        }
        if (q->outcomes)
            q->outcomes[i] = (uchar) outcome;
    }
}
