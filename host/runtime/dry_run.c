/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for devices, on which calls tell which kernels they need. */
#include "internal.h"

#include <stdlib.h>

/* The largest calls launch some hundred kernels. */
#define LAUNCHES_MOST 2000

static void copy_facts(ordo_device *to, const ordo_device *from)
{
    to->facts = from->facts;
    to->platform = from->platform;
    to->id = from->id;
    to->context = from->context;
    to->queue = from->queue;
    to->pid = from->pid;
    memcpy(to->std, from->std, sizeof to->std);
    to->khr_ballot = from->khr_ballot;
    to->intel_sub_groups = from->intel_sub_groups;
    to->extensions = from->extensions;
    to->test_primitives = from->test_primitives;
    to->memory_limit = from->memory_limit;
    memcpy(to->tunable, from->tunable, sizeof to->tunable);
    memcpy(to->origin, from->origin, sizeof to->origin);
}

ordo_status ordo_rehearsal_open(ordo_device *dev, struct ordo_gathering *gathering, ordo_device **out)
{
    static const struct ordo_device_config silent = { .log = NULL };
    ordo_device                           *stand_in = ordo_bare_device(&silent);
    struct ordo_rehearsal                 *rehearsal = calloc(1, sizeof *rehearsal);
    *out = NULL;
    if (!stand_in || !rehearsal) {
        if (stand_in)
            ordo_bare_device_free(stand_in);
        free(rehearsal);
        return ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, NULL);
    }
    stand_in->log_to_stderr = false;
    ordo_lock(dev);
    copy_facts(stand_in, dev);
    ordo_unlock(dev);
    rehearsal->stands_for = dev;
    rehearsal->gathering = gathering;
    rehearsal->kernel.max_group = dev->facts.max_group;
    stand_in->rehearsal = rehearsal;
    ordo_rehearsal_answer(stand_in, 0);
    *out = stand_in;
    return ORDO_OK;
}

void ordo_rehearsal_close(ordo_device **stand_in)
{
    if (!*stand_in)
        return;
    ordo_scratch_destroy(*stand_in);
    free((*stand_in)->rehearsal);
    (*stand_in)->extensions = NULL; /* the device's */
    ordo_bare_device_free(*stand_in);
    *stand_in = NULL;
}

void ordo_rehearsal_answer(ordo_device *stand_in, uint32_t answer)
{
    stand_in->rehearsal->answer = answer;
    stand_in->rehearsal->launches = LAUNCHES_MOST;
}

bool ordo_rehearses(const ordo_device *dev)
{
    return dev->rehearsal != NULL;
}
