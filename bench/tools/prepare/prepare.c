/* SPDX-License-Identifier: Apache-2.0 */
#include "prepare.h"

#include "bench/common/child.h"
#include "bench/common/device.h"
#include "bench/common/terminal.h"
#include "bench/common/threads.h"
#include "bench/common/timing.h"
#include "bench/workload/workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Words of the list. */
static const struct {
    const char *word;
    uint32_t    what, keys, value_bytes;
} words[] = {
    { "all", 0, 0, 0 },
    { "sort", ORDO_PREPARE_SORT, 0, 0 },
    { "merge", ORDO_PREPARE_MERGE, 0, 0 },
    { "scan", ORDO_PREPARE_SCAN, 0, 0 },
    { "search", ORDO_PREPARE_SEARCH, 0, 0 },
#define X(id, stem, ...) { #stem, ORDO_PREPARE_##id, 0, 0 },
    ORDO_STRUCTURE_MAP(X)
#undef X
        { "u32", 0, 1u << ORDO_U32, 0 },
    { "u64", 0, 1u << ORDO_U64, 0 },
    { "i32", 0, 1u << ORDO_I32, 0 },
    { "i64", 0, 1u << ORDO_I64, 0 },
    { "f32", 0, 1u << ORDO_F32, 0 },
    { "f64", 0, 1u << ORDO_F64, 0 },
    { "v0", 0, 0, 1u << 0 },
    { "v4", 0, 0, 1u << 4 },
    { "v8", 0, 0, 1u << 8 },
};

static void add_word(struct ordo_prepare_params *params, const char *word, size_t bytes)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == bytes && memcmp(words[i].word, word, bytes) == 0) {
            params->what |= words[i].what;
            params->keys |= words[i].keys;
            params->value_bytes |= words[i].value_bytes;
            return;
        }
    char   known[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        used += (size_t) snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i].word);
    usage_error("--prepare: unknown '%.*s' (choose %s)", (int) bytes, word, known);
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
    for (;; list++) {
        const size_t bytes = strcspn(list, ",");
        add_word(&params, list, bytes);
        list += bytes;
        if (!*list)
            return params;
    }
}

void prepare_check(const char *list)
{
    (void) params_of(list);
}

/* ---- in parallel --------------------------------------------------------------------------------------------- */

/* NVIDIA's compiler mostly works on one program per process, PoCL's always. */
#define PROCESSES_MAX 8
#define PART_SECONDS  1800.0

struct part {
    char                 question[400];
    struct child_outcome outcome;
    pthread_t            thread;
    bool                 runs;
    atomic_bool          ended;
};

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
    const bool good = ordo_device_open(&config, &dev) == ORDO_OK && ordo_device_prepare(dev, &params, NULL) == ORDO_OK;
    if (!good && dev)
        (void) ordo_device_last_error(dev, why, WHY_BYTES);
    if (!good)
        report_error("%s", why);
    ordo_device_close(&dev);
    return good && write(ANSWER_FD, "{}", 2) == 2 ? EXIT_GOOD : EXIT_FAILED;
}

static void *run_part(void *argument)
{
    struct part       *part = argument;
    const char *const  arguments[] = { "ordo-info", "--child", part->question, NULL };
    const struct child child = { NULL, arguments, NULL, PART_SECONDS };
    child_run(&child, &part->outcome);
    cJSON_Delete(part->outcome.answer);
    atomic_store(&part->ended, true);
    return NULL;
}

/* Waits for the processes and shows progress each second. */
static void await_parts(struct part *parts, int n)
{
    const struct timespec second = { .tv_sec = 1 };
    const double          start = now();
    for (int i = 0; i < n; i++)
        while (parts[i].runs && !atomic_load(&parts[i].ended)) {
            progress("compiling in %d processes for %.0f s", n, now() - start);
            nanosleep(&second, NULL);
        }
    for (int i = 0; i < n; i++)
        if (parts[i].runs)
            pthread_join(parts[i].thread, NULL);
}

/* Fills the cache with several processes. The caller builds failed programs again and reports them. */
static void prepare_in_parallel(const char *list)
{
    const int   n = processors() < PROCESSES_MAX ? processors() : PROCESSES_MAX;
    struct part parts[PROCESSES_MAX] = { 0 };
    if (n < 2)
        return;
    for (int i = 0; i < n; i++) {
        const int bytes = snprintf(parts[i].question, sizeof parts[i].question, "prepare:%d:%d:%s", i, n, list);
        parts[i].runs =
            bytes < (int) sizeof parts[i].question && pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) == 0;
    }
    const struct child_outcome *trouble = NULL;
    await_parts(parts, n);
    for (int i = 0; i < n; i++)
        if (parts[i].runs && parts[i].outcome.problem[0])
            trouble = &parts[i].outcome;
    if (trouble)
        report_error("one of %d parallel processes %s, so this takes longer: %s", n, trouble->problem, trouble->said);
}

bool prepare_device(const char *list)
{
    const struct ordo_prepare_params params = params_of(list);
    struct ordo_prepared             prepared = { 0 };
    const double                     start = now();
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
    const ordo_status got = ordo_device_prepare(dev, &params, &prepared);
    progress_clear();
    if (got != ORDO_OK) {
        char why[WHY_BYTES] = "";
        (void) ordo_device_last_error(dev, why, WHY_BYTES);
        report_error("%s", why);
    }
    printf("%s: %zu programs are ready, %zu could not be built, after %.1f s\n", ordo_device_facts(dev)->name,
           prepared.programs, prepared.failed, now() - start);
    ordo_device_close(&dev);
    return got == ORDO_OK;
}
