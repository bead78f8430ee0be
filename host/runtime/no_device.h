/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why an OpenCL platform shows no device. Not part of the library proper, because ordo-info uses it too. */
#ifndef ORDO_NO_DEVICE_H
#define ORDO_NO_DEVICE_H

#include <stddef.h>

/* One sentence without a stop: the likely cause and the remedy. `platform`: its name. */
void ordo_no_device(const char *platform, char *text, size_t bytes);

#endif
