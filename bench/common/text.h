/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stddef.h>

/* Room for what the functions below write. */
#define TEXT_BYTES 32

/* All return `text`. NaN gives "-". */
char *text_rate(char text[TEXT_BYTES], double per_second); /* "25.3 G", "412 M" */
char *text_seconds(char text[TEXT_BYTES], double seconds); /* "41.2 ms" */
char *text_bytes(char text[TEXT_BYTES], double bytes);     /* "8.00 MiB" */
char *text_giga(char text[TEXT_BYTES], double number);     /* in 10^9, without a unit: "2996", "0.12" */
char *text_count(char text[TEXT_BYTES], size_t count);     /* "2^20", or the number */
char *text_grouped(char text[TEXT_BYTES], size_t number);  /* "16,000,000" */
char *text_ratio(char text[TEXT_BYTES], double ratio);     /* "1.23x" */
char *text_percent(char text[TEXT_BYTES], double share);   /* "87 %" */

/* Lines, the last of which NULL follows, as one text; the caller frees it. NULL without memory. */
char *text_of_lines(const char *const *lines);

#endif
