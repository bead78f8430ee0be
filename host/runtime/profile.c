/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: the tunables of each kernel for each shape of data. Rows of whole measured sets, from the general to the
 * particular, each refining what came before; then the user's own profile, which ordo-tune writes.
 *
 * A row's text is what a profile file holds: words NAME=VALUE, # to the end of a line is a comment. "sort.items=15" sets
 * all shapes, "sort.k4v8.items=13" one. */
#define _GNU_SOURCE
#include "files.h"
#include "internal.h"
#include "ordo/ordo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- names --------------------------------------------------------------------------------------------------- */

#define MAX_CHOICES 16

static const struct {
    const char *name, *text;
    uint32_t    choice[MAX_CHOICES];
    uint32_t    n_choices;
} tunables[] = {
#define X(id, name, text, ...) { name, text, { __VA_ARGS__ }, sizeof((uint32_t[]) { __VA_ARGS__ }) / sizeof(uint32_t) },
    ORDO_TUNABLE_MAP(X)
#undef X
};

static const char *const pair_shapes[ORDO_N_SHAPES] = { "k4v0", "k4v4", "k4v8", "k8v0", "k8v4", "k8v8" };
static const char *const key_shapes[] = { "k4", "k8" };

/* Whether a tunable is one for each size of key alone, whatever the values. */
static bool by_key_only(enum ordo_tunable t)
{
    return strncmp(tunables[t].name, "scan.", 5) == 0 || strncmp(tunables[t].name, "compact.", 8) == 0 ||
           strncmp(tunables[t].name, "by_key.", 7) == 0 || strncmp(tunables[t].name, "top.", 4) == 0 ||
           strncmp(tunables[t].name, "search.", 7) == 0 || strncmp(tunables[t].name, "blink.", 6) == 0 ||
           strncmp(tunables[t].name, "links.", 6) == 0;
}

static enum ordo_shape home_shape(enum ordo_tunable t, enum ordo_shape shape)
{
    if (!by_key_only(t))
        return shape;
    return shape < ORDO_K8V0 ? ORDO_K4V0 : ORDO_K8V0;
}

static const char *shape_name(enum ordo_tunable t, enum ordo_shape shape)
{
    return by_key_only(t) ? key_shapes[shape >= ORDO_K8V0] : pair_shapes[shape];
}

/* "sort.items" and "k4v4" give "sort.k4v4.items". */
static void full_name(enum ordo_tunable t, enum ordo_shape shape, char *out, size_t room)
{
    const char *dot = strchr(tunables[t].name, '.');
    snprintf(out, room, "%.*s.%s%s", (int) (dot - tunables[t].name), tunables[t].name, shape_name(t, shape), dot);
}

enum ordo_shape ordo_shape_of(size_t key_bytes, size_t value_bytes)
{
    return (enum ordo_shape)((key_bytes == 8 ? ORDO_K8V0 : ORDO_K4V0) + (int) (value_bytes / 4));
}

uint32_t ordo_tunable(const ordo_device *dev, enum ordo_tunable t, enum ordo_shape shape)
{
    return dev->tunable[t][home_shape(t, shape)];
}

/* ---- setting ------------------------------------------------------------------------------------------------- */

static bool is_choice(enum ordo_tunable t, uint32_t value)
{
    for (uint32_t i = 0; i < tunables[t].n_choices; i++)
        if (tunables[t].choice[i] == value)
            return true;
    return false;
}

/* Whether `name` means this tunable for this shape. */
static bool names(const char *name, enum ordo_tunable t, enum ordo_shape shape)
{
    char full[48];
    if (strncmp(name, tunables[t].name, strcspn(name, ".") + 1) != 0)
        return false;
    full_name(t, shape, full, sizeof full);
    return strcmp(name, full) == 0 || strcmp(name, tunables[t].name) == 0;
}

