/* SPDX-License-Identifier: Apache-2.0 */
/* Tunables that work together ("sort.k4v4.*") form a group. Workloads of fixed sizes measure its values. */
#pragma once

#include "bench/measure/measure.h"

#include "ordo/ordo.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* The first part of the names of tunables, in the order of work; and bytes of key and value. */
#define N_PRIMITIVES 10
#define N_SHAPES     6
const char *primitive_name(int i);
const char *shape_name(int i);

struct options {
    const char *device, *json;
    double      budget;
    unsigned    primitives, shapes; /* bits 1 << index */
    bool        dry_run, row;
};

#define GROUPS_MAX 40
#define PARAMS_MAX 12
#define TRIALS_MAX 16

struct param {
    char     name[48]; /* "sort.k4v4.items" */
    bool     small;    /* matters to small inputs only */
    bool     applies;  /* other values can be faster on this device */
    uint32_t choice[16];
    uint32_t n_choices;
};

/* Indices into the params' choices. */
struct values {
    int at[PARAMS_MAX];
};

struct trial {
    struct spec    spec;
    bool           small; /* measures the params that are `small`; the others measure the rest */
    struct target *target;
    double         seconds;       /* of a call with the values in use */
    double         before, after; /* the least of a call with the old and the new values, in turns at the end */
    double         before_most;   /* the most with the old values */
};

struct group {
    char          name[24]; /* "sort.k4v4" */
    int           primitive, shape;
    struct param  params[PARAMS_MAX];
    int           n_params;
    struct values before, in_use; /* at the beginning, and now */
    struct trial  trials[TRIALS_MAX];
    int           n_trials; /* timed; the others up to n_all are checked before a candidate is timed */
    int           n_all;
    int           tried, dropped;
    double        seconds_trying;
    bool          started, finished;
    bool          disturbed; /* the times at the end differ too much between turns */
};

struct tuner {
    const struct options *options;
    FILE                 *out;
    ordo_device          *device;
    bool                  cpu;
    double                deadline;       /* of the current group */
    double                whole_deadline; /* of all groups */
    struct group          groups[GROUPS_MAX];
    int                   n_groups;
    cJSON                *json, *drops;
};

/* Finds the wanted groups, in the order of work. */
void list_groups(struct tuner *tuner);

/* Plans and opens the trials of a group. False with the reason in `why`. */
bool open_trials(const struct tuner *tuner, struct group *group, char *why);
void close_trials(struct group *group);

uint32_t value_at(const struct group *group, const struct values *values, int param);
/* Whether values in use differ from those at the beginning. */
bool changed(const struct group *group);

/* False with the reason in `why`. run_trial takes the least of several repetitions, because other work only adds time;
 * `seconds` NULL: it runs the trial once and checks its output. Dictionaries are always checked. all_right checks all
 * trials, or the ones alone that are not timed. */
bool set_values(const struct tuner *tuner, const struct group *group, const struct values *values, char *why);
bool all_right(const struct tuner *tuner, const struct group *group, bool checks_only, char *why);
bool run_trial(const struct tuner *tuner, const struct trial *trial, double *seconds, char *why);

/* New values take at most this share of the time of the old ones. */
#define WORTH_IT 0.98
/* Whether the new values are faster on the trials that measure the changed params, and slow no trial down. */
bool group_is_better(const struct group *group);
/* Whether the times with the old values differ so much between turns that the machine does other work. */
bool group_is_disturbed(const struct group *group);

/* Searches better values and leaves the best ones set on the device. False if the present values do not work. */
bool tune_group(struct tuner *tuner, struct group *group);
