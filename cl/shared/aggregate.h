/* SPDX-License-Identifier: Apache-2.0 */
/* The fan-out of aggregate tables (cl/dict/generic/aggregate.cl). */
#pragma once

#define AGGREGATE_FAN 16 /* An element combines 16 elements of the level below. */
