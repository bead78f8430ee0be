/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "bench/common/child.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ------------------------------------------------------------------------------------------------- */

/* Adopts an existing context and queue, so that only Ordo's own time remains. */
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
    ordo_device *device = open_device(select);
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

/* Keys are distinct and present when they are queried. */
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
    void          *values, *values_out; /* NULL for values of 0 bytes */
    size_t         n;                   /* result of the last call */
};

static void fill(struct first *f)
{
    for (uint32_t i = 0; i < N; i++) {
        const uint64_t key = (uint64_t) (i + 1) * (f->key_bytes == 8 ? 0x9e3779b97f4a7c15ULL : 0x9e3779b1ULL);
        set_element(f->a->keys, f->key_bytes, i, key);
        memset((char *) f->a->values + (size_t) i * f->value_bytes, (int) (i % 251), f->value_bytes);
    }
}

/* Expected results of a call. */
enum { FOUND = 1, ABSENT = 2, KEYS = 4, VALUES = 8, ONES = 16, RANKS = 32, ALL = 64, EIGHTH = 128, FIRST = 256 };

static bool is_right(const struct first *f, int want)
{
    const struct arrays *a = f->a;
    uint64_t             ranks = 0;
    bool                 good = !(want & FIRST) || a->found[0] == 1;
    for (size_t i = 0; i < N; i++) {
        good = good && (!(want & (FOUND | ABSENT)) || a->found[i] == (want & FOUND ? 1 : 0)) &&
               (!(want & ONES) || a->counts[i] == 1);
        ranks += want & RANKS ? a->counts[i] : 0;
    }
    return good && (!(want & RANKS) || ranks == (uint64_t) N * (N - 1) / 2) && (!(want & ALL) || f->n == N) &&
           (!(want & EIGHTH) || f->n == N / 8) &&
           (!(want & KEYS) || memcmp(a->keys_out, a->keys, (size_t) N * f->key_bytes) == 0) &&
           (!(want & VALUES) || memcmp(a->values_out, a->values, (size_t) N * f->value_bytes) == 0);
}

/* Every call once, in an order that gives each the expected content. Sums add 0. */
#define CALL_MAP(X)                                                                                                    \
    X("upsert", 0, ordo_dict_upsert_host(d, a->keys, f->values, N))                                                    \
    X("find", FOUND | VALUES, ordo_dict_find_host(d, a->keys, N, f->values_out, a->found))                             \
    X("contains", FOUND, ordo_dict_contains_host(d, a->keys, N, a->found))                                             \
    X("insert", ABSENT, ordo_dict_insert_host(d, a->keys, f->values, N, a->found))                                     \
    X("seek", FOUND | KEYS | VALUES,                                                                                   \
      ordo_dict_seek_host(d, ORDO_GE, a->keys, N, a->keys_out, f->values_out, a->found))                               \
    X("first", FIRST, ordo_dict_first_host(d, a->keys_out, f->values_out, a->found))                                   \
    X("count", ONES, ordo_dict_count_host(d, a->keys, a->keys, N, a->counts))                                          \
    X("range", ALL | KEYS | VALUES,                                                                                    \
      ordo_dict_range_host(d, a->keys, a->keys, N, a->offsets, a->keys_out, f->values_out, N, &f->n))                  \
    X("rank", RANKS, ordo_dict_rank_host(d, ORDO_LT, a->keys, N, a->counts))                                           \
    X("select", FOUND | KEYS | VALUES, ordo_dict_select_host(d, a->counts, N, a->keys_out, f->values_out, a->found))   \
    X("aggregate", ONES | VALUES,                                                                                      \
      values ? ordo_dict_aggregate_host(d, f->value, ORDO_SUM, a->keys, a->keys, N, a->values_out, a->counts)          \
             : ORDO_UNSUPPORTED)                                                                                       \
    X("combine", 0, values ? ordo_dict_combine_host(d, f->value, ORDO_SUM, a->keys, nothing, N) : ORDO_UNSUPPORTED)    \
    X("apply", FOUND, apply(f))                                                                                        \
    X("apply_concurrent", FOUND, ordo_dict_can(d, ORDO_CAN_CONCURRENT) ? apply_concurrent(f) : ORDO_UNSUPPORTED)       \
    X("take_first", EIGHTH, ordo_dict_take_first_host(d, N / 8, a->keys_out, f->values_out, &f->n))                    \
    X("erase", 0, ordo_dict_erase_host(d, a->keys, N / 2))                                                             \
    X("erase_range", 0, ordo_dict_erase_range_host(d, a->keys, a->keys, N, a->counts))                                 \
    X("compact", 0, ordo_dict_compact(d, NULL))

