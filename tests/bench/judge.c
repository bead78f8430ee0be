/* SPDX-License-Identifier: Apache-2.0 */
/* Which new values ordo-tune keeps. Needs no device. */
#include "bench/tools/tune/group.h"

#include <criterion/criterion.h>

/* The first param of the group was changed. It has a trial for large inputs and one for small inputs. */
static struct group group_of(double large_before, double large_after, double small_before, double small_after)
{
    return (struct group) {
        .params = { { .small = false }, { .small = true } },
        .in_use = { { 1, 0 } },
        .n_params = 2,
        .trials = { { .before = large_before, .before_most = large_before, .after = large_after },
                    { .small = true, .before = small_before, .before_most = small_before, .after = small_after } },
        .n_trials = 2,
    };
}

Test(judge, keeps_gains_alone)
{
    const struct group gain = group_of(1, 0.9, 1, 1), too_little = group_of(1, 0.99, 1, 0.5);
    const struct group loss_elsewhere = group_of(1, 0.5, 0.75, 1), noise_elsewhere = group_of(1, 0.5, 1, 1.03);
    cr_expect(group_is_better(&gain));
    cr_expect(!group_is_better(&too_little), "the trial of small inputs does not measure the changed param");
    cr_expect(!group_is_better(&loss_elsewhere));
    cr_expect(group_is_better(&noise_elsewhere));
}

Test(judge, knows_a_busy_machine)
{
    struct group group = group_of(1, 0.9, 1, 1);
    group.trials[1].before_most = 1.2;
    cr_expect(!group_is_disturbed(&group));
    group.trials[1].before_most = 1.3;
    cr_expect(group_is_disturbed(&group));
}
