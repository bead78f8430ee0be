/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware that the machine has, as the system shows it without any driver's help, and what would bring what is there
 * but not exposed by OpenCL. */
#ifndef BENCH_TOOLS_INFO_REPORT_H
#define BENCH_TOOLS_INFO_REPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum maker { NVIDIA, AMD, INTEL, N_MAKERS };
const char *maker_name(enum maker maker);

#define POCL "Portable Computing Language" /* the name of its platform */

/* What OpenCL exposes already. */
struct exposed {
    bool gpu[N_MAKERS];
    bool cpu;
    bool rusticl;        /* its platform is there ... */
    bool rusticl_device; /* ... and has a device */
    bool pocl;           /* its platform is there, and without a device */
    bool any_platform;
};
/* The maker of a device by its PCI vendor id, or by the vendor's name where a driver invents its own ids; N_MAKERS: another. */
enum maker maker_of(unsigned vendor_id, const char *vendor);

#define ADVICE_MAX   8
#define ADVICE_BYTES 400

/* Writes sentences, each saying what is there, that it is not exposed and what to do; returns their number.
 * `root` is "" for this machine, or a directory that stands for / (for tests). */
int hardware_advice(const char *root, const struct exposed *exposed, char advice[ADVICE_MAX][ADVICE_BYTES]);

/* One question to the drivers, answered in a process of its own. */

#define PLATFORMS_MAX 16
#define DEVICES_MAX   64

/* "driver:FILE", "platforms", "devices:P", "device:P:D", "quiet-device:P:D" (no self-test), "prepare:K:N:LIST": writes the answer as
 * child_run (child.h) wants it, and returns the exit status. */
int answer_question(const char *question);

/* Where the loader finds drivers: a file each, which names the library. OCL_ICD_VENDORS may also be one such file. */
const char *vendors(void);
/* The path of a driver's file. */
void vendor_path(const char *file, char *path, size_t bytes);

/* Everything that ordo-info knows, put together from the answers of processes of their own. */

struct options {
    const char *json;    /* NULL: none */
    const char *root;    /* where hardware is looked for: "" is here */
    const char *prepare; /* what is to be prepared, and nothing else done; NULL: nothing */
    bool        tunables, start, no_self_test;
    double      seconds; /* for each question to a driver */
};

/* The whole report; the caller deletes it. */
cJSON *gather(const struct options *options, int argc, char **argv);

/* What gather found, as text for people. */

void show(const struct options *options, const cJSON *json);

#endif
