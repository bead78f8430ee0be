/* SPDX-License-Identifier: Apache-2.0 */
/* Caches compiled programs and the detected features of devices. Cached programs are executed, so directory and files
 * must belong to the user, and nobody else may write them. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "files.h"
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CACHE_MAGIC     0x314f44524fULL
#define CACHE_CAP_BYTES (128u << 20)
#define TEMPORARY       "ordo-new-"
#define TEMPORARY_LIVES 3600 /* seconds */

/* Each cache file begins with this header. Files with a wrong header or checksum are ignored. */
struct cache_header {
    uint64_t           magic, bytes;
    struct ordo_digest key, checksum;
};

struct ordo_digest ordo_digest_of(struct ordo_digest seed, const void *data, size_t bytes)
{
    const XXH128_hash_t h = XXH3_128bits_withSeed(data, bytes, seed.low ^ (seed.high * 0x9e3779b97f4a7c15ULL));
    return (struct ordo_digest) { h.low64, h.high64 };
}

static bool is_own(const struct stat *info)
{
    return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Creates the directory if necessary. Returns the reason why it cannot be used, or NULL if it can. */
static const char *trouble_with(char *dir)
{
    struct stat info;
    if (!ordo_file_make_parents(dir) || (mkdir(dir, 0700) != 0 && errno != EEXIST) || stat(dir, &info) != 0)
        return strerror(errno);
    if (!S_ISDIR(info.st_mode))
        return strerror(ENOTDIR);
    if (info.st_uid != geteuid())
        return "it belongs to another user, whose programs would be run";
    if (!is_own(&info))
        return "others may write there (chmod go-w), and what they write would be run";
    return access(dir, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

#define NO_CACHE "no disk cache, so that each process tests the device and compiles its kernels anew"

void ordo_cache_open(ordo_device *dev)
{
    const char *chosen = ordo_environment("ORDO_CACHE"), *xdg = ordo_environment("XDG_CACHE_HOME"),
               *home = ordo_environment("HOME");
    if (chosen && strcmp(chosen, "off") == 0)
        return;
    char       *dir = chosen && *chosen      ? ordo_format("%s", chosen)
                      : xdg && xdg[0] == '/' ? ordo_format("%s/ordo", xdg)
                      : home && *home        ? ordo_format("%s/.cache/ordo", home)
                                             : NULL;
    const char *trouble = dir ? trouble_with(dir) : NULL;
    if (!dir)
        ordo_log(dev, ORDO_LOG_WARNING, NO_CACHE ": none of ORDO_CACHE, XDG_CACHE_HOME and HOME is set");
    else if (trouble)
        ordo_log(dev, ORDO_LOG_WARNING, NO_CACHE ": %s: %s (ORDO_CACHE names another place)", dir, trouble);
    else
        dev->cache_dir = dir;
    if (trouble)
        free(dir);
}

static char *entry_path(const ordo_device *dev, const char *kind, struct ordo_digest key)
{
    return ordo_format("%s/%s-%016llx%016llx", dev->cache_dir, kind, (unsigned long long) key.high,
                       (unsigned long long) key.low);
}

static struct ordo_digest checksum_of(const void *data, size_t bytes)
{
    return ordo_digest_of((struct ordo_digest) { CACHE_MAGIC, bytes }, data, bytes);
}

static bool read_header(FILE *file, struct ordo_digest key, struct cache_header *header)
{
    return fread(header, sizeof *header, 1, file) == 1 && header->magic == CACHE_MAGIC && header->key.low == key.low &&
           header->key.high == key.high;
}

static void *read_entry(FILE *file, struct ordo_digest key, size_t *bytes)
{
    struct stat         info;
    struct cache_header header;
    if (fstat(fileno(file), &info) != 0 || !is_own(&info) || !read_header(file, key, &header) ||
        header.bytes != (uint64_t) info.st_size - sizeof header)
        return NULL;

    char *data = malloc(header.bytes + 1);
    if (!data)
        return NULL;
    if (fread(data, 1, header.bytes, file) == header.bytes) {
        const struct ordo_digest sum = checksum_of(data, header.bytes);
        if (sum.low == header.checksum.low && sum.high == header.checksum.high) {
            data[header.bytes] = 0;
            *bytes = header.bytes;
            return data;
        }
    }
    free(data);
    return NULL;
}

void *ordo_cache_read(ordo_device *dev, const char *kind, struct ordo_digest key, size_t *bytes)
{
    if (!dev->cache_dir)
        return NULL;
    char       *path = entry_path(dev, kind, key);
    const char *why = NULL;
    FILE       *file = path ? ordo_file_open(path, CACHE_CAP_BYTES, &why) : NULL;
    void       *data = NULL;
    if (file) {
        data = read_entry(file, key, bytes);
        why = data ? NULL : "it is damaged, or others may write to it";
        fclose(file);
    } else if (path && errno == ENOENT) {
        why = NULL;
    }
    if (why)
        ordo_log(dev, ORDO_LOG_WARNING, "cache file ignored: %s: %s", path, why);
    free(path);
    return data;
}

/* ---- the cap ------------------------------------------------------------------------------------------------- */

static bool is_entry_name(const char *name, struct ordo_digest *key)
{
    const char *dash = strrchr(name, '-');
    char        half[17] = "";
    if (!dash || dash == name || strspn(dash + 1, "0123456789abcdef") != 32 || dash[33] != 0)
        return false;
    memcpy(half, dash + 1, 16);
    key->high = strtoull(half, NULL, 16);
    memcpy(half, dash + 17, 16);
    key->low = strtoull(half, NULL, 16);
    return true;
}

static bool is_entry(const char *path, struct ordo_digest key)
{
    struct cache_header header;
    const char         *why = NULL;
    FILE               *file = ordo_file_open(path, CACHE_CAP_BYTES, &why);
    const bool          good = file && read_header(file, key, &header);
    if (file)
        fclose(file);
    return good;
}

static int64_t written_ns(const struct stat *info)
{
    return (int64_t) info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

struct listing {
    uint64_t bytes;
    char    *oldest;
    int64_t  oldest_ns;
};

static bool is_temporary_name(const char *name)
{
    return strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0 && strlen(name) == strlen(TEMPORARY) + 6;
}

static void list_file(struct listing *s, char *path, const char *name, bool certain)
{
    struct stat        info;
    struct ordo_digest key = { 0, 0 };
    if (!path || lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || !is_own(&info)) {
        free(path);
        return;
    }
    if (is_temporary_name(name) && info.st_mtim.tv_sec < time(NULL) - TEMPORARY_LIVES)
        unlink(path);
    else if (is_entry_name(name, &key) && (!certain || is_entry(path, key))) {
        s->bytes += (uint64_t) info.st_size;
        if (!s->oldest || written_ns(&info) < s->oldest_ns) {
            char *newer = s->oldest;
            s->oldest = path;
            s->oldest_ns = written_ns(&info);
            path = newer;
        }
    }
    free(path);
}

/* Recognizes cache files by their names. If `certain` is true, also checks their headers. */
static struct listing list_files(const ordo_device *dev, bool certain)
{
    struct listing s = { 0 };
    DIR           *dir = opendir(dev->cache_dir);
    if (!dir)
        return s;
    for (struct dirent *entry; (entry = readdir(dir));)
        list_file(&s, ordo_format("%s/%s", dev->cache_dir, entry->d_name), entry->d_name, certain);
    closedir(dir);
    return s;
}

static void enforce_cap(const ordo_device *dev)
{
    struct listing s = list_files(dev, false);
    bool           over = s.bytes > CACHE_CAP_BYTES;
    free(s.oldest);
    while (over) {
        s = list_files(dev, true);
        over = s.bytes > CACHE_CAP_BYTES && s.oldest && unlink(s.oldest) == 0;
        free(s.oldest);
    }
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

struct entry {
    struct cache_header header;
    const void         *data;
};

static bool write_entry(FILE *file, const void *content)
{
    const struct entry *entry = content;
    return fwrite(&entry->header, sizeof entry->header, 1, file) == 1 &&
           fwrite(entry->data, 1, entry->header.bytes, file) == entry->header.bytes;
}

static void tell_unwritten(ordo_device *dev, const char *path, int why)
{
    if (ordo_thread_is_mute) {
        atomic_store(&dev->cache_trouble, why);
        return;
    }
    const bool told = atomic_exchange(&dev->cache_told, true);
    ordo_log(dev, told ? ORDO_LOG_INFO : ORDO_LOG_WARNING, "cache file not written: %s: %s", path, strerror(why));
}

void ordo_cache_tell(ordo_device *dev)
{
    const int why = atomic_exchange(&dev->cache_trouble, 0);
    if (why)
        tell_unwritten(dev, dev->cache_dir, why);
}

void ordo_cache_write(ordo_device *dev, const char *kind, struct ordo_digest key, const void *data, size_t bytes)
{
    if (!dev->cache_dir || bytes > CACHE_CAP_BYTES / 4)
        return;
    const struct entry entry = { { CACHE_MAGIC, bytes, key, checksum_of(data, bytes) }, data };
    char              *path = entry_path(dev, kind, key);
    char              *temporary = ordo_format("%s/" TEMPORARY "XXXXXX", dev->cache_dir);
    if (path && temporary && !ordo_file_replace(path, temporary, write_entry, &entry))
        tell_unwritten(dev, path, errno);
    free(path);
    free(temporary);
    enforce_cap(dev);
}

void ordo_cache_drop(ordo_device *dev, const char *kind, struct ordo_digest key)
{
    char *path = dev->cache_dir ? entry_path(dev, kind, key) : NULL;
    if (path)
        unlink(path);
    free(path);
}
