/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* qsort_r */
#include "string_keys.h"

#include "bench/common/threads.h"
#include "key_file.h"
#include "keys.h"

#include "ordo/strings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------------------------------------------- */

struct string_view string_at(const struct string_column *column, size_t i)
{
    const size_t from = (size_t) element(column->offsets, column->offset_bytes, i);
    return (struct string_view) { column->bytes + from,
                                  (size_t) element(column->offsets, column->offset_bytes, i + 1) - from };
}

int string_order(struct string_view a, struct string_view b)
{
    const int order = memcmp(a.at, b.at, a.bytes < b.bytes ? a.bytes : b.bytes);
    return order ? order : a.bytes < b.bytes ? -1 : a.bytes > b.bytes;
}

struct maker;
/* Writes string i unless `to` is NULL. Returns its bytes. */
typedef size_t (*put_fn)(const struct maker *maker, size_t i, char *to);

struct maker {
    const struct spec          *spec;
    const struct string_column *column; /* for queries */
    const uint32_t             *order;  /* of lines */
    const uint64_t             *sorted; /* STRINGS_VALUES: a number for each string */
    size_t                      digits; /* STRINGS_VALUES: bytes of a string that depend on the number directly */
    put_fn                      put;
    struct string_column       *out;
};

static void measure_one(void *maker_, size_t i)
{
    const struct maker *maker = maker_;
    set_element(maker->out->offsets, maker->out->offset_bytes, i + 1, maker->put(maker, i, NULL));
}

static void write_one(void *maker_, size_t i)
{
    struct maker *maker = maker_;
    const size_t  from = (size_t) element(maker->out->offsets, maker->out->offset_bytes, i);
    maker->put(maker, i, maker->out->bytes + from);
}

/* most: upper bound of all bytes. */
static bool make_column(struct maker *maker, size_t count, size_t most)
{
    struct string_column *out = maker->out;
    out->count = count;
    out->offset_bytes = most > UINT32_MAX ? 8 : 4;
    out->offsets = calloc(count + 1, out->offset_bytes);
    if (!out->offsets)
        return false;
    for_each(count, measure_one, maker);
    for (size_t i = 0; i < count; i++) {
        out->n_bytes += (size_t) element(out->offsets, out->offset_bytes, i + 1);
        set_element(out->offsets, out->offset_bytes, i + 1, out->n_bytes);
    }
    out->bytes = malloc(out->n_bytes + 1);
    if (out->bytes)
        for_each(count, write_one, maker);
    return out->bytes;
}

void strings_free(struct string_column *column)
{
    free(column->offsets);
    free(column->bytes);
    *column = (struct string_column) { 0 };
}

/* ---- lines of a file ----------------------------------------------------------------------------------------- */

static bool list_lines(struct string_lines *lines, size_t bytes, char *why)
{
    if (bytes > 0 && lines->text[bytes - 1] != '\n')
        lines->text[bytes++] = '\n';
    for (size_t i = 0; i < bytes; i++)
        lines->count += lines->text[i] == '\n';
    if (lines->count == 0)
        return because(why, "%.300s is empty: its lines are the keys", lines->path);
    if (lines->count > ORDO_MAX_COUNT)
        return because(why, "%.300s has %zu lines, more than %zu", lines->path, lines->count, ORDO_MAX_COUNT);
    lines->starts = calloc(lines->count + 1, sizeof *lines->starts);
    if (!lines->starts)
        return because(why, "%.300s: out of memory", lines->path);
    lines->bytes = bytes;
    for (size_t i = 0, line = 0; i < bytes; i++)
        if (lines->text[i] == '\n') {
            lines->starts[++line] = i + 1;
            const size_t length = i - lines->starts[line - 1];
            lines->longest = length > lines->longest ? length : lines->longest;
        }
    return true;
}

struct string_lines *lines_read(const char *path, char *why)
{
    size_t               bytes = 0;
    struct string_lines *lines = calloc(1, sizeof *lines);
    if (!lines) {
        because(why, "out of memory");
        return NULL;
    }
    lines->path = path;
    lines->text = file_bytes(path, &bytes, why);
    if (lines->text && list_lines(lines, bytes, why))
        return lines;
    lines_free(lines);
    return NULL;
}

void lines_free(struct string_lines *lines)
{
    free(lines->text);
    free(lines->starts);
    free(lines);
}

/* ---- shapes -------------------------------------------------------------------------------------------------- */

