/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"
#include "bench/workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ordo_device *open_silently(const char *select)
{
    char                            why[1024] = "";
    const struct ordo_device_config config = { .select = *select ? select : NULL,
                                               .message = why,
                                               .message_bytes = sizeof why };
    ordo_device                    *device = NULL;
    if (ordo_device_open(&config, &device) != ORDO_OK)
        complain("%s", why);
    return device;
}

/* ---- opening ------------------------------------------------------------------------------------------------- */

/* In a context and with a queue that are there by then: what is left is Ordo's own. */
static double adopt(cl_context context, cl_device_id id, cl_command_queue queue)
{
    ordo_device *device = NULL;
    const double start = now();
    const bool   good = ordo_device_adopt(context, id, queue, NULL, &device) == ORDO_OK;
    const double seconds = now() - start;
    ordo_device_close(&device);
    return good ? seconds : (double) NAN;
}

static int answer_open(const char *select)
{
    cJSON       *json = cJSON_CreateObject();
    const double start = now();
    ordo_device *device = open_silently(select);
    const double seconds = now() - start;
    if (!device)
        return EXIT_FAILED;
    const struct ordo_facts *facts = ordo_device_facts(device);
    json_number(json, "seconds", seconds);
    json_number(json, "waited_for_builds", facts->build_ms / 1e3);
    json_number(json, "self_test", facts->self_test_ms / 1e3);
    json_number(json, "adopting",
                adopt(ordo_device_context(device), ordo_device_id(device), ordo_device_queue(device)));
    ordo_device_close(&device);
    return child_answer(json);
}

/* ---- first calls --------------------------------------------------------------------------------------------- */

enum { N = FIRST_BATCH };

/* Keys are all different, and there when something is asked of them. */
struct arrays {
    uint64_t keys[N], keys_out[2 * N];
    uint64_t values[N], values_out[2 * N];
    uint64_t offsets[N + 1];
    uint32_t counts[N];
    uint8_t  codes[N], found[N], outcomes[N];
};

struct first {
    ordo_dict     *dict;
    ordo_type      value;
    uint32_t       key_bytes, value_bytes;
    struct arrays *a;
    void          *values, *values_out; /* NULL where there are none */
};

static void fill(struct first *f)
{
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t key = (uint64_t) (i + 1) * (f->key_bytes == 8 ? 0x9e3779b97f4a7c15ULL : 0x9e3779b1ULL);
        const uint32_t narrow = (uint32_t) key;
        memcpy((char *) f->a->keys + (size_t) i * f->key_bytes, f->key_bytes == 8 ? (const void *) &key : &narrow,
               f->key_bytes);
        memset((char *) f->a->values + (size_t) i * f->value_bytes, (int) (i % 251), f->value_bytes);
    }
}

static bool all_are(const uint8_t *bytes, uint8_t byte)
{
    for (size_t i = 0; i < N; i++)
        if (bytes[i] != byte)
            return false;
    return true;
}

static bool all_found(const struct first *f)
{
    return all_are(f->a->found, 1);
}

static bool all_counts_are(const struct first *f, uint32_t count)
{
    for (size_t i = 0; i < N; i++)
        if (f->a->counts[i] != count)
            return false;
    return true;
}

static bool same_values(const struct first *f)
{
    return !f->value_bytes || memcmp(f->a->values_out, f->a->values, (size_t) N * f->value_bytes) == 0;
}

static bool same_keys(const struct first *f)
{
    return memcmp(f->a->keys_out, f->a->keys, (size_t) N * f->key_bytes) == 0;
}

/* Each makes one call; *good: whether its answer is right. */
#define CALL(name) static ordo_status name(struct first *f, __attribute__((unused)) bool *good)

