/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of array.h in plain code on the host. */
#ifndef ORDO_TESTS_ARRAY_MODEL_H
#define ORDO_TESTS_ARRAY_MODEL_H

#include "tests/support/calls.h"

/* Writes the outputs of a call that are not NULL. The inputs lie in `a` as well. */
void model_array_call(const struct array_call *call, const struct given *g, void *const a[]);

#endif
