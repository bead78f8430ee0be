/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and results of the self-test, which runs when the host opens a device. */
#pragma once
#include "shared/types.h"

/* ---- lanes: primitive/self_test_lanes.cl ----------------------------------------------------------------------- */

/* The self-test calls these functions of device/team.cl. Work-item i of n stores the result of function number f in
 * answers[f * n + i]. */
#define LANES_ANSWER_MAP(X)                                                                                            \
    X(LANE, "team_lane")                                                                                               \
    X(INDEX, "team_index")                                                                                             \
    X(LANES_BELOW, "team_lanes_below")                                                                                 \
    X(BALLOT, "team_ballot")                                                                                           \
    X(ANY, "team_any")                                                                                                 \
    X(ALL, "team_all")                                                                                                 \
    X(SUBGROUP_ANY, "subgroup_any")                                                                                    \
    X(MASK_COUNT, "mask_count")                                                                                        \
    X(FIRST_LANE, "first_lane")                                                                                        \
    X(LAST_LANE, "last_lane")                                                                                          \
    X(SHUFFLE, "team_shuffle")                                                                                         \
    X(SHUFFLE64, "team_shuffle64")                                                                                     \
    X(SHUFFLE_XOR, "team_shuffle_xor")                                                                                 \
    X(SHUFFLE_XOR64, "team_shuffle_xor64")                                                                             \
    X(SHUFFLE_UP, "team_shuffle_up")                                                                                   \
    X(SHUFFLE_UP64, "team_shuffle_up64")                                                                               \
    X(BCAST, "team_bcast")                                                                                             \
    X(BCAST64, "team_bcast64")                                                                                         \
    X(SCAN_INCLUSIVE, "team_scan_inclusive_add")                                                                       \
    X(SCAN_INCLUSIVE64, "team_scan_inclusive_add64")                                                                   \
    X(SCAN_EXCLUSIVE, "team_scan_exclusive_add")                                                                       \
    X(SCAN_EXCLUSIVE64, "team_scan_exclusive_add64")                                                                   \
    X(REDUCE_ADD, "team_reduce_add")                                                                                   \
    X(REDUCE_ADD64, "team_reduce_add64")                                                                               \
    X(REDUCE_MAX, "team_reduce_max")                                                                                   \
    X(REDUCE_MAX64, "team_reduce_max64")                                                                               \
    X(MATCH0, "team_match of 0 bits")                                                                                  \
    X(MATCH2, "team_match of 2 bits")                                                                                  \
    X(MATCH8, "team_match of 8 bits")                                                                                  \
    X(SYNC, "team_sync")                                                                                               \
    X(TURN, "TEAM_FOR_EACH, in the owner's lane")                                                                      \
    X(TURNS, "TEAM_FOR_EACH, over all turns")

enum lanes_answer {
#define X(id, text) LANES_##id,
    LANES_ANSWER_MAP(X)
#undef X
        LANES_ANSWERS
};

#define LANES_HOLDS(x)         ((x) % 2)
#define LANES_PICK(x)          ((x) >> 1 & 63u)
#define LANES_ROUNDS(x)        ((x) >> 7 & 7u)
#define LANES_DIGIT(x)         ((x) >> 16 & 0xffffu)
#define LANES_MIX              0x9e3779b97f4a7c15
#define LANES_WIDE(x)          (((ordo_u64) (x) + 1) * LANES_MIX)
#define LANES_JOIN(sum, value) ((sum) *31 + (value))
#define LANES_SYNC_ROUNDS      4

/* ---- loops: primitive/self_test_lanes.cl ----------------------------------------------------------------------- */

/* Some software rasterizers end loops after 65535 rounds. */
#define LOOP_ROUNDS     100000
#define LOOP_ROUND(sum) ((sum) *1664525u + 1013904223u)

/* ---- phases: primitive/self_test_lanes.cl ---------------------------------------------------------------------- */

enum { PHASES_PARTS = 2, PHASES_WORDS = 300, PHASES_KEYS = 37 };

/* ---- atomics: primitive/self_test_atomics.cl ------------------------------------------------------------------- */

enum atomics_word {
    ATOMICS_ADD,
    ATOMICS_CARRY,
    ATOMICS_MAX,
    ATOMICS_MIN,
    ATOMICS_EXCHANGE,
    ATOMICS_OR,
    ATOMICS_CAS,
    ATOMICS_CAS_WORDS = 64,
    ATOMICS_WORDS = ATOMICS_CAS + ATOMICS_CAS_WORDS,
    ATOMICS_CAS_TRIES = 1 << 16
};
#define ATOMICS_SPREAD64 0x100000001
#define ATOMICS_CARRIED  0xc0000001u
/* `mark` must be less than 2^31. */
#define ATOMICS_OPPOSE64(mark) ((ordo_u64) (mark) << 32 | (0xffffffffu - (mark)))

