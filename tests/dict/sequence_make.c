/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sequences from seeds and from files, and shrinks failing ones. */
#include "sequence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* ---- from seeds -------------------------------------------------------------------------------------------------- */

void sequence_add(struct sequence *s, enum step_kind kind, uint32_t count)
{
    if (s->n_steps < STEPS_MAX) {
        s->step[s->n_steps] = (struct step) { kind, count, (uint32_t) s->n_steps + 1 };
        s->n_steps++;
    }
}

struct sequence sequence_every(size_t subject, ordo_type type, uint32_t value_bytes, enum key_shape shape,
                               uint32_t count)
{
    struct sequence s = { .subject = subject,
                          .type = type,
                          .value_bytes = value_bytes,
                          .shape = shape,
                          .n_keys = 2 * count + 1,
                          .seed = count };

    for (int kind = STEP_INSERT; kind <= STEP_APPLY; kind++) /* on none */
        if (count < 4 || kind == STEP_APPLY)
            sequence_add(&s, (enum step_kind) kind, count);
    sequence_add(&s, STEP_UPSERT, count);
    sequence_add(&s, STEP_BUILD, count);
    for (int kind = STEP_UPSERT; kind <= STEP_STATISTICS; kind++)
        sequence_add(&s, (enum step_kind) kind, count);
    sequence_add(&s, STEP_APPLY, count);
    sequence_add(&s, STEP_APPLY, count);
    for (int kind = STEP_FIND; kind <= STEP_COMPACT; kind++)
        sequence_add(&s, (enum step_kind) kind, count < 33 ? count : 33);
    sequence_add(&s, STEP_EXPORT, 1);
    sequence_add(&s, STEP_CLEAR, 1);
    sequence_add(&s, STEP_INSERT, count);
    sequence_add(&s, STEP_EXPORT, 1);
    return s;
}

/* Sizes of all magnitudes, and at boundaries. */
static uint32_t random_size(struct test *random, uint32_t most)
{
    static const uint32_t seams[] = { 1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4096 };
    const uint32_t        size =
        (uint32_t) (test_below(random, 6) == 0 ? seams[test_below(random, LENGTH(seams))]
                                               : 1 + test_below(random, 1u << test_below(random, 14)));

    return size < most ? size : most;
}

static enum step_kind random_kind(struct test *random)
{
    static const enum step_kind often[] = { STEP_UPSERT, STEP_UPSERT, STEP_UPSERT, STEP_INSERT, STEP_ERASE,
                                            STEP_ERASE,  STEP_APPLY,  STEP_APPLY,  STEP_APPLY,  STEP_FIND };

    if (test_below(random, 5) < 3)
        return often[test_below(random, LENGTH(often))];
    const enum step_kind kind = (enum step_kind)(STEP_BUILD + test_below(random, STEP_ERASE_ALL));
    const bool           drastic = kind == STEP_BUILD || kind == STEP_CLEAR || kind == STEP_COMPACT;
    return drastic && test_below(random, 4) ? STEP_CONTAINS : kind;
}

struct sequence sequence_random(size_t subject, ordo_type type, uint32_t value_bytes, uint64_t seed)
{
    enum { STEPS = 60, KEYS = 30000 };
    struct test     random = { .random = seed };
    struct sequence s = { .subject = subject, .type = type, .value_bytes = value_bytes, .seed = seed };

    s.shape = (enum key_shape) test_below(&random, N_KEY_SHAPES);
    s.n_keys = (uint32_t) (test_below(&random, 3) ? KEYS : 1 + test_below(&random, 3000));
    if (test_below(&random, 4))
        sequence_add(&s, STEP_BUILD, s.n_keys);
    while (s.n_steps < STEPS)
        sequence_add(&s, random_kind(&random), random_size(&random, KEYS));
    sequence_add(&s, STEP_SIZE, 1);
    sequence_add(&s, STEP_EXPORT, 1);
    sequence_add(&s, STEP_STATISTICS, 1);
    return s;
}

struct sequence sequence_emptied(size_t subject, ordo_type type, uint32_t value_bytes, uint64_t seed)
{
    enum { KEYS = 9000, SMALL = 33, LARGE = 3000 };
    struct sequence s = { .subject = subject,
                          .type = type,
                          .value_bytes = value_bytes,
                          .shape = seed % 2 ? KEYS_SPARSE : KEYS_DENSE,
                          .n_keys = KEYS,
                          .seed = seed };

