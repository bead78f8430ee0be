/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of files and strings under any input. Each NAME.c here is one reader: it aborts if the reader breaks a rule.
 * main.c runs the inputs in corpus/NAME with any compiler. With clang's libFuzzer (meson setup -Dfuzz=enabled) the same
 * file runs new inputs. */
#ifndef ORDO_TESTS_FUZZ_H
#define ORDO_TESTS_FUZZ_H

#include "ordo/ordo.h"

/* libFuzzer's entry. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Prints the sentence that does not hold, and aborts. */
_Noreturn void fuzz_fail(const char *file, int line, const char *sentence);
#define FUZZ_EXPECT(cond)                                                                                              \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            fuzz_fail(__FILE__, __LINE__, #cond);                                                                      \
    } while (0)

/* A directory of this process, removed at exit. */
const char *fuzz_dir(void);

/* Writes a file of that directory; the name may have one folder. `path` receives its path. */
enum { FUZZ_PATH = 128 };
void fuzz_write(const char *name, const void *data, size_t bytes, char path[FUZZ_PATH]);
/* Removes a file, if it exists. */
void fuzz_remove(const char *name);

/* A device without a driver: messages, locks and directories, but no facts and no OpenCL objects. Close it with
 * ordo_device_close. */
ordo_device *fuzz_device(void);

/* The input as a string up to its first zero byte; the caller frees it. */
char *fuzz_text(const uint8_t *data, size_t bytes);

#endif
