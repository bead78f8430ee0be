/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools write as JSON, and read. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Adds a number cut to six digits; NaN is added as null. */
void json_number(cJSON *object, const char *name, double number);
/* "tool", "version", "revision", "date", "host" (system, processors, variables that change results), "arguments". */
cJSON *json_head(const char *tool, int argc, char **argv);
cJSON *json_device(const struct ordo_device_facts *facts);
/* The argument of --json; ends the program as usage_error does if it cannot be written to: not after hours of measuring. */
const char *json_option(const char *path);
/* Both: "-" is standard input or output; on failure the reason is in `why`. json_read returns NULL then. */
bool   json_write(const char *path, const cJSON *json, char *why, size_t why_bytes);
cJSON *json_read(const char *path, char *why, size_t why_bytes);

/* What an object has by a name: "" and NaN if it is not there, or is something else. */
const char *text_of(const cJSON *object, const char *name);
double      number_of(const cJSON *object, const char *name);
bool        is_true(const cJSON *object, const char *name);
bool        text_is(const cJSON *object, const char *name, const char *text);

/* ---- names of facts, the same in every tool ------------------------------------------------------------------ */

const char *lanes_name(ordo_lanes lanes);
const char *atomics_name(ordo_atomics atomics);
const char *origin_name(ordo_origin origin);

#endif
