/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments for every public function, parameter by parameter as declared in include/ordo. Each is refused with
 * its status and changes nothing. An unknown function or parameter fails the test.
 *
 * Functions over arrays come from calls.h; others have a row in `others`. Parameters of a single call (bit ranges,
 * gaps between runs, codes of mixed batches) are tested with that call. Released objects are not tested, because
 * OpenCL gives no guarantee for them. */
#include "tests/dict/dict_case.h"
#include "tests/support/calls.h"

#include <dirent.h>
#include <stdio.h>

enum { N = 100, HELD = 50, APART = 4096 /* bytes between arrays in the arena */, NO_DICT = -1 };

/* ---- the headers ------------------------------------------------------------------------------------------------- */

enum { PARAMETERS = 12, FUNCTIONS = 200 };

struct function {
    char   name[64];
    char   parameter[PARAMETERS][32];
    bool   pointer[PARAMETERS]; /* neither a value nor an array */
    size_t n;
};

static struct function functions[FUNCTIONS];
static size_t          n_functions;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Copies the last word before `end`. */
static void last_word(const char *begin, const char *end, char *to, size_t room)
{
    while (end > begin && !is_letter(end[-1]))
        end--;
    const char *word = end;
    while (word > begin && is_letter(word[-1]))
        word--;
    cr_assert((size_t) (end - word) < room);
    memcpy(to, word, (size_t) (end - word));
    to[end - word] = 0;
}

/* Parses one declaration: "ordo_status ordo_scan(ordo_device *device, ..., const struct ordo_order *order)". */
static void read_declaration(const char *text, const char *end)
{
    struct function *f = &functions[n_functions++];
    const char      *open = memchr(text, '(', (size_t) (end - text));

    cr_assert(n_functions < FUNCTIONS && open != NULL);
    *f = (struct function) { .n = 0 };
    last_word(text, open, f->name, sizeof f->name);
    for (const char *at = open + 1; at < end;) {
        const char *next = memchr(at, ',', (size_t) (end - at));
        next = next ? next : end;
        cr_assert(f->n < PARAMETERS);
        last_word(at, next, f->parameter[f->n], sizeof f->parameter[f->n]);
        f->pointer[f->n] = memchr(at, '*', (size_t) (next - at)) != NULL;
        f->n += strcmp(f->parameter[f->n], "void") != 0;
        at = next + 1;
    }
}

static void read_header(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    AUTO_FREE char *text = test_alloc(1 << 18);
    const size_t    bytes = fread(text, 1, (1 << 18) - 1, file);

    fclose(file);
    text[bytes] = 0;
    for (const char *at = text; (at = strstr(at, "ORDO_API "));) {
        const char *end = strstr(at, ");");
        if (at > text && at[-1] == '\n' && end)
            read_declaration(at, end);
        at += strlen("ORDO_API ");
    }
}

static void read_headers(void)
{
    DIR *dir = opendir(TEST_SOURCE_DIR "/../include/ordo");

    cr_assert(dir != NULL);
    n_functions = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[512];
        (void) snprintf(path, sizeof path, "%s/../include/ordo/%s", TEST_SOURCE_DIR, entry->d_name);
        if (strstr(entry->d_name, ".h"))
            read_header(path);
    }
    closedir(dir);
    cr_assert(n_functions > 70, "%zu functions found", n_functions);
}

static bool has_parameter(const struct function *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->parameter[i], name) == 0)
            return true;
    return false;
}

/* ---- calls over arrays ------------------------------------------------------------------------------------------- */

/* A function and its arguments. */
struct trial {
    struct test             *t;
    const struct function   *function;
    const struct array_call *call;
    bool                     host; /* the form over host memory */
    struct given             good;
    size_t                   n;
    struct test_array        array[CALL_ARRAYS], arena;
    struct ordo_slice        slice[CALL_ARRAYS];
    void                    *host_array[CALL_ARRAYS];
    cl_context               foreign; /* another context, with a queue and a buffer */
    cl_command_queue         foreign_queue;
    cl_mem                   foreign_mem;
    cl_event                 foreign_event, failed;
    cl_event                 last_is_none[3]; /* two pending events, and NULL */
};

static unsigned long n_refused; /* guards against a test that tries nothing */

static ordo_status run(const struct trial *r, const struct given *g)
{
    return r->host ? r->call->run_host(g, r->host_array) : r->call->run(g, r->slice);
}

static void refuse(const struct trial *r, const struct given *g, ordo_status want, const char *parameter,
                   const char *what)
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
    static const uint32_t bad_bytes[] = { 0, 1, 2, 3, 5, 7, 12, 16, UINT32_MAX };
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

struct bad_order {
    const char       *text;
    ordo_status       want;
    struct ordo_order order;
};
enum { BAD_ORDERS = 7 };

/* A refused call hands no event out. */
static cl_event done_of_refused;

static void list_bad_orders(const struct trial *r, struct bad_order out[BAD_ORDERS])
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
    if (r->call->object == OBJECT_OTHER) /* bytes of strings may be more */
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

static void make_foreign_context(const ordo_device *dev)
{
    const cl_device_id id = ordo_device_id(dev);
    cl_int             code = CL_SUCCESS;

    foreign_context = clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    cr_assert(code == CL_SUCCESS);
}

static void make_foreign(struct trial *r)
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

static void release_foreign(struct trial *r)
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

/* Tests every parameter of a function over arrays. structure: of structures.h, or NO_DICT. */
static void try_function(struct test *t, const struct function *f, const struct array_call *call, int structure)
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

/* ---- the other functions ----------------------------------------------------------------------------------------- */

static void texts(struct test *t)
{
    for (int i = -2000; i < 2000; i++) {
        test_true(t, ordo_status_string((ordo_status) i)[0] != 0);
        test_true(t, ordo_cl_error_string(i)[0] != 0);
    }
    test_true(t, strcmp(ordo_status_string((ordo_status) 1000), "unknown status") == 0);
    test_true(t, strcmp(ordo_cl_error_string(INT32_MIN), "unknown OpenCL code") == 0);
    test_true(t, strcmp(ordo_version(), ORDO_VERSION) == 0);
}

