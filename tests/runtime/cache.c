/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache: with any content of its files, a reader gets the content that a writer wrote, or nothing. */
#define _GNU_SOURCE
#include "tests/support/support.h"

#include "runtime/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

TestSuite(cache, .init = test_host_code);

static const struct ordo_digest some_key = { 0x0123456789abcdefULL, 0xfedcba9876543210ULL };
#define ENTRY "thing-fedcba98765432100123456789abcdef"

/* A directory of the test, the cache of all devices opened after this. */
struct place {
    char dir[64];
    int  warnings;
    bool goes; /* once a device is open */
};

static void count_warnings(void *user, ordo_log_level level, const char *message)
{
    struct place *p = user;
    p->warnings += level == ORDO_LOG_WARNING && strstr(message, "cache") != NULL;
}

static struct place begin(void)
{
    struct place p = { .dir = "/tmp/ordo-cache-test-XXXXXX" };
    cr_assert(mkdtemp(p.dir) != NULL);
    cr_assert(setenv("ORDO_CACHE", p.dir, 1) == 0);
    return p;
}

static ordo_device *open_device(struct place *p, bool self_test)
{
    ordo_device                    *dev = NULL;
    const struct ordo_device_config config = {
        .log = count_warnings, .user = p, .no_self_test = !self_test, .mask = getenv("ORDO_MASK")
    };
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    return dev;
}

/* Calls body for the path of every file in the cache. Returns the number of files. */
static size_t each_file(const struct place *p, void (*body)(const char *path))
{
    DIR   *dir = opendir(p->dir);
    size_t n = 0;
    cr_assert(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", p->dir, entry->d_name);
        body(path);
        n++;
    }
    closedir(dir);
    return n;
}

static void remove_one(const char *path)
{
    cr_assert(remove(path) == 0, "%s", path);
}

static void leave_one(const char *path)
{
    (void) path;
}

static void end(const struct place *p)
{
    (void) each_file(p, remove_one);
    cr_assert(rmdir(p->dir) == 0);
}

static bool reads_as(ordo_device *dev, struct ordo_digest key, const char *want)
{
    size_t          bytes = 0;
    AUTO_FREE char *got = ordo_cache_read(dev, "thing", key, &bytes);
    const bool      same = want ? got && bytes == strlen(want) && memcmp(got, want, bytes) == 0 : !got;
    return same;
}

static void write_text(ordo_device *dev, struct ordo_digest key, const char *text)
{
    ordo_cache_write(dev, "thing", key, text, strlen(text));
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

Test(cache, gives_back_what_was_written)
{
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);

    cr_assert(reads_as(dev, some_key, NULL));
    write_text(dev, some_key, "first");
    cr_assert(reads_as(dev, some_key, "first"));
    write_text(dev, some_key, "second, longer");
    cr_assert(reads_as(dev, some_key, "second, longer"));
    write_text(dev, some_key, "");
    cr_assert(reads_as(dev, some_key, ""));
    cr_assert(reads_as(dev, (struct ordo_digest) { some_key.low + 1, some_key.high }, NULL));
    cr_assert(reads_as(dev, (struct ordo_digest) { some_key.low, some_key.high ^ 1 }, NULL));
    cr_assert(each_file(&p, leave_one) == 1, "one entry, no temporary file");

    ordo_cache_drop(dev, "thing", some_key);
    cr_assert(reads_as(dev, some_key, NULL));
    ordo_cache_drop(dev, "thing", some_key);
    cr_assert(p.warnings == 0);
}

/* Reads at most `room` bytes of the entry's file. Returns its length. */
static size_t load(const char *path, unsigned char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    const size_t bytes = fread(to, 1, room, file);
    fclose(file);
    return bytes;
}

static void store(const char *path, const unsigned char *from, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file != NULL, "%s", path);
    cr_assert(fwrite(from, 1, bytes, file) == bytes);
    fclose(file);
}