#define RANDOM_BYTES 64
#define FEW_BYTES    32
#define URL_MAX      96
#define PHONE_BYTES  15
#define LEVELS       16
#define LEVEL_BYTES  8
#define LEAF_BYTES   9
#define DEEP_BYTES   (LEVELS * LEVEL_BYTES + LEAF_BYTES)

static size_t put_random(const struct maker *maker, size_t i, char *to)
{
    for (size_t word = 0; to && word < RANDOM_BYTES / 8; word++) {
        const uint64_t bits = draw(maker->spec->seed, i * (RANDOM_BYTES / 8) + word);
        memcpy(to + 8 * word, &bits, 8);
    }
    return RANDOM_BYTES;
}

/* Each byte is "a" or "b". */
static size_t put_few(const struct maker *maker, size_t i, char *to)
{
    const uint64_t bits = draw(maker->spec->seed, i);
    for (size_t b = 0; to && b < FEW_BYTES; b++)
        to[b] = (char) ('a' + (bits >> b & 1));
    return FEW_BYTES;
}

static size_t put_url(const struct maker *maker, size_t i, char *to)
{
    static const char *const words[16] = { "news",     "shop",    "images", "wiki",  "docs",   "mail",
                                           "forum",    "archive", "static", "users", "search", "topics",
                                           "products", "api",     "blog",   "media" };
    char                     text[URL_MAX];
    const uint64_t           bits = draw(maker->spec->seed, i);
    const int bytes = snprintf(text, sizeof text, "https://www.%s%u.com/%s/%s/%s-%u.html", words[bits & 15],
                               (unsigned) (bits >> 4 & 63), words[bits >> 10 & 15], words[bits >> 14 & 15],
                               words[bits >> 18 & 15], (unsigned) (bits >> 22 & 0xffffff));
    if (to)
        memcpy(to, text, (size_t) bytes);
    return (size_t) bytes;
}

/* A path of LEVELS folders with one or two folders in each, so neighbours share most of it. */
static size_t put_deep(const struct maker *maker, size_t i, char *to)
{
    const uint64_t bits = draw(maker->spec->seed, i), leaf = draw(maker->spec->seed + 1, i);
    for (size_t level = 0; to && level < LEVELS; level++, to += LEVEL_BYTES) {
        memcpy(to, "/folder", LEVEL_BYTES - 1);
        to[LEVEL_BYTES - 1] = (char) ('a' + ((bits >> 2 * level & 3) == 3));
    }
    for (size_t digit = 0; to && digit < LEAF_BYTES; digit++)
        to[digit] = digit ? "0123456789abcdef"[leaf >> 4 * digit & 15] : '/';
    return DEEP_BYTES;
}

/* Bytes of a string of few values that tell any two 64-bit numbers apart: the digits of a fraction of 2^64. */
static size_t digits_of(uint32_t values)
{
    size_t digits = 0;
    for (double bits = 0; bits < 64; digits++)
        bits += log2(values);
    return digits;
}

/* The digits of sorted[i] / 2^64 to the base `byte_values`, so strings have the order of numbers. More bytes are digits
 * of a random number that depends on sorted[i]. */
static size_t put_values(const struct maker *maker, size_t i, char *to)
{
    const struct spec *spec = maker->spec;
    const uint32_t     values = spec->byte_values;
    uint64_t           rest = maker->sorted[i];
    for (size_t b = 0; to && b < spec->key_bytes; b++) {
        if (b && b % maker->digits == 0)
            rest = draw(spec->seed + b, maker->sorted[i]);
        const uint64_t low = (rest & UINT32_MAX) * values, high = (rest >> 32) * values + (low >> 32);
        to[b] = (char) ((values <= 64 ? '0' : 0) + (high >> 32));
        rest = high << 32 | (low & UINT32_MAX);
    }
    return spec->key_bytes;
}

/* TPC-H, clause 4.2.2.9, as dbgen: a nation's number (0 to 24) plus 10, and three local numbers. */
static size_t put_phone(const struct maker *maker, size_t i, char *to)
{
    char           text[PHONE_BYTES + 1];
    const uint64_t a = draw(maker->spec->seed, 2 * i), b = draw(maker->spec->seed, 2 * i + 1);
    snprintf(text, sizeof text, "%02u-%03u-%03u-%04u", (unsigned) (10 + (a >> 32) % 25),
             (unsigned) (100 + (a & UINT32_MAX) % 900), (unsigned) (100 + (b >> 32) % 900),
             (unsigned) (1000 + (b & UINT32_MAX) % 9000));
    if (to)
        memcpy(to, text, PHONE_BYTES);
    return PHONE_BYTES;
}

