/* SPDX-License-Identifier: Apache-2.0 */
/* Modified kernel sources, in a directory for ORDO_CL_DIR. */
#ifndef ORDO_TESTS_OVERLAY_H
#define ORDO_TESTS_OVERLAY_H

#include <stddef.h>

struct overlay {
    char dir[64];
};

/* Makes an empty directory. All functions here end the test if they fail. */
struct overlay overlay_begin(void);
/* Writes a file with this text. */
void overlay_write(const struct overlay *o, const char *file, const char *text);
/* Replaces the first `from` by `to` in the directory's file, or in a copy of the library's. */
void overlay_edit(const struct overlay *o, const char *file, const char *from, const char *to);
/* Writes the library's `from` with an added line as `file`. Returns the number of the line. */
int overlay_add_line(const struct overlay *o, const char *file, const char *from, const char *line);
/* Counts occurrences of a text in the directory's file, or in the library's. */
size_t overlay_count(const struct overlay *o, const char *file, const char *text);
/* The text of the directory's file, or of the library's; the caller frees it. */
char *overlay_text(const struct overlay *o, const char *file);
/* Opens devices with the directory from here on. */
void overlay_use(const struct overlay *o);
/* Stops that and removes the directory. */
void overlay_end(const struct overlay *o);

#endif
