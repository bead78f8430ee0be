/* SPDX-License-Identifier: Apache-2.0 */
/* The B-link tree's place behind the interface. */
#include "ordo/blink.h"

#include "dict/links/links.h"

#include "dict/tour.h"

static const struct ordo_structure blink = {
    .name = "blink",
    .destroy = ordo_links_clear,
    .clear = ordo_links_clear,
    .build = ordo_links_build,
    .update = ordo_links_update,
    .update_sorted = ordo_links_update_sorted,
    .apply_concurrent = ordo_links_apply_concurrent,
    .compact = ordo_links_compact,
    .find = ordo_links_find,
    .count = ordo_links_count,
    .range = ordo_links_range,
    .seek = ordo_links_seek,
    .rank = ordo_links_rank,
    .select = ordo_links_select,
    .size = ordo_links_size,
    .export_all = ordo_links_export,
    .check = ordo_links_check,
    .statistics = ordo_links_statistics,
};

static ordo_status another(ordo_device *device, const void *config, ordo_dict **out)
{
    return ordo_blink_create(device, config, out);
}

ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config, ordo_dict **out)
{
    ORDO_TRY(ordo_dict_create(device, &blink, config ? &config->dict : NULL, sizeof(struct ordo_links), out));
    const struct ordo_links_config links = { .fill_percent = config->fill_percent, .max_leaves = config->max_leaves };
    const ordo_status              status = ordo_links_configure(*out, &links);
    if (status == ORDO_OK)
        ordo_dict_expect(*out, another, config);
    else
        ordo_dict_destroy(out);
    return status;
}
