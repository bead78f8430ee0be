/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads on one device and on two, with separate and with shared objects. No Criterion, because the thread
 * sanitizer cannot run it; prints TAP.
 *
 * ORDO_DEVICE=... restricts the test to one device, which is then opened twice. PoCL shows two devices. */
#define _GNU_SOURCE
#include "ordo/ordo.h"

#include "runtime/internal.h"
#include "tests/dict/structures.h"
#include "tests/support/auto.h"

#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, SHARE = 500 };

/* ---- threads ----------------------------------------------------------------------------------------------------- */

struct job {
    ordo_device *dev;
    ordo_dict   *dict;   /* shared, or NULL */
    const char  *select; /* selects its device */
    uint32_t     number; /* of the thread */
    char         why[512];
};

static int n_tests, n_failed;

static void complain(struct job *job, int line, const char *what)
{
    char error[256] = "";
    if (job->dev)
        (void) ordo_device_last_error(job->dev, error, sizeof error);
    (void) snprintf(job->why, sizeof job->why, "thread %u, line %d: not so: %s; last error: %s", job->number, line,
                    what, error);
}

/* Leaves the function of a thread that has failed. */
#define EXPECT(job, cond)                                                                                              \
    do {                                                                                                               \
        if (!(cond)) {                                                                                                 \
            complain((job), __LINE__, #cond);                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)
#define OK(job, call) EXPECT((job), (call) == ORDO_OK)

struct start {
    void (*work)(struct job *job);
    struct job *job;
};

static void *thread_main(void *argument)
{
    const struct start *start = argument;
    start->work(start->job);
    return NULL;
}

static void report(bool good, const char *title, const char *why)
{
    n_failed += !good;
    (void) printf("%sok %d - %s\n", good ? "" : "not ", ++n_tests, title);
    if (!good)
        (void) fprintf(stderr, "%s: %s\n", title, why);
    (void) fflush(stdout);
}

static void run(const char *title, void (*work)(struct job *job), struct job jobs[THREADS])
{
    pthread_t    threads[THREADS];
    struct start starts[THREADS];
    const char  *why = "";
    int          n = 0;
    for (; n < THREADS; n++) {
        starts[n] = (struct start) { work, &jobs[n] };
        if (pthread_create(&threads[n], NULL, thread_main, &starts[n]) != 0)
            break;
    }
    if (n < THREADS)
        why = "a thread cannot be made";
    while (n-- > 0) {
        (void) pthread_join(threads[n], NULL);
        why = jobs[n].why[0] ? jobs[n].why : why;
    }
    report(!why[0], title, why);
}

/* ---- the devices ------------------------------------------------------------------------------------------------- */

static char         selects[2][24]; /* "platform:device" */
static int          n_devices;      /* of them */
static ordo_device *devices[2];

/* The first two that the loader lists; with ORDO_DEVICE, that one. */
static void find_devices(void)
{
    cl_platform_id platforms[16];
    cl_uint        n_platforms = 0, n = 0;
    if (getenv("ORDO_DEVICE")) {
        n_devices = 1;
        return;
    }
    if (clGetPlatformIDs(16, platforms, &n_platforms) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < n_platforms && p < 16; p++) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &n) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n && n_devices < 2; d++)
            (void) snprintf(selects[n_devices++], sizeof selects[0], "%u:%u", p, d);
    }
}

static const char *select_of(int i)
{
    return selects[i % n_devices][0] ? selects[i % n_devices] : NULL;
}

static ordo_status open_device(const char *select, ordo_device **out)
{
    char                            message[1024] = "";
    const struct ordo_device_config config = { .select = select, .message = message, .message_bytes = sizeof message };
    const ordo_status               got = ordo_device_open(&config, out);
    if (got != ORDO_OK)
        (void) fprintf(stderr, "%s: %s\n", select ? select : "the device", message);
    return got;
}

/* Runs eight threads on the first device, opened with this configuration. If `piece_bytes` is not 0, all memory counts
 * as pinned, and pieces have this size. */
