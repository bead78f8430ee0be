/* SPDX-License-Identifier: Apache-2.0 */
/* The tree under test: a B-link tree, or with TEST_SKIPLIST a skiplist with chunks of 32 or ORDO_TEST_CHUNK words. */
#ifndef ORDO_TESTS_TREE_H
#define ORDO_TESTS_TREE_H

#include "ordo/blink.h"
#include "ordo/skiplist.h"

#include <stdbool.h>
#include <stdlib.h>

/* Words of a node's line. */
static inline uint32_t tree_words(void)
{
    const char *chunk = TEST_SKIPLIST ? getenv("ORDO_TEST_CHUNK") : NULL;
    return chunk ? (uint32_t) strtoul(chunk, NULL, 10) : 32;
}

/* Entries of a node, at most. */
static inline size_t tree_slots(void)
{
    return tree_words() - 4;
}

/* Widths of teams that concurrent operations may have (links.lanes). */
static const uint32_t tree_teams[] = { 1, 8, 16, 32 };

/* Lets teams of `lanes` lanes execute concurrent operations. False if the device has no such teams. */
static inline bool tree_uses_team(ordo_device *dev, uint32_t lanes)
{
    const struct ordo_facts *facts = ordo_device_facts(dev);
    const bool               whole = facts->lanes != ORDO_LANES_KHR || lanes == facts->sub_group;

    return (lanes == 1 || (lanes <= facts->sub_group && facts->sub_group <= facts->max_group && whole)) &&
           ordo_device_set_tunable(dev, "links.lanes", lanes) == ORDO_OK;
}

static inline ordo_status create_tree(ordo_device *dev, const struct ordo_blink_config *config, ordo_dict **out)
{
    if (!TEST_SKIPLIST)
        return ordo_blink_create(dev, config, out);
    return ordo_skiplist_create(dev,
                                ordo_skiplist_config(.dict = config->dict, .fill_percent = config->fill_percent,
                                                     .raise_percent = config->fill_percent % 2 ? 50 : 100,
                                                     .max_chunks = config->max_leaves, .chunk = tree_words()),
                                out);
}

#endif
