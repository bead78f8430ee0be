/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of bad arguments: see bad_arguments.c. */
#ifndef ORDO_TESTS_BAD_ARGUMENTS_H
#define ORDO_TESTS_BAD_ARGUMENTS_H

#include "tests/dict/dict_case.h"
#include "tests/support/calls.h"

enum { N = 100, HELD = 50, APART = 4096 /* bytes between arrays in the arena */, NO_DICT = -1 };

enum { PARAMETERS = 12, FUNCTIONS = 200 };

struct function {
    char   name[64];
    char   parameter[PARAMETERS][32];
    bool   pointer[PARAMETERS]; /* neither a value nor an array */
    size_t n;
};

/* The functions that include/ordo declares, once they are read. */
extern struct function functions[FUNCTIONS];
extern size_t          n_functions;
void                   read_headers(void);
bool                   has_parameter(const struct function *f, const char *name);

/* A function and its arguments. */
struct trial {
    struct test             *t;
    const struct function   *function;
    const struct array_call *call;
    bool                     host; /* the form over host memory */
    struct given             good;
    size_t                   n;
    struct test_array        array[CALL_ARRAYS], arena;
    struct ordo_slice        slice[CALL_ARRAYS];
    void                    *host_array[CALL_ARRAYS];
    cl_context               foreign; /* another context, with a queue and a buffer */
    cl_command_queue         foreign_queue;
    cl_mem                   foreign_mem;
    cl_event                 foreign_event, failed;
    cl_event                 last_is_none[3]; /* two pending events, and NULL */
};

extern unsigned long n_refused; /* guards against a test that tries nothing */

/* The call must return `want`. */
void refuse(const struct trial *r, const struct given *g, ordo_status want, const char *parameter, const char *what);

struct bad_order {
    const char       *text;
    ordo_status       want;
    struct ordo_order order;
};
enum { BAD_ORDERS = 7 };

void list_bad_orders(const struct trial *r, struct bad_order out[BAD_ORDERS]);

/* Another context, with a queue, a buffer and events for each trial. */
void make_foreign_context(const ordo_device *dev);
void release_foreign_context(void);
void make_foreign(struct trial *r);
void release_foreign(struct trial *r);

/* Tests every parameter of a function over arrays. structure: of structures.h, or NO_DICT. */
void try_function(struct test *t, const struct function *f, const struct array_call *call, int structure);

/* Test functions outside calls.h. */
void try_texts(struct test *t);
void try_opening(struct test *t);
void try_adopting(struct test *t);
void try_no_device(struct test *t);
void try_key_plans(struct test *t);
void try_preparation(struct test *t);
void try_device_parameters(struct test *t);
void try_profile(struct test *t);
void try_types(struct test *t);
void try_indexes(struct test *t);
void try_compressed_indexes(struct test *t);
void try_string_indexes(struct test *t);
void try_string_dicts(struct test *t);
void try_no_dictionary(struct test *t);
void try_dictionary_parameters(struct test *t);
void try_roaring_parameters(struct test *t);
void try_creating(struct test *t);
void try_configurations(struct test *t);

#endif
