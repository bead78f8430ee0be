/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads and the axes along which they are measured. This room uses neither OpenCL nor CUDA, so that peers get
 * the same inputs and checks (inputs.h). */
#pragma once

#include "bench/common/why.h"
#include "host/dict/structure_map.h"

#include "ordo/array.h"

#include <stddef.h>
#include <stdint.h>

/* id, name, text */
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
    X(COLUMNS, "columns", "rows of columns of u32, f32 and u64 packed into keys of u128, and sorted with values")      \
    X(SORTSTRINGS, "sortstrings", "sort of the rows of a column of strings")                                           \
    X(INDEXSTRINGS, "indexstrings", "index of an unsorted column of strings")                                          \
    X(FINDSTRINGS, "findstrings", "id of every query in an index of strings")                                          \
    X(PREFIXSTRINGS, "prefixstrings", "first id and number of the strings that begin with each prefix")                \
    X(UPSERTSTRINGS, "upsertstrings", "upsert of all strings, in 16 batches, into an empty dictionary")                \
    X(ERASESTRINGS, "erasestrings", "erase of half the strings, in batches, from a dictionary of all")                 \
    X(GETSTRINGS, "getstrings", "value of every query in a dictionary of strings")                                     \
    X(RANKSTRINGS, "rankstrings", "how many strings of a dictionary are less than each query")                         \
    X(COUNTSTRINGS, "countstrings", "as prefixstrings, in a dictionary of strings")                                    \
    X(READROARING, "readroaring", "a set of u32 in the Roaring format becomes a HAMT")                                 \
    X(WRITEROARING, "writeroaring", "a HAMT becomes a set of u32 in the Roaring format")                               \
    X(HOSTSORT, "hostsort", "sort of an array in host memory, in place: to the device and back included")

/* Dictionaries. `count` is the number of elements put in, equal keys counted each. */
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
    X(PREDECESSOR, "predecessor", "the key before and its value, of keys that are not there")                          \
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
    X(MIXEDUPDATES, "mixedupdates", "batches of upserts and erases in any order, a share of them erases")              \
    X(COMBINERANDOM, "combinerandom", "as overwrite, but each value is added to the one that is there")                \
    X(DELETERANGE, "deleterange", "erase of the keys in one batch of intervals")                                       \
    X(QUEUE, "queue", "priority queue: the first elements are taken, as many are put in; up to 64 rounds")             \
    X(EXPIRY, "expiry", "a batch of newer keys comes in, as many of the oldest are erased by one range; 16 rounds")    \
    X(ORDERBOOK, "orderbook", "quantities are added to 2^16 prices, and the best on both sides asked for; 64 rounds")  \
    X(CLEANUP, "cleanup", "drops what is stale, after some was erased and as much replaced")                           \
    X(COMPACTALL, "compactall", "the same, and gives spare memory back")                                               \
    X(CONCURRENTFILL, "concurrentfill", "upsert of all elements by one concurrent batch into an empty dictionary")     \
    X(CONCURRENTBATCHES, "concurrentbatches", "fillrandom by concurrent batches")                                      \
    X(CONCURRENTINSERT, "concurrentinsert", "insertrandom by a concurrent batch")                                      \
    X(CONCURRENTERASE, "concurrenterase", "deleterandom by one concurrent batch")                                      \
    X(CONCURRENTMIX, "concurrentmix", "a concurrent batch: upserts and erases, finds and successors, each by halves")  \
    X(CONCURRENTRANGES, "concurrentranges", "concurrentmix, and as many ranges as finds")                              \
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
        N_WORKLOADS, /* over arrays; dictionaries follow */

    LAST_OF_ARRAYS = N_WORKLOADS - 1,
#define X(id, name, text) id,
    DICT_WORKLOAD_MAP(X)
#undef X
        N_ALL_WORKLOADS
};

/* The equivalent workload on the device of one on arrays in host memory, else itself. */
enum workload workload_on_device(enum workload workload);

