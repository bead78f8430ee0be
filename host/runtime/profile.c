/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the tunables. A tunable has one value for each shape (sizes of key and value). The value is the default, a
 * shipped value for the device, or a value from the user's profile, which ordo-tune writes. */
#define _GNU_SOURCE
#include "files.h"
#include "internal.h"
#include "ordo/ordo.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- names --------------------------------------------------------------------------------------------------- */

#define MAX_CHOICES 16

static const struct {
    const char             *name, *text;
    enum ordo_tunable_scope scope;
    enum ordo_tunable_facts facts;
    uint32_t                value;
    uint32_t                choice[MAX_CHOICES];
    uint32_t                n_choices;
} tunables[] = {
#define X(id, name, scope, facts, value, text, ...)                                                                    \
    { name,                                                                                                            \
      text,                                                                                                            \
      ORDO_TUNABLE_##scope,                                                                                            \
      ORDO_TUNABLE_##facts,                                                                                            \
      value,                                                                                                           \
      { __VA_ARGS__ },                                                                                                 \
      sizeof((uint32_t[]) { __VA_ARGS__ }) / sizeof(uint32_t) },
    ORDO_TUNABLE_MAP(X)
#undef X
};

enum {
    K4V0 = 1 << ORDO_K4V0,
    K4V4 = 1 << ORDO_K4V4,
    K4V8 = 1 << ORDO_K4V8,
    K8V0 = 1 << ORDO_K8V0,
    K8V4 = 1 << ORDO_K8V4,
    K8V8 = 1 << ORDO_K8V8,
    K4 = K4V0 | K4V4 | K4V8,
    K8 = K8V0 | K8V4 | K8V8,
    ALL = K4 | K8
};

static const char *const pair_shapes[ORDO_N_SHAPES] = { "k4v0", "k4v4", "k4v8", "k8v0", "k8v4", "k8v8" };
static const char *const key_shapes[] = { "k4", "k8" };

/* Several shapes may share one value of a tunable. Returns the first shape that shares it with `shape`. */
static enum ordo_shape home_shape(enum ordo_tunable t, enum ordo_shape shape)
{
    if (tunables[t].scope == ORDO_TUNABLE_PAIR)
        return shape;
    return shape < ORDO_K8V0 ? ORDO_K4V0 : ORDO_K8V0;
}

static const char *shape_name(enum ordo_tunable t, enum ordo_shape shape)
{
    return tunables[t].scope == ORDO_TUNABLE_KEY ? key_shapes[shape >= ORDO_K8V0] : pair_shapes[shape];
}

static void full_name(enum ordo_tunable t, enum ordo_shape shape, char *out, size_t size)
{
    const char *dot = strchr(tunables[t].name, '.');
    snprintf(out, size, "%.*s.%s%s", (int) (dot - tunables[t].name), tunables[t].name, shape_name(t, shape), dot);
}

enum ordo_shape ordo_shape_of(size_t key_bytes, size_t value_bytes)
{
    return (enum ordo_shape)((key_bytes >= 8 ? ORDO_K8V0 : ORDO_K4V0) + (int) (value_bytes < 8 ? value_bytes / 4 : 2));
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

/* Returns a bit mask of the shapes that `name` sets: all for "sort.items", one for "sort.k4v8.items". */
static unsigned shapes_named(const char *name, enum ordo_tunable t)
{
    char     full[48];
    unsigned shapes = 0;
    if (strncmp(name, tunables[t].name, strcspn(name, ".") + 1) != 0)
        return 0;
    for (int shape = 0; shape < ORDO_N_SHAPES; shape++) {
        full_name(t, (enum ordo_shape) shape, full, sizeof full);
        shapes |= (unsigned) (strcmp(name, full) == 0) << shape;
    }
    return strcmp(name, tunables[t].name) == 0 ? ALL : shapes;
}

static void set_value(ordo_device *dev, enum ordo_tunable t, unsigned shapes, uint32_t value, ordo_origin origin)
{
    assert(is_choice(t, value));
    for (int shape = 0; shape < ORDO_N_SHAPES; shape++)
        if (shapes >> shape & 1) {
            dev->tunable[t][shape] = value;
            dev->origin[t][shape] = origin;
        }
}

static bool set_by_name(ordo_device *dev, const char *name, uint32_t value, ordo_origin origin)
{
    bool known = false;
    for (int i = 0; i < ORDO_N_TUNABLES; i++) {
        const enum ordo_tunable t = (enum ordo_tunable) i;
        const unsigned          shapes = is_choice(t, value) ? shapes_named(name, t) : 0;
        if (shapes)
            set_value(dev, t, shapes, value, origin);
        known = known || shapes;
    }
    return known;
}

static bool apply_word(ordo_device *dev, char *word)
{
    char *value = strchr(word, '=');
    if (!value)
        return false;
    *value++ = 0;
    if (!*value || value[strspn(value, "0123456789")]) /* strtoull would accept signs and blanks */
        return false;
    const unsigned long long number = strtoull(value, NULL, 10);
    return number <= UINT32_MAX && set_by_name(dev, word, (uint32_t) number, ORDO_ORIGIN_TUNED);
}

static void apply_text(ordo_device *dev, const char *text, const char *where)
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
        if (length && (shown < length || !apply_word(dev, word)))
            ordo_log(dev, ORDO_LOG_WARNING, "%s: %.*s ignored: no such tunable, or not one of its values", where, shown,
                     text);
        text += length;
    }
}

