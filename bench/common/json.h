/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of the tools. */
#pragma once

#include "why.h"

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A number with six digits; NaN becomes null. The caller deletes it or adds it to an object. */
cJSON *json_cut(double number);
void   json_number(cJSON *object, const char *name, double number);
/* Appends an empty object to a list and returns it. */
cJSON *json_append(cJSON *list);
/* Short names. json_exact keeps all digits. */
#define json_at    cJSON_GetObjectItemCaseSensitive
#define json_text  cJSON_AddStringToObject
#define json_exact cJSON_AddNumberToObject
#define json_flag  cJSON_AddBoolToObject
/* "tool", "version", "revision", build, "date", "host" and "arguments": bench/results/README.md explains them. */
cJSON *json_head(const char *tool, int argc, char **argv);
/* Facts of one process: "began", "load" (before it), "ended" (null). */
cJSON *json_process(void);
cJSON *json_device(const struct ordo_facts *facts);
/* Returns the argument of --json, or exits with a usage error if the file cannot be written. */
const char *json_option(const char *path);
/* Read and write a file ("-": standard input or output). json_read returns NULL with the reason in `why`. json_write
 * prints an error; it puts each row, device and process on a line, and replaces a file only when the new one is
 * complete. */
bool json_write(const char *path, const cJSON *json);
/* Whether `path` is a regular file or a new one, not a pipe or a device. */
bool   json_is_file(const char *path);
cJSON *json_read(const char *path, char *why);

/* Return the member, or "" and NaN if it is missing or has another type. */
const char *text_of(const cJSON *object, const char *name);
double      number_of(const cJSON *object, const char *name);
bool        is_true(const cJSON *object, const char *name);
bool        text_is(const cJSON *object, const char *name, const char *text);
/* Compares the tunables of two devices. A tunable that is not listed has its default value. */
bool same_tunables(const cJSON *a, const cJSON *b);

const char *lanes_name(ordo_lanes lanes);
const char *atomics_name(ordo_atomics atomics);
const char *origin_name(ordo_origin origin);

/* Clock, power and temperature of GPUs and the CPU from sysfs and nvidia-smi: a list of "name", "clock_mhz",
 * "power_w", "temperature_c" (null if unknown). `root` is "" or, in tests, a directory that replaces / (without
 * nvidia-smi). Takes 50 ms with an NVIDIA GPU. The caller deletes it. */
cJSON *read_sensors(const char *root);
