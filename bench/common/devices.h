/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a tool works on. */
#ifndef BENCH_DEVICES_H
#define BENCH_DEVICES_H

#include "ordo/ordo.h"

#define SELECT_BYTES  128
#define MOST_SELECTED 64

/* Turns "gpu", "0:0,1:0", "all" or NULL (Ordo's own choice) into selections for ordo_device_open, one per device.
 * Returns their number; 0 if "all" finds none. Exits with a usage error if the list is too long. */
int select_devices(const char *list, char selected[MOST_SELECTED][SELECT_BYTES]);

/* Opens one ("": Ordo's own choice), or says why not and returns NULL. */
ordo_device *open_device(const char *select);

#endif
