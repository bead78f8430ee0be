/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of the functions over arrays: see bad_arguments.h. */
#include "bad_arguments.h"

#include <stdio.h>

unsigned long n_refused;

static ordo_status run(const struct trial *r, const struct given *g)
{
    return r->host ? r->call->run_host(g, r->host_array) : r->call->run(g, r->slice);
}

void refuse(const struct trial *r, const struct given *g, ordo_status want, const char *parameter, const char *what)
{
    test_context(r->t, "%s%s%s: %s %s", r->function->name, r->good.dict ? " of a " : "",
                 r->good.dict ? ordo_dict_name(r->good.dict) : "", parameter, what);
    test_status(r->t, run(r, g), want);
    n_refused += want != ORDO_OK;
}

static void bad_object(struct trial *r, const char *parameter)
{
    struct given g = r->good;

    g.dev = NULL;
    g.dict = NULL;
    g.strings = (struct call_strings) { NULL, NULL };
    refuse(r, &g, ORDO_INVALID, parameter, "is NULL");
}

static void bad_array(struct trial *r, size_t i)
{
    const struct ordo_slice was = r->slice[i];
    const size_t            bytes = r->array[i].bytes;
    const struct {
        const char       *text;
        struct ordo_slice slice;
    } bad[] = {
        { "is absent", ordo_none() },
        { "is of another context", ordo_at(r->foreign_mem, 0) },
        { "begins at the end of time", ordo_at(was.mem, SIZE_MAX) },
        { "has bytes that overflow", ordo_at(was.mem, SIZE_MAX / bytes) },
        { "has an end that overflows", ordo_at(was.mem, SIZE_MAX - r->array[i].count + 1) },
        /* 64 guard bytes follow each array: this many elements and one more */
        { "ends one element too late", ordo_at(was.mem, was.at + 64 / bytes + 1) },
    };

    for (size_t b = 0; b < LENGTH(bad); b++) {
        if (!bad[b].slice.mem && r->call->array[i].optional)
            continue;
        r->slice[i] = bad[b].slice;
        refuse(r, &r->good, ORDO_INVALID, r->call->array[i].name, bad[b].text);
    }
    r->slice[i] = was;
}

/* Array `out` begins at byte `end` of the arena, which is in the part of array i, as a sub-buffer of that part. */
static void overlapping_sub_buffer(struct trial *r, size_t out, size_t i, size_t end)
{
    const cl_buffer_region region = { i * APART, APART };
    cl_int                 code = CL_SUCCESS;
    cl_mem sub = clCreateSubBuffer(r->arena.mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);

    test_true(r->t, code == CL_SUCCESS);
    r->slice[out] = ordo_at(sub, (end - i * APART) / r->array[out].bytes);
    refuse(r, &r->good, ORDO_INVALID, r->call->array[out].name, "overlaps as a sub-buffer");
    (void) clReleaseMemObject(sub);
}

/* An output begins at the last element of another array. All are in one buffer. */
static void overlapping_array(struct trial *r, size_t out)
{
    struct ordo_slice apart[CALL_ARRAYS];
    char              what[96];

    if (!r->call->array[out].output)
        return;
    memcpy(apart, r->slice, sizeof apart);
    for (size_t i = 0; i < r->n; i++)
        r->slice[i] = ordo_at(r->arena.mem, i * APART / r->array[i].bytes);
    for (size_t i = 0; i < r->n; i++) {
        const size_t end = i * APART + (r->array[i].count - 1) * r->array[i].bytes;
        if (i == out)
            continue;
        r->slice[out] = ordo_at(r->arena.mem, end / r->array[out].bytes);
        (void) snprintf(what, sizeof what, "overlaps %s", r->call->array[i].name);
        refuse(r, &r->good, ORDO_INVALID, r->call->array[out].name, what);
        overlapping_sub_buffer(r, out, i, end);
    }
    memcpy(r->slice, apart, sizeof apart);
}

static void bad_host_array(struct trial *r, size_t i)
{
    void *const was = r->host_array[i];

    if (r->call->array[i].optional)
        return;
    r->host_array[i] = NULL;
    refuse(r, &r->good, ORDO_INVALID, r->call->array[i].name, "is NULL");
    r->host_array[i] = was;
}

