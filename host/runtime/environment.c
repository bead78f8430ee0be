/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "environment.h"

#include <stdlib.h>
#ifndef __linux__
#include <unistd.h>
#endif

const char *ordo_environment(const char *name)
{
#ifdef __linux__
    return secure_getenv(name);
#else
    return issetugid() ? NULL : getenv(name);
#endif
}