/* Traits of a workload `w`: workload_NAME(w). Columns: name, condition. */
#define WORKLOAD_TRAIT_MAP(X)                                                                                          \
    X(is_dict, w >= N_WORKLOADS)                                                                                       \
    X(is_strings, w >= SORTSTRINGS && w <= COUNTSTRINGS)                                                               \
    /* reads or writes the different keys of u32 as a set */                                                           \
    X(is_roaring, w == READROARING || w == WRITEROARING)                                                               \
    /* uses a string index, or a dictionary of strings */                                                              \
    X(is_string_index, w >= INDEXSTRINGS && w <= PREFIXSTRINGS)                                                        \
    X(is_string_dict, w >= UPSERTSTRINGS && w <= COUNTSTRINGS)                                                         \
    /* queries whole strings; hit_percent of them are there */                                                         \
    X(asks_strings, w == FINDSTRINGS || w == GETSTRINGS || w == RANKSTRINGS)                                           \
    /* uses arrays in host memory */                                                                                   \
    X(is_host, w == HOSTSORT || w >= HOSTBUILD)                                                                        \
    X(cleans_up, w == CLEANUP || w == COMPACTALL)                                                                      \
    /* erases keys that are there at first */                                                                          \
    X(erases, w == DELETERANDOM || w == CONCURRENTERASE)                                                               \
    /* fills an empty dictionary */                                                                                    \
    X(fills, w == FILLRANDOM || w == FILLSEQ || workload_on_device(w) == BUILD || w == CONCURRENTFILL ||               \
                 w == CONCURRENTBATCHES || w == ORDERBOOK)                                                             \
    /* needs the order of keys */                                                                                      \
    X(needs_order, (w >= SEEKRANDOM && w <= COUNTPREFIX) || w == MIXED || w == MIXEDSEEKS || w == CONCURRENTMIX ||     \
                       w == CONCURRENTRANGES || (w >= DELETERANGE && w <= ORDERBOOK))                                  \
    /* has batches with a share of updates (update_percent) */                                                         \
    X(has_updates, w == CONCURRENTMIX || w == CONCURRENTRANGES || w == CONCURRENTPOINTS)                               \
    /* uses concurrent batches */                                                                                      \
    X(is_concurrent, w == CONCURRENTREAD || (w >= CONCURRENTFILL && w <= CONCURRENTPOINTS))                            \
    /* queries prefixes, which needs keys of type u32 or u64 */                                                        \
    X(asks_prefixes, w == LONGESTPREFIX || w == COUNTPREFIX)                                                           \
    X(needs_values, w == COMBINERANDOM || w == SUMRANDOM || w == ORDERBOOK || w == LONGESTPREFIX)                      \
    /* takes keys of 16 bytes */                                                                                       \
    X(takes_wide, w == SORT || w == HOSTSORT || w == MERGE || w == MERGE_RUNS || w == SEARCH || w == LOOKUP ||         \
                      w == EQUAL_RANGE || w == COMPACT || w == GROUPBY || w == COLUMNS ||                              \
                      (workload_is_dict(w) && !workload_asks_prefixes(w)))                                             \
    /* takes keys of a file of numbers */                                                                              \
    X(takes_numbers, w <= SELECT || w == HOSTSORT)                                                                     \
    /* takes only keys of type u128 */                                                                                 \
    X(takes_u128, w == COLUMNS)                                                                                        \
    X(has_values, w != SCAN && w != REDUCE && w != SEARCH && w != EQUAL_RANGE && w != SELECT && w != GATHER &&         \
                      !workload_is_strings(w) && !workload_is_roaring(w))                                              \
    X(has_queries, w == SEARCH || w == LOOKUP || w == EQUAL_RANGE || w == FINDSTRINGS || w == PREFIXSTRINGS ||         \
                       w == GETSTRINGS || w == RANKSTRINGS || w == COUNTSTRINGS ||                                     \
                       (w >= READRANDOM && w <= CONCURRENTREAD) || w == HOSTREAD)                                      \
    /* times one batch on a filled dictionary */                                                                       \
    X(is_one_batch, workload_on_device(w) == INSERTRANDOM || w == CONCURRENTINSERT || w == CONCURRENTERASE ||          \
                        workload_has_updates(w) || w == DELETERANGE)                                                   \
    /* is a task in rounds, with other batches than the table */                                                       \
    X(has_rounds, w == QUEUE || w == EXPIRY || w == ORDERBOOK)

