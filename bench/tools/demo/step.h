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
    const char              *file;  /* of the ranges */
    const char              *file6; /* of IPv6 ranges */
    const char              *paths; /* file of paths or words */
    FILE                    *out;   /* stderr if standard output carries JSON */
    cJSON                   *json;
    ordo_device             *device;
    const struct ordo_facts *facts;
    struct geoip             geoip;
    struct geoip6            geoip6;
    uint32_t                *addresses;
    size_t                   count; /* addresses */
    size_t                   lines; /* of `paths`; 0: all */
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

/* An act is a table of steps. */
struct steps {
    struct demo   *demo;
    struct table   table;
    cJSON         *json;
    struct verdict verdict;  /* of all steps */
    double         checking; /* seconds of all checks */
};
struct demo_step {
    const char *name;
    size_t      items;
    ordo_status (*run)(void *act);
    void (*fetch)(void *act);                          /* copies the answers to the host; NULL: nothing */
    void (*check)(void *act, struct verdict *verdict); /* NULL: nothing to check */
};
/* Prints the head of the table. Adds "steps" to `json`. */
void steps_begin(struct steps *steps, struct demo *demo, cJSON *json);
/* Runs a step twice, because the first run builds kernels. Checks the answers of the second run. */
void take_step(struct steps *steps, const struct demo_step *step, void *act);
/* Prints the time of all checks. */
void steps_end(const struct steps *steps);

/* A bar of the share 0 to 1 of a width, at most BAR_WIDTH. Returns `text`. */
#define BAR_WIDTH 40
char *bar_text(char text[BAR_WIDTH + 1], int width, double share);

/* Sorts the IPv4 ranges and maps addresses to countries. Keeps the addresses. Adds "steps" and "countries". */
void demo_countries(struct demo *demo);
/* Does so with IPv6 ranges, which are 16-byte keys. Adds to "ipv6". */
void demo_ipv6(struct demo *demo);

/* Changes the ranges in an LSM and a sorted array in 20 batches, with queries of all addresses in between, and
 * compares both. Adds "dictionaries". */
void demo_dicts(struct demo *demo);

/* Sorts, indexes and looks up paths, counts them by directory and finds the nearest large directory of each. Adds
 * "paths". */
void demo_paths(struct demo *demo);
