/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel argument `how` describes how two values are combined: the operation (COMBINE_...), and whether values are
 * unsigned, signed or floating-point numbers (VALUE_...). */
#pragma once

/* Values of enum ordo_op (include/ordo/array.h). */
#define COMBINE_SUM 0
#define COMBINE_MIN 1
#define COMBINE_MAX 2

#define VALUE_UNSIGNED 0
#define VALUE_SIGNED   1
#define VALUE_FLOAT    2

#define VALUE_HOW(op, order) ((op) | (order) << 2)
#define VALUE_OP_OF(how)     ((how) &3u)
#define VALUE_ORDER_OF(how)  ((how) >> 2)