/* An output in host memory begins at the last byte of another array. */
static void overlapping_host_array(struct trial *r, size_t out)
{
    void *const was = r->host_array[out];
    char        what[96];

    if (!r->call->array[out].output || strcmp(r->call->name, "ordo_sort") == 0) /* in place: sort.c */
        return;
    for (size_t i = 0; i < r->n; i++) {
        if (i == out || !r->host_array[i] || r->array[i].count * r->array[i].bytes == 0)
            continue;
        r->host_array[out] = (char *) r->host_array[i] + r->array[i].count * r->array[i].bytes - 1;
        (void) snprintf(what, sizeof what, "overlaps %s", r->call->array[i].name);
        refuse(r, &r->good, ORDO_INVALID, r->call->array[out].name, what);
    }
    r->host_array[out] = was;
}

static void give_bad_array(struct trial *r, size_t i)
{
    if (r->host) {
        bad_host_array(r, i);
        overlapping_host_array(r, i);
        return;
    }
    bad_array(r, i);
    overlapping_array(r, i);
}

/* Bad numbers of elements. */
static void bad_count(struct trial *r, const char *parameter, struct given *g, size_t *count)
{
    *count = ORDO_MAX_COUNT + 1;
    refuse(r, g, ORDO_TOO_LARGE, parameter, "is more than a call takes");
    *count = SIZE_MAX;
    refuse(r, g, ORDO_TOO_LARGE, parameter, "is more than there can be");
    *count = ORDO_MAX_COUNT / 2;
    if (!r->host)
        refuse(r, g, ORDO_INVALID, parameter, "is more than the arrays have");
}

static void bad_fields(struct trial *r)
{
    static const uint32_t bad_bytes[] = { 0, 1, 2, 3, 5, 7, 12, 24, UINT32_MAX };
    struct given          g = r->good;

    for (int type = -1; r->call->typed && type < 20; type += type < 0 ? 9 : 11) {
        g.type = (ordo_type) type;
        refuse(r, &g, ORDO_INVALID, "the type", "is none");
    }
    g = r->good;
    for (size_t i = 0; r->call->has_values && i < LENGTH(bad_bytes); i++) {
        g.value_bytes = bad_bytes[i]; /* 0 is a valid size, but there are values */
        if (bad_bytes[i] != 0 || !r->host)
            refuse(r, &g, ORDO_INVALID, "value_bytes", "is no size of values, or there are values for none");
    }
}

static void bad_params(struct trial *r, const char *parameter)
{
    struct given g = r->good;

    g.no_params = true;
    refuse(r, &g, ORDO_INVALID, parameter, "is NULL");
    bad_fields(r);
    if (strcmp(parameter, "batch") != 0)
        return;
    g = r->good;
    bad_count(r, "batch.count", &g, &g.count);
    for (size_t i = 0; i < r->n; i++)
        give_bad_array(r, i);
}

/* A refused call hands no event out. */
static cl_event done_of_refused;

void list_bad_orders(const struct trial *r, struct bad_order out[BAD_ORDERS])
{
    static const cl_event  no_event = NULL;
    const struct bad_order all[BAD_ORDERS] = {
        { "has a queue of another context", ORDO_INVALID, { .queue = r->foreign_queue } },
        { "has no list for what it waits for", ORDO_INVALID, { .n_wait = 1 } },
        { "has a list without a length", ORDO_INVALID, { .wait = &no_event } },
        { "waits for no event", ORDO_INVALID, { .n_wait = 1, .wait = &no_event } },
        { "waits for an event that is none beside others", ORDO_INVALID, { .n_wait = 3, .wait = r->last_is_none } },
        { "waits for an event of another context", ORDO_INVALID, { .n_wait = 1, .wait = &r->foreign_event } },
        { "waits for an event that has failed", ORDO_OPENCL, { .n_wait = 1, .wait = &r->failed } },
    };
    memcpy(out, all, sizeof all);
    for (size_t i = 0; i < BAD_ORDERS; i++)
        out[i].order.done = &done_of_refused;
}

static void bad_order(struct trial *r)
{
    struct bad_order bad[BAD_ORDERS];

    list_bad_orders(r, bad);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct given g = r->good;
        g.order = &bad[i].order;
        refuse(r, &g, bad[i].want, "order", bad[i].text);
    }
}

