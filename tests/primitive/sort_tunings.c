/* SPDX-License-Identifier: Apache-2.0 */
/* The sort with every value of its tunables. Each needs its own kernel, so this takes long on a CPU. */
#include "sort_case.h"

#include <stdio.h>

/* Every value of every tunable of the sort, alone and with each method, gives the same results. */
DEVICE_TEST(sort_tunings, every_tuning_gives_the_same_order)
{
    struct ordo_tunable_info info;
    static const char *const shapes[] = { "sort.k4v4.", "sort.k8v8." };
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
    for (size_t i = 0; ordo_device_tunable(t->dev, i, &info) == ORDO_OK; i++) {
        const bool first = strncmp(info.name, shapes[0], 10) == 0;
        if (!first && strncmp(info.name, shapes[1], 10) != 0)
            continue;
        for (uint32_t c = 0; c < info.n_choices; c++)
            for (uint32_t method = 0; method < 3; method++) {
                char name[32];
                snprintf(name, sizeof name, "%smethod", first ? shapes[0] : shapes[1]);
                test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.choice[c]));
                if (strcmp(name, info.name) != 0)
                    test_ok(t, ordo_device_set_tunable(t->dev, name, method));
                const struct ordo_sort_params params = { .key = first ? ORDO_U32 : ORDO_F64,
                                                         .value_bytes = first ? 4 : 8 };
                check_job(t, &(struct job) { params, TEST_RANDOM, 40009, false });
                check_job(t, &(struct job) { params, TEST_FEW, 200, true });
            }
        test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.value));
    }
}

/* Each size of a range of the local pass, with uniform keys and with few distinct ones. */
MASK_TEST(sort_tunings, every_range_of_the_local_pass_gives_the_same_order, "cpu=0,progress=1")
{
    struct ordo_tunable_info info;
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.local", 12));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.digit_bits", 8));
    test_ok(t, ordo_device_set_tunable(t->dev, "sort.merged", 0));
    for (size_t i = 0; ordo_device_tunable(t->dev, i, &info) == ORDO_OK; i++) {
        if (strncmp(info.name, "sort.k8v4.local_", 16) != 0)
            continue;
        for (uint32_t c = 0; c < info.n_choices; c++) {
            const struct ordo_sort_params params = { .key = ORDO_I64, .value_bytes = 4 };
            test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.choice[c]));
            check_job(t, &(struct job) { params, TEST_RANDOM, 50023, false });
            check_job(t, &(struct job) { params, TEST_FEW, 50023, true });
        }
        test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.value));
    }
}