#define X(trait, condition)                                                                                            \
    static inline bool workload_##trait(enum workload w)                                                               \
    {                                                                                                                  \
        return condition;                                                                                              \
    }
WORKLOAD_TRAIT_MAP(X)
#undef X

const char *workload_name(enum workload workload);
const char *workload_text(enum workload workload);

/* The forms of a workload: "" if there is one, NULL past the last. */
const char *variant_name(enum workload workload, int variant);

/* The structures, which are the variants of dictionaries (host/dict/structure_map.h). */
enum structure {
#define X(id, ...) id,
    ORDO_STRUCTURE_MAP(X)
#undef X
        N_STRUCTURES,
    /* Others' structures (peers/rivals.h), measured only by name. */
    LOCKFREE = N_STRUCTURES,
    CUCKOO,
    N_VARIANTS
};

bool structure_is(int structure, enum ordo_structure_trait trait);
/* Whether it is not one of Ordo's. */
bool structure_is_rival(int structure);

/* search and lookup: a sum of the first two, or one of the others. */
#define VARIANT_SORTED     1 /* queries in ascending order */
#define VARIANT_INDEX      2 /* with an index */
#define VARIANT_COMPRESSED 4 /* with a compressed index */
#define VARIANT_BUFFERED   5 /* random, partitioned first, with an index */
#define VARIANT_SORTS      6 /* random, sorted first */
bool variant_is_sorted(int variant);
bool variant_has_index(int variant);

/* Strings: their shape. */
enum string_shape {
    STRINGS_RANDOM, /* 64 random bytes */
    STRINGS_FEW,    /* 32 bytes of two values */
    STRINGS_URLS,   /* some 60 bytes */
    STRINGS_DEEP,   /* paths of 137 bytes with long common prefixes */
    STRINGS_VALUES, /* sorted, key_bytes long, byte_values values a byte */
    STRINGS_PHONES, /* 15 bytes: telephone numbers as in TPC-H */
    STRINGS_FILE,   /* lines of a file, in random order */
};
/* Whether strings of this shape are measured only by name. */
bool string_shape_is_named(int variant);

/* groupby: number of different uniform keys; variant 1: equal keys are adjacent. */
#define GROUPS 100000

/* Distributions of keys. Floats get bit patterns in the order of the drawn integers, so infinities and NaNs occur. */
enum dist {
    UNIFORM,    /* all keys equally likely */
    FEW,        /* 16 different ones */
    SORTED,     /* ascending, evenly spread */
    REVERSE,    /* descending, evenly spread */
    ZIPF,       /* the r-th most frequent of a million keys has a share of about 1/r */
    SEQUENTIAL, /* 0, 1, 2 and so on */
    CLUSTERED,  /* groups of some 256 keys within a span of 4096 */
    DENSE,      /* 7 of 8 successive keys; queried at random */
    RUNS,       /* a run of 1000 successive keys in every 2000; queried at random */
    EQUAL,
    ALTERNATING,   /* uniform keys at even indices, one key at all odd ones */
    LOW_CONSTANT,  /* the upper half is uniform */
    HIGH_CONSTANT, /* the lower half is uniform */
    SENSOR_TIMES,  /* in 8 bytes: 16 bits of a sensor's number, 48 bits of ascending milliseconds */
    UUID4,         /* of 16 bytes: random */
    UUID7,         /* of 16 bytes: 48 bits of slowly ascending milliseconds, then random */
    KMERS,         /* successive bases of a genome, 2 bits each: 15 in 4 bytes, 31 in 8, 63 in 16 */
    N_DISTS,
    KEYS_FILE = N_DISTS /* of a file (spec.numbers), in its order */
};
const char *dist_name(int dist);
/* The smallest keys that can have it. */
size_t dist_key_bytes(enum dist dist);
/* Whether keys ascend or descend with their indices. */
bool dist_is_in_order(enum dist dist);
/* Whether keys contain times that ascend with their indices. */
bool dist_has_times(enum dist dist);

const char *type_name(int type);
#define N_TYPES 8

/* The numbers of a point of dictionaries or strings. Add an option of ordo-bench as a row here, with its line in
 * bench/help.txt. Columns: member of struct spec, option, name in files, least, most (0: a flag), default (0: the
 * library's), which points have it (by workload and variant), traits. */