/* ---- shipped sets ---------------------------------------------------------------------------------------------- */

struct setting {
    enum ordo_tunable tunable;
    unsigned          shapes;
    uint32_t          value;
};

/* For devices that run a work-group in one thread. */
static const struct setting threads[] = {
    { ORDO_SORT_METHOD, ALL, ORDO_SORT_CHUNKED },
    { ORDO_SORT_GROUP, ALL, 1 },
    { ORDO_SORT_ITEMS, ALL, 4 },
    { ORDO_SORT_LOCAL, K4, 18 },
    { ORDO_SORT_LOCAL, K8, 16 },
    { ORDO_SORT_SMALL_GROUP, ALL, 1 },
    { ORDO_SORT_SMALL_ITEMS, ALL, 16 },
    { ORDO_SCAN_GROUP, ALL, 1 },
    { ORDO_SCAN_ITEMS, ALL, 4096 },
    { ORDO_COMPACT_GROUP, ALL, 1 },
    { ORDO_COMPACT_ITEMS, ALL, 4096 },
    { ORDO_BY_KEY_GROUP, ALL, 1 },
    { ORDO_BY_KEY_ITEMS, ALL, 4096 },
    { ORDO_TOP_GROUP, ALL, 1 },
    { ORDO_TOP_ITEMS, ALL, 4096 },
    { ORDO_MERGE_GROUP, ALL, 1 },
    { ORDO_MERGE_ITEMS, ALL, 4096 },
    { ORDO_MERGE_RUNS_GROUP, ALL, 1 },
    { ORDO_MERGE_RUNS_ITEMS, ALL, 4096 },
    { ORDO_SEARCH_LANES, ALL, 1 },
    { ORDO_SEARCH_GROUP, ALL, 1 },
    { ORDO_SEARCH_ITEMS, ALL, 64 },
    { ORDO_BLINK_LANES, ALL, 1 },
    { ORDO_BLINK_GROUP, ALL, 32 },
    { ORDO_BLINK_ITEMS, ALL, 32 },
};

/* For devices without sub-group operations. Local memory has space for 16 digit counters per work-item of a sort (4-bit
 * digits), but not for 256. */
static const struct setting one_lane[] = {
    { ORDO_SORT_DIGIT_BITS, ALL, 4 },  { ORDO_SORT_GROUP, ALL, 64 },  { ORDO_SORT_SMALL_GROUP, ALL, 64 },
    { ORDO_SORT_SMALL_ITEMS, ALL, 8 }, { ORDO_SEARCH_LANES, ALL, 1 }, { ORDO_BLINK_LANES, ALL, 1 },
};

static const struct setting progress[] = {
    { ORDO_SORT_METHOD, ALL, ORDO_SORT_ONESWEEP },
    { ORDO_SCAN_METHOD, ALL, ORDO_SCAN_LOOKBACK },
};

/* Measured on an H100 SXM and an H200 with driver 580.159. Scan, compact, merge, top k and sums by key are 1.15 to 1.7
 * times as fast as with smaller tiles. Larger work-groups for scans slow down segmented scans.
 *
 * A sort of 2^26 pairs (4-byte keys and values) takes 2.29 ms with tiles of 512 x 18 elements, and 2.52 ms with 1024 x
 * 11.
 *
 * A blocked index (SEARCH_LAYOUT 1) with 15 keys per cache line is faster than level order. In 2^24 keys of 4 bytes, an
 * H100 finds 25.9 instead of 19.6 G keys/s. */
static const struct setting large_tiles[] = {
    { ORDO_SORT_GROUP, ALL, 512 },        { ORDO_SORT_ITEMS, ALL, 11 },
    { ORDO_SORT_ITEMS, K4V0, 21 },        { ORDO_SORT_ITEMS, K4V4, 18 },
    { ORDO_SORT_SMALL_GROUP, ALL, 512 },  { ORDO_SORT_SMALL_ITEMS, ALL, 8 },
    { ORDO_SORT_LOCAL_GROUP, ALL, 1024 }, { ORDO_SCAN_ITEMS, ALL, 24 },
    { ORDO_COMPACT_GROUP, ALL, 512 },     { ORDO_COMPACT_ITEMS, ALL, 20 },
    { ORDO_BY_KEY_ITEMS, K4, 12 },        { ORDO_TOP_GROUP, ALL, 512 },
    { ORDO_TOP_ITEMS, ALL, 32 },          { ORDO_MERGE_ITEMS, K4V0, 17 },
    { ORDO_MERGE_GROUP, K8V0, 256 },      { ORDO_MERGE_ITEMS, K8V4 | K8V8, 11 },
    { ORDO_MERGE_RUNS_GROUP, ALL, 256 },  { ORDO_MERGE_RUNS_GROUP, K4V0 | K4V8, 512 },
    { ORDO_MERGE_RUNS_ITEMS, ALL, 11 },   { ORDO_MERGE_RUNS_ITEMS, K4V8, 7 },
    { ORDO_SEARCH_LAYOUT, ALL, 1 },       { ORDO_SEARCH_LINE_DEPTH, ALL, 4 },
};

