/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

#include "shared/hash_small.h"

static ordo_status check_config(ordo_device *device, const struct ordo_hash_config *config)
{
    const uint64_t local = ordo_device_facts(device)->local_bytes;

    if (local < HASH_LOCAL_MAX)
        return ORDO_FAIL(device, ORDO_UNSUPPORTED,
                         "a hash table needs %d bytes of local memory, and the device has %llu", HASH_LOCAL_MAX,
                         (unsigned long long) local);
    if (config->load_percent < 25 || config->load_percent > 95)
        return ORDO_FAIL(device, ORDO_INVALID, "load_percent is %u: it may be 25 to 95", config->load_percent);
    return ORDO_OK;
}

static ordo_status configure(ordo_dict *dict, const void *config)
{
    struct ordo_hash *hash = ordo_hash_of(dict);
    hash->config = *(const struct ordo_hash_config *) config;
    if (hash->config.load_percent == 0)
        hash->config.load_percent = 80;
    hash->runs.dict = ordo_dict_kind(dict);
    hash->scan_max = HASH_SMALL_SCAN;
    return check_config(dict->dev, &hash->config);
}

const struct ordo_structure ordo_hash_structure = {
    .name = "hash",
    .bytes = sizeof(struct ordo_hash),
    .config_bytes = sizeof(struct ordo_hash_config),
    .configure = configure,
    .destroy = ordo_hash_clear,
    .clear = ordo_hash_clear,
    .build = ordo_hash_build,
    .update = ordo_hash_update,
    .update_sorted = ordo_hash_update_sorted,
    .combine = ordo_hash_combine,
    .apply_points = ordo_hash_apply_points,
    .apply_concurrent = ordo_hash_apply_concurrent,
    .compact = ordo_hash_compact,
    .find = ordo_hash_find,
    .size = ordo_hash_size,
    .export_all = ordo_hash_export,
    .check = ordo_hash_check,
    .invalidate = ordo_hash_invalidate,
    .statistics = ordo_hash_statistics,
};

ordo_status ordo_hash_create(ordo_device *device, const struct ordo_hash_config *config, ordo_dict **out)
{
    return ordo_dict_create(device, &ordo_hash_structure, config, out);
}
