/* SPDX-License-Identifier: Apache-2.0 */
/* The files of tests/dict/replay. */
#include "fuzz.h"

#include "tests/dict/sequence.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads files of STEPS_MAX steps, and of one more: the reader refuses the second. */
static void try_many_steps(void)
{
    static const char      step[] = "find 1 1\n";
    static char            text[(STEPS_MAX + 1) * (sizeof step - 1)];
    static struct sequence s;
    char                   path[FUZZ_PATH];

    for (size_t at = 0; at < sizeof text; at += sizeof step - 1)
        memcpy(text + at, step, sizeof step - 1);
    for (size_t n = STEPS_MAX; n <= STEPS_MAX + 1; n++) {
        fuzz_write("sequence", text, n * (sizeof step - 1), path);
        FUZZ_EXPECT(sequence_read(path, &s) == (n == STEPS_MAX) && s.n_steps == STEPS_MAX);
    }
}

/* The text of a file with the sequence; the caller frees it. */
static char *printed(const struct sequence *s)
{
    char  *text = NULL;
    size_t bytes;
    FILE  *file = open_memstream(&text, &bytes);
    FUZZ_EXPECT(file != NULL);
    sequence_print(file, s);
    FUZZ_EXPECT(fclose(file) == 0);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char                   path[FUZZ_PATH];
    static struct sequence s, again;
    static bool            begun;
    if (!begun)
        try_many_steps();
    begun = true;
    fuzz_write("sequence", data, bytes, path);
    if (!sequence_read(path, &s))
        return 0;
    FUZZ_EXPECT((s.subject < N_SUBJECTS || s.subject == STRING_DICT) && (unsigned) s.type < 8);
    FUZZ_EXPECT(s.shape < N_KEY_SHAPES && s.strings < N_SHAPES && s.n_steps <= STEPS_MAX);
    FUZZ_EXPECT(s.value_bytes == 0 || s.value_bytes == 4 || s.value_bytes == 8 || s.value_bytes == 16);
    for (size_t i = 0; i < s.n_steps; i++)
        FUZZ_EXPECT(s.step[i].kind < N_STEP_KINDS);

    char *text = printed(&s);
    fuzz_write("sequence", text, strlen(text), path);
    FUZZ_EXPECT(sequence_read(path, &again));
    char *text_again = printed(&again);
    FUZZ_EXPECT(strcmp(text_again, text) == 0);
    free(text_again);
    free(text);
    return 0;
}