static void opening(struct test *t)
{
    char                            message[256] = "";
    const struct ordo_device_config no_such = { .select = "no such device",
                                                .message = message,
                                                .message_bytes = sizeof message },
                                    bad_mask = { .mask = "lanes=7",
                                                 .message = message,
                                                 .message_bytes = sizeof message };
    ordo_device *const something = (ordo_device *) t;
    ordo_device       *dev = something;

    test_status(t, ordo_device_open(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_device_open(&no_such, &dev), ORDO_NO_DEVICE);
    test_true(t, dev == NULL && strstr(message, "no such device") != NULL);
    dev = something;
    test_status(t, ordo_device_open(&bad_mask, &dev), ORDO_INVALID);
    test_true(t, dev == NULL && strstr(message, "lanes=7") != NULL);
}

static void adopting(struct test *t)
{
    const cl_context   context = ordo_device_context(t->dev);
    const cl_device_id id = ordo_device_id(t->dev);
    struct trial       r = { .t = t };
    ordo_device       *dev = (ordo_device *) t;

    make_foreign(&r);
    test_status(t, ordo_device_adopt(context, id, NULL, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_device_adopt(NULL, id, NULL, NULL, &dev), ORDO_INVALID);
    test_true(t, dev == NULL);
    test_status(t, ordo_device_adopt(context, NULL, NULL, NULL, &dev), ORDO_INVALID);
    test_status(t, ordo_device_adopt(context, id, r.foreign_queue, NULL, &dev), ORDO_INVALID);
    test_status(t, ordo_device_adopt(r.foreign, id, ordo_device_queue(t->dev), NULL, &dev), ORDO_INVALID);
    test_true(t, dev == NULL);
    release_foreign(&r);
}

static void no_device(struct test *t)
{
    char                     text[8] = "as was";
    struct ordo_memory       memory;
    struct ordo_tunable_info info;
    ordo_device             *none = NULL;

    ordo_device_close(NULL);
    ordo_device_close(&none);
    test_true(t, !ordo_device_context(NULL) && !ordo_device_id(NULL) && !ordo_device_queue(NULL));
    test_true(t, !ordo_device_facts(NULL));
    test_true(t, ordo_device_last_error(NULL, text, sizeof text) == 0 && strcmp(text, "as was") == 0);
    test_true(t, ordo_device_last_cl_error(NULL) == 0);
    test_status(t, ordo_device_self_test(NULL), ORDO_INVALID);
    test_status(t, ordo_device_memory(NULL, &memory), ORDO_INVALID);
    test_status(t, ordo_device_trim(NULL), ORDO_INVALID);
    test_status(t, ordo_device_tunable(NULL, 0, &info), ORDO_INVALID);
    test_status(t, ordo_device_set_tunable(NULL, "sort.k4v4.group", 1), ORDO_INVALID);
    test_status(t, ordo_device_save_profile(NULL, text, sizeof text), ORDO_INVALID);
    test_status(t, ordo_device_finish(NULL), ORDO_INVALID);
    test_status(t, ordo_device_prepare(NULL, NULL, NULL), ORDO_INVALID);
}

/* tests/primitive/pack.c tries fields that exceed a key. */
static void key_plans(struct test *t)
{
    const struct ordo_key_field field = { .type = ORDO_U32 };
    struct ordo_key_layout      out;

    test_status(t, ordo_key_plan(NULL, &field, 1, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, NULL, 1, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, &field, 0, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, &field, SIZE_MAX, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, &field, 1, NULL), ORDO_INVALID);
}

static void preparation(struct test *t)
{
    struct ordo_prepared out = { .programs = 77 };

    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.what = 1u << 30), &out), ORDO_INVALID);
    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.keys = 1u << 8), &out), ORDO_INVALID);
    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.value_bytes = 1u << 3), &out), ORDO_INVALID);
    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.operations = 1u << 7), &out), ORDO_INVALID);
    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.batch = SIZE_MAX), &out), ORDO_TOO_LARGE);
    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.part = 1), &out), ORDO_INVALID);
    test_status(t, ordo_device_prepare(t->dev, ordo_prepare_params(.part = 3, .parts = 3), &out), ORDO_INVALID);
    test_true(t, out.programs == 77);
}

static void device_parameters(struct test *t)
{
    char                     text[8] = "as was";
    struct ordo_tunable_info info;

    test_status(t, ordo_device_memory(t->dev, NULL), ORDO_INVALID);
    test_status(t, ordo_device_tunable(t->dev, 0, NULL), ORDO_INVALID);
    test_status(t, ordo_device_tunable(t->dev, 100000, &info), ORDO_INVALID);
    test_status(t, ordo_device_tunable(t->dev, SIZE_MAX, &info), ORDO_INVALID);
    test_status(t, ordo_device_set_tunable(t->dev, NULL, 1), ORDO_INVALID);
    test_status(t, ordo_device_set_tunable(t->dev, "", 1), ORDO_INVALID);
    test_status(t, ordo_device_set_tunable(t->dev, "no.such.name", 1), ORDO_INVALID);
    test_ok(t, ordo_device_tunable(t->dev, 0, &info));
    test_status(t, ordo_device_set_tunable(t->dev, info.name, UINT32_MAX), ORDO_INVALID);
    test_true(t, strstr(ordo_device_facts(t->dev)->name, "") != NULL);
    const size_t need = ordo_device_last_error(t->dev, NULL, 0);
    test_true(t, need > sizeof text && ordo_device_last_error(t->dev, NULL, sizeof text) == need);
    test_true(t, ordo_device_last_error(t->dev, text, 0) == need && strcmp(text, "as was") == 0);
    test_true(t, ordo_device_last_error(t->dev, text, sizeof text) == need && strlen(text) == sizeof text - 1);
}

