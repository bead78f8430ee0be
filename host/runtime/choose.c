/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "choose.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Reads digits and nothing else, up to 2^32 - 1; NULL if there are none. */
static const char *read_number(const char *text, unsigned *out)
{
    unsigned long long number = 0;
    size_t             n = 0;
    for (; text[n] >= '0' && text[n] <= '9' && number <= UINT32_MAX; n++)
        number = 10 * number + (unsigned) (text[n] - '0');
    *out = (unsigned) number;
    return n && number <= UINT32_MAX ? text + n : NULL;
}

/* Whether a text is "platform:device". */
static bool read_numbers(const char *text, unsigned *platform, unsigned *device)
{
    text = read_number(text, platform);
    if (!text || *text != ':')
        return false;
    text = read_number(text + 1, device);
    return text && !*text;
}

/* Whether `select` names this device. */
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
