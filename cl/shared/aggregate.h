/* SPDX-License-Identifier: Apache-2.0 */
/* Fan-out of aggregate tables, trees of combined values (cl/dict/generic/aggregate.cl). */
#pragma once

#define AGGREGATE_FAN 16
