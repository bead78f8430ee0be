/* SPDX-License-Identifier: Apache-2.0 */
#include "dict/hash/hash.h"

static struct ordo_launch kernel_of(const ordo_dict *dict, const char *kernel, size_t n)
{
    const bool cpu = ordo_device_facts(dict->dev)->cpu;
    return ordo_dict_kernel_shares(dict, "dict/hash/query.cl", kernel, cpu ? ordo_ceil_div(n, HASH_CPU_IN_FLIGHT) : n);
}

ordo_status ordo_hash_find(ordo_dict *dict, struct ordo_call *call, const struct ordo_finds *finds)
{
    const struct ordo_launch launch = kernel_of(dict, "hash_find", finds->count);
    struct ordo_hash        *hash = ordo_hash_of(dict);
    const cl_uint            n = (cl_uint) finds->count;
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_hash_begin(call, hash));
    ordo_hash_add_table(&args, &hash->table);
    ordo_args_slice(&args, &finds->keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    ordo_args_slice(&args, &finds->values_out);
    ordo_args_slice(&args, &finds->found);
    return ordo_call_launch(call, &launch, &args);
}

ordo_status ordo_hash_erase(struct ordo_call *call, struct ordo_hash *hash, struct ordo_slice keys, size_t count)
{
    const struct ordo_launch launch = kernel_of(&hash->dict, "hash_erase", count);
    const cl_uint            n = (cl_uint) count;
    struct ordo_args         args = { .n = 0 };

    ordo_hash_add_table(&args, &hash->table);
    ordo_args_slice(&args, &keys);
    ORDO_ADD(&args, ORDO_ARG(n));
    hash->needs_check = hash->recounts = true;
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    hash->needs_check = false;
    return ORDO_OK;
}
