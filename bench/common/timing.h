/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of calls on a device.
 *
 * A repetition is a batch of enqueued calls, long enough that clock resolution and the final wait do not matter. Two
 * clocks:
 *   wall    from before the first enqueue until the device is idle, divided by the batch. Uses the device's own queue
 *           without profiling.
 *   device  from the end of a 4-byte copy before the batch to the end of the last command, on the device's clock.
 *           Includes gaps between commands, not the wait of the host. Uses a second queue with profiling, which may
 *           slow a driver.
 * Beside the wall clock runs the time of all processors in this process, which includes a CPU device's threads. Its
 * least value changes little while other processes use the machine. */
#pragma once

#include "ordo/ordo.h"

#include <stdbool.h>

/* Returns the first error. */
#define TRY(expr)                                                                                                      \
    do {                                                                                                               \
        const ordo_status try_ = (expr);                                                                               \
        if (try_ != ORDO_OK)                                                                                           \
            return try_;                                                                                               \
    } while (0)
#define TRY_CL(expr) TRY((expr) == CL_SUCCESS ? ORDO_OK : ORDO_OPENCL)

/* Enqueues one call. A NULL order uses the device's own queue. */
typedef ordo_status (*call_fn)(void *arg, const struct ordo_order *order);

#define REPETITIONS_MAX 64

struct timing_goal {
    double seconds;       /* for all repetitions; at least three are made, one for host code */
    double batch_seconds; /* least length of a batch; 0: 20 ms */
    double narrow;        /* stop when the interval of the median is narrower than this share; 0: never */
    int    repetitions;   /* at most, per clock */
    bool   device_too;    /* use the device's clock too */

    /* Makes the state before a call; not timed. Then a batch is one call. NULL: not needed. */
    call_fn prepare;
};

struct spread {
    double median, low, high; /* seconds a call: median, 10th and 90th percentile; NaN: unknown */
};

enum timing_end { ENDED_BY_NUMBER, ENDED_BY_TIME, ENDED_BY_INTERVAL, ENDED_BY_SIGNAL };

struct timing {
    struct spread   wall, device;
    double          first_call; /* seconds, with program builds and scratch allocation */
    int             repetitions, batch;
    double          sample[REPETITIONS_MAX]; /* seconds a call by the wall clock, in order */
    double          cpu;                     /* least processor seconds of this process a call */
    double          interval[2];             /* 95 % confidence interval of the median; NaN: too few samples */
    double          began;                   /* when the first repetition began, by now() */
    enum timing_end end;
};

/* Seconds of a monotonic clock. */
double now(void);

struct elapsed {
    double wall, cpu; /* seconds by now(), and of all processors in this process; a negative `wall`: failure */
};
/* Since it was {0, 0}. */
struct elapsed elapsed_now(void);
struct elapsed elapsed_since(struct elapsed before);

/* Sorts `seconds`. */
struct spread spread_of(double *seconds, int n);

/* Times host code. `run` makes `calls` calls and returns their time.
 * `one`: it makes one call and prepares its input outside the time. Returns false on failure. */
typedef struct elapsed (*host_run_fn)(void *arg, int calls);
bool time_host(host_run_fn run, void *arg, bool one, const struct timing_goal *goal, struct timing *out);

/* Finds a batch size, then measures with both clocks. Returns the first error. */
ordo_status time_calls(ordo_device *device, call_fn call, void *arg, const struct timing_goal *goal,
                       struct timing *out);

enum slowdown { NOT_SLOWER, SLOWER, UNKNOWN };

/* Fewer processes or pairs give no verdict. */
#define PROCESSES_MIN 3
#define PAIRS_MIN     5
#define RATES_MAX     64

/* SLOWER if the median fell by more than the share `worth`, and
 *   all new rates are below all old ones, or
 *   `turns`: each new rate is below the old one measured in the same turn.
 * NaN marks a process without a rate. UNKNOWN: one side has too few. */
enum slowdown judge_rates(const double *old, int n_old, const double *new_rates, int n_new, bool turns, double worth);

/* The median of the numbers that are not NaN; NaN if there is none. */
double median_of_known(const double *numbers, int n);
