/* SPDX-License-Identifier: Apache-2.0 */
/* Selects a device by a text such as ORDO_DEVICE, and explains platforms without devices. For ordo-info too. */
#ifndef ORDO_CHOOSE_H
#define ORDO_CHOOSE_H

#include "ordo/device.h"

struct ordo_listed {
    cl_device_id id;
    unsigned     platform, device;
    bool         gpu, cpu;
    char         name[128], platform_name[128];
};

/* The first of n >= 1 devices that `select` names by numbers (0:1), kind (gpu, cpu) or part of its name or its
 * platform's, else NULL. If `select` is NULL or empty: the first GPU, else the first device. */
const struct ordo_listed *ordo_choose(const struct ordo_listed *list, size_t n, const char *select);

/* Writes one sentence without a full stop: why this platform shows no device, and the remedy. */
void ordo_no_device(const char *platform, char *text, size_t bytes);

#endif
