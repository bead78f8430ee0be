/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware as the system shows it, and advice for hardware that OpenCL lacks. */
#ifndef BENCH_TOOLS_INFO_REPORT_H
#define BENCH_TOOLS_INFO_REPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum maker { NVIDIA, AMD, INTEL, N_MAKERS };
const char *maker_name(enum maker maker);

#define POCL "Portable Computing Language" /* name of its platform */

/* Hardware that OpenCL has. */
struct exposed {
    bool gpu[N_MAKERS];
    bool cpu;
    bool rusticl;        /* its platform exists ... */
    bool rusticl_device; /* ... and has a device */
    bool pocl;           /* its platform exists, without a device */
    bool any_platform;
};
/* The maker by PCI vendor id, else by vendor name; N_MAKERS: another. */
enum maker maker_of(unsigned vendor_id, const char *vendor);

#define ADVICE_MAX   8
#define ADVICE_BYTES 400

/* Writes sentences of advice. Returns their number. `root` is "" or, in tests, a directory that replaces /. */
int hardware_advice(const char *root, const struct exposed *exposed, char advice[ADVICE_MAX][ADVICE_BYTES]);

/* Queries in a child. */

#define PLATFORMS_MAX 16
#define DEVICES_MAX   64

/* Answers "driver:FILE", "platforms", "devices:P", "device:P:D", "quiet-device:P:D" (no self-test) or
 * "prepare:K:N:LIST". Returns the exit status. */
int answer_question(const char *question);

/* The directory (or one file) of driver registrations, as in OCL_ICD_VENDORS. */
const char *vendors(void);
/* The path of a driver's file. */
void vendor_path(const char *file, char *path, size_t bytes);

struct options {
    const char *json;    /* NULL: none */
    const char *root;    /* "": this machine */
    const char *prepare; /* list to prepare, or NULL */
    bool        tunables, start, no_self_test;
    double      seconds; /* per query */
};

/* Makes the report. The caller deletes it. */
cJSON *gather(const struct options *options, int argc, char **argv);

/* Prints it. */

void show(const struct options *options, const cJSON *json);

#endif
