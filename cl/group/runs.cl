/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a kernel that reads up to RUN_TABLE_MAX sorted runs. Each run has buffers of keys and values. A
 * run_table has the sizes and offsets of all runs. */
#pragma once
#include "group/hidden.cl"
#include "group/merge.cl"

typedef __global const ordo_key    *runs_keys;
typedef __global const merge_value *runs_values;
typedef __global const uint        *runs_words;

/* clang-format off */
#define RUNS_EACH(X, more)                                  \
    X(0, more) X(1, more) X(2, more) X(3, more)             \
    X(4, more) X(5, more) X(6, more) X(7, more)             \
    X(8, more) X(9, more) X(10, more) X(11, more)           \
    X(12, more) X(13, more) X(14, more) X(15, more)
/* clang-format on */
#define RUNS_KEY_ARG(r, more)   __global const ordo_key *keys##r,
#define RUNS_VALUE_ARG(r, more) __global const merge_value *values##r,
#define RUNS_KEYS               RUNS_EACH(RUNS_KEY_ARG, )
#define RUNS_VALUES             RUNS_EACH(RUNS_VALUE_ARG, )
#define RUNS_POINT_KEY(r, to)   (to)[r] = keys##r + runs.keys_at[r];
#define RUNS_POINT_VALUE(r, to) (to)[r] = values##r + runs.values_at[r];
#define RUNS_POINT_MARKS(r, to)                                                                                        \
    (to)->hidden_of[r] =                                                                                               \
        runs.hidden_at[r] == RUN_TABLE_NONE ? 0 : (__global const uint *) keys##r + (ulong) runs.hidden_at[r] * 64;    \
    (to)->visible_of[r] = (__global const uint *) keys##r + (ulong) runs.visible_at[r] * 64;
