/* SPDX-License-Identifier: Apache-2.0 */
/* Hazards of the soak's calls: little memory, small allocations, calls that the driver refuses (soak.h). */
#include "soak.h"

#include "runtime/internal.h"

/* Waits fail after the call has changed something, so they are refused as often as all other calls together. */
static const char *const refused_waits[] = { "clFinish", "clFinish", "clFinish", "clWaitForEvents",
                                             "clEnqueueReadBuffer" };
static const char *const refused_others[] = { NULL,
                                              "clCreateBuffer",
                                              "clEnqueueBarrierWithWaitList",
                                              "clEnqueueCopyBuffer",
                                              "clEnqueueFillBuffer",
                                              "clEnqueueMapBuffer",
                                              "clEnqueueMarkerWithWaitList",
                                              "clEnqueueNDRangeKernel",
                                              "clEnqueueWriteBuffer",
                                              "clFlush" };

/* Bytes that the call may take: any number, or one in proportion to its batch. */
static uint64_t choose_more(struct life *l, size_t batch)
{
    return soak_one_in(l, 3) ? soak_size(l, (size_t) 1 << 26) : batch * (1 + soak_below(l, 32)) / 4 + 4096;
}

struct hazards soak_draw_hazards(struct life *l, size_t batch, size_t limit_one_in, size_t fault_one_in)
{
    struct hazards b = { .more = choose_more(l, batch) };

    b.limit = !l->without[HAZARD_LIMITS] && soak_one_in(l, limit_one_in);
    b.alloc = !b.limit && !l->without[HAZARD_LIMITS] && soak_one_in(l, 40);
    b.fault = !b.limit && !b.alloc && fault_one_in && !l->without[HAZARD_FAULTS] && soak_one_in(l, fault_one_in);
    b.plan.only = soak_one_in(l, 2) ? refused_waits[soak_below(l, LENGTH(refused_waits))]
                                    : refused_others[soak_below(l, LENGTH(refused_others))];
    b.plan.at = b.plan.only ? 1 + soak_below(l, 2) * soak_below(l, 8) : soak_size(l, 200);
    b.plan.lasting = soak_one_in(l, 4);
    return b;
}

/* Updates are refused more often than queries, which change nothing. */
struct hazards soak_choose_hazards(struct life *l, const struct play *p)
{
    const bool   changes = (p->row->traits & ROW_CHANGES) != 0;
    const size_t batch = p->g.n * (ordo_type_bytes(p->g.type) + p->g.value_bytes + 4);

    return soak_draw_hazards(l, batch, p->row->check ? 2 : changes ? 5 : 10, p->row->check ? 0 : changes ? 3 : 16);
}

/* The next attempt has the driver's next call refused, or more memory. */
struct hazards soak_next_hazards(const struct hazards *b, int tries)
{
    enum { TRIES = 5 };
    struct hazards next = *b;

    next.plan.at++;
    next.more *= 2;
    if (tries < TRIES && !(b->fault && b->plan.lasting))
        return next;
    return (struct hazards) { 0 };
}

static void set_limits(struct life *l, const struct hazards *b)
{
    struct ordo_memory memory;

    if (b->limit && soak_one_in(l, 2))
        test_ok(&l->t, ordo_device_trim(l->t.dev));
    test_ok(&l->t, ordo_device_memory(l->t.dev, &memory));
    if (b->limit)
        l->t.dev->memory_limit = memory.held_bytes + b->more;
    if (b->alloc)
        l->t.dev->facts.max_alloc_bytes = b->more + 4096;
}

void soak_end_limits(struct life *l)
{
    l->t.dev->memory_limit = l->memory_limit;
    l->t.dev->facts.max_alloc_bytes = l->max_alloc;
}

void soak_begin_hazards(struct life *l, const struct hazards *b)
{
    set_limits(l, b);
    if (!b->fault)
        return;
    fault_opencl->only = b->plan.only;
    fault_arm(fault_opencl, b->plan.at, 0, b->plan.lasting);
}

void soak_end_hazards(struct life *l, struct hazards *b)
{
    fault_opencl->armed = false;
    fault_opencl->only = NULL;
    soak_end_limits(l);
    b->fault = b->fault && fault_opencl->struck > 0;
    if (b->fault && b->plan.lasting)
        (void) ordo_device_finish(l->t.dev); /* ends the state of a lost device */
}
