/* SPDX-License-Identifier: Apache-2.0 */
#include "tuned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool remember(ordo_device *device, struct tuned *tuned)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(device, i, &info) == ORDO_OK; i++) {
        struct ordo_tunable_info *more = realloc(tuned->was, (i + 1) * sizeof *more);
        if (!more)
            return false;
        tuned->was = more;
        tuned->was[tuned->n++] = info;
    }
    return true;
}

/* One word NAME=VALUE. */
static bool set(ordo_device *device, char *word, char *why, size_t why_bytes)
{
    char *value = strchr(word, '='), *end = value;
    if (value) {
        *value++ = 0;
        const unsigned long number = strtoul(value, &end, 10);
        if (*value && !*end && ordo_device_set_tunable(device, word, (uint32_t) number) == ORDO_OK)
            return true;
    }
    if (!value || !*value || *end || ordo_device_last_error(device, why, why_bytes) <= 1)
        snprintf(why, why_bytes, "--tune: '%s' is not NAME=VALUE", word);
    return false;
}

bool tuned_begin(ordo_device *device, const char *list, struct tuned *tuned, char *why, size_t why_bytes)
{
    char *text = list ? strdup(list) : NULL, *rest = NULL;
    bool  good = !list || (text && remember(device, tuned));
    if (!good)
        snprintf(why, why_bytes, "out of memory");
    for (char *word = text && good ? strtok_r(text, ",", &rest) : NULL; word && good; word = strtok_r(NULL, ",", &rest))
        good = set(device, word, why, why_bytes);
    free(text);
    return good;
}

void tuned_end(ordo_device *device, struct tuned *tuned)
{
    for (size_t i = 0; i < tuned->n; i++)
        (void) ordo_device_set_tunable(device, tuned->was[i].name, tuned->was[i].value);
    free(tuned->was);
    *tuned = (struct tuned) { NULL, 0 };
}
