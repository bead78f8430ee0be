/* SPDX-License-Identifier: Apache-2.0 */
/* What ordo-bench is asked to do. */
#ifndef BENCH_BENCH_OPTIONS_H
#define BENCH_BENCH_OPTIONS_H

#include "bench/workload/workload.h"

#define MOST_SIZES 64
#define MOST_NAMES 64

struct options {
    int      workloads[MOST_NAMES], n_workloads;
    int      variants[MOST_NAMES], n_variants; /* indices of variant_any; those of a workload: none means all */
    int      types[MOST_NAMES], n_types;
    int      dists[MOST_NAMES], n_dists;
    uint32_t value_bytes[3];
    int      n_value_bytes;
    size_t   sizes[MOST_SIZES];
    int      n_sizes;   /* 0: the device's default */
    size_t   n_queries; /* 0: the device's default */
    size_t   batches[MOST_SIZES];
    int      n_batches; /* 0: by size */
    uint32_t update_percents[MOST_NAMES];
    int      n_updates;
    uint32_t hit_percent, erase_percent, stale_percent, width, fills, growth, load_percent, group, raise_percent, chunk;
    const char *device, *json, *resume, *against, *tune;
    const char *compare[64];
    int         n_compare;
    uint32_t    processes; /* 0: 1, or 5 where something is compared */
    uint32_t    repetitions;
    double      budget;    /* seconds, of each process; 0: none */
    double      slower_by; /* percent: less is not called slower; 0: by device */
    uint64_t    seed;
    bool        fixed_depth, first_calls, peers, no_host, no_array, no_limits, chart, no_chart, list, describe;
    bool        suite;                     /* the first word: the rest says how, not what */
    bool        side_by_side;              /* the first word was compare */
    bool        first_open, first_prepare; /* -w open,prepare */
    const char *paper;                     /* the second word after "paper"; NULL: none */
    bool        full;                      /* a paper's own sizes */
};

/* Exits after --help and --version, and with a complaint where an option is wrong. */
struct options read_options(int argc, char **argv);

/* Ends with a complaint if anything stands beside --resume that the file says. */
void only_with_resume(int argc, char **argv);

/* The options of a command line again, each as its full name and its argument, but for those of the NULL-ended list `without`
 * and the command.
 * Returns their number: `out` has room for 2 * argc. */
int repeat_options(int argc, char **argv, const char *const *without, const char **out);

/* How many words the command has before its options: "suite", "compare", "paper NAME". */
int command_words(int argc, char **argv);

/* The names of all variants of all workloads. */
const char *variant_any(int i);

#endif
