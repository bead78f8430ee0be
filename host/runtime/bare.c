/* SPDX-License-Identifier: Apache-2.0 */
/* A device with only its locks and log: enough to fail with a message. */
#include "internal.h"

#include <stdlib.h>

const struct ordo_build_changes *ordo_build_changes;

ordo_device *ordo_bare_device(const struct ordo_device_config *config)
{
    pthread_mutexattr_t recursive;
    ordo_device        *dev = calloc(1, sizeof *dev);
    if (!dev)
        return NULL;
    if (ordo_errors_open(dev, config) != ORDO_OK || ordo_builds_open(dev) != ORDO_OK) {
        free(dev);
        return NULL;
    }
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
    free(dev->landing);
    free(dev);
}