/* After each damage, a read gives nothing and warns, and a write repairs the file. */
static void check_damaged(struct place *p, ordo_device *dev, const char *path, const unsigned char *image, size_t bytes)
{
    const int warnings = p->warnings;
    store(path, image, bytes);
    cr_assert(reads_as(dev, some_key, NULL), "%zu bytes", bytes);
    cr_assert(p->warnings == warnings + 1);
}

Test(cache, ignores_and_replaces_damaged_files)
{
    static const char        text[] = "what a build left";
    unsigned char            image[512];
    char                     path[256];
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    snprintf(path, sizeof path, "%s/" ENTRY, p.dir);
    write_text(dev, some_key, text);
    const size_t bytes = load(path, image, sizeof image);
    cr_assert(bytes > sizeof text && bytes < sizeof image - 1);

    for (size_t cut = 0; cut < bytes; cut++)
        check_damaged(&p, dev, path, image, cut);
    image[bytes] = 0;
    check_damaged(&p, dev, path, image, bytes + 1);
    for (size_t bit = 0; bit < 8 * bytes; bit++) {
        image[bit / 8] ^= (unsigned char) (1u << bit % 8);
        check_damaged(&p, dev, path, image, bytes);
        image[bit / 8] ^= (unsigned char) (1u << bit % 8);
    }
    memset(image, 'x', sizeof image);
    check_damaged(&p, dev, path, image, sizeof image);

    write_text(dev, some_key, text);
    cr_assert(reads_as(dev, some_key, text));
}

Test(cache, takes_no_entry_for_another)
{
    const struct ordo_digest other = { some_key.low, some_key.high + 1 };
    char                     from[256], to[256];
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    snprintf(from, sizeof from, "%s/" ENTRY, p.dir);
    snprintf(to, sizeof to, "%s/thing-fedcba98765432110123456789abcdef", p.dir);

    write_text(dev, some_key, "mine");
    cr_assert(rename(from, to) == 0);
    cr_assert(reads_as(dev, other, NULL), "a file under the name of another key");
    cr_assert(p.warnings == 1);
    cr_assert(remove(to) == 0);

    cr_assert(mkdir(from, 0700) == 0);
    cr_assert(reads_as(dev, some_key, NULL), "a directory in its place");
    write_text(dev, some_key, "cannot go there");
    cr_assert(reads_as(dev, some_key, NULL));
    cr_assert(rmdir(from) == 0);
    cr_assert(symlink("/nowhere/at/all", from) == 0);
    cr_assert(reads_as(dev, some_key, NULL), "a link that leads nowhere");
    write_text(dev, some_key, "replaces the link");
    cr_assert(reads_as(dev, some_key, "replaces the link"));
}

/* ---- files of others --------------------------------------------------------------------------------------------- */

enum { NOBODY = 65534 };

/* An object in the entry's place is not read, with a warning. The next write replaces it. */
static void check_refused(struct place *p, ordo_device *dev, const char *what)
{
    const int warnings = p->warnings;
    (void) alarm(60); /* a reader that waits for a writer ends the test */
    cr_assert(reads_as(dev, some_key, NULL), "%s was read", what);
    cr_assert(p->warnings == warnings + 1, "%s: %d warnings", what, p->warnings - warnings);
    write_text(dev, some_key, "whole");
    cr_assert(reads_as(dev, some_key, "whole"), "after %s", what);
    (void) alarm(0);
}

Test(cache, reads_only_files_that_are_the_users_alone)
{
    char                     entry[256], aside[256];
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    snprintf(entry, sizeof entry, "%s/" ENTRY, p.dir);
    snprintf(aside, sizeof aside, "%s/aside", p.dir);
    write_text(dev, some_key, "whole");

    cr_assert(chmod(entry, 0620) == 0);
    check_refused(&p, dev, "an entry that a group may write");
    cr_assert(chmod(entry, 0602) == 0);
    check_refused(&p, dev, "an entry that everyone may write");
    if (geteuid() == 0) {
        cr_assert(chown(entry, NOBODY, NOBODY) == 0);
        check_refused(&p, dev, "another user's entry");
    }
    cr_assert(rename(entry, aside) == 0 && symlink(aside, entry) == 0);
    check_refused(&p, dev, "a link to an entry");
    cr_assert(remove(entry) == 0 && mkfifo(entry, 0600) == 0);
    check_refused(&p, dev, "a pipe");
}

