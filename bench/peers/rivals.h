/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of other authors on the device, for comparison in papers. Keys are u32 and values have 4 bytes.
 *
 * LOCKFREE  the lock-free skiplist of P. Misra and M. Chaudhuri, "Performance Evaluation of Concurrent Lock-free Data
 *           Structures on GPUs" (ICPADS 2012), as the authors of GFSL describe it. One key per node, towers of links
 *           with p = 0.5, one operation per work-item. Erases by marks and compare-and-swap, never reuses a node.
 *           Differs from the paper: heights are a hash of the key, an operation that failed very often is left to
 *           another launch, and an empty list takes a batch in parts that grow.
 * CUCKOO    cuckoo hashing: one pair per slot, three functions, built in one launch by atomic exchanges (D. A. F.
 *           Alcantara et al., "Real-Time Parallel Hashing on the GPU", SIGGRAPH Asia 2009, and CUDPP, which the paper
 *           on the GPU LSM measures at 80 percent). The functions differ from theirs, and elements without a place are
 *           not set aside. If an element moves more than 7 log2(n) times, the build starts over with another of 32
 *           seeds. At 85 percent one seed worked, at 90 none. Rejects equal keys and the pair of key and value with all
 *           bits set, which marks an empty slot. No updates, no growth. */
#pragma once

#include "bench/common/terminal.h"
#include "bench/workload/plan.h"

struct rival;

/* Whether the variant's structure can run the workload on the device. */
bool rival_can(ordo_device *device, const struct spec *spec);
/* Creates it empty, with memory for everything that the plan stores. After an error *out is NULL and `why` has the
 * reason. */
ordo_status rival_open(ordo_device *device, const struct dict_plan *plan, struct rival **out, char *why);
void        rival_close(struct rival **rival);
/* Waits. */
ordo_status rival_clear(struct rival *rival);
/* Runs a step on columns in device memory. Waits, except for finds in a cuckoo table. ORDO_NO_DEVICE_MEMORY: too
 * many stores. ORDO_INVALID: the illegal pair of a cuckoo table. ORDO_UNSUPPORTED: another step, or CUCKOO_FULL. */
#define CUCKOO_FULL "so full a table (--load): under none of its seeds do all elements find a place"
ordo_status rival_step(struct rival *rival, const cl_mem columns[N_COLUMNS], const struct step *step,
                       const struct ordo_order *order);
/* Reads all elements, ascending. The caller frees *out with model_free. ORDO_BROKEN: a list is unsorted or
 * inconsistent. */
ordo_status rival_export(struct rival *rival, struct model *out, char *why);
ordo_status rival_statistics(const struct rival *rival, struct ordo_statistics *out);
