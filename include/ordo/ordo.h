/* SPDX-License-Identifier: Apache-2.0 */
/* Ordo: ordered dictionaries and sorting for any OpenCL device.
 *
 * Read status.h, device.h, array.h (scan, sort, merge, search) and dict.h (dictionaries) first.
 * Each structure has a header that creates its dictionaries. strings.h sorts and indexes strings,
 * string_dict.h maps them to values.
 * prepare.h compiles kernels ahead of time.
 *
 * Parameters are structs in which zero means the default. In C a macro of the same name creates
 * such a struct in place: ordo_sort_params(.key = ORDO_U32, .value_bytes = 4). C++ needs a
 * variable:
 *
 *     ordo_sort_params params = {};
 *     params.key = ORDO_U32;
 *     ordo_sort_host(device, &params, keys, nullptr, count); */
#ifndef ORDO_ORDO_H
#define ORDO_ORDO_H

#define ORDO_VERSION "0.1.0"

#include "array.h"
#include "blink.h"
#include "device.h"
#include "dict.h"
#include "fast.h"
#include "hamt.h"
#include "hash.h"
#include "lsm.h"
#include "prepare.h"
#include "skiplist.h"
#include "sorted_array.h"
#include "status.h"
#include "string_dict.h"
#include "strings.h"
#include "xfast.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the linked library. It may be newer than the headers. */
ORDO_API const char *ordo_version(void);

#ifdef __cplusplus
}
#endif

#endif
