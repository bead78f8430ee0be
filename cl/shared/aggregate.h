/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of aggregates: cl/dict/generic/aggregate.cl draws one. */
#pragma once

#define AGGREGATE_FAN 16 /* elements of a level for each of the level above */
