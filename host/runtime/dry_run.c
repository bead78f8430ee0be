/* SPDX-License-Identifier: Apache-2.0 */
/* Creates bare devices, which have only locks and a log, and dry-run devices. */
#include "internal.h"

#include <stdlib.h>

/* ---- bare devices -------------------------------------------------------------------------------------------- */

const struct ordo_build_changes *ordo_build_changes;

ordo_device *ordo_bare_device(const struct ordo_device_config *config)
{
    pthread_mutexattr_t recursive;
    ordo_device        *dev = calloc(1, sizeof *dev);
    if (!dev)
        return NULL;
    ordo_errors_open(dev, config);
    ordo_builds_open(dev);
    dev->changes = ordo_build_changes;
    atomic_init(&dev->holders, 1);
    atomic_init(&dev->closed, false);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&dev->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return dev;
}

void ordo_bare_device_free(ordo_device *dev)
{
    ordo_builds_close(dev);
    ordo_held_forget(dev);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->error_lock);
    pthread_mutex_destroy(&dev->log_lock);
    free(dev->error);
    free(dev->extensions);
    free(dev->cl_dir);
    free(dev->cache_dir);
    free(dev->bounce);
    free(dev->host_blocks);
    free(dev);
}

/* ---- dry-run devices -------------------------------------------------------------------------------------------- */

/* A call on a dry-run device fails after this many launches. This ends loops that wait for a kernel's result. Real
 * calls need a few hundred launches. */
#define LAUNCHES_MAX 2000

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

ordo_status ordo_dry_run_open(ordo_device *dev, struct ordo_gathering *gathering, ordo_device **out)
{
    static const struct ordo_device_config silent = { .log = NULL };
    ordo_device                           *dry = ordo_bare_device(&silent);
    *out = NULL;
    ORDO_REQUIRE_MEMORY(dev, dry);
    dry->log_to_stderr = false;
    ordo_lock(dev);
    copy_facts(dry, dev);
    ordo_unlock(dev);
    dry->own_dry_run =
        (struct ordo_dry_run) { .stands_for = dev, .gathering = gathering, .kernel.max_group = dev->facts.max_group };
    dry->dry_run = &dry->own_dry_run;
    ordo_dry_run_answer(dry, 0);
    *out = dry;
    return ORDO_OK;
}

void ordo_dry_run_close(ordo_device **dry)
{
    if (!*dry)
        return;
    ordo_scratch_destroy(*dry);
    (*dry)->extensions = NULL; /* belongs to the real device */
    ordo_bare_device_free(*dry);
    *dry = NULL;
}

void ordo_dry_run_answer(ordo_device *dry, uint32_t answer)
{
    dry->dry_run->answer = answer;
    dry->dry_run->launches = LAUNCHES_MAX;
}

bool ordo_is_dry_run(const ordo_device *dev)
{
    return dev->dry_run != NULL;
}
