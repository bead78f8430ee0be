/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "choose.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Whether a text is "platform:device". */
static bool read_numbers(const char *text, unsigned *platform, unsigned *device)
{
    char rest = 0;
    return text[strspn(text, "0123456789:")] == 0 && sscanf(text, "%9u:%9u%c", platform, device, &rest) == 2;
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
