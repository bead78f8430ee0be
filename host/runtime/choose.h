/* SPDX-License-Identifier: Apache-2.0 */
/* Which device a text such as ORDO_DEVICE means. Apart from the library, as ordo-info is built with it too. */
#ifndef ORDO_CHOOSE_H
#define ORDO_CHOOSE_H

#include "ordo/device.h"

struct ordo_listed {
    cl_device_id id;
    unsigned     platform, device;
    bool         gpu, cpu;
    char         name[128], platform_name[128];
};

/* Of n (not 0) devices the first that `select` names: by numbers (0:1), kind (gpu, cpu) or part of a name or of the
 * platform's; NULL if there is none. If it is NULL or empty the first GPU, else the first of all. */
const struct ordo_listed *ordo_choose(const struct ordo_listed *list, size_t n, const char *select);

#endif
