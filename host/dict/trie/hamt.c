/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/trie/hamt.h"

static ordo_status configure(ordo_dict *dict, const void *config)
{
    ordo_hamt_of(dict)->fixed_depth = ((const struct ordo_hamt_config *) config)->fixed_depth;
    ordo_hamt_of(dict)->runs.dict = ordo_dict_kind(dict);
    dict->variant = ordo_hamt_of(dict)->fixed_depth;
    return ORDO_OK;
}

const struct ordo_structure ordo_hamt_structure = {
    .name = "hamt",
    .bytes = sizeof(struct ordo_hamt),
    .config_bytes = sizeof(struct ordo_hamt_config),
    .configure = configure,
    .destroy = ordo_hamt_clear,
    .clear = ordo_hamt_clear,
    .build = ordo_hamt_build,
    .update = ordo_hamt_update,
    .update_sorted = ordo_hamt_update_sorted,
    .apply_concurrent = ordo_hamt_apply_concurrent,
    .release_spare = ordo_hamt_release_spare,
    .compact = ordo_hamt_compact,
    .find = ordo_hamt_find,
    .count = ordo_hamt_count,
    .range = ordo_hamt_range,
    .seek = ordo_hamt_seek,
    .rank = ordo_hamt_rank,
    .select = ordo_hamt_select,
    .size = ordo_hamt_size,
    .export_all = ordo_hamt_export,
    .check = ordo_hamt_check,
    .statistics = ordo_hamt_statistics,
};

ordo_status ordo_hamt_create(ordo_device *device, const struct ordo_hamt_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_hamt_structure, config, out);
}

ordo_status ordo_hamt_check_roaring(const ordo_dict *dict)
{
    ORDO_REQUIRE(dict->dev, dict->key == ORDO_U32 || dict->key == ORDO_U64, ORDO_UNSUPPORTED,
                 "the Roaring format has keys of ORDO_U32 and ORDO_U64 alone");
    return ORDO_OK;
}

struct ordo_launch ordo_roaring_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items)
{
    ordo_dict keys = ordo_dict_kind(dict);
    keys.value_bytes = 0;
    return ordo_dict_kernel(&keys, file, kernel, items);
}
