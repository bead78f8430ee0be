/* SPDX-License-Identifier: Apache-2.0 */
/* Tunables and profiles of a device. */
#include "device_case.h"
#include "runtime/internal.h"
#include "tests/support/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

EVERY_MASK_TEST(device, tunables_take_their_choices_only)
{
    struct ordo_tunable_info info;
    size_t                   n = 0;
    for (; ordo_device_tunable(t->dev, n, &info) == ORDO_OK; n++) {
        bool listed = false;
        test_context(t, "tunable %s", info.name);
        test_true(t, info.name[0] && info.text && info.text[0] && info.n_choices > 0 && info.n_choices <= 16);
        for (uint32_t c = 0; c < info.n_choices; c++)
            listed = listed || info.choice[c] == info.value;
        test_true(t, listed);
        test_ok(t, ordo_device_set_tunable(t->dev, info.name, info.choice[info.n_choices - 1]));
        test_true(t, test_tunable(t, t->dev, info.name).value == info.choice[info.n_choices - 1]);
        test_true(t, test_tunable(t, t->dev, info.name).origin == ORDO_ORIGIN_SET);
        test_status(t, ordo_device_set_tunable(t->dev, info.name, 12345), ORDO_INVALID);
        test_true(t, test_tunable(t, t->dev, info.name).value == info.choice[info.n_choices - 1]);
    }
    test_true(t, n > 20);
    test_status(t, ordo_device_set_tunable(t->dev, "sort.k4v4.nothing", 4), ORDO_INVALID);
}

static int ignored; /* ignored words of a profile, from a warning */

static void count_ignored(void *user, ordo_log_level level, const char *message)
{
    (void) user;
    ignored += level == ORDO_LOG_WARNING && strstr(message, "ignored") != NULL;
}

static ordo_device *open_logged(const struct test *t)
{
    ordo_device                    *dev = NULL;
    const struct ordo_device_config config = { .log = count_ignored, .mask = t->mask };
    cr_assert(ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev) == ORDO_OK);
    return dev;
}

