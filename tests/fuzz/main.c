/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one reader over every file of a folder, for compilers without libFuzzer.
 *
 *     fuzz-corpus-geoip tests/fuzz/corpus/geoip */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_file(const char *path)
{
    FILE    *file = fopen(path, "rb");
    size_t   bytes = 0, room = 1u << 20;
    uint8_t *data = malloc(room);

    if (!file || !data)
        fuzz_fail(__FILE__, __LINE__, "the file can be read");
    bytes = fread(data, 1, room, file);
    FUZZ_EXPECT(bytes < room);
    (void) fclose(file);
    data = realloc(data, bytes ? bytes : 1); /* exact size, so that a sanitizer sees reads past the end */
    FUZZ_EXPECT(data != NULL);
    (void) LLVMFuzzerTestOneInput(data, bytes);
    free(data);
}

int main(int argc, char **argv)
{
    DIR           *folder = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *entry = NULL;
    int            n = 0;

    if (!folder) {
        (void) fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    while ((entry = readdir(folder))) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        (void) snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
        (void) fprintf(stderr, "%s\n", path); /* a failure comes after its file's name */
        run_file(path);
        (void) printf("ok %d - %s\n", ++n, entry->d_name);
        (void) fflush(stdout);
    }
    (void) closedir(folder);
    (void) printf("1..%d\n", n);
    return n > 0 ? 0 : 1;
}
