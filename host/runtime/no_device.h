/* SPDX-License-Identifier: Apache-2.0 */
/* Why an OpenCL platform is there but none of its devices can be had. Apart from the library, as ordo-info is built with it
 * too. */
#ifndef ORDO_NO_DEVICE_H
#define ORDO_NO_DEVICE_H

#include <stddef.h>

/* One sentence without a stop that names the cause, as far as it can be seen, and what to set. `platform`: its name. */
void ordo_no_device(const char *platform, char *text, size_t bytes);

#endif
