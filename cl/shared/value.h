/* SPDX-License-Identifier: Apache-2.0 */
/* How values are combined: the operation, and in which order values are compared, together in a word. */
#pragma once

/* enum ordo_op of include/ordo/array.h, in words that the preprocessor understands. */
#define COMBINE_SUM 0
#define COMBINE_MIN 1
#define COMBINE_MAX 2

#define VALUE_UNSIGNED 0
#define VALUE_SIGNED   1
#define VALUE_FLOAT    2

#define VALUE_HOW(op, order) ((op) | (order) << 2)
#define VALUE_OP_OF(how)     ((how) &3u)
#define VALUE_ORDER_OF(how)  ((how) >> 2)