static void bad_runs(struct trial *r)
{
    const struct ordo_run outside[] = { { N / 2, N }, { 0, N / 2 } }, far[] = { { SIZE_MAX, 1 }, { 0, N / 2 } },
                          huge[] = { { 0, SIZE_MAX }, { 0, N / 2 } };
    struct given g = r->good;

    g.runs = NULL;
    refuse(r, &g, ORDO_INVALID, "runs", "is NULL");
    if (!r->host) {
        g.runs = outside;
        refuse(r, &g, ORDO_INVALID, "runs", "end outside the arrays");
    }
    g.runs = far;
    refuse(r, &g, r->host ? ORDO_TOO_LARGE : ORDO_INVALID, "runs", "begin at the end of time");
    g.runs = huge;
    refuse(r, &g, ORDO_TOO_LARGE, "runs", "are longer than there can be");
    g = r->good;
    g.n_runs = ORDO_MAX_RUNS + 1;
    refuse(r, &g, ORDO_INVALID, "n_runs", "is too much");
    g.n_runs = SIZE_MAX;
    refuse(r, &g, ORDO_INVALID, "n_runs", "is the maximum");
}

/* Lists of fields: see also tests/primitive/pack.c. */
static void bad_key_fields(struct trial *r)
{
    struct given g = r->good;

    g.no_params = true;
    refuse(r, &g, ORDO_INVALID, "fields", "is NULL");
    g = r->good;
    g.n_fields = ORDO_MAX_KEY_FIELDS + 1;
    refuse(r, &g, ORDO_INVALID, "n_fields", "is too much");
    g.n_fields = SIZE_MAX;
    refuse(r, &g, ORDO_INVALID, "n_fields", "is the maximum");
}

static void bad_capacity(struct trial *r)
{
    struct given g = r->good;

    if (strcmp(r->call->name, "ordo_string_index_rows") == 0) { /* its arrays are as long as the index says */
        g.room = N - 1;
        refuse(r, &g, ORDO_TOO_SMALL, "capacity", "is less than the rows");
        return;
    }
    g.room = SIZE_MAX;
    refuse(r, &g, r->host ? ORDO_TOO_LARGE : ORDO_INVALID, "capacity", "is the maximum");
    g.room = ORDO_MAX_COUNT + 1;
    if (!strstr(r->call->name, "strings")) /* bytes of strings may be more */
        refuse(r, &g, r->host ? ORDO_TOO_LARGE : ORDO_INVALID, "capacity", "is more than a call takes");
}

/* ordo_select with an index out of range. ordo_top_k with more than all elements is valid. */
static void bad_k(struct trial *r)
{
    struct given g = r->good;

    if (strcmp(r->call->name, "ordo_select") != 0)
        return;
    g.k = g.count;
    refuse(r, &g, ORDO_INVALID, "k", "is the number of elements");
    g.k = SIZE_MAX;
    refuse(r, &g, ORDO_INVALID, "k", "is the maximum");
}

static void bad_relation(struct trial *r)
{
    struct given g = r->good;

    for (int relation = -1; relation < 2000; relation += relation < 4 ? 5 : 1000) {
        g.relation = (ordo_relation) relation;
        refuse(r, &g, ORDO_INVALID, "relation", "is none");
    }
}

/* An unknown type, and a type wider than the values. */
static void bad_value_type(struct trial *r)
{
    struct given g = r->good;

    g.value = (ordo_type) 8;
    refuse(r, &g, ORDO_INVALID, "value", "is no type");
    g.value = ORDO_U64;
    refuse(r, &g, ORDO_INVALID, "value", "is too wide");
}

/* The array of this name; n if there is none. ordo_sort_host sorts in place. */
static size_t array_named(const struct trial *r, const char *name)
{
    const bool in_place = strcmp(r->function->name, "ordo_sort_host") == 0;

    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->call->array[i].name, name) == 0 ||
            (in_place && r->call->array[i].output && strncmp(r->call->array[i].name, name, strlen(name)) == 0))
            return i;
    return r->n;
}

static bool is_one_of(const char *name, const char *a, const char *b)
{
    return strcmp(name, a) == 0 || strcmp(name, b) == 0;
}

/* A column of strings, whose offsets and bytes are arrays `first` and first + 1. Its bad offsets:
 * tests/primitive/strings.c and string_index.c. */
static void bad_column(struct trial *r, const char *parameter, size_t first)
{
    static const uint32_t bad_bytes[] = { 1, 2, 3, 5, 16, UINT32_MAX };
    struct given          g = r->good;

    g.no_column = true;
    refuse(r, &g, ORDO_INVALID, parameter, "is NULL");
    g = r->good;
    for (size_t i = 0; i < LENGTH(bad_bytes); i++) {
        g.offset_bytes = bad_bytes[i];
        refuse(r, &g, ORDO_INVALID, "offset_bytes", "is no size of offsets");
    }
    g = r->good;
    bad_count(r, "the column's count", &g, &g.count);
    g = r->good;
    g.n_bytes = 1;
    if (r->host || r->call->object == OBJECT_OTHER) /* a search on the device has no result for a bad query */
        refuse(r, &g, ORDO_INVALID, "n_bytes", "is less than an offset");
    g.n_bytes = SIZE_MAX;
    if (!r->host)
        refuse(r, &g, ORDO_INVALID, "n_bytes", "is more than the buffer has");
    give_bad_array(r, first);
    give_bad_array(r, first + 1);
}

