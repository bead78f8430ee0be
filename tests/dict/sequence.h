/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of batches on a dictionary, each compared with the model: made from a seed, or read from a file.
 *
 *     struct sequence s = sequence_random(2, ORDO_F32, 8, seed);
 *     struct outcome  o = sequence_run(t, &s, NULL);
 *     if (o.failed) sequence_fail(t, &s, &o);                 // shrinks it, prints it as a file, ends the test
 *
 * A file has one word and its value per line, then one line per step: what, how many operations, and a number that
 * makes its input, so that a step does the same whatever steps are before it. '#' begins a comment.
 *
 *     structure lsm_growth_2
 *     type f32
 *     value_bytes 8
 *     shape clustered
 *     keys 5000
 *     seed 17
 *     build 3000 1
 *     erase 33 2
 *     apply 513 3
 *
 * `keys` is how many keys the batches draw from, queries mostly too.
 *
 * A sequence on a dictionary of strings has no type, shape and keys. `strings` is the shape of its strings:
 *
 *     structure string_dict
 *     strings paths
 *     value_bytes 8
 *     seed 17
 *     build 3000 1
 *     erase 33 2
 *     queries 200 3
 */
#ifndef ORDO_TESTS_SEQUENCE_H
#define ORDO_TESTS_SEQUENCE_H

#include "model.h"
#include "structures.h"
#include "tests/primitive/string_case.h"
#include "tests/support/support.h"

#include <stdio.h>

enum key_shape {
    KEYS_SPARSE,     /* random bits; floats include NaNs */
    KEYS_DENSE,      /* consecutive keys */
    KEYS_ASCENDING,  /* random bits, batches in key order */
    KEYS_DESCENDING, /* random bits, batches in reverse key order */
    KEYS_EQUAL,      /* one key */
    KEYS_FEW,        /* five */
    KEYS_CLUSTERED,  /* dense segments far apart */
    KEYS_EXTREMES,   /* 0, all ones, least, greatest, NaNs, infinities, both zeros */
    N_KEY_SHAPES
};

/* The arrays of a step. */
enum column {
    COL_CODES,
    COL_KEYS,
    COL_HI,
    COL_VALUES,
    COL_FOUND, /* outputs begin here */
    COL_KEYS_OUT,
    COL_VALUES_OUT,
    COL_COUNTS,
    COL_OFFSETS,
    COL_RANGE_KEYS,
    COL_RANGE_VALUES,
    N_COLUMNS
};

extern const char *const key_shape_name[N_KEY_SHAPES];

/* name, word, its operation in a mixed batch (N_CODES: none), inputs, required outputs, optional outputs */
#define STEP_MAP(X)                                                                                                    \
    X(BUILD, "build", UPSERT, IN_KEYS | IN_VALUES, 0, 0)                                                               \
    X(UPSERT, "upsert", UPSERT, IN_KEYS | IN_VALUES, 0, 0)                                                             \
    X(INSERT, "insert", INSERT, IN_KEYS | IN_VALUES, 0, OUT_FOUND)                                                     \
    X(ERASE, "erase", ERASE, IN_KEYS, 0, 0)                                                                            \
    X(FIND, "find", FIND, IN_KEYS, 0, OUT_FOUND | OUT_VALUES)                                                          \
    X(CONTAINS, "contains", CONTAINS, IN_KEYS, OUT_FOUND, 0)                                                           \
    X(COUNT, "count", COUNT, IN_KEYS | IN_HIS, OUT_COUNTS, 0)                                                          \
    X(RANGE, "range", RANGE, IN_KEYS | IN_HIS, OUT_OFFSETS, OUT_RANGES)                                                \
    X(SEEK_LT, "seek_lt", SEEK_LT, IN_KEYS, 0, OUT_FOUND | OUT_KEYS | OUT_VALUES)                                      \
    X(SEEK_LE, "seek_le", SEEK_LE, IN_KEYS, 0, OUT_FOUND | OUT_KEYS | OUT_VALUES)                                      \
    X(SEEK_GE, "seek_ge", SEEK_GE, IN_KEYS, 0, OUT_FOUND | OUT_KEYS | OUT_VALUES)                                      \
    X(SEEK_GT, "seek_gt", SEEK_GT, IN_KEYS, 0, OUT_FOUND | OUT_KEYS | OUT_VALUES)                                      \
    X(FIRST, "first", SEEK_GE, 0, 0, OUT_FOUND | OUT_KEYS | OUT_VALUES)                                                \
    X(LAST, "last", SEEK_LE, 0, 0, OUT_FOUND | OUT_KEYS | OUT_VALUES)                                                  \
    X(EXPORT, "export", RANGE, 0, OUT_RANGE_KEYS, OUT_RANGES)                                                          \
    X(SIZE, "size", N_CODES, 0, 0, 0)                                                                                  \
    X(STATISTICS, "statistics", N_CODES, 0, 0, 0)                                                                      \
    X(COMPACT, "compact", N_CODES, 0, 0, 0)                                                                            \
    X(CLEAR, "clear", N_CODES, 0, 0, 0)                                                                                \
    X(APPLY, "apply", N_CODES, IN_CODES | IN_KEYS | IN_HIS | IN_VALUES, OUT_OFFSETS,                                   \
      OUT_FOUND | OUT_KEYS | OUT_VALUES | OUT_COUNTS | OUT_RANGES)                                                     \
    X(ERASE_ALL, "erase_all", N_CODES, 0, 0, 0)                                                                        \
    X(QUERIES, "queries", N_CODES, 0, 0, 0) /* all queries of a dictionary of strings */

