/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools write as JSON, and read. */
#ifndef BENCH_COMMON_JSON_H
#define BENCH_COMMON_JSON_H

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A number cut to six digits; of NaN null. The caller deletes it, or adds it to something. */
cJSON *json_cut(double number);
void   json_number(cJSON *object, const char *name, double number);
/* A member by its name, or NULL; and short names for adding members. json_exact keeps all digits. */
#define json_at    cJSON_GetObjectItemCaseSensitive
#define json_text  cJSON_AddStringToObject
#define json_exact cJSON_AddNumberToObject
#define json_flag  cJSON_AddBoolToObject
/* "tool", "version", "revision" and the like of the build, "date", "host" (system, processors, variables that change
 * results), "arguments": bench/results/README.md says what each means. */
cJSON *json_head(const char *tool, int argc, char **argv);
/* What holds of one process: "began" (the date), "load" (of the machine before it), "ended" (null as yet). */
cJSON *json_process(void);
cJSON *json_device(const struct ordo_facts *facts);
/* The argument of --json; ends the program as usage_error does if it cannot be written to: not after hours of measuring. */
const char *json_option(const char *path);
/* Both take "-" for standard input or output, and write the reason of a failure to `why`. json_read then returns NULL.
 * json_write writes each row, device and process on a line of its own. It replaces a file only when the new one is
 * complete. */
bool json_write(const char *path, const cJSON *json, char *why, size_t why_bytes);
/* Whether json_write replaces a file there, and not what a pipe or a device has. */
bool   json_is_file(const char *path);
cJSON *json_read(const char *path, char *why, size_t why_bytes);

/* What an object has by a name: "" and NaN if it is not there, or is something else. */
const char *text_of(const cJSON *object, const char *name);
double      number_of(const cJSON *object, const char *name);
bool        is_true(const cJSON *object, const char *name);
bool        text_is(const cJSON *object, const char *name, const char *text);
/* Compares the tunables of two devices. A tunable that a device does not list has its default value. */
bool same_tunables(const cJSON *a, const cJSON *b);

/* ---- names of facts, the same in every tool ------------------------------------------------------------------ */

const char *lanes_name(ordo_lanes lanes);
const char *atomics_name(ordo_atomics atomics);
const char *origin_name(ordo_origin origin);

/* Clock, power and temperature of GPUs and the CPU, as far as anybody may read them: from sysfs, and from nvidia-smi. */

/* A list of what was found, each with "name", "clock_mhz", "power_w" and "temperature_c", null where it is not told. `root` is ""
 * for this machine, or a directory that stands for / (for tests; then nvidia-smi is not asked). Takes some 50 ms where there
 * is an NVIDIA GPU. The caller deletes it. */
cJSON *read_sensors(const char *root);

#endif