static void bad_search(struct trial *r)
{
    struct given g = r->good;

    for (int search = -1; search < 20; search += search < 0 ? ORDO_STRING_LONGEST_PREFIX + 2 : 1) {
        g.string_search = (ordo_string_search) search;
        refuse(r, &g, ORDO_INVALID, "search", "is none");
    }
}

/* Gives one parameter a bad value. Returns false if the parameter is unknown. */
static bool give_badly(struct trial *r, size_t p)
{
    const char  *name = r->function->parameter[p];
    const size_t i = array_named(r, name);
    struct given g = r->good;

    if (i < r->n) {
        give_bad_array(r, i);
    } else if (is_one_of(name, "device", "dict") || strcmp(name, "index") == 0) {
        bad_object(r, name);
    } else if (is_one_of(name, "params", "batch") || strcmp(name, "ranges") == 0) {
        bad_params(r, name);
    } else if (is_one_of(name, "taken", "got") || (strcmp(name, "count") == 0 && r->function->pointer[p])) {
        g.no_count = true;
        refuse(r, &g, ORDO_INVALID, name, "is NULL");
    } else if (is_one_of(name, "b_count", "n_rows") ||
               (strcmp(name, "count") == 0 && has_parameter(r->function, "n_queries"))) {
        bad_count(r, name, &g, &g.second);
    } else if (is_one_of(name, "count", "n_queries") || strcmp(name, "a_count") == 0) {
        bad_count(r, name, &g, &g.count);
    } else if (strcmp(name, "order") == 0) {
        bad_order(r);
    } else if (is_one_of(name, "column", "queries") || strcmp(name, "strings") == 0 ||
               is_one_of(name, "prefixes", "lo")) {
        bad_column(r, name, 0);
    } else if (strcmp(name, "hi") == 0) {
        bad_column(r, name, 2);
    } else if (strcmp(name, "search") == 0) {
        bad_search(r);
    } else if (is_one_of(name, "runs", "n_runs")) {
        bad_runs(r);
    } else if (is_one_of(name, "fields", "n_fields")) {
        bad_key_fields(r);
    } else if (strcmp(name, "capacity") == 0) {
        bad_capacity(r);
    } else if (strcmp(name, "value") == 0) {
        bad_value_type(r);
    } else if (strcmp(name, "op") == 0) {
        g.op = (ordo_op) 3;
        refuse(r, &g, ORDO_INVALID, name, "is none");
    } else if (strcmp(name, "k") == 0) {
        bad_k(r);
    } else if (strcmp(name, "relation") == 0) {
        bad_relation(r);
    } else {
        return strcmp(name, "needed") == 0; /* may be NULL, and has no bad value */
    }
    return true;
}

/* ---- a trial ----------------------------------------------------------------------------------------------------- */

/* Created once, because a GPU driver takes half a second for a context. */
static cl_context foreign_context;

void make_foreign_context(const ordo_device *dev)
{
    const cl_device_id id = ordo_device_id(dev);
    cl_int             code = CL_SUCCESS;

    foreign_context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cr_assert(code == CL_SUCCESS);
}

void release_foreign_context(void)
{
    (void) clReleaseContext(foreign_context);
}

void make_foreign(struct trial *r)
{
    cl_int code = CL_SUCCESS;

    r->foreign = foreign_context;
    r->foreign_queue = test_queue_of(r->foreign, ordo_device_id(r->t->dev), 0);
    r->foreign_mem = clCreateBuffer(r->foreign, CL_MEM_READ_WRITE, (size_t) APART * 2, NULL, &code);
    test_true(r->t, code == CL_SUCCESS && r->foreign_queue != NULL);
    r->foreign_event = clCreateUserEvent(r->foreign, &code);
    for (int i = 0; i < 2; i++)
        r->last_is_none[i] = clCreateUserEvent(ordo_device_context(r->t->dev), &code);
    r->failed = clCreateUserEvent(ordo_device_context(r->t->dev), &code);
    test_true(r->t, code == CL_SUCCESS && clSetUserEventStatus(r->failed, CL_OUT_OF_RESOURCES) == CL_SUCCESS);
}