static void run_on_device(const char *title, const struct ordo_device_config *config, size_t piece_bytes,
                          void (*work)(struct job *job))
{
    struct ordo_device_config on_first = *config;
    struct job                jobs[THREADS];
    struct ordo_host_block    all_memory = { .bytes = SIZE_MAX };
    AUTO_DEVICE ordo_device  *dev = NULL;
    on_first.select = select_of(0);
    if (ordo_device_open(&on_first, &dev) != ORDO_OK) {
        report(false, title, "the device cannot be opened");
        return;
    }
    for (uint32_t i = 0; i < THREADS; i++)
        jobs[i] = (struct job) { .dev = dev, .number = i };
    if (piece_bytes) {
        dev->piece_bytes = piece_bytes;
        dev->host_blocks = &all_memory;
        dev->n_host_blocks = 1;
    }
    run(title, work, jobs);
    if (piece_bytes) {
        dev->host_blocks = NULL;
        dev->n_host_blocks = 0;
    }
}

/* Gives eight jobs to the first n devices in turn. */
static void deal(struct job jobs[THREADS], int n)
{
    for (uint32_t i = 0; i < THREADS; i++)
        jobs[i] = (struct job) { .dev = devices[(int) i % n], .select = select_of((int) i % n), .number = i };
}

/* ---- separate objects -------------------------------------------------------------------------------------------- */

static uint32_t key_of(uint32_t number, uint32_t i)
{
    return (number * SHARE + i) * 2654435761u; /* an odd factor: no two are equal */
}

static void sort_own(struct job *job)
{
    enum { MOST = 20000 };
    uint32_t *keys = malloc(MOST * sizeof *keys), *values = malloc(MOST * sizeof *values);
    bool      good = keys && values;
    for (uint32_t round = 0; good && round < 6; round++) {
        const uint32_t n = (MOST >> (2 * round)) + job->number;
        for (uint32_t i = 0; i < n && i < MOST; i++) {
            keys[i] = key_of(job->number, i);
            values[i] = i;
        }
        const uint32_t count = n < MOST ? n : MOST;
        good = ordo_sort_host(job->dev, ordo_sort_params(.key = ORDO_U32, .value_bytes = 4), keys, values, count) ==
               ORDO_OK;
        for (uint32_t i = 0; good && i < count; i++)
            good = keys[i] == key_of(job->number, values[i]) && (i == 0 || keys[i - 1] < keys[i]);
    }
    free(keys);
    free(values);
    EXPECT(job, good);
}

/* Stores, finds and erases keys that no other thread uses. */
static void use_dictionary(struct job *job, ordo_dict *dict)
{
    uint32_t keys[SHARE], values[SHARE], got[SHARE];
    uint8_t  found[SHARE];
    size_t   size = 0;
    for (uint32_t round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < SHARE; i++) {
            keys[i] = key_of(job->number, i);
            values[i] = keys[i] ^ round;
        }
        OK(job, ordo_dict_upsert_host(dict, keys, values, SHARE));
        OK(job, ordo_dict_find_host(dict, keys, SHARE, got, found));
        for (uint32_t i = 0; i < SHARE; i++)
            EXPECT(job, found[i] == 1 && got[i] == values[i]);
        OK(job, ordo_dict_erase_host(dict, keys, SHARE / 2));
        OK(job, ordo_dict_contains_host(dict, keys, SHARE, found));
        for (uint32_t i = 0; i < SHARE; i++)
            EXPECT(job, found[i] == (i >= SHARE / 2));
        OK(job, ordo_dict_size(dict, NULL, &size));
        EXPECT(job, size >= SHARE / 2 && size <= (size_t) THREADS * SHARE);
        if (round == 2 && job->number % 4 == 0)
            OK(job, ordo_dict_compact(dict, NULL));
    }
}

static void own_dictionary(struct job *job)
{
    AUTO_DICT ordo_dict *dict = NULL;
    OK(job, create(job->dev, (int) (job->number % N_STRUCTURES), ORDO_U32, 4, &dict));
    use_dictionary(job, dict);
    if (!job->why[0] && ordo_dict_check(dict, NULL) != ORDO_OK)
        complain(job, __LINE__, "the dictionary is sound");
}

static void own_objects(struct job *job)
{
    if (job->number & 1)
        sort_own(job);
    else
        own_dictionary(job);
}

/* ---- shared objects ---------------------------------------------------------------------------------------------- */

static bool write_words(cl_command_queue queue, cl_mem mem, const uint32_t *words)
{
    return clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, SHARE * sizeof *words, words, 0, NULL, NULL) == CL_SUCCESS;
}

