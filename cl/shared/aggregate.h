/* SPDX-License-Identifier: Apache-2.0 */
/* To find the minimum or maximum of an interval of values, cl/dict/generic/aggregate.cl uses a tree. Each node holds
 * the minimum or maximum of AGGREGATE_FAN children. */
#pragma once

#define AGGREGATE_FAN 16