/* NVIDIA's driver hangs in clReleaseContext if a user event was released before it had a status. */
static void release_user_event(cl_event event)
{
    (void) clSetUserEventStatus(event, CL_COMPLETE);
    (void) clReleaseEvent(event);
}

void release_foreign(struct trial *r)
{
    test_true(r->t, done_of_refused == NULL);
    for (int i = 0; i < 2; i++)
        release_user_event(r->last_is_none[i]);
    (void) clReleaseEvent(r->failed);
    release_user_event(r->foreign_event);
    (void) clReleaseMemObject(r->foreign_mem);
    (void) clReleaseCommandQueue(r->foreign_queue);
}

static void make_arrays(struct trial *r)
{
    r->n = call_arrays(r->call);
    for (size_t i = 0; i < r->n; i++) {
        const size_t bytes = call_array_count(&r->call->array[i], N) * r->call->array[i].bytes;
        r->host_array[i] = test_alloc(bytes);
        memset(r->host_array[i], TEST_EMPTY, bytes);
    }
    call_fill(r->t, r->call, N, HELD, r->host_array);
    for (size_t i = 0; i < r->n; i++) {
        r->array[i] = test_upload(r->t, r->host_array[i], call_array_count(&r->call->array[i], N),
                                  r->call->array[i].bytes, 3 * i);
        r->slice[i] = test_slice(&r->array[i]);
    }
    r->arena = test_upload(r->t, NULL, (size_t) CALL_ARRAYS * APART, 1, 0);
}

static void expect_empty(const struct trial *r, const char *name, const void *got, size_t bytes)
{
    AUTO_FREE uint8_t *want = test_alloc(bytes);

    memset(want, TEST_EMPTY, bytes);
    test_same_bytes(r->t, name, got, want, bytes);
}

static void expect_untouched(const struct trial *r)
{
    const bool in_place = strcmp(r->function->name, "ordo_sort_host") == 0;
    uint8_t   *got = test_alloc((size_t) CALL_ARRAYS * APART);

    test_context(r->t, "%s: after refused calls", r->function->name);
    test_ok(r->t, ordo_device_finish(r->t->dev));
    test_download(r->t, &r->arena, got);
    expect_empty(r, "the arena", got, r->arena.count);
    for (size_t i = 0; i < r->n; i++) {
        if (!r->call->array[i].output || (r->host && in_place))
            continue;
        test_download(r->t, &r->array[i], got);
        expect_empty(r, r->call->array[i].name, r->host ? r->host_array[i] : got,
                     r->array[i].count * r->array[i].bytes);
    }
    free(got);
    if (r->good.dict)
        expect_numbers(r->t, r->good.dict, 0, HELD);
}

static void end(struct trial *r)
{
    test_ok(r->t, ordo_device_finish(r->t->dev));
    for (size_t i = 0; i < r->n; i++) {
        test_free(&r->array[i]);
        free(r->host_array[i]);
    }
    test_free(&r->arena);
    release_foreign(r);
    ordo_dict_destroy(&r->good.dict);
    call_strings_free(&r->good.strings);
}

void try_function(struct test *t, const struct function *f, const struct array_call *call, int structure)
{
    struct trial r = { .t = t, .function = f, .call = call, .host = strcmp(f->name, call->name) != 0 };
    ordo_dict   *dict = structure == NO_DICT ? NULL : make_dict(t, t->dev, structure, 0, HELD);

    r.good = call_given(t->dev, dict, N);
    r.good.strings = call_strings_of(t, call, N);
    if (strcmp(call->name, "ordo_top_k") == 0)
        r.good.k = N; /* else its outputs are larger than needed */
    make_foreign(&r);
    make_arrays(&r);
    const bool mixed = call->array[0].input == INPUT_CODES; /* with operations of all codes */
    if (dict && (!ordo_dict_can(dict, call->needs) || (mixed && !ordo_dict_can(dict, ORDO_CAN_ORDER)))) {
        refuse(&r, &r.good, ORDO_UNSUPPORTED, "all", "is right");
    } else {
        for (size_t p = 0; p < f->n; p++)
            if (!give_badly(&r, p))
                test_fail(t, __FILE__, __LINE__, "%s: nobody knows how to give '%s' badly", f->name, f->parameter[p]);
        expect_untouched(&r);
        refuse(&r, &r.good, ORDO_OK, "all", "is right");
    }
    end(&r);
}
