/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist behind the interface. */
#include "ordo/skiplist.h"

#include "dict/ltree/ltree.h"
#include "dict/tour.h"

static const struct ordo_structure skiplist = { .name = "skiplist", ORDO_LTREE_CALLS };

static ordo_status another(ordo_device *device, const void *config, ordo_dict **out)
{
    return ordo_skiplist_create(device, config, out);
}

static ordo_status configure(ordo_dict *dict, const struct ordo_skiplist_config *config)
{
    const struct ordo_ltree_config links = { .words = config->chunk,
                                             .fill_percent = config->fill_percent,
                                             .max_leaves = config->max_chunks,
                                             .raise_percent = config->raise_percent,
                                             .merges = true };
    if (config->raise_percent > 100)
        return ORDO_FAIL(dict->dev, ORDO_INVALID, "raise_percent is %u: it may be 1 to 100", config->raise_percent);
    if (config->chunk != 0 && config->chunk != 16 && config->chunk != 32)
        return ORDO_FAIL(dict->dev, ORDO_INVALID, "chunk is %u: it may be 16 or 32", config->chunk);
    return ordo_ltree_configure(dict, &links);
}

ordo_status ordo_skiplist_create(ordo_device *device, const struct ordo_skiplist_config *config, ordo_dict **out)
{
    ORDO_TRY(ordo_dict_create(device, &skiplist, config ? &config->dict : NULL, sizeof(struct ordo_ltree), out));
    const ordo_status status = configure(*out, config);
    if (status == ORDO_OK)
        ordo_dict_expect_kind(*out, config->chunk == 16 ? "skiplist of 16" : skiplist.name, another, config);
    else
        ordo_dict_destroy(out);
    return status;
}
