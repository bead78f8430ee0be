/* SPDX-License-Identifier: Apache-2.0 */
/* Cuckoo hashing on the device, to compare with, as the papers do: one pair a slot, three functions, built at once by atomic exchanges
 * (D. A. F. Alcantara et al., "Real-Time Parallel Hashing on the GPU", SIGGRAPH Asia 2009, whose functions these are not, and
 * who set aside what finds no place; CUDPP's, which the GPU LSM's paper measures at 80 percent). A build in which an
 * element moves more than 7 log2(n) times is begun anew with another seed, of 32: at 85 percent one was found, at 90 none.
 * Keys of type u32 and values of 4 bytes alone; no equal keys; and of all pairs one is not legal: key and value all ones, as
 * which an empty slot is stored. No updates, no growth. */
#ifndef BENCH_CUCKOO_H
#define BENCH_CUCKOO_H

#include "bench/workload/model.h"

#include "ordo/dict.h"

struct cuckoo;

/* Whether the device has what it takes: atomics of 64 bits. */
bool cuckoo_can(ordo_device *device);
/* An empty one, for so many elements at load_percent. After an error *out is NULL and `why` says what failed. */
ordo_status cuckoo_open(ordo_device *device, size_t elements, uint32_t load_percent, struct cuckoo **out, char *why,
                        size_t why_bytes);
void        cuckoo_close(struct cuckoo **table);
/* Waits. */
ordo_status cuckoo_clear(struct cuckoo *table);
/* Elements at .. at + count - 1, in the place of all that was there. Waits. ORDO_UNSUPPORTED: CUCKOO_FULL; ORDO_INVALID: the pair that
 * is not legal. */
#define CUCKOO_FULL "so full a table (--load): under none of its seeds do all elements find a place"
ordo_status cuckoo_build(struct cuckoo *table, cl_mem keys, cl_mem values, size_t at, size_t count,
                         const struct ordo_order *order);
/* Outputs may be NULL. */
ordo_status cuckoo_find(struct cuckoo *table, cl_mem keys, size_t at, size_t count, cl_mem values_out, cl_mem found,
                        const struct ordo_order *order);

/* All elements, ascending; the caller frees *out with model_free. */
ordo_status cuckoo_export(struct cuckoo *table, struct model *out, char *why, size_t why_bytes);
size_t      cuckoo_bytes(const struct cuckoo *table);

#endif
