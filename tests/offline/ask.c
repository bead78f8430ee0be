/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of data and arrays that all calls share: see ask.h. */
#include "ask.h"

#include <stdio.h>
#include <string.h>

const struct pair pairs[N_PAIRS] = { { ORDO_U32, 0, false }, { ORDO_F32, 4, false },     { ORDO_I32, 8, true },
                                     { ORDO_I64, 0, true },  { ORDO_U64, 4, false },     { ORDO_F64, 8, false },
                                     { ORDO_U128, 0, true }, { ORDO_BYTES16, 4, false }, { ORDO_U128, 8, false } };

struct arrays arrays_create(size_t count)
{
    struct arrays a;
    for (size_t i = 0; i < N_ARRAYS; i++) {
        a.mem[i] = no_driver_buffer((count + 4) * 16); /* the widest keys */
        a.at[i] = ordo_at(a.mem[i], 0);
    }
    return a;
}

void arrays_destroy(struct arrays *a)
{
    for (size_t i = 0; i < N_ARRAYS; i++)
        clReleaseMemObject(a->mem[i]);
}

struct ordo_slice if_bytes(struct ordo_slice slice, uint32_t bytes)
{
    return bytes ? slice : ordo_none();
}

void ignore(ordo_status status)
{
    (void) status;
    no_driver.launches = LAUNCHES;
}

bool is_of(const char *tunable, const char *primitive)
{
    return !tunable || (strncmp(tunable, primitive, strlen(primitive)) == 0 && tunable[strlen(primitive)] == '.');
}

bool is_for(const char *tunable, const struct pair *pair)
{
    const size_t key_bytes = ordo_type_bytes(pair->key);
    char         shape[16], any_values[16];
    snprintf(shape, sizeof shape, ".k%zuv%u.", key_bytes, pair->value_bytes);
    snprintf(any_values, sizeof any_values, ".k%zu.", key_bytes);
    return !tunable || strstr(tunable, shape) || strstr(tunable, any_values);
}
