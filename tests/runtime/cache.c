/* SPDX-License-Identifier: Apache-2.0 */
/* The disk cache: whatever lies in its files, a reader gets what a writer wrote or nothing. */
#define _GNU_SOURCE
#include "tests/support/support.h"

#include "runtime/device_private.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct ordo_hash some_key = { 0x0123456789abcdefULL, 0xfedcba9876543210ULL };
#define ENTRY "thing-fedcba98765432100123456789abcdef"

/* A directory of the test's own, the cache of all devices that are opened after this. */
struct place {
    char dir[64];
    int  warnings;
};

static void count_warnings(void *user, ordo_log_level level, const char *message)
{
    struct place *p = user;
    p->warnings += level == ORDO_LOG_WARNING && strstr(message, "cache") != NULL;
}

static void begin(struct place *p)
{
    memset(p, 0, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/ordo-cache-test-XXXXXX");
    cr_assert(mkdtemp(p->dir) != NULL);
    cr_assert(setenv("ORDO_CACHE", p->dir, 1) == 0);
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

/* Calls body for the path of every file in the cache; how many there were. */
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

static bool reads_as(ordo_device *dev, struct ordo_hash key, const char *want)
{
    size_t     bytes = 0;
    char      *got = ordo_cache_read(dev, "thing", key, &bytes);
    const bool same = want ? got && bytes == strlen(want) && memcmp(got, want, bytes) == 0 : !got;
    free(got);
    return same;
}

static void write_text(ordo_device *dev, struct ordo_hash key, const char *text)
{
    ordo_cache_write(dev, "thing", key, text, strlen(text));
}

/* ---- entries ------------------------------------------------------------------------------------------------- */

Test(cache, gives_back_what_was_written)
{
    struct place p;
    begin(&p);
    ordo_device *dev = open_device(&p, false);

    cr_assert(reads_as(dev, some_key, NULL));
    write_text(dev, some_key, "first");
    cr_assert(reads_as(dev, some_key, "first"));
    write_text(dev, some_key, "second, longer");
    cr_assert(reads_as(dev, some_key, "second, longer"));
    write_text(dev, some_key, "");
    cr_assert(reads_as(dev, some_key, ""));
    cr_assert(reads_as(dev, (struct ordo_hash) { some_key.low + 1, some_key.high }, NULL));
    cr_assert(reads_as(dev, (struct ordo_hash) { some_key.low, some_key.high ^ 1 }, NULL));
    cr_assert(each_file(&p, leave_one) == 1, "one entry, no temporary file");

    ordo_cache_drop(dev, "thing", some_key);
    cr_assert(reads_as(dev, some_key, NULL));
    ordo_cache_drop(dev, "thing", some_key);
    cr_assert(p.warnings == 0);
    ordo_device_close(&dev);
    end(&p);
}

/* The entry's file, at most `room` bytes of it; its length. */
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

/* Each way to damage a file: what is read then must be nothing, with a warning, and a write must heal it. */
static void check_damaged(struct place *p, ordo_device *dev, const char *path, const unsigned char *image, size_t bytes)
{
    const int warnings = p->warnings;
    store(path, image, bytes);
    cr_assert(reads_as(dev, some_key, NULL), "%zu bytes", bytes);
    cr_assert(p->warnings == warnings + 1);
}

Test(cache, ignores_and_replaces_damaged_files)
{
    static const char text[] = "what a build left";
    unsigned char     image[512];
    char              path[256];
    struct place      p;
    begin(&p);
    ordo_device *dev = open_device(&p, false);
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
    ordo_device_close(&dev);
    end(&p);
}

Test(cache, takes_no_entry_for_another)
{
    const struct ordo_hash other = { some_key.low, some_key.high + 1 };
    char                   from[256], to[256];
    struct place           p;
    begin(&p);
    ordo_device *dev = open_device(&p, false);
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
    ordo_device_close(&dev);
    end(&p);
}

/* ---- writers at once ----------------------------------------------------------------------------------------- */

enum { WRITERS = 4, ROUNDS = 200 };

struct writer {
    ordo_device *dev;
    int          letter;
    int          mixed; /* reads that were neither nothing nor the whole of one writer's text */
};

static void *write_and_read(void *argument)
{
    struct writer *w = argument;
    char           text[3000];
    for (int round = 0; round < ROUNDS; round++) {
        size_t bytes = 0;
        memset(text, w->letter, sizeof text);
        ordo_cache_write(w->dev, "thing", some_key, text, sizeof text - (size_t) (w->letter - 'a') * 100);
        char *got = ordo_cache_read(w->dev, "thing", some_key, &bytes);
        bool  whole = got != NULL && bytes == sizeof text - (size_t) (got[0] - 'a') * 100;
        for (size_t i = 0; whole && i < bytes; i++)
            whole = got[i] == got[0];
        w->mixed += !whole;
        free(got);
    }
    return NULL;
}

Test(cache, writers_at_once_leave_one_whole_entry)
{
    struct place  p;
    pthread_t     threads[WRITERS];
    struct writer writers[WRITERS];
    begin(&p);
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
    end(&p);
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

static uint64_t bytes_in_all;

static void add_size(const char *path)
{
    struct stat info;
    cr_assert(stat(path, &info) == 0);
    bytes_in_all += (uint64_t) info.st_size;
}

Test(cache, keeps_under_its_cap_without_touching_strangers)
{
    const size_t bytes = 30u << 20;
    char         stranger[256];
    struct place p;
    begin(&p);
    ordo_device *dev = open_device(&p, false);
    char        *data = calloc(1, 40u << 20);
    cr_assert(data != NULL);
    snprintf(stranger, sizeof stranger, "%s/not-an-entry", p.dir);
    store(stranger, (const unsigned char *) "x", 1);

    for (uint64_t i = 0; i < 6; i++) {
        ordo_cache_write(dev, "thing", (struct ordo_hash) { i, 0 }, data, bytes);
        usleep(20000); /* so that the files' times differ */
    }
    (void) each_file(&p, add_size);
    cr_assert(bytes_in_all <= 128u << 20, "%llu bytes", (unsigned long long) bytes_in_all);
    size_t got = 0;
    void  *oldest = ordo_cache_read(dev, "thing", (struct ordo_hash) { 0, 0 }, &got);
    void  *newest = ordo_cache_read(dev, "thing", (struct ordo_hash) { 5, 0 }, &got);
    cr_assert(oldest == NULL && newest != NULL && got == bytes);
    cr_assert(access(stranger, F_OK) == 0);

    ordo_cache_write(dev, "huge", some_key, data, 40u << 20);
    cr_assert(ordo_cache_read(dev, "huge", some_key, &got) == NULL, "larger than one entry may be");
    free(newest);
    free(data);
    ordo_device_close(&dev);
    end(&p);
}

static void check_no_cache(struct place *p)
{
    ordo_device *dev = open_device(p, true);
    write_text(dev, some_key, "nowhere to go");
    cr_assert(reads_as(dev, some_key, NULL));
    ordo_cache_drop(dev, "thing", some_key);
    ordo_device_close(&dev);
    dev = open_device(p, true);
    cr_assert(!ordo_device_facts(dev)->self_test_remembered);
    ordo_device_close(&dev);
}

Test(cache, does_without)
{
    struct place p;
    char         file[256], below[300];
    begin(&p);
    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0);
    check_no_cache(&p);
    cr_assert(each_file(&p, leave_one) == 0);

    snprintf(file, sizeof file, "%s/file", p.dir);
    store(file, (const unsigned char *) "x", 1);
    snprintf(below, sizeof below, "%s/cache", file);
    cr_assert(setenv("ORDO_CACHE", below, 1) == 0); /* a directory that nobody can make, root neither */
    check_no_cache(&p);
    end(&p);
}

Test(cache, makes_its_directory)
{
    struct place p;
    char         deep[256], middle[256];
    begin(&p);
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

/* ---- what opening remembers ---------------------------------------------------------------------------------- */

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
    struct place p;
    begin(&p);
    ordo_device             *dev = open_device(&p, true);
    struct ordo_device_facts first = *ordo_device_facts(dev);
    cr_assert(!first.self_test_remembered && first.self_test_ms > 0);
    ordo_device_close(&dev);
    cr_assert(each_file(&p, leave_one) >= 1);

    dev = open_device(&p, true);
    struct ordo_device_facts second = *ordo_device_facts(dev);
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
    ordo_device_close(&dev);
    end(&p);
}

/* Whether opening with this profile tests, and does not remember. */
static bool tests_with_profile(struct place *p, const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
    ordo_device *dev = open_device(p, true);
    const bool   tests = !ordo_device_facts(dev)->self_test_remembered;
    ordo_device_close(&dev);
    return tests;
}

/* A profile selects variants: what was found with one says nothing of another. */
Test(cache, opening_remembers_the_self_test_by_profile)
{
    struct place p;
    char         path[256];
    begin(&p);
    (void) snprintf(path, sizeof path, "%s/profile", p.dir);
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);
    cr_assert(tests_with_profile(&p, path, ""));
    cr_assert(!tests_with_profile(&p, path, ""));
    cr_assert(tests_with_profile(&p, path, "scan.items=8"));
    cr_assert(!tests_with_profile(&p, path, "scan.items=8"));
    cr_assert(!tests_with_profile(&p, path, ""));
    cr_assert(setenv("ORDO_PROFILE", "off", 1) == 0);
    ordo_device *dev = open_device(&p, true);
    cr_assert(ordo_device_facts(dev)->self_test_remembered, "no profile, and one that says nothing");
    ordo_device_close(&dev);
    end(&p);
}
