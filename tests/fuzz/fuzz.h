/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of files and strings, given anything at all. Each NAME.c here is one reader: it gets an input, and aborts if the
 * reader did what it must not. main.c runs the inputs kept in corpus/NAME with any compiler; with clang's libFuzzer
 * (meson setup -Dfuzz=enabled) the same file makes up inputs of its own. */
#ifndef ORDO_TESTS_FUZZ_H
#define ORDO_TESTS_FUZZ_H

#include "ordo/ordo.h"

/* What libFuzzer calls. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Ends the process, with the sentence that does not hold. */
_Noreturn void fuzz_fail(const char *file, int line, const char *sentence);
#define FUZZ_EXPECT(cond)                                                                                              \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            fuzz_fail(__FILE__, __LINE__, #cond);                                                                      \
    } while (0)

/* A directory of this process, removed when it exits. */
const char *fuzz_dir(void);

/* Writes a file of that directory (the name may have one folder before it); `path` receives where it is. */
enum { FUZZ_PATH = 128 };
void fuzz_write(const char *name, const void *data, size_t bytes, char path[FUZZ_PATH]);
/* Removes one, if it is there. */
void fuzz_remove(const char *name);

/* A device without a driver behind it: messages, locks and directories, no fact and no OpenCL object yet. Close it with
 * ordo_device_close. */
ordo_device *fuzz_device(void);

/* The input as a string, malloc'd; it ends where a zero byte is. */
char *fuzz_text(const uint8_t *data, size_t bytes);

#endif
