/* SPDX-License-Identifier: Apache-2.0 */
/* What the tools measure: workloads, and the axes along which they are measured. Like all of this room it knows neither
 * OpenCL calls nor CUDA, so that a peer library gets the same inputs (inputs.h) and the same checks (answer.h). */
#ifndef BENCH_WORKLOAD_WORKLOAD_H
#define BENCH_WORKLOAD_WORKLOAD_H

#include "ordo/array.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the axes ------------------------------------------------------------------------------------------------ */

/* id, name, what it does */
#define WORKLOAD_MAP(X)                                                                                                \
    X(SORT, "sort", "stable sort of keys, with values if they have bytes")                                             \
    X(MERGE, "merge", "stable merge of two sorted halves")                                                             \
    X(MERGE_RUNS, "merge_runs", "stable merge of several sorted runs of one length in one pass")                       \
    X(SCAN, "scan", "exclusive prefix sum; of floats the inclusive prefix maximum")                                    \
    X(REDUCE, "reduce", "sum of all; of floats the maximum")                                                           \
    X(COMPACT, "compact", "keeps the half that is flagged")                                                            \
    X(SEARCH, "search", "lower bound of every query in a sorted array")                                                \
    X(LOOKUP, "lookup", "value of every query's key in a sorted array")                                                \
    X(EQUAL_RANGE, "equal_range", "both bounds of every query in a sorted array")                                      \
    X(GROUPBY, "groupby", "sum of values and number of elements of each different key; without values the numbers")    \
    X(TOP, "top", "the first k keys in descending order, with their values")                                           \
    X(SELECT, "select", "the median")                                                                                  \
    X(GATHER, "gather", "rows of some bytes from anywhere, by 32-bit indices")                                         \
    X(HOSTSORT, "hostsort", "sort of an array in host memory, in place: to the device and back included")

/* Dictionaries. `count` is the number of elements put in before or meanwhile (equal keys count each). */
#define DICT_WORKLOAD_MAP(X)                                                                                           \
    X(FILLRANDOM, "fillrandom", "upsert of all elements, batch by batch, into an empty dictionary")                    \
    X(FILLSEQ, "fillseq", "the same with keys one after another")                                                      \
    X(BUILD, "build", "all elements at once, in any order, into an empty dictionary")                                  \
    X(OVERWRITE, "overwrite", "upsert of as many keys as there are elements, each there already")                      \
    X(DELETERANDOM, "deleterandom", "erase of as many keys as there are elements or fewer, each there at first")       \
    X(INSERTRANDOM, "insertrandom", "upsert of one batch of new keys into a dictionary with all elements")             \
    X(READRANDOM, "readrandom", "find of keys that are there, as many of them as the hit rate says")                   \
    X(READMISSING, "readmissing", "find of keys that are not there")                                                   \
    X(SEEKRANDOM, "seekrandom", "the next key and its value, of keys that are not there")                              \
    X(COUNTRANDOM, "countrandom", "the number of keys in an interval")                                                 \
    X(RANGERANDOM, "rangerandom", "the elements in an interval")                                                       \
    X(RANKRANDOM, "rankrandom", "how many keys are less, of keys that are there")                                      \
    X(SELECTRANDOM, "selectrandom", "the k-th key and its value")                                                      \
    X(SEEKWITHIN, "seekwithin", "the next key and its value, if it lies in an interval")                               \
    X(PAGERANDOM, "pagerandom", "the next few elements from a key on")                                                 \
    X(SUMRANDOM, "sumrandom", "the sum of the values in an interval")                                                  \
    X(LONGESTPREFIX, "longestprefix", "the value of the longest prefix stored that a key begins with: a subnet match") \
    X(COUNTPREFIX, "countprefix", "how many keys begin with some bits")                                                \
    X(CONCURRENTREAD, "concurrentread", "readrandom by a concurrent batch")                                            \
    X(READWHILEWRITING, "readwhilewriting", "a batch of upserts of new keys, a batch of finds, and so on")             \
    X(MIXED, "mixed", "batches of finds, upserts, inserts, erases, seeks, counts and ranges in any order")             \
    X(MIXEDSEEKS, "mixedseeks", "the same without counts and ranges, a quarter of them seeks")                         \
    X(MIXEDPOINTS, "mixedpoints", "batches of finds, upserts, inserts and erases in any order")                        \
    X(COMBINERANDOM, "combinerandom", "as overwrite, but each value is added to the one that is there")                \
    X(DELETERANGE, "deleterange", "erase of the keys in one batch of intervals")                                       \
    X(QUEUE, "queue", "priority queue: the first elements are taken, as many are put in; up to 64 rounds")             \
    X(EXPIRY, "expiry", "a batch of newer keys comes in, as many of the oldest are erased by one range; 16 rounds")    \
    X(ORDERBOOK, "orderbook", "quantities are added to 2^16 prices, and the best on both sides asked for; 64 rounds")  \
    X(CLEANUP, "cleanup", "drops what is stale, after some was erased and as much replaced")                           \
    X(COMPACTALL, "compactall", "the same, and gives spare memory back")                                               \
    X(CONCURRENTFILL, "concurrentfill", "upsert of all elements by one concurrent batch into an empty dictionary")     \
    X(CONCURRENTINSERT, "concurrentinsert", "insertrandom by a concurrent batch")                                      \
    X(CONCURRENTMIX, "concurrentmix", "a concurrent batch: upserts and erases, finds and successors, each by halves")  \
    X(CONCURRENTPOINTS, "concurrentpoints",                                                                            \
      "a concurrent batch: inserts and erases by halves, and finds, of any keys of a range, half of which are there")  \
    X(HOSTBUILD, "hostbuild",                                                                                          \
      "build from arrays in host memory: all there is between them and the dictionary included")                       \
    X(HOSTINSERT, "hostinsert", "insertrandom from arrays in host memory")                                             \
    X(HOSTREAD, "hostread", "readrandom, keys and answers in host memory")                                             \
    X(HOSTEXPORT, "hostexport", "all elements to arrays in host memory")

