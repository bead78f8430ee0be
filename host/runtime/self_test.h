/* SPDX-License-Identifier: Apache-2.0 */
/* Runs kernels whose results are known, in the variants that this device will use. After a wrong result
 * (ORDO_SELF_TEST), device.c selects a safer variant. */
#ifndef ORDO_SELF_TEST_H
#define ORDO_SELF_TEST_H

#include "runtime.h"

enum ordo_self_test_part { ORDO_TEST_LANES, ORDO_TEST_ATOMICS, ORDO_TEST_PRIMITIVES };

ordo_status ordo_self_test_lanes(ordo_device *dev);
ordo_status ordo_self_test_atomics(ordo_device *dev);

/* Tests the kernels of the primitives. If `all` is false, omits some kernels, so that a device opens faster. */
typedef ordo_status ordo_self_test_part_fn(ordo_device *dev, bool all);

struct ordo_adopted {
    cl_context       context;
    cl_device_id     id;
    cl_command_queue queue; /* NULL: the device creates one */
};
/* Opens the device that `config` selects. If `adopted` is not NULL, uses its OpenCL objects instead. */
ordo_status ordo_open_device(const struct ordo_device_config *config, const struct ordo_adopted *adopted,
                             ordo_self_test_part_fn *test_primitives, ordo_device **out);

struct ordo_lanes_case {
    uint32_t team_width; /* A power of two, at most facts.sub_group. */
    uint32_t group;      /* a multiple of facts.sub_group */
    uint32_t n_groups;
    uint64_t seed;
};
ordo_status ordo_self_test_lanes_case(ordo_device *dev, const struct ordo_lanes_case *c);

#endif
