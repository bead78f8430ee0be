/* SPDX-License-Identifier: Apache-2.0 */
/* The B-link tree's place behind the interface. */
#include "dict/blink/blink.h"

#include "dict/tour.h"

static const struct ordo_structure blink = {
    .name = "blink",
    .destroy = ordo_blink_clear,
    .clear = ordo_blink_clear,
    .build = ordo_blink_build,
    .update = ordo_blink_update,
    .update_sorted = ordo_blink_update_sorted,
    .apply_concurrent = ordo_blink_apply_concurrent,
    .compact = ordo_blink_compact,
    .find = ordo_blink_find,
    .count = ordo_blink_count,
    .range = ordo_blink_range,
    .seek = ordo_blink_seek,
    .rank = ordo_blink_rank,
    .select = ordo_blink_select,
    .size = ordo_blink_size,
    .export_all = ordo_blink_export,
    .check = ordo_blink_check,
    .statistics = ordo_blink_statistics,
};

static ordo_status another(ordo_device *device, const void *config, ordo_dict **out)
{
    return ordo_blink_create(device, config, out);
}

ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config, ordo_dict **out)
{
    ORDO_TRY(ordo_dict_create(device, &blink, config ? &config->dict : NULL, sizeof(struct ordo_blink), out));
    struct ordo_blink *tree = ordo_blink_of(*out);
    tree->config = *config;
    if (config->fill_percent == 0)
        tree->config.fill_percent = 90;
    /* Runs of the same kind, for rebuilding: never called by itself. */
    tree->runs.dict = tree->dict;
    if (tree->config.fill_percent >= 50 && tree->config.fill_percent <= 100) {
        ordo_dict_expect(*out, another, config);
        return ORDO_OK;
    }
    ordo_dict_destroy(out);
    return ordo_fail(device, ORDO_INVALID, 0, __FILE__, __LINE__, "fill_percent is %u: it may be 50 to 100",
                     config->fill_percent);
}
