/* SPDX-License-Identifier: Apache-2.0 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS /* clCreateCommandQueue: every driver has it */
#include "timing.h"

#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH_SECONDS 0.02
#define BATCH_MAX     4096
/* A batch of this length is timed once by the device's clock, because the cost of a queue's first call is small
 * against it. */
#define LONG_BATCH 0.1

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

struct elapsed elapsed_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (struct elapsed) { now(), (double) t.tv_sec + (double) t.tv_nsec * 1e-9 };
}

struct elapsed elapsed_since(struct elapsed before)
{
    const struct elapsed here = elapsed_now();
    return (struct elapsed) { here.wall - before.wall, here.cpu - before.cpu };
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static double median_of_sorted(const double *numbers, int n)
{
    return n == 0 ? NAN : n % 2 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}

struct spread spread_of(double *seconds, int n)
{
    if (n == 0)
        return (struct spread) { NAN, NAN, NAN };
    qsort(seconds, (size_t) n, sizeof *seconds, ascending);
    return (struct spread) { median_of_sorted(seconds, n), seconds[(n - 1) / 10], seconds[n - 1 - (n - 1) / 10] };
}

/* The number of samples below the median is binomial. These ranks leave about 2.5 % on each side. */
static void median_interval(const double *seconds, int n, double interval[2])
{
    double    sorted[REPETITIONS_MAX];
    const int low = (int) floor((n - 1.96 * sqrt(n)) / 2) - 1, high = n - 1 - low;
    interval[0] = interval[1] = NAN;
    if (low < 0 || n > REPETITIONS_MAX)
        return;
    memcpy(sorted, seconds, (size_t) n * sizeof *sorted);
    qsort(sorted, (size_t) n, sizeof *sorted, ascending);
    interval[0] = sorted[low];
    interval[1] = sorted[high];
}

/* A call to time, and its first error. */
struct job {
    ordo_device *device;
    call_fn      call, prepare;
    void        *arg;
    ordo_status  status;
};

static ordo_status prepare(const struct job *job)
{
    if (!job->prepare)
        return ORDO_OK;
    TRY(job->prepare(job->arg, NULL));
    return ordo_device_finish(job->device);
}

/* A host_run_fn: a batch by the host's clock. */
static struct elapsed wall_batch(void *job_, int calls)
{
    struct job *job = job_;
    job->status = prepare(job);
    const struct elapsed before = elapsed_now();
    for (int i = 0; i < calls && job->status == ORDO_OK; i++)
        job->status = job->call(job->arg, NULL);
    if (job->status == ORDO_OK)
        job->status = ordo_device_finish(job->device);
    return job->status == ORDO_OK ? elapsed_since(before) : (struct elapsed) { -1, 0 };
}

static double event_end(cl_event event)
{
    cl_ulong ns = 0;
    if (!event || clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ns, &ns, NULL) != CL_SUCCESS)
        return NAN;
    return (double) ns * 1e-9;
}

/* *seconds: NaN if the driver has no timers. */
static ordo_status device_batch(cl_command_queue queue, cl_mem word, const struct job *job, int calls, double *seconds)
{
    cl_event    start = NULL, end = NULL;
    ordo_status got = ORDO_OK;
    TRY(prepare(job));
    TRY_CL(clEnqueueCopyBuffer(queue, word, word, 0, 4, 4, 0, NULL, &start));
    for (int i = 0; i < calls && got == ORDO_OK; i++) {
        const struct ordo_order order = { .queue = queue, .done = i + 1 == calls ? &end : NULL };
        got = job->call(job->arg, &order);
    }
    if (clFinish(queue) != CL_SUCCESS && got == ORDO_OK)
        got = ORDO_OPENCL;
    *seconds = event_end(end) - event_end(start);
    if (!(*seconds > 0))
        *seconds = NAN;
    clReleaseEvent(start);
    if (end)
        clReleaseEvent(end);
    return got;
}

/* `warm`: the first repetition counts too. */
static ordo_status take_device_clock(const struct job *job, int repetitions, bool warm, struct timing *out)
{
    double           seconds[REPETITIONS_MAX];
    int              known = 0;
    cl_int           code = CL_SUCCESS;
    const cl_context context = ordo_device_context(job->device);
    cl_mem           word = NULL;
    cl_command_queue queue =
        clCreateCommandQueue(context, ordo_device_id(job->device), CL_QUEUE_PROFILING_ENABLE, &code);
    if (code == CL_SUCCESS)
        word = clCreateBuffer(context, CL_MEM_READ_WRITE, 8, NULL, &code);
    ordo_status got = code == CL_SUCCESS ? ORDO_OK : ORDO_OPENCL;
    for (int r = warm ? 0 : -1; r < repetitions && got == ORDO_OK; r++) { /* the first warms the queue */
        double batch_seconds = NAN;
        got = device_batch(queue, word, job, out->batch, &batch_seconds);
        if (r >= 0 && !isnan(batch_seconds))
            seconds[known++] = batch_seconds / out->batch;
    }
    if (word)
        clReleaseMemObject(word);
    if (queue)
        clReleaseCommandQueue(queue);
    out->device = spread_of(seconds, known);
    return got;
}

