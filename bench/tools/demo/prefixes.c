/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "bench/common/device.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"

#include <stdlib.h>

/* A range has at most 62 prefixes. */
#define PREFIXES_MAX 62

struct fixture {
    ordo_device        *device;
    const struct geoip *geoip;
    const uint32_t     *addresses;
    size_t              count;

    uint64_t  *prefixes; /* of all ranges */
    uint32_t  *rows;     /* the range of each */
    size_t     n_prefixes;
    uint64_t  *asked;
    uint32_t  *answered;
    uint8_t   *found;
    ordo_dict *trie;
    cl_mem     on_asked, on_answered, on_found;
    double     seconds;
    size_t     wrong;
};

/* ---- ranges into prefixes ---------------------------------------------------------------------------------------- */

/* The longest prefix from `at` on within the range. */
static unsigned length_from(uint64_t at, uint64_t last)
{
    unsigned length = 32;
    while (length > 0 && (at & ((1ull << (33 - length)) - 1)) == 0 && at + (1ull << (33 - length)) - 1 <= last)
        length--;
    return length;
}

static bool has_room(struct fixture *fixture, size_t *room)
{
    if (fixture->n_prefixes + PREFIXES_MAX <= *room)
        return true;
    const size_t more = *room * 2 + PREFIXES_MAX;
    uint64_t    *prefixes = realloc(fixture->prefixes, more * sizeof *prefixes);
    fixture->prefixes = prefixes ? prefixes : fixture->prefixes;
    uint32_t *rows = realloc(fixture->rows, more * sizeof *rows);
    fixture->rows = rows ? rows : fixture->rows;
    *room = more;
    return prefixes && rows;
}

/* Keys hold IPv4 addresses in the upper half. */
static ordo_status cut(struct fixture *fixture)
{
    size_t room = 0;
    for (size_t row = 0; row < fixture->geoip->count; row++) {
        const uint64_t last = fixture->geoip->last[row];
        if (!has_room(fixture, &room))
            return ORDO_NO_HOST_MEMORY;
        for (uint64_t at = fixture->geoip->first[row]; at <= last;) {
            const unsigned length = length_from(at, last);
            fixture->prefixes[fixture->n_prefixes] = ordo_prefix_u64(at << 32, length);
            fixture->rows[fixture->n_prefixes++] = (uint32_t) row;
            at += 1ull << (32 - length);
        }
    }
    return ORDO_OK;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static ordo_status make_room(struct fixture *fixture)
{
    fixture->asked = malloc(fixture->count * sizeof *fixture->asked);
    fixture->answered = malloc(fixture->count * sizeof *fixture->answered);
    fixture->found = malloc(fixture->count);
    if (!fixture->asked || !fixture->answered || !fixture->found)
        return ORDO_NO_HOST_MEMORY;
    for (size_t i = 0; i < fixture->count; i++)
        fixture->asked[i] = (uint64_t) fixture->addresses[i] << 32;
    TRY(device_buffer(fixture->device, fixture->count * sizeof *fixture->asked, &fixture->on_asked));
    TRY(device_buffer(fixture->device, fixture->count * sizeof *fixture->answered, &fixture->on_answered));
    return device_buffer(fixture->device, fixture->count, &fixture->on_found);
}

static ordo_status ask(struct fixture *fixture)
{
    TRY(ordo_xfast_longest_prefix(fixture->trie, ordo_at(fixture->on_asked, 0), fixture->count, ordo_none(),
                                  ordo_at(fixture->on_answered, 0), ordo_at(fixture->on_found, 0), NULL));
    return ordo_device_finish(fixture->device);
}

/* Runs twice, because the first query computes how prefixes are nested. */
static ordo_status play(struct fixture *fixture)
{
    TRY(cut(fixture));
    TRY(make_room(fixture));
    TRY(ordo_xfast_create(fixture->device, ordo_xfast_config(.dict = { ORDO_U64, 4 }), &fixture->trie));
    TRY(ordo_dict_build_host(fixture->trie, fixture->prefixes, fixture->rows, fixture->n_prefixes));
    TRY(device_write(fixture->device, fixture->on_asked, fixture->asked, fixture->count * sizeof *fixture->asked));
    TRY(ask(fixture));
    const double begin = now();
    TRY(ask(fixture));
    fixture->seconds = now() - begin;
    TRY(device_read(fixture->device, fixture->on_answered, fixture->answered,
                    fixture->count * sizeof *fixture->answered));
    return device_read(fixture->device, fixture->on_found, fixture->found, fixture->count);
}

struct comparison {
    const struct fixture *fixture;
    size_t                wrong[MAX_PARTS];
};

static void compare_span(void *comparison_, size_t from, size_t to, int part)
{
    struct comparison    *comparison = comparison_;
    const struct fixture *fixture = comparison->fixture;
    size_t                wrong = 0;

    for (size_t i = from; i < to; i++) {
        const uint32_t address = fixture->addresses[i];
        const size_t   row = geoip_row(fixture->geoip, address, geoip_rank(fixture->geoip, address));
        wrong += fixture->found[i] ? fixture->answered[i] != row : row != fixture->geoip->count;
    }
    comparison->wrong[part] = wrong;
}

static void compare(struct fixture *fixture)
{
    struct comparison comparison = { .fixture = fixture };
    const int         parts = for_spans(fixture->count, compare_span, &comparison);

    for (int part = 0; part < parts; part++)
        fixture->wrong += comparison.wrong[part];
}

static void show(const struct fixture *fixture, FILE *out, cJSON *json)
{
    char   prefixes[TEXT_BYTES], asked[TEXT_BYTES], time[TEXT_BYTES];
    cJSON *list = cJSON_AddObjectToObject(json, "prefixes");
    text_grouped(prefixes, fixture->n_prefixes);
    text_grouped(asked, fixture->count);
    say(out, 9, "prefixes %s of the ranges; the longest of each of %s addresses in %s, %s a second", prefixes, asked,
        text_seconds(time, fixture->seconds), text_rate(TEXT, (double) fixture->count / fixture->seconds));
    if (fixture->wrong)
        say(out, 7, "WRONG: %zu of %s rows are not those of the range that begins before the address\n", fixture->wrong,
            asked);
    else
        say(out, 4, "ok: all are of the range that begins before the address\n");
    json_exact(list, "prefixes", (double) fixture->n_prefixes);
    json_exact(list, "addresses", (double) fixture->count);
    json_number(list, "seconds", fixture->seconds);
    json_exact(list, "wrong", (double) fixture->wrong);
}

static void close_fixture(struct fixture *fixture)
{
    const cl_mem all[] = { fixture->on_asked, fixture->on_answered, fixture->on_found };
    ordo_dict_destroy(&fixture->trie);
    device_release(all, sizeof all / sizeof *all);
    free(fixture->prefixes);
    free(fixture->rows);
    free(fixture->asked);
    free(fixture->answered);
    free(fixture->found);
}

ordo_status demo_prefixes(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                          FILE *out, cJSON *json, size_t *wrong, char *why)
{
    struct fixture    fixture = { .device = device, .geoip = geoip, .addresses = addresses, .count = count };
    const ordo_status got = device_why(device, play(&fixture), why);
    if (got == ORDO_OK) {
        compare(&fixture);
        show(&fixture, out, json);
        *wrong += fixture.wrong;
    }
    close_fixture(&fixture);
    return got;
}
