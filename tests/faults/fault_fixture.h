/* SPDX-License-Identifier: Apache-2.0 */
/* One public call, repeated with faults, on arrays and a dictionary that are new each time. Compares the outcomes with
 * a call's without faults. */
#ifndef ORDO_TESTS_FAULT_FIXTURE_H
#define ORDO_TESTS_FAULT_FIXTURE_H

#include "fault_run.h"
#include "tests/dict/dict_case.h"
#include "tests/support/calls.h"

enum { FIXTURE_N = 1500, FIXTURE_HELD = 3000, FIXTURE_RECENT = 500, FIXTURE_MAX = 6000, FIXTURE_NUMBERS = 4 };
enum order_kind { OWN_QUEUE, IN_ORDER, OUT_OF_ORDER };
enum { NO_DICT = -1 };

struct fixture;

/* A public call and its inputs. */
struct scenario {
    const char              *name;
    const struct array_call *call;         /* gives the arrays, NULL: there are none */
    bool                     host;         /* call->run_host instead of call->run */
    ordo_status (*run)(struct fixture *s); /* instead of both, if not NULL */
    int             structure;             /* of dict_case.h, or NO_DICT */
    ordo_type       key;                   /* of the dictionary; 0: u32 */
    uint32_t        held;                  /* elements of the dictionary */
    enum order_kind order;
    bool            cold;          /* no kernel is built */
    const char     *fresh;         /* an empty directory for programs; NULL: the usual one */
    unsigned long   last_calls;    /* number of last OpenCL calls or allocations that all fail, not only a sample */
    uint32_t        device_faults; /* of a B-link tree (cl/dict/ltree/concurrent.cl), a hash table or a trie */
    bool            in_part;       /* an error means that the call is done in part at most */
};

struct fixture {
    struct test           *t;
    const struct scenario *is;
    ordo_dict             *dict;
    struct call_strings    strings;
    struct ordo_order      order;
    cl_event               done;
    size_t                 n_arrays;
    struct test_array      array[CALL_ARRAYS];
    void                  *host[CALL_ARRAYS]; /* content of the arrays before and after the call */
    size_t                 numbers[FIXTURE_NUMBERS];
};

/* The visible outcome of a call. */
struct outcome {
    void       *output[CALL_ARRAYS];
    size_t      numbers[FIXTURE_NUMBERS];
    uint64_t    keys[2 * FIXTURE_MAX]; /* of 4 or 16 bytes */
    uint32_t    values[FIXTURE_MAX];
    size_t      count, key_bytes;
    ordo_status status; /* of checking and reading the dictionary */
};

/* The outcome of a scenario without faults, and the state before it. */
struct expected {
    struct outcome *before, *after, *now;
};

/* Number of upserts so far that concurrent batches did not store for lack of memory (ORDO_NOT_STORED). */
extern size_t fixture_not_stored;

struct expected fixture_expected(void);
void            fixture_forget(struct expected *e);

/* Runs the scenario without a fault, and keeps the outcome; f counts its calls. The first run builds kernels. */
void fixture_run_without(struct test *t, const struct scenario *is, struct fault *f, struct expected *e);
/* Runs the scenario with the fault of `plan`. Returns the status. */
ordo_status fixture_run_with(struct complaint *c, struct test *t, const struct scenario *is, const struct expected *e,
                             struct fault *f, const struct fault *plan);
/* Runs the scenario with a fault at every chosen call. If f->only is set, all commands from a chosen one on are
 * refused until the call returns. */
void fault_sweep(struct test *t, const struct scenario *is, struct fault *f);

/* With ORDO_TEST_FAULTS=opencl, skips a test of allocations. */
void fault_skip_if_of_the_host(const struct fault *f);

/* The number of the last call with this name. */
unsigned long fault_last_of(const struct fault *f, const char *name);

#endif