/* Whether there are enough repetitions (at least `least`). Sets out->end to the reason. */
static bool enough(const struct timing_goal *goal, int least, struct timing *out)
{
    const int    most = goal->repetitions < REPETITIONS_MAX ? goal->repetitions : REPETITIONS_MAX;
    const double share = goal->seconds / (goal->device_too ? 1.5 : 1); /* the device's clock gets half as many */
    const double spent = now() - out->began;
    median_interval(out->sample, out->repetitions, out->interval);
    out->end = ENDED_BY_SIGNAL;
    if (stop_asked())
        return out->repetitions >= 1;
    if (out->repetitions < least)
        return false;
    out->end = ENDED_BY_NUMBER;
    if (out->repetitions >= most)
        return true;
    out->end = ENDED_BY_INTERVAL;
    if (goal->narrow > 0 && out->interval[1] - out->interval[0] <= goal->narrow * out->interval[0])
        return true;
    out->end = ENDED_BY_TIME;
    return spent * (out->repetitions + 1) / out->repetitions > share;
}

static void add_sample(struct timing *out, struct elapsed took)
{
    out->cpu = out->repetitions ? fmin(out->cpu, took.cpu / out->batch) : took.cpu / out->batch;
    out->sample[out->repetitions++] = took.wall / out->batch;
}

/* Adds repetitions until there are enough, at least `least`. False if one fails. */
static bool repeat(host_run_fn run, void *arg, const struct timing_goal *goal, int least, struct timing *out)
{
    double seconds[REPETITIONS_MAX];
    while (!enough(goal, least, out)) {
        const struct elapsed took = run(arg, out->batch);
        if (took.wall < 0)
            return false;
        add_sample(out, took);
    }
    memcpy(seconds, out->sample, sizeof seconds);
    out->wall = spread_of(seconds, out->repetitions);
    return true;
}

ordo_status time_calls(ordo_device *device, call_fn call, void *arg, const struct timing_goal *goal, struct timing *out)
{
    const double batch_seconds = goal->batch_seconds > 0 ? goal->batch_seconds : BATCH_SECONDS;
    struct job   job = { device, call, goal->prepare, arg, ORDO_OK };
    *out = (struct timing) { .wall = spread_of(NULL, 0), .device = spread_of(NULL, 0), .batch = 1 };
    out->first_call = wall_batch(&job, 1).wall;
    TRY(job.status);
    struct elapsed took = wall_batch(&job, 1);
    while (took.wall >= 0 && took.wall < batch_seconds && out->batch * 2 <= BATCH_MAX && !job.prepare)
        took = wall_batch(&job, out->batch *= 2);
    TRY(job.status);
    out->began = now() - took.wall;
    add_sample(out, took); /* the last batch was long enough */
    if (!repeat(wall_batch, &job, goal, 3, out))
        return job.status;
    if (!goal->device_too || out->end == ENDED_BY_SIGNAL)
        return ORDO_OK;
    const bool is_long = out->wall.median * out->batch > LONG_BATCH;
    return take_device_clock(&job, is_long ? 1 : (out->repetitions + 1) / 2, is_long, out);
}

bool time_host(host_run_fn run, void *arg, bool one, const struct timing_goal *goal, struct timing *out)
{
    struct timing_goal host = *goal;
    host.device_too = false;
    *out = (struct timing) { .wall = spread_of(NULL, 0), .device = spread_of(NULL, 0), .batch = 1 };
    const struct elapsed first = run(arg, 1);
    out->first_call = first.wall;
    for (double took = first.wall; !one && took >= 0 && took < BATCH_SECONDS && out->batch < BATCH_MAX;)
        took = run(arg, out->batch *= 2).wall;
    out->began = now();
    /* Counts the first call if each call starts cold, or if it took longer than all repetitions should. */
    if (out->first_call >= 0 && out->batch == 1 && (one || out->first_call > goal->seconds)) {
        out->began -= out->first_call;
        add_sample(out, first);
    }
    return out->first_call >= 0 && repeat(run, arg, &host, 1, out);
}

/* Sorts the known numbers ascending. Returns their number. */
static int known_of(const double *numbers, int n, double known[RATES_MAX])
{
    int n_known = 0;
    for (int i = 0; i < n && n_known < RATES_MAX; i++)
        if (!isnan(numbers[i]))
            known[n_known++] = numbers[i];
    qsort(known, (size_t) n_known, sizeof *known, ascending);
    return n_known;
}

double median_of_known(const double *numbers, int n)
{
    double known[RATES_MAX];
    return median_of_sorted(known, known_of(numbers, n, known));
}

static bool slower_in_pairs(const double *old, int n_old, const double *new_rates, int n_new, double worth)
{
    double    ratios[RATES_MAX];
    const int turns = n_old < n_new ? n_old : n_new;
    int       n = 0;
    bool      all = true;
    for (int p = 0; p < turns && n < RATES_MAX; p++) {
        const double ratio = new_rates[p] / old[p];
        if (isnan(ratio))
            continue;
        all = all && ratio < 1;
        ratios[n++] = ratio;
    }
    return all && n >= PAIRS_MIN && median_of_known(ratios, n) < 1 - worth;
}

enum slowdown judge_rates(const double *old, int n_old, const double *new_rates, int n_new, bool turns, double worth)
{
    double    before[RATES_MAX], after[RATES_MAX];
    const int n_before = known_of(old, n_old, before), n_after = known_of(new_rates, n_new, after);
    if (n_before < PROCESSES_MIN || n_after < PROCESSES_MIN)
        return UNKNOWN;
    if (after[n_after - 1] < before[0] &&
        median_of_sorted(after, n_after) < median_of_sorted(before, n_before) * (1 - worth))
        return SLOWER;
    return turns && slower_in_pairs(old, n_old, new_rates, n_new, worth) ? SLOWER : NOT_SLOWER;
}