/* The directory is neither read nor written, with one warning. */
static void check_shunned(struct place *p, const char *what)
{
    p->warnings = 0;
    AUTO_DEVICE ordo_device *dev = open_device(p, false);
    cr_assert(p->warnings == 1, "%s: %d warnings", what, p->warnings);
    cr_assert(reads_as(dev, some_key, NULL), "%s", what);
    write_text(dev, some_key, "nowhere");
    cr_assert(each_file(p, leave_one) == 1, "%s was written to", what);
    cr_assert(p->warnings == 1, "%s: said again", what);
}

Test(cache, shuns_directories_that_others_may_write)
{
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    write_text(dev, some_key, "planted");
    ordo_device_close(&dev);

    cr_assert(chmod(p.dir, 0770) == 0);
    check_shunned(&p, "a directory that a group may write");
    cr_assert(chmod(p.dir, 01777) == 0);
    check_shunned(&p, "a directory that everyone may write");
    cr_assert(chmod(p.dir, 0700) == 0);
    if (geteuid() == 0) {
        cr_assert(chown(p.dir, NOBODY, NOBODY) == 0);
        check_shunned(&p, "another user's directory");
        cr_assert(chown(p.dir, 0, 0) == 0);
    }
    dev = open_device(&p, false);
    cr_assert(reads_as(dev, some_key, "planted"));
}

/* A file of `bytes` zeros without disk space. */
static void store_hollow(const char *path, size_t bytes)
{
    store(path, (const unsigned char *) "x", 1);
    cr_assert(truncate(path, (off_t) bytes) == 0);
}

Test(cache, removes_no_file_that_only_looks_like_an_entry)
{
    char                     path[256];
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    write_text(dev, some_key, "mine");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/thumb-%032x", p.dir, i);
        store_hollow(path, (size_t) 60 << 20);
    }
    write_text(dev, (struct ordo_digest) { 7, 8 }, "mine too");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/thumb-%032x", p.dir, i);
        cr_assert(access(path, F_OK) == 0, "%s is gone", path);
    }
    cr_assert(reads_as(dev, some_key, "mine"), "what others keep there does not count");
    cr_assert(reads_as(dev, (struct ordo_digest) { 7, 8 }, "mine too"));
}

/* A file that was last written `seconds` ago. */
static void store_aged(const struct place *p, const char *name, long seconds)
{
    char                  path[256];
    const struct timespec then[2] = { { time(NULL) - seconds, 0 }, { time(NULL) - seconds, 0 } };
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    store(path, (const unsigned char *) "half", 4);
    cr_assert(utimensat(AT_FDCWD, path, then, 0) == 0);
}

static bool is_there(const struct place *p, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    return access(path, F_OK) == 0;
}

Test(cache, removes_what_a_crash_left)
{
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    store_aged(&p, "ordo-new-a1B2c3", 7200);
    store_aged(&p, "ordo-new-d4E5f6", 60);
    store_aged(&p, "ordo-new-a1B2c3d", 7200);
    store_aged(&p, "new-a1B2c3", 7200);
    write_text(dev, some_key, "whole");
    cr_assert(!is_there(&p, "ordo-new-a1B2c3"), "what was left two hours ago");
    cr_assert(is_there(&p, "ordo-new-d4E5f6"), "what somebody may be writing");
    cr_assert(is_there(&p, "ordo-new-a1B2c3d") && is_there(&p, "new-a1B2c3"), "strangers' files");
}

/* ---- concurrent writers ------------------------------------------------------------------------------------------ */

enum { WRITERS = 4, ROUNDS = 200 };

struct writer {
    ordo_device *dev;
    int          letter;
    int          mixed; /* reads that gave neither nothing nor one writer's whole text */
};