static bool is_name_of(enum ordo_tunable t, const char *name)
{
    for (int shape = 0; shape < ORDO_N_SHAPES; shape++)
        if (names(name, t, (enum ordo_shape) shape))
            return true;
    return false;
}

/* Sets every tunable that `name` means; false if there is none, or the value is not one of its choices. */
static bool set_by_name(ordo_device *dev, const char *name, uint32_t value, ordo_origin origin)
{
    bool known = false;
    for (int t = 0; t < ORDO_N_TUNABLES; t++)
        for (int shape = 0; shape < ORDO_N_SHAPES; shape++) {
            if (!names(name, (enum ordo_tunable) t, (enum ordo_shape) shape) ||
                !is_choice((enum ordo_tunable) t, value))
                continue;
            dev->tunable[t][shape] = value;
            dev->origin[t][shape] = origin;
            known = true;
        }
    return known;
}

/* One word NAME=VALUE, cut in two; false if it is no such word, or means nothing. */
static bool apply_word(ordo_device *dev, char *word, ordo_origin origin)
{
    char *value = strchr(word, '=');
    if (!value)
        return false;
    *value++ = 0;
    if (!*value || value[strspn(value, "0123456789")]) /* strtoul takes signs and blanks too */
        return false;
    const unsigned long long number = strtoull(value, NULL, 10);
    return number <= UINT32_MAX && set_by_name(dev, word, (uint32_t) number, origin);
}

