/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over elements in which no work-item needs another's: element i belongs to work-item i, and to those as many
 * elements on as there are work-items. */
#pragma once
#include "device/compiler.cl"

#ifndef RUN_GROUP
#define RUN_GROUP 64 /* work-items of a group */
#endif

#define RUN_EACH(type, i, n) for (type i = get_global_id(0); i < (n); i += get_global_size(0))