/* Does so through a queue of the thread, and waits for the last event only. */
static void use_dictionary_by_queue(struct job *job, cl_command_queue queue, const cl_mem mem[3])
{
    uint32_t keys[SHARE];
    uint8_t  found[SHARE];
    for (uint32_t i = 0; i < SHARE; i++)
        keys[i] = key_of(job->number, i);
    EXPECT(job, write_words(queue, mem[0], keys) && write_words(queue, mem[1], keys));
    for (int round = 0; round < 4; round++) {
        cl_event                done = NULL;
        const struct ordo_order plain = { .queue = queue }, last = { .queue = queue, .done = &done };
        OK(job, ordo_dict_upsert(job->dict, ordo_at(mem[0], 0), ordo_at(mem[1], 0), SHARE, &plain));
        OK(job, ordo_dict_erase(job->dict, ordo_at(mem[0], 0), SHARE / 2, &plain));
        OK(job, ordo_dict_contains(job->dict, ordo_at(mem[0], 0), SHARE, ordo_at(mem[2], 0), &last));
        const bool read = clEnqueueReadBuffer(queue, mem[2], CL_TRUE, 0, SHARE, found, 1, &done, NULL) == CL_SUCCESS;
        EXPECT(job, clReleaseEvent(done) == CL_SUCCESS && read);
        for (uint32_t i = 0; i < SHARE; i++)
            EXPECT(job, found[i] == (i >= SHARE / 2));
    }
}

static void shared_dictionary(struct job *job)
{
    if (job->number & 1) {
        use_dictionary(job, job->dict);
        return;
    }
    cl_int           code[4] = { CL_SUCCESS };
    cl_context       context = ordo_device_context(job->dev);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, ordo_device_id(job->dev), NULL, &code[0]);
    cl_mem           mem[3];
    for (int i = 0; i < 3; i++)
        mem[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, SHARE * sizeof(uint32_t), NULL, &code[1 + i]);
    if (code[0] == CL_SUCCESS && code[1] == CL_SUCCESS && code[2] == CL_SUCCESS && code[3] == CL_SUCCESS)
        use_dictionary_by_queue(job, queue, mem);
    else
        complain(job, __LINE__, "a queue and buffers can be made");
    (void) clFinish(queue);
    for (int i = 0; i < 3; i++)
        (void) clReleaseMemObject(mem[i]);
    (void) clReleaseCommandQueue(queue);
}

static void shared_dictionaries(const char *title, int n)
{
    for (uint32_t structure = 0; structure < N_STRUCTURES; structure++) {
        struct job jobs[THREADS];
        ordo_dict *dict[2] = { NULL, NULL };
        size_t     size = 0;
        char       name[96];
        bool       good = true;
        deal(jobs, n);
        for (int i = 0; i < n; i++)
            good = good && create(devices[i], (int) structure, ORDO_U32, 4, &dict[i]) == ORDO_OK;
        for (int i = 0; i < THREADS; i++)
            jobs[i].dict = dict[i % n];
        (void) snprintf(name, sizeof name, "%.70s: %s", title, good ? ordo_dict_name(dict[0]) : "no dictionary");
        if (good)
            run(name, shared_dictionary, jobs);
        for (int i = 0; i < n; i++) {
            good = good && ordo_dict_check(dict[i], NULL) == ORDO_OK &&
                   ordo_dict_size(dict[i], NULL, &size) == ORDO_OK &&
                   size == (size_t) THREADS / (size_t) n * (SHARE - SHARE / 2);
            ordo_dict_destroy(&dict[i]);
        }
        (void) snprintf(name, sizeof name, "%.60s: %u as it should be in the end", title, structure);
        report(good, name, "the dictionary is not sound, or not of the size it should have");
    }
}

/* ---- the device itself ------------------------------------------------------------------------------------------- */

/* Odd threads sort. The others query, set, and make calls that fail. */
static void settings(struct job *job)
{
    if (job->number & 1) {
        sort_own(job);
        return;
    }
    for (int round = 0; round < 30; round++) {
        struct ordo_memory       memory;
        struct ordo_tunable_info info;
        char                     text[256] = "";
        const struct ordo_facts *facts = ordo_device_facts(job->dev);
        EXPECT(job, facts->max_group > 0 && facts->open_ms > 0 && facts->build_ms >= 0);
        OK(job, ordo_device_memory(job->dev, &memory));
        OK(job, ordo_device_set_tunable(job->dev, "sort.small_items", round & 1 ? 4 : 8));
        EXPECT(job, ordo_device_set_tunable(job->dev, "no.such.name", 1) == ORDO_INVALID);
        EXPECT(job, ordo_device_last_error(job->dev, text, sizeof text) > 1 && text[0]);
        OK(job, ordo_device_tunable(job->dev, (size_t) round, &info));
        if (round % 10 == 9)
            OK(job, ordo_device_trim(job->dev));
        if (round == 15)
            OK(job, ordo_device_finish(job->dev));
    }
    if (job->number == 2)
        OK(job, ordo_device_self_test(job->dev));
}

