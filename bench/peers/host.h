/* SPDX-License-Identifier: Apache-2.0 */
/* Host code to compare with, on arrays and dictionaries. */
#pragma once

#include "bench/common/timing.h"
#include "bench/workload/baseline.h"
#include "bench/workload/inputs.h"
#include "bench/workload/plan.h"

/* Libraries and plain code on the host, timed like the device, with checked answers. */

struct host_peer {
    const char *name;    /* "absl::btree_map" */
    const char *version; /* of the library or the compiler */
    const char *call;    /* the called functions */
    int         kind;    /* index among the peers of the workload */
    int         threads;
    size_t      queries_max; /* of a dictionary; 0: all */
};
#define HOST_PEERS_MAX 64

struct host_figures {
    struct timing timing;
    double        rate; /* operations a second, median */
    bool          right;
    char          why[WHY_BYTES]; /* the reason if it is wrong */
};

/* Lists the peers of an array workload on one and on `threads` threads. Returns their number. */
int array_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX]);
/* False with the reason in out->why without memory. */
bool array_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                        const struct timing_goal *goal, struct host_figures *out);

/* The i-th baseline of an array workload ("radix", "qsort", "merge", "loop", "binary", "s-tree" on all processors);
 * NULL past the last. */
const char *array_baseline_name(enum workload workload, int i);
#define BASELINES_MAX 4

/* Its operations a second on one thread; NaN if it would take more than about a second, or without memory. */
double baseline_rate(const struct spec *spec, const struct inputs *in, int i);

/* Containers of strings, likewise: a sorted std::vector, absl::btree_map, absl::flat_hash_map, marisa::Trie and JudySL.
 * None without a C++ compiler. The first baseline is "sort" or "binary". */
int         string_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX]);
bool        string_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                                const struct timing_goal *goal, struct host_figures *out);
const char *string_baseline_name(enum workload workload, int i);
double      string_baseline_rate(const struct spec *spec, const struct inputs *in, int i);

/* CRoaring for sets in the Roaring format, likewise. None if it is not built in. */
int  roaring_peers(const struct spec *spec, struct host_peer peers[HOST_PEERS_MAX]);
bool roaring_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                          const struct timing_goal *goal, struct host_figures *out);

/* The i-th baseline of any workload; NULL past the last. */
const char *baseline_name(enum workload workload, int i);

/* Maps on the plan of a dictionary workload. Threads share one map for queries; for updates each has a map with a
 * part of the keys. None without a C++ compiler. The first ones are baselines: the B-tree, with one thread for
 * updates and two for queries; hash maps with two threads. */
enum dict_peer_kind {
    DICT_BTREE,     /* absl::btree_map */
    DICT_HASH_MAP,  /* absl::flat_hash_map */
    DICT_ROBIN_MAP, /* tsl::robin_map */
    DICT_BOOST_MAP, /* boost::unordered_flat_map */
    N_DICT_BASELINES,
    DICT_STD_MAP = N_DICT_BASELINES, /* std::map */
    DICT_SORTED_ARRAY,               /* two std::vectors; sorts and merges each batch */
    N_DICT_PEERS
};
#define DICT_HASH_MAPS (1u << DICT_HASH_MAP | 1u << DICT_ROBIN_MAP | 1u << DICT_BOOST_MAP)

/* Its operations a second on the current plan; NaN if it would take too long, or without memory. */
double dict_baseline_rate(const struct dict_plan *plan, int i);

/* "btree", "flat_hash_map", "robin_map", "unordered_flat_map"; NULL if it is not built in or cannot do the workload. */
const char *dict_baseline_name(enum workload workload, int i);
/* Lists them on one thread and, if possible, on `threads`. Returns their number. */
int dict_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX]);
/* Runs on the current plan: all batches done, queries drawn. False with the reason in out->why without memory. */
bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out);
