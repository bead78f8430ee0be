/* SPDX-License-Identifier: Apache-2.0 */
/* The report as one HTML page: no script, nothing from elsewhere, the same bytes for the same files. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "points.h"

#include <stdio.h>

/* False if writing failed; errno says why. */
bool page_write(FILE *out, const struct report *report);
/* Each plot as a file of its own, which stands alone. False, with the path in `why`, if writing failed. */
bool page_write_svgs(const char *directory, const struct report *report, char *why, size_t why_bytes);

#endif