enum workload {
#define X(id, name, text) id,
    WORKLOAD_MAP(X)
#undef X
        N_WORKLOADS, /* over arrays; those of dictionaries follow */

    LAST_OF_ARRAYS = N_WORKLOADS - 1,
#define X(id, name, text) id,
    DICT_WORKLOAD_MAP(X)
#undef X
        N_ALL_WORKLOADS
};

bool workload_is_dict(enum workload workload);
/* CLEANUP and COMPACTALL. */
bool workload_cleans_up(enum workload workload);
/* Whether it goes by the order of keys, which not every structure has. */
bool workload_needs_order(enum workload workload);
/* Whether it is one of concurrent batches, which not every structure takes. */
bool workload_is_concurrent(enum workload workload);
/* Whether its batches have shares of updates (update_percent). */
bool workload_has_updates(enum workload workload);
/* Whether it goes from and to arrays in host memory; and the workload that does the same between arrays of the device, itself where
 * there is none. */
bool          workload_is_host(enum workload workload);
enum workload workload_on_device(enum workload workload);

const char *workload_name(enum workload workload);
const char *workload_text(enum workload workload);

/* Forms of one workload. The name of a variant is "" where there is only one; NULL past the last. */
const char *variant_name(enum workload workload, int variant);

/* Of dictionaries the variant is the structure: id, name (ordo_NAME_create), what it is, and what a point of the axes
 * (struct spec *spec) sets of its configuration besides the types. A new structure is a row here. */
#define STRUCTURE_MAP(X)                                                                                               \
    X(SORTED_ARRAY, sorted_array, BUILT_WHOLE, )                                                                       \
    X(LSM, lsm, KEEPS_STALE, .growth = spec->growth, .keep_runs = keeps_runs(spec))                                    \
    X(BLINK, blink, 0, )                                                                                               \
    X(SKIPLIST, skiplist, 0, .raise_percent = spec->raise_percent, .chunk = spec->chunk)                               \
    X(FAST, fast, BUILT_WHOLE, )                                                                                       \
    X(HASH, hash, BUILT_WHOLE | NO_ORDER, .load_percent = spec->load_percent)                                          \
    X(XFAST, xfast, BUILT_WHOLE, .group = spec->group)                                                                 \
    X(HAMT, hamt, 0, .fixed_depth = spec->fixed_depth)

enum structure {
#define X(id, ...) id,
    STRUCTURE_MAP(X)
#undef X
        N_STRUCTURES,
    /* Not of Ordo, and measured only if they are named: peers/rivals.h. */
    LOCKFREE = N_STRUCTURES,
    CUCKOO,
    N_VARIANTS
};

enum structure_trait {
    BUILT_WHOLE = 1, /* filled by one build: an update rewrites everything, or its load is to be the one that is set */
    KEEPS_STALE = 2, /* what is replaced stays stored until ordo_lsm_cleanup */
    NO_ORDER = 4,    /* cannot do what goes by the order of keys */
};
bool structure_is(int structure, enum structure_trait trait);
/* Whether it is a baseline, not one of Ordo's. */
bool structure_is_rival(int structure);

/* search and lookup: variant is a sum of the first two, or one of the others. */
#define VARIANT_SORTED     1 /* queries in ascending order */
#define VARIANT_INDEX      2 /* through a prebuilt index */
#define VARIANT_COMPRESSED 4 /* through one that holds the keys, compressed */
#define VARIANT_BUFFERED   5 /* random queries, through an index, partitioned first */
#define VARIANT_SORTS      6 /* random queries, sorted first */
bool variant_is_sorted(int variant);
bool variant_has_index(int variant);