DEVICE_TEST(device, profiles_are_saved_and_read)
{
    char         dir[] = "/tmp/ordo-profile-test-XXXXXX", path[128], got[128];
    ordo_device *dev;
    test_true(t, mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/deeper/some.profile", dir);
    test_true(t, setenv("ORDO_PROFILE", path, 1) == 0);
    ignored = 0;

    dev = open_logged(t);
    const uint32_t old = test_tunable(t, dev, "sort.k4v4.items").value, fresh = old == 9 ? 11 : 9;
    test_ok(t, ordo_device_set_tunable(dev, "sort.k4v4.items", fresh));
    test_ok(t, ordo_device_save_profile(dev, got, sizeof got));
    test_true(t, strcmp(got, path) == 0);
    ordo_device_close(&dev);

    dev = open_logged(t);
    test_true(t, test_tunable(t, dev, "sort.k4v4.items").value == fresh);
    test_true(t, test_tunable(t, dev, "sort.k4v4.items").origin == ORDO_ORIGIN_TUNED);
    test_true(t, test_tunable(t, dev, "sort.k8v8.items").origin < ORDO_ORIGIN_TUNED);
    test_true(t, ignored == 0);
    test_ok(t, ordo_device_save_profile(dev, NULL, 0)); /* values that were read are kept */
    ordo_device_close(&dev);

    FILE *file = fopen(path, "wb");
    test_true(t, file != NULL);
    fputs("# a comment = 5\nsort.k4v4.items=77\nsort.k4v4.items=\nnonsense\n= =5 sort.items\n\x01\xff\xfe=9\n"
          "sort.k8v8.items=99999999999999999999 sort.k4v4.group=-1 sort.k8v8.items=9x\nsort.k8v4.items=9 # fine\r\n",
          file);
    for (int i = 0; i < 300; i++)
        fputc('z', file);
    fclose(file);
    dev = open_logged(t);
    test_true(t, test_tunable(t, dev, "sort.k4v4.items").value == old &&
                     test_tunable(t, dev, "sort.k8v4.items").value == 9);
    test_true(t, ignored == 11);
    test_ok(t, sort_few(dev));
    ordo_device_close(&dev);

    test_true(t, remove(path) == 0);
    path[strlen(dir) + 7] = 0;
    test_true(t, rmdir(path) == 0 && rmdir(dir) == 0);
    test_true(t, setenv("ORDO_PROFILE", "/dev/null/not/a/directory", 1) == 0);
    test_status(t, ordo_device_save_profile(t->dev, got, sizeof got), ORDO_IO);
    test_true(t, setenv("ORDO_PROFILE", "off", 1) == 0);
    test_status(t, ordo_device_save_profile(t->dev, got, sizeof got), ORDO_IO);
}

enum { NOBODY = 65534 };

static char missed[512]; /* the last warning about an unread profile */
static int  n_missed;

static void note_missed(void *user, ordo_log_level level, const char *message)
{
    (void) user;
    if (level == ORDO_LOG_WARNING && strstr(message, "profile not read")) {
        snprintf(missed, sizeof missed, "%s", message);
        n_missed++;
    }
}

/* Opens a device, expects one warning with these words about the file at `path`, and saves a profile there. */
static void expect_missed(const char *path, const char *words)
{
    const struct ordo_device_config config = { .log = note_missed, .no_self_test = true };
    AUTO_DEVICE ordo_device        *dev = NULL;
    struct stat                     info;
    n_missed = 0;
    (void) alarm(60); /* a reader that waits for a writer ends the test */
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    (void) alarm(0);
    cr_assert(n_missed == 1, "%s: %d warnings", words, n_missed);
    cr_assert(strstr(missed, path) && strstr(missed, words), "%s, not: %s", missed, words);
    cr_assert(ordo_tunable(dev, ORDO_SORT_ITEMS, ORDO_K4V4) != 9 ||
              dev->origin[ORDO_SORT_ITEMS][ORDO_K4V4] < ORDO_ORIGIN_TUNED);
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        cr_assert(ordo_device_save_profile(dev, NULL, 0) == ORDO_IO);
        cr_assert(rmdir(path) == 0);
    } else {
        cr_assert(ordo_device_save_profile(dev, NULL, 0) == ORDO_OK);
        cr_assert(lstat(path, &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & 0777) == 0600);
        cr_assert(info.st_uid == geteuid() && remove(path) == 0);
    }
}

static void store_profile(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(text, 1, bytes, file) == bytes && fclose(file) == 0);
}

Test(device, only_regular_files_of_the_user_are_profiles)
{
    static const char text[] = "sort.k4v4.items=9\n";
    static char       large[65536];
    char              dir[] = "/tmp/ordo-profile-test-XXXXXX", path[64], other[64];
    cr_assert(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/profile", dir);
    snprintf(other, sizeof other, "%s/other", dir);
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);

    expect_missed(path, strerror(ENOENT));
    cr_assert(mkfifo(path, 0600) == 0);
    expect_missed(path, "it is not a regular file");
    cr_assert(mkdir(path, 0700) == 0);
    expect_missed(path, "it is not a regular file");
    store_profile(other, text, sizeof text - 1);
    cr_assert(symlink(other, path) == 0);
    expect_missed(path, "it is a symbolic link");
    memset(large, ' ', sizeof large);
    store_profile(path, large, sizeof large);
    expect_missed(path, "it is too large");
    store_profile(path, text, sizeof text); /* with its 0 */
    expect_missed(path, "it is not a text");
    if (geteuid() == 0) {
        store_profile(path, text, sizeof text - 1);
        cr_assert(chown(path, NOBODY, NOBODY) == 0);
        expect_missed(path, "it belongs to another user");
    }
    cr_assert(remove(other) == 0 && rmdir(dir) == 0); /* no temporary file is left */
}