/* A profile path that cannot be written. */
static void profile(struct test *t)
{
    const char     *was = getenv("ORDO_PROFILE");
    AUTO_FREE char *kept = was ? strdup(was) : NULL;
    char            path[256] = "";

    cr_assert(setenv("ORDO_PROFILE", "/proc/no/such/place", 1) == 0);
    test_status(t, ordo_device_save_profile(t->dev, path, sizeof path), ORDO_IO);
    test_true(t, strcmp(path, "/proc/no/such/place") == 0);
    test_status(t, ordo_device_save_profile(t->dev, NULL, 0), ORDO_IO);
    test_status(t, ordo_device_save_profile(t->dev, NULL, 100), ORDO_IO);
    cr_assert((kept ? setenv("ORDO_PROFILE", kept, 1) : unsetenv("ORDO_PROFILE")) == 0);
}

static void types(struct test *t)
{
    const uint64_t key = 5;

    for (int type = -1; type < 2000; type += type < 0 ? 9 : 331) {
        test_true(t, ordo_type_bytes((ordo_type) type) == 0);
        test_true(t, ordo_key_bits((ordo_type) type, &key) == 0);
    }
    test_true(t, ordo_key_bits(ORDO_U64, NULL) == 0);
}

typedef ordo_status index_builder(ordo_device *dev, ordo_type key, struct ordo_slice keys, size_t count,
                                  const struct ordo_order *order, ordo_index **out);

static void indexes_by(struct test *t, const char *name, index_builder *build)
{
    struct function              function = { .n = 0 };
    struct trial                 r = { .t = t, .function = &function };
    AUTO_ARRAY struct test_array on = test_upload(t, NULL, N, 4, 1);
    const struct {
        struct ordo_slice keys;
        size_t            count;
        ordo_status       want;
    } bad[] = { { ordo_none(), N, ORDO_INVALID },
                { ordo_at(on.mem, SIZE_MAX), N, ORDO_INVALID },
                { test_slice(&on), ORDO_MAX_COUNT / 2, ORDO_INVALID },
                { test_slice(&on), ORDO_MAX_COUNT + 1, ORDO_TOO_LARGE },
                { test_slice(&on), SIZE_MAX, ORDO_TOO_LARGE } };
    ordo_index *index = NULL;

    snprintf(function.name, sizeof function.name, "%s", name);
    make_foreign(&r);
    struct bad_order orders[BAD_ORDERS];
    list_bad_orders(&r, orders);
    test_status(t, build(NULL, ORDO_U32, test_slice(&on), N, NULL, &index), ORDO_INVALID);
    test_status(t, build(t->dev, ORDO_U32, test_slice(&on), N, NULL, NULL), ORDO_INVALID);
    test_status(t, build(t->dev, (ordo_type) 8, test_slice(&on), N, NULL, &index), ORDO_INVALID);
    test_status(t, build(t->dev, ORDO_U32, ordo_at(r.foreign_mem, 0), N, NULL, &index), ORDO_INVALID);
    for (size_t i = 0; i < LENGTH(orders); i++)
        test_status(t, build(t->dev, ORDO_U32, test_slice(&on), N, &orders[i].order, &index), orders[i].want);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        index = (ordo_index *) t;
        test_status(t, build(t->dev, ORDO_U32, bad[i].keys, bad[i].count, NULL, &index), bad[i].want);
        test_true(t, index == NULL);
    }
    ordo_index_destroy(NULL);
    ordo_index_destroy(&index);
    test_true(t, ordo_index_bytes(NULL) == 0);
    release_foreign(&r);
}

static void indexes(struct test *t)
{
    indexes_by(t, "ordo_index_build", ordo_index_build);
}

static void compressed_indexes(struct test *t)
{
    indexes_by(t, "ordo_index_build_compressed", ordo_index_build_compressed);
}

/* Builds of an index of three strings. Its bad offsets: tests/primitive/string_index.c. */
struct string_trial {
    struct test             *t;
    struct ordo_strings      column, no_offsets, bad_width, too_many, foreign;
    struct ordo_host_strings host;
    struct ordo_slice        out, small;
};

