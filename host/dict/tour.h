/* SPDX-License-Identifier: Apache-2.0 */
/* A tour: every operation of a dictionary once, so that its kernels are known, or built. */
#ifndef ORDO_DICT_TOUR_H
#define ORDO_DICT_TOUR_H

#include "dict/structure.h"
#include "ordo/prepare.h"

/* Room for a call's inputs and outputs: 8 bytes for each of 2 * count + 1 elements. On a stand-in (ordo_rehearsal_open) it takes
 * no memory. */
#define ORDO_TOUR_ARRAYS 13
struct ordo_tour_arrays {
    ordo_device      *dev;
    size_t            count;
    struct ordo_slice at
        [ORDO_TOUR_ARRAYS]; /* [0]: keys that differ; [2], [11] and [12]: codes, [11] without ranges, [12] of single keys; the others: anything */
};
ordo_status ordo_tour_arrays_create(ordo_device *dev, size_t count, struct ordo_tour_arrays *out);
void        ordo_tour_arrays_destroy(struct ordo_tour_arrays *arrays);

/* Makes the calls of `operations`, those first that most programs make first. The first error that tells of something is
 * returned, after all. */
ordo_status ordo_dict_tour(ordo_dict *dict, uint32_t operations, const struct ordo_tour_arrays *arrays);

/* The same on a stand-in, with what kernels may have found made up: by each of a few numbers. `make` makes the dictionary. */
typedef ordo_status ordo_dict_maker(ordo_device *dev, const void *config, ordo_dict **out);
void ordo_dict_rehearse(ordo_device *stand_in, ordo_dict_maker *make, const void *config, uint32_t operations,
                        size_t count);

/* At the end of a structure's create: what a dictionary like this is likely to need is built ahead, if the device does that,
 * once for each type. */
void ordo_dict_expect(const ordo_dict *dict, ordo_dict_maker *make, const void *config);
/* The same, once for each type and `kind`: of structures whose configuration makes their kernels others. */
void ordo_dict_expect_kind(const ordo_dict *dict, const char *kind, ordo_dict_maker *make, const void *config);

#endif
