/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include "bench/common/device.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"

#include "ordo/ordo.h"

#include <stdlib.h>

/* A range of addresses has 62 prefixes at most. */
#define PREFIXES_MOST 62

struct scene {
    ordo_device        *device;
    const struct geoip *geoip;
    const uint32_t     *addresses;
    size_t              count;

    uint64_t  *prefixes; /* of all ranges */
    uint32_t  *rows;     /* which range each is of */
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

/* The longest prefix that begins at an address and does not go past another one. */
static unsigned length_from(uint64_t at, uint64_t last)
{
    unsigned length = 32;
    while (length > 0 && (at & ((1ull << (33 - length)) - 1)) == 0 && at + (1ull << (33 - length)) - 1 <= last)
        length--;
    return length;
}

static bool has_room(struct scene *scene, size_t *room)
{
    if (scene->n_prefixes + PREFIXES_MOST <= *room)
        return true;
    const size_t more = *room * 2 + PREFIXES_MOST;
    uint64_t    *prefixes = realloc(scene->prefixes, more * sizeof *prefixes);
    scene->prefixes = prefixes ? prefixes : scene->prefixes;
    uint32_t *rows = realloc(scene->rows, more * sizeof *rows);
    scene->rows = rows ? rows : scene->rows;
    *room = more;
    return prefixes && rows;
}

/* As keys: IPv4 addresses stand in the upper half. */
static ordo_status cut(struct scene *scene)
{
    size_t room = 0;
    for (size_t row = 0; row < scene->geoip->count; row++) {
        const uint64_t last = scene->geoip->last[row];
        if (!has_room(scene, &room))
            return ORDO_NO_HOST_MEMORY;
        for (uint64_t at = scene->geoip->first[row]; at <= last;) {
            const unsigned length = length_from(at, last);
            scene->prefixes[scene->n_prefixes] = ordo_prefix_u64(at << 32, length);
            scene->rows[scene->n_prefixes++] = (uint32_t) row;
            at += 1ull << (32 - length);
        }
    }
    return ORDO_OK;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

static ordo_status make_room(struct scene *scene)
{
    scene->asked = malloc(scene->count * sizeof *scene->asked);
    scene->answered = malloc(scene->count * sizeof *scene->answered);
    scene->found = malloc(scene->count);
    if (!scene->asked || !scene->answered || !scene->found)
        return ORDO_NO_HOST_MEMORY;
    for (size_t i = 0; i < scene->count; i++)
        scene->asked[i] = (uint64_t) scene->addresses[i] << 32;
    TRY(device_buffer(scene->device, scene->count * sizeof *scene->asked, &scene->on_asked));
    TRY(device_buffer(scene->device, scene->count * sizeof *scene->answered, &scene->on_answered));
    return device_buffer(scene->device, scene->count, &scene->on_found);
}

static ordo_status ask(struct scene *scene)
{
    TRY(ordo_xfast_longest_prefix(scene->trie, ordo_at(scene->on_asked, 0), scene->count, ordo_none(),
                                  ordo_at(scene->on_answered, 0), ordo_at(scene->on_found, 0), NULL));
    return ordo_device_finish(scene->device);
}

/* Twice: the first time finds out, for each prefix, which others it lies in. */
static ordo_status play(struct scene *scene)
{
    TRY(cut(scene));
    TRY(make_room(scene));
    TRY(ordo_xfast_create(scene->device, ordo_xfast_config(.dict = { ORDO_U64, 4 }), &scene->trie));
    TRY(ordo_dict_build_host(scene->trie, scene->prefixes, scene->rows, scene->n_prefixes));
    TRY(device_write(scene->device, scene->on_asked, scene->asked, scene->count * sizeof *scene->asked));
    TRY(ask(scene));
    const double begin = now();
    TRY(ask(scene));
    scene->seconds = now() - begin;
    TRY(device_read(scene->device, scene->on_answered, scene->answered, scene->count * sizeof *scene->answered));
    return device_read(scene->device, scene->on_found, scene->found, scene->count);
}

struct comparison {
    const struct scene *scene;
    size_t              wrong[MAX_PARTS];
};

static void compare_span(void *comparison_, size_t from, size_t to, int part)
{
    struct comparison  *comparison = comparison_;
    const struct scene *scene = comparison->scene;
    size_t              wrong = 0;

    for (size_t i = from; i < to; i++) {
        const uint32_t address = scene->addresses[i];
        const size_t   row = geoip_row(scene->geoip, address, geoip_rank(scene->geoip, address));
        wrong += scene->found[i] ? scene->answered[i] != row : row != scene->geoip->count;
    }
    comparison->wrong[part] = wrong;
}

static void compare(struct scene *scene)
{
    struct comparison comparison = { .scene = scene };
    const int         parts = for_spans(scene->count, compare_span, &comparison);

    for (int part = 0; part < parts; part++)
        scene->wrong += comparison.wrong[part];
}

static void show(const struct scene *scene, FILE *out, cJSON *json)
{
    char   prefixes[TEXT_BYTES], asked[TEXT_BYTES], time[TEXT_BYTES], rate[TEXT_BYTES];
    cJSON *list = cJSON_AddObjectToObject(json, "prefixes");
    text_grouped(prefixes, scene->n_prefixes);
    text_grouped(asked, scene->count);
    say(out, 9, "prefixes %s of the ranges; the longest of each of %s addresses in %s, %s a second", prefixes, asked,
        text_seconds(time, scene->seconds), text_rate(rate, (double) scene->count / scene->seconds));
    if (scene->wrong)
        say(out, 7, "WRONG: %zu of %s rows are not those of the range that begins before the address\n", scene->wrong,
            asked);
    else
        say(out, 4, "ok: all are of the range that begins before the address\n");
    json_exact(list, "prefixes", (double) scene->n_prefixes);
    json_exact(list, "addresses", (double) scene->count);
    json_number(list, "seconds", scene->seconds);
    json_exact(list, "wrong", (double) scene->wrong);
}

static void close_scene(struct scene *scene)
{
    const cl_mem all[] = { scene->on_asked, scene->on_answered, scene->on_found };
    ordo_dict_destroy(&scene->trie);
    device_release(all, sizeof all / sizeof *all);
    free(scene->prefixes);
    free(scene->rows);
    free(scene->asked);
    free(scene->answered);
    free(scene->found);
}

ordo_status demo_prefixes(ordo_device *device, const struct geoip *geoip, const uint32_t *addresses, size_t count,
                          FILE *out, cJSON *json, size_t *wrong, char *why, size_t why_bytes)
{
    struct scene      scene = { .device = device, .geoip = geoip, .addresses = addresses, .count = count };
    const ordo_status got = play(&scene);
    if (got == ORDO_OK) {
        compare(&scene);
        show(&scene, out, json);
        *wrong += scene.wrong;
    } else if (ordo_device_last_error(device, why, why_bytes) <= 1) {
        snprintf(why, why_bytes, "%s", ordo_status_string(got));
    }
    close_scene(&scene);
    return got;
}
