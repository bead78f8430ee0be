/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and checks of workloads of strings on the host. Right answers pass, and each kind of wrong answer fails. */
#include "bench/workload/inputs.h"

#include "ordo/strings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Odd, and large enough for several threads. */
#define COUNT   ((size_t) 20011)
#define QUERIES ((size_t) 5003)

static char *lines_path; /* of a file with COUNT lines, some of them equal or empty */

static void make_lines(void)
{
    char      path[] = "/tmp/ordo-lines-XXXXXX";
    const int descriptor = mkstemp(path);
    cr_assert(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    for (size_t i = 0; i < COUNT; i++)
        (void) (i % 9 ? fprintf(file, "/%zu/%zu\n", i % 100, i % 9000) : fputc('\n', file));
    (void) fclose(file);
    lines_path = strdup(path);
}

static void remove_lines(void)
{
    unlink(lines_path);
    free(lines_path);
}

TestSuite(string_keys, .init = make_lines, .fini = remove_lines);

/* ---- a right answer, by qsort -------------------------------------------------------------------------------- */

struct outputs {
    uint32_t rows[COUNT], rows_of_ids[COUNT], ids_of_rows[COUNT], found[QUERIES], counts[QUERIES];
    size_t   ids;
};

static const struct string_column *sorted_column;

static int by_string_then_row(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    const int      order = string_order(string_at(sorted_column, x), string_at(sorted_column, y));
    return order ? order : x < y ? -1 : x > y;
}

static void answer_query(const struct spec *spec, const struct inputs *in, struct outputs *out, size_t i)
{
    const struct string_view query = string_at(&in->asked, i);
    uint32_t                 id = 0, end = (uint32_t) out->ids;
    while (id < end) {
        const uint32_t middle = id + (end - id) / 2;
        if (string_order(string_at(&in->strings, out->rows_of_ids[middle]), query) < 0)
            id = middle + 1;
        else
            end = middle;
    }
    for (end = id; end < out->ids; end++) {
        const struct string_view string = string_at(&in->strings, out->rows_of_ids[end]);
        if (string.bytes < query.bytes || memcmp(string.at, query.at, query.bytes) != 0)
            break;
    }
    const bool equal = id < out->ids && string_order(string_at(&in->strings, out->rows_of_ids[id]), query) == 0;
    if (spec->workload == GETSTRINGS)
        out->found[i] = equal ? out->rows_of_ids[id] : (uint32_t) POISON_WORD;
    else
        out->found[i] = spec->workload != FINDSTRINGS || equal ? id : ORDO_NO_ID;
    out->counts[i] = end - id;
}

static void answer_right(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    sorted_column = &in->strings;
    out->ids = 0;
    for (uint32_t row = 0; row < COUNT; row++)
        out->rows[row] = row;
    qsort(out->rows, COUNT, sizeof *out->rows, by_string_then_row);
    for (size_t i = 0, next; i < COUNT; i = next) {
        const uint32_t *rows = out->rows + i;
        next = i + 1;
        while (next < COUNT &&
               string_order(string_at(&in->strings, rows[0]), string_at(&in->strings, out->rows[next])) == 0)
            next++;
        const bool     erased = rows[0] < spec_erased_strings(spec); /* equal rows ascend */
        const uint32_t id = erased ? ORDO_NO_ID : (uint32_t) out->ids;
        for (size_t k = i; k < next; k++)
            out->ids_of_rows[out->rows[k]] = id;
        if (!erased)
            out->rows_of_ids[out->ids++] = workload_is_string_dict(spec->workload) ? out->rows[next - 1] : rows[0];
    }
    for (size_t i = 0; i < spec->n_queries; i++)
        answer_query(spec, in, out, i);
}

static bool passes(const struct spec *spec, const struct inputs *in, const struct outputs *out, char *why)
{
    const struct answer answer = { .strings = { out->rows, out->ids, out->rows_of_ids, out->ids_of_rows, out->found,
                                                out->counts } };
    return answer_check(spec, in, &answer, false, why);
}

static struct spec spec_of(enum workload workload, int shape, const struct string_lines *lines)
{
    return (struct spec) { .workload = workload,
                           .variant = shape,
                           .count = COUNT,
                           .n_queries = workload_has_queries(workload) ? QUERIES : 0,
                           .hit_percent = 50,
                           .key_bytes = 24,
                           .byte_values = 10,
                           .lines = shape == STRINGS_FILE ? lines : NULL,
                           .seed = 3 };
}

static void for_each_spec(void (*body)(const struct spec *spec, const struct inputs *in, struct outputs *out))
{
    char                 why[WHY_BYTES] = "";
    struct outputs      *out = malloc(sizeof *out);
    struct string_lines *lines = lines_read(lines_path, why);
    cr_assert(lines, "%s", why);
    for (enum workload w = SORTSTRINGS; w <= COUNTSTRINGS; w++)
        for (int shape = 0; variant_name(w, shape); shape++) {
            const struct spec spec = spec_of(w, shape, lines);
            struct inputs     in;
            cr_assert(inputs_make(&spec, &in));
            answer_right(&spec, &in, out);
            cr_assert(passes(&spec, &in, out, why), "%s %s: %s", workload_name(w), variant_name(w, shape), why);
            body(&spec, &in, out);
            inputs_free(&in);
        }
    lines_free(lines);
    free(out);
}

/* ---- wrong answers ------------------------------------------------------------------------------------------- */

static void expect_fail(const struct spec *spec, const struct inputs *in, const struct outputs *out, const char *what)
{
    char why[WHY_BYTES] = "";
    cr_expect(!passes(spec, in, out, why), "%s %s: %s", workload_name(spec->workload),
              variant_name(spec->workload, spec->variant), what);
    cr_expect(why[0], "%s: no reason", what);
}

/* Exchanges a number with its neighbour, and back. */
static void exchanged(const struct spec *spec, const struct inputs *in, const struct outputs *out, uint32_t *numbers,
                      const char *what)
{
    const uint32_t first = numbers[0];
    numbers[0] = numbers[1];
    numbers[1] = first;
    expect_fail(spec, in, out, what);
    numbers[1] = numbers[0];
    numbers[0] = first;
}

static void changed(const struct spec *spec, const struct inputs *in, const struct outputs *out, uint32_t *number,
                    uint32_t to, const char *what)
{
    const uint32_t was = *number;
    *number = to;
    expect_fail(spec, in, out, what);
    *number = was;
}

static void wrong_order(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    exchanged(spec, in, out, out->rows + 77, "two rows exchanged");
    changed(spec, in, out, out->rows + COUNT - 1, out->rows[COUNT - 2], "a row twice");
    changed(spec, in, out, out->rows + 5, (uint32_t) COUNT, "a row out of range");
}

static void wrong_index(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const size_t middle = out->ids / 2;
    exchanged(spec, in, out, out->rows_of_ids + middle, "two ids exchanged");
    changed(spec, in, out, out->ids_of_rows + COUNT - 1, (uint32_t) out->ids, "an id out of range");
    changed(spec, in, out, out->ids_of_rows, out->ids_of_rows[0] ? 0 : 1, "the id of another string");
    changed(spec, in, out, out->rows_of_ids + middle, (uint32_t) COUNT, "a first row out of range");
    out->ids--;
    expect_fail(spec, in, out, "one id missing");
    out->ids++;
}

static void wrong_answers(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    const bool finds = workload_asks_strings(spec->workload), ranks = spec->workload == RANKSTRINGS;
    for (size_t i = 0; i < 10; i++) {
        const uint32_t id = out->found[i];
        changed(spec, in, out, out->found + i,
                id == 0                               ? 1
                : finds && !ranks && id != ORDO_NO_ID ? ORDO_NO_ID
                                                      : id - 1,
                "another id");
        changed(spec, in, out, out->found + i, (uint32_t) COUNT + 1, "an id out of range");
        if (finds)
            continue;
        changed(spec, in, out, out->counts + i, out->counts[i] + 1, "one string too many");
        changed(spec, in, out, out->counts + i, out->counts[i] - 1, "one string too few");
    }
}

static void all_wrong(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    if (spec->workload == SORTSTRINGS) {
        wrong_order(spec, in, out);
        return;
    }
    wrong_index(spec, in, out);
    if (workload_has_queries(spec->workload))
        wrong_answers(spec, in, out);
}

Test(string_keys, only_right_answers_pass)
{
    for_each_spec(all_wrong);
}

/* ---- inputs -------------------------------------------------------------------------------------------------- */

static void count_hits(const struct spec *spec, const struct inputs *in, struct outputs *out)
{
    size_t hits = 0;
    (void) in;
    for (size_t i = 0; i < spec->n_queries; i++)
        hits += out->found[i] != ORDO_NO_ID && out->found[i] != (uint32_t) POISON_WORD;
    if (spec->workload == FINDSTRINGS || spec->workload == GETSTRINGS)
        cr_expect(hits > QUERIES * 45 / 100 && hits < QUERIES * 55 / 100, "%s: %zu of %zu hit",
                  variant_name(spec->workload, spec->variant), hits, QUERIES);
}

Test(string_keys, hit_rate_is_kept)
{
    for_each_spec(count_hits);
}

Test(string_keys, lines_are_kept)
{
    char                 why[WHY_BYTES] = "";
    struct string_lines *lines = lines_read(lines_path, why);
    cr_assert(lines, "%s", why);
    cr_expect_eq(lines->count, COUNT);
    const struct spec spec = {
        .workload = SORTSTRINGS, .variant = STRINGS_FILE, .count = lines->count, .lines = lines
    };
    struct inputs in;
    cr_assert(inputs_make(&spec, &in));
    cr_expect_eq(in.strings.n_bytes + lines->count, lines->bytes, "all bytes but the ends of lines");
    inputs_free(&in);
    lines_free(lines);
    cr_expect_null(lines_read("/nowhere/lines", why));
    cr_expect(strstr(why, "/nowhere/lines: No such file"), "%s", why);
}
