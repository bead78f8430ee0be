/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons of failures: a text that the caller provides. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define WHY_BYTES 4096

/* Writes the reason to a text of WHY_BYTES unless `why` is NULL. Returns false. */
__attribute__((format(printf, 2, 3))) static inline bool because(char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why)
        (void) vsnprintf(why, WHY_BYTES, format,
                         args); /* NOLINT(clang-analyzer-valist.Uninitialized): va_start sets it */
    va_end(args);
    return false;
}
