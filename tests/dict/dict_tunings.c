/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries return the same results with each value of each tunable, one at a time. */
#include "sequence.h"

static bool matters(const struct ordo_tunable_info *info)
{
    static const char *const tuned[] = { "scan.", "merge_runs.k4v4.", "search.k4." };

    for (size_t i = 0; i < sizeof tuned / sizeof *tuned; i++)
        if (strncmp(info->name, tuned[i], strlen(tuned[i])) == 0)
            return true;
    return false;
}

/* Runs a sequence on its own device object. Returns whether the device supports the value. */
static bool try_value(struct test *t, const struct ordo_tunable_info *info, uint32_t value, uint64_t seed)
{
    struct test           own = *t;
    const struct sequence s = sequence_random(seed % N_SUBJECTS, ORDO_U32, 4, seed);

    own.dev = test_open_again(t);
    test_look_back(&own);
    test_ok(&own, ordo_device_set_tunable(own.dev, info->name, value));
    const struct outcome o = sequence_run(&own, &s, NULL);
    if (o.failed && o.status != ORDO_UNSUPPORTED) {
        (void) fprintf(stderr, "with %s = %u:\n", info->name, value);
        sequence_fail(&own, &s, &o);
    }
    ordo_device_close(&own.dev);
    return !o.failed;
}

MASK_TEST(dict_tunings, each_tuning_returns_the_same, "", "cpu=0", "cpu=0,progress=1")
{
    struct ordo_tunable_info info;
    size_t                   ran = 0;
    uint64_t                 seed = t->seed;

    for (size_t i = 0; ordo_device_tunable(t->dev, i, &info) == ORDO_OK; i++)
        for (uint32_t c = 0; matters(&info) && c < info.n_choices; c++)
            ran += try_value(t, &info, info.choice[c], seed++);
    test_true(t, ran > 20);
}
