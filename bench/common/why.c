/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>

bool because(char *why, const char *format, ...)
{
    va_list args;
    if (!why)
        return false;
    va_start(args, format);
    (void) vsnprintf(why, WHY_BYTES, format, args); /* NOLINT(clang-analyzer-valist.Uninitialized): va_start sets it */
    va_end(args);
    return false;
}