#define AXIS_MAP(X)                                                                                                    \
    X(hit_percent, "--hit-rate", "hit_percent", 0, 100, 100, true, AXIS_ZERO)                                          \
    X(width, "--width", "width", 1, 1 << 20, 8, true, AXIS_ZERO)                                                       \
    X(growth, "--growth", "growth", 2, 16, 0, true, AXIS_ZERO | AXIS_STRUCTURE)                                        \
    X(load_percent, "--load", "load_percent", 25, 95, 0, structure_is(variant, ORDO_NO_ORDER), AXIS_STRUCTURE)         \
    X(raise_percent, "--raise", "raise_percent", 1, 100, 0, variant == SKIPLIST, AXIS_STRUCTURE)                       \
    X(chunk, "--chunk", "chunk", 16, 32, 0, variant == SKIPLIST, AXIS_STRUCTURE | AXIS_POWER)                          \
    X(group, "--group", "group", 1, 8, 0, variant == XFAST, AXIS_STRUCTURE)                                            \
    X(level_tables, "--level-tables", "level_tables", 0, 0, 0, variant == XFAST, AXIS_STRUCTURE)                       \
    X(fixed_depth, "--fixed-depth", "fixed_depth", 0, 0, 0, variant == HAMT, AXIS_STRUCTURE)                           \
    X(first_calls, "--first-calls", "first_calls", 0, 0, 0, workload_has_queries(workload), AXIS_STRUCTURE)            \
    X(update_percent, "--updates", "update_percent", 0, 100, 0, workload_has_updates(workload), AXIS_ZERO | AXIS_LIST) \
    X(stale_percent, "--stale", "stale_percent", 1, 90, 0, workload_cleans_up(workload), 0)                            \
    X(erase_percent, "--erase", "erase_percent", 1, 100, 100, workload_erases(workload) || workload == MIXEDUPDATES,   \
      AXIS_LATE)                                                                                                       \
    X(fills, "--fills", "most_fills", 1, 64, 16, workload_has_queries(workload), AXIS_LATE)                            \
    X(key_bytes, "--key-bytes", "key_bytes", 4, 128, 16, variant == STRINGS_VALUES, AXIS_STRINGS)                      \
    X(byte_values, "--byte-values", "byte_values", 2, 256, 10, variant == STRINGS_VALUES, AXIS_STRINGS)                \
    X(partial_bytes, "--partial", "partial_bytes", 4, 128, 0, workload_is_string_index(workload),                      \
      AXIS_STRINGS | AXIS_STRUCTURE)                                                                                   \
    X(page_keys, "--page-keys", "page_keys", 4, 65536, 0, workload_is_string_index(workload),                          \
      AXIS_STRINGS | AXIS_STRUCTURE)                                                                                   \
    X(nibble_bits, "--nibble-bits", "nibble_bits", 1, 8, 0, workload_is_string_index(workload),                        \
      AXIS_STRINGS | AXIS_STRUCTURE)                                                                                   \
    X(contiguous, "--contiguous", "contiguous", 0, 0, 0, workload_is_string_index(workload),                           \
      AXIS_STRINGS | AXIS_STRUCTURE)                                                                                   \
    X(no_prefix, "--no-prefix", "no_prefix", 0, 0, 0, workload_is_string_index(workload),                              \
      AXIS_STRINGS | AXIS_STRUCTURE)                                                                                   \
    X(pinned, "--pinned", "pinned", 0, 0, 0, true, AXIS_HOST | AXIS_STRUCTURE)

enum axis_trait {
    AXIS_ZERO = 1,      /* 0 is written to files */
    AXIS_LATE = 2,      /* old files lack it */
    AXIS_STRUCTURE = 4, /* only the structure uses it: queries and answers stay the same */
    AXIS_POWER = 8,     /* only powers of two */
    AXIS_LIST = 16,     /* the option takes a list */
    AXIS_STRINGS = 32,  /* of strings, not of dictionaries */
    AXIS_HOST = 64,     /* of arrays in host memory */
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

struct string_lines;
struct number_file;

struct spec {
    enum workload workload;
    int           variant;
    ordo_type     type;
    uint32_t      value_bytes; /* 0, 4 or 8; 0 for workloads without values */
    enum dist     dist;
    size_t        count;     /* elements; merge, merge_runs: elements of the output */
    size_t        n_queries; /* for searches and dictionary queries */
    uint64_t      seed;
    const char   *tune; /* tunables to set, NAME=VALUE,...; NULL: none */

