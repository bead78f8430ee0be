/* SPDX-License-Identifier: Apache-2.0 */
/* A program with more rights than its caller (set-user-ID) ignores the caller's environment: where kernels are read
 * and where built programs are kept. The test wraps getenv and secure_getenv, and answers as in such a program. */
#define _GNU_SOURCE
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>

char *__real_getenv(const char *name);
char *__wrap_getenv(const char *name);
char *__real_secure_getenv(const char *name);
char *__wrap_secure_getenv(const char *name);

static bool trusted = true; /* the program has the rights of its caller */
static char unsafe[256];    /* names queried with getenv */
static int  n_asked;        /* with secure_getenv */

char *__wrap_getenv(const char *name)
{
    const size_t used = strlen(unsafe);
    if (strncmp(name, "ORDO_TEST", 9) != 0)
        (void) snprintf(unsafe + used, sizeof unsafe - used, " %s", name);
    return __real_getenv(name);
}

char *__wrap_secure_getenv(const char *name)
{
    n_asked++;
    return trusted ? __real_secure_getenv(name) : NULL;
}

static ordo_status open_and_close(const char *select, char *message, size_t bytes)
{
    const struct ordo_device_config config = {
        .select = select, .message = message, .message_bytes = bytes, .no_self_test = true
    };
    AUTO_DEVICE ordo_device *dev = NULL;
    const ordo_status        got = ordo_device_open(&config, &dev);
    if (got == ORDO_OK)
        (void) ordo_device_save_profile(dev, NULL, 0);
    return got;
}

Test(environment, is_not_read_with_the_rights_of_another)
{
    static const char *const bad[][2] = { { "ORDO_CL_DIR", "/no/such/kernels" },
                                          { "ORDO_DEVICE", "no such device" },
                                          { "ORDO_MASK", "nonsense" } };
    char                     message[2048] = "";
    cr_assert(setenv("ORDO_PROFILE", "/proc/no/profile", 1) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert(setenv(bad[i][0], bad[i][1], 1) == 0);
        trusted = true;
        cr_assert(open_and_close(NULL, message, sizeof message) != ORDO_OK, "%s counts", bad[i][0]);
        trusted = false;
        cr_assert(open_and_close(NULL, message, sizeof message) == ORDO_OK, "%s counted: %s", bad[i][0], message);
        cr_assert(unsetenv(bad[i][0]) == 0);
    }
    cr_assert(n_asked > 10, "%d settings were asked for", n_asked);
    cr_assert(unsafe[0] == 0, "asked for with getenv:%s", unsafe);
}
