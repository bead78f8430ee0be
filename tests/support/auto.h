/* SPDX-License-Identifier: Apache-2.0 */
/* Local variables that are freed at the end of their scope. */
#ifndef ORDO_TESTS_AUTO_H
#define ORDO_TESTS_AUTO_H

#include "ordo/ordo.h"

#include <stdlib.h>
#include <string.h>

/* A local variable that a function like ordo_index_destroy frees at the end of the variable's scope:
 *     AUTO_FREE uint32_t *keys = test_alloc(bytes); */
#define AUTO(end)   __attribute__((cleanup(end), unused))
#define AUTO_FREE   AUTO(test_free_memory)
#define AUTO_DICT   AUTO(ordo_dict_destroy)
#define AUTO_DEVICE AUTO(ordo_device_close)
static inline void test_free_memory(const void *pointer)
{
    void *memory = NULL;
    memcpy((void *) &memory, pointer, sizeof memory);
    free(memory);
}

#endif
