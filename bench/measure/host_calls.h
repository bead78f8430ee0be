/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on dictionaries from and to arrays in host memory: inputs are the sheet's own, outputs have memory beside it. */
#ifndef BENCH_HOST_CALLS_H
#define BENCH_HOST_CALLS_H

#include "bench/workload/sheet.h"

#include <stdbool.h>

struct host_outputs {
    void  *at[N_COLUMNS];
    size_t exported; /* elements that the last export found */
};

/* Room for all outputs of a sheet, poisoned. False without memory: then there are none. */
bool host_outputs_make(const struct sheet *sheet, struct host_outputs *outputs);
void host_outputs_free(struct host_outputs *outputs);
/* Fills them with POISON_BYTE. */
void host_outputs_poison(const struct sheet *sheet, struct host_outputs *outputs);

/* A build, upsert, find or export; blocks. ORDO_UNSUPPORTED: another step. */
ordo_status host_step(ordo_dict *dict, const struct sheet *sheet, struct host_outputs *outputs,
                      const struct step *step);

#endif
