/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the interface that make the library build programs, on a device whose kernels do nothing. */
#ifndef OFFLINE_ASK_H
#define OFFLINE_ASK_H

#include "no_driver.h"
#include "ordo/ordo.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Buffers of one call, each for `count` elements of 8 bytes. */
#define N_ARRAYS 16

struct arrays {
    cl_mem            mem[N_ARRAYS];
    struct ordo_slice at[N_ARRAYS];
};

struct arrays arrays_create(size_t count);
void          arrays_destroy(struct arrays *a);

/* The slice, or none without values. */
struct ordo_slice if_bytes(struct ordo_slice slice, uint32_t bytes);

/* Every shape of data, every type of key, both orders. */
struct pair {
    ordo_type key;
    uint32_t  value_bytes;
    bool      descending;
};
enum { N_PAIRS = 9 };
extern const struct pair pairs[N_PAIRS];

/* Launches of one call. Further ones fail, because a loop that depends on a kernel's result may never end. */
#define LAUNCHES 2000

/* Most calls fail in the end on made-up results. The programs that they have built are recorded. */
void ignore(ordo_status status);

/* Whether a tunable ("sort.k4v8.items") belongs to this primitive; NULL belongs to all. */
bool is_of(const char *tunable, const char *primitive);
/* Whether it applies to this shape of data: "k4v8", or "k4" with any values. */
bool is_for(const char *tunable, const struct pair *pair);

/* Makes the calls that a tunable affects; NULL: all calls. */
void ask_primitives(ordo_device *dev, const char *tunable);

/* Sorts, indices and dictionaries of strings. */
void ask_strings(ordo_device *dev, const struct arrays *a, size_t count);

/* The made-up count of kernels of dictionaries, and no_driver.read, which returns it. */
extern cl_uint answer;
void           make_up(cl_uint *to, size_t words);

/* Every call of every structure of this shape of data. */
void ask_structures(ordo_device *dev, const struct pair *pair);
/* Every structure with all shapes of data and several answers. */
void ask_dicts(ordo_device *dev);

#endif
