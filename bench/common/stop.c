/* SPDX-License-Identifier: Apache-2.0 */
#include "stop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void ask(int signal_)
{
    static const char text[] = "\ninterrupted: ends after the row at hand; at once if interrupted again\n";
    const int         error = errno;
    (void) signal_;
    asked = 1;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        asked = 1; /* nobody reads it */
    errno = error;
}

void stop_on_signal(void)
{
    /* SA_RESETHAND: the second one finds the default. */
    struct sigaction action = { .sa_handler = ask, .sa_flags = SA_RESTART };
    action.sa_flags |= (int) SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool stop_asked(void)
{
    return asked;
}
