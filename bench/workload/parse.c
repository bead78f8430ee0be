/* SPDX-License-Identifier: Apache-2.0 */
#include "parse.h"

#include "ordo/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers up to this are powers of two. */
#define MOST_LOG2 31

static bool parse_size(const char **text, size_t *size, bool *is_log2)
{
    const bool exact = **text == '=', power = strncmp(*text, "2^", 2) == 0;
    *text += exact ? 1 : power ? 2 : 0;
    if (**text < '0' || **text > '9')
        return false;
    char                    *end = NULL;
    const unsigned long long number = strtoull(*text, &end, 10);
    *text = end;
    *is_log2 = !exact && number <= MOST_LOG2;
    if (power && !*is_log2)
        return false;
    *size = (size_t) number;
    return number <= ORDO_MAX_COUNT && (*is_log2 || number > 0);
}

int parse_sizes(const char *text, size_t *sizes, int room, char *why, size_t why_bytes)
{
    const char *at = text;
    int         n = 0;
    for (;;) {
        size_t from = 0, to = 0;
        bool   from_log2 = false, to_log2 = false;
        bool   good = parse_size(&at, &from, &from_log2);
        to = from;
        if (good && strncmp(at, "..", 2) == 0) {
            at += 2;
            good = from_log2 && parse_size(&at, &to, &to_log2) && to_log2 && to >= from;
        }
        if (!good || (*at && *at != ',')) {
            snprintf(why, why_bytes,
                     "'%s' is no list of sizes: 12 means 2^12, 12..16 all powers from 2^12 to 2^16, =1000 and "
                     "numbers above %d stand for themselves (at most %zu)",
                     text, MOST_LOG2, ORDO_MAX_COUNT);
            return -1;
        }
        for (; from <= to && n < room; from++)
            sizes[n++] = from_log2 ? (size_t) 1 << from : from;
        if (!*at)
            return n;
        at++;
    }
}

int parse_names(const char *text, const char *(*name)(int), int n_names, int *chosen, int room, char *why,
                size_t why_bytes)
{
    int n = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        int          i = 0;
        while (i < n_names && (strlen(name(i)) != length || strncmp(at, name(i), length) != 0))
            i++;
        if (i == n_names) {
            int used = snprintf(why, why_bytes, "unknown '%.*s' (expected", (int) length, at);
            for (int k = 0; k < n_names && used > 0 && (size_t) used < why_bytes; k++)
                used += snprintf(why + used, why_bytes - (size_t) used, "%s %s", k ? "," : "", name(k));
            if (used > 0 && (size_t) used < why_bytes)
                snprintf(why + used, why_bytes - (size_t) used, ")");
            return -1;
        }
        if (n < room)
            chosen[n++] = i;
        at += length;
        if (!*at)
            return n;
    }
}
