/* SPDX-License-Identifier: Apache-2.0 */
/* What workloads over arrays get.
 *
 *     struct spec spec = { .workload = SORT, .type = ORDO_U32, .value_bytes = 4, .count = 1 << 20, .seed = 1 };
 *     struct inputs in;
 *     if (inputs_make(&spec, &in)) ... run something, which fills `out` ...
 *     if (!answer_check(&spec, &in, &out, why, sizeof why)) puts(why);
 *     inputs_free(&in);
 */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include "workload.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inputs {
    void    *keys;   /* count elements; sorted as the workload needs it. Dictionaries: in the order of arrival */
    void    *values; /* count values (value_of), or NULL */
    uint8_t *flags;  /* compact: count bytes, or NULL */
    void  *queries; /* n_queries keys, or NULL; a lookup's and an equal range's are in the array seven times in eight */
    void  *rows;    /* gather: count rows; keys are then the indices, of 4 bytes */
    size_t kept;    /* compact: how many flags are set */
};

/* False if memory ran out; then *in is empty. */
bool inputs_make(const struct spec *spec, struct inputs *in);
void inputs_free(struct inputs *in);

#ifdef __cplusplus
}
#endif

#endif
