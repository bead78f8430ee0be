/* SPDX-License-Identifier: Apache-2.0 */
/* Defines inputs of the self-test's kernels, and their answers, which the host checks. */
#pragma once
#include "shared/types.h"

/* ---- lanes: primitive/self_test_lanes.cl ----------------------------------------------------------------------- */

/* Each function gives one answer per work-item: answers[LANES_... * n + i]. */
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

/* Fields of an input word x. */
#define LANES_HOLDS(x)  ((x) % 2)
#define LANES_PICK(x)   ((x) >> 1 & 63u) /* modulo the width: the lane from which shuffles take a value */
#define LANES_ROUNDS(x) ((x) >> 7 & 7u)
#define LANES_DIGIT(x)  ((x) >> 16 & 0xffffu)
#define LANES_MIX       0x9e3779b97f4a7c15
#define LANES_WIDE(x)   (((ordo_u64) (x) + 1) * LANES_MIX)
/* Adds a value to a checksum that depends on the order. */
#define LANES_JOIN(sum, value) ((sum) *31 + (value))
#define LANES_SYNC_ROUNDS      4

/* ---- loops: primitive/self_test_lanes.cl ----------------------------------------------------------------------- */

/* Tests for a fault of some software rasterizers, which end loops after 65535 rounds. */
#define LOOP_ROUNDS     100000
#define LOOP_ROUND(sum) ((sum) *1664525u + 1013904223u)

/* ---- phases: primitive/self_test_lanes.cl ---------------------------------------------------------------------- */

/* One group computes minima in phases, with barriers between. Word i of a part becomes the minimum of all words of the
 * part whose index is equal modulo PHASES_KEYS. */
enum { PHASES_PARTS = 2, PHASES_WORDS = 300, PHASES_KEYS = 37 };

/* ---- atomics: primitive/self_test_atomics.cl ------------------------------------------------------------------- */

/* Words of 32 or 64 bits that all work-items update. Work-item i: */
enum atomics_word {
    ATOMICS_ADD,      /* adds 1; in 64 bits ATOMICS_SPREAD64 */
    ATOMICS_CARRY,    /* adds ATOMICS_CARRIED, so that lower halves carry */
    ATOMICS_MAX,      /* takes the maximum with atomics_mark(i); in 64 bits ATOMICS_OPPOSE64 of it */
    ATOMICS_MIN,      /* takes the minimum with this value */
    ATOMICS_EXCHANGE, /* stores i + 1; in 64 bits times ATOMICS_SPREAD64 */
    ATOMICS_OR,       /* sets bit i / 8 modulo the word's bits */
    ATOMICS_CAS,      /* adds 1 to word ATOMICS_CAS + i % ATOMICS_CAS_WORDS */
    ATOMICS_CAS_WORDS = 64,
    ATOMICS_WORDS = ATOMICS_CAS + ATOMICS_CAS_WORDS,
    ATOMICS_CAS_TRIES = 1 << 16
};
#define ATOMICS_SPREAD64 0x100000001
#define ATOMICS_CARRIED  0xc0000001u
/* The halves of these words have opposite orders, so a comparison of one half is wrong. Needs mark < 2^31. */
#define ATOMICS_OPPOSE64(mark) ((ordo_u64) (mark) << 32 | (0xffffffffu - (mark)))

/* Answers per work-item: answers[ATOMICS_SEEN_... * n + i]. */
enum atomics_answer {
    ATOMICS_SEEN_ADD,
    ATOMICS_SEEN_EXCHANGE,
    ATOMICS_SEEN_RELAXED, /* the work-item's own word after a relaxed store of its mark */
    ATOMICS_SEEN_ACQUIRE, /* the own word after a releasing store of its mark + 1 */
    ATOMICS_SEEN_CAS,     /* 1 if the CAS succeeded within ATOMICS_CAS_TRIES */
    ATOMICS_SEEN_REFUSED, /* result of a CAS of the own word that expects the mark, and fails */
    ATOMICS_SEEN_AGREED,  /* result of a CAS that expects the mark + 1, and succeeds */
    ATOMICS_ANSWERS
};

