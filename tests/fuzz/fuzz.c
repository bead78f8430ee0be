/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "fuzz.h"

#include "runtime/internal.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void fuzz_fail(const char *file, int line, const char *sentence)
{
    (void) fprintf(stderr, "%s:%d: not so: %s\n", file, line, sentence);
    abort();
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static char dir[] = "/dev/shm/ordo-fuzz-XXXXXX"; /* in memory: a directory in /tmp may be a hundred times slower */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void) info;
    (void) type;
    (void) where;
    return remove(path);
}

static void remove_dir(void)
{
    (void) nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_dir(void)
{
    static bool made;
    if (!made) {
        if (!mkdtemp(dir)) {
            (void) snprintf(dir, sizeof dir, "/tmp/ordo-fuzz-XXXXXX");
            FUZZ_EXPECT(mkdtemp(dir) != NULL);
        }
        FUZZ_EXPECT(atexit(remove_dir) == 0);
        made = true;
    }
    return dir;
}

void fuzz_write(const char *name, const void *data, size_t bytes, char path[FUZZ_PATH])
{
    const char *slash = strchr(name, '/');
    if (slash) {
        (void) snprintf(path, FUZZ_PATH, "%s/%.*s", fuzz_dir(), (int) (slash - name), name);
        (void) mkdir(path, 0700);
    }
    (void) snprintf(path, FUZZ_PATH, "%s/%s", fuzz_dir(), name);
    FILE *file = fopen(path, "wb");
    FUZZ_EXPECT(file != NULL);
    FUZZ_EXPECT(fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

void fuzz_remove(const char *name)
{
    char path[FUZZ_PATH];
    (void) snprintf(path, sizeof path, "%s/%s", fuzz_dir(), name);
    (void) unlink(path);
}

char *fuzz_text(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    FUZZ_EXPECT(text != NULL);
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = 0;
    return text;
}

/* ---- a device ------------------------------------------------------------------------------------------------ */

static void take_message(void *user, ordo_log_level level, const char *message)
{
    (void) user;
    FUZZ_EXPECT(level <= ORDO_LOG_DEBUG && strlen(message) > 0);
}

ordo_device *fuzz_device(void)
{
    static const struct ordo_device_config config = { .log = take_message };
    pthread_mutexattr_t                    recursive;
    ordo_device                           *dev = calloc(1, sizeof *dev);
    FUZZ_EXPECT(dev);
    ordo_errors_open(dev, &config);
    ordo_builds_open(dev);
    dev->log_level = ORDO_LOG_DEBUG;
    FUZZ_EXPECT(pthread_mutexattr_init(&recursive) == 0);
    FUZZ_EXPECT(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE) == 0);
    FUZZ_EXPECT(pthread_mutex_init(&dev->lock, &recursive) == 0);
    (void) pthread_mutexattr_destroy(&recursive);
    return dev;
}