enum step_kind {
#define X(name, text, code, inputs, must, may) STEP_##name,
    STEP_MAP(X)
#undef X
        N_STEP_KINDS
};

struct step {
    enum step_kind kind;
    uint32_t       count;
    uint32_t       salt; /* with the sequence's seed: seed of the step's input */
};

extern const char *const step_word[N_STEP_KINDS];
/* Whether a step makes this call of tests/support/calls.h. */
bool step_makes(const char *call);
/* `count`, but 1 for steps of one operation. */
size_t step_operations(const struct step *step);

enum { STEPS_MAX = 512, STRING_DICT = N_CONFIGURED /* the subject that is a dictionary of strings */ };

struct sequence {
    size_t            subject; /* a structure_id below N_SUBJECTS, or STRING_DICT */
    ordo_type         type;
    uint32_t          value_bytes;
    enum key_shape    shape;
    enum string_shape strings;
    uint32_t          n_keys;
    uint64_t          seed;
    size_t            n_steps;
    struct step       step[STEPS_MAX];
};

/* Random batches of random sizes, some much larger than others, with queries between them. */
struct sequence sequence_random(size_t subject, ordo_type type, uint32_t value_bytes, uint64_t seed);
/* Twice: erases all of some thousand elements, erases again, and goes on. */
struct sequence sequence_emptied(size_t subject, ordo_type type, uint32_t value_bytes, uint64_t seed);
/* Every operation with `count` in a batch, on a dictionary of about that size. */
struct sequence sequence_every(size_t subject, ordo_type type, uint32_t value_bytes, enum key_shape shape,
                               uint32_t count);
/* Random updates of 1 to `most` strings, with queries between them. */
struct sequence string_sequence_random(enum string_shape shape, uint32_t value_bytes, uint64_t seed, size_t updates,
                                       uint32_t most);
/* Adds a step, whose salt is its number. */
void sequence_add(struct sequence *s, enum step_kind kind, uint32_t count);
/* Operations in all batches together. */
size_t sequence_operations(const struct sequence *s);

/* Whether a step suits a dictionary of strings. */
bool string_sequence_takes(enum step_kind kind);
/* Returns false, with a message on stderr, for an invalid file. */
bool sequence_read(const char *path, struct sequence *out);
void sequence_print(FILE *to, const struct sequence *s);

/* Fault injection for tests of the tests, in the first suitable step of this kind: flips a bit of an output, or drops
 * the model's least element (column N_COLUMNS). In a sequence on a dictionary of strings, flips a bit of a value in the
 * model before a step, or drops the model's least string. */
struct fault {
    enum step_kind kind;
    enum column    column;
    bool           done;
};

struct outcome {
    bool        failed;
    ordo_status status; /* wrong status of a call; ORDO_OK if the status was right */
    size_t      step;   /* the failed step */
    uint64_t    hash;   /* of all results */
    char        what[768];
};

/* Runs all steps on a new dictionary, with ordo_dict_check after each update and at the end. */
struct outcome sequence_run(struct test *t, const struct sequence *s, struct fault *fault);
/* As sequence_run, on a dictionary of strings. A failed step leaks memory. */
struct outcome string_sequence_run(struct test *t, const struct sequence *s, struct fault *fault);
/* Runs a sequence on any subject, without faults. */
struct outcome sequence_play(struct test *t, const struct sequence *s);
/* Runs a sequence on any subject, and ends the test by sequence_fail if the sequence fails. */
void sequence_pass(struct test *t, const struct sequence *s);

/* Removes steps, and operations of steps, while the sequence still fails. */
void sequence_shrink(struct test *t, struct sequence *s, struct outcome *outcome);

/* Prints the shrunk sequence as a file for tests/replay, and ends the test as failed. */
_Noreturn void sequence_fail(struct test *t, const struct sequence *s, const struct outcome *outcome);

#endif
