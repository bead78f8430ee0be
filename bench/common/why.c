/* SPDX-License-Identifier: Apache-2.0 */
#include "why.h"

#include <stdarg.h>
#include <stdio.h>

bool because(char *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why)
        vsnprintf(why, WHY_BYTES, format, args);
    va_end(args);
    return false;
}
