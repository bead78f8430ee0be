/* SPDX-License-Identifier: Apache-2.0 */
/* group/last_group.cl, for tests/primitive/group.c. */
#include "group/last_group.cl"

/* Each work-item stores one word, and adds to a word that it shares with the other groups. found[0] counts the groups
 * that have finished, found[1] the last groups, found[2] the words of this launch that the last group does not see.
 * `added` must be 0 before, and is 0 after. */
ORDO_KERNEL(GROUP_SIZE)
void last_sees(__global uint *stored, __global uint *added, uint mark, volatile __global uint *found)
{
    __local uint is_last;
    const uint   lid = (uint) get_local_id(0), items = (uint) get_global_size(0), groups = (uint) get_num_groups(0);
    stored[get_global_id(0)] = mark;
    (void) ordo_add(&added[lid], 1);
    if (group_is_last(&found[0], groups, &is_last)) {
        uint missing = ordo_exchange(&added[lid], 0) != groups;
        for (uint i = lid; i < items; i += GROUP_SIZE)
            missing += stored[i] != mark;
        (void) ordo_add(&found[2], missing);
        if (lid == 0)
            (void) ordo_add(&found[1], 1);
    }
}
