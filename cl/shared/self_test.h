/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the self-test's kernels, and the inputs from which the host computes the right ones. */
#pragma once
#include "shared/types.h"

/* ---- lanes: primitive/self_test_lanes.cl ----------------------------------------------------------------------- */

/* One answer per work-item: answers[LANES_... * n + i]. The text names the function. */
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
#define LANES_HOLDS(x)  ((x) % 2)             /* for ballots and turns */
#define LANES_PICK(x)   ((x) >> 1 & 63u)      /* the lane whose value it takes, modulo the width */
#define LANES_ROUNDS(x) ((x) >> 7 & 7u)       /* rounds of its loop */
#define LANES_DIGIT(x)  ((x) >> 16 & 0xffffu) /* for match */
/* Spreads a word over 64 bits. */
#define LANES_MIX     0x9e3779b97f4a7c15
#define LANES_WIDE(x) (((ordo_u64) (x) + 1) * LANES_MIX)
/* Adds a value to an ordered checksum. */
#define LANES_JOIN(sum, value) ((sum) *31 + (value))
#define LANES_SYNC_ROUNDS      4

/* ---- loops: primitive/self_test_lanes.cl ----------------------------------------------------------------------- */

/* Some software rasterizers end loops after 65535 rounds. */
#define LOOP_ROUNDS     100000
#define LOOP_ROUND(sum) ((sum) *1664525u + 1013904223u)

/* ---- phases: primitive/self_test_lanes.cl ---------------------------------------------------------------------- */

/* One group folds minima in phases with a barrier after each, part after part, like updates of a hash table. Each word
 * of a part becomes the minimum of words with its place modulo PHASES_KEYS. */
enum { PHASES_PARTS = 2, PHASES_WORDS = 300, PHASES_KEYS = 37 };

/* ---- atomics: primitive/self_test_atomics.cl ------------------------------------------------------------------- */

/* Words that all work-items update, in 32 or 64 bits. */
enum atomics_word {
    ATOMICS_ADD,      /* each adds 1 (spread) */
    ATOMICS_CARRY,    /* each adds ATOMICS_CARRIED, which carries into the upper half of 64 bits */
    ATOMICS_MAX,      /* of atomics_mark(i) (opposed) */
    ATOMICS_MIN,      /* the same */
    ATOMICS_EXCHANGE, /* each stores i + 1 (spread), and takes another's word */
    ATOMICS_OR,       /* each sets a bit: i / 8 modulo the word's bits */
    ATOMICS_CAS,      /* i adds 1 to word i % ATOMICS_CAS_WORDS */
    ATOMICS_CAS_WORDS = 64,
    ATOMICS_WORDS = ATOMICS_CAS + ATOMICS_CAS_WORDS,
    ATOMICS_CAS_TRIES = 1 << 16
};
/* Spreads a number over both halves of a 64-bit word. */
#define ATOMICS_SPREAD64 0x100000001
#define ATOMICS_CARRIED  0xc0000001u
/* A 64-bit word whose halves have opposite orders, so that comparing one half is wrong. mark < 2^31. */
#define ATOMICS_OPPOSE64(mark) ((ordo_u64) (mark) << 32 | (0xffffffffu - (mark)))

/* Answers per work-item: answers[ATOMICS_SEEN_... * n + i]. */
enum atomics_answer {
    ATOMICS_SEEN_ADD,      /* the word before its addition */
    ATOMICS_SEEN_EXCHANGE, /* the word before its exchange */
    ATOMICS_SEEN_RELAXED,  /* atomics_mark(i) (opposed), stored and loaded, unshared */
    ATOMICS_SEEN_ACQUIRE,  /* that + 1 */
    ATOMICS_SEEN_CAS,      /* 1 if it succeeded within ATOMICS_CAS_TRIES */
    ATOMICS_SEEN_REFUSED,  /* the unshared word, from a CAS that expects another value */
    ATOMICS_SEEN_AGREED,   /* the word again, from a CAS that stores 1 more, after one that differs in the upper half */
    ATOMICS_ANSWERS
};

/* Words of local memory that a group updates. */
enum atomics_local {
    ATOMICS_LOCAL_ADD,
    ATOMICS_LOCAL_MAX,
    ATOMICS_LOCAL_OR,
    ATOMICS_LOCAL_TAKE,  /* each adds 1 to take a number */
    ATOMICS_LOCAL_TAKEN, /* the sum of the numbers taken */
    ATOMICS_LOCALS
};

