/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three digits, whatever the size. */
static void three_digits(char text[TEXT_BYTES], double number, const char *unit)
{
    const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
    snprintf(text, TEXT_BYTES, "%.*f %s", decimals, number, unit);
}

static char *scaled(char text[TEXT_BYTES], double number, double base, const char *const *units, int n_units)
{
    int unit = 0;
    if (isnan(number)) {
        snprintf(text, TEXT_BYTES, "-");
        return text;
    }
    while (unit + 1 < n_units && number >= base * 0.9995) {
        number /= base;
        unit++;
    }
    three_digits(text, number, units[unit]);
    return text;
}

char *text_rate(char text[TEXT_BYTES], double per_second)
{
    static const char *const units[] = { "", "k", "M", "G", "T" };
    return scaled(text, per_second, 1000, units, 5);
}

char *text_seconds(char text[TEXT_BYTES], double seconds)
{
    static const char *const units[] = { "ns", "us", "ms" };
    if (seconds >= 0.9995) {
        three_digits(text, seconds, "s");
        return text;
    }
    return scaled(text, seconds * 1e9, 1000, units, 3);
}

char *text_bytes(char text[TEXT_BYTES], double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    return scaled(text, bytes, 1024, units, 5);
}

char *text_giga(char text[TEXT_BYTES], double number)
{
    if (isnan(number))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, number < 9.995e9 ? "%.2f" : number < 99.95e9 ? "%.1f" : "%.0f", number * 1e-9);
    return text;
}

char *text_count(char text[TEXT_BYTES], size_t count)
{
    int log2 = 0;
    while (log2 < 63 && ((size_t) 1 << log2) < count)
        log2++;
    if (count == (size_t) 1 << log2 && log2 >= 4)
        snprintf(text, TEXT_BYTES, "2^%d", log2);
    else
        snprintf(text, TEXT_BYTES, "%zu", count);
    return text;
}

char *text_grouped(char text[TEXT_BYTES], size_t number)
{
    char digits[TEXT_BYTES];
    int  used = 0;
    snprintf(digits, sizeof digits, "%zu", number);
    for (size_t left = strlen(digits), at = 0; left > 0; left--, at++) {
        text[used++] = digits[at];
        if (left > 1 && left % 3 == 1)
            text[used++] = ',';
    }
    text[used] = 0;
    return text;
}

char *text_ratio(char text[TEXT_BYTES], double ratio)
{
    if (isnan(ratio))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, ratio < 99.95 ? ratio < 9.995 ? "%.2fx" : "%.1fx" : "%.0fx", ratio);
    return text;
}

char *text_percent(char text[TEXT_BYTES], double share)
{
    if (isnan(share))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, share < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
    return text;
}

char *text_of_lines(const char *const *lines)
{
    size_t bytes = 1, used = 0;
    for (size_t i = 0; lines[i]; i++)
        bytes += strlen(lines[i]) + 1;
    char *text = malloc(bytes);
    for (size_t i = 0; text && lines[i]; i++)
        used += (size_t) snprintf(text + used, bytes - used, "%s\n", lines[i]);
    return text;
}
