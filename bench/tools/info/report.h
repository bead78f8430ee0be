/* SPDX-License-Identifier: Apache-2.0 */
/* The platforms and devices of a machine as JSON, and advice for hardware that OpenCL lacks. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define PLATFORMS_MAX 16
#define DEVICES_MAX   64

/* The paths of the registered drivers' files. The caller deletes the list. */
cJSON      *driver_files(const char *root);
const char *file_name(const char *path);

void advise(cJSON *advice, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds sentences on the hardware that the platforms do not have. */
void advise_on_hardware(cJSON *advice, const char *root, const cJSON *platforms);

/* Answers "driver:FILE", "platforms", "devices:P", "device:P:D", "quiet-device:P:D" (no self-test) or
 * "prepare:K:N:LIST" in a child. Returns the exit status. */
int answer_question(const char *question);

/* Compiles kernels into the user's cache for the device of ORDO_DEVICE. */

/* Exits with a usage error for an unknown word. */
struct ordo_prepare_params prepare_params(const char *list);
bool                       prepare_device(const char *list);