static void bad_string_builds(const struct string_trial *r)
{
    struct test                           *t = r->t;
    const struct ordo_string_index_params *params = ordo_string_index_params(0);
    const struct ordo_strings *const       bad[] = { NULL, &r->no_offsets, &r->bad_width, &r->foreign, &r->too_many };
    ordo_string_index                     *index = NULL;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        index = (ordo_string_index *) t;
        test_status(t, ordo_string_index_build(t->dev, params, bad[i], NULL, &index),
                    bad[i] == &r->too_many ? ORDO_TOO_LARGE : ORDO_INVALID);
        test_true(t, index == NULL);
    }
    test_status(t, ordo_string_index_build(NULL, params, &r->column, NULL, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build(t->dev, NULL, &r->column, NULL, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build(t->dev, params, &r->column, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(NULL, params, &r->host, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(t->dev, NULL, &r->host, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(t->dev, params, NULL, &index), ORDO_INVALID);
    test_status(t, ordo_string_index_build_host(t->dev, params, &r->host, NULL), ORDO_INVALID);
    ordo_string_index_destroy(NULL);
    ordo_string_index_destroy(&index);
}

static void bad_partial_keys(const struct string_trial *r)
{
    const struct ordo_string_partial bad[] = { { .key_bytes = 6 },
                                               { .key_bytes = 132 },
                                               { .key_bytes = 4, .page_keys = 3 },
                                               { .key_bytes = 4, .page_keys = 65537 },
                                               { .key_bytes = 4, .nibble_bits = 3 },
                                               { .key_bytes = 4, .nibble_bits = 16 },
                                               { .key_bytes = 4, .prefix = (ordo_string_prefix) 3 },
                                               { .page_keys = 16 },
                                               { .nibble_bits = 4 },
                                               { .prefix = ORDO_CONTIGUOUS_PREFIX } };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        const struct ordo_string_index_params params = { .partial = bad[i] };
        ordo_string_index                    *index = (ordo_string_index *) r->t;
        test_status(r->t, ordo_string_index_build(r->t->dev, &params, &r->column, NULL, &index), ORDO_INVALID);
        test_true(r->t, index == NULL);
        test_status(r->t, ordo_string_index_build_host(r->t->dev, &params, &r->host, &index), ORDO_INVALID);
    }
}

static void bad_string_statistics(const struct string_trial *r)
{
    struct test                                       *t = r->t;
    struct ordo_string_index_statistics                stats;
    AUTO(ordo_string_index_destroy) ordo_string_index *index = NULL;
    test_ok(t, ordo_string_index_build(t->dev, ordo_string_index_params(0), &r->column, NULL, &index));
    test_status(t, ordo_string_index_get_statistics(NULL, &stats), ORDO_INVALID);
    test_status(t, ordo_string_index_get_statistics(index, NULL), ORDO_INVALID);
}

static void string_indexes(struct test *t)
{
    static const uint32_t        offsets[] = { 0, 1, 2, 4 };
    struct function              function = { .name = "ordo_string_index_build" };
    struct trial                 foreign = { .t = t, .function = &function };
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, offsets, 4, 4, 1),
                                 on_bytes = test_upload(t, "abcd", 4, 1, 1);
    struct bad_order bad[BAD_ORDERS];
    make_foreign(&foreign);
    const struct ordo_strings column = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 4, 3 };
    const struct string_trial r = { .t = t,
                                    .column = column,
                                    .no_offsets = { ordo_none(), 4, column.bytes, 4, 3 },
                                    .bad_width = { column.offsets, 2, column.bytes, 4, 3 },
                                    .too_many = { column.offsets, 4, column.bytes, 4, SIZE_MAX },
                                    .foreign = { column.offsets, 4, ordo_at(foreign.foreign_mem, 0), 4, 3 },
                                    .host = { offsets, 4, "abcd", 4, 3 } };
    bad_string_builds(&r);
    bad_partial_keys(&r);
    bad_string_statistics(&r);
    list_bad_orders(&foreign, bad);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        ordo_string_index *index = NULL;
        test_status(t, ordo_string_index_build(t->dev, ordo_string_index_params(0), &column, &bad[i].order, &index),
                    bad[i].want);
        test_true(t, index == NULL);
    }
    release_foreign(&foreign);
}

/* Arguments of the calls on dictionaries of strings: those on indexes, and a dictionary with values of 4 bytes. */
struct string_dict_trial {
    struct string_trial                on;
    ordo_string_dict                  *dict;
    struct ordo_slice                  values;
    const struct ordo_string_elements *elements;
};

static void bad_string_dicts(struct test *t)
{
    static const uint32_t bad_bytes[] = { 1, 2, 3, 5, 7, 12, 16, UINT32_MAX };
    ordo_string_dict     *dict = (ordo_string_dict *) t;
    test_status(t, ordo_string_dict_create(NULL, ordo_string_dict_config(0), &dict), ORDO_INVALID);
    test_true(t, dict == NULL);
    test_status(t, ordo_string_dict_create(t->dev, NULL, &dict), ORDO_INVALID);
    test_status(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(0), NULL), ORDO_INVALID);
    for (size_t i = 0; i < LENGTH(bad_bytes); i++)
        test_status(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(bad_bytes[i]), &dict), ORDO_INVALID);
    ordo_string_dict_destroy(NULL);
    ordo_string_dict_destroy(&dict);
}

