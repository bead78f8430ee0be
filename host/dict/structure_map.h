/* SPDX-License-Identifier: Apache-2.0 */
/* All structures. A new one adds a row here and a `const struct ordo_structure ordo_STEM_structure`
 * (host/dict/structure.h). */
#ifndef ORDO_STRUCTURE_MAP_H
#define ORDO_STRUCTURE_MAP_H

/* Differences between structures, for tests and benchmarks. */
enum ordo_structure_trait {
    ORDO_HAS_RUNS = 1,       /* counts sorted runs in its statistics */
    ORDO_KEEPS_STALE = 2,    /* keeps replaced and erased elements until ordo_lsm_cleanup */
    ORDO_IS_TREE = 4,        /* counts leaves and levels; its blocks have free places */
    ORDO_SIMULATED = 8,      /* its kernels run under the simulator (tests/conformance/kernels.c) */
    ORDO_REBUILDS = 16,      /* counts each rebuild as a cleanup */
    ORDO_NO_ORDER = 32,      /* refuses operations that need ORDO_CAN_ORDER; exports in any order */
    ORDO_IS_TRIE = 64,       /* counts leaves and levels; keys take variable space; block sizes are rounded up */
    ORDO_HAS_PREFIXES = 128, /* also stores key ranges by prefix: up to an eighth more memory */
    ORDO_BUILT_WHOLE =
        256, /* benchmarks fill it by one build: an update rewrites all elements or changes the load factor */
};

/* Columns: ID, STEM, the string of ordo_dict_name, traits. STEM names ordo/STEM.h, ordo_STEM_create, struct
 * ordo_STEM_config and ordo_STEM_structure. ID names ORDO_PREPARE_ID. */
#define ORDO_STRUCTURE_MAP(X)                                                                                          \
    X(SORTED_ARRAY, sorted_array, "sorted array", ORDO_HAS_RUNS | ORDO_SIMULATED | ORDO_BUILT_WHOLE)                   \
    X(LSM, lsm, "lsm", ORDO_HAS_RUNS | ORDO_KEEPS_STALE)                                                               \
    X(BLINK, blink, "blink", ORDO_IS_TREE | ORDO_SIMULATED)                                                            \
    X(FAST, fast, "fast", ORDO_HAS_RUNS | ORDO_REBUILDS | ORDO_BUILT_WHOLE)                                            \
    X(SKIPLIST, skiplist, "skiplist", ORDO_IS_TREE | ORDO_SIMULATED)                                                   \
    X(HASH, hash, "hash", ORDO_NO_ORDER | ORDO_REBUILDS | ORDO_SIMULATED | ORDO_BUILT_WHOLE)                           \
    X(XFAST, xfast, "xfast", ORDO_HAS_RUNS | ORDO_HAS_PREFIXES | ORDO_SIMULATED | ORDO_BUILT_WHOLE)                    \
    X(HAMT, hamt, "hamt", ORDO_IS_TRIE | ORDO_REBUILDS | ORDO_SIMULATED)

#endif
