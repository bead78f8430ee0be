/* SPDX-License-Identifier: Apache-2.0 */
#include "directories.h"

#include <stdlib.h>
#include <string.h>

/* ---- ids ----------------------------------------------------------------------------------------------------- */

bool sorted_number(const struct string_column *column, const uint32_t *order, struct sorted_strings *out)
{
    *out = (struct sorted_strings) { .column = column,
                                     .rows = malloc(column->count * sizeof *out->rows + 1),
                                     .ids = malloc(column->count * sizeof *out->ids + 1) };
    for (size_t i = 0; out->rows && out->ids && i < column->count; i++) {
        const struct string_view string = string_at(column, order[i]);
        if (i == 0 || string_order(string_at(column, order[i - 1]), string) != 0)
            out->rows[out->count++] = order[i];
        out->ids[order[i]] = (uint32_t) out->count - 1;
    }
    return out->rows && out->ids;
}

void sorted_free(struct sorted_strings *sorted)
{
    free(sorted->rows);
    free(sorted->ids);
    *sorted = (struct sorted_strings) { 0 };
}

/* ---- directories --------------------------------------------------------------------------------------------- */

static struct string_view string_of(const struct sorted_strings *sorted, size_t id)
{
    return string_at(sorted->column, sorted->rows[id]);
}

/* Whether the first `length` bytes are the name of a directory. Depends on no later byte. */
static bool is_name(struct string_view string, size_t length, bool slashes)
{
    if (slashes)
        return string.at[length - 1] == '/';
    return length <= 2 && (string.at[0] & 0x80) == 0 && (string.at[length - 1] & 0x80) == 0;
}

static size_t common_bytes(struct string_view a, struct string_view b)
{
    size_t bytes = 0;
    while (bytes < a.bytes && bytes < b.bytes && a.at[bytes] == b.at[bytes])
        bytes++;
    return bytes;
}

static bool append(struct directories *to, size_t *room, struct directory directory)
{
    if (to->count == *room) {
        *room = *room ? 2 * *room : 1024;
        struct directory *more = realloc(to->directory, *room * sizeof *more);
        if (!more)
            return false;
        to->directory = more;
    }
    to->directory[to->count++] = directory;
    return true;
}

/* Leaves directories that string `id` is not in. Returns the innermost other one. */
static uint32_t leave(struct directories *in, uint32_t open, size_t common, size_t id)
{
    while (open != NO_DIRECTORY && in->directory[open].length > common) {
        in->directory[open].under = (uint32_t) id - in->directory[open].first;
        open = in->directory[open].parent;
    }
    return open;
}

/* Keeps large directories. A parent has a lesser number. */
static void keep(struct directories *in)
{
    for (struct directory *d = in->directory; d < in->directory + in->count; d++)
        d->kept = d->under >= in->least       ? (uint32_t) in->n_kept++
                  : d->parent != NO_DIRECTORY ? in->directory[d->parent].kept
                                              : NO_DIRECTORY;
}

bool directories_find(const struct sorted_strings *sorted, bool slashes, uint32_t least, struct directories *out)
{
    size_t   room = 0;
    uint32_t open = NO_DIRECTORY;
    *out = (struct directories) { .sorted = sorted, .least = least };
    out->innermost = malloc(sorted->count * sizeof *out->innermost + 1);
    for (size_t id = 0; out->innermost && id < sorted->count; id++) {
        const struct string_view string = string_of(sorted, id);
        const size_t             common = id ? common_bytes(string_of(sorted, id - 1), string) : 0;
        open = leave(out, open, common, id);
        for (size_t length = common + 1; length <= string.bytes; length++) {
            if (!is_name(string, length, slashes))
                continue;
            if (!append(out, &room, (struct directory) { (uint32_t) id, 0, (uint32_t) length, open, NO_DIRECTORY }))
                return false;
            open = (uint32_t) out->count - 1;
        }
        out->innermost[id] = open;
    }
    leave(out, open, 0, sorted->count);
    keep(out);
    return out->innermost;
}

void directories_free(struct directories *directories)
{
    free(directories->directory);
    free(directories->innermost);
    *directories = (struct directories) { 0 };
}

struct string_view directory_name(const struct directories *directories, size_t d)
{
    const struct directory *directory = &directories->directory[d];
    return (struct string_view) { string_of(directories->sorted, directory->first).at, directory->length };
}

bool directories_names(const struct directories *directories, bool kept, struct string_column *out)
{
    size_t bytes = 0;
    for (size_t d = 0; d < directories->count; d++)
        bytes += directories->directory[d].length;
    *out = (struct string_column) { .offset_bytes = bytes > UINT32_MAX ? 8 : 4 };
    out->offsets = calloc(directories->count + 1, out->offset_bytes);
    out->bytes = malloc(bytes + 1);
    for (size_t d = 0; out->offsets && out->bytes && d < directories->count; d++) {
        const struct string_view name = directory_name(directories, d);
        if (kept && directories->directory[d].under < directories->least)
            continue;
        memcpy(out->bytes + out->n_bytes, name.at, name.bytes);
        out->n_bytes += name.bytes;
        set_element(out->offsets, out->offset_bytes, ++out->count, out->n_bytes);
    }
    return out->offsets && out->bytes;
}

/* Whether directory a comes before b in the list of the largest. */
static bool is_larger(const struct directories *directories, uint32_t a, uint32_t b)
{
    const uint32_t under_a = directories->directory[a].under, under_b = directories->directory[b].under;
    return under_a != under_b ? under_a > under_b : a < b;
}

static int ascending(const void *a_, const void *b_)
{
    const uint32_t a = *(const uint32_t *) a_, b = *(const uint32_t *) b_;
    return a < b ? -1 : a > b;
}

size_t directories_largest(const struct directories *directories, size_t most, uint32_t *out)
{
    size_t n = 0;
    for (uint32_t d = 0; d < directories->count; d++) {
        size_t place = n;
        while (place > 0 && is_larger(directories, d, out[place - 1]))
            place--;
        if (place == most)
            continue;
        n += n < most;
        memmove(out + place + 1, out + place, (n - 1 - place) * sizeof *out);
        out[place] = d;
    }
    qsort(out, n, sizeof *out, ascending);
    return n;
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

void check_words(const struct string_column *asked, const uint32_t *want, const uint32_t *got, struct verdict *verdict)
{
    for (size_t i = 0; i < asked->count; i++) {
        if (got[i] == want[i])
            continue;
        const struct string_view string = string_at(asked, i);
        because(verdict->example, "%u for %.*s", got[i], string.bytes < 200 ? (int) string.bytes : 200, string.at);
        verdict->wrong++;
    }
    verdict->checked += asked->count;
}