static ordo_status apply(struct first *f)
{
    static const uint8_t         codes[] = { ORDO_FIND, ORDO_UPSERT, ORDO_SEEK_GE, ORDO_INSERT };
    struct arrays               *a = f->a;
    const struct ordo_host_batch batch = { .codes = a->codes,
                                           .keys = a->keys,
                                           .values = f->values,
                                           .count = N,
                                           .found = a->found,
                                           .keys_out = a->keys_out,
                                           .values_out = f->values_out };
    for (size_t i = 0; i < N; i++)
        a->codes[i] = codes[i % 4];
    return ordo_dict_apply_host(f->dict, &batch, &f->n);
}

static ordo_status apply_concurrent(struct first *f)
{
    struct arrays                          *a = f->a;
    const struct ordo_host_concurrent_batch batch = { .codes = a->codes,
                                                      .keys = a->keys,
                                                      .values = f->values,
                                                      .count = N,
                                                      .found = a->found,
                                                      .keys_out = a->keys_out,
                                                      .values_out = f->values_out,
                                                      .outcomes = a->outcomes };
    return ordo_dict_apply_concurrent_host(f->dict, &batch);
}

static void add_call(cJSON *list, const char *name, ordo_status got, double seconds, bool right)
{
    cJSON *one = json_append(list);
    json_text(one, "call", name);
    if (got != ORDO_UNSUPPORTED) {
        json_number(one, "seconds", seconds);
        json_text(one, "check", got != ORDO_OK ? ordo_status_string(got) : right ? "ok" : "WRONG");
    }
}

static void make_calls(struct first *f, cJSON *list)
{
    static const uint64_t nothing[N];
    const bool            values = f->value_bytes > 0;
    ordo_dict            *d = f->dict;
    struct arrays        *a = f->a;
#define X(name, want, call)                                                                                            \
    {                                                                                                                  \
        const double      start = now();                                                                               \
        const ordo_status got = call;                                                                                  \
        add_call(list, name, got, now() - start, is_right(f, want));                                                   \
    }
    CALL_MAP(X)
#undef X
}

static bool prepare(ordo_device *device, int structure, ordo_type key, uint32_t value_bytes, cJSON *json)
{
#define X(id, ...) ORDO_PREPARE_##id,
    static const uint32_t what[N_STRUCTURES] = { ORDO_STRUCTURE_MAP(X) };
#undef X
    const struct ordo_prepare_params params = { .what = structure < N_STRUCTURES ? what[structure] : 0,
                                                .keys = 1u << key,
                                                .value_bytes = 1u << value_bytes,
                                                .batch = N };
    struct ordo_prepared             prepared = { 0 };
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

    const struct ordo_dict_config config = { .key = (ordo_type) key, .value_bytes = value_bytes };
    cJSON                        *json = cJSON_CreateObject();
    ordo_device                  *device = open_device(text + select);
    bool                          good = device != NULL;
    if (good && ahead)
        good = prepare(device, structure, (ordo_type) key, value_bytes, cJSON_AddObjectToObject(json, "prepared"));
    good = good && structure_create(device, structure, &config, &f.dict) == ORDO_OK;
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
