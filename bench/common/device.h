/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a tool works on. */
#ifndef BENCH_COMMON_DEVICE_H
#define BENCH_COMMON_DEVICE_H

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdio.h>

#define SELECT_BYTES 128
#define SELECTED_MAX 64

/* Turns "gpu", "0:0,1:0", "all" or NULL (Ordo's own choice) into selections for ordo_device_open, one per device.
 * Returns their number; 0 if "all" finds none. Exits with a usage error if the list is too long. */
int select_devices(const char *list, char selected[SELECTED_MAX][SELECT_BYTES]);

/* Opens one ("": Ordo's own choice), or says why not and returns NULL. */
ordo_device *open_device(const char *select);

/* What a device can do at most, by programs of a few lines: what rates of real work are to be held against. */

/* Buffers on the device's own queue; the calls wait. A buffer of 0 bytes has one. */
ordo_status device_buffer(ordo_device *device, size_t bytes, cl_mem *out);
ordo_status device_write(ordo_device *device, cl_mem to, const void *from, size_t bytes);
ordo_status device_read(ordo_device *device, cl_mem from, void *to, size_t bytes);
/* Those that are not NULL. */
void device_release(const cl_mem *buffers, size_t n);

/* How fast a device copies its own memory. */
struct copy_rate {
    double bytes_per_second; /* read and written bytes together; the faster of the two below */
    double by_command;       /* clEnqueueCopyBuffer */
    double by_kernel;        /* a kernel that moves 16 bytes per work-item */
    size_t bytes;            /* size of the buffer copied */
};

/* Places of 32, 64 and 128 bytes, each at an address of its own size, read by as many work-items as it has 16 bytes. */
#define N_GATHERS 3
extern const size_t gather_bytes[N_GATHERS];

struct limits {
    struct copy_rate copy;
    double           from_memory[N_GATHERS];    /* places read at random in a table that no cache holds, a second */
    double           from_cache[N_GATHERS];     /* ... in one that the device's last cache holds */
    size_t           memory_bytes, cache_bytes; /* of these tables */
    double           launch;                    /* seconds of an empty kernel, of many enqueued one after another */
    double           launch_and_wait;           /* ... enqueued and waited for */
    double           to_device, from_device;    /* bytes a second between malloc's memory and a buffer */
};

/* Takes about a second. What cannot be measured is NaN; an error is returned only if nothing can. What kernels read is
 * checked: a device that reads wrongly has no limits (ORDO_BROKEN). */
ordo_status measure_limits(ordo_device *device, struct limits *out);

/* Under the names that files use. The caller deletes it. */
cJSON *limits_to_json(const struct limits *limits);
/* What is not there is NaN. */
struct limits limits_from_json(const cJSON *json);

/* The names of the limits that differ by more than a share, as text: "copy, launch"; "" if none does. */
void limits_differ(const struct limits *a, const struct limits *b, double share, char *text, size_t bytes);

/* For people: a line each for copies, gathers and launches. */
void say_limits(FILE *out, int indent, const struct limits *limits);

#endif
