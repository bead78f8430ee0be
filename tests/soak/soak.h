/* SPDX-License-Identifier: Apache-2.0 */
/* A differential test of the whole public interface: random calls, each compared with plain code on the host.
 *
 * A seed makes a *life*: a device with a mask and tunables, a dictionary with a configuration, and steps. A step makes
 * one call of include/ordo, or a few without a wait between them. Its random sequence depends on its number only, so a
 * step is the same whatever earlier steps draw.
 *
 * To add a call, add a row to a table of soak_dict.c, soak_array.c, soak_strings.c or soak_own.c. Its name is a call of
 * tests/support/calls.h, or it has a function `run`.
 */
#ifndef ORDO_TESTS_SOAK_H
#define ORDO_TESTS_SOAK_H

#include "tests/dict/model.h"
#include "tests/dict/string_trial.h"
#include "tests/dict/structures.h"
#include "tests/faults/fault_run.h"
#include "tests/support/calls.h"
#include "tests/support/support.h"
#include "tests/support/words.h"

/* Hazards of a life. ORDO_TEST_WITHOUT=faults,limits excludes these two. */
enum hazard {
    HAZARD_FAULTS,
    HAZARD_LIMITS,
    HAZARD_MASKS,
    HAZARD_TUNABLES,
    HAZARD_LOOSE,
    HAZARD_BURSTS,
    HAZARD_NODES,
    N_HAZARDS
};

/* The calls that a life prefers for some steps. */
enum mood { MOOD_MIXED, MOOD_GROW, MOOD_EMPTY, MOOD_ASK, N_MOODS };

enum { SOAK_SMALL_SEEDS = 100 }; /* lives with smaller seeds are small, for the quick ring */
enum { N_QUEUES = 3 };           /* the device's own, one in order, one out of order */

struct life {
    struct test      t; /* the life's device, and the random numbers of this step */
    uint64_t         seed;
    size_t           step, calls, operations; /* calls and operations so far */
    bool             without[N_HAZARDS];
    enum mood        mood;
    uint64_t         memory_limit, max_alloc; /* of the device */
    cl_command_queue queue[N_QUEUES];

    int                     structure; /* of enum structure_id */
    struct ordo_dict_config config;
    size_t                  most_nodes; /* max_leaves or max_chunks; 0: no limit */
    size_t                  node_entries;
    ordo_dict              *dict;
    struct model            model; /* the content that the dictionary must have */
    key_form               *forms; /* the keys of most calls, by ordered form, ascending */
    size_t                  n_forms, cursor;
    struct string_trial     strings;   /* a dictionary of strings; without one until a step needs it */
    char                    text[128]; /* structure, types, configuration */
};

/* A call and its arrays. */
struct play {
    const struct soak_row   *row;
    const struct array_call *call;
    struct given             g;
    bool                     host;
    size_t                   n_arrays;
    size_t                   bytes[CALL_ARRAYS], count[CALL_ARRAYS];
    size_t                   compared[CALL_ARRAYS]; /* defined elements of an output; the model lowers it */
    void                    *want[CALL_ARRAYS];     /* inputs, and outputs of the model */
    void                    *got[CALL_ARRAYS];      /* outputs: earlier content, then the results */
    ordo_status              want_status;
    size_t                   want_number, got_number; /* number of elements, through given.got */
    bool                     counts_elements;         /* want_number is compared */
    struct model             after;                   /* the dictionary's content after the call */
    struct test_array        array[CALL_ARRAYS];
    cl_event                 done;
    size_t                   queue;
    bool                     is_refused; /* by a limit of nodes */
    bool                     is_limited; /* the call had no more than memory_limit */
    uint64_t                 memory_limit;
    /* Concurrent batches: stores that succeeded, and stores of new keys that were refused. */
    size_t n_stores, n_refused;
    void  *refused_keys, *refused_values;
};

enum row_trait {
    ROW_CHANGES = 1,   /* changes the dictionary */
    ROW_ANY_ORDER = 2, /* a hash table exports elements in any order */
    ROW_NEEDS_VALUES = 4,
    ROW_ARRAY = 8,   /* takes no dictionary */
    ROW_STORES = 16, /* may store new keys */
};