CALL(upsert)
{

    return ordo_dict_upsert_host(f->dict, f->a->keys, f->values, N);
}
CALL(find)
{
    const ordo_status got = ordo_dict_find_host(f->dict, f->a->keys, N, f->values_out, f->a->found);
    *good = all_found(f) && same_values(f);
    return got;
}
CALL(contains)
{
    const ordo_status got = ordo_dict_contains_host(f->dict, f->a->keys, N, f->a->found);
    *good = all_found(f);
    return got;
}
CALL(insert)
{
    const ordo_status got = ordo_dict_insert_host(f->dict, f->a->keys, f->values, N, f->a->found);
    *good = all_are(f->a->found, 0); /* all are there */
    return got;
}
CALL(seek)
{
    const ordo_status got =
        ordo_dict_seek_host(f->dict, ORDO_GE, f->a->keys, N, f->a->keys_out, f->values_out, f->a->found);
    *good = all_found(f) && same_keys(f) && same_values(f);
    return got;
}
CALL(first)
{
    const ordo_status got = ordo_dict_first_host(f->dict, f->a->keys_out, f->values_out, f->a->found);
    *good = f->a->found[0] == 1;
    return got;
}
CALL(count)
{
    const ordo_status got = ordo_dict_count_host(f->dict, f->a->keys, f->a->keys, N, f->a->counts);
    *good = all_counts_are(f, 1);
    return got;
}
CALL(range)
{
    size_t            needed = 0;
    const ordo_status got = ordo_dict_range_host(f->dict, f->a->keys, f->a->keys, N, f->a->offsets, f->a->keys_out,
                                                 f->values_out, N, &needed);
    *good = needed == N && same_keys(f) && same_values(f);
    return got;
}
CALL(rank)
{
    const ordo_status got = ordo_dict_rank_host(f->dict, ORDO_LT, f->a->keys, N, f->a->counts);
    uint64_t          sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += f->a->counts[i];
    *good = sum == (uint64_t) N * (N - 1) / 2;
    return got;
}
CALL(choose)
{
    const ordo_status got = ordo_dict_select_host(f->dict, f->a->counts, N, f->a->keys_out, f->values_out, f->a->found);
    *good = all_found(f) && same_keys(f) && same_values(f); /* by the ranks of all keys */
    return got;
}
CALL(aggregate)
{
    if (!f->value_bytes)
        return ORDO_UNSUPPORTED;
    const ordo_status got = ordo_dict_aggregate_host(f->dict, f->value, ORDO_SUM, f->a->keys, f->a->keys, N,
                                                     f->a->values_out, f->a->counts);
    *good = all_counts_are(f, 1) && same_values(f);
    return got;
}
/* Sums, as counters take; of nothing, for the content to stay as it is. */
CALL(combine)
{
    static const uint64_t nothing[N];
    return f->value_bytes ? ordo_dict_combine_host(f->dict, f->value, ORDO_SUM, f->a->keys, nothing, N)
                          : ORDO_UNSUPPORTED;
}
CALL(apply)
{
    static const uint8_t         codes[] = { ORDO_FIND, ORDO_UPSERT, ORDO_SEEK_GE, ORDO_INSERT };
    size_t                       needed = 0;
    const struct ordo_host_batch batch = { .codes = f->a->codes,
                                           .keys = f->a->keys,
                                           .values = f->values,
                                           .count = N,
                                           .found = f->a->found,
                                           .keys_out = f->a->keys_out,
                                           .values_out = f->values_out };
    for (size_t i = 0; i < N; i++)
        f->a->codes[i] = codes[i % 4];
    const ordo_status got = ordo_dict_apply_host(f->dict, &batch, &needed);
    *good = all_found(f);
    return got;
}
CALL(apply_concurrent)
{
    const struct ordo_host_concurrent_batch batch = { .codes = f->a->codes,
                                                      .keys = f->a->keys,
                                                      .values = f->values,
                                                      .count = N,
                                                      .found = f->a->found,
                                                      .keys_out = f->a->keys_out,
                                                      .values_out = f->values_out,
                                                      .outcomes = f->a->outcomes };
    if (!ordo_dict_can(f->dict, ORDO_CAN_CONCURRENT))
        return ORDO_UNSUPPORTED;
    const ordo_status got = ordo_dict_apply_concurrent_host(f->dict, &batch);
    *good = all_found(f);
    return got;
}
CALL(take_first)
{
    size_t            taken = 0;
    const ordo_status got = ordo_dict_take_first_host(f->dict, N / 8, f->a->keys_out, f->values_out, &taken);
    *good = taken == N / 8;
    return got;
}
CALL(erase)
{

    return ordo_dict_erase_host(f->dict, f->a->keys, N / 2);
}
CALL(erase_range)
{
    return ordo_dict_erase_range_host(f->dict, f->a->keys, f->a->keys, N, f->a->counts);
}
CALL(compact)
{
    return ordo_dict_compact(f->dict, NULL);
}

