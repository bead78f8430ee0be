/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of kernels.c, which ORDO_TEST_PART names without `part_`, and their common helpers. */
#ifndef ORDO_TESTS_KERNEL_PARTS_H
#define ORDO_TESTS_KERNEL_PARTS_H

#include "tests/support/calls.h"
#include "tests/support/support.h"

/* Makes a call with n elements, on a dictionary of `held` elements or without one, and checks the guards. */
void run_call(struct test *t, const struct array_call *call, ordo_dict *dict, size_t n, size_t held);

/* NAME=VALUE pairs separated by spaces. */
void set_tunables(struct test *t, const char *text);

/* Elements of a small batch. */
enum { BATCH = 40 };

void part_self_test(struct test *t);
void part_primitives(struct test *t);
void part_sequences(struct test *t);
void part_batches(struct test *t);
void part_one_leaf(struct test *t);
void part_concurrent(struct test *t);
void part_levels(struct test *t);
void part_cleanup(struct test *t);
void part_merge_combining(struct test *t);
void part_merge_few(struct test *t);
void part_generic(struct test *t);
void part_prefixes(struct test *t);
void part_leaves(struct test *t);
void part_roaring(struct test *t);
void part_seldom(struct test *t);
void part_combined(struct test *t);
void part_small_batches(struct test *t);
void part_strings(struct test *t);
void part_wide_trees(struct test *t);

#endif