    for (int round = 0; round < 2; round++) {
        sequence_add(&s, STEP_UPSERT, 2 * KEYS);
        sequence_add(&s, STEP_ERASE_ALL, 1);
        sequence_add(&s, STEP_ERASE, round ? LARGE : SMALL);
        sequence_add(&s, STEP_FIND, SMALL);
        sequence_add(&s, STEP_UPSERT, round ? SMALL : LARGE);
        sequence_add(&s, STEP_APPLY, LARGE);
        sequence_add(&s, STEP_EXPORT, 1);
    }
    return s;
}

size_t sequence_operations(const struct sequence *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_steps; i++)
        n += step_operations(&s->step[i]);
    return n;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static const char string_dict_word[] = "string_dict";

void sequence_print(FILE *to, const struct sequence *s)
{
    if (s->subject == STRING_DICT)
        (void) fprintf(to, "structure %s\nstrings %s\n", string_dict_word, string_shape_name[s->strings]);
    else
        (void) fprintf(to, "structure %s\ntype %s\nshape %s\nkeys %" PRIu32 "\n", structures[s->subject].word,
                       test_type_name[s->type], key_shape_name[s->shape], s->n_keys);
    (void) fprintf(to, "value_bytes %" PRIu32 "\nseed %" PRIu64 "\n", s->value_bytes, s->seed);
    for (size_t i = 0; i < s->n_steps; i++)
        (void) fprintf(to, "%s %" PRIu32 " %" PRIu32 "\n", step_word[s->step[i].kind], s->step[i].count,
                       s->step[i].salt);
}

/* Index of a word; n if it is unknown. */
static size_t number_of(const char *word, const char *const words[], size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(words[i], word) != 0)
        i++;
    return i;
}

/* Reads a whole text as a number in C's notation, at most `most`. */
static bool read_number(const char *text, uint64_t most, uint64_t *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0 && *out <= most;
}

static bool read_step(const char *word, const char *count_text, const char *salt_text, struct sequence *s)
{
    uint64_t count = 0, salt = 0;

    if (!read_number(count_text, UINT32_MAX, &count) || !read_number(salt_text, UINT32_MAX, &salt))
        return false;
    for (int kind = 0; kind < N_STEP_KINDS; kind++)
        if (strcmp(step_word[kind], word) == 0 && s->n_steps < STEPS_MAX) {
            s->step[s->n_steps++] = (struct step) { (enum step_kind) kind, (uint32_t) count, (uint32_t) salt };
            return true;
        }
    return false;
}

static bool read_setting(const char *word, const char *value, struct sequence *s)
{
    if (strcmp(word, "structure") == 0) {
        if (strcmp(value, string_dict_word) == 0) {
            s->subject = STRING_DICT;
            return true;
        }
        for (s->subject = 0; s->subject < N_SUBJECTS && strcmp(structures[s->subject].word, value) != 0;)
            s->subject++;
        return s->subject < N_SUBJECTS;
    }
    if (strcmp(word, "type") == 0)
        return (size_t) (s->type = (ordo_type) number_of(value, test_type_name, 8)) < 8;
    if (strcmp(word, "shape") == 0)
        return (s->shape = (enum key_shape) number_of(value, key_shape_name, N_KEY_SHAPES)) < N_KEY_SHAPES;
    if (strcmp(word, "strings") == 0)
        return (s->strings = (enum string_shape) number_of(value, string_shape_name, N_SHAPES)) < N_SHAPES;
    uint64_t number = 0;
    if (strcmp(word, "seed") == 0)
        return read_number(value, UINT64_MAX, &s->seed);
    if (!read_number(value, UINT32_MAX, &number))
        return false;
    if (strcmp(word, "keys") == 0)
        return (s->n_keys = (uint32_t) number) > 0;
    if (strcmp(word, "value_bytes") == 0)
        return (s->value_bytes = (uint32_t) number) <= 16 && s->value_bytes % 4 == 0 && s->value_bytes != 12;
    return false;
}

static bool read_line(const char *line, struct sequence *s)
{
    char      word[32] = "", value[32] = "", salt[32] = "", more[2] = "";
    const int n = sscanf(line, "%31s %31s %31s %1s", word, value, salt, more);

    if (n <= 0 || word[0] == '#')
        return true;
    if (n == 4 && salt[0] != '#' && more[0] != '#')
        return false;
    if (n >= 3 && salt[0] != '#')
        return read_step(word, value, salt, s);
    return n >= 2 && read_setting(word, value, s);
}

