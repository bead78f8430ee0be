/* SPDX-License-Identifier: Apache-2.0 */
/* When calls on a dictionary run: queues, events, threads, forks. */
#include "dict_case.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HELD = 50 }; /* elements of the dictionaries */
#define N ((size_t) 100)

/* ---- order between calls ----------------------------------------------------------------------------------------- */

/* Every call with arrays and an order, on no operations. Calls below FIRST_QUERY change the dictionary. */
enum { FIRST_QUERY = 4, N_CALLS = 9 };
static ordo_status call_nothing(ordo_dict *dict, int which, struct ordo_slice offsets, const struct ordo_order *order)
{
    const struct ordo_slice none = ordo_none();
    const struct ordo_batch batch = { .count = 0 };

    switch (which) {
    case 0:
        return ordo_dict_upsert(dict, none, none, 0, order);
    case 1:
        return ordo_dict_insert(dict, none, none, 0, none, order);
    case 2:
        return ordo_dict_erase(dict, none, 0, order);
    case 3:
        return ordo_dict_apply(dict, &batch, NULL, order);
    case 4:
        return ordo_dict_contains(dict, none, 0, none, order);
    case 5:
        return ordo_dict_count(dict, none, none, 0, none, order);
    case 6:
        return ordo_dict_seek(dict, ORDO_LE, none, 0, none, none, none, order);
    case 7:
        return ordo_dict_range(dict, none, none, 0, offsets, none, none, 0, NULL, order);
    default:
        return ordo_dict_find(dict, none, 0, none, none, order);
    }
}

static void check_nothing(struct test *t, int structure)
{
    AUTO_DICT ordo_dict         *dict = make_dict(t, t->dev, structure, 0, HELD);
    AUTO_ARRAY struct test_array offsets = test_upload(t, NULL, 1, 8, 2);
    cl_int                       code = CL_SUCCESS;

    for (int which = 0; which < N_CALLS; which++) {
        if (which >= 5 && which <= 7 && structure_is(structure, ORDO_NO_ORDER))
            continue;
        cl_event                go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
        const struct ordo_order order = { .n_wait = 1, .wait = &go, .done = &done };
        test_context(t, "call %d of no operations on a %s", which, structures[structure].name);
        if (which < FIRST_QUERY) /* would block */
            test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS);
        test_ok(t, call_nothing(dict, which, test_slice(&offsets), &order));
        test_true(t, done != NULL && (which < FIRST_QUERY || test_event_state(done) != CL_COMPLETE));
        if (which >= FIRST_QUERY)
            test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS);
        test_true(t, clWaitForEvents(1, &done) == CL_SUCCESS);
        (void) clReleaseEvent(go);
        (void) clReleaseEvent(done);
        test_ok(t, call_nothing(dict, which, test_slice(&offsets), NULL));
        if (which == 7)
            test_expect(t, ORDO_U64, &offsets, &(uint64_t) { 0 }, 1);
    }
    expect_numbers(t, dict, 0, HELD);
}

