/* SPDX-License-Identifier: Apache-2.0 */
/* How long calls on a device take.
 *
 * One repetition is a batch of calls enqueued back to back, long enough that neither clock's resolution nor the wait at
 * its end counts. Two clocks:
 *   wall    from before the first enqueue until the device is idle, over the batch: what a program waits. Taken on the
 *           device's own queue, without profiling.
 *   device  on the device's own clock, from the end of a 4-byte copy enqueued before the batch to the end of the last
 *           call's last command, over the batch: gaps between the batch's commands count, the host's wait for the end does
 *           not. Taken in repetitions of their own on a second queue with profiling, which may slow a driver down.
 */
#ifndef BENCH_COMMON_TIMING_H
#define BENCH_COMMON_TIMING_H

#include "ordo/ordo.h"

#include <stdbool.h>

/* Returns the first error to the caller. */
#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        const ordo_status try_ = (expr);                                                                               \
        if (try_ != ORDO_OK)                                                                                           \
            return try_;                                                                                               \
    } while (0)
#define TRY_CL(expr) TRY((expr) == CL_SUCCESS ? ORDO_OK : ORDO_OPENCL)

/* Enqueues one call. NULL order: the device's own queue. */
typedef ordo_status (*call_fn)(void *arg, const struct ordo_order *order);

#define REPETITIONS_MAX 64

struct timing_goal {
    double seconds; /* for all repetitions together; at least three are made whatever it says, of a host's code one */
    double batch_seconds; /* how long a batch lasts at least; 0: 20 ms, a thousand times the wait at its end */
    double narrow;        /* repetitions end when the median's interval is no wider than this share of it; 0: never */
    int    repetitions;   /* most of each clock */
    bool   device_too;    /* take the device's clock as well */

    /* Brings about the state that a call begins with; not timed. With it a batch is one call. NULL: none is needed. */
    call_fn prepare;
};

struct spread {
    double median, low, high; /* seconds a call; low and high are the 10th and 90th percentile; NaN: not known */
};

/* Why there were no more repetitions. */
enum timing_end { ENDED_BY_NUMBER, ENDED_BY_TIME, ENDED_BY_INTERVAL, ENDED_BY_SIGNAL };

struct timing {
    struct spread wall, device;
    double        first_call; /* seconds: builds programs, allocates scratch */
    int           repetitions, batch;
    double sample[REPETITIONS_MAX]; /* by the host's clock, seconds a call, in their order: `repetitions` of them */
    double interval[2];             /* the median lies within this with a chance of 95 %; NaN: too few samples */
    double began;                   /* when the first repetition began, by now() */
    enum timing_end end;
};

/* Seconds of a clock that only goes forward. */
double now(void);

/* Sorts `seconds`. */
struct spread spread_of(double *seconds, int n);

/* The interval of the median of `n` samples, by their order alone. */
void median_interval(const double *seconds, int n, double interval[2]);

/* The same for code of the host, by the host's clock alone. `run` makes so many calls and returns the seconds they took together,
 * negative if it failed; where it can make only one, which prepares what it needs outside of that, `one` is set. False if it
 * failed. */
typedef double (*host_run_fn)(void *arg, int calls);
bool time_host(host_run_fn run, void *arg, bool one, const struct timing_goal *goal, struct timing *out);

/* Calls until the time of a call is stable enough to plan with, then takes both clocks. Returns the first error. */
ordo_status time_calls(ordo_device *device, call_fn call, void *arg, const struct timing_goal *goal,
                       struct timing *out);

/* Whether rates that several processes measured became less. */

enum slowdown { NOT_SLOWER, SLOWER, UNKNOWN };

/* Fewer processes tell nothing; nor do fewer pairs. */
#define PROCESSES_MIN 3
#define PAIRS_MIN     5
/* Rates at most. */
#define RATES_MAX 64

/* Slower is what is so by more than the share `worth` in the median, and
 *   all new rates are below all old ones, or
 *   `turns`: each new one is below the old one at its place, beside which it was measured. What else the machine does may change
 *   from turn to turn by more than what is looked for.
 * NaN: a process that has none. UNKNOWN: one side has too few. */
enum slowdown judge_rates(const double *old, int n_old, const double *new_rates, int n_new, bool turns, double worth);

/* Of those that are no NaN; NaN of none. */
double median_of_known(const double *numbers, int n);

#endif