/* groupby: keys are drawn from so many, if they are uniform; variant 1: equal ones lie side by side. */
#define GROUPS 100000

/* How keys are drawn. Floats get bit patterns whose total order is that of the unsigned integers drawn: every kind of
 * float occurs, infinities and NaNs included. */
enum dist {
    UNIFORM,    /* all keys equally likely */
    FEW,        /* 16 different ones */
    SORTED,     /* ascending, evenly spread */
    REVERSE,    /* descending, evenly spread */
    ZIPF,       /* about one in r for the r-th most frequent of a million keys */
    SEQUENTIAL, /* 0, 1, 2 and so on */
    CLUSTERED,  /* groups of some 256 keys within a span of 4096 */
    DENSE,      /* 7 of each 8 successive keys; asked for at random */
    N_DISTS
};
const char *dist_name(enum dist dist);

const char *type_name(ordo_type type);
#define N_TYPES 6

/* The numbers of a point that only dictionaries have, a row each: a new option of ordo-bench is one here, and its line in
 * bench/help.txt. Member of struct spec, option, name in files; least and most (0: a flag); without the option (0: what the library
 * does without it); which points have it, by workload and variant; traits. */
#define AXIS_MAP(X)                                                                                                    \
    /* of the keys to find, how many are there */                                                                      \
    X(hit_percent, "--hit-rate", "hit_percent", 0, 100, 100, true, AXIS_ZERO)                                          \
    /* elements in an interval, in the mean */                                                                         \
    X(width, "--width", "width", 1, 1 << 20, 8, true, AXIS_ZERO)                                                       \
    /* of an LSM */                                                                                                    \
    X(growth, "--growth", "growth", 2, 16, 0, true, AXIS_ZERO | AXIS_STRUCTURE)                                        \
    X(load_percent, "--load", "load_percent", 25, 95, 0, structure_is(variant, NO_ORDER), AXIS_STRUCTURE)              \
    X(raise_percent, "--raise", "raise_percent", 1, 100, 0, variant == SKIPLIST, AXIS_STRUCTURE)                       \
    X(chunk, "--chunk", "chunk", 16, 32, 0, variant == SKIPLIST, AXIS_STRUCTURE | AXIS_POWER)                          \
    /* bits from one length of prefixes to the next */                                                                 \
    X(group, "--group", "group", 1, 8, 0, variant == XFAST, AXIS_STRUCTURE)                                            \
    X(fixed_depth, "--fixed-depth", "fixed_depth", 0, 0, 0, variant == HAMT, AXIS_STRUCTURE)                           \
    /* each call that is timed is the first after the updates, and may merge runs */                                   \
    X(first_calls, "--first-calls", "first_calls", 0, 0, 0, workload_has_queries(workload), AXIS_STRUCTURE)            \
    /* how many of the operations change something */                                                                  \
    X(update_percent, "--updates", "update_percent", 0, 100, 0, workload_has_updates(workload), AXIS_ZERO | AXIS_LIST) \
    /* of what is stored; 0: a tenth of the elements is erased, a tenth replaced */                                    \
    X(stale_percent, "--stale", "stale_percent", 1, 90, 0, workload_cleans_up(workload), 0)                            \
    /* of the elements; 0: 100 */                                                                                      \
    X(erase_percent, "--erase", "erase_percent", 1, 100, 100, workload == DELETERANDOM, AXIS_LATE)                     \
    /* numbers of batches, evenly spread, after which queries are timed */                                             \
    X(fills, "--fills", "most_fills", 1, 64, 16, workload_has_queries(workload), AXIS_LATE)

enum axis_trait {
    AXIS_ZERO = 1,      /* 0 is written to files as a value */
    AXIS_LATE = 2,      /* old files lack it */
    AXIS_STRUCTURE = 4, /* only the structure goes by it: what is asked and answered is the same */
    AXIS_POWER = 8,     /* powers of two alone */
    AXIS_LIST = 16,     /* the option takes a list */
};
enum axis {
#define X(member, ...) AXIS_##member,
    AXIS_MAP(X)
#undef X
        N_AXES
};
struct axis_facts {
    const char *option, *key;
    uint32_t    low, high;
    unsigned    traits;
};
extern const struct axis_facts axes[N_AXES];

/* One point of the axes. Zero means default only where said. */
struct spec {
    enum workload workload;
    int           variant;
    ordo_type     type;
    uint32_t      value_bytes; /* 0, 4 or 8; scan, reduce and search have no values: 0 */
    enum dist     dist;
    size_t        count;     /* elements; merge, merge_runs: elements out */
    size_t        n_queries; /* search, lookup; dictionaries: of readrandom to concurrentread */
    uint64_t      seed;
    const char   *tune; /* tunables that are set for it, NAME=VALUE,...; NULL: none */