static void bad_string_updates(const struct string_dict_trial *r)
{
    struct test                     *t = r->on.t;
    const struct ordo_strings *const bad[] = { NULL, &r->on.no_offsets, &r->on.bad_width, &r->on.too_many };
    const ordo_status                want[] = { ORDO_INVALID, ORDO_INVALID, ORDO_INVALID, ORDO_TOO_LARGE };
    const struct ordo_strings       *q = &r->on.column;
    const struct ordo_slice          bad_values[] = { ordo_none(), r->on.small };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_string_dict_build(r->dict, bad[i], r->values, NULL), want[i]);
        test_status(t, ordo_string_dict_upsert(r->dict, bad[i], r->values, NULL), want[i]);
        test_status(t, ordo_string_dict_erase(r->dict, bad[i], NULL), want[i]);
    }
    for (size_t i = 0; i < LENGTH(bad_values); i++) {
        test_status(t, ordo_string_dict_build(r->dict, q, bad_values[i], NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_upsert(r->dict, q, bad_values[i], NULL), ORDO_INVALID);
    }
    test_status(t, ordo_string_dict_build(NULL, q, r->values, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_upsert(NULL, q, r->values, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_erase(NULL, q, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_clear(NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_cleanup(NULL, NULL), ORDO_INVALID);
}

static void bad_string_elements(const struct string_dict_trial *r)
{
    struct test                       *t = r->on.t;
    const struct ordo_string_elements *good = r->elements;
    const struct ordo_slice            ranks = r->on.column.offsets, none = ordo_none(), small = r->on.small;
    const struct ordo_string_elements  bad[] = { { none, good->bytes, 4, none },
                                                 { small, good->bytes, 4, none },
                                                 { good->offsets, none, 4, none },
                                                 { good->offsets, good->bytes, 4, small },
                                                 { good->offsets, good->offsets, 4, none } };
    struct ordo_string_dict_statistics stats;
    size_t                             count = 0, needed = 0;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_string_dict_select(r->dict, ranks, 2, &bad[i], none, NULL, NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_export(r->dict, &bad[i], 3, &count, &needed, NULL), ORDO_INVALID);
    }
    test_status(t, ordo_string_dict_select(NULL, ranks, 2, good, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, none, 2, good, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, small, 2, good, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, ranks, SIZE_MAX, good, none, NULL, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_string_dict_select(r->dict, ranks, 2, NULL, none, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select(r->dict, ranks, 2, good, small, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(NULL, good, 3, &count, &needed, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(r->dict, NULL, 3, &count, &needed, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(r->dict, good, SIZE_MAX, &count, &needed, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_string_dict_export(r->dict, good, 3, NULL, &needed, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export(r->dict, good, 3, &count, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_size(NULL, &count), ORDO_INVALID);
    test_status(t, ordo_string_dict_size(r->dict, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_check(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_get_statistics(NULL, &stats), ORDO_INVALID);
    test_status(t, ordo_string_dict_get_statistics(r->dict, NULL), ORDO_INVALID);
}

static void bad_string_dict_hosts(const struct string_dict_trial *r)
{
    struct test                           *t = r->on.t;
    const struct ordo_host_strings         no_offsets = { NULL, 4, "abcd", 4, 3 }, *q = &r->on.host;
    const struct ordo_host_strings *const  bad[] = { NULL, &no_offsets };
    uint32_t                               out[4] = { 0 };
    uint64_t                               offsets[4];
    uint8_t                                bytes[4];
    size_t                                 count = 0, needed = 0;
    const struct ordo_host_string_elements good = { offsets, bytes, 4, NULL };
    const struct ordo_host_string_elements bad_out[] = { { NULL, bytes, 4, NULL }, { offsets, NULL, 4, NULL } };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_string_dict_build_host(r->dict, bad[i], out), ORDO_INVALID);
        test_status(t, ordo_string_dict_upsert_host(r->dict, bad[i], out), ORDO_INVALID);
        test_status(t, ordo_string_dict_erase_host(r->dict, bad[i]), ORDO_INVALID);
        test_status(t, ordo_string_dict_select_host(r->dict, out, 2, &bad_out[i], NULL, NULL), ORDO_INVALID);
        test_status(t, ordo_string_dict_export_host(r->dict, &bad_out[i], 3, &count, &needed), ORDO_INVALID);
    }
    test_status(t, ordo_string_dict_build_host(r->dict, q, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_build_host(NULL, q, out), ORDO_INVALID);
    test_status(t, ordo_string_dict_upsert_host(r->dict, q, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_upsert_host(NULL, q, out), ORDO_INVALID);
    test_status(t, ordo_string_dict_erase_host(NULL, q), ORDO_INVALID);
    test_status(t, ordo_string_dict_select_host(NULL, out, 2, &good, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select_host(r->dict, NULL, 2, &good, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_select_host(r->dict, out, 2, NULL, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(NULL, &good, 3, &count, &needed), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(r->dict, NULL, 3, &count, &needed), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(r->dict, &good, 3, NULL, &needed), ORDO_INVALID);
    test_status(t, ordo_string_dict_export_host(r->dict, &good, 3, &count, NULL), ORDO_INVALID);
}

static void bad_string_dict_orders(const struct string_dict_trial *r, const struct bad_order *bad)
{
    struct test               *t = r->on.t;
    const struct ordo_strings *q = &r->on.column;
    const struct ordo_order   *on = &bad->order;
    size_t                     count = 0, needed = 0;
    test_status(t, ordo_string_dict_build(r->dict, q, r->values, on), bad->want);
    test_status(t, ordo_string_dict_upsert(r->dict, q, r->values, on), bad->want);
    test_status(t, ordo_string_dict_erase(r->dict, q, on), bad->want);
    test_status(t, ordo_string_dict_cleanup(r->dict, on), bad->want);
    test_status(t, ordo_string_dict_select(r->dict, q->offsets, 1, r->elements, ordo_none(), NULL, on), bad->want);
    test_status(t, ordo_string_dict_export(r->dict, r->elements, 3, &count, &needed, on), bad->want);
    test_status(t, ordo_string_dict_check(r->dict, on), bad->want);
}

static void expect_strings(struct test *t, ordo_string_dict *dict)
{
    uint64_t offsets[4];
    uint8_t  bytes[4];
    uint32_t values[3];
    size_t   count = 0, needed = 0;
    test_ok(t, ordo_string_dict_check(dict, NULL));
    test_ok(t, ordo_string_dict_export_host(dict, &(struct ordo_host_string_elements) { offsets, bytes, 4, values }, 3,
                                            &count, &needed));
    test_true(t, count == 3 && needed == 4 && memcmp(bytes, "abcd", 4) == 0);
    test_same(t, "values", ORDO_U32, values, ((const uint32_t[]) { 0, 1, 2 }), 3);
}

/* Bad offsets and capacities: tests/dict/string_dict.c. */
static void string_dicts(struct test *t)
{
    static const uint32_t        offsets[] = { 0, 1, 2, 4 };
    struct function              function = { .name = "ordo_string_dict_create" };
    struct trial                 foreign = { .t = t, .function = &function };
    AUTO_ARRAY struct test_array on_offsets = test_upload(t, offsets, 4, 4, 1),
                                 on_bytes = test_upload(t, "abcd", 4, 1, 1);
    AUTO_ARRAY struct test_array      values = test_upload(t, ((const uint32_t[]) { 0, 1, 2 }), 3, 4, 0);
    AUTO_ARRAY struct test_array      out = test_upload(t, NULL, 8, 4, 0), bytes_out = test_upload(t, NULL, 4, 1, 0);
    AUTO_ARRAY struct test_array      offsets_out = test_upload(t, NULL, 4, 8, 0);
    const struct ordo_string_elements elements = { test_slice(&offsets_out), test_slice(&bytes_out), 4, ordo_none() };
    const struct ordo_strings         column = { test_slice(&on_offsets), 4, test_slice(&on_bytes), 4, 3 };
    struct string_dict_trial          r = { .on = { .t = t,
                                                    .column = column,
                                                    .host = { offsets, 4, "abcd", 4, 3 },
                                                    .out = test_slice(&out),
                                                    .small = ordo_at(out.mem, SIZE_MAX / 8),
                                                    .no_offsets = { ordo_none(), 4, column.bytes, 4, 3 },
                                                    .bad_width = { column.offsets, 2, column.bytes, 4, 3 },
                                                    .too_many = { column.offsets, 4, column.bytes, 4, SIZE_MAX } },
                                            .values = test_slice(&values),
                                            .elements = &elements };
    struct bad_order                  bad[BAD_ORDERS];
    bad_string_dicts(t);
    test_ok(t, ordo_string_dict_create(t->dev, ordo_string_dict_config(.value_bytes = 4), &r.dict));
    test_ok(t, ordo_string_dict_upsert(r.dict, &column, r.values, NULL));
    bad_string_updates(&r);
    bad_string_elements(&r);
    bad_string_dict_hosts(&r);
    make_foreign(&foreign);
    list_bad_orders(&foreign, bad);
    for (size_t i = 0; i < LENGTH(bad); i++)
        bad_string_dict_orders(&r, &bad[i]);
    release_foreign(&foreign);
    expect_strings(t, r.dict);
    ordo_string_dict_destroy(&r.dict);
}

static void no_dictionary(struct test *t)
{
    struct ordo_statistics statistics;
    ordo_dict             *none = NULL;
    size_t                 size = 0;

    ordo_dict_destroy(NULL);
    ordo_dict_destroy(&none);
    test_true(t, strcmp(ordo_dict_name(NULL), "") == 0 && !ordo_dict_can(NULL, ORDO_CAN_FIND));
    test_status(t, ordo_dict_clear(NULL), ORDO_INVALID);
    test_status(t, ordo_dict_compact(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_lsm_cleanup(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_check(NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_dict_size(NULL, NULL, &size), ORDO_INVALID);
    test_status(t, ordo_dict_statistics(NULL, NULL, &statistics), ORDO_INVALID);
}

/* The call is refused, and the message names the parameter as in the header. */
static void expect_named(struct test *t, ordo_status got, const char *message)
{
    char text[200];
    test_status(t, got, ORDO_INVALID);
    (void) ordo_device_last_error(t->dev, text, sizeof text);
    if (strstr(text, message) != text)
        test_fail(t, __FILE__, __LINE__, "the message is \"%s\", not \"%s\"", text, message);
}

static void dictionary_parameters(struct test *t)
{
    struct trial           r = { .t = t };
    struct ordo_statistics statistics;
    size_t                 size = 0;

    make_foreign(&r);
    struct bad_order bad[BAD_ORDERS];
    list_bad_orders(&r, bad);
    for (int s = 0; s < N_STRUCTURES; s++) {
        AUTO_DICT ordo_dict *dict = make_dict(t, t->dev, s, 0, HELD);
        test_true(t, !ordo_dict_can(dict, (ordo_dict_op) 1000) && !ordo_dict_can(dict, (ordo_dict_op) -1));
        test_status(t, ordo_dict_size(dict, NULL, NULL), ORDO_INVALID);
        test_status(t, ordo_dict_statistics(dict, NULL, NULL), ORDO_INVALID);
        expect_named(t, ordo_dict_apply_host(dict, NULL, &size), "batch is NULL");
        expect_named(t, ordo_dict_apply_concurrent_host(dict, NULL), "batch is NULL");
        expect_named(t, ordo_dict_range_limited_host(dict, NULL, &size), "ranges is NULL");
        for (size_t i = 0; i < LENGTH(bad); i++) {
            test_status(t, ordo_dict_compact(dict, &bad[i].order), bad[i].want);
            test_status(t, ordo_lsm_cleanup(dict, &bad[i].order), bad[i].want);
            test_status(t, ordo_dict_check(dict, &bad[i].order), bad[i].want);
            test_status(t, ordo_dict_size(dict, &bad[i].order, &size), bad[i].want);
            test_status(t, ordo_dict_statistics(dict, &bad[i].order, &statistics), bad[i].want);
        }
        test_status(t, ordo_lsm_cleanup(dict, NULL), structure_is(s, ORDO_KEEPS_STALE) ? ORDO_OK : ORDO_UNSUPPORTED);
        expect_numbers(t, dict, 0, HELD);
    }
    release_foreign(&r);
}

/* Bytes in the Roaring format: absent or too short arrays, and invalid sets. */
static void roaring_parameters(struct test *t)
{
    static const uint8_t         empty[8] = { 0x3a, 0x30 };
    struct trial                 r = { .t = t };
    struct bad_order             bad[BAD_ORDERS];
    AUTO_DICT ordo_dict         *dict = NULL, *map = make_dict(t, t->dev, HAMT, 0, HELD);
    AUTO_ARRAY struct test_array all = test_upload(t, empty, sizeof empty, 1, 1);
    const uint32_t               key = 5;
    uint8_t                      out[32];
    size_t                       size = 0;

    test_ok(t, create(t->dev, HAMT, ORDO_U32, 0, &dict));
    test_ok(t, ordo_dict_build_host(dict, &key, NULL, 1));
    test_status(t, ordo_hamt_read_roaring(NULL, test_slice(&all), sizeof empty, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_read_roaring(dict, ordo_none(), sizeof empty, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_read_roaring(dict, test_slice(&all), 1000000, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_read_roaring(dict, test_slice(&all), 0, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_read_roaring(dict, test_slice(&all), (size_t) ORDO_MAX_COUNT + 1, NULL), ORDO_TOO_LARGE);
    test_status(t, ordo_hamt_read_roaring(map, test_slice(&all), sizeof empty, NULL), ORDO_UNSUPPORTED);
    test_status(t, ordo_hamt_read_roaring_host(NULL, empty, sizeof empty), ORDO_INVALID);
    test_status(t, ordo_hamt_read_roaring_host(dict, NULL, sizeof empty), ORDO_INVALID);
    test_status(t, ordo_hamt_write_roaring(NULL, test_slice(&all), sizeof empty, &size, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_write_roaring(dict, test_slice(&all), sizeof empty, NULL, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_write_roaring(dict, test_slice(&all), 1000000, &size, NULL), ORDO_INVALID);
    test_status(t, ordo_hamt_write_roaring(dict, test_slice(&all), sizeof empty, &size, NULL), ORDO_TOO_SMALL);
    test_status(t, ordo_hamt_write_roaring_host(NULL, out, sizeof out, &size), ORDO_INVALID);
    test_status(t, ordo_hamt_write_roaring_host(dict, out, sizeof out, NULL), ORDO_INVALID);
    test_ok(t, ordo_hamt_write_roaring_host(dict, NULL, 0, &size));
    test_true(t, size == 18);
    make_foreign(&r);
    list_bad_orders(&r, bad);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        test_status(t, ordo_hamt_read_roaring(dict, test_slice(&all), sizeof empty, &bad[i].order), bad[i].want);
        test_status(t, ordo_hamt_write_roaring(dict, ordo_none(), 0, &size, &bad[i].order), bad[i].want);
    }
    release_foreign(&r);
    expect_numbers(t, map, 0, HELD);
}

static void creating(struct test *t)
{
    static const uint32_t bad_bytes[] = { 1, 2, 3, 5, 7, 12, 16, UINT32_MAX };
    ordo_dict *const      something = (ordo_dict *) t;

    for (int s = 0; s < N_STRUCTURES; s++) {
        ordo_dict *dict = something;
        test_status(t, create(NULL, s, ORDO_U32, 4, &dict), ORDO_INVALID);
        test_true(t, dict == NULL);
        test_status(t, create(t->dev, s, ORDO_U32, 4, NULL), ORDO_INVALID);
        for (int type = -1; type < 20; type += type < 0 ? 7 : 1) {
            if (ordo_type_bytes((ordo_type) type) && structure_takes((size_t) s, (ordo_type) type))
                continue;
            dict = something;
            test_status(t, create(t->dev, s, (ordo_type) type, 4, &dict),
                        ordo_type_bytes((ordo_type) type) ? ORDO_UNSUPPORTED : ORDO_INVALID);
            test_true(t, dict == NULL);
        }
        for (size_t i = 0; i < LENGTH(bad_bytes); i++) {
            dict = something;
            test_status(t, create(t->dev, s, ORDO_U32, bad_bytes[i], &dict), ORDO_INVALID);
            test_true(t, dict == NULL);
        }
    }
}

#define NO_CONFIG(create)                                                                                              \
    do {                                                                                                               \
        ordo_dict *dict = (ordo_dict *) t;                                                                             \
        test_status(t, create(t->dev, NULL, &dict), ORDO_INVALID);                                                     \
        test_true(t, dict == NULL);                                                                                    \
    } while (0)

static void configurations(struct test *t)
{
#define X(id, stem, ...) NO_CONFIG(ordo_##stem##_create);
    ORDO_STRUCTURE_MAP(X)
#undef X
}

/* Each function outside calls.h, its parameters, and its tests. */
static const struct other {
    const char *name, *parameters;
    void (*trial)(struct test *t);
    void (*more)(struct test *t);
} others[] = {
    { "ordo_version", "", texts, NULL },
    { "ordo_status_string", "status", texts, NULL },
    { "ordo_cl_error_string", "code", texts, NULL },
    { "ordo_device_open", "config out", opening, NULL },
    { "ordo_device_adopt", "context id queue config out", adopting, NULL },
    { "ordo_device_close", "device", no_device, NULL },
    { "ordo_device_context", "device", no_device, NULL },
    { "ordo_device_id", "device", no_device, NULL },
    { "ordo_device_queue", "device", no_device, NULL },
    { "ordo_device_last_error", "device text bytes", no_device, device_parameters },
    { "ordo_device_last_cl_error", "device", no_device, NULL },
    { "ordo_device_facts", "device", no_device, NULL },
    { "ordo_device_self_test", "device", no_device, NULL },
    { "ordo_device_memory", "device out", no_device, device_parameters },
    { "ordo_device_trim", "device", no_device, NULL },
    { "ordo_device_tunable", "device i out", no_device, device_parameters },
    { "ordo_device_set_tunable", "device name value", no_device, device_parameters },
    { "ordo_device_save_profile", "device path path_bytes", no_device, profile },
    { "ordo_device_finish", "device", no_device, NULL },
    { "ordo_device_prepare", "device params out", no_device, preparation },
    { "ordo_type_bytes", "type", types, NULL },
    { "ordo_key_bits", "type key", types, NULL },
    { "ordo_key_plan", "device fields n_fields out", key_plans, NULL },
    { "ordo_index_build", "device key keys count order out", indexes, NULL },
    { "ordo_index_build_compressed", "device key keys count order out", compressed_indexes, NULL },
    { "ordo_index_destroy", "index", indexes, NULL },
    { "ordo_index_bytes", "index", indexes, NULL },
    { "ordo_string_index_build", "device params column order out", string_indexes, NULL },
    { "ordo_string_index_build_host", "device params column out", string_indexes, NULL },
    { "ordo_string_index_destroy", "index", string_indexes, NULL },
    { "ordo_string_index_get_statistics", "index out", string_indexes, NULL },
    { "ordo_string_dict_create", "device config out", string_dicts, NULL },
    { "ordo_string_dict_destroy", "dict", string_dicts, NULL },
    { "ordo_string_dict_build", "dict strings values order", string_dicts, NULL },
    { "ordo_string_dict_build_host", "dict strings values", string_dicts, NULL },
    { "ordo_string_dict_upsert", "dict strings values order", string_dicts, NULL },
    { "ordo_string_dict_upsert_host", "dict strings values", string_dicts, NULL },
    { "ordo_string_dict_erase", "dict strings order", string_dicts, NULL },
    { "ordo_string_dict_erase_host", "dict strings", string_dicts, NULL },
    { "ordo_string_dict_clear", "dict", string_dicts, NULL },
    { "ordo_string_dict_cleanup", "dict order", string_dicts, NULL },
    { "ordo_string_dict_select", "dict ranks count out found needed order", string_dicts, NULL },
    { "ordo_string_dict_select_host", "dict ranks count out found needed", string_dicts, NULL },
    { "ordo_string_dict_export", "dict out max_count count needed order", string_dicts, NULL },
    { "ordo_string_dict_export_host", "dict out max_count count needed", string_dicts, NULL },
    { "ordo_string_dict_size", "dict out", string_dicts, NULL },
    { "ordo_string_dict_check", "dict order", string_dicts, NULL },
    { "ordo_string_dict_get_statistics", "dict out", string_dicts, NULL },
    { "ordo_dict_destroy", "dict", no_dictionary, NULL },
    { "ordo_dict_can", "dict op", no_dictionary, dictionary_parameters },
    { "ordo_dict_name", "dict", no_dictionary, NULL },
    { "ordo_dict_clear", "dict", no_dictionary, NULL },
    { "ordo_dict_compact", "dict order", no_dictionary, dictionary_parameters },
    { "ordo_dict_size", "dict order out", no_dictionary, dictionary_parameters },
    { "ordo_dict_check", "dict order", no_dictionary, dictionary_parameters },
    { "ordo_dict_statistics", "dict order out", no_dictionary, dictionary_parameters },
    { "ordo_lsm_cleanup", "dict order", no_dictionary, dictionary_parameters },
    { "ordo_hamt_read_roaring", "dict bytes size order", roaring_parameters, NULL },
    { "ordo_hamt_read_roaring_host", "dict bytes size", roaring_parameters, NULL },
    { "ordo_hamt_write_roaring", "dict out capacity size order", roaring_parameters, NULL },
    { "ordo_hamt_write_roaring_host", "dict out capacity size", roaring_parameters, NULL },
/* clang-format off */
#define X(id, stem, ...) { "ordo_" #stem "_create", "device config out", creating, configurations },
    ORDO_STRUCTURE_MAP(X)
#undef X
    /* clang-format on */
};

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static const struct array_call *array_call_of(const struct function *f)
{
    char         name[64];
    const size_t length = strlen(f->name);

    memcpy(name, f->name, sizeof name);
    if (length > 5 && strcmp(name + length - 5, "_host") == 0)
        name[length - 5] = 0;
    return call_named(name);
}

static const struct other *other_named(const char *name)
{
    for (size_t i = 0; i < LENGTH(others); i++)
        if (strcmp(others[i].name, name) == 0)
            return &others[i];
    return NULL;
}

static void try_other(struct test *t, const struct function *f, const struct other *other)
{
    char parameters[256] = "";

    for (size_t p = 0, used = 0; p < f->n; p++)
        used += (size_t) snprintf(parameters + used, sizeof parameters - used, "%s%s", p ? " " : "", f->parameter[p]);
    test_context(t, "%s", f->name);
    if (strcmp(parameters, other->parameters) != 0)
        test_fail(t, __FILE__, __LINE__, "%s has the parameters '%s', but '%s' are tried", f->name, parameters,
                  other->parameters);
    other->trial(t);
    if (other->more)
        other->more(t);
}

/* All structures on a CPU. On a GPU a sixth of them for each function, selected by the seed, because each needs a
 * dictionary and a dozen array transfers, and the checks are the same host code. */
static bool is_tried(const struct test *t, size_t function, int structure)
{
    return t->facts->cpu || test_wants_all("ORDO_TEST_KINDS") || (function + (size_t) structure + t->seed) % 6 == 0;
}

DEVICE_TEST(bad_arguments, are_refused_without_effect)
{
    read_headers();
    make_foreign_context(t->dev);
    for (size_t i = 0; i < n_functions; i++) {
        const struct array_call *call = array_call_of(&functions[i]);
        const struct other      *other = other_named(functions[i].name);
        if (!call && !other)
            test_fail(t, __FILE__, __LINE__, "nobody tries bad arguments of %s", functions[i].name);
        else if (other)
            try_other(t, &functions[i], other);
        else if (!call->stem && strncmp(functions[i].name, "ordo_dict_", 10) != 0)
            try_function(t, &functions[i], call, NO_DICT);
        else
            for (int s = 0; s < N_STRUCTURES; s++)
                if (call->stem ? strcmp(call->stem, structures[s].word) == 0 : is_tried(t, i, s))
                    try_function(t, &functions[i], call, s);
    }
    (void) clReleaseContext(foreign_context);
    fprintf(stderr, "bad arguments: %lu calls over arrays were refused\n", n_refused);
    test_context(t, "the number of trials");
    test_true(t, n_refused > 1000);
    n_refused = 0;
}

/* Every tested function exists. */
static bool is_public(const char *name)
{
    for (size_t i = 0; i < n_functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return true;
    return false;
}

Test(bad_arguments, cover_the_public_functions)
{
    char name[64];

    read_headers();
    for (size_t i = 0; i < n_primitive_calls + n_dict_calls; i++) {
        const struct array_call *call =
            i < n_primitive_calls ? &primitive_calls[i] : &dict_calls[i - n_primitive_calls];
        cr_assert(is_public(call->name), "%s", call->name);
        (void) snprintf(name, sizeof name, "%s_host", call->name);
        cr_assert(is_public(name), "%s", name);
    }
    for (size_t i = 0; i < LENGTH(others); i++)
        cr_assert(is_public(others[i].name), "%s", others[i].name);
}

/* An image is an OpenCL memory object too. */
DEVICE_TEST(bad_arguments, an_image_is_not_an_array)
{
    const cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
    const cl_image_desc   desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 64 };
    cl_int                code = CL_SUCCESS;
    cl_mem made = clCreateImage(ordo_device_context(t->dev), CL_MEM_READ_WRITE, &format, &desc, NULL, &code);

    if (code != CL_SUCCESS) {
        cr_log_warn("%s has no such images", t->facts->name);
        return;
    }
    test_status(t, ordo_scan(t->dev, ordo_scan_params(.type = ORDO_U32), ordo_at(made, 0), ordo_at(made, 0), N, NULL),
                ORDO_INVALID);
    (void) clReleaseMemObject(made);
}