/* Conditions under which a device uses a list of settings. ANY and 0 mean no condition. */
enum need { ANY, NO, YES };
struct needs {
    enum need threads, lanes, progress;
    uint32_t  sub_group;
    uint32_t  compute_units_min, max_group_min, local_bytes_min;
};

#define SETTINGS(list) (list), sizeof(list) / sizeof(list)[0]
static const struct set {
    struct needs          needs;
    ordo_origin           origin;
    const struct setting *settings;
    size_t                n;
} sets[] = {
    { { .threads = YES }, ORDO_ORIGIN_SHIPPED, SETTINGS(threads) },
    { { .threads = NO, .lanes = NO }, ORDO_ORIGIN_DEFAULT, SETTINGS(one_lane) },
    { { .threads = NO, .lanes = YES, .progress = YES }, ORDO_ORIGIN_DEFAULT, SETTINGS(progress) },
    { { .threads = NO,
        .progress = YES,
        .sub_group = 32,
        .compute_units_min = 64,
        .max_group_min = 1024,
        .local_bytes_min = 49152 },
      ORDO_ORIGIN_SHIPPED,
      SETTINGS(large_tiles) },
};

static bool met(enum need need, bool fact)
{
    return need == ANY || fact == (need == YES);
}

static bool has(const struct ordo_facts *f, const struct needs *n)
{
    return met(n->threads, f->cpu) && met(n->lanes, f->lanes != ORDO_LANES_ONE) &&
           met(n->progress, f->groups_progress) && (n->sub_group == 0 || n->sub_group == f->sub_group) &&
           f->compute_units >= n->compute_units_min && f->max_group >= n->max_group_min &&
           f->local_bytes >= n->local_bytes_min;
}

static void load_shipped(ordo_device *dev)
{
    for (int t = 0; t < ORDO_N_TUNABLES; t++)
        set_value(dev, (enum ordo_tunable) t, ALL, tunables[t].value, ORDO_ORIGIN_DEFAULT);
    for (const struct set *set = sets; set < sets + sizeof sets / sizeof sets[0]; set++)
        for (size_t i = 0; i < set->n && has(&dev->facts, &set->needs); i++)
            set_value(dev, set->settings[i].tunable, set->settings[i].shapes, set->settings[i].value, set->origin);
}

static bool applies(const struct ordo_facts *f, enum ordo_tunable t)
{
    switch (tunables[t].facts) {
    case ORDO_TUNABLE_GROUPS:
        return !f->cpu;
    case ORDO_TUNABLE_LANES:
        return !f->cpu && f->lanes != ORDO_LANES_ONE;
    case ORDO_TUNABLE_PROGRESS:
        return !f->cpu && f->groups_progress;
    default:
        return true;
    }
}

/* ---- the user's profile -------------------------------------------------------------------------------------- */

/* Sets *out to a malloc'd path. Returns false if no profile is used. If memory is lacking, returns true and sets *out
 * to NULL. */
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
    for (char *at = name; *at; at++) /* tolower would depend on the locale */
        *at = (char) (*at >= 'A' && *at <= 'Z'                              ? *at + 32
                      : strchr("abcdefghijklmnopqrstuvwxyz0123456789", *at) ? *at
                                                                            : '-');
    *out = xdg && xdg[0] == '/' ? ordo_format("%s/ordo/%s.profile", xdg, name)
                                : ordo_format("%s/.config/ordo/%s.profile", home, name);
    free(name);
    return true;
}

enum { PROFILE_BYTES = 65536 };

static void miss_profile(ordo_device *dev, const char *path, const char *why, bool missing)
{
    const char *chosen = ordo_environment("ORDO_PROFILE");
    const bool  named = chosen && *chosen;
    if (!dev || dev->profile_told || (!named && missing))
        return;
    dev->profile_told = true;
    ordo_log(dev, ORDO_LOG_WARNING, "profile not read, the shipped one is used: %s%s: %s", named ? "ORDO_PROFILE=" : "",
             path, why);
}

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
        apply_text(dev, text, path);
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
    load_shipped(dev);
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
            out->applies = applies(&dev->facts, (enum ordo_tunable) t);
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
    while (t < ORDO_N_TUNABLES && !shapes_named(name, (enum ordo_tunable) t))
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
