/* SPDX-License-Identifier: Apache-2.0 */
/* A life: a device, a dictionary and their configurations, all drawn from a seed (soak.h). */
#include "soak.h"

#include "runtime/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

size_t soak_size(struct life *l, size_t n)
{
    size_t log2 = 0;

    while (log2 < 63 && (size_t) 1 << log2 < n)
        log2++;
    const size_t size = 1 + soak_below(l, (size_t) 1 << soak_below(l, log2 + 1));
    return size < n ? size : n;
}

void life_context(struct life *l, const char *format, ...)
{
    char    what[160];
    va_list list;

    va_start(list, format);
    (void) vsnprintf(what, sizeof what, format, list);
    va_end(list);
    test_context(&l->t, "%s; step %zu: %s", l->text, l->step, what);
    if (getenv("ORDO_TEST_TRACE"))
        (void) fprintf(stderr, "%s\n", l->t.context);
}

/* Lives of the quick ring: the device without a mask, and few keys. */
static bool is_small(const struct life *l)
{
    return l->seed < SOAK_SMALL_SEEDS;
}

/* ---- the device -------------------------------------------------------------------------------------------------- */

/* Every mask builds its own kernels. The first two change most. */
static const char *const masks[] = { "cpu=0",           "cpu=0,progress=1", "lanes=one",          "progress=0",
                                     "int64_atomics=0", "local=16384",      "group=64",           "cpu=0,local=16384",
                                     "cpu=0,group=64",  "alloc=4000000",    "cpu=0,alloc=4000000" };

static const char *choose_mask(struct life *l)
{
    const size_t n = test_wants_all("ORDO_TEST_KINDS") ? LENGTH(masks) : 1;

    if (getenv("ORDO_MASK"))
        return getenv("ORDO_MASK");
    return l->without[HAZARD_MASKS] || is_small(l) || !soak_one_in(l, 3) ? "" : masks[soak_below(l, n)];
}

static void choose_tunables(struct life *l)
{
    struct ordo_tunable_info is;

    if (l->without[HAZARD_TUNABLES] || !test_wants_all("ORDO_TEST_KINDS") || !soak_one_in(l, 8))
        return;
    for (size_t i = 0; ordo_device_tunable(l->t.dev, i, &is) == ORDO_OK; i++)
        if (is.n_choices > 0 && soak_one_in(l, 20))
            test_ok(&l->t, ordo_device_set_tunable(l->t.dev, is.name, is.choice[soak_below(l, is.n_choices)]));
}

/* Opens a device over the context of the test's device, so that buffers and queues share one context. */
static void open_device(struct life *l, struct test *t)
{
    char                      message[512] = "";
    struct ordo_device_config config = { .mask = l->t.mask,
                                         .message = message,
                                         .message_bytes = sizeof message,
                                         .build_threads = -1,
                                         .no_self_test = strstr(l->t.mask, "progress=1") != NULL };
    ordo_device              *dev = NULL;

    if (ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev), NULL, &config, &dev) != ORDO_OK)
        soak_fail(l, "opening a device: %s", message);
    l->t.dev = dev;
    l->t.facts = ordo_device_facts(dev);
    l->memory_limit = dev->memory_limit;
    l->max_alloc = dev->facts.max_alloc_bytes;
    l->queue[0] = ordo_device_queue(dev);
    l->queue[1] = test_queue(&l->t, 0);
    l->queue[2] = test_queue(&l->t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (!l->queue[2])
        l->queue[2] = test_queue(&l->t, 0);
}

/* ---- the dictionary ---------------------------------------------------------------------------------------------- */

/* Without ORDO_TEST_KINDS=all, types whose kernels other tests build too. */
static void choose_types(struct life *l)
{
    static const uint32_t sizes[] = { 0, 4, 8, 16 };
    const bool            all = test_wants_all("ORDO_TEST_KINDS");

    do
        l->config.key = test_types[soak_below(l, 6)];
    while (!all && l->config.key != ORDO_U32 && l->config.key != ORDO_F64);
    if (structure_is(l->structure, ORDO_WIDE_KEYS) && soak_one_in(l, 4))
        l->config.key = test_wide_types[soak_below(l, LENGTH(test_wide_types))];
    l->config.value_bytes = all ? sizes[soak_below(l, LENGTH(sizes))] : test_value_bytes[l->config.key][0];
    if (!all && l->config.key == ORDO_U32 && soak_one_in(l, 2))
        l->config.value_bytes = 0;
}

static uint32_t one_of(struct life *l, const uint32_t *from, size_t n)
{
    return from[soak_below(l, n)];
}
#define ONE_OF(l, ...) one_of((l), (const uint32_t[]) { __VA_ARGS__ }, LENGTH(((const uint32_t[]) { __VA_ARGS__ })))

static size_t choose_most_nodes(struct life *l, uint32_t entries)
{
    const size_t all = l->n_forms / entries; /* full nodes with all keys */

    l->node_entries = entries;
    l->most_nodes = soak_one_in(l, 2) && !l->without[HAZARD_NODES] ? all * (2 + soak_below(l, 4)) / 4 + 2 : 0;
    return l->most_nodes;
}

