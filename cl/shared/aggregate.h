/* SPDX-License-Identifier: Apache-2.0 */
/* A constant of aggregate tables. cl/dict/generic/aggregate.cl draws such a table. */
#pragma once

#define AGGREGATE_FAN 16 /* an element combines this many elements of the level below */