struct soak_row {
    const char  *name;
    unsigned     weight[N_MOODS];
    unsigned     traits;
    ordo_dict_op needs;
    /* Sets parameters; changes inputs after arrays are filled. Both may be NULL. */
    void (*choose)(struct life *l, struct play *p);
    void (*fix)(struct life *l, struct play *p);
    /* Writes the right outputs to p->want and the dictionary's content to p->after. */
    void (*model)(struct life *l, struct play *p);
    /* Compares outputs if several are right. NULL: they must equal p->want. */
    void (*check)(struct life *l, struct play *p);
    /* Does the whole step alone. */
    void (*run)(struct life *l);
};

extern const struct soak_row soak_dict_rows[], soak_array_rows[], soak_own_rows[], soak_concurrent_rows[],
    soak_string_rows[];
extern const size_t n_soak_dict_rows, n_soak_array_rows, n_soak_own_rows, n_soak_concurrent_rows, n_soak_string_rows;

#define soak_fail(l, ...) test_fail(&(l)->t, __FILE__, __LINE__, __VA_ARGS__)
#define SOAK_MUST(l, cond)                                                                                             \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            soak_fail((l), "not so: %s", #cond);                                                                       \
    } while (0)

/* ---- soak_life.c ------------------------------------------------------------------------------------------------- */

struct life life_begin(struct test *t, uint64_t seed);
/* Ends a life and frees all. The device must hold as much memory as before the dictionary was made. */
void life_end(struct life *l);
/* Describes the step, for messages. */
void life_context(struct life *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline size_t soak_below(struct life *l, size_t n)
{
    return (size_t) test_below(&l->t, n);
}
static inline bool soak_one_in(struct life *l, size_t n)
{
    return soak_below(l, n) == 0;
}
/* Whether keys have 16 bytes. */
static inline bool has_wide_keys(const struct life *l)
{
    return ordo_type_bytes(l->config.key) == 16;
}
/* 1 to n; small numbers are as likely as large ones. */
size_t soak_size(struct life *l, size_t n);

/* ---- soak_keys.c ------------------------------------------------------------------------------------------------- */

/* Draws the keys of a life. */
void soak_draw_forms(struct life *l, size_t n);
/* Fills all inputs of a call. */
void soak_fill(struct life *l, struct play *p);

/* ---- soak_play.c ------------------------------------------------------------------------------------------------- */

/* Makes one call of this row, with hazards, and compares. */
void soak_play(struct life *l, const struct soak_row *row);
/* Makes some calls without a wait between them, then compares them all. */
void soak_burst(struct life *l, const struct soak_row *const row[], size_t n);

/* ---- soak_hazards.c ---------------------------------------------------------------------------------------------- */

/* Hazards of one attempt of a call. */
struct hazards {
    bool         limit, alloc, fault;
    uint64_t     more; /* bytes */
    struct fault plan;
};

struct hazards soak_choose_hazards(struct life *l, const struct play *p);
/* Hazards of a call with a batch of `batch` bytes. One call in `limit_one_in` has little memory, one in `fault_one_in`
 * (0: none) is refused by the driver. */
struct hazards soak_draw_hazards(struct life *l, size_t batch, size_t limit_one_in, size_t fault_one_in);
/* Hazards of the next attempt. */
struct hazards soak_next_hazards(const struct hazards *b, int tries);
/* Around the call. soak_end_hazards sets b->fault to whether the driver refused a call. */
void soak_begin_hazards(struct life *l, const struct hazards *b);
void soak_end_hazards(struct life *l, struct hazards *b);
void soak_end_limits(struct life *l);

/* ---- soak_strings.c ---------------------------------------------------------------------------------------------- */

/* Compares the dictionary of strings, and destroys it. */
void soak_end_strings(struct life *l);

/* ---- soak_content.c ---------------------------------------------------------------------------------------------- */

/* Expects a sound dictionary with the model's content. */
void soak_check_content(struct life *l);
/* The difference between the dictionary and the model; "": none. */
const char *soak_compare_content(struct life *l, const struct model *model);
/* Reads the dictionary's content. */
struct model soak_read_content(struct life *l);
bool         soak_same_content(const struct model *a, const struct model *b);
/* Whether each key of `now` has the value from before or from after. */
bool soak_lies_between(const struct model *now, const struct model *before, const struct model *after);
/* Whether a tree with a limit of nodes may refuse this many new keys. */
bool soak_may_lack_nodes(struct life *l, size_t stores);

#endif
