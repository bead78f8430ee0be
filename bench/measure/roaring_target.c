/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "bench/common/device.h"
#include "bench/workload/roaring.h"

#include <stdlib.h>

/* OUT: the keys of the set that was read, or the bytes that were written. */
enum { BYTES, N_INPUTS, OUT = N_INPUTS, N_ARRAYS };

/* A key of a HAMT, and of its build. */
#define KEY_BYTES 24

struct workload_bytes roaring_target_bytes(const struct spec *spec)
{
    const size_t bytes = roaring_bytes_max(spec->count), keys = spec->count * sizeof(uint32_t);
    return (struct workload_bytes) { 2 * bytes + keys + spec->count * KEY_BYTES, bytes > keys ? bytes : keys };
}

static struct ordo_slice slice(const struct target *t, int array)
{
    return buffers_at(&t->arrays, array, 0);
}

ordo_status roaring_target_fill(struct target *t, char *why)
{
    if (!inputs_make(&t->spec, &t->in))
        return device_why(t->device, ORDO_NO_HOST_MEMORY, why);
    const bool   reads = t->spec.workload == READROARING;
    const size_t bytes[N_ARRAYS] = { t->in.set_bytes, reads ? t->in.kept * sizeof(uint32_t) : t->in.set_bytes };
    t->arrays.n_inputs = N_INPUTS;
    t->arrays.n = N_ARRAYS;
    TRY(buffers_make(&t->arrays, bytes, (const void *[]) { t->in.rows }, why));
    TRY(device_why(t->device, ordo_hamt_create(t->device, ordo_hamt_config(.dict = { .key = ORDO_U32 }), &t->set),
                   why));
    if (!reads)
        TRY(device_why(t->device, ordo_dict_build_host(t->set, t->in.keys, NULL, t->in.kept), why));
    return device_why(t->device, buffers_poison(&t->arrays), why);
}

ordo_status roaring_target_call(struct target *t, const struct ordo_order *order)
{
    return t->spec.workload == READROARING
               ? ordo_hamt_read_roaring(t->set, slice(t, BYTES), t->in.set_bytes, order)
               : ordo_hamt_write_roaring(t->set, slice(t, OUT), t->in.set_bytes, &t->set_bytes, order);
}

bool roaring_target_check(struct target *t, char *why)
{
    size_t count = t->set_bytes;
    if (t->spec.workload == READROARING &&
        device_why(t->device, ordo_dict_export(t->set, slice(t, OUT), ordo_none(), t->in.kept, &count, NULL), why) !=
            ORDO_OK)
        return false;
    void               *out = buffers_read(&t->arrays, OUT, why);
    const struct answer answer = { .keys = out, .kept = (uint32_t) count };
    const bool          good = out && answer_check(&t->spec, &t->in, &answer, false, why);
    free(out);
    return good;
}
