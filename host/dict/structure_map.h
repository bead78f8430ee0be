/* SPDX-License-Identifier: Apache-2.0 */
/* The list of structures, for the library, the tests and the tools. A new structure is one row here and one
 * `const struct ordo_structure ordo_STEM_structure` (host/dict/structure.h). */
#ifndef ORDO_STRUCTURE_MAP_H
#define ORDO_STRUCTURE_MAP_H

/* What differs between structures for a test or a benchmark. */
enum ordo_structure_trait {
    ORDO_HAS_RUNS = 1,       /* counts sorted runs in its statistics */
    ORDO_KEEPS_STALE = 2,    /* keeps replaced and erased elements until ordo_lsm_cleanup */
    ORDO_IS_TREE = 4,        /* counts leaves and levels; its blocks have free places */
    ORDO_SIMULATED = 8,      /* its kernels run under the simulator (tests/conformance/kernels.c) */
    ORDO_REBUILDS = 16,      /* counts each rebuild as a cleanup */
    ORDO_NO_ORDER = 32,      /* refuses what needs ORDO_CAN_ORDER; exports in an order of its own */
    ORDO_IS_TRIE = 64,       /* counts leaves and levels; keys take the bytes that they need; blocks are rounded up */
    ORDO_HAS_PREFIXES = 128, /* also holds ranges of keys by prefix: up to an eighth more than keys and values */
    ORDO_BUILT_WHOLE = 256,  /* a benchmark fills it by one build: an update rewrites all, or changes the load */
};

/* id, stem, ordo_dict_name, traits. The stem names ordo/STEM.h, ordo_STEM_create, struct ordo_STEM_config and
 * ordo_STEM_structure; the id names ORDO_PREPARE_ID. */
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
