/* SPDX-License-Identifier: Apache-2.0 */
#include "ordo/blink.h"

#include "dict/ltree/ltree.h"

static ordo_status configure(ordo_dict *dict, const void *config)
{
    const struct ordo_blink_config *blink = config;
    const struct ordo_ltree_config  tree = { .fill_percent = blink->fill_percent, .max_leaves = blink->max_leaves };
    return ordo_ltree_configure(dict, &tree);
}

const struct ordo_structure ordo_blink_structure = {
    .name = "blink",
    .bytes = sizeof(struct ordo_ltree),
    .config_bytes = sizeof(struct ordo_blink_config),
    .configure = configure,
    ORDO_LTREE_CALLS,
};

ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_blink_structure, config, out);
}