static size_t put_line(const struct maker *maker, size_t i, char *to)
{
    const struct string_lines *lines = maker->spec->lines;
    const size_t               line = maker->order[i], from = lines->starts[line];
    const size_t               bytes = lines->starts[line + 1] - from - 1;
    if (to)
        memcpy(to, lines->text + from, bytes);
    return bytes;
}

static size_t longest_of(const struct spec *spec)
{
    static const size_t longest[] = { RANDOM_BYTES, FEW_BYTES, URL_MAX, DEEP_BYTES, 0, PHONE_BYTES };
    return spec->variant == STRINGS_FILE     ? spec->lines->longest
           : spec->variant == STRINGS_VALUES ? spec->key_bytes
                                             : longest[spec->variant];
}

size_t strings_bytes(const struct spec *spec)
{
    return spec->variant == STRINGS_FILE ? spec->lines->bytes : spec->count * longest_of(spec);
}

size_t queries_bytes(const struct spec *spec)
{
    return spec->n_queries * (longest_of(spec) + 1);
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

static struct string_view any_string(const struct maker *maker, size_t i)
{
    return string_at(maker->column, (size_t) (draw(maker->spec->seed + 8, i) % maker->column->count));
}

/* A changed byte becomes an end of line, because it is in no line and in few other strings. */
static size_t put_find(const struct maker *maker, size_t i, char *to)
{
    const struct string_view string = any_string(maker, i);
    const bool               hit = draw(maker->spec->seed + 9, i) % 100 < maker->spec->hit_percent;
    const size_t             bytes = string.bytes ? string.bytes : !hit;
    if (to)
        memcpy(to, string.at, string.bytes);
    if (to && !hit)
        to[draw(maker->spec->seed + 10, i) % bytes] = '\n';
    return bytes;
}

static size_t put_prefix(const struct maker *maker, size_t i, char *to)
{
    const struct string_view string = any_string(maker, i);
    const size_t             bytes = string.bytes ? 1 + (size_t) (draw(maker->spec->seed + 9, i) % string.bytes) : 0;
    if (to)
        memcpy(to, string.at, bytes);
    return bytes;
}

bool strings_make(const struct spec *spec, struct string_column *column, struct string_column *asked)
{
    static const put_fn puts[] = { put_random, put_few, put_url, put_deep, put_values, put_phone, put_line };
    struct maker        maker = { .spec = spec, .put = puts[spec->variant], .out = column };
    uint32_t           *order = NULL;
    uint64_t           *sorted = NULL;
    *column = *asked = (struct string_column) { 0 };
    if (spec->variant == STRINGS_FILE) {
        maker.order = order = malloc(spec->lines->count * sizeof *order);
        if (!order)
            return false;
        numbers_shuffle(spec->seed, spec->lines->count, order);
    }
    if (spec->variant == STRINGS_VALUES) {
        maker.digits = digits_of(spec->byte_values);
        maker.sorted = sorted = malloc((spec->count + 1) * sizeof *sorted);
        if (!sorted || !keys_draw_sorted(ORDO_U64, UNIFORM, spec->seed, spec->count, sorted)) {
            free(sorted);
            return false;
        }
    }
    bool made = make_column(&maker, spec->count, strings_bytes(spec));
    free(order);
    free(sorted);
    if (made && workload_has_queries(spec->workload)) {
        const put_fn put = workload_asks_strings(spec->workload) ? put_find : put_prefix;
        struct maker queries = { .spec = spec, .column = column, .put = put, .out = asked };
        made = make_column(&queries, spec->n_queries, queries_bytes(spec));
    }
    return made;
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

struct check;
/* Whether element i is right. Writes the reason unless `why` is NULL. */
typedef bool (*right_fn)(const struct check *check, size_t i, char *why);

struct check {
    const struct string_column *column, *asked;
    const struct string_answer *answer;
    const uint32_t             *erased; /* content_right */
    size_t                      n_erased;
    right_fn                    right_at;
    size_t                      first_wrong[MAX_PARTS]; /* SIZE_MAX: none */
};

static void check_span(void *check_, size_t from, size_t to, int part)
{
    struct check *check = check_;
    while (from < to && check->right_at(check, from, NULL))
        from++;
    check->first_wrong[part] = from < to ? from : SIZE_MAX;
}

static bool check_all(struct check *check, size_t count, right_fn right_at, char *why)
{
    check->right_at = right_at;
    const int parts = for_spans(count, check_span, check);
    for (int p = 0; p < parts; p++)
        if (check->first_wrong[p] != SIZE_MAX)
            return right_at(check, check->first_wrong[p], why);
    return true;
}

static bool is_permutation(const uint32_t *rows, size_t count, char *why)
{
    uint8_t *seen = calloc(count + 1, 1);
    if (!seen)
        return because(why, "no memory to check the results");
    size_t i = 0;
    while (i < count && rows[i] < count && !seen[rows[i]])
        seen[rows[i++]] = 1;
    free(seen);
    return i == count || because(why, "rows[%zu] = %u is out of range, or appears twice", i, rows[i]);
}

static bool row_right_at(const struct check *check, size_t i, char *why)
{
    const uint32_t *rows = check->answer->rows;
    if (i == 0)
        return true;
    const int order = string_order(string_at(check->column, rows[i - 1]), string_at(check->column, rows[i]));
    return order < 0 || (order == 0 && rows[i - 1] < rows[i]) ||
           because(why, "rows[%zu] = %u must not follow row %u", i, rows[i], rows[i - 1]);
}

static struct string_view string_of_id(const struct check *check, size_t id)
{
    return string_at(check->column, check->answer->rows_of_ids[id]);
}

static bool id_right_at(const struct check *check, size_t id, char *why)
{
    const uint32_t *rows = check->answer->rows_of_ids;
    if (rows[id] >= check->column->count || (id && rows[id - 1] >= check->column->count))
        return because(why, "the row of id %zu is out of range", id);
    return id == 0 || string_order(string_of_id(check, id - 1), string_of_id(check, id)) < 0 ||
           because(why, "the string of id %zu is not less than that of id %zu", id - 1, id);
}

static bool row_has_id_at(const struct check *check, size_t row, char *why)
{
    const uint32_t id = check->answer->ids_of_rows[row];
    if (id >= check->answer->ids)
        return because(why, "row %zu has id %u of %zu ids", row, id, check->answer->ids);
    return (check->answer->rows_of_ids[id] <= row &&
            string_order(string_at(check->column, row), string_of_id(check, id)) == 0) ||
           because(why, "row %zu has id %u, which is another string or has a later row", row, id);
}

/* Whether the index has an id for each different string, in order. */
static bool index_right(struct check *check, char *why)
{
    return check->answer->ids <= check->column->count
               ? check_all(check, check->answer->ids, id_right_at, why) &&
                     check_all(check, check->column->count, row_has_id_at, why)
               : because(why, "%zu ids of %zu rows", check->answer->ids, check->column->count);
}

/* ---- content of dictionaries --------------------------------------------------------------------------------- */

static int order_of_erased(const void *a, const void *b, void *column)
{
    return string_order(string_at(column, *(const uint32_t *) a), string_at(column, *(const uint32_t *) b));
}

/* Whether a string is among the erased rows, which are sorted. */
static bool is_erased(const struct check *check, struct string_view string)
{
    size_t from = 0, to = check->n_erased;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int    order = string_order(string_at(check->column, check->erased[middle]), string);
        if (order == 0)
            return true;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

static bool row_is_kept_at(const struct check *check, size_t row, char *why)
{
    const uint32_t           id = check->answer->ids_of_rows[row];
    const struct string_view string = string_at(check->column, row);
    const bool               erased = check->n_erased && is_erased(check, string);
    if (erased || id == ORDO_NO_ID)
        return (erased && id == ORDO_NO_ID) ||
               because(why, "the string of row %zu is %s", row, erased ? "not erased" : "missing");
    return (id < check->answer->ids && check->answer->rows_of_ids[id] >= row &&
            string_order(string, string_of_id(check, id)) == 0) ||
           because(why, "row %zu has rank %u, which is another string or has the value of an earlier row", row, id);
}

/* Whether the dictionary has each string that is not erased, in order, with its last row. */
static bool content_right(struct check *check, size_t n_erased, char *why)
{
    uint32_t *erased = malloc((n_erased + 1) * sizeof *erased);
    if (!erased)
        return because(why, "no memory to check the results");
    for (size_t row = 0; row < n_erased; row++)
        erased[row] = (uint32_t) row;
    union { /* Removes const. The comparison only reads. */
        const struct string_column *is;
        void                       *as;
    } column = { check->column };
    qsort_r(erased, n_erased, sizeof *erased, order_of_erased, column.as);
    check->erased = erased;
    check->n_erased = n_erased;
    const bool right = (check->answer->ids <= check->column->count ||
                        because(why, "%zu strings of %zu rows", check->answer->ids, check->column->count)) &&
                       check_all(check, check->answer->ids, id_right_at, why) &&
                       check_all(check, check->column->count, row_is_kept_at, why);
    free(erased);
    return right;
}

/* ---- queries ------------------------------------------------------------------------------------------------- */

static bool is_stored(const struct check *check, struct string_view query)
{
    size_t from = 0, to = check->answer->ids;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (string_order(string_of_id(check, middle), query) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < check->answer->ids && string_order(string_of_id(check, from), query) == 0;
}

static bool find_right_at(const struct check *check, size_t i, char *why)
{
    const struct string_view query = string_at(check->asked, i);
    const uint32_t           id = check->answer->found[i];
    if (id == ORDO_NO_ID)
        return !is_stored(check, query) || because(why, "query %zu is not found, but it is stored", i);
    return (id < check->answer->ids && string_order(string_of_id(check, id), query) == 0) ||
           because(why, "query %zu has id %u, which is another string", i, id);
}

static bool value_right_at(const struct check *check, size_t i, char *why)
{
    const struct string_view query = string_at(check->asked, i);
    const uint32_t           row = check->answer->found[i];
    if (row == (uint32_t) POISON_WORD)
        return !is_stored(check, query) || because(why, "query %zu is not found, but it is stored", i);
    return (row < check->column->count && check->answer->rows_of_ids[check->answer->ids_of_rows[row]] == row &&
            string_order(string_at(check->column, row), query) == 0) ||
           because(why, "query %zu has value %u, which is not its last row", i, row);
}

static bool rank_right_at(const struct check *check, size_t i, char *why)
{
    const struct string_view query = string_at(check->asked, i);
    const size_t             ids = check->answer->ids, rank = check->answer->found[i];
    return (rank <= ids && (rank == 0 || string_order(string_of_id(check, rank - 1), query) < 0) &&
            (rank == ids || string_order(string_of_id(check, rank), query) >= 0)) ||
           because(why, "query %zu has rank %zu of %zu, which is wrong", i, rank, ids);
}

/* Negative: the string comes before all with the prefix; 0: it has the prefix. */
static int prefix_compare(struct string_view string, struct string_view prefix)
{
    const int order = memcmp(string.at, prefix.at, string.bytes < prefix.bytes ? string.bytes : prefix.bytes);
    return order ? order : string.bytes < prefix.bytes ? -1 : 0;
}

static bool prefix_right_at(const struct check *check, size_t i, char *why)
{
    const struct string_view prefix = string_at(check->asked, i);
    const size_t             ids = check->answer->ids, first = check->answer->found[i];
    const size_t             count = check->answer->counts[i], end = first + count;
    if (end > ids)
        return because(why, "prefix %zu has %zu strings from id %zu of %zu ids", i, count, first, ids);
    if ((first > 0 && prefix_compare(string_of_id(check, first - 1), prefix) >= 0) ||
        (end < ids && prefix_compare(string_of_id(check, end), prefix) <= 0))
        return because(why, "prefix %zu: its %zu strings from id %zu are not all", i, count, first);
    return count == 0 ||
           (prefix_compare(string_of_id(check, first), prefix) == 0 &&
            prefix_compare(string_of_id(check, end - 1), prefix) == 0) ||
           because(why, "prefix %zu: of %zu strings from id %zu not all have it", i, count, first);
}

bool strings_check(const struct spec *spec, const struct string_column *column, const struct string_column *asked,
                   const struct string_answer *answer, char *why)
{
    struct check check = { .column = column, .asked = asked, .answer = answer };
    if (spec->workload == SORTSTRINGS)
        return is_permutation(answer->rows, column->count, why) && check_all(&check, column->count, row_right_at, why);
    if (workload_is_string_dict(spec->workload) ? !content_right(&check, spec_erased_strings(spec), why)
                                                : !index_right(&check, why))
        return false;
    return !workload_has_queries(spec->workload) || check_all(&check, spec->n_queries,
                                                              spec->workload == FINDSTRINGS   ? find_right_at
                                                              : spec->workload == GETSTRINGS  ? value_right_at
                                                              : spec->workload == RANKSTRINGS ? rank_right_at
                                                                                              : prefix_right_at,
                                                              why);
}