#define MAKE(stem, ...) ordo_##stem##_create(l->t.dev, ordo_##stem##_config(.dict = l->config, __VA_ARGS__), &l->dict)

static ordo_status create_configured(struct life *l)
{
    const uint32_t chunk = test_wants_all("ORDO_TEST_KINDS") ? ONE_OF(l, 0, 16, 32) : 0;

    switch (l->structure) {
    case SORTED_ARRAY:
        return MAKE(sorted_array, );
    case LSM:
        return MAKE(lsm, .growth = ONE_OF(l, 0, 2, 3, 16), .cleanup_doubled = soak_one_in(l, 3),
                    .cleanup_stale_percent = ONE_OF(l, 0, 0, 1, 20, 90), .cleanup_least = ONE_OF(l, 0, 100, 700, 50000),
                    .keep_runs = soak_one_in(l, 3));
    case BLINK:
        return MAKE(blink, .fill_percent = ONE_OF(l, 0, 50, 75, 100), .max_leaves = choose_most_nodes(l, 28));
    case FAST:
        return MAKE(fast, .rebuild_one_in = ONE_OF(l, 0, 1, 2, 16, 65536));
    case SKIPLIST:
        return MAKE(skiplist, .fill_percent = ONE_OF(l, 0, 50, 75, 100), .raise_percent = ONE_OF(l, 0, 1, 50, 100),
                    .max_chunks = choose_most_nodes(l, chunk == 16 ? 12 : 28), .chunk = chunk);
    case HASH:
        return MAKE(hash, .load_percent = ONE_OF(l, 0, 25, 50, 80, 95));
    case XFAST:
        return MAKE(xfast, .group = ONE_OF(l, 0, 1, 3, 8));
    default:
        return MAKE(hamt, .fixed_depth = soak_one_in(l, 4));
    }
}

/* Few keys or many: tables of more than 2^16 slots work differently. */
static size_t choose_keys(struct life *l)
{
    if (is_small(l))
        return 1 + soak_size(l, 4000);
    return soak_one_in(l, 2) ? ((size_t) 3 << 14) + soak_below(l, (size_t) 3 << 15)
                             : 1 + soak_size(l, (size_t) 1 << 15);
}

static int choose_structure(struct life *l)
{
    const char *const only = getenv("ORDO_TEST_STRUCTURE");

    for (int s = 0; only && s < N_STRUCTURES; s++)
        if (strcmp(structures[s].word, only) == 0)
            return s;
    return (int) soak_below(l, N_STRUCTURES);
}

/* ---- a life ------------------------------------------------------------------------------------------------------ */

static void read_without(struct life *l)
{
    static const char *const names[N_HAZARDS] = { "faults", "limits", "masks", "tunables", "loose", "bursts", "nodes" };
    const char *const        text = getenv("ORDO_TEST_WITHOUT");

    for (size_t i = 0; text && i < N_HAZARDS; i++)
        l->without[i] = strstr(text, names[i]) != NULL;
}

struct life life_begin(struct test *t, uint64_t seed)
{
    struct life l = { .t = *t, .seed = seed };

    l.t.seed = l.t.random = seed;
    read_without(&l);
    l.structure = choose_structure(&l);
    l.t.mask = choose_mask(&l);
    choose_types(&l);
    (void) snprintf(l.text, sizeof l.text, "%s, %s + %" PRIu32, structures[l.structure].word,
                    test_type_name[l.config.key], l.config.value_bytes);
    life_context(&l, "opening");
    open_device(&l, t);
    choose_tunables(&l);
    soak_draw_forms(&l, choose_keys(&l));
    l.model = model_empty(l.config.key, l.config.value_bytes);
    test_ok(&l.t, create_configured(&l));
    (void) snprintf(l.text, sizeof l.text, "%s, %s + %" PRIu32 ", %zu keys, at most %zu nodes",
                    structures[l.structure].word, test_type_name[l.config.key], l.config.value_bytes, l.n_forms,
                    l.most_nodes);
    return l;
}

void life_end(struct life *l)
{
    struct ordo_memory memory;

    life_context(l, "the end");
    soak_check_content(l);
    soak_end_strings(l);
    ordo_dict_destroy(&l->dict);
    test_ok(&l->t, ordo_device_finish(l->t.dev));
    test_ok(&l->t, ordo_device_trim(l->t.dev));
    test_ok(&l->t, ordo_device_memory(l->t.dev, &memory));
    if (memory.held_bytes || memory.buffers)
        soak_fail(l, "%" PRIu64 " bytes in %" PRIu64 " buffers are left", memory.held_bytes, memory.buffers);
    for (size_t q = 1; q < N_QUEUES; q++)
        (void) clReleaseCommandQueue(l->queue[q]);
    ordo_device_close(&l->t.dev);
    model_free(&l->model);
    free(l->forms);
}
