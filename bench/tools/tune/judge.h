/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the new values of a group are kept, by the times of its trials with old and new values that took turns. */
#ifndef BENCH_TUNE_JUDGE_H
#define BENCH_TUNE_JUDGE_H

#include "group.h"

/* New values take at most this share of the time of the old ones. */
#define WORTH_IT 0.98

/* Whether the new values are faster on the trials that measure the changed params, and slow no trial down. */
bool group_is_better(const struct group *group);
/* Whether the times with the old values differ so much from turn to turn that the machine does other work. */
bool group_is_disturbed(const struct group *group);

#endif