/* All threads share the directory of the cache and the file of the profile. */
static void open_and_close(struct job *job)
{
    for (int round = 0; round < 3; round++) {
        AUTO_DEVICE ordo_device *dev = NULL;
        char                     path[256];
        OK(job, open_device(job->select, &dev));
        job->dev = dev;
        sort_own(job);
        if (!job->why[0] && ordo_device_set_tunable(dev, "sort.small_items", 8) != ORDO_OK)
            complain(job, __LINE__, "a tunable is set");
        if (!job->why[0] && ordo_device_save_profile(dev, path, sizeof path) != ORDO_OK)
            complain(job, __LINE__, "the profile is saved");
        job->dev = NULL;
    }
}

/* A read of an entry gives one of the contents that others write. */
static void same_entry(struct job *job)
{
    const struct ordo_digest key = { 1, 2 };
    char                     body[3000];
    memset(body, (int) job->number, sizeof body);
    for (int round = 0; round < 20; round++) {
        size_t bytes = 0;
        ordo_cache_write(job->dev, "thing", key, body, 100 + 300 * (size_t) job->number);
        char *got = ordo_cache_read(job->dev, "thing", key, &bytes);
        bool  good = !got || (got[0] < THREADS && bytes == 100 + 300 * (size_t) got[0]);
        for (size_t i = 0; got && good && i < bytes; i++)
            good = got[i] == got[0];
        if (got && round % 8 == 7)
            ordo_cache_drop(job->dev, "thing", key);
        free(got);
        EXPECT(job, good);
    }
}

/* Runs everything once on one thread for each device, because PoCL 3.1 aborts (pocl_release_dlhandle_cache: Assertion
 * `found->ref_count > 0') if contexts concurrently launch a kernel for the first time. */
static bool warm_up(int n)
{
    for (int i = 0; i < n; i++)
        for (uint32_t number = 0; number < THREADS; number++) {
            struct job job = { .select = select_of(i), .number = number };
            if (number < 2)
                open_and_close(&job); /* the second time with a profile */
            if (job.why[0] || open_device(job.select, &job.dev) != ORDO_OK)
                return false;
            own_objects(&job);
            if (!job.why[0])
                settings(&job);
            if (job.why[0])
                (void) fprintf(stderr, "%s\n", job.why);
            ordo_device_close(&job.dev);
            if (job.why[0])
                return false;
        }
    return true;
}

/* ---- concurrent failures ----------------------------------------------------------------------------------------- */

/* Messages that a log receives, one at a time; without a lock. */
static struct listener {
    size_t        messages;
    volatile bool inside, beside; /* a message is being handled; another one arrived meanwhile */
    volatile char last;
} heard;

static void listen(void *user, ordo_log_level level, const char *message)
{
    struct listener *l = user;
    l->beside = l->beside || l->inside;
    l->inside = true;
    l->messages += level == ORDO_LOG_ERROR;
    for (const char *at = message; *at; at++) /* all of it is there */
        l->last = *at;
    if (l->messages % 16 == 0)
        (void) sched_yield(); /* for another thread to come */
    l->inside = false;
}

enum { FAILURES = 2000 };

/* Makes calls that fail before they take the device's lock, and calls that fail under it. */
static void fail_again_and_again(struct job *job)
{
    char text[256], name[32];
    (void) snprintf(name, sizeof name, "no.such.name.%u", job->number);
    for (int i = 0; i < FAILURES / 4; i++) {
        uint32_t keys[1] = { 0 };
        EXPECT(job, ordo_device_set_tunable(job->dev, name, 1) == ORDO_INVALID);
        EXPECT(job, ordo_device_last_error(job->dev, text, sizeof text) > 30 && strchr(text, ']'));
        EXPECT(job, ordo_sort_host(job->dev, NULL, keys, NULL, 1) == ORDO_INVALID);
        EXPECT(job, ordo_sort_host(job->dev, ordo_sort_params(.first_bit = 33), keys, NULL, 1) == ORDO_INVALID);
        EXPECT(job, ordo_scan(job->dev, ordo_scan_params(.type = ORDO_U32), ordo_none(), ordo_none(), 1, NULL) ==
                        ORDO_INVALID);
    }
}