/* Work-item i of n stores result number r in answers[r * n + i]. */
enum atomics_answer {
    ATOMICS_SEEN_ADD,
    ATOMICS_SEEN_EXCHANGE,
    ATOMICS_SEEN_RELAXED,
    ATOMICS_SEEN_ACQUIRE,
    ATOMICS_SEEN_CAS,
    ATOMICS_SEEN_REFUSED, /* a compare-and-swap that must fail */
    ATOMICS_SEEN_AGREED,  /* a compare-and-swap that must succeed */
    ATOMICS_ANSWERS
};

enum atomics_local {
    ATOMICS_LOCAL_ADD,
    ATOMICS_LOCAL_MAX,
    ATOMICS_LOCAL_OR,
    ATOMICS_LOCAL_TAKE,
    ATOMICS_LOCAL_TAKEN,
    ATOMICS_LOCALS
};

enum { ATOMICS_PEEK_WORDS = 8, ATOMICS_PEEK_BY_2 = 2, ATOMICS_PEEK_BY_4 = 4 };

/* Tests of contention: all work-items update one word until enough updates collide. */
enum contend_kind {
    CONTEND_ADD,
    CONTEND_CAS,
    CONTEND_EXCHANGE,
    CONTEND_ADD64,
    CONTEND_STORE64, /* A load must not mix halves of two 64-bit stores. */
    CONTEND_KINDS
};
enum { CONTEND_MET = CONTEND_KINDS, CONTEND_WORDS = CONTEND_MET + CONTEND_KINDS };
enum { CONTEND_WORD_ADD64, CONTEND_WORD_STORE64, CONTEND_WORDS64 };
enum {
    CONTEND_BURST = 64,
    CONTEND_LOADS = 32,
    CONTEND_ENOUGH = 128,
    CONTEND_ROUNDS = 4,
    CONTEND_ROUNDS_MAX = 256,
    CONTEND_GROUPS_FEW = 64
};
#define CONTEND_STEP64        0x80000001
#define CONTEND_WHOLE64(x)    ((ordo_u64) (x) << 32 | (0xffffffffu - (x)))
#define CONTEND_IS_WHOLE64(w) ((w) == 0 || (ordo_u32) ((w) >> 32) + (ordo_u32) (w) == 0xffffffffu)

/* Test of readers that do not lock. A writer changes all OPTIMISTIC_WORDS words of an array. Word OPTIMISTIC_HEADER is
 * twice the array's version. During a change, it is greater by 1. */
enum { OPTIMISTIC_WORDS = 32, OPTIMISTIC_BY_2 = 16, OPTIMISTIC_BY_1 = 24, OPTIMISTIC_HEADER = 28 };
#define OPTIMISTIC_WORD(version, j) ((version) * (2 * (j) + 1) * 2654435761u)
/* Words of the test's report. A torn read has a wrong word of the array, but the version changed during the read. A bad
 * read, which is an error, has a wrong word although the version did not change. */
enum optimistic_word {
    OPTIMISTIC_CHANGES,
    OPTIMISTIC_GOOD,
    OPTIMISTIC_TORN,
    OPTIMISTIC_BAD,
    OPTIMISTIC_BAD_WORD,
    OPTIMISTIC_BAD_VERSION,
    OPTIMISTIC_REPORT
};
enum {
    OPTIMISTIC_ROUNDS = 128,
    OPTIMISTIC_LAUNCHES = 4,
    OPTIMISTIC_LAUNCHES_FEW = 16,
    OPTIMISTIC_LINES_FEW = 4,
    OPTIMISTIC_READERS = 32
};

static inline __attribute__((unused)) ordo_u32 atomics_mark(ordo_u32 i)
{
    return (i * 0x9e3779b1u) >> 1;
}

enum chain_word {
    CHAIN_TICKET,
    CHAIN_TURN,
    CHAIN_STOPPED,
    CHAIN_STALE,
    CHAIN_STALE_GROUP,
    CHAIN_STALE_GOT,
    CHAIN_STALE_WANT,
    CHAIN_WORDS
};
enum { CHAIN_PAYLOAD = 256, CHAIN_PATIENCE = 1 << 20 };
#define CHAIN_PAYLOAD_AFTER(t, j) (((t) + 1) * 1024u + (j))
/* Work-group t stores the sum 1 + 2 + ... + (t + 1), plus this flag. */
#define CHAIN_FLAG   0x80000000u
#define CHAIN_FLAG64 0x8000000000000000
