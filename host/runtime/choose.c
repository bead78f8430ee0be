/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "choose.h"

#include "environment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_numbers(const char *text, unsigned *platform, unsigned *device)
{
    char rest = 0;
    return text[strspn(text, "0123456789:")] == 0 && sscanf(text, "%9u:%9u%c", platform, device, &rest) == 2;
}

static bool selected(const struct ordo_listed *entry, const char *select)
{
    unsigned platform = 0, device = 0;
    if (read_numbers(select, &platform, &device))
        return entry->platform == platform && entry->device == device;
    if (strcasecmp(select, "gpu") == 0)
        return entry->gpu;
    if (strcasecmp(select, "cpu") == 0)
        return entry->cpu;
    return strcasestr(entry->name, select) || strcasestr(entry->platform_name, select);
}

const struct ordo_listed *ordo_choose(const struct ordo_listed *list, size_t n, const char *select)
{
    if (select && *select) {
        for (size_t i = 0; i < n; i++)
            if (selected(&list[i], select))
                return &list[i];
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].gpu)
            return &list[i];
    return &list[0];
}

/* ---- platforms without devices ---------------------------------------------------------------------------------- */

/* Returns true if the directory is writable or can be created. Otherwise sets errno to the cause. */
static bool can_be_written(const char *path)
{
    char part[512];
    if (snprintf(part, sizeof part, "%s", path) >= (int) sizeof part)
        return true;
    for (;;) {
        struct stat info;
        char       *slash = strrchr(part, '/');
        if (stat(part, &info) == 0) {
            errno = S_ISDIR(info.st_mode) ? errno : ENOTDIR;
            return S_ISDIR(info.st_mode) && access(part, W_OK | X_OK) == 0;
        }
        if (!slash || slash == part)
            return access("/", W_OK | X_OK) == 0;
        *slash = 0;
    }
}

/* Returns true if PoCL's cache directory is not writable. PoCL then offers no device. Sets `dir` to the path. */
static bool pocl_cannot_write(char *dir, size_t bytes)
{
    const char *set = ordo_environment("POCL_CACHE_DIR"), *xdg = ordo_environment("XDG_CACHE_HOME"),
               *home = ordo_environment("HOME");
    if (set && *set)
        snprintf(dir, bytes, "%s", set);
    else if (xdg && *xdg)
        snprintf(dir, bytes, "%s/pocl", xdg);
    else if (home && *home)
        snprintf(dir, bytes, "%s/.cache/pocl", home);
    else
        return false;
    return !can_be_written(dir);
}

void ordo_no_device(const char *platform, char *text, size_t bytes)
{
    char dir[400];
    if (strcmp(platform, "Portable Computing Language") == 0 && pocl_cannot_write(dir, sizeof dir))
        snprintf(text, bytes,
                 "PoCL is there, but shows no device because it cannot write to %s (%s): set POCL_CACHE_DIR to a "
                 "directory that can be written to",
                 dir, strerror(errno));
    else if (strcmp(platform, "Portable Computing Language") == 0)
        snprintf(text, bytes,
                 "PoCL is there, but shows no device: see whether POCL_DEVICES is set, and whether the disk is full");
    else if (strcasecmp(platform, "rusticl") == 0)
        snprintf(
            text, bytes,
            "Mesa's Rusticl is there, but shows no device: set RUSTICL_ENABLE=radeonsi for AMD, iris for Intel, or "
            "llvmpipe for the CPU");
    else
        snprintf(text, bytes,
                 "the driver of %s is there, but shows no device: the hardware may be absent, its kernel module not "
                 "loaded, or this user may not open it",
                 platform);
}