/* Reads words NAME=VALUE. What is not understood is named in the log and skipped. */
static void apply_text(ordo_device *dev, const char *text, ordo_origin origin, const char *where)
{
    while (*text) {
        text += strspn(text, " \t\r\n");
        if (*text == '#') {
            text += strcspn(text, "\n");
            continue;
        }
        const int length = (int) strcspn(text, " \t\r\n#");
        char      word[80];
        const int shown = length < (int) sizeof word ? length : (int) sizeof word - 1;
        snprintf(word, sizeof word, "%.*s", shown, text);
        if (length && (shown < length || !apply_word(dev, word, origin)))
            ordo_log(dev, ORDO_LOG_WARNING, "%s: %.*s ignored: no such tunable, or not one of its values", where, shown,
                     text);
        text += length;
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

enum kind { ANY, CPU, GPU, GPU_ONE_LANE, GPU_PROGRESS };

static const struct {
    enum kind   kind;
    int         lanes;  /* -1: any */
    const char *device; /* part of the name, NULL: any */
    ordo_origin origin;
    const char *text;
} rows[] = {
    { ANY, -1, NULL, ORDO_ORIGIN_DEFAULT,
      "sort.method=1 sort.digit_bits=8 sort.group=256 sort.items=8 sort.registers=0 sort.direct=8 sort.small_group=256 "
      "sort.small_items=4 sort.local=22 sort.local_group=256 sort.local_items=8 "
      "scan.method=1 scan.group=256 scan.items=8 compact.group=256 compact.items=8 by_key.group=256 by_key.items=8 "
      "top.group=256 top.items=16 "
      "merge.group=128 merge.items=7 "
      "merge_runs.group=128 merge_runs.items=8 search.node_keys=16 search.lanes=2 search.group=256 "
      "search.items=1 search.local_keys=4096 search.tile=8 search.buffered=0 search.sort_queries=0 "
      "blink.lanes=4 blink.group=128 blink.items=1 links.group=64" },
    /* Without lanes each work-item counts its own digits in local memory: 16 counters fit, 256 do not. */
    { GPU_ONE_LANE, -1, NULL, ORDO_ORIGIN_DEFAULT,
      "sort.digit_bits=4 sort.group=64 sort.items=8 sort.small_group=64 sort.small_items=8 search.lanes=1 "
      "blink.lanes=1" },
    { GPU_PROGRESS, -1, NULL, ORDO_ORIGIN_DEFAULT, "sort.method=0 scan.method=0" },
    /* H100 SXM, driver 580.159, 2026-11-21. Sort: the larger the tile, the fewer look-backs and the longer each digit's
     * writes, which is worth more than a second group on a compute unit. Multi-way merge: 1.2 to
     * 1.7 times the rate of 128 x 8. Scan and compact (H200): 1.5 and 1.35 times the rate of 256 x 8; larger groups lose more in segmented scans than they win.
     * The first 100 of 2^23 (H100): 512 x 32 1.15 times the rate of 256 x 16. Sums by key, sorted (H100): 1.4 times the rate of 256 x 8. */
    { GPU, ORDO_LANES_NVIDIA, NULL, ORDO_ORIGIN_SHIPPED,
      "sort.group=512 sort.k4v0.items=19 sort.k4v4.group=1024 sort.k4v4.items=11 sort.k4v8.items=11 sort.k8v0.items=11 "
      "sort.k8v4.items=11 "
      "sort.k8v8.items=11 sort.small_group=512 sort.small_items=8 sort.local_group=1024 "
      "scan.items=24 compact.group=512 compact.items=20 by_key.k4.items=12 top.group=512 top.items=32 "
      "merge.k4v0.items=17 merge.k8v0.group=256 merge.k8v4.items=11 merge.k8v8.items=11 "
      "merge_runs.group=256 merge_runs.items=11 merge_runs.k4v0.group=512 "
      "merge_runs.k4v8.group=512 merge_runs.k4v8.items=7" },
    { CPU, -1, NULL, ORDO_ORIGIN_SHIPPED,
      "sort.method=2 sort.digit_bits=8 sort.group=1 sort.items=4 sort.small_group=1 sort.small_items=16 "
      "scan.method=1 scan.group=1 scan.items=4096 compact.group=1 compact.items=4096 "
      "by_key.group=1 by_key.items=4096 top.group=1 top.items=4096 merge.group=1 merge.items=4096 "
      "merge_runs.group=1 merge_runs.items=4096 search.node_keys=16 search.lanes=1 search.group=1 "
      "search.items=64 blink.lanes=1 blink.group=32 blink.items=32" },
};

static bool row_fits(const ordo_device *dev, size_t i)
{
    const struct ordo_facts *f = &dev->facts;
    if (rows[i].lanes >= 0 && rows[i].lanes != (int) f->lanes)
        return false;
    if (rows[i].device && !strcasestr(f->name, rows[i].device))
        return false;
    switch (rows[i].kind) {
    case ANY:
        return true;
    case CPU:
        return f->cpu;
    case GPU:
        return !f->cpu;
    case GPU_ONE_LANE:
        return !f->cpu && f->lanes == ORDO_LANES_ONE;
    case GPU_PROGRESS:
        return !f->cpu && f->groups_progress && f->lanes != ORDO_LANES_ONE;
    }
    return false;
}

/* ---- the user's profile -------------------------------------------------------------------------------------- */

/* A file name from the device's: "nvidia-cuda-nvidia-h100-80gb-hbm3.profile"; malloc'd, NULL if memory ran out. false: there
 * is no place for one. */
static bool profile_path(const ordo_device *dev, char **out)
{
    const char *chosen = ordo_environment("ORDO_PROFILE"), *xdg = ordo_environment("XDG_CONFIG_HOME"),
               *home = ordo_environment("HOME");
    *out = NULL;
    if (chosen && *chosen) {
        if (strcmp(chosen, "off") == 0)
            return false;
        *out = ordo_format("%s", chosen);
        return true;
    }
    if (!(xdg && xdg[0] == '/') && !(home && *home))
        return false;
    char *name = ordo_format("%s-%s", dev->facts.platform, dev->facts.name);
    if (!name)
        return true;
    for (char *at = name; *at; at++)
        *at = (char) ((*at >= 'A' && *at <= 'Z')                                 ? *at + 32
                      : (*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9') ? *at
                                                                                 : '-');
    *out = xdg && xdg[0] == '/' ? ordo_format("%s/ordo/%s.profile", xdg, name)
                                : ordo_format("%s/.config/ordo/%s.profile", home, name);
    free(name);
    return true;
}

enum { PROFILE_BYTES = 65536 };

/* Says once that a profile is not read. A missing one is no fault unless ORDO_PROFILE names it. */
static void miss_profile(ordo_device *dev, const char *path, const char *why, bool missing)
{
    const char *chosen = ordo_environment("ORDO_PROFILE");
    const bool  named = chosen && *chosen;
    if (!dev || dev->profile_told || (!named && missing))
        return;
    dev->profile_told = true;
    ordo_log(dev, ORDO_LOG_WARNING, "profile not read, the shipped one is taken: %s%s: %s",
             named ? "ORDO_PROFILE=" : "", path, why);
}

/* False if the file is missing or no profile, which the log is told if `dev` is not NULL. */
static bool read_profile(ordo_device *dev, const char *path, char text[PROFILE_BYTES])
{
    const char *why = NULL;
    FILE       *file = ordo_file_open(path, PROFILE_BYTES - 1, &why);
    const bool  missing = !file && errno == ENOENT;
    text[0] = 0;
    if (file) {
        const size_t bytes = fread(text, 1, PROFILE_BYTES - 1, file);
        text[bytes] = 0;
        why = ferror(file) ? "it cannot be read" : strlen(text) < bytes ? "it is not a text" : NULL;
        fclose(file);
    }
    if (why)
        miss_profile(dev, path, why, missing);
    return !why;
}

static void load_user_profile(ordo_device *dev)
{
    char  text[PROFILE_BYTES];
    char *path = NULL;
    if (profile_path(dev, &path) && path && read_profile(dev, path, text)) {
        apply_text(dev, text, ORDO_ORIGIN_TUNED, path);
        ordo_log(dev, ORDO_LOG_INFO, "profile read: %s", path);
    }
    free(path);
}

ordo_status ordo_profile_digest(ordo_device *dev, struct ordo_digest *hash)
{
    char  text[PROFILE_BYTES];
    char *path = NULL;
    if (!profile_path(dev, &path))
        return ORDO_OK;
    ORDO_REQUIRE_MEMORY(dev, path);
    if (read_profile(NULL, path, text) && text[0])
        *hash = ORDO_DIGEST_TEXT(*hash, text);
    free(path);
    return ORDO_OK;
}

void ordo_profile_lower(ordo_device *dev)
{
    for (int shape = 0; shape < ORDO_N_SHAPES; shape++)
        if (!dev->facts.groups_progress) {
            if (dev->tunable[ORDO_SORT_METHOD][shape] == ORDO_SORT_ONESWEEP)
                dev->tunable[ORDO_SORT_METHOD][shape] = ORDO_SORT_REDUCE_SCAN;
            dev->tunable[ORDO_SCAN_METHOD][shape] = ORDO_SCAN_REDUCE;
        }
}

void ordo_profile_load(ordo_device *dev)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (row_fits(dev, i))
            apply_text(dev, rows[i].text, rows[i].origin, "the shipped profile");
    load_user_profile(dev);
    ordo_profile_lower(dev);
}

/* ---- public -------------------------------------------------------------------------------------------------- */

ordo_status ordo_device_tunable(ordo_device *dev, size_t i, struct ordo_tunable_info *out)
{
    if (!dev || !out)
        return ORDO_INVALID;
    ORDO_REQUIRE_NO_FORK(dev);
    for (int t = 0; t < ORDO_N_TUNABLES; t++)
        for (int shape = 0; shape < ORDO_N_SHAPES; shape++) {
            if (home_shape((enum ordo_tunable) t, (enum ordo_shape) shape) != (enum ordo_shape) shape || i-- > 0)
                continue;
            full_name((enum ordo_tunable) t, (enum ordo_shape) shape, out->name, sizeof out->name);
            out->text = tunables[t].text;
            ordo_lock(dev);
            out->value = dev->tunable[t][shape];
            out->origin = dev->origin[t][shape];
            ordo_unlock(dev);
            out->n_choices = tunables[t].n_choices;
            memcpy(out->choice, tunables[t].choice, sizeof out->choice);
            return ORDO_OK;
        }
    return ORDO_INVALID;
}

static ordo_status refuse_tunable(ordo_device *dev, const char *name, uint32_t value)
{
    char   choices[160] = "";
    size_t used = 0;
    int    t = 0;
    while (t < ORDO_N_TUNABLES && !is_name_of((enum ordo_tunable) t, name))
        t++;
    ORDO_REQUIRE(dev, t < ORDO_N_TUNABLES, ORDO_INVALID, "there is no tunable \"%s\"", name);
    for (uint32_t i = 0; i < tunables[t].n_choices; i++)
        used += (size_t) snprintf(choices + used, sizeof choices - used, "%s%u", i ? ", " : "", tunables[t].choice[i]);
    return ORDO_FAIL(dev, ORDO_INVALID, "%s may not be %u: it is one of %s", name, value, choices);
}

ordo_status ordo_device_set_tunable(ordo_device *dev, const char *name, uint32_t value)
{
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_NO_FORK(dev);
    ORDO_REQUIRE_GIVEN(dev, name);
    ordo_lock(dev);
    const bool known = set_by_name(dev, name, value, ORDO_ORIGIN_SET);
    ordo_unlock(dev);
    return known ? ORDO_OK : refuse_tunable(dev, name, value);
}

static bool write_profile(FILE *file, const void *content)
{
    const ordo_device *dev = content;
    bool good = fprintf(file, "# %s, driver %s, Ordo %s\n", dev->facts.name, dev->facts.driver, ORDO_VERSION) > 0;
    for (int t = 0; t < ORDO_N_TUNABLES; t++)
        for (int shape = 0; shape < ORDO_N_SHAPES; shape++) {
            char name[48];
            if (home_shape((enum ordo_tunable) t, (enum ordo_shape) shape) != (enum ordo_shape) shape ||
                dev->origin[t][shape] < ORDO_ORIGIN_TUNED)
                continue;
            full_name((enum ordo_tunable) t, (enum ordo_shape) shape, name, sizeof name);
            good = fprintf(file, "%s=%u\n", name, dev->tunable[t][shape]) > 0 && good;
        }
    return good;
}

static ordo_status save_to(ordo_device *dev, const char *target)
{
    char *temporary = ordo_format("%s.new-XXXXXX", target);
    ORDO_REQUIRE_MEMORY(dev, temporary);
    ordo_lock(dev);
    const bool good = ordo_file_make_parents(temporary) && ordo_file_replace(target, temporary, write_profile, dev);
    const int  why = errno;
    ordo_unlock(dev);
    free(temporary);
    ORDO_REQUIRE(dev, good, ORDO_IO, "%s cannot be written: %s", target, strerror(why));
    return ORDO_OK;
}

ordo_status ordo_device_save_profile(ordo_device *dev, char *path, size_t path_bytes)
{
    char *target = NULL;
    ORDO_REQUIRE_GIVEN(dev, dev);
    ORDO_REQUIRE_NO_FORK(dev);
    const bool  wanted = profile_path(dev, &target);
    const char *chosen = ordo_environment("ORDO_PROFILE");
    if (path && path_bytes)
        snprintf(path, path_bytes, "%s", target ? target : "");
    ORDO_REQUIRE(dev, wanted, ORDO_IO, "there is no place for the profile: %s",
                 chosen && *chosen ? "ORDO_PROFILE=off" : "ORDO_PROFILE, XDG_CONFIG_HOME and HOME are not set");
    ORDO_REQUIRE_MEMORY(dev, target);
    const ordo_status got = save_to(dev, target);
    free(target);
    return got;
}