/* Words of local memory that a group updates. */
enum atomics_local {
    ATOMICS_LOCAL_ADD,
    ATOMICS_LOCAL_MAX,
    ATOMICS_LOCAL_OR,
    ATOMICS_LOCAL_TAKE,
    ATOMICS_LOCAL_TAKEN,
    ATOMICS_LOCALS
};

/* Each work-item's own words, accessed one, two and four at a time. */
enum { ATOMICS_PEEK_WORDS = 8, ATOMICS_PEEK_BY_2 = 2, ATOMICS_PEEK_BY_4 = 4 };

/* All work-items update one word of each kind, until they have collided often enough. */
enum contend_kind {
    CONTEND_ADD,
    CONTEND_CAS,
    CONTEND_EXCHANGE,
    CONTEND_ADD64,
    CONTEND_STORE64, /* stores CONTEND_WHOLE64(own number); loads must see no mixture of two */
    CONTEND_KINDS
};
/* The buffer has a word per kind, then the number of collisions per kind. */
enum { CONTEND_MET = CONTEND_KINDS, CONTEND_WORDS = CONTEND_MET + CONTEND_KINDS };
enum { CONTEND_WORD_ADD64, CONTEND_WORD_STORE64, CONTEND_WORDS64 };
enum {
    CONTEND_BURST = 64, /* updates between two checks of the collisions */
    CONTEND_LOADS = 32,
    CONTEND_ENOUGH = 128, /* collisions that suffice, per work-item of a group */
    CONTEND_ROUNDS = 4,   /* bursts per work-item in the first launch */
    CONTEND_ROUNDS_MAX = 256,
    CONTEND_GROUPS_FEW = 64
};
#define CONTEND_STEP64        0x80000001
#define CONTEND_WHOLE64(x)    ((ordo_u64) (x) << 32 | (0xffffffffu - (x)))
#define CONTEND_IS_WHOLE64(w) ((w) == 0 || (ordo_u32) ((w) >> 32) + (ordo_u32) (w) == 0xffffffffu)

/* Work-items change lines of words under a latch, and others read them without the latch, like nodes of a tree
 * (dict/ltree/concurrent.cl). A line's header is twice its version, + 1 while latched. Words are accessed four at a
 * time, from BY_2 on two, from BY_1 on one. The last four contain the header. */
enum { OPTIMISTIC_WORDS = 32, OPTIMISTIC_BY_2 = 16, OPTIMISTIC_BY_1 = 24, OPTIMISTIC_HEADER = 28 };
#define OPTIMISTIC_WORD(version, j) ((version) * (2 * (j) + 1) * 2654435761u)
/* The report counts changes, and reads by their outcome. */
enum optimistic_word {
    OPTIMISTIC_CHANGES,
    OPTIMISTIC_GOOD, /* the header stayed, and all words are of its version */
    OPTIMISTIC_TORN, /* the header changed, and a word is of another version */
    OPTIMISTIC_BAD,  /* the header stayed, but a word is of another version */
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

/* The report of a chain of groups. */
enum chain_word {
    CHAIN_TICKET, /* the number of groups that have begun */
    CHAIN_TURN,
    CHAIN_STOPPED, /* 1 if a group waited too long; then all stop */
    CHAIN_STALE,   /* words in which a group missed its predecessor's store */
    CHAIN_STALE_GROUP,
    CHAIN_STALE_GOT,
    CHAIN_STALE_WANT,
    CHAIN_WORDS
};
enum { CHAIN_PAYLOAD = 256, CHAIN_PATIENCE = 1 << 20 };
#define CHAIN_PAYLOAD_AFTER(t, j) (((t) + 1) * 1024u + (j))
/* A flag in a word that has the sum of 1 .. t + 1, for ticket t. */
#define CHAIN_FLAG   0x80000000u
#define CHAIN_FLAG64 0x8000000000000000