    /* Dictionaries only. */
    size_t batch; /* elements of a batch; 0: a sixteenth of all (see spec_batch) */
#define X(member, ...) uint32_t member;
    AXIS_MAP(X)
#undef X
};

/* The number of a point on an axis, 0 if it has none; and whether points of the workload and variant have one. */
uint32_t spec_axis(const struct spec *spec, int axis);
bool     has_axis(int axis, enum workload workload, int variant);
/* Whether two points, of different structures perhaps, ask for the same. */
bool spec_asks_same(const struct spec *a, const struct spec *b);

/* Whether it is one of prefixes, which keys of ORDO_U32 and ORDO_U64 have. */
bool workload_asks_prefixes(enum workload workload);
/* Whether it works on values, so that there have to be some. */
bool workload_needs_values(enum workload workload);
/* Whether the workload has values at all: sort, merge, merge_runs, compact, lookup, groupby, top, dictionaries. */
bool workload_has_values(enum workload workload);
bool workload_has_queries(enum workload workload);
/* Rows of gather: bytes; top: how many come first, at most all. */
size_t spec_row_bytes(const struct spec *spec);
size_t spec_top(const struct spec *spec);
/* Runs that the keys are made of: 1 for one sorted or unsorted array, 2 for merge, more for merge_runs. */
size_t spec_runs(const struct spec *spec);
/* Run r lies in elements at .. at + count - 1. */
struct ordo_run spec_run(const struct spec *spec, size_t r);

/* The batch size in elements: at most count, at least 1. */
size_t spec_batch(const struct spec *spec);
/* The batch size by which a dictionary gets what it has beforehand. */
size_t spec_table_batch(const struct spec *spec);
/* Elements that overwrite and deleterandom go through. */
size_t spec_changes(const struct spec *spec);
/* How many batches take turns with others (readwhilewriting, mixed, queue ...): no more than the host can follow in short
 * time. */
size_t spec_rounds(const struct spec *spec);
/* How many elements are replaced before a cleanup, and how many others erased. */
size_t spec_churn(const struct spec *spec);

/* What a rate counts: elements, or queries where there are any; of dictionaries the operations. */
size_t spec_operations(const struct spec *spec);
/* The bytes that have to move at least, whatever the algorithm:
 *   sort, merge, merge_runs  read and write every key and value once
 *   scan                     read and write every element once
 *   reduce                   read every element once
 *   compact                  read every flag, key and value; write the kept ones
 *   search                   read every query and as many keys as there are queries, but none twice; write every rank
 *   lookup                   the same with values, writing a value and a byte per query
 *   equal_range              as search, writing two ranks per query
 *   groupby, top, select     read every key, and of groupby every value, once
 *   gather                   read every index and a row for it, write the row
 *   dictionaries             not said: 0
 *   from host arrays         see spec_transfers */
double spec_bytes(const struct spec *spec);
/* The bytes that have to come to the device and those that have to go back, of workloads from and to host arrays, else 0; `stored`: the
 * elements that an export finds. */
struct transfers {
    double to_device, from_device;
};
struct transfers spec_transfers(const struct spec *spec, size_t stored);
/* Sum for integers (exclusive in a scan), maximum for floats (inclusive). */
ordo_op spec_op(const struct spec *spec);

/* Bytes of a key of this type. */
size_t type_bytes(ordo_type type);
/* Floats, whose scans and reductions are maxima. */
bool type_is_float(ordo_type type);

/* Device memory that a workload takes, without the scratch of its calls, and the largest buffer of it. */
struct workload_bytes {
    uint64_t all, largest;
};

/* Arrays of 4- or 8-byte elements, whatever their type. */

static inline uint64_t element(const void *array, size_t bytes, size_t i)
{
    return bytes == 4 ? ((const uint32_t *) array)[i] : ((const uint64_t *) array)[i];
}
static inline void set_element(void *array, size_t bytes, size_t i, uint64_t value)
{
    if (bytes == 4)
        ((uint32_t *) array)[i] = (uint32_t) value;
    else
        ((uint64_t *) array)[i] = value;
}

/* Outputs hold this before a run, so that what is never written shows. */
#define POISON_BYTE 0xa5
#define POISON_WORD 0xa5a5a5a5a5a5a5a5u

/* The axes as text: lists of sizes and of names. */

/* Each reads one comma-separated list and returns how many entries it holds, or -1 with the reason in `why`. */
int parse_sizes(const char *text, size_t *sizes, int room, char *why, size_t why_bytes); /* "12,16..20,2^24,1000000" */
int parse_names(const char *text, const char *(*name)(int), int n_names, int *chosen, int room, char *why,
                size_t why_bytes);

#ifdef __cplusplus
}
#endif

#endif