static const struct {
    const char *name;
    ordo_status (*call)(struct first *f, bool *good);
} calls[] = {
    { "upsert", upsert },
    { "find", find },
    { "contains", contains },
    { "insert", insert },
    { "seek", seek },
    { "first", first },
    { "count", count },
    { "range", range },
    { "rank", rank },
    { "select", choose },
    { "aggregate", aggregate },
    { "combine", combine },
    { "apply", apply },
    { "apply_concurrent", apply_concurrent },
    { "take_first", take_first },
    { "erase", erase },
    { "erase_range", erase_range },
    { "compact", compact },
};

static void make_calls(struct first *f, cJSON *list)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bool         good = true;
        cJSON       *one = cJSON_CreateObject();
        const double start = now();
        ordo_status  got = calls[i].call(f, &good);
        const double seconds = now() - start;
        json_text(one, "call", calls[i].name);
        if (got != ORDO_UNSUPPORTED) {
            json_number(one, "seconds", seconds);
            json_text(one, "check", got != ORDO_OK ? ordo_status_string(got) : good ? "ok" : "WRONG");
        }
        cJSON_AddItemToArray(list, one);
    }
}

static ordo_status create(ordo_device *device, int structure, ordo_type key, uint32_t value_bytes, ordo_dict **dict)
{
    const struct ordo_dict_config config = { .key = key, .value_bytes = value_bytes };
    switch (structure) {
#define X(id, name, ...)                                                                                               \
    case id:                                                                                                           \
        return ordo_##name##_create(device, ordo_##name##_config(.dict = config), dict);
        STRUCTURE_MAP(X)
#undef X
    default:
        return ORDO_INVALID;
    }
}

/* 0: there is no list for it. */
static uint32_t prepare_what(int structure)
{
    static const uint32_t what[N_STRUCTURES] = { [SORTED_ARRAY] = ORDO_PREPARE_SORTED_ARRAY,
                                                 [LSM] = ORDO_PREPARE_LSM,
                                                 [BLINK] = ORDO_PREPARE_BLINK,
                                                 [SKIPLIST] = ORDO_PREPARE_SKIPLIST,
                                                 [FAST] = ORDO_PREPARE_FAST,
                                                 [HASH] = ORDO_PREPARE_HASH,
                                                 [XFAST] = ORDO_PREPARE_XFAST,
                                                 [HAMT] = ORDO_PREPARE_HAMT };
    return structure < N_STRUCTURES ? what[structure] : 0;
}

static bool prepare(ordo_device *device, int structure, ordo_type key, uint32_t value_bytes, cJSON *json)
{
    const struct ordo_prepare_params params = {
        .what = prepare_what(structure), .keys = 1u << key, .value_bytes = 1u << value_bytes, .batch = N
    };
    struct ordo_prepared prepared = { 0 };
    if (!params.what || ordo_device_prepare(device, &params, &prepared) != ORDO_OK)
        return false;
    json_number(json, "seconds", prepared.seconds);
    json_number(json, "programs", (double) prepared.programs);
    return true;
}

static int answer_calls(const char *text)
{
    int          ahead = 0, structure = 0, key = 0, select = 0;
    unsigned     value_bytes = 0;
    struct first f = { .a = calloc(1, sizeof *f.a) };
    if (sscanf(text, "%d:%d:%d:%u:%n", &ahead, &structure, &key, &value_bytes, &select) != 4 || !select || !f.a) {
        free(f.a);
        return EXIT_USAGE;
    }
    f.value = value_bytes == 8 ? ORDO_U64 : ORDO_U32;
    f.value_bytes = value_bytes;
    f.key_bytes = (uint32_t) type_bytes((ordo_type) key);
    f.values = value_bytes ? f.a->values : NULL;
    f.values_out = value_bytes ? f.a->values_out : NULL;
    fill(&f);

    cJSON       *json = cJSON_CreateObject();
    ordo_device *device = open_silently(text + select);
    bool         good = device != NULL;
    if (good && ahead)
        good = prepare(device, structure, (ordo_type) key, value_bytes, cJSON_AddObjectToObject(json, "prepared"));
    good = good && create(device, structure, (ordo_type) key, value_bytes, &f.dict) == ORDO_OK;
    if (good)
        make_calls(&f, cJSON_AddArrayToObject(json, "calls"));
    ordo_dict_destroy(&f.dict);
    ordo_device_close(&device);
    free(f.a);
    if (good)
        return child_answer(json);
    cJSON_Delete(json);
    return EXIT_FAILED;
}

int first_answer(const char *question)
{
    if (strncmp(question, "open:", 5) == 0)
        return answer_open(question + 5);
    if (strncmp(question, "calls:", 6) == 0)
        return answer_calls(question + 6);
    return EXIT_USAGE;
}
