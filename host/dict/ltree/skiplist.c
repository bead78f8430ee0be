/* SPDX-License-Identifier: Apache-2.0 */
#include "ordo/skiplist.h"

#include "dict/ltree/ltree.h"

static ordo_status configure(ordo_dict *dict, const void *configuration)
{
    const struct ordo_skiplist_config *config = configuration;
    const struct ordo_ltree_config     tree = { .words = config->chunk,
                                                .fill_percent = config->fill_percent,
                                                .max_leaves = config->max_chunks,
                                                .raise_percent = config->raise_percent,
                                                .merges = true };
    if (config->raise_percent > 100)
        return ORDO_FAIL(dict->dev, ORDO_INVALID, "raise_percent is %u: it may be 1 to 100", config->raise_percent);
    if (config->chunk != 0 && config->chunk != 16 && config->chunk != 32)
        return ORDO_FAIL(dict->dev, ORDO_INVALID, "chunk is %u: it may be 16 or 32", config->chunk);
    dict->variant = config->chunk == 16;
    return ordo_ltree_configure(dict, &tree);
}

const struct ordo_structure ordo_skiplist_structure = {
    .name = "skiplist",
    .bytes = sizeof(struct ordo_ltree),
    .config_bytes = sizeof(struct ordo_skiplist_config),
    .configure = configure,
    ORDO_LTREE_CALLS,
};

ordo_status ordo_skiplist_create(ordo_device *device, const struct ordo_skiplist_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_skiplist_structure, config, out);
}
