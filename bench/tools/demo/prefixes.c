/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

/* The longest prefix from `at` on within the range. */
static unsigned length_from(uint64_t at, uint64_t last)
{
    unsigned length = 32;
    while (length > 0 && (at & ((1ull << (33 - length)) - 1)) == 0 && at + (1ull << (33 - length)) - 1 <= last)
        length--;
    return length;
}

/* Cuts all ranges into prefixes with their rows (NULL: only counts them). Keys hold IPv4 addresses in the upper
 * half. */
static size_t cut(const struct geoip *geoip, uint64_t *prefixes, uint32_t *rows)
{
    size_t n = 0;
    for (size_t row = 0; row < geoip->count; row++)
        for (uint64_t at = geoip->first[row]; at <= geoip->last[row]; n++) {
            const unsigned length = length_from(at, geoip->last[row]);
            if (prefixes) {
                prefixes[n] = ordo_prefix_u64(at << 32, length);
                rows[n] = (uint32_t) row;
            }
            at += 1ull << (32 - length);
        }
    return n;
}

static ordo_dict *make_trie(const struct demo *demo, size_t n)
{
    uint64_t  *prefixes = room(n * sizeof *prefixes);
    uint32_t  *rows = room(n * sizeof *rows);
    ordo_dict *trie = NULL;
    cut(&demo->geoip, prefixes, rows);
    must(demo, "prefixes", ordo_xfast_create(demo->device, ordo_xfast_config(.dict = { ORDO_U64, 4 }), &trie));
    must(demo, "prefixes", ordo_dict_build_host(trie, prefixes, rows, n));
    free(prefixes);
    free(rows);
    return trie;
}

/* Asks twice, because the first query computes how prefixes are nested. Returns the seconds of the second. */
static double ask(const struct demo *demo, ordo_dict *trie, const cl_mem at[3], size_t count)
{
    double seconds = 0;
    for (int time = 0; time < 2; time++) {
        const double begin = now();
        must(demo, "prefixes",
             ordo_xfast_longest_prefix(trie, ordo_at(at[0], 0), count, ordo_none(), ordo_at(at[1], 0),
                                       ordo_at(at[2], 0), NULL));
        seconds = seconds_since(demo, "prefixes", begin);
    }
    return seconds;
}

void demo_prefixes(struct demo *demo, size_t count)
{
    const size_t   n = cut(&demo->geoip, NULL, NULL);
    ordo_dict     *trie = make_trie(demo, n);
    uint64_t      *keys = room(count * sizeof *keys);
    uint32_t      *rows = room(count * sizeof *rows);
    uint8_t       *found = room(count);
    struct verdict verdict = { 0 };
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t) demo->addresses[i] << 32;
    const cl_mem   at[] = { on_device(demo, count * 8, keys), on_device(demo, count * 4, NULL),
                            on_device(demo, count, NULL) };
    const double   seconds = ask(demo, trie, at, count);
    struct answers answers = { from_device(demo, at[2], found, count), from_device(demo, at[1], rows, count * 4) };
    check_answers(&demo->geoip, ASK_ROW, NULL, demo->addresses, count, &answers, 1, &verdict);

    cJSON *json = cJSON_AddObjectToObject(demo->json, "prefixes");
    json_exact(json, "prefixes", (double) n);
    json_exact(json, "addresses", (double) count);
    json_number(json, "seconds", seconds);
    say(demo->out, 9, "prefixes %s of the ranges; the longest of each of %s addresses in %s, %s a second",
        text_grouped(TEXT, n), text_grouped(TEXT, count), text_seconds(TEXT, seconds),
        text_rate(TEXT, (double) count / seconds));
    if (keep_verdict(demo, &verdict, json))
        say(demo->out, 4, "ok: all are of the range that begins before the address\n");
    ordo_dict_destroy(&trie);
    device_release(at, 3);
    free(keys);
    free(rows);
    free(found);
}
