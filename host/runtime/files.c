/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *trouble_with(int fd, uint64_t max)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return strerror(errno);
    if (!S_ISREG(info.st_mode))
        return "it is not a regular file";
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return "it belongs to another user";
    return (uint64_t) info.st_size <= max ? NULL : "it is too large";
}

FILE *ordo_file_open(const char *path, uint64_t max, const char **why)
{
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        *why = errno == ELOOP ? "it is a symbolic link" : strerror(errno);
        return NULL;
    }
    *why = trouble_with(fd, max);
    FILE *file = *why ? NULL : fdopen(fd, "rb");
    if (!file) {
        *why = *why ? *why : strerror(errno);
        close(fd);
        errno = 0;
    }
    return file;
}

bool ordo_file_make_parents(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        const bool bad = mkdir(path, 0700) != 0 && errno != EEXIST;
        *at = '/';
        if (bad)
            return false;
    }
    return true;
}

static bool write_all(int fd, ordo_file_writer *write, const void *content)
{
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        return false;
    }
    const bool whole = write(file, content);
    const int  why = errno;
    const bool closed = fclose(file) == 0;
    errno = whole ? errno : why;
    return whole && closed;
}

bool ordo_file_replace(const char *target, char *temporary, ordo_file_writer *write, const void *content)
{
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return false;
    if (write_all(fd, write, content) && rename(temporary, target) == 0)
        return true;
    const int why = errno;
    unlink(temporary);
    errno = why;
    return false;
}
