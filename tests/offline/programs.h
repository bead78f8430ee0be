/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that the library has built, and the choice that needed each first. */
#ifndef OFFLINE_PROGRAMS_H
#define OFFLINE_PROGRAMS_H

#include <stddef.h>

/* Records builds from now on, under the choice "shipped". Texts of modules go to files in this folder. */
void programs_record(const char *dir);

/* Records under this choice, "NAME=VALUE", which must live until the next one. */
void programs_choose(const char *name);

/* The number of programs of this choice that the shipped profile does not need. */
size_t programs_differing(void);

/* Prints and forgets them. */
void programs_print(void);

#endif
