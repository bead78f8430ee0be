/* SPDX-License-Identifier: Apache-2.0 */
/* An end that was asked for: by Ctrl-C, or by the signal that timeout(1) sends. */
#ifndef BENCH_STOP_H
#define BENCH_STOP_H

#include <stdbool.h>

/* From now on the first SIGINT or SIGTERM only asks for the end, and says so; the second ends the program at once. */
void stop_on_signal(void);
/* Whether it was asked for. */
bool stop_asked(void);

#endif
