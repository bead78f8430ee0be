/* SPDX-License-Identifier: Apache-2.0 */
/* Selects, opens and measures devices. */
#pragma once

#include "why.h"

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdio.h>

#define SELECT_BYTES 128
#define SELECTED_MAX 64

/* Turns "gpu", "0:0,1:0", "all" or NULL (Ordo's choice) into one selection per device for ordo_device_open. Returns
 * their number, 0 if "all" finds none. Exits with a usage error if the list is too long. */
int select_devices(const char *list, char selected[SELECTED_MAX][SELECT_BYTES]);

/* Opens a device ("": Ordo's choice). Prints an error and returns NULL if that fails. */
ordo_device *open_device(const char *select);

/* Returns the status. Writes the device's last error, else the name of the status, unless it is ORDO_OK. */
ordo_status device_why(ordo_device *device, ordo_status status, char *why);

/* Buffers on the device's own queue. Calls block. A buffer of 0 bytes gets one byte. */
ordo_status device_buffer(ordo_device *device, size_t bytes, cl_mem *out);
ordo_status device_write(ordo_device *device, cl_mem to, const void *from, size_t bytes);
ordo_status device_read(ordo_device *device, cl_mem from, void *to, size_t bytes);
/* Fills a buffer (NULL: nothing) with a byte. Does not wait. */
ordo_status device_fill(ordo_device *device, cl_mem mem, cl_uchar byte, size_t bytes);
/* Releases all that are not NULL. */
void device_release(const cl_mem *buffers, size_t n);

/* The rate at which a device copies its own memory. */
struct copy_rate {
    double bytes_per_second; /* read and written bytes; the faster of the two below */
    double by_command;       /* clEnqueueCopyBuffer */
    double by_kernel;        /* a kernel that moves 16 bytes per work-item */
    size_t bytes;            /* size of the buffer copied */
};

/* Places of 32, 64 and 128 bytes, aligned to their size. A work-item reads 16 bytes. */
#define N_GATHERS 3
extern const size_t gather_bytes[N_GATHERS];

struct limits {
    struct copy_rate copy;
    double           from_memory[N_GATHERS];    /* random places a second from a table larger than any cache */
    double           from_cache[N_GATHERS];     /* the same from a table that the last cache holds */
    size_t           memory_bytes, cache_bytes; /* size of these tables */
    double           launch;                    /* seconds of an empty kernel in a long sequence */
    double           launch_and_wait;           /* seconds of an empty kernel and its wait */
    double           to_device, from_device;    /* bytes a second between malloc memory and a buffer */
    double           pinned_to, pinned_from;    /* the same with memory of ordo_host_alloc */
};

/* Takes about a second. Limits that cannot be measured are NaN. Returns an error if none can be measured,
 * ORDO_BROKEN if a kernel read wrong data. */
ordo_status measure_limits(ordo_device *device, struct limits *out);

/* Uses the field names of result files. The caller deletes it. */
cJSON        *limits_to_json(const struct limits *limits);
struct limits limits_from_json(const cJSON *json);

/* Writes the names of limits that differ by more than `share`, as "copy, launch", or "". */
void limits_differ(const struct limits *a, const struct limits *b, double share, char *text, size_t bytes);

/* Prints a line each for copies, gathers and launches. */
void say_limits(FILE *out, int indent, const struct limits *limits);
