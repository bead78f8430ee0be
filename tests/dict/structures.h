/* SPDX-License-Identifier: Apache-2.0 */
/* The structures under test: ORDO_STRUCTURE_MAP, then other configurations (variants). All tests over structures use
 * this table. */
#ifndef ORDO_TESTS_STRUCTURES_H
#define ORDO_TESTS_STRUCTURES_H

#include "ordo/ordo.h"

#include "dict/structure_map.h"

#include <string.h>

/* A trie whose leaves take 128 bytes each for their keys; extends enum ordo_structure_trait. */
enum { ALL_BITMAPS = 1 << 16 };

/* Variants, which sequences test as well: id, name in files of sequences, ordo_dict_name, stem, traits, settings. */
#define VARIANT_MAP(X)                                                                                                 \
    X(LSM_GROWTH_2, "lsm_growth_2", "lsm", lsm, ORDO_HAS_RUNS | ORDO_KEEPS_STALE | ORDO_SIMULATED, .growth = 2,        \
      .keep_runs = true)                                                                                               \
    X(LSM_CLEANUP, "lsm_cleanup", "lsm", lsm, ORDO_HAS_RUNS | ORDO_KEEPS_STALE, .cleanup_doubled = true,               \
      .cleanup_stale_percent = 20, .cleanup_least = 700)                                                               \
    X(FAST_BUFFER, "fast_buffer", "fast", fast, ORDO_HAS_RUNS | ORDO_REBUILDS, .rebuild_one_in = 2)                    \
    X(HASH_DENSE, "hash_dense", "hash", hash, ORDO_NO_ORDER, .load_percent = 95)                                       \
    X(HAMT_FIXED, "hamt_fixed", "hamt", hamt, ORDO_IS_TRIE | ALL_BITMAPS | ORDO_REBUILDS | ORDO_SIMULATED,             \
      .fixed_depth = true)                                                                                             \
    X(XFAST_EACH, "xfast_each", "xfast", xfast, ORDO_HAS_RUNS | ORDO_HAS_PREFIXES, .group = 1)                         \
    X(XFAST_LEVELS, "xfast_levels", "xfast", xfast, ORDO_HAS_RUNS | ORDO_HAS_PREFIXES, .group = 1,                     \
      .level_tables = true)                                                                                            \
    X(SKIPLIST_16, "skiplist_16", "skiplist", skiplist, ORDO_IS_TREE | ORDO_SIMULATED, .chunk = 16)

/* Variants only for tests of memory and failing calls: one that cleans up as often as possible. */
#define EAGER_MAP(X)                                                                                                   \
    X(LSM_CLEANING, "lsm_cleaning", "lsm", lsm, ORDO_HAS_RUNS | ORDO_KEEPS_STALE, .cleanup_doubled = true,             \
      .cleanup_stale_percent = 1, .cleanup_least = 100)

enum structure_id {
#define X(id, ...) id,
    ORDO_STRUCTURE_MAP(X) N_STRUCTURES,
    BEFORE_VARIANTS = N_STRUCTURES - 1,
    VARIANT_MAP(X) N_SUBJECTS,
    BEFORE_EAGER = N_SUBJECTS - 1,
    EAGER_MAP(X) N_CONFIGURED
#undef X
};

/* clang-format off */
#define CREATE(id, stem, ...)                                                                                          \
    static inline ordo_status create_##id(ordo_device *dev, const struct ordo_dict_config *config, ordo_dict **out)    \
    {                                                                                                                  \
        return ordo_##stem##_create(dev, ordo_##stem##_config(.dict = *config, __VA_ARGS__), out);                     \
    }
#define X(id, stem, ...) CREATE(id, stem, )
ORDO_STRUCTURE_MAP(X)
#undef X
#define X(id, word, name, stem, traits, ...) CREATE(id, stem, __VA_ARGS__)
VARIANT_MAP(X) EAGER_MAP(X)
#undef X
#undef CREATE

static const struct structure {
    const char *word, *name; /* in files of sequences, and ordo_dict_name */
    ordo_status (*create)(ordo_device *dev, const struct ordo_dict_config *config, ordo_dict **out);
    unsigned traits;
} structures[N_CONFIGURED] = {
#define X(id, stem, name, traits) { #stem, name, create_##id, traits },
    ORDO_STRUCTURE_MAP(X)
#undef X
#define X(id, word, name, stem, traits, ...) { word, name, create_##id, traits },
    VARIANT_MAP(X) EAGER_MAP(X)
#undef X
};
/* clang-format on */

/* Maximum size of a trie's leaf without its elements. */
static inline size_t structure_leaf_bytes(int structure)
{
    return 24 + ((structures[structure].traits & ALL_BITMAPS) ? 128 : 0);
}

static inline bool structure_is(int structure, unsigned trait)
{
    return (structures[structure].traits & trait) != 0;
}

/* The structure whose kernels a subject uses: a variant's is its base. */
static inline size_t structure_family(size_t subject)
{
    size_t family = 0;

    while (strcmp(structures[family].name, structures[subject].name) != 0)
        family++;
    return family;
}

/* Whether a subject takes keys of this type: only some structures take keys of 16 bytes. */
static inline bool structure_takes(size_t subject, ordo_type type)
{
    return ordo_type_bytes(type) <= 8 || structure_is((int) structure_family(subject), ORDO_WIDE_KEYS);
}

/* Each type needs its own kernels, which structures mostly share. Without ORDO_TEST_KINDS=all, tests use u32 and f64
 * for all structures (on a GPU f64 for half of them), and one other type for a quarter of them, selected by the seed.
 * Structures that take keys of 16 bytes also get one type of this size. A skiplist of small chunks and a HAMT of fixed
 * depth share no kernels, so they get u32 only. All tests of dictionaries select the same, so that they share built
 * kernels. */
static inline bool type_is_met(ordo_type type, size_t subject, uint64_t seed, bool cpu)
{
    static const ordo_type others[] = { ORDO_U64, ORDO_I32, ORDO_I64, ORDO_F32 };

    if (subject == SKIPLIST_16 || subject == HAMT_FIXED)
        return type == ORDO_U32;
    if (ordo_type_bytes(type) > 8)
        return structure_takes(subject, type) && (structure_family(subject) + seed + (uint64_t) type) % 2 == 0;
    return type == ORDO_U32 || (type == ORDO_F64 && (cpu || (structure_family(subject) + seed) % 2 == 0)) ||
           (type == others[(seed + 3) % 4] && (structure_family(subject) + seed) % 4 == 0);
}

static inline ordo_status create(ordo_device *dev, int structure, ordo_type key, uint32_t value_bytes, ordo_dict **out)
{
    const struct ordo_dict_config config = { key, value_bytes };
    return structures[structure].create(dev, &config, out);
}

#endif
