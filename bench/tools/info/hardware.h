/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware that the machine has, as the system shows it without any driver's help, and what would bring what is there
 * but not exposed by OpenCL. */
#ifndef BENCH_HARDWARE_H
#define BENCH_HARDWARE_H

#include <stdbool.h>

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

#define MOST_ADVICE  8
#define ADVICE_BYTES 400

/* Writes sentences, each saying what is there, that it is not exposed and what to do; returns their number.
 * `root` is "" for this machine, or a directory that stands for / (for tests). */
int hardware_advice(const char *root, const struct exposed *exposed, char advice[MOST_ADVICE][ADVICE_BYTES]);

#endif
