/* SPDX-License-Identifier: Apache-2.0 */
/* What gather found, as text for people. */
#ifndef BENCH_INFO_SHOW_H
#define BENCH_INFO_SHOW_H

#include "gather.h"

void show(const struct options *options, const cJSON *json);

#endif
