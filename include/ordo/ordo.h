/* SPDX-License-Identifier: Apache-2.0 */
/* Ordo: ordered dictionaries and sorting for any OpenCL device.
 *
 * Reading order: status.h (what calls return), device.h (open a device), array.h (scan, sort, merge, search),
 * dict.h (dictionaries), sorted_array.h and lsm.h (the structures behind them).
 */
#ifndef ORDO_ORDO_H
#define ORDO_ORDO_H

/* The version of these headers. The build takes the library's version and soname from this line. */
#define ORDO_VERSION "0.1.0"

#include "array.h"
#include "blink.h"
#include "device.h"
#include "dict.h"
#include "lsm.h"
#include "sorted_array.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is linked, which may be newer than the headers. Never NULL. */
ORDO_API const char *ordo_version(void);

#ifdef __cplusplus
}
#endif

#endif