static void *write_and_read(void *argument)
{
    struct writer *w = argument;
    char           text[3000];
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes = 0;
        memset(text, w->letter, sizeof text);
        ordo_cache_write(w->dev, "thing", some_key, text, sizeof text - (size_t) (w->letter - 'a') * 100);
        AUTO_FREE char *got = ordo_cache_read(w->dev, "thing", some_key, &bytes);
        bool            whole = got != NULL && bytes == sizeof text - (size_t) (got[0] - 'a') * 100;
        for (size_t i = 0; whole && i < bytes; i++)
            whole = got[i] == got[0];
        w->mixed += !whole;
    }
    return NULL;
}

Test(cache, writers_at_once_leave_one_whole_entry)
{
    pthread_t              threads[WRITERS];
    struct writer          writers[WRITERS];
    AUTO(end) struct place p = begin();
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer) { open_device(&p, false), 'a' + i, 0 };
        cr_assert(pthread_create(&threads[i], NULL, write_and_read, &writers[i]) == 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        cr_assert(pthread_join(threads[i], NULL) == 0);
        cr_assert(writers[i].mixed == 0, "writer %d read %d entries that nobody wrote", i, writers[i].mixed);
        ordo_device_close(&writers[i].dev);
    }
    cr_assert(p.warnings == 0);
    cr_assert(each_file(&p, leave_one) == 1, "temporary files stayed");
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_in_all;

static void add_size(const char *path)
{
    struct stat info;
    cr_assert(stat(path, &info) == 0);
    bytes_in_all += (uint64_t) info.st_size;
}

Test(cache, keeps_under_its_cap_without_touching_strangers)
{
    const size_t             bytes = 30u << 20;
    char                     stranger[256];
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    AUTO_FREE char          *data = calloc(1, 40u << 20);
    cr_assert(data != NULL);
    snprintf(stranger, sizeof stranger, "%s/not-an-entry", p.dir);
    store(stranger, (const unsigned char *) "x", 1);

    for (uint64_t i = 0; i < 6; i++) {
        ordo_cache_write(dev, "thing", (struct ordo_digest) { i, 0 }, data, bytes);
        usleep(20000); /* so that the files' times differ */
    }
    (void) each_file(&p, add_size);
    cr_assert(bytes_in_all <= 128u << 20, "%llu bytes", (unsigned long long) bytes_in_all);
    size_t          got = 0;
    void           *oldest = ordo_cache_read(dev, "thing", (struct ordo_digest) { 0, 0 }, &got);
    AUTO_FREE void *newest = ordo_cache_read(dev, "thing", (struct ordo_digest) { 5, 0 }, &got);
    cr_assert(oldest == NULL && newest != NULL && got == bytes);
    cr_assert(access(stranger, F_OK) == 0);

    ordo_cache_write(dev, "huge", some_key, data, 40u << 20);
    cr_assert(ordo_cache_read(dev, "huge", some_key, &got) == NULL, "larger than one entry may be");
}

static void check_no_cache(struct place *p)
{
    AUTO_DEVICE ordo_device *dev = open_device(p, true);
    write_text(dev, some_key, "nowhere to go");
    cr_assert(reads_as(dev, some_key, NULL));
    ordo_cache_drop(dev, "thing", some_key);
    ordo_device_close(&dev);
    dev = open_device(p, true);
    cr_assert(!ordo_device_facts(dev)->self_test_remembered);
}

Test(cache, does_without)
{
    char                   file[256], below[300];
    AUTO(end) struct place p = begin();
    cr_assert(unsetenv("HOME") == 0 && unsetenv("XDG_CACHE_HOME") == 0);
    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0);
    check_no_cache(&p);
    cr_assert(each_file(&p, leave_one) == 0);
    cr_assert(p.warnings == 0, "it was turned off");
    cr_assert(unsetenv("ORDO_CACHE") == 0);
    check_no_cache(&p);
    cr_assert(p.warnings == 2, "two devices were opened without a home: %d warnings", p.warnings);

    snprintf(file, sizeof file, "%s/file", p.dir);
    store(file, (const unsigned char *) "x", 1);
    snprintf(below, sizeof below, "%s/cache", file);
    cr_assert(setenv("ORDO_CACHE", below, 1) == 0); /* a directory that not even root can create */
    check_no_cache(&p);
    cr_assert(p.warnings == 4, "%d warnings", p.warnings);
}

