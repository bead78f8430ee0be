/* SPDX-License-Identifier: Apache-2.0 */
/* ORDO_DEVICE. An input's first line is the choice, the other lines are names of devices. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "runtime/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEVICES = 8 };

/* "platform:device" in digits, with leading zeros. */
static bool is_number_of(const char *select, const struct ordo_listed *one)
{
    char *colon = NULL, *end = NULL;
    if (strspn(select, "0123456789:") != strlen(select) || *select == ':')
        return false;
    const unsigned long long platform = strtoull(select, &colon, 10);
    if (*colon != ':' || colon[1] == 0 || colon[1] == ':')
        return false;
    const unsigned long long device = strtoull(colon + 1, &end, 10);
    return *end == 0 && platform == one->platform && device == one->device;
}

static bool looks_like_numbers(const char *select)
{
    const size_t platform = strspn(select, "0123456789");
    if (platform == 0 || select[platform] != ':')
        return false;
    const size_t device = strspn(select + platform + 1, "0123456789");
    return device > 0 && select[platform + 1 + device] == 0;
}

static bool is_meant(const char *select, const struct ordo_listed *one)
{
    if (is_number_of(select, one))
        return true;
    if (strcasecmp(select, "gpu") == 0)
        return one->gpu;
    if (strcasecmp(select, "cpu") == 0)
        return one->cpu;
    return strcasestr(one->name, select) || strcasestr(one->platform_name, select);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct ordo_listed list[DEVICES] = { 0 };
    char              *text = fuzz_text(data, bytes), *rest = text;
    const char        *select = strsep(&rest, "\n");
    size_t             n = 0;

    for (const char *name = NULL; n < DEVICES && (name = strsep(&rest, "\n")); n++) {
        list[n].platform = (unsigned) (n / 2);
        list[n].device = (unsigned) (n % 2);
        list[n].gpu = name[0] == 'G';
        list[n].cpu = name[0] == 'C';
        (void) snprintf(list[n].name, sizeof list[n].name, "%s", name);
        (void) snprintf(list[n].platform_name, sizeof list[n].platform_name, "platform %zu", n / 2);
    }
    n = n ? n : 1;
    const struct ordo_listed *chosen = ordo_choose(list, n, select);
    FUZZ_EXPECT(*select || chosen);
    FUZZ_EXPECT(!chosen || (chosen >= list && chosen < list + n));
    for (size_t i = 0; *select && !looks_like_numbers(select) && i < n; i++) /* the first match */
        FUZZ_EXPECT(is_meant(select, &list[i]) ? chosen && chosen <= &list[i] : chosen != &list[i]);
    FUZZ_EXPECT(!chosen || !looks_like_numbers(select) || is_meant(select, chosen));
    free(text);
    return 0;
}
