/* SPDX-License-Identifier: Apache-2.0 */
/* The B-link tree behind the interface. */
#include "ordo/blink.h"

#include "dict/ltree/ltree.h"

#include "dict/tour.h"

static const struct ordo_structure blink = { .name = "blink", ORDO_LTREE_CALLS };

static ordo_status another(ordo_device *device, const void *config, ordo_dict **out)
{
    return ordo_blink_create(device, config, out);
}

ordo_status ordo_blink_create(ordo_device *device, const struct ordo_blink_config *config, ordo_dict **out)
{
    ORDO_TRY(ordo_dict_create(device, &blink, config ? &config->dict : NULL, sizeof(struct ordo_ltree), out));
    const struct ordo_ltree_config links = { .fill_percent = config->fill_percent, .max_leaves = config->max_leaves };
    const ordo_status              status = ordo_ltree_configure(*out, &links);
    if (status == ORDO_OK)
        ordo_dict_expect(*out, another, config);
    else
        ordo_dict_destroy(out);
    return status;
}
