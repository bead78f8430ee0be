/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test: known answers from exactly the variants that the facts and the profile choose. Each part returns
 * ORDO_SELF_TEST with a message that says which operation gave what instead of what, or the error that kept it from
 * running. Wrong answers, and kernels that do not build or fit, make the device step down to a safer variant (device.c). */
#ifndef ORDO_SELF_TEST_H
#define ORDO_SELF_TEST_H

#include "runtime.h"

enum ordo_self_test_part { ORDO_TEST_LANES, ORDO_TEST_ATOMICS, ORDO_TEST_PRIMITIVES };

ordo_status ordo_self_test_lanes(ordo_device *dev);   /* runtime/self_test.c: long loops, all of device/team.cl */
ordo_status ordo_self_test_atomics(ordo_device *dev); /* runtime/self_test.c: device/atomic.cl across work-groups */

/* The primitives' part comes from the layer above, which alone knows what its answers should be: ordo_device_open and
 * ordo_device_adopt are there (primitive/open.c), and hand it down to these. all: the kernels too of which everything that a
 * device may get wrong is in others. */
typedef ordo_status ordo_self_test_part_fn(ordo_device *dev, bool all);
ordo_status         ordo_open_device(const struct ordo_device_config *config, ordo_self_test_part_fn *test_primitives,
                                     ordo_device **out);
ordo_status         ordo_adopt_device(cl_context context, cl_device_id id, cl_command_queue queue,
                                      const struct ordo_device_config *config, ordo_self_test_part_fn *test_primitives,
                                      ordo_device **out);

/* One run of the lanes' part; for tests. */
struct ordo_lanes_case {
    uint32_t team_width; /* a power of two, at most the sub-group */
    uint32_t group;      /* a multiple of the sub-group */
    uint32_t n_groups;
    uint64_t seed;
};
ordo_status ordo_self_test_lanes_case(ordo_device *dev, const struct ordo_lanes_case *c);

#endif