Test(cache, makes_its_directory)
{
    char         deep[256], middle[256];
    struct place p = begin();
    snprintf(middle, sizeof middle, "%s/a", p.dir);
    snprintf(deep, sizeof deep, "%s/a/b", p.dir);
    cr_assert(setenv("ORDO_CACHE", deep, 1) == 0);
    ordo_device *dev = open_device(&p, false);
    write_text(dev, some_key, "deep");
    cr_assert(reads_as(dev, some_key, "deep"));
    ordo_cache_drop(dev, "thing", some_key);
    ordo_device_close(&dev);
    cr_assert(rmdir(deep) == 0 && rmdir(middle) == 0 && rmdir(p.dir) == 0);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

enum { SORTED = 100000 }; /* by several kernels: two of a GPU, more of a CPU */

static const struct ordo_prepare_params sort_of_u32 = {
    .what = ORDO_PREPARE_SORT, .keys = 1u << ORDO_U32, .value_bytes = 1u << 0, .batch = SORTED
};

/* Prepares and uses a device whose driver keeps no programs. Returns how many programs came from the cache. */
static size_t prepare_and_use(struct place *p)
{
    AUTO_DEVICE ordo_device *dev = open_device(p, false);
    struct ordo_prepared     prepared;
    static uint32_t          keys[SORTED];
    size_t                   from_cache = 0;
    if (p->goes)
        end(p);
    dev->facts.own_binary_cache = false;
    dev->kernels_apart = true;
    cr_assert(ordo_device_prepare(dev, &sort_of_u32, &prepared) == ORDO_OK);
    cr_assert(prepared.failed == 0 && prepared.programs > 1, "%zu", prepared.programs);
    for (uint32_t i = 0; i < SORTED; i++)
        keys[i] = SORTED - 1 - i;
    cr_assert(ordo_sort_host(dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, SORTED) == ORDO_OK);
    for (uint32_t i = 0; i < SORTED; i++)
        cr_assert(keys[i] == i);
    for (const struct ordo_program *one = dev->builds.programs; one; one = one->next)
        from_cache += one->from_cache;
    return from_cache;
}

/* A valid entry whose content the driver refuses, like an entry of another driver. */
static void make_foreign(struct place *p, ordo_device *dev)
{
    DIR *dir = opendir(p->dir);
    cr_assert(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));) {
        unsigned long long high = 0, low = 0;
        if (sscanf(entry->d_name, "program-%16llx%16llx", &high, &low) == 2)
            ordo_cache_write(dev, "program", (struct ordo_digest) { low, high }, "no program", 10);
    }
    closedir(dir);
}

Test(cache, programs_are_kept_and_those_that_a_driver_refuses_are_built_anew)
{
    AUTO(end) struct place p = begin();
    cr_assert(prepare_and_use(&p) == 0);
    const size_t kept = prepare_and_use(&p);
    cr_assert(kept > 1 && p.warnings == 0, "%zu", kept);

    ordo_device *dev = open_device(&p, false);
    make_foreign(&p, dev);
    ordo_device_close(&dev);
    cr_assert(prepare_and_use(&p) == 0);
    cr_assert(prepare_and_use(&p) == kept, "what was refused is replaced");
}

