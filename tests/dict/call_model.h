/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of tests/support/calls.h on a model of a dictionary, except concurrent batches. */
#ifndef ORDO_TESTS_CALL_MODEL_H
#define ORDO_TESTS_CALL_MODEL_H

#include "model.h"
#include "tests/support/calls.h"
#include "tests/support/support.h"

/* The right outcome of a call. */
struct call_outcome {
    ordo_status status;
    bool        has_number;
    size_t      number;               /* of elements, through given.got */
    size_t      defined[CALL_ARRAYS]; /* elements of each array that the header defines */
};

/* Makes a call on the model: changes its content, and writes the outputs that are not NULL. */
struct call_outcome model_call(struct model *model, const struct array_call *call, const struct given *g,
                               void *const a[]);

#endif
