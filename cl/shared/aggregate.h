/* SPDX-License-Identifier: Apache-2.0 */
/* Each value of a level combines this many values of the level below (cl/dict/generic/aggregate.cl). */
#pragma once

#define AGGREGATE_FAN 16
