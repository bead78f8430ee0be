/* SPDX-License-Identifier: Apache-2.0 */
/* The demo, and its parts. They print, add to the JSON, and count wrong answers. Errors end the program. */
#pragma once

#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"
#include "ranges.h"

#include <stdlib.h>

struct demo {
    const char              *file; /* of the ranges */
    FILE                    *out;  /* stderr if standard output carries JSON */
    cJSON                   *json;
    ordo_device             *device;
    const struct ordo_facts *facts;
    struct geoip             geoip;
    uint32_t                *addresses;
    size_t                   count; /* addresses */
    size_t                   wrong; /* answers so far */
};

_Noreturn void give_up(const char *what, const char *why);
/* Gives up with the device's error unless `status` is ORDO_OK. */
void must(const struct demo *demo, const char *what, ordo_status status);
/* Gives up on NULL. */
void *must_have(void *memory);

void *room(size_t bytes);
/* A buffer, with content unless `from` is NULL. */
cl_mem on_device(const struct demo *demo, size_t bytes, const void *from);
/* Both wait. from_device returns `to`. */
void  to_device(const struct demo *demo, cl_mem to, const void *from, size_t bytes);
void *from_device(const struct demo *demo, cl_mem from, void *to, size_t bytes);
/* Waits for the device and returns the seconds since `begin`. */
double seconds_since(const struct demo *demo, const char *what, double begin);

/* Adds the verdict to the demo's count and to `json`. Returns whether all answers are right, else prints an example. */
bool keep_verdict(struct demo *demo, const struct verdict *verdict, cJSON *json);

/* Changes the ranges in an LSM and a sorted array in 20 batches, with queries of all addresses in between, and
 * compares both. Adds "dictionaries". */
void demo_dicts(struct demo *demo);
