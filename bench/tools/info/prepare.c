/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "bench/common/child.h"
#include "bench/common/device.h"
#include "bench/common/terminal.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"
#include "bench/workload/workload.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Words of the list. */
static const struct {
    const char *word;
    uint32_t    what, keys, value_bytes;
} words[] = {
    { "all" },
    { "sort", .what = ORDO_PREPARE_SORT },
    { "merge", .what = ORDO_PREPARE_MERGE },
    { "scan", .what = ORDO_PREPARE_SCAN },
    { "search", .what = ORDO_PREPARE_SEARCH },
#define X(id, stem, ...) { #stem, .what = ORDO_PREPARE_##id },
    ORDO_STRUCTURE_MAP(X)
#undef X
        { "u32", .keys = 1u << ORDO_U32 },
    { "u64", .keys = 1u << ORDO_U64 },
    { "i32", .keys = 1u << ORDO_I32 },
    { "i64", .keys = 1u << ORDO_I64 },
    { "f32", .keys = 1u << ORDO_F32 },
    { "f64", .keys = 1u << ORDO_F64 },
    { "u128", .keys = 1u << ORDO_U128 },
    { "bytes16", .keys = 1u << ORDO_BYTES16 },
    { "v0", .value_bytes = 1u << 0 },
    { "v4", .value_bytes = 1u << 4 },
    { "v8", .value_bytes = 1u << 8 },
};

#define N_WORDS ((int) (sizeof words / sizeof *words))

static const char *word(int i)
{
    return words[i].word;
}

static bool tell(void *user, size_t done, size_t total)
{
    (void) user;
    progress("%zu of %zu", done, total);
    return true;
}

static struct ordo_prepare_params params_of(const char *list)
{
    struct ordo_prepare_params params = { .progress = tell };
    int                        chosen[N_WORDS];
    char                       why[WHY_BYTES];
    const int                  n = parse_names(list, word, N_WORDS, chosen, N_WORDS, why);
    if (n < 0)
        usage_error("--prepare: %s", why);
    for (int i = 0; i < n; i++) {
        params.what |= words[chosen[i]].what;
        params.keys |= words[chosen[i]].keys;
        params.value_bytes |= words[chosen[i]].value_bytes;
    }
    return params;
}

void prepare_check(const char *list)
{
    (void) params_of(list);
}

/* ---- in parallel --------------------------------------------------------------------------------------------- */

/* NVIDIA's compiler mostly works on one program per process, PoCL's always. */
#define PROCESSES_MAX 8
#define PART_SECONDS  1800.0

int prepare_part(const char *share)
{
    char    *list = NULL;
    unsigned part = (unsigned) strtoul(share, &list, 10), parts = *list ? (unsigned) strtoul(list + 1, &list, 10) : 0;
    if (part >= parts || *list != ':')
        return EXIT_USAGE;
    struct ordo_prepare_params      params = params_of(list + 1);
    char                            why[WHY_BYTES] = "";
    const struct ordo_device_config config = { .build_threads = -1, .message = why, .message_bytes = sizeof why };
    ordo_device                    *dev = NULL;
    params.progress = NULL;
    params.part = part;
    params.parts = parts;
    ordo_status got = ordo_device_open(&config, &dev);
    if (got == ORDO_OK)
        got = device_why(dev, ordo_device_prepare(dev, &params, NULL), why);
    if (got != ORDO_OK)
        report_error("%s", why);
    ordo_device_close(&dev);
    return child_answer(cJSON_CreateObject()) == EXIT_GOOD && got == ORDO_OK ? EXIT_GOOD : EXIT_FAILED;
}

struct parts {
    const char          *list;
    int                  n;
    struct child_outcome outcome[PROCESSES_MAX];
    atomic_int           ended;
};

/* Runs a process. The last part shows progress each second instead, until all have ended. */
static void run_part(void *parts_, int part)
{
    const struct timespec second = { .tv_sec = 1 };
    const double          start = now();
    struct parts         *parts = parts_;
    char                  question[400];
    const char *const     arguments[] = { "ordo-info", "--child", question, NULL };
    for (; part == parts->n && atomic_load(&parts->ended) < parts->n; nanosleep(&second, NULL))
        progress("compiling in %d processes for %.0f s", parts->n, now() - start);
    if (part == parts->n)
        return;
    if (snprintf(question, sizeof question, "prepare:%d:%d:%s", part, parts->n, parts->list) < (int) sizeof question)
        child_run(&(struct child) { NULL, arguments, NULL, PART_SECONDS }, &parts->outcome[part]);
    cJSON_Delete(parts->outcome[part].answer);
    atomic_fetch_add(&parts->ended, 1);
}

/* Fills the cache with several processes. The caller builds failed programs again and reports them. */
static void prepare_in_parallel(const char *list)
{
    struct parts parts = { list, processors() < PROCESSES_MAX ? processors() : PROCESSES_MAX, { { 0 } }, 0 };
    if (parts.n < 2)
        return;
    run_parts(parts.n + 1, run_part, &parts);
    const struct child_outcome *trouble = NULL;
    for (int i = 0; i < parts.n; i++)
        if (parts.outcome[i].problem[0])
            trouble = &parts.outcome[i];
    if (trouble)
        report_error("one of %d parallel processes %s, so this takes longer: %s", parts.n, trouble->problem,
                     trouble->said);
}

bool prepare_device(const char *list)
{
    const struct ordo_prepare_params params = params_of(list);
    struct ordo_prepared             prepared = { 0 };
    const double                     start = now();
    char                             why[WHY_BYTES] = "";
    ordo_device                     *dev = open_device("");
    if (!dev)
        return false;
    progress_in_lines();
    progress_about("preparing kernels for %s", ordo_device_facts(dev)->name);
    ordo_device_close(&dev); /* after its self-test; a GPU may allow one process */
    prepare_in_parallel(list);
    dev = open_device("");
    if (!dev)
        return false;
    const ordo_status got = device_why(dev, ordo_device_prepare(dev, &params, &prepared), why);
    progress_clear();
    if (got != ORDO_OK)
        report_error("%s", why);
    printf("%s: %zu programs are ready, %zu could not be built, after %.1f s\n", ordo_device_facts(dev)->name,
           prepared.programs, prepared.failed, now() - start);
    ordo_device_close(&dev);
    return got == ORDO_OK;
}