/* Unshared words, accessed by one, two and four. */
enum { ATOMICS_PEEK_WORDS = 8, ATOMICS_PEEK_BY_2 = 2, ATOMICS_PEEK_BY_4 = 4 };

/* Words that all work-items update, each in one way, until they have collided often enough. */
enum contend_kind {
    CONTEND_ADD,      /* + 1 */
    CONTEND_CAS,      /* + 1, where it succeeds */
    CONTEND_EXCHANGE, /* of different numbers */
    CONTEND_ADD64,    /* + CONTEND_STEP64; from here on 64 bits */
    CONTEND_STORE64,  /* stores of CONTEND_WHOLE64(own number), and loads that see no mixture */
    CONTEND_KINDS
};
/* Words of 32 bits by kind; then numbers of collisions by kind. */
enum { CONTEND_MET = CONTEND_KINDS, CONTEND_WORDS = CONTEND_MET + CONTEND_KINDS };
enum { CONTEND_WORD_ADD64, CONTEND_WORD_STORE64, CONTEND_WORDS64 };
enum {
    CONTEND_BURST = 64,       /* updates between two checks of the collisions */
    CONTEND_LOADS = 32,       /* after each store of 64 bits */
    CONTEND_ENOUGH = 128,     /* collisions per work-item of a group, even with each other */
    CONTEND_ROUNDS = 4,       /* bursts of a work-item, or more for enough collisions */
    CONTEND_ROUNDS_MAX = 256, /* in one launch */
    CONTEND_GROUPS_FEW = 64   /* if few run concurrently */
};
#define CONTEND_STEP64        0x80000001
#define CONTEND_WHOLE64(x)    ((ordo_u64) (x) << 32 | (0xffffffffu - (x)))
#define CONTEND_IS_WHOLE64(w) ((w) == 0 || (ordo_u32) ((w) >> 32) + (ordo_u32) (w) == 0xffffffffu)

/* Lines of words that work-items change under a latch and others read without, like a tree's nodes
 * (dict/ltree/concurrent.cl). A line's header is twice its version, + 1 while latched. Word j of a version is
 * OPTIMISTIC_WORD(version, j). Words are accessed by four, two and one; the last four contain the header. */
enum {
    OPTIMISTIC_WORDS = 32,
    OPTIMISTIC_BY_2 = 16, /* from here on */
    OPTIMISTIC_BY_1 = 24,
    OPTIMISTIC_HEADER = 28
};
#define OPTIMISTIC_WORD(version, j) ((version) * (2 * (j) + 1) * 2654435761u) /* version 0: all zero */
/* The report. */
enum optimistic_word {
    OPTIMISTIC_CHANGES,
    OPTIMISTIC_GOOD, /* seemed whole: header unchanged */
    OPTIMISTIC_TORN, /* known to be torn: header changed, and some word of another version */
    OPTIMISTIC_BAD,  /* seemed whole, but torn */
    OPTIMISTIC_BAD_WORD,
    OPTIMISTIC_BAD_VERSION,
    OPTIMISTIC_REPORT
};
enum {
    OPTIMISTIC_ROUNDS = 128, /* changes and reads of a work-item */
    OPTIMISTIC_LAUNCHES = 4,
    OPTIMISTIC_LAUNCHES_FEW = 16, /* if few groups run concurrently */
    OPTIMISTIC_LINES_FEW = 4,
    OPTIMISTIC_READERS = 32 /* work-items a line otherwise */
};

/* Pseudo-random below 2^31, different for each i. */
static inline __attribute__((unused)) ordo_u32 atomics_mark(ordo_u32 i)
{
    return (i * 0x9e3779b1u) >> 1;
}

/* The report of a chain of groups. */
enum chain_word {
    CHAIN_TICKET,  /* groups that have begun */
    CHAIN_TURN,    /* the ticket whose turn it is */
    CHAIN_STOPPED, /* 1: a group waited too long, and all stop */
    CHAIN_STALE,   /* words unlike the predecessor's */
    CHAIN_STALE_GROUP,
    CHAIN_STALE_GOT,
    CHAIN_STALE_WANT,
    CHAIN_WORDS
};
enum {
    CHAIN_PAYLOAD = 256,     /* words that each group replaces */
    CHAIN_PATIENCE = 1 << 20 /* polls before a group stops */
};
/* Word j of the payload after ticket t. */
#define CHAIN_PAYLOAD_AFTER(t, j) (((t) + 1) * 1024u + (j))
/* The flagged word of ticket t: the sum of 1 .. t + 1, and the flag. */
#define CHAIN_FLAG   0x80000000u
#define CHAIN_FLAG64 0x8000000000000000
