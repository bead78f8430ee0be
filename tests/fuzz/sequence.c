/* SPDX-License-Identifier: Apache-2.0 */
/* The files of tests/dict/replay. */
#include "fuzz.h"

#include "tests/dict/sequence.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char                   path[FUZZ_PATH];
    static struct sequence s, again;
    fuzz_write("sequence", data, bytes, path);
    if (!sequence_read(path, &s))
        return 0;
    FUZZ_EXPECT(s.subject < N_SUBJECTS && (unsigned) s.type < 6 && s.shape < N_KEY_SHAPES && s.n_steps <= STEPS_MAX);
    FUZZ_EXPECT(s.value_bytes == 0 || s.value_bytes == 4 || s.value_bytes == 8);
    for (size_t i = 0; i < s.n_steps; i++)
        FUZZ_EXPECT(s.step[i].kind < N_STEP_KINDS);

    FILE *file = fopen(path, "w");
    FUZZ_EXPECT(file != NULL);
    sequence_print(file, &s);
    (void) fclose(file);
    FUZZ_EXPECT(sequence_read(path, &again) && memcmp(&again, &s, sizeof s) == 0);
    return 0;
}
