/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include <math.h>

/* A trial that takes this much longer with the new values is a loss, whatever the others gain. */
#define LOSS 1.05
/* The old values take this much longer in one turn than in another if the machine does other work. */
#define DISTURBED 1.25

bool group_is_better(const struct group *group)
{
    double logs = 0;
    int    trials = 0;
    for (int t = 0; t < group->n_trials; t++) {
        const struct trial *trial = &group->trials[t];
        if (trial->after > trial->before * LOSS)
            return false;
        bool measures = false; /* a param that was changed */
        for (int p = 0; p < group->n_params; p++)
            measures |= group->params[p].small == trial->small && group->in_use.at[p] != group->before.at[p];
        logs += measures ? log(trial->after / trial->before) : 0;
        trials += measures;
    }
    return exp(logs / trials) < WORTH_IT;
}

bool group_is_disturbed(const struct group *group)
{
    for (int t = 0; t < group->n_trials; t++)
        if (group->trials[t].before_most > group->trials[t].before * DISTURBED)
            return true;
    return false;
}