/* Updates and a query on alternating queues without waits. The query waits for an event. */
static void check_turns(struct test *t, const cl_command_queue queue[3])
{
    enum { COUNT = 5000 };
    struct model        model = model_empty(ORDO_U32, 4);
    AUTO_FREE uint32_t *keys = test_alloc(COUNT * sizeof *keys), *values = test_alloc(COUNT * sizeof *values);
    AUTO_FREE uint8_t  *found = test_alloc(COUNT), *want = test_alloc(COUNT);
    cl_int              code = CL_SUCCESS;
    cl_event            go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
    ordo_dict          *dict = NULL;

    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = key_of(i);
        values[i] = value_of(i);
        want[i] = i >= COUNT / 3;
    }
    AUTO_ARRAY struct test_array keys_on = test_upload(t, keys, COUNT, 4, 1);
    AUTO_ARRAY struct test_array values_on = test_upload(t, values, COUNT, 4, 5),
                                 found_on = test_upload(t, NULL, COUNT, 1, 3);
    const struct ordo_order orders[] = { { .queue = queue[0] },
                                         { .queue = queue[1] },
                                         { .queue = queue[2], .n_wait = 1, .wait = &go, .done = &done } };

    test_ok(t, create(t->dev, LSM, ORDO_U32, 4, &dict)); /* its updates do not wait */
    test_ok(t, ordo_dict_upsert(dict, test_slice(&keys_on), test_slice(&values_on), COUNT, &orders[0]));
    test_ok(t, ordo_dict_erase(dict, test_slice(&keys_on), COUNT / 3, &orders[1]));
    test_ok(t, ordo_dict_contains(dict, test_slice(&keys_on), COUNT, test_slice(&found_on), &orders[2]));
    test_true(t, done != NULL && test_event_state(done) != CL_COMPLETE);
    test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
    test_download(t, &found_on, found);
    test_same_bytes(t, "found", found, want, COUNT);
    model_batch(&model, ORDO_UPSERT, keys, values, COUNT);
    model_batch(&model, ORDO_ERASE, keys, NULL, COUNT / 3);
    expect_content(t, dict, &model);

    model_free(&model);
    ordo_dict_destroy(&dict);
    (void) clReleaseEvent(go);
    (void) clReleaseEvent(done);
}

DEVICE_TEST(dict_order, calls_on_several_queues_run_in_order)
{
    cl_command_queue own = test_queue(t, 0), other = test_queue(t, 0),
                     loose = test_queue(t, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);

    test_true(t, own && other);
    test_context(t, "the device's queue");
    check_turns(t, (const cl_command_queue[3]) { NULL, NULL, NULL });
    test_context(t, "two queues in turn");
    check_turns(t, (const cl_command_queue[3]) { own, other, own });
    test_context(t, "a queue, the device's, another");
    check_turns(t, (const cl_command_queue[3]) { own, NULL, other });
    if (loose) {
        test_context(t, "an out-of-order queue");
        check_turns(t, (const cl_command_queue[3]) { loose, loose, loose });
        test_context(t, "an out-of-order queue and another");
        check_turns(t, (const cl_command_queue[3]) { loose, own, loose });
        (void) clReleaseCommandQueue(loose);
    }
    (void) clReleaseCommandQueue(own);
    (void) clReleaseCommandQueue(other);
}

/* Clears or destroys a dictionary while its commands are pending. They complete and see the old content. */
static void check_going(struct test *t, bool destroy)
{
    enum { COUNT = 5000 };
    AUTO_FREE uint32_t *keys = test_alloc(COUNT * sizeof *keys), *want = test_alloc(COUNT * sizeof *want);
    cl_int              code = CL_SUCCESS;
    cl_event            go = clCreateUserEvent(ordo_device_context(t->dev), &code), done = NULL;
    ordo_dict          *dict = make_dict(t, t->dev, LSM, 0, COUNT);
    size_t              size = 1;
    ordo_status         status = ORDO_OK;

    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = key_of(i);
        want[i] = value_of(i);
    }
    AUTO_ARRAY struct test_array keys_on = test_upload(t, keys, COUNT, 4, 1), out = test_upload(t, NULL, COUNT, 4, 3);
    const struct ordo_order      order = { .n_wait = 1, .wait = &go, .done = &done };

    test_context(t, destroy ? "destroying" : "clearing");
    test_ok(t, ordo_dict_find(dict, test_slice(&keys_on), COUNT, test_slice(&out), ordo_none(), &order));
    test_true(t, test_event_state(done) != CL_COMPLETE);
    if (destroy)
        ordo_dict_destroy(&dict);
    else
        status = ordo_dict_clear(dict);
    test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS && clWaitForEvents(1, &done) == CL_SUCCESS);
    test_ok(t, status);
    test_expect(t, ORDO_U32, &out, want, COUNT);
    if (!destroy) {
        test_ok(t, ordo_dict_size(dict, NULL, &size));
        test_true(t, size == 0);
    }
    ordo_dict_destroy(&dict);
    (void) clReleaseEvent(go);
    (void) clReleaseEvent(done);
}

