/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel sources that differ from the library's: a directory for ORDO_CL_DIR, which holds the files that do. */
#ifndef ORDO_TESTS_OVERLAY_H
#define ORDO_TESTS_OVERLAY_H

#include <stddef.h>

struct overlay {
    char dir[64];
};

/* Makes an empty directory. Mistakes end the test, here as below. */
void overlay_begin(struct overlay *o);
/* A file with this text. */
void overlay_write(const struct overlay *o, const char *file, const char *text);
/* The file as it is there, or else as it is in the library, in which the first `from` becomes `to`. */
void overlay_edit(const struct overlay *o, const char *file, const char *from, const char *to);
/* The library's `from` with one line more, as `file`; the number of that line. */
int overlay_add_line(const struct overlay *o, const char *file, const char *from, const char *line);
/* How often a text is in the file as it is there, or in the library. */
size_t overlay_count(const struct overlay *o, const char *file, const char *text);
/* The file as it is there, or in the library; to be freed. */
char *overlay_text(const struct overlay *o, const char *file);
/* From here on devices are opened with it. */
void overlay_use(const struct overlay *o);
/* No longer; and removes the directory. */
void overlay_end(const struct overlay *o);

#endif
