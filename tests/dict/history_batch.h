/* SPDX-License-Identifier: Apache-2.0 */
/* Batches that tests record as histories: keys and values by number, random codes, and results as operations. */
#ifndef ORDO_TESTS_HISTORY_BATCH_H
#define ORDO_TESTS_HISTORY_BATCH_H

#include "history.h"

#include "tests/support/support.h"

/* The description of a history that has too many orders to try them all. */
#define UNDECIDED "too many orders to try"

/* The number of histories of a test: ORDO_TEST_HISTORIES, or `normal`. */
size_t history_wanted(size_t normal);

/* The form of key `number` of n: spread over all forms of the type, with the least and the greatest among them. */
key_form history_key(ordo_type type, size_t number, size_t n);

/* The value of a number. Numbers differ in their values. All words of a value are equal. */
key_form history_value(uint32_t value_bytes, uint64_t number);

/* A random code below n_codes, by the weight of each. */
uint8_t history_code(struct test *t, const uint8_t *weight, size_t n_codes);

/* Adds the batch's operations on one key that are done. Operation i began at ticks[2i] and ended at ticks[2i + 1]. */
void history_add_batch(struct history *h, const struct ordo_host_concurrent_batch *batch, const uint32_t *ticks);

#endif