DEVICE_TEST(dict_order, pending_commands_complete_after_destroy)
{
    check_going(t, false);
    check_going(t, true);
}

DEVICE_TEST(dict_order, no_operations_signal_done)
{
    for (int s = 0; s < N_STRUCTURES; s++)
        check_nothing(t, s);
}

/* ---- threads and forks ------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 8, SHARE = 700 };

struct worker {
    ordo_dict  *dict;
    uint32_t    first; /* of the thread's own numbers */
    ordo_status status;
    int         wrong;
};

/* Stores, erases and queries keys that no other thread uses. */
static void *work(void *argument)
{
    struct worker *w = argument;
    uint32_t       keys[SHARE], values[SHARE], got[SHARE];
    uint8_t        found[SHARE];

    for (uint32_t round = 0; round < ROUNDS && w->status == ORDO_OK; round++) {
        for (uint32_t i = 0; i < SHARE; i++) {
            keys[i] = key_of(w->first + i);
            values[i] = value_of(w->first + i) + (round + 1 < ROUNDS ? round + 1 : 0);
        }
        w->status = ordo_dict_upsert_host(w->dict, keys, values, SHARE);
        if (w->status == ORDO_OK)
            w->status = ordo_dict_find_host(w->dict, keys, SHARE, got, found);
        for (uint32_t i = 0; i < SHARE; i++)
            w->wrong += found[i] != 1 || got[i] != values[i];
        if (w->status == ORDO_OK && round + 1 < ROUNDS)
            w->status = ordo_dict_erase_host(w->dict, keys, SHARE);
        if (w->status == ORDO_OK)
            w->status = ordo_dict_contains_host(w->dict, keys, SHARE, found);
        for (uint32_t i = 0; i < SHARE; i++)
            w->wrong += found[i] != (round + 1 == ROUNDS);
    }
    return NULL;
}

DEVICE_TEST(dict_order, threads_may_share_a_dictionary)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, s, 0, 3000);
        pthread_t            thread[THREADS];
        struct worker        workers[THREADS];
        test_context(t, "%d threads on a %s", (int) THREADS, structures[s].name);
        for (uint32_t i = 0; i < THREADS; i++) {
            workers[i] = (struct worker) { dict, 3000 + i * SHARE, ORDO_OK, 0 };
            test_true(t, pthread_create(&thread[i], NULL, work, &workers[i]) == 0);
        }
        for (int i = 0; i < THREADS; i++)
            test_true(t, pthread_join(thread[i], NULL) == 0);
        for (int i = 0; i < THREADS; i++) {
            test_ok(t, workers[i].status);
            test_true(t, workers[i].wrong == 0);
        }
        expect_numbers(t, dict, 0, 3000 + THREADS * SHARE);
    }
}

/* A query over host memory, which a thread waits for. */
struct waiting_query {
    ordo_dict  *dict;
    atomic_bool begun, ended;
    ordo_status status;
    size_t      n;
    uint32_t   *keys, *values;
    uint8_t    *found;
};

static void *wait_for_query(void *argument)
{
    struct waiting_query *q = argument;

    atomic_store(&q->begun, true);
    q->status = ordo_dict_find_host(q->dict, q->keys, q->n, q->values, q->found);
    atomic_store(&q->ended, true);
    return NULL;
}

struct lock_user {
    ordo_device *dev;
    atomic_bool  ended;
    ordo_status  status;
};