    const struct string_lines *lines;   /* STRINGS_FILE: at least `count` lines */
    const struct number_file  *numbers; /* KEYS_FILE: at least `count` keys */

    /* Dictionaries only, except hit_percent: see workload_asks_strings. */
    size_t batch; /* elements of a batch; 0: a sixteenth (see spec_batch) */
#define X(member, ...) uint32_t member;
    AXIS_MAP(X)
#undef X
};

/* The number of a point on an axis, 0 if it has none; and whether such points have one. */
uint32_t spec_axis(const struct spec *spec, int axis);
bool     has_axis(int axis, enum workload workload, int variant);
/* Whether a workload's points have axes with these traits. */
bool takes_axis(enum workload workload, unsigned traits);
/* The type of its keys: type_name, or "string". */
const char *spec_key_name(const struct spec *spec);
/* Whether two points ask the same queries, whatever the structures. */
bool spec_asks_same(const struct spec *a, const struct spec *b);

/* gather, columns: bytes of a row; top: number of results, at most count. */
size_t spec_row_bytes(const struct spec *spec);
size_t spec_top(const struct spec *spec);
/* Sorted runs of the input: 2 for merge, more for merge_runs, else 1. */
size_t spec_runs(const struct spec *spec);
/* Run r: elements at .. at + count - 1. */
struct ordo_run spec_run(const struct spec *spec, size_t r);

/* The batch size, from 1 to count. */
size_t spec_batch(const struct spec *spec);
/* The batch size that fills the dictionary first. */
size_t spec_table_batch(const struct spec *spec);
/* Elements that overwrite and deleterandom touch. */
size_t spec_changes(const struct spec *spec);
/* Rounds of batches, few enough for the model. */
size_t spec_rounds(const struct spec *spec);
/* Elements that are replaced, and others that are erased, before a cleanup. */
size_t spec_churn(const struct spec *spec);

/* The unit of rates: elements, queries or operations. */
size_t spec_operations(const struct spec *spec);
/* The rows that erasestrings erases: the first ones. */
size_t spec_erased_strings(const struct spec *spec);
/* The bytes that any algorithm must move: of searches the queries, the answers and as many keys, none twice. 0 for
 * dictionaries, for strings, for sets in the Roaring format, and for host arrays (spec_transfers). */
double spec_bytes(const struct spec *spec);
/* The bytes to and from the device for workloads on host arrays, else 0. `stored`: elements of an export. */
struct transfers {
    double to_device, from_device;
};
struct transfers spec_transfers(const struct spec *spec, size_t stored);
/* Exclusive sum for integers, inclusive maximum for floats. */
ordo_op spec_op(const struct spec *spec);

size_t type_bytes(ordo_type type);
/* Keys of 16 bytes. */
bool type_is_wide(ordo_type type);
/* Floats, whose scans and reductions are maxima. */
bool type_is_float(ordo_type type);

/* Device memory without scratch, and the largest buffer. */
struct workload_bytes {
    uint64_t all, largest;
};

/* Elements of 4 or 8 bytes; move_element also moves 16 bytes. */

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

static inline void move_element(void *to, size_t i, const void *from, size_t j, size_t bytes)
{
    const size_t words = bytes == 16 ? 2 : 1, size = bytes / words;
    for (size_t w = 0; w < words; w++)
        set_element(to, size, i * words + w, element(from, size, j * words + w));
}

/* Outputs are filled with it, so that missing writes show. */
#define POISON_BYTE 0xa5
#define POISON_WORD 0xa5a5a5a5a5a5a5a5u

/* Parse a comma-separated list of sizes or names. Return the number of entries, or -1 with the reason in `why`. */
int parse_sizes(const char *text, size_t *sizes, int room, char *why); /* "12,16..20,2^24,1000000" */
int parse_names(const char *text, const char *(*name)(int), int n_names, int *chosen, int room, char *why);