/* Whether the settings and steps suit the subject. */
static bool is_whole(const struct sequence *s)
{
    const bool strings = s->subject == STRING_DICT;
    bool       ok = strings ? s->type == ORDO_U32 && s->shape == KEYS_SPARSE && s->n_keys == 1 : s->strings == EMPTY;

    for (size_t i = 0; i < s->n_steps; i++)
        ok = ok && (strings ? string_sequence_takes(s->step[i].kind) : s->step[i].kind != STEP_QUERIES);
    return ok;
}

bool sequence_read(const char *path, struct sequence *out)
{
    char   line[256];
    size_t number = 0;
    bool   ok = true;
    FILE  *from = fopen(path, "r");

    *out = (struct sequence) { .n_keys = 1 };
    if (!from)
        (void) fprintf(stderr, "%s cannot be read\n", path);
    while (from && ok && fgets(line, sizeof line, from)) {
        number++;
        ok = read_line(line, out);
        if (!ok)
            (void) fprintf(stderr, "%s:%zu: not understood: %s", path, number, line);
    }
    if (from)
        (void) fclose(from);
    if (from && ok && !is_whole(out)) {
        (void) fprintf(stderr, "%s: a setting or a step does not suit the structure\n", path);
        ok = false;
    }
    return from != NULL && ok;
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

struct outcome sequence_play(struct test *t, const struct sequence *s)
{
    return s->subject == STRING_DICT ? string_sequence_run(t, s, NULL) : sequence_run(t, s, NULL);
}

static bool still_fails(struct test *t, const struct sequence *s, struct outcome *outcome)
{
    const struct outcome o = sequence_play(t, s);

    if (o.failed)
        *outcome = o;
    return o.failed;
}

/* A copy without n steps from `at` on. */
static struct sequence without(const struct sequence *s, size_t at, size_t n)
{
    struct sequence shorter = *s;

    memmove(&shorter.step[at], &shorter.step[at + n], (s->n_steps - at - n) * sizeof *s->step);
    shorter.n_steps -= n;
    return shorter;
}

static void shrink_steps(struct test *t, struct sequence *s, struct outcome *outcome, time_t end)
{
    for (size_t n = s->n_steps / 2; n > 0; n /= 2)
        for (size_t at = 0; at + n <= s->n_steps && time(NULL) < end;) {
            const struct sequence shorter = without(s, at, n);
            if (still_fails(t, &shorter, outcome))
                *s = shorter;
            else
                at += n;
        }
}

static void shrink_counts(struct test *t, struct sequence *s, struct outcome *outcome, time_t end)
{
    for (size_t i = 0; i < s->n_steps; i++)
        for (uint32_t part = 2; part <= 16; part *= 2)
            while (s->step[i].count > 1 && time(NULL) < end) {
                struct sequence smaller = *s;
                smaller.step[i].count -= (smaller.step[i].count + part - 1) / part;
                if (!still_fails(t, &smaller, outcome))
                    break;
                *s = smaller;
            }
}

void sequence_shrink(struct test *t, struct sequence *s, struct outcome *outcome)
{
    const time_t end = time(NULL) + 30;

    s->n_steps = outcome->step + 1;
    shrink_steps(t, s, outcome, end);
    shrink_counts(t, s, outcome, end);
    s->n_steps = outcome->step + 1 < s->n_steps ? outcome->step + 1 : s->n_steps;
}

void sequence_fail(struct test *t, const struct sequence *s, const struct outcome *outcome)
{
    struct sequence small = *s;
    struct outcome  last = *outcome;

    (void) fprintf(stderr, "%s\n    trying: %s\n    shrinking the sequence ...\n", outcome->what, t->context);
    sequence_shrink(t, &small, &last);
    (void) fprintf(stderr, "---- a file for tests/replay: its last step fails\n# %s\n", last.what);
    sequence_print(stderr, &small);
    (void) fprintf(stderr, "----\n");
    (void) still_fails(t, &small, &last); /* sets the context */
    test_fail(t, __FILE__, __LINE__, "%s", last.what);
}

void sequence_pass(struct test *t, const struct sequence *s)
{
    const struct outcome o = sequence_play(t, s);

    if (o.failed)
        sequence_fail(t, s, &o);
}
