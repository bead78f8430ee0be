/* SPDX-License-Identifier: Apache-2.0 */
/* Defines the fan-out of aggregate tables (cl/dict/generic/aggregate.cl). */
#pragma once

#define AGGREGATE_FAN 16 /* An element of a level combines 16 elements of the level below. */