static void failures_at_once(void)
{
    run_on_device("eight threads fail concurrently, and one log receives it",
                  &(struct ordo_device_config) { .log = listen, .user = &heard, .no_self_test = true }, 0,
                  fail_again_and_again);
    report(heard.messages == (size_t) THREADS * FAILURES && !heard.beside, "each failure was told, one at a time",
           heard.beside ? "a message came while another was taken in" : "not as many messages as failures");
}

/* ---- objects that come and go ------------------------------------------------------------------------------------ */

static void prepare(struct job *job)
{
    const struct ordo_prepare_params params = { .what = job->number ? ORDO_PREPARE_LSM | ORDO_PREPARE_BLINK
                                                                    : ORDO_PREPARE_HASH,
                                                .keys = 1u << ORDO_U32,
                                                .value_bytes = 1u << 4,
                                                .operations = ORDO_PREPARE_UPDATE | ORDO_PREPARE_FIND,
                                                .batch = SHARE };
    struct ordo_prepared             prepared;
    OK(job, ordo_device_prepare(job->dev, &params, &prepared));
    EXPECT(job, prepared.programs > 0 && prepared.failed == 0);
}

/* The first two threads prepare. The others create a dictionary of each structure, use it and destroy it. */
static void come_and_go(struct job *job)
{
    if (job->number < 2)
        prepare(job);
    for (uint32_t round = 0; job->number >= 2 && round < N_STRUCTURES && !job->why[0]; round++) {
        struct ordo_memory memory;
        ordo_dict         *dict = NULL;
        OK(job, create(job->dev, (int) ((job->number + round) % N_STRUCTURES), ORDO_U32, 4, &dict));
        use_dictionary(job, dict);
        ordo_dict_destroy(&dict);
        OK(job, ordo_device_memory(job->dev, &memory));
        if (round == job->number)
            OK(job, ordo_device_trim(job->dev));
        if (round == 3 && job->number < 4)
            OK(job, ordo_device_self_test(job->dev));
    }
}

static void objects_come_and_go(void)
{
    run_on_device("eight threads prepare, or create and destroy dictionaries",
                  &(struct ordo_device_config) { .build_threads = 2 }, 0, come_and_go);
}

/* Each batch of SHARE keys passes in some 16 pieces. */
static void batches_in_pieces(void)
{
    run_on_device("eight threads whose batches pass in pieces, each with a dictionary",
                  &(struct ordo_device_config) { .mask = "cpu=0" }, (size_t) 32 * 13, own_objects);
}

/* ---- a fork while a thread holds the device ---------------------------------------------------------------------- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  gate_moved = PTHREAD_COND_INITIALIZER;
static bool            is_held, may_go;

static void move_gate(bool *flag)
{
    (void) pthread_mutex_lock(&gate);
    *flag = true;
    (void) pthread_cond_broadcast(&gate_moved);
    (void) pthread_mutex_unlock(&gate);
}

static void wait_at_gate(const bool *flag)
{
    (void) pthread_mutex_lock(&gate);
    while (!*flag)
        (void) pthread_cond_wait(&gate_moved, &gate);
    (void) pthread_mutex_unlock(&gate);
}

/* A log function that blocks, with the device's lock held if the failing call holds it. */
static void hold(void *user, ordo_log_level level, const char *message)
{
    (void) user;
    (void) message;
    if (level != ORDO_LOG_ERROR)
        return;
    move_gate(&is_held);
    wait_at_gate(&may_go);
}

static void *fail_under_the_lock(void *dev)
{
    (void) ordo_scan(dev, ordo_scan_params(.type = ORDO_U32), ordo_none(), ordo_none(), 1, NULL);
    return NULL;
}

