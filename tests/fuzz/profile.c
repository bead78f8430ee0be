/* SPDX-License-Identifier: Apache-2.0 */
/* The user's profile. An input's first byte picks the device, the rest is the file. */
#include "fuzz.h"

#include "runtime/internal.h"

#include <stdlib.h>

static ordo_device *device_with_profile(uint8_t kind, const char *path)
{
    ordo_device *dev = fuzz_device();
    dev->facts.cpu = kind & 1;
    dev->facts.lanes = (ordo_lanes) (kind >> 1 & 3);
    dev->facts.groups_progress = kind >> 3 & 1;
    FUZZ_EXPECT(setenv("ORDO_PROFILE", path, 1) == 0);
    ordo_profile_load(dev);
    return dev;
}

/* Whether a text ends in this name: "sort.k4v8.items", or without the shape "sort.items". */
static bool is_name(const char *name, const char *from, const char *end)
{
    const size_t bytes = (size_t) (end - from), whole = strlen(name);
    const char  *dot = strchr(name, '.'), *last = strrchr(name, '.');
    const size_t head = (size_t) (dot - name), tail = strlen(last);
    return (bytes == whole && memcmp(from, name, whole) == 0) ||
           (bytes == head + tail && memcmp(from, name, head) == 0 && memcmp(from + head, last, tail) == 0);
}

/* Whether a word of the file sets this tunable to this value. */
static bool is_said(const char *text, const char *name, uint32_t value)
{
    for (const char *equals = text; (equals = strchr(equals, '=')); equals++) {
        const char *from = equals, *digit = equals + 1;
        uint64_t    number = 0;
        while (from > text && !strchr(" \t\r\n#", from[-1]))
            from--;
        for (; *digit >= '0' && *digit <= '9' && number <= UINT32_MAX; digit++)
            number = 10 * number + (uint64_t) (*digit - '0');
        if (digit > equals + 1 && strchr(" \t\r\n#", *digit) && number == value && is_name(name, from, equals))
            return true;
    }
    return false;
}

static void check_values(ordo_device *dev, const char *text)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(dev, i, &info) == ORDO_OK; i++) {
        bool is_choice = false;
        for (uint32_t c = 0; c < info.n_choices; c++)
            is_choice = is_choice || info.choice[c] == info.value;
        FUZZ_EXPECT(is_choice && info.origin <= ORDO_ORIGIN_TUNED);
        const bool may_be_lowered = strstr(info.name, ".method") != NULL;
        FUZZ_EXPECT(info.origin != ORDO_ORIGIN_TUNED || may_be_lowered || is_said(text, info.name, info.value));
    }
}

/* A profile that is saved and read again is the same. */
static void check_saving(ordo_device *dev, uint8_t kind)
{
    char path[FUZZ_PATH];
    fuzz_write("saved", "", 0, path);
    FUZZ_EXPECT(setenv("ORDO_PROFILE", path, 1) == 0);
    FUZZ_EXPECT(ordo_device_save_profile(dev, NULL, 0) == ORDO_OK);
    ordo_device *other = device_with_profile(kind, path);
    FUZZ_EXPECT(memcmp(other->tunable, dev->tunable, sizeof dev->tunable) == 0);
    FUZZ_EXPECT(memcmp(other->origin, dev->origin, sizeof dev->origin) == 0);
    ordo_device_close(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[FUZZ_PATH];
    if (bytes == 0)
        return 0;
    fuzz_write("profile", data + 1, bytes - 1, path);
    ordo_device *dev = device_with_profile(data[0], path);
    char        *text = fuzz_text(data + 1, bytes - 1);
    check_values(dev, text);
    check_saving(dev, data[0]);
    free(text);
    ordo_device_close(&dev);
    return 0;
}
