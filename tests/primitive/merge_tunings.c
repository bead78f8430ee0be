/* SPDX-License-Identifier: Apache-2.0 */
/* The merges with every tuning of a profile. Each needs its own kernel, so this takes long on a CPU. */
#include "merge_case.h"

static const struct {
    ordo_type   type;
    uint32_t    value_bytes;
    const char *shape;
} tuned[] = { { ORDO_U32, 0, "k4v0" }, { ORDO_F32, 4, "k4v4" }, { ORDO_U32, 8, "k4v8" },
              { ORDO_I64, 0, "k8v0" }, { ORDO_U64, 4, "k8v4" }, { ORDO_F64, 8, "k8v8" } };

/* The cases of a tuning. */
typedef bool (*merges_fn)(struct test *t, ordo_type type, uint32_t value_bytes, size_t turn);

/* Tests each group size with each number of items. The device may refuse some, not all. */
static void check_all(struct test *t, const char *tunable, bool staged, merges_fn merges)
{
    char   name[48];
    size_t turn = 0, ran = 0;
    for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++) {
        (void) snprintf(name, sizeof name, "%s.%s.group", tunable, tuned[i].shape);
        const struct ordo_tunable_info groups = test_tunable(t, t->dev, name);
        (void) snprintf(name, sizeof name, "%s.%s.items", tunable, tuned[i].shape);
        const struct ordo_tunable_info items = test_tunable(t, t->dev, name);

        for (uint32_t g = 0; g < groups.n_choices; g++)
            for (uint32_t n = 0; n < items.n_choices; n++)
                for (uint32_t s = 0; s < (staged ? 2 : 1); s++) {
                    set(t, tunable, "group", groups.choice[g]);
                    set(t, tunable, "items", items.choice[n]);
                    if (staged)
                        set(t, tunable, "staged", s);
                    ran += merges(t, tuned[i].type, tuned[i].value_bytes, turn++);
                }
    }
    test_true(t, ran > 0);
}

DEVICE_TEST(merge_tunings, every_tuning_gives_the_same_merge)
{
    check_all(t, "merge", true, merges_as_tuned);
}

DEVICE_TEST(merge_tunings, every_tuning_gives_the_same_merge_of_runs)
{
    check_all(t, "merge_runs", false, merges_runs_as_tuned);
}
