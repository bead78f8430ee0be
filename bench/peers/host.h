/* SPDX-License-Identifier: Apache-2.0 */
/* Where host code works on a workload over arrays. */
#ifndef BENCH_PEERS_HOST_H
#define BENCH_PEERS_HOST_H

#include "bench/common/timing.h"
#include "bench/workload/baseline.h"
#include "bench/workload/inputs.h"
#include "bench/workload/plan.h"

/* A copy of the inputs that host code may work on, keys in ordered form, and room for as much again. */
struct host_buffers {
    struct pairs work, spare;
    size_t       key_bytes;
    void        *rows; /* room for what gather writes */
};

/* Also touches the spare pages, so that no timing has to. False without memory: it is closed all the same. */
bool host_buffers_open(struct host_buffers *buffers, const struct spec *spec);
void host_buffers_close(struct host_buffers *buffers);
/* The inputs as they were. */
void host_buffers_fill(const struct host_buffers *buffers, const struct spec *spec, const struct inputs *in);

/* The plain host code of baseline.h, timed on the inputs of a workload: one thread of the machine that runs the tool. */

/* The i-th baseline of a workload over arrays: "radix" and "qsort" for sort, "merge", "loop", "binary" and "s-tree" (all
 * processors) for search; NULL past the last. */
const char *array_baseline_name(enum workload workload, int i);
#define BASELINES_MAX 3

/* Operations per second of a workload over arrays; NaN where it would take too long (more than a second or so) or memory ran out. */
double baseline_rate(const struct spec *spec, const struct inputs *in, int i);

/* What maps in main memory do with a dictionary's workload: a B-tree, updates on one thread, queries on two; hash maps, each
 * of two threads half of the keys or of the queries. */

enum { DICT_BTREE, DICT_HASH_MAP, DICT_ROBIN_MAP, N_DICT_BASELINES };

/* "btree", "flat_hash_map" and "robin_map"; or NULL: it was not built in (no Abseil, no robin-map), or has nothing to set against
 * the workload. */
const char *dict_baseline_name(enum workload workload, int i);

/* The i-th baseline of any workload; NULL past the last. */
const char *baseline_name(enum workload workload, int i);

/* Operations per second on the plan as it is; NaN where it would take too long or memory ran out. */
double dict_baseline_rate(const struct dict_plan *plan, int i);

/* What stands beside a device's rows: libraries and plain code on the processors of the machine, on one thread and on
 * several, each timed as the device is and its answers checked. */

struct host_peer {
    char name[32];    /* "absl::btree_map" */
    char version[80]; /* of the library, or of the compiler */
    char call[96];    /* what is called */
    int  kind;        /* of those that the workload has */
    int  threads;
};
#define HOST_PEERS_MAX 10

struct host_figures {
    struct timing timing;
    double        rate; /* operations a second, of the median */
    bool          right;
    char          why[160]; /* where it is not */
};

/* What there is for a workload over arrays, on one thread and on `threads`; their number. */
int array_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX]);
/* False, with the reason in out->why, if memory ran out. */
bool array_peer_measure(const struct host_peer *peer, const struct spec *spec, const struct inputs *in,
                        const struct timing_goal *goal, struct host_figures *out);

/* Seconds of a search of so many queries in an S-tree, on all processors; negative for keys of 8 bytes, without memory, and for a
 * wrong answer. */
double stree_seconds(const struct spec *spec, const struct inputs *in, size_t queries);

/* Maps in main memory on the plan of a dictionary's workload. Queries of several threads share one map; updates have a map for each
 * thread, which holds a part of the keys. Without a C++ compiler there are none. */
enum host_map_kind {
    HOST_BTREE,         /* absl::btree_map */
    HOST_STD_MAP,       /* std::map */
    HOST_SORTED_ARRAY,  /* keys and values in two std::vectors; a batch is sorted and merged in */
    HOST_FLAT_HASH_MAP, /* absl::flat_hash_map */
    HOST_ROBIN_MAP,     /* tsl::robin_map */
    N_HOST_MAPS
};

#ifdef __cplusplus
extern "C" {
#endif
/* Whether the kind is built in, and can do the workload. */
bool dict_peer_has(enum host_map_kind kind, enum workload workload);
/* All of these, on one thread and, where the keys can be dealt out, on `threads`; their number. */
int dict_peers(const struct spec *spec, int threads, struct host_peer peers[HOST_PEERS_MAX]);
/* On the plan as it is: all batches done, queries drawn (plan_advance). False, with the reason in out->why, if memory ran out. */
bool dict_peer_measure(const struct host_peer *peer, const struct dict_plan *plan, const struct timing_goal *goal,
                       struct host_figures *out);
/* The rate of one kind of map alone, the median of `times` goes, of at most so many queries; NaN if it is not there, or memory ran
 * out. */
double dict_peer_rate(const struct dict_plan *plan, enum host_map_kind kind, int threads, int times,
                      size_t queries_most);
#ifdef __cplusplus
}
#endif

#endif
