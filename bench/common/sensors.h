/* SPDX-License-Identifier: Apache-2.0 */
/* Clock, power and temperature of GPUs and the CPU, as far as anybody may read them: from sysfs, and from nvidia-smi. */
#ifndef BENCH_SENSORS_H
#define BENCH_SENSORS_H

#include <cjson/cJSON.h>

/* A list of what was found, each with "name", "clock_mhz", "power_w" and "temperature_c", null where it is not told. `root` is ""
 * for this machine, or a directory that stands for / (for tests; then nvidia-smi is not asked). Takes some 50 ms where there
 * is an NVIDIA GPU. The caller deletes it. */
cJSON *read_sensors(const char *root);

#endif
