/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/warm_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned    traits;
} structures[] = {
#define X(id, stem, name, traits) { name, traits },
    ORDO_STRUCTURE_MAP(X)
#undef X
};

static ordo_status check_key(ordo_device *dev, const struct ordo_structure *structure, ordo_type key)
{
    char   takers[96] = "";
    size_t length = 0;
    ORDO_TRY(ordo_check_type(dev, key));
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++) {
        if (!(structures[i].traits & ORDO_WIDE_KEYS))
            continue;
        if (strcmp(structures[i].name, structure->name) == 0)
            return ORDO_OK;
        length +=
            (size_t) snprintf(takers + length, sizeof takers - length, "%s%s", length ? ", " : "", structures[i].name);
    }
    ORDO_REQUIRE(dev, !ordo_type_is_wide(key), ORDO_UNSUPPORTED,
                 "a dictionary (%s) does not take keys of type %s. These do: %s", structure->name, ordo_wide_name(key),
                 takers);
    return ORDO_OK;
}

static ordo_status check_config(ordo_device *dev, const struct ordo_structure *structure,
                                const struct ordo_dict_config *config, ordo_dict **out)
{
    ORDO_REQUIRE_GIVEN(dev, out);
    *out = NULL;
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_TRY(ordo_device_check_fork(dev));
    ORDO_REQUIRE_GIVEN(dev, config);
    ORDO_TRY(check_key(dev, structure, config->key));
    return ordo_check_value_bytes(dev, config->value_bytes);
}

static void free_cached(struct ordo_reserve *reserve)
{
    ordo_dict *dict = (ordo_dict *) ((char *) reserve - offsetof(ordo_dict, reserve));
    if (dict->structure->release_spare)
        dict->structure->release_spare(dict);
}

void ordo_dict_dry_run(ordo_device *dry, const struct ordo_structure *structure, const void *config,
                       uint32_t operations, size_t count)
{
    /* A dry run cannot read counts from a device, so each iteration below uses one of these numbers instead. */
    const uint32_t             answers[] = { (uint32_t) (count / 4), 0, 1 };
    struct ordo_warm_up_arrays a;
    if (ordo_warm_up_arrays_create(dry, count, &a) != ORDO_OK)
        return;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        ordo_dict *dict = NULL;
        ordo_dry_run_answer(dry, answers[i]);
        if (ordo_dict_create(dry, structure, config, &dict) == ORDO_OK)
            (void) ordo_dict_warm_up(dict, operations, &a);
        ordo_dict_destroy(&dict);
    }
    ordo_warm_up_arrays_destroy(&a);
}

static void expect(const ordo_dict *dict, const void *config)
{
    const uint32_t usual = ORDO_PREPARE_UPDATE | ORDO_PREPARE_FIND;
    const uint32_t rest = ORDO_PREPARE_ORDER | ORDO_PREPARE_BUILD | ORDO_PREPARE_APPLY | ORDO_PREPARE_COMPACT;
    const uint32_t variant = dict->variant << 16 | (uint32_t) dict->key << 8 | dict->value_bytes;
    ordo_device   *dry = NULL;
    if (!ordo_builds_expect(dict->dev, dict->structure->name, variant) ||
        ordo_dry_run_open(dict->dev, NULL, &dry) != ORDO_OK)
        return;
    ordo_dict_dry_run(dry, dict->structure, config, usual, (size_t) 1 << 16);
    ordo_dict_dry_run(dry, dict->structure, config, rest, (size_t) 1 << 16);
    ordo_dict_dry_run(dry, dict->structure, config, usual | rest, 1000);
    ordo_dry_run_close(&dry);
}

ordo_status ordo_dict_create(ordo_device *dev, const struct ordo_structure *structure, const void *config,
                             ordo_dict **out)
{
    const struct ordo_dict_config *types = config;
    ORDO_TRY(check_config(dev, structure, types, out));
    ordo_dict *dict = calloc(1, structure->bytes);
    ORDO_REQUIRE_MEMORY(dev, dict);
    ordo_device_hold(dev);
    dict->dev = dev;
    dict->structure = structure;
    dict->key = types->key;
    dict->key_bytes = ordo_type_bytes(types->key);
    dict->value_bytes = types->value_bytes;
    dict->reserve.give = free_cached;
    ordo_reserve_join(dev, &dict->reserve);
    const ordo_status status = structure->configure ? structure->configure(dict, config) : ORDO_OK;
    if (status == ORDO_OK) {
        expect(dict, config);
        *out = dict;
    } else {
        ordo_dict_destroy(&dict);
    }
    return status;
}

struct ordo_dict_config *ordo_dict_default_config(const struct ordo_structure *structure, ordo_type key,
                                                  uint32_t value_bytes)
{
    struct ordo_dict_config *config = calloc(1, structure->config_bytes);
    if (config)
        *config = (struct ordo_dict_config) { .key = key, .value_bytes = value_bytes };
    return config;
}
