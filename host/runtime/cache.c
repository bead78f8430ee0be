/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache: small files named kind-hash in $ORDO_CACHE, $XDG_CACHE_HOME/ordo or ~/.cache/ordo. Each holds a header
 * with a checksum; it is written under a temporary name and renamed, so a reader sees all of it or none. Anything
 * unreadable, foreign or damaged counts as absent. No failure here is an error for the user: the work is done anew. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "device_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_MAGIC 0x314f44524fULL /* "ORDO1" */
/* The most that all entries take together; the oldest go first. A binary of one module is some 20 to 200 KiB. */
#define CACHE_CAP_BYTES (128u << 20)

struct cache_header {
    uint64_t         magic, bytes;
    struct ordo_hash key, checksum;
};

struct ordo_hash ordo_hash_of(struct ordo_hash seed, const void *data, size_t bytes)
{
    const XXH128_hash_t h = XXH3_128bits_withSeed(data, bytes, seed.low ^ (seed.high * 0x9e3779b97f4a7c15ULL));
    return (struct ordo_hash) { h.low64, h.high64 };
}

/* Makes a directory and its parents; existing ones are fine. */
static bool make_dirs(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            const bool bad = mkdir(path, 0700) != 0 && errno != EEXIST;
            *at = '/';
            if (bad)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

void ordo_cache_open(ordo_device *dev)
{
    const char *chosen = getenv("ORDO_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (chosen && strcmp(chosen, "off") == 0)
        return;
    char *dir = chosen && *chosen      ? ordo_format("%s", chosen)
                : xdg && xdg[0] == '/' ? ordo_format("%s/ordo", xdg)
                : home && *home        ? ordo_format("%s/.cache/ordo", home)
                                       : NULL;
    if (dir && make_dirs(dir) && access(dir, W_OK | X_OK) == 0) {
        dev->cache_dir = dir;
        return;
    }
    ordo_log(dev, ORDO_LOG_INFO, "no disk cache: %s cannot be written", dir ? dir : "(no home directory)");
    free(dir);
}

static char *entry_path(const ordo_device *dev, const char *kind, struct ordo_hash key)
{
    return ordo_format("%s/%s-%016llx%016llx", dev->cache_dir, kind, (unsigned long long) key.high,
                       (unsigned long long) key.low);
}

static struct ordo_hash checksum_of(const void *data, size_t bytes)
{
    return ordo_hash_of((struct ordo_hash) { CACHE_MAGIC, bytes }, data, bytes);
}

static bool header_fits(const struct cache_header *header, struct ordo_hash key, uint64_t file_bytes)
{
    return header->magic == CACHE_MAGIC && header->bytes == file_bytes - sizeof *header && header->key.low == key.low &&
           header->key.high == key.high;
}

/* Reads an entry's body, or NULL. */
static void *read_entry(FILE *file, struct ordo_hash key, size_t *bytes)
{
    struct stat         info;
    struct cache_header header;
    if (fstat(fileno(file), &info) != 0 || info.st_size < (off_t) sizeof header || info.st_size > CACHE_CAP_BYTES ||
        fread(&header, sizeof header, 1, file) != 1 || !header_fits(&header, key, (uint64_t) info.st_size))
        return NULL;

    char *data = malloc(header.bytes + 1);
    if (!data)
        return NULL;
    if (fread(data, 1, header.bytes, file) == header.bytes) {
        const struct ordo_hash sum = checksum_of(data, header.bytes);
        if (sum.low == header.checksum.low && sum.high == header.checksum.high) {
            data[header.bytes] = 0; /* text entries can be read as strings */
            *bytes = header.bytes;
            return data;
        }
    }
    free(data);
    return NULL;
}

void *ordo_cache_read(ordo_device *dev, const char *kind, struct ordo_hash key, size_t *bytes)
{
    if (!dev->cache_dir)
        return NULL;
    char *path = entry_path(dev, kind, key);
    FILE *file = path ? fopen(path, "rb") : NULL;
    void *data = NULL;
    if (file) {
        data = read_entry(file, key, bytes);
        fclose(file);
        if (!data)
            ordo_log(dev, ORDO_LOG_WARNING, "cache file ignored, it is damaged or foreign: %s", path);
    }
    free(path);
    return data;
}

/* Whether a file in the cache directory is one of ours: "kind-" and 32 hexadecimal digits. */
static bool is_entry(const char *name)
{
    const char *dash = strrchr(name, '-');
    return dash && strspn(dash + 1, "0123456789abcdef") == 32 && dash[33] == 0;
}

/* Removes the least recently written entries until all fit under the cap. */
static void enforce_cap(ordo_device *dev)
{
    for (;;) {
        DIR            *dir = opendir(dev->cache_dir);
        uint64_t        total = 0;
        struct timespec oldest_time = { 0 };
        char           *oldest = NULL;
        if (!dir)
            return;
        for (struct dirent *entry; (entry = readdir(dir));) {
            char       *path = is_entry(entry->d_name) ? ordo_format("%s/%s", dev->cache_dir, entry->d_name) : NULL;
            struct stat info;
            if (path && stat(path, &info) == 0) {
                total += (uint64_t) info.st_size;
                const bool older =
                    !oldest || info.st_mtim.tv_sec < oldest_time.tv_sec ||
                    (info.st_mtim.tv_sec == oldest_time.tv_sec && info.st_mtim.tv_nsec < oldest_time.tv_nsec);
                if (older) {
                    free(oldest);
                    oldest = path;
                    oldest_time = info.st_mtim;
                    path = NULL;
                }
            }
            free(path);
        }
        closedir(dir);
        const bool removed = total > CACHE_CAP_BYTES && oldest && unlink(oldest) == 0;
        free(oldest);
        if (!removed)
            return;
    }
}

static bool write_entry(int fd, const struct cache_header *header, const void *data, size_t bytes)
{
    FILE *file = fdopen(fd, "wb");
    if (!file) {
        close(fd);
        return false;
    }
    const bool whole = fwrite(header, sizeof *header, 1, file) == 1 && fwrite(data, 1, bytes, file) == bytes;
    return (fclose(file) == 0) && whole;
}

void ordo_cache_write(ordo_device *dev, const char *kind, struct ordo_hash key, const void *data, size_t bytes)
{
    if (!dev->cache_dir || bytes > CACHE_CAP_BYTES / 4)
        return;
    const struct cache_header header = { CACHE_MAGIC, bytes, key, checksum_of(data, bytes) };
    char                     *path = entry_path(dev, kind, key);
    char                     *temporary = ordo_format("%s/new-XXXXXX", dev->cache_dir);
    const int                 fd = path && temporary ? mkstemp(temporary) : -1;
    if (fd >= 0 && !(write_entry(fd, &header, data, bytes) && rename(temporary, path) == 0)) {
        unlink(temporary);
        ordo_log(dev, ORDO_LOG_INFO, "cache file not written: %s", path);
    }
    free(path);
    free(temporary);
    enforce_cap(dev);
}

void ordo_cache_drop(ordo_device *dev, const char *kind, struct ordo_hash key)
{
    char *path = dev->cache_dir ? entry_path(dev, kind, key) : NULL;
    if (path)
        unlink(path);
    free(path);
}
