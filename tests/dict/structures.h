/* SPDX-License-Identifier: Apache-2.0 */
/* The structures under test. A new one is a row of STRUCTURE_MAP: conformance, sequences, order, bad arguments, memory,
 * faults, threads and the list of what is compiled off line go through this table. */
#ifndef ORDO_TESTS_STRUCTURES_H
#define ORDO_TESTS_STRUCTURES_H

#include "ordo/blink.h"
#include "ordo/fast.h"
#include "ordo/hamt.h"
#include "ordo/hash.h"
#include "ordo/lsm.h"
#include "ordo/skiplist.h"
#include "ordo/sorted_array.h"
#include "ordo/xfast.h"

#include <string.h>

/* What differs between structures, where a test has to know. */
enum structure_trait {
    HAS_RUNS = 1,       /* counts sorted runs in its statistics */
    KEEPS_STALE = 2,    /* what is replaced or erased stays stored until a cleanup (ordo_lsm_cleanup) */
    IS_TREE = 4,        /* has leaves and levels; blocks with room in them */
    SIMULATED = 8,      /* its kernels run under the simulator (conformance/kernels.c) */
    REBUILDS = 16,      /* counts each rebuild as a cleanup */
    IS_TRIE = 64,       /* counts leaves and levels; keys take what bytes fit them, and blocks are rounded up */
    HAS_PREFIXES = 128, /* holds ranges of keys by their prefixes, too: up to an eighth of the keys and values more */
    ALL_BITMAPS = 256,  /* of a trie: each leaf takes 128 bytes for its keys */
    NO_ORDER = 32,      /* cannot do ORDO_CAN_ORDER: such operations are refused; exports come in an order of its own */
};

/* id, name in files of sequences, ordo_dict_name, of which header, traits, configuration besides its types */
#define STRUCTURE_MAP(X)                                                                                               \
    X(SORTED_ARRAY, "sorted_array", "sorted array", sorted_array, HAS_RUNS | SIMULATED, )                              \
    X(LSM, "lsm", "lsm", lsm, HAS_RUNS | KEEPS_STALE, )                                                                \
    X(BLINK, "blink", "blink", blink, IS_TREE | SIMULATED, )                                                           \
    X(FAST, "fast", "fast", fast, HAS_RUNS | REBUILDS, )                                                               \
    X(SKIPLIST, "skiplist", "skiplist", skiplist, IS_TREE | SIMULATED, )                                               \
    X(HASH, "hash", "hash", hash, NO_ORDER | REBUILDS | SIMULATED, )                                                   \
    X(XFAST, "xfast", "xfast", xfast, HAS_RUNS | HAS_PREFIXES | SIMULATED, )                                           \
    X(HAMT, "hamt", "hamt", hamt, IS_TRIE | REBUILDS | SIMULATED, )

/* The same structures otherwise configured; sequences run on them, too. */
#define VARIANT_MAP(X)                                                                                                 \
    X(LSM_GROWTH_2, "lsm_growth_2", "lsm", lsm, HAS_RUNS | KEEPS_STALE | SIMULATED, .growth = 2, .keep_runs = true)    \
    X(LSM_CLEANUP, "lsm_cleanup", "lsm", lsm, HAS_RUNS | KEEPS_STALE, .cleanup_doubled = true,                         \
      .cleanup_stale_percent = 20, .cleanup_least = 700)                                                               \
    X(FAST_BUFFER, "fast_buffer", "fast", fast, HAS_RUNS | REBUILDS, .rebuild_one_in = 2)                              \
    X(HASH_DENSE, "hash_dense", "hash", hash, NO_ORDER, .load_percent = 95)                                            \
    X(HAMT_FIXED, "hamt_fixed", "hamt", hamt, IS_TRIE | ALL_BITMAPS | REBUILDS | SIMULATED, .fixed_depth = true)       \
    X(XFAST_EACH, "xfast_each", "xfast", xfast, HAS_RUNS | HAS_PREFIXES, .group = 1)                                   \
    X(SKIPLIST_16, "skiplist_16", "skiplist", skiplist, IS_TREE | SIMULATED, .chunk = 16)

/* Those that lack of memory and failing calls are tried on besides: one that cleans up as often as it may. */
#define EAGER_MAP(X)                                                                                                   \
    X(LSM_CLEANING, "lsm_cleaning", "lsm", lsm, HAS_RUNS | KEEPS_STALE, .cleanup_doubled = true,                       \
      .cleanup_stale_percent = 1, .cleanup_least = 100)

enum structure_id {
#define X(id, ...) id,
    STRUCTURE_MAP(X) N_STRUCTURES,
    BEFORE_VARIANTS = N_STRUCTURES - 1,
    VARIANT_MAP(X) N_SUBJECTS,
    BEFORE_EAGER = N_SUBJECTS - 1,
    EAGER_MAP(X) N_CONFIGURED
#undef X
};

/* clang-format off */
#define X(id, word, name, stem, traits, ...)                                                                           \
    static inline ordo_status create_##id(ordo_device *dev, const struct ordo_dict_config *config, ordo_dict **out)    \
    {                                                                                                                  \
        return ordo_##stem##_create(dev, ordo_##stem##_config(.dict = *config, __VA_ARGS__), out);                     \
    }
STRUCTURE_MAP(X) VARIANT_MAP(X) EAGER_MAP(X)
#undef X

static const struct structure {
    const char *word, *name;
    ordo_status (*create)(ordo_device *dev, const struct ordo_dict_config *config, ordo_dict **out);
    unsigned traits;
} structures[N_CONFIGURED] = {
#define X(id, word, name, stem, traits, ...) { word, name, create_##id, traits },
    STRUCTURE_MAP(X) VARIANT_MAP(X) EAGER_MAP(X)
#undef X
};
/* clang-format on */

/* What a trie's leaf takes at most besides its elements. */
static inline size_t structure_leaf_bytes(int structure)
{
    return 24 + ((structures[structure].traits & ALL_BITMAPS) ? 128 : 0);
}

static inline bool structure_is(int structure, enum structure_trait trait)
{
    return (structures[structure].traits & trait) != 0;
}

/* The structure whose kernels a subject runs: of one that is otherwise configured, the one that it is. */
static inline size_t structure_family(size_t subject)
{
    size_t family = 0;

    while (strcmp(structures[family].name, structures[subject].name) != 0)
        family++;
    return family;
}

/* Each type is kernels of its own, most of which all structures share. Where not all are tried: u32 and f64 of all structures (on a GPU
 * f64 of half of them), and one of the others of a quarter of them, which the seed decides; of a skiplist of small chunks and a HAMT of
 * fixed depth, which share no kernel of their own, u32. It is the same in all tests of dictionaries, so that what one builds serves the
 * others. */
static inline bool type_is_met(ordo_type type, size_t subject, uint64_t seed, bool cpu)
{
    static const ordo_type others[] = { ORDO_U64, ORDO_I32, ORDO_I64, ORDO_F32 };

    if (subject == SKIPLIST_16 || subject == HAMT_FIXED)
        return type == ORDO_U32;
    return type == ORDO_U32 || (type == ORDO_F64 && (cpu || (structure_family(subject) + seed) % 2 == 0)) ||
           (type == others[(seed + 3) % 4] && (structure_family(subject) + seed) % 4 == 0);
}

static inline ordo_status create(ordo_device *dev, int structure, ordo_type key, uint32_t value_bytes, ordo_dict **out)
{
    const struct ordo_dict_config config = { key, value_bytes };
    return structures[structure].create(dev, &config, out);
}

#endif
