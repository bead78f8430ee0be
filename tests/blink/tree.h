/* SPDX-License-Identifier: Apache-2.0 */
/* The tree under test: a B-link tree, or a skiplist in the programs that say so (skiplist_history.c). */
#ifndef ORDO_TESTS_TREE_H
#define ORDO_TESTS_TREE_H

#include "ordo/blink.h"
#include "ordo/skiplist.h"

static inline ordo_status create_tree(ordo_device *dev, const struct ordo_blink_config *config, ordo_dict **out)
{
#ifdef TEST_SKIPLIST
    return ordo_skiplist_create(dev,
                                ordo_skiplist_config(.dict = config->dict, .fill_percent = config->fill_percent,
                                                     .raise_percent = config->fill_percent % 2 ? 50 : 100,
                                                     .max_chunks = config->max_leaves),
                                out);
#else
    return ordo_blink_create(dev, config, out);
#endif
}

#endif
