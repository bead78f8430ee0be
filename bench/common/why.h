/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons of failures: a text that the caller provides. */
#ifndef BENCH_COMMON_WHY_H
#define BENCH_COMMON_WHY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WHY_BYTES 4096

/* Writes the reason to a text of WHY_BYTES unless `why` is NULL. Returns false. */
bool because(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
