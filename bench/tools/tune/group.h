/* SPDX-License-Identifier: Apache-2.0 */
/* Tunables that work together ("sort.k4v4.*"), the workloads that measure them, and one set of their values. */
#ifndef BENCH_TUNE_GROUP_H
#define BENCH_TUNE_GROUP_H

#include "bench/measure/measure.h"
#include "options.h"

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdio.h>

#define MOST_GROUPS 40
#define MOST_PARAMS 12
#define MOST_TRIALS 8

struct param {
    char     name[48]; /* "sort.k4v4.items" */
    bool     small;    /* matters to small inputs only */
    bool     applies;  /* other values can be faster on this device */
    uint32_t choice[16];
    uint32_t n_choices;
    int      at;     /* index of the value in use */
    int      before; /* ... at the beginning */
};

/* One workload of a fixed size on which a group is measured. */
struct trial {
    struct spec     spec;
    bool            small; /* the measure of params that are `small`; the others measure the rest */
    struct subject *subject;
    double          seconds;       /* of a call with the values in use */
    double          before, after; /* of a call with the old and the new values, by turns at the end: the least */
    double          before_most;   /* the most with the old values: further from the least if the machine was busy */
};

struct group {
    char         name[24]; /* "sort.k4v4" */
    int          primitive, shape;
    struct param params[MOST_PARAMS];
    int          n_params;
    struct trial trials[MOST_TRIALS]; /* timed */
    int          n_trials;
    struct trial checks[MOST_TRIALS]; /* checked before a candidate is timed */
    int          n_checks;
    int          tried, dropped;
    double       seconds_trying;
    bool         started, finished;
    bool         disturbed; /* the times at the end differ too much from turn to turn to tell anything */
};

struct tuner {
    const struct options *options;
    FILE                 *out;
    ordo_device          *device;
    bool                  cpu;
    double                deadline;       /* of the group at work */
    double                whole_deadline; /* of all */
    struct group         *groups;
    int                   n_groups;
    cJSON                *drops;
};

/* Finds the groups that are wanted, in the order of work. False if there are none, or without memory. */
bool list_groups(struct tuner *tuner);

/* What a group is measured on. */
void        plan_trials(const struct tuner *tuner, struct group *group);
ordo_status open_trials(const struct tuner *tuner, struct trial *list, int n, char *why);
void        close_trials(struct trial *list, int n);

/* Indices into the params' choices. */
struct values {
    int at[MOST_PARAMS];
};

struct values values_in_use(const struct group *group);
struct values values_before(const struct group *group);
bool          changed(const struct group *group);

/* These are false with the reason in `why`. */
bool set_values(const struct tuner *tuner, const struct group *group, const struct values *values, char *why);
/* Runs each trial once and checks all of its output. */
bool all_right(const struct tuner *tuner, const struct trial *list, int n, char *why);
/* The least of several repetitions: what else the machine does only ever adds. */
bool time_trial(const struct tuner *tuner, const struct trial *trial, double *seconds, char *why);

#endif