static void *lock_often(void *argument)
{
    struct lock_user  *user = argument;
    struct ordo_memory memory;

    for (int i = 0; i < 20 && user->status == ORDO_OK; i++) {
        (void) nanosleep(&(struct timespec) { .tv_nsec = 5000000 }, NULL);
        user->status = ordo_device_memory(user->dev, &memory);
    }
    atomic_store(&user->ended, true);
    return NULL;
}

/* While one thread waits for the device, which an event of the caller stops, another thread gets the lock. */
static void wait_beside(struct test *t, size_t n)
{
    AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, 0, 0, HELD);
    AUTO_FREE uint32_t  *keys = test_alloc(n * 4), *values = test_alloc(n * 4);
    AUTO_FREE uint8_t   *found = test_alloc(n);
    struct waiting_query query = { .dict = dict, .n = n, .keys = keys, .values = values, .found = found };
    struct lock_user     beside = { .dev = t->dev };
    pthread_t            thread[2];
    cl_int               code = CL_SUCCESS;

    for (uint32_t i = 0; i < n; i++)
        keys[i] = key_of(i % HELD);
    test_context(t, "a query of %zu keys waits", n);
    test_ok(t, ordo_dict_find_host(dict, keys, n, values, found)); /* builds the kernels */
    memset(found, 0, n);
    cl_event go = clCreateUserEvent(ordo_device_context(t->dev), &code);
    test_true(t, clEnqueueMarkerWithWaitList(ordo_device_queue(t->dev), 1, &go, NULL) == CL_SUCCESS);
    test_true(t, pthread_create(&thread[0], NULL, wait_for_query, &query) == 0);
    while (!atomic_load(&query.begun))
        (void) nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
    test_true(t, pthread_create(&thread[1], NULL, lock_often, &beside) == 0);
    for (int i = 0; i < 20000 && !atomic_load(&beside.ended); i++)
        (void) nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
    const bool overlapped = atomic_load(&beside.ended) && !atomic_load(&query.ended);
    test_true(t, clSetUserEventStatus(go, CL_COMPLETE) == CL_SUCCESS);
    for (int i = 0; i < 2; i++)
        test_true(t, pthread_join(thread[i], NULL) == 0);
    (void) clReleaseEvent(go);
    test_true(t, overlapped);
    test_ok(t, query.status);
    test_ok(t, beside.status);
    for (uint32_t i = 0; i < n; i++)
        test_true(t, found[i] == 1 && values[i] == value_of(i % HELD));
}

MASK_TEST(dict_order, others_enter_while_a_query_waits, "", "cpu=0")
{
    wait_beside(t, 100);
}

/* In the child: the exit status is the failed expectation. */
static int child_of_fork(ordo_dict *dict)
{
    uint32_t          words[2] = { 5, 6 };
    uint8_t           flags[2] = { 0 };
    size_t            size = 0;
    const ordo_status got[] = {
        ordo_dict_upsert_host(dict, words, words, 2),
        ordo_dict_find_host(dict, words, 2, words, flags),
        ordo_dict_size(dict, NULL, &size),
        ordo_dict_compact(dict, NULL),
        ordo_dict_check(dict, NULL),
        ordo_dict_clear(dict),
    };
    for (int i = 0; i < (int) LENGTH(got); i++)
        if (got[i] != ORDO_FORKED)
            return 1 + i;
    ordo_dict_destroy(&dict);
    return dict ? 20 : 0;
}

DEVICE_TEST(dict_order, after_fork_every_call_fails)
{
    for (int s = 0; s < N_STRUCTURES; s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
        int                  status = 0;
        test_context(t, "a child of fork with a %s", structures[s].name);
        const pid_t child = fork();
        if (child == 0)
            _exit(child_of_fork(dict));
        test_true(t, child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        if (WEXITSTATUS(status) != 0)
            test_fail(t, __FILE__, __LINE__, "expectation %d of the child does not hold", WEXITSTATUS(status));
        expect_numbers(t, dict, 0, HELD);
    }
}