/* The child's exit status: 0 if each call returned the right status. */
static int in_child(ordo_device *dev)
{
    struct ordo_memory       memory;
    struct ordo_tunable_info info;
    (void) alarm(30); /* a call that waits for a thread that is not there ends the child */
    if (ordo_device_finish(dev) != ORDO_FORKED || ordo_device_trim(dev) != ORDO_FORKED ||
        ordo_device_memory(dev, &memory) != ORDO_FORKED || ordo_device_tunable(dev, 0, &info) != ORDO_FORKED ||
        ordo_device_set_tunable(dev, "scan.group", 64) != ORDO_FORKED)
        return 1;
    if (ordo_device_last_error(dev, NULL, 0) == 0)
        return 2;
    ordo_device_close(&dev);
    return 0;
}

static void fork_beside_a_held_lock(void)
{
    static const char               title[] = "a fork while a thread holds the device";
    const struct ordo_device_config config = { .select = select_of(0), .log = hold, .no_self_test = true };
    ordo_device                    *dev = NULL;
    pthread_t                       thread;
    int                             status = -1;
    if (ordo_device_open(&config, &dev) != ORDO_OK || pthread_create(&thread, NULL, fail_under_the_lock, dev) != 0) {
        report(false, title, "no device, or no thread");
        return;
    }
    wait_at_gate(&is_held);
    const pid_t child = fork();
    if (child == 0)
        _exit(in_child(dev));
    const bool waited = child > 0 && waitpid(child, &status, 0) == child;
    move_gate(&may_go);
    (void) pthread_join(thread, NULL);
    ordo_device_close(&dev);
    report(waited && WIFEXITED(status) && WEXITSTATUS(status) == 0, title,
           !waited || WIFEXITED(status) ? "a call in the child came back otherwise" : "the child hung");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void) info;
    (void) type;
    (void) where;
    return remove(path);
}

static void run_all(const char *title, int n)
{
    static const struct {
        const char *name;
        void (*work)(struct job *job);
    } works[] = {
        { "sorts and dictionaries of their own", own_objects },
        { "settings, errors and memory beside sorts", settings },
        { "one entry of the cache", same_entry },
        { "opening, saving a profile, closing", open_and_close },
    };
    struct job jobs[THREADS];
    char       name[96];
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        deal(jobs, n);
        (void) snprintf(name, sizeof name, "%s: %s", title, works[i].name);
        run(name, works[i].work, jobs);
    }
    (void) snprintf(name, sizeof name, "%s: a shared dictionary", title);
    shared_dictionaries(name, n);
}

/* Kernels that PoCL does not optimize test threads as well, and save half a minute of processor time. */
static const char *nothing(const ordo_device *dev)
{
    (void) dev;
    return "";
}

static const char *unoptimized(const ordo_device *dev, const struct ordo_define *defines)
{
    (void) defines;
    return strcmp(dev->facts.platform, "Portable Computing Language") == 0 ? " -cl-opt-disable" : "";
}

static const struct ordo_build_changes changes = { nothing, unoptimized };

int main(void)
{
    char       dir[] = "/tmp/ordo-threads-XXXXXX", profile[64];
    struct job jobs[THREADS];
    if (!mkdtemp(dir))
        return 1;
    (void) snprintf(profile, sizeof profile, "%s/profile", dir);
    if (setenv("POCL_DEVICES", "pthread basic", 0) != 0 || setenv("ORDO_CACHE", dir, 1) != 0 ||
        setenv("ORDO_PROFILE", profile, 1) != 0)
        return 1;

    ordo_build_changes = &changes;
    find_devices();
    if (n_devices > 0) {
        report(warm_up(n_devices), "one thread, each device", "see above");
        (void) nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        deal(jobs, 1);
        run("eight threads open the device at once, nothing known of it", open_and_close, jobs);
        (void) unlink(profile);
        failures_at_once();
        objects_come_and_go();
        batches_in_pieces();
        fork_beside_a_held_lock();
        const bool open = open_device(select_of(0), &devices[0]) == ORDO_OK &&
                          open_device(select_of(n_devices - 1), &devices[1]) == ORDO_OK;
        report(open, "two devices are open", "a device cannot be opened");
        if (open) {
            run_all("one device", 1);
            run_all(n_devices > 1 ? "two devices" : "one device, opened twice", 2);
        }
        ordo_device_close(&devices[0]);
        ordo_device_close(&devices[1]);
    } else {
        report(false, "there is a device", "there is no OpenCL device to test on");
    }
    (void) nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    (void) printf("1..%d\n", n_tests);
    return n_failed > 0;
}
