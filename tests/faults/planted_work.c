/* SPDX-License-Identifier: Apache-2.0 */
/* Public calls whose results are compared with right ones, on a device that may be miscompiled. */
#include "plants.h"

#include <stdio.h>

/* Results of the public calls, compared with the right ones. */
struct work {
    ordo_device *dev;
    unsigned     kind;
    size_t       n;
    uint32_t    *keys, *values, *out, *queries;
    char         wrong[512];
};

static bool is_wrong(struct work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool is_wrong(struct work *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void) vsnprintf(w->wrong, sizeof w->wrong, format, args);
    va_end(args);
    return false;
}

static bool went_well(struct work *w, const char *what, ordo_status got)
{
    char text[256] = "";
    if (got == ORDO_OK)
        return true;
    (void) ordo_device_last_error(w->dev, text, sizeof text);
    return is_wrong(w, "%s: '%s': %s", what, ordo_status_string(got), text);
}

static uint32_t key_of(size_t i)
{
    uint32_t x = (uint32_t) (i - i % 8 / 7) * 0x9e3779b1u; /* one in eight twice */
    x = (x ^ x >> 15) * 0x85ebca77u;
    return x ^ x >> 13;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static bool scans(struct work *w)
{
    uint32_t sum = 0;
    if (!went_well(
            w, "scan",
            ordo_scan_host(w->dev, &(struct ordo_scan_params) { ORDO_U32, ORDO_SUM, false }, w->keys, w->out, w->n)))
        return false;
    for (size_t i = 0; i < w->n; sum += w->keys[i++])
        if (w->out[i] != sum)
            return is_wrong(w, "scan: element %zu is %u, not %u", i, w->out[i], sum);
    return true;
}

/* Sorts keys into `out`, and their places into `values`. */
static bool sorts(struct work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        w->out[i] = w->keys[i];
        w->values[i] = (uint32_t) i;
    }
    if (!went_well(w, "sort",
                   ordo_sort_host(w->dev, &(struct ordo_sort_params) { .key = ORDO_U32, .value_bytes = 4 }, w->out,
                                  w->values, w->n)))
        return false;
    for (size_t i = 0; i < w->n; i++) {
        if (w->values[i] >= w->n || w->keys[w->values[i]] != w->out[i])
            return is_wrong(w, "sort: pair %zu was not in the input", i);
        if (i > 0 && (w->out[i - 1] > w->out[i] || (w->out[i - 1] == w->out[i] && w->values[i - 1] >= w->values[i])))
            return is_wrong(w, "sort: pair %zu is out of order", i);
    }
    return true;
}

static bool searches(struct work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->queries[i] = w->keys[i] - i % 2;
    if (!went_well(
            w, "search",
            ordo_search_host(w->dev, ordo_search_params(.key = ORDO_U32), w->out, w->n, w->queries, w->n, w->values)))
        return false;
    for (size_t i = 0; i < w->n; i++) {
        const uint32_t rank = w->values[i], query = w->queries[i];
        if (rank > w->n || (rank > 0 && w->out[rank - 1] >= query) || (rank < w->n && w->out[rank] < query))
            return is_wrong(w, "search: the rank of query %zu is not %u", i, rank);
    }
    return true;
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

/* Each of `n` distinct keys must be in the dictionary, with its number as its value. */
static bool holds(struct work *w, ordo_dict *dict, const uint32_t *keys, size_t n)
{
    AUTO_FREE uint8_t *found = test_alloc(n);
    bool               right = went_well(w, "find", ordo_dict_find_host(dict, keys, n, w->values, found));
    for (size_t i = 0; right && i < n; i++)
        if (!found[i] || w->values[i] != i)
            right = is_wrong(w, "dictionary: key %zu is %s", i, found[i] ? "there with another value" : "not there");
    return right;
}

enum { DICT_KEYS = 6000 };

static ordo_status create(const struct work *w, ordo_dict **out)
{
    if (w->kind & CONCURRENT)
        return ordo_blink_create(w->dev, ordo_blink_config(.dict = { ORDO_U32, 4 }), out);
    return ordo_sorted_array_create(w->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 4 }), out);
}

/* Upserts keys `queries` with values `out`. */
static bool upserts(struct work *w, ordo_dict *dict)
{
    if (!(w->kind & CONCURRENT))
        return went_well(w, "upsert", ordo_dict_upsert_host(dict, w->queries, w->out, DICT_KEYS));
    AUTO_FREE uint8_t                      *codes = test_alloc(DICT_KEYS);
    const struct ordo_host_concurrent_batch batch = {
        .codes = codes, .keys = w->queries, .values = w->out, .count = DICT_KEYS
    };
    memset(codes, ORDO_UPSERT, DICT_KEYS);
    return went_well(w, "concurrent batch", ordo_dict_apply_concurrent_host(dict, &batch));
}

static bool is_sound(struct work *w, ordo_dict *dict)
{
    size_t size = 0;

    if (!went_well(w, "check", ordo_dict_check(dict, NULL)) || !went_well(w, "size", ordo_dict_size(dict, NULL, &size)))
        return false;
    return size == DICT_KEYS || is_wrong(w, "dictionary: size %zu", size);
}

/* Builds a dictionary with half of the keys, and upserts all. */
static bool keeps(struct work *w)
{
    AUTO_DICT ordo_dict *dict = NULL;

    for (uint32_t i = 0; i < DICT_KEYS; i++) {
        w->queries[i] = i * 0x9e3779b1u;
        w->out[i] = i;
    }
    return went_well(w, "dictionary", create(w, &dict)) &&
           went_well(w, "build", ordo_dict_build_host(dict, w->queries, w->out, DICT_KEYS / 2)) && upserts(w, dict) &&
           holds(w, dict, w->queries, DICT_KEYS) && is_sound(w, dict);
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

bool works(ordo_device *dev, unsigned kind, char *wrong, size_t room)
{
    struct work w = { .dev = dev, .kind = kind, .n = kind & MANY ? 1100000 : 70001 };
    w.keys = test_alloc(w.n * 4);
    w.values = test_alloc(w.n * 4);
    w.out = test_alloc(w.n * 4);
    w.queries = test_alloc(w.n * 4);
    for (size_t i = 0; i < w.n; i++)
        w.keys[i] = key_of(i);
    const bool right = scans(&w) && sorts(&w) && searches(&w) && keeps(&w);
    (void) snprintf(wrong, room, "%s", w.wrong);
    free(w.keys);
    free(w.values);
    free(w.out);
    free(w.queries);
    return right;
}
