/* SPDX-License-Identifier: Apache-2.0 */
/* Selects a device by a text, such as the value of $ORDO_DEVICE. */
#ifndef ORDO_CHOOSE_H
#define ORDO_CHOOSE_H

#include "ordo/device.h"

struct ordo_listed {
    cl_device_id id;
    unsigned     platform, device;
    bool         gpu, cpu;
    char         name[128], platform_name[128];
};

/* Returns the first device of the list that matches `select` (struct ordo_device_config), or NULL if none does. The
 * list must not be empty. NULL or "" selects the first GPU, or the first device if there is no GPU. */
const struct ordo_listed *ordo_choose(const struct ordo_listed *list, size_t n, const char *select);

/* Writes to `text` why the platform may show no device, and what the user can do. */
void ordo_no_device(const char *platform, char *text, size_t bytes);

#endif