/* No file may grow, as on a full disk. */
Test(cache, a_full_disk_is_told_once_and_leaves_nothing)
{
    struct rlimit            before;
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, false);
    cr_assert(getrlimit(RLIMIT_FSIZE, &before) == 0);
    cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    cr_assert(setrlimit(RLIMIT_FSIZE, &(struct rlimit) { 16, before.rlim_max }) == 0);
    for (int i = 0; i < 3; i++)
        write_text(dev, some_key, "too much");
    cr_assert(setrlimit(RLIMIT_FSIZE, &before) == 0);
    cr_assert(p.warnings == 1, "%d warnings", p.warnings);
    cr_assert(each_file(&p, leave_one) == 0, "parts of entries were left");
    write_text(dev, some_key, "there is room again");
    cr_assert(reads_as(dev, some_key, "there is room again"));
}

/* The directory is removed while a device is open, or cannot be created. Programs are built, with one message. */
Test(cache, programs_are_built_without_a_place_for_them)
{
    struct place p = begin();
    p.goes = true;
    cr_assert(prepare_and_use(&p) == 0);
    cr_assert(p.warnings == 1, "%d warnings", p.warnings);
    p.goes = false;
    cr_assert(setenv("ORDO_CACHE", "/dev/null/cache", 1) == 0);
    cr_assert(prepare_and_use(&p) == 0);
    cr_assert(p.warnings == 2, "%d warnings", p.warnings);
}

/* ---- remembered self-tests --------------------------------------------------------------------------------------- */

static void flip_last_byte(const char *path)
{
    unsigned char image[8192];
    const size_t  bytes = load(path, image, sizeof image);
    if (bytes < sizeof image) { /* a probe, not a program */
        image[bytes - 1] ^= 0x40;
        store(path, image, bytes);
    }
}

Test(cache, opening_remembers_the_self_test)
{
    AUTO(end) struct place   p = begin();
    AUTO_DEVICE ordo_device *dev = open_device(&p, true);
    struct ordo_facts        first = *ordo_device_facts(dev);
    cr_assert(!first.self_test_remembered && first.self_test_ms > 0);
    ordo_device_close(&dev);
    cr_assert(each_file(&p, leave_one) >= 1);

    dev = open_device(&p, true);
    struct ordo_facts second = *ordo_device_facts(dev);
    cr_assert(second.self_test_remembered && second.self_test_ms == 0);
    cr_assert(strcmp(second.name, first.name) == 0 && second.lanes == first.lanes && second.atomics == first.atomics &&
              second.sub_group == first.sub_group && second.groups_progress == first.groups_progress);
    cr_assert(ordo_device_self_test(dev) == ORDO_OK);
    cr_assert(!ordo_device_facts(dev)->self_test_remembered);
    ordo_device_close(&dev);

    (void) each_file(&p, flip_last_byte);
    dev = open_device(&p, true);
    cr_assert(!ordo_device_facts(dev)->self_test_remembered, "from a damaged file");
    cr_assert(p.warnings >= 1);
    ordo_device_close(&dev);
    dev = open_device(&p, true);
    cr_assert(ordo_device_facts(dev)->self_test_remembered, "the damaged file was not replaced");
}

/* Whether opening with this profile runs the self-test. */
static bool tests_with_profile(struct place *p, const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
    AUTO_DEVICE ordo_device *dev = open_device(p, true);
    const bool               tests = !ordo_device_facts(dev)->self_test_remembered;
    return tests;
}

/* A profile selects variants, so the outcome with one profile does not hold for another. */
Test(cache, opening_remembers_the_self_test_by_profile)
{
    char                   path[256];
    AUTO(end) struct place p = begin();
    (void) snprintf(path, sizeof path, "%s/profile", p.dir);
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);
    cr_assert(tests_with_profile(&p, path, ""));
    cr_assert(!tests_with_profile(&p, path, ""));
    cr_assert(tests_with_profile(&p, path, "scan.items=8"));
    cr_assert(!tests_with_profile(&p, path, "scan.items=8"));
    cr_assert(!tests_with_profile(&p, path, ""));
    cr_assert(setenv("ORDO_PROFILE", "off", 1) == 0);
    AUTO_DEVICE ordo_device *dev = open_device(&p, true);
    cr_assert(ordo_device_facts(dev)->self_test_remembered, "no profile, and one that says nothing");
}
