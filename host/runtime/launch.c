/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels: their variants and their arguments. */
#include "runtime/internal.h"

#include <assert.h>

void ordo_args_add(struct ordo_args *args, const struct ordo_arg *more, size_t n)
{
    assert(args->n + n <= sizeof args->arg / sizeof args->arg[0]);
    for (size_t i = 0; i < n; i++)
        args->arg[args->n++] = more[i];
}

void ordo_args_slice(struct ordo_args *args, const struct ordo_slice *slice)
{
    assert(args->n_at < sizeof args->at / sizeof args->at[0]);
    cl_ulong *at = &args->at[args->n_at++];
    *at = slice->at;
    ORDO_ADD(args, ORDO_ARG(slice->mem), ORDO_ARG(*at));
}

void ordo_launch_define(struct ordo_launch *launch, const char *name, long value)
{
    size_t n = 0;
    while (launch->defines[n].name)
        n++;
    assert(n < ORDO_DEFINES_MAX);
    launch->defines[n] = (struct ordo_define) { name, value };
}

ordo_status ordo_call_launch(struct ordo_call *call, const struct ordo_launch *launch, const struct ordo_args *args)
{
    struct ordo_kernel *kernel = NULL;
    if (launch->groups == 0)
        return ORDO_OK;
    ORDO_TRY(ordo_call_kernel(call, launch->file, launch->kernel, launch->defines, &kernel));
    return ordo_call_launch_kernel(call, kernel, launch->groups, launch->group, args->arg, args->n);
}
