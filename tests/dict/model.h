/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary that others are compared with: a sorted array in host memory, changed by one operation after another.
 *
 *     struct model model = model_empty(ORDO_F32, 8);
 *     size_t room = model_room(&model, &batch);      // what its ranges will hold, nothing changed
 *     model_apply(&model, &batch);                   // fills the batch's outputs
 *     model_free(&model);
 */
#ifndef ORDO_TESTS_MODEL_H
#define ORDO_TESTS_MODEL_H

#include "tests/support/auto.h"
#include "tests/support/words.h"

struct model_element {
    key_form form;       /* elements ascend by it, no two are equal */
    key_form key, value; /* as stored, in the low bytes */
};

struct model {
    ordo_type             type;
    uint32_t              value_bytes;
    struct model_element *element;
    size_t                count, room;
};

struct model model_empty(ordo_type type, uint32_t value_bytes);
struct model model_copy(const struct model *model);
void         model_free(struct model *model);
void         model_clear(struct model *model);
/* Frees a local variable at the end of its scope. */
#define AUTO_MODEL __attribute__((cleanup(model_free)))

/* The content of arrays of elements, in any order. Of equal keys the last counts. */
struct model model_of_arrays(ordo_type type, uint32_t value_bytes, const void *keys, const void *values, size_t count);

/* Sorts exported elements by key if the dictionary has no order. values may be NULL. */
void model_put_in_order(const ordo_dict *dict, ordo_type type, uint32_t value_bytes, void *keys, void *values,
                        size_t count);

/* The number of keys with a lesser form. */
size_t model_rank(const struct model *model, key_form form);

/* Does what ordo_dict_apply must do, operation by operation, and writes its outputs. All codes must be known. Elements
 * beyond the capacity of ranges are left out. Returns the number of elements of ranges. */
size_t model_apply(struct model *model, const struct ordo_host_batch *batch);

/* The return value of model_apply, without changes. */
size_t model_room(const struct model *model, const struct ordo_host_batch *batch);

#endif
