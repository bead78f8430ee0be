/* SPDX-License-Identifier: Apache-2.0 */
/* Lists all structures. A structure also needs a `const struct ordo_structure ordo_STEM_structure` (structure.h). */
#ifndef ORDO_STRUCTURE_MAP_H
#define ORDO_STRUCTURE_MAP_H

enum ordo_structure_trait {
    ORDO_HAS_RUNS = 1,       /* counts sorted runs in its statistics */
    ORDO_KEEPS_STALE = 2,    /* keeps replaced and erased elements until ordo_lsm_cleanup */
    ORDO_IS_TREE = 4,        /* counts leaves and levels in its statistics, and has unused capacity */
    ORDO_SIMULATED = 8,      /* the simulator can run its kernels (tests/conformance/kernels.c) */
    ORDO_REBUILDS = 16,      /* counts each rebuild as a cleanup */
    ORDO_NO_ORDER = 32,      /* refuses operations that need ORDO_CAN_ORDER; its exports are not sorted */
    ORDO_IS_TRIE = 64,       /* counts leaves and levels in its statistics; memory per key varies */
    ORDO_HAS_PREFIXES = 128, /* stores key prefixes, which take additional memory */
    ORDO_BUILT_WHOLE = 256,  /* benchmarks fill the structure by one build, not by updates */
    ORDO_WIDE_KEYS = 512,    /* takes keys of 16 bytes */
};

/* Columns:
 *
 *   ID       part of ORDO_PREPARE_ID
 *   STEM     part of ordo/STEM.h, ordo_STEM_create, struct ordo_STEM_config and ordo_STEM_structure
 *   name     result of ordo_dict_name
 *   traits   a sum of enum ordo_structure_trait */
#define ORDO_STRUCTURE_MAP(X)                                                                                          \
    X(SORTED_ARRAY, sorted_array, "sorted array", ORDO_HAS_RUNS | ORDO_SIMULATED | ORDO_BUILT_WHOLE | ORDO_WIDE_KEYS)  \
    X(LSM, lsm, "lsm", ORDO_HAS_RUNS | ORDO_KEEPS_STALE | ORDO_WIDE_KEYS)                                              \
    X(BLINK, blink, "blink", ORDO_IS_TREE | ORDO_SIMULATED | ORDO_WIDE_KEYS)                                           \
    X(FAST, fast, "fast", ORDO_HAS_RUNS | ORDO_REBUILDS | ORDO_BUILT_WHOLE | ORDO_WIDE_KEYS)                           \
    X(SKIPLIST, skiplist, "skiplist", ORDO_IS_TREE | ORDO_SIMULATED | ORDO_WIDE_KEYS)                                  \
    X(HASH, hash, "hash", ORDO_NO_ORDER | ORDO_REBUILDS | ORDO_SIMULATED | ORDO_BUILT_WHOLE | ORDO_WIDE_KEYS)          \
    X(XFAST, xfast, "xfast", ORDO_HAS_RUNS | ORDO_HAS_PREFIXES | ORDO_SIMULATED | ORDO_BUILT_WHOLE)                    \
    X(HAMT, hamt, "hamt", ORDO_IS_TRIE | ORDO_REBUILDS | ORDO_SIMULATED)

#endif
