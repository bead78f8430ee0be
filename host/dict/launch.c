/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/launch.h"

#include "shared/step.h"

#define GROUP 64

#define GROUPS_MAX ((size_t) 1 << 18)

static struct ordo_launch kernel_of(const ordo_dict *dict, const char *file, const char *kernel, size_t groups,
                                    size_t group)
{
    return (struct ordo_launch) {
        .file = file,
        .kernel = kernel,
        .groups = groups,
        .group = group,
        .defines = { { "ORDO_KEY", dict->key },
                     { "ORDO_VALUE_BYTES", dict->value_bytes },
                     { "RUN_GROUP", (long) group } },
    };
}

struct ordo_launch ordo_dict_kernel(const ordo_dict *dict, const char *file, const char *kernel, size_t items)
{
    const size_t group = ordo_device_facts(dict->dev)->max_group < GROUP ? 1 : GROUP;
    return kernel_of(dict, file, kernel, ordo_min_size(ordo_ceil_div(items, group), GROUPS_MAX), group);
}

#define SHARES_PER_UNIT 64

struct ordo_launch ordo_dict_kernel_shares(const ordo_dict *dict, const char *file, const char *kernel, size_t items)
{
    const struct ordo_facts *facts = ordo_device_facts(dict->dev);
    if (!facts->cpu)
        return ordo_dict_kernel(dict, file, kernel, items);
    return kernel_of(dict, file, kernel, ordo_min_size(items, (size_t) facts->compute_units * SHARES_PER_UNIT), 1);
}

size_t ordo_dict_step_items(const ordo_device *dev, size_t n)
{
    return ordo_ceil_div(n, ordo_device_facts(dev)->cpu ? RUN_STEP_CPU : 1);
}

#define PASS_ITEMS ((size_t) 1 << 19)
#define PASS_SHARE 8

size_t ordo_dict_pass_items(const ordo_device *dev, size_t items)
{
    const size_t share = ordo_ceil_div(items, PASS_SHARE);
    if (ordo_device_facts(dev)->cpu || items <= PASS_ITEMS)
        return items;
    return share < PASS_ITEMS ? PASS_ITEMS : share;
}
