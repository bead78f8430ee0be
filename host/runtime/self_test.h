/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test: known answers from exactly the variants that facts and profile choose. Each part returns
 * ORDO_SELF_TEST with a message that names the operation and both values, or the error that kept it from running.
 * After wrong answers, and if a kernel does not build or fit, the device steps down to a safer variant (device.c). */
#ifndef ORDO_SELF_TEST_H
#define ORDO_SELF_TEST_H

#include "runtime.h"

enum ordo_self_test_part { ORDO_TEST_LANES, ORDO_TEST_ATOMICS, ORDO_TEST_PRIMITIVES };

ordo_status ordo_self_test_lanes(ordo_device *dev);   /* long loops, all of device/team.cl */
ordo_status ordo_self_test_atomics(ordo_device *dev); /* device/atomic.cl across work-groups */

/* The test of the primitives. all: also the kernels that add no risk to those tested at opening. */
typedef ordo_status ordo_self_test_part_fn(ordo_device *dev, bool all);

struct ordo_adopted {
    cl_context       context;
    cl_device_id     id;
    cl_command_queue queue; /* NULL: the device creates its own */
};
/* Opens the device that `config` selects, or the adopted one if `adopted` is not NULL. */
ordo_status ordo_open_device(const struct ordo_device_config *config, const struct ordo_adopted *adopted,
                             ordo_self_test_part_fn *test_primitives, ordo_device **out);

/* One run of the lanes' part; for tests. */
struct ordo_lanes_case {
    uint32_t team_width; /* a power of two, at most the sub-group */
    uint32_t group;      /* a multiple of the sub-group */
    uint32_t n_groups;
    uint64_t seed;
};
ordo_status ordo_self_test_lanes_case(ordo_device *dev, const struct ordo_lanes_case *c);

#endif
