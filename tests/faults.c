/* SPDX-License-Identifier: Apache-2.0 */
/* Every OpenCL call that Ordo makes fails in turn, and every allocation in host memory: the call at hand returns the error
 * that suits, data is what it was, nothing leaks, and the same call works right after. Calls fail one by one, and all from
 * one on, as when a device is lost.
 *
 * The OpenCL calls are counted by the layer of fault_layer.c, host memory by the linker's --wrap. By default a sample of the
 * calls fails, seeded as all tests are; ORDO_TEST_FAULTS=all takes every one. */
#define _GNU_SOURCE
#include "calls.h"
#include "dict_case.h"
#include "fault.h"

#include "runtime/device_private.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- host memory ---------------------------------------------------------------------------------------------------- */

static struct fault memory;
static long         blocks; /* that were allocated and not yet freed */

/* The linker's names (--wrap) for what is called from the library, and from here. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void  __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void  __wrap_free(void *block);

static void *counted(void *block)
{
    blocks += block != NULL;
    return block;
}

void *__wrap_malloc(size_t bytes)
{
    return fault_strikes(&memory, "malloc", 0) ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return fault_strikes(&memory, "calloc", 0) ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fault_strikes(&memory, "realloc", 0))
        return NULL;
    blocks -= old != NULL;
    return counted(__real_realloc(old, bytes));
}

void __wrap_free(void *block)
{
    blocks -= block != NULL;
    __real_free(block);
}

/* ---- the layer -------------------------------------------------------------------------------------------------------- */

static struct fault *layer; /* NULL if the OpenCL loader knows no layers */

/* Before the first OpenCL call of the process. */
static bool load_layer(void)
{
    cl_platform_id id = NULL;
    cl_uint        n = 0;

    cr_assert(setenv("OPENCL_LAYERS", TEST_FAULT_LAYER, 1) == 0);
    cr_assert(clGetPlatformIDs(1, &id, &n) == CL_SUCCESS && n > 0, "there is no OpenCL device to test on");
    void *file = dlopen(TEST_FAULT_LAYER, RTLD_NOW);
    cr_assert(file != NULL, "%s", dlerror());
    layer = dlsym(file, "fault_layer");
    cr_assert(layer != NULL, "%s", dlerror());
    fault_arm(layer, 0, 0, false);
    (void) clGetPlatformIDs(1, &id, &n);
    layer->armed = false;
    return layer->calls == 1;
}

/* Runs body on every device with the layer below it. */
static void with_layer(test_body body)
{
    if (load_layer())
        test_each_device(body);
    else
        cr_skip_test("this OpenCL loader knows no layers (ocl-icd from 2.3 and Khronos's do)");
}

/* What a leak changes. */
struct holding {
    long               objects[FAULT_N_OBJECTS];
    long               blocks;
    struct ordo_memory memory;
};

/* ---- scenes ------------------------------------------------------------------------------------------------------------ */

enum { N = 1500, HELD = 3000, RECENT = 500, NUMBERS = 4 };
enum order_kind { OWN_QUEUE, IN_ORDER, OUT_OF_ORDER };
static const char *const order_name[] = { "the device's queue", "another queue", "an out-of-order queue" };
enum { NO_DICT = -1 };

struct scene;

/* One public call, and what it is given. */
struct scenario {
    const char              *name;
    const struct array_call *call;       /* gives the arrays, NULL: there are none */
    bool                     host;       /* call->run_host instead of call->run */
    ordo_status (*run)(struct scene *s); /* instead of both, if not NULL */
    int             structure;           /* of dict_case.h, or NO_DICT */
    uint32_t        held;                /* elements of the dictionary */
    enum order_kind order;
    bool            cold;  /* no kernel is built */
    const char     *fresh; /* a directory for programs that is empty; NULL: as it is */
};

struct scene {
    struct test           *t;
    const struct scenario *is;
    ordo_dict             *dict;
    struct ordo_order      order;
    cl_event               done;
    size_t                 n_arrays;
    struct test_array      array[CALL_ARRAYS];
    void                  *host[CALL_ARRAYS]; /* what the arrays held, or hold */
    size_t                 numbers[NUMBERS];
};

/* What is there to see after a call. */
struct outcome {
    void       *output[CALL_ARRAYS];
    size_t      numbers[NUMBERS];
    uint32_t    keys[HELD + RECENT + N], values[HELD + RECENT + N];
    size_t      count;
    ordo_status status; /* of checking and reading the dictionary */
};

static size_t bytes_of(const struct scene *s, size_t i)
{
    return s->array[i].count * s->array[i].bytes;
}

static void make_arrays(struct scene *s)
{
    const struct array_call *call = s->is->call;
    struct test              fixed = *s->t; /* the same input every time */

    fixed.random = s->t->seed;
    s->n_arrays = call ? call_arrays(call) : 0;
    for (size_t i = 0; i < s->n_arrays; i++) {
        const size_t count = call_array_count(&call->array[i], N);
        s->host[i] = test_alloc(count * call->array[i].bytes);
        memset(s->host[i], TEST_EMPTY, count * call->array[i].bytes);
    }
    if (call)
        call_fill(&fixed, call, N, HELD, s->host);
    for (size_t i = 0; i < s->n_arrays; i++)
        s->array[i] =
            test_upload(s->t, s->host[i], call_array_count(&call->array[i], N), call->array[i].bytes, i % 2 * 3);
}

static void make_dictionary(struct scene *s)
{
    static uint32_t keys[RECENT], values[RECENT];

    if (s->is->structure == NO_DICT)
        return;
    if (s->is->held == 0) {
        test_ok(s->t, create(s->t->dev, s->is->structure, ORDO_U32, 4, &s->dict));
        return;
    }
    s->dict = make_dict(s->t, s->t->dev, s->is->structure, 0, s->is->held);
    for (uint32_t i = 0; i < RECENT; i++) {
        keys[i] = key_of(i * 7);
        values[i] = i;
    }
    test_ok(s->t, ordo_dict_upsert_host(s->dict, keys, values, RECENT));
    test_ok(s->t, ordo_dict_erase_host(s->dict, keys, RECENT / 5));
}

/* Removes the files of a directory. */
static void empty(const char *path)
{
    DIR *dir = opendir(path);

    cr_assert(dir != NULL, "%s", path);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            cr_assert(unlinkat(dirfd(dir), entry->d_name, 0) == 0);
    closedir(dir);
}

static void begin(struct scene *s, struct test *t, const struct scenario *is)
{
    *s = (struct scene) { .t = t, .is = is };
    make_dictionary(s);
    make_arrays(s);
    if (is->order != OWN_QUEUE) {
        s->order.queue = test_queue(t, is->order == OUT_OF_ORDER ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
        s->order.done = &s->done;
        test_true(t, s->order.queue != NULL);
    }
    if (is->cold)
        ordo_programs_destroy(t->dev);
    if (is->fresh)
        empty(is->fresh);
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev)); /* so that scratch is made anew */
}

static void forget_event(struct scene *s)
{
    if (s->done)
        (void) clReleaseEvent(s->done);
    s->done = NULL;
}

static void end(struct scene *s)
{
    forget_event(s);
    ordo_dict_destroy(&s->dict);
    if (s->order.queue) {
        (void) clFinish(s->order.queue);
        (void) clReleaseCommandQueue(s->order.queue);
    }
    for (size_t i = 0; i < s->n_arrays; i++) {
        test_free(&s->array[i]);
        free(s->host[i]);
    }
    if (s->is->cold)
        ordo_programs_destroy(s->t->dev);
}

static ordo_status run(struct scene *s)
{
    struct given      g = call_given(s->t->dev, s->dict, N);
    struct ordo_slice slice[CALL_ARRAYS];

    if (s->is->order != OWN_QUEUE)
        g.order = &s->order;
    if (s->is->run)
        return s->is->run(s);
    if (s->is->host)
        return s->is->call->run_host(&g, s->host);
    for (size_t i = 0; i < s->n_arrays; i++)
        slice[i] = test_slice(&s->array[i]);
    return s->is->call->run(&g, slice);
}

static void look_at_dictionary(struct scene *s, struct outcome *o)
{
    o->count = 0;
    o->status = s->dict ? ordo_dict_check(s->dict, NULL) : ORDO_OK;
    if (s->dict && o->status == ORDO_OK)
        o->status = ordo_dict_export_host(s->dict, o->keys, o->values, LENGTH(o->keys), &o->count);
}

static void look(struct scene *s, struct outcome *o)
{
    memcpy(o->numbers, s->numbers, sizeof o->numbers);
    if (s->order.queue)
        (void) clFinish(s->order.queue);
    for (size_t i = 0; i < s->n_arrays; i++) {
        if (!s->is->host)
            test_download(s->t, &s->array[i], s->host[i]);
        if (!o->output[i])
            o->output[i] = test_alloc(bytes_of(s, i));
        memcpy(o->output[i], s->host[i], bytes_of(s, i));
    }
    look_at_dictionary(s, o);
}

static void forget(struct outcome *o)
{
    for (size_t i = 0; i < CALL_ARRAYS; i++)
        free(o->output[i]);
    free(o);
}

static struct outcome *new_outcome(void)
{
    struct outcome *o = test_alloc(sizeof *o);

    memset(o, 0, sizeof *o);
    return o;
}

static bool same_content(const struct outcome *a, const struct outcome *b)
{
    return a->count == b->count && memcmp(a->keys, b->keys, a->count * sizeof *a->keys) == 0 &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0;
}

/* The first array that differs, of the inputs alone if wanted; n_arrays if none does. */
static size_t other_array(const struct scene *s, const struct outcome *a, const struct outcome *b, bool inputs)
{
    for (size_t i = 0; i < s->n_arrays; i++)
        if ((!inputs || !s->is->call->array[i].output) && memcmp(a->output[i], b->output[i], bytes_of(s, i)) != 0)
            return i;
    return s->n_arrays;
}

/* ---- what must hold -------------------------------------------------------------------------------------------------------- */

/* What is wrong, in words; "" if nothing is. */
struct complaint {
    char text[400];
};

static void complain(struct complaint *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(struct complaint *c, const char *format, ...)
{
    va_list list;

    if (c->text[0])
        return;
    va_start(list, format);
    (void) vsnprintf(c->text, sizeof c->text, format, list);
    va_end(list);
}

/* The statuses that an error may end in; of OpenCL's calls by what they returned. */
static bool suits(const struct fault *f, ordo_status got)
{
    if (f == layer && f->lasting) /* what failed first may not have mattered */
        return got == ORDO_NO_HOST_MEMORY || got == ORDO_NO_DEVICE_MEMORY || got == ORDO_BUILD || got == ORDO_OPENCL;
    if (f == &memory || f->given == CL_OUT_OF_HOST_MEMORY)
        return got == ORDO_NO_HOST_MEMORY;
    if (f->given == CL_BUILD_PROGRAM_FAILURE)
        return got == ORDO_BUILD;
    if (strcmp(f->what, "clCreateKernel") == 0) /* some drivers compile only here */
        return got == ORDO_BUILD;
    if (f->given == CL_MEM_OBJECT_ALLOCATION_FAILURE || f->given == CL_OUT_OF_RESOURCES)
        return got == ORDO_NO_DEVICE_MEMORY;
    return got == ORDO_OPENCL;
}

static void judge_error(struct complaint *c, ordo_device *dev, const struct fault *f, ordo_status got)
{
    char text[64] = "";

    if (f->struck == 0)
        complain(c, "an error where nothing failed: %s", ordo_status_string(got));
    else if (!suits(f, got))
        complain(c, "it ended as '%s'", ordo_status_string(got));
    (void) ordo_device_last_error(dev, text, sizeof text);
    if (strlen(text) < 20)
        complain(c, "the message of the error is '%s'", text);
    if (f == layer && !f->lasting && ordo_device_last_cl_error(dev) != f->given)
        complain(c, "the error's code is %s, not %s", ordo_cl_error_string(ordo_device_last_cl_error(dev)),
                 ordo_cl_error_string(f->given));
}

static struct holding holding(struct test *t)
{
    struct holding h;

    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev));
    memcpy(h.objects, layer->live, sizeof h.objects);
    h.blocks = blocks - (t->dev->error != NULL);
    for (const struct ordo_program *p = t->dev->programs; p; p = p->next) { /* kept until the device is closed */
        h.objects[FAULT_PROGRAMS]--;
        h.blocks--;
        for (const struct ordo_kernel *k = p->kernels; k; k = k->next) {
            h.objects[FAULT_KERNELS]--;
            h.blocks -= 2;
        }
    }
    test_ok(t, ordo_device_memory(t->dev, &h.memory));
    return h;
}

static void judge_leaks(struct complaint *c, const struct holding *was, const struct holding *is)
{
    static const char *const name[] = { "contexts", "queues", "buffers", "programs", "kernels", "events" };

    for (int i = 0; i < FAULT_N_OBJECTS; i++)
        if (is->objects[i] != was->objects[i])
            complain(c, "%s that are left: %ld", name[i], is->objects[i] - was->objects[i]);
    if (is->blocks != was->blocks)
        complain(c, "blocks of host memory that are left: %ld", is->blocks - was->blocks);
    if (is->memory.held_bytes != was->memory.held_bytes || is->memory.buffers != was->memory.buffers)
        complain(c, "the device counts %lld bytes and %lld buffers too many",
                 (long long) (is->memory.held_bytes - was->memory.held_bytes),
                 (long long) (is->memory.buffers - was->memory.buffers));
}

/* What the calls of a scenario come to, and before it. */
struct expected {
    struct outcome *before, *after, *now;
};

static void judge_result(struct complaint *c, struct scene *s, const struct expected *e)
{
    const size_t other = other_array(s, e->now, e->after, false);

    if (e->now->status != ORDO_OK)
        complain(c, "the dictionary after the call: '%s'", ordo_status_string(e->now->status));
    if (other < s->n_arrays)
        complain(c, "%s differs from that of a call without a fault", s->is->call->array[other].name);
    if (memcmp(e->now->numbers, e->after->numbers, sizeof e->now->numbers) != 0)
        complain(c, "numbers differ from those of a call without a fault");
    if (!same_content(e->now, e->after))
        complain(c, "the dictionary holds something else than after a call without a fault");
}

static void judge_event(struct complaint *c, struct scene *s, ordo_status got)
{
    if (!s->order.done)
        return;
    if (got == ORDO_OK && (!s->done || clWaitForEvents(1, &s->done) != CL_SUCCESS))
        complain(c, "there is no event to wait for");
    if (got != ORDO_OK && s->done)
        complain(c, "there is an event after an error");
    forget_event(s);
}

/* A structure that is changed in place may be broken by a driver that fails half way: it then says so until it is cleared. */
static bool changes_in_place(const ordo_dict *dict)
{
    return strcmp(ordo_dict_name(dict), "blink") == 0;
}

static void judge_broken(struct complaint *c, struct scene *s)
{
    const uint32_t key = 1, value = 2;
    size_t         size = 0;

    if (run(s) != ORDO_BROKEN && ordo_dict_check(s->dict, NULL) != ORDO_OK)
        complain(c, "a broken dictionary does not say so");
    if (ordo_dict_clear(s->dict) != ORDO_OK || ordo_dict_upsert_host(s->dict, &key, &value, 1) != ORDO_OK ||
        ordo_dict_check(s->dict, NULL) != ORDO_OK || ordo_dict_size(s->dict, NULL, &size) != ORDO_OK || size != 1)
        complain(c, "a broken dictionary does not work when it is cleared");
}

/* Whether what the call did may stay although it failed: all of it if its event could not be had, as device.h says, and any
 * part of a concurrent batch, as dict.h says. */
static bool may_stay(const struct scene *s, const struct fault *f, const struct expected *e)
{
    if (s->is->call && s->is->call->needs == ORDO_CAN_CONCURRENT)
        return true;
    return f->lasting && s->is->structure != NO_DICT && same_content(e->now, e->after);
}

/* After an error: what was there is there, and the same call works. */
static void judge_rest(struct complaint *c, struct scene *s, const struct fault *f, const struct expected *e)
{
    look(s, e->now);
    if (e->now->status == ORDO_BROKEN && f == layer && changes_in_place(s->dict)) {
        judge_broken(c, s);
        return;
    }
    if (e->now->status != ORDO_OK)
        complain(c, "the dictionary that is left: '%s'", ordo_status_string(e->now->status));
    const bool stays = may_stay(s, f, e);
    if (!stays && !same_content(e->now, e->before))
        complain(c, "the dictionary holds something else than before");
    if (other_array(s, e->now, e->before, true) < s->n_arrays)
        complain(c, "an input was written");
    const ordo_status again = run(s);
    if (again != ORDO_OK)
        complain(c, "the same call right after gives '%s'", ordo_status_string(again));
    judge_event(c, s, again);
    look(s, e->now);
    if (!stays)
        judge_result(c, s, e);
    else if (!same_content(e->now, e->after))
        complain(c, "the dictionary holds something else when the call is made again");
}

/* The scenario with one fault. Returns the status. */
static ordo_status try_fault(struct complaint *c, struct test *t, const struct scenario *is, const struct expected *e,
                             struct fault *f, const struct fault *plan)
{
    const struct holding was = holding(t);
    struct scene         s;

    begin(&s, t, is);
    fault_arm(f, plan->at, plan->code, plan->lasting);
    const ordo_status got = run(&s);
    f->armed = false;
    if (got != ORDO_OK)
        judge_error(c, t->dev, f, got);
    judge_event(c, &s, got);
    if (got != ORDO_OK) {
        judge_rest(c, &s, f, e);
    } else {
        look(&s, e->now);
        judge_result(c, &s, e);
    }
    end(&s);
    const struct holding now = holding(t);
    judge_leaks(c, &was, &now);
    return got;
}

/* ---- which calls fail -------------------------------------------------------------------------------------------------------- */

/* Faults so far in this process: a test in which none struck proves nothing. */
static unsigned long n_tried, n_struck, n_errors, n_complaints;

static bool every_call(void)
{
    const char *text = getenv("ORDO_TEST_FAULTS");

    return text && strcmp(text, "all") == 0;
}

/* Whether call `n` of those that a scenario makes is to fail, in a sample of about `few`. Most calls set arguments of kernels: these count for less. */
static bool chosen(struct test *t, const struct fault *f, unsigned long n, unsigned long few)
{
    const bool          argument = n < FAULT_LOG && strcmp(f->log[n - 1], "clSetKernelArg") == 0;
    const unsigned long calls = f->calls;

    if (every_call() || calls <= few || n == 1 || n == calls)
        return true;
    return test_below(t, calls) < (argument ? few / 3 : few);
}

/* Counts a run with a fault, and tells what was wrong with it. */
static void note(struct test *t, const struct fault *f, const struct fault *plan, ordo_status got,
                 const struct complaint *c)
{
    n_tried++;
    n_struck += f->struck;
    n_errors += got != ORDO_OK;
    if (c->text[0] && n_complaints++ < 300)
        fprintf(stderr, "%s: call %lu%s, %s%s%s: %s\n", t->context, plan->at, plan->lasting ? " and all after" : "",
                f->what ? f->what : "nothing", f->given ? " with " : "", f->given ? ordo_cl_error_string(f->given) : "",
                c->text);
}

static void try_one(struct test *t, const struct scenario *is, const struct expected *e, struct fault *f,
                    const struct fault *plan)
{
    struct complaint  c = { "" };
    const ordo_status got = try_fault(&c, t, is, e, f, plan);

    note(t, f, plan, got, &c);
}

static void describe(struct test *t, const struct scenario *is)
{
    test_context(t, "%s%s%s%s%s on %s%s", is->name, is->host ? "_host" : "", is->structure == NO_DICT ? "" : " of a ",
                 is->structure == NO_DICT ? "" : structure_name[is->structure],
                 is->structure != NO_DICT && is->held == 0 ? " that is empty" : "", order_name[is->order],
                 is->cold ? ", kernels not built" : "");
}

/* What a call without a fault does; f counts its calls. */
static void run_without(struct test *t, const struct scenario *is, struct fault *f, struct expected *e)
{
    struct scene s;

    begin(&s, t, is);
    look(&s, e->before);
    end(&s);
    begin(&s, t, is);
    fault_arm(f, 0, 0, false);
    const ordo_status got = run(&s);
    f->armed = false;
    test_ok(t, got);
    look(&s, e->after);
    test_ok(t, e->before->status);
    test_ok(t, e->after->status);
    look(&s, e->now); /* so that its memory is there */
    end(&s);
}

/* A scenario with a fault at every call that is chosen. */
static void sweep(struct test *t, const struct scenario *is, struct fault *f)
{
    struct expected e = { new_outcome(), new_outcome(), new_outcome() };

    describe(t, is);
    run_without(t, is, f, &e); /* builds what is not yet built */
    run_without(t, is, f, &e);
    const unsigned long calls = f->calls;
    struct fault       *seen = test_alloc(sizeof *seen);
    *seen = *f;
    for (unsigned long n = 1; n <= calls; n++) {
        if (!chosen(t, seen, n, 12))
            continue;
        try_one(t, is, &e, f, &(struct fault) { .at = n });
        if (f == layer && (every_call() || n % 5 == 0))
            try_one(t, is, &e, f, &(struct fault) { .at = n, .code = CL_OUT_OF_HOST_MEMORY });
        if (every_call() || n % 3 == 0 || n == calls)
            try_one(t, is, &e, f, &(struct fault) { .at = n, .lasting = true });
    }
    free(seen);
    forget(e.before);
    forget(e.after);
    forget(e.now);
}

static void show(struct test *t, const char *what, unsigned long least)
{
    fprintf(stderr, "faults: %s: %lu runs with %lu calls that failed, %lu of them ended in an error\n", what, n_tried,
            n_struck, n_errors);
    test_context(t, "%s", what);
    test_true(t, n_complaints == 0);
    test_true(t, n_struck >= n_tried);
    test_true(t, n_errors >= least);
    n_tried = n_struck = n_errors = 0;
}

/* ---- primitives ------------------------------------------------------------------------------------------------------------- */

static void each_primitive(struct test *t, struct fault *f)
{
    for (size_t i = 0; i < n_primitive_calls; i++) {
        struct scenario is = { primitive_calls[i].name, &primitive_calls[i], .structure = NO_DICT };
        sweep(t, &is, f);
        is.host = true;
        sweep(t, &is, f);
    }
}

/* An index, and a search with it. */
static ordo_status search_with_index(struct scene *s)
{
    const struct ordo_slice   keys = test_slice(&s->array[0]), ranks = test_slice(&s->array[2]);
    struct ordo_search_params params = { .key = ORDO_U32 };
    ordo_index               *index = NULL;

    ordo_status got = ordo_index_build(s->t->dev, ORDO_U32, keys, N, NULL, &index);
    params.index = index;
    if (got == ORDO_OK)
        got = ordo_search(s->t->dev, &params, keys, N, test_slice(&s->array[1]), N, ranks, NULL);
    ordo_index_destroy(&index);
    return got;
}

static ordo_status trim(struct scene *s)
{
    return ordo_device_trim(s->t->dev);
}

static ordo_status wait(struct scene *s)
{
    return ordo_device_finish(s->t->dev);
}

static ordo_status self_test(struct scene *s)
{
    return ordo_device_self_test(s->t->dev);
}

static void device_calls(struct test *t, struct fault *f)
{
    const struct array_call *sort = call_named("ordo_sort");
    const struct scenario    all[] = {
           { "trim", .run = trim, .structure = NO_DICT },
           { "finish", .run = wait, .structure = NO_DICT },
           { "the self-test", .run = self_test, .structure = NO_DICT },
           { "an index", call_named("ordo_search"), .run = search_with_index, .structure = NO_DICT },
           { "ordo_sort", sort, .structure = NO_DICT, .order = IN_ORDER },
           { "ordo_sort", sort, .structure = NO_DICT, .order = OUT_OF_ORDER },
           { "ordo_sort", sort, .structure = NO_DICT, .cold = true },
    };

    for (size_t i = 0; i < LENGTH(all); i++)
        sweep(t, &all[i], f);
}

/* Kernels from and to the disk cache, also on drivers that have their own. */
static void cached_programs(struct test *t, struct fault *f)
{
    char                     dir[] = "/tmp/ordo-faults-XXXXXX";
    char *const              cache = t->dev->cache_dir;
    const bool               own = t->dev->facts.own_binary_cache;
    const struct array_call *sort = call_named("ordo_sort");

    cr_assert(mkdtemp(dir) != NULL);
    t->dev->cache_dir = dir;
    t->dev->facts.own_binary_cache = false;
    sweep(t, &(struct scenario) { "ordo_sort, from the cache,", sort, .structure = NO_DICT, .cold = true }, f);
    sweep(t, &(struct scenario) { "ordo_sort, to the cache,", sort, .structure = NO_DICT, .cold = true, .fresh = dir },
          f);
    t->dev->cache_dir = cache;
    t->dev->facts.own_binary_cache = own;
    empty(dir);
    cr_assert(rmdir(dir) == 0);
}

static ordo_status save_profile(struct scene *s)
{
    return ordo_device_save_profile(s->t->dev, NULL, 0);
}

static void profiles(struct test *t, struct fault *f)
{
    char dir[] = "/tmp/ordo-faults-XXXXXX", path[64];

    cr_assert(mkdtemp(dir) != NULL);
    (void) snprintf(path, sizeof path, "%s/profile", dir);
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);
    sweep(t, &(struct scenario) { "saving a profile", .run = save_profile, .structure = NO_DICT, .fresh = dir }, f);
    cr_assert(unsetenv("ORDO_PROFILE") == 0);
    empty(dir);
    cr_assert(rmdir(dir) == 0);
}

static void primitives_and_opencl(struct test *t)
{
    each_primitive(t, layer);
    device_calls(t, layer);
    cached_programs(t, layer);
    show(t, "OpenCL, primitives", 100);
}

static void primitives_and_memory(struct test *t)
{
    each_primitive(t, &memory);
    device_calls(t, &memory);
    cached_programs(t, &memory);
    profiles(t, &memory);
    show(t, "host memory, primitives", 30);
}

Test(faults, primitives_survive_every_opencl_call)
{
    with_layer(primitives_and_opencl);
}

Test(faults, primitives_survive_every_allocation)
{
    with_layer(primitives_and_memory);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------------------- */

static ordo_status create_another(struct scene *s)
{
    ordo_dict *made = NULL;

    const ordo_status got = create(s->t->dev, s->is->structure, ORDO_U64, 8, &made);
    s->numbers[0] = ordo_dict_can(made, ORDO_CAN_FIND);
    ordo_dict_destroy(&made);
    return got;
}

static ordo_status destroy(struct scene *s)
{
    ordo_dict_destroy(&s->dict);
    return ORDO_OK;
}

static ordo_status clear(struct scene *s)
{
    return ordo_dict_clear(s->dict);
}

static ordo_status compact(struct scene *s)
{
    return ordo_dict_compact(s->dict, NULL);
}

static ordo_status check(struct scene *s)
{
    return ordo_dict_check(s->dict, NULL);
}

static ordo_status size(struct scene *s)
{
    return ordo_dict_size(s->dict, NULL, &s->numbers[0]);
}

static ordo_status statistics(struct scene *s)
{
    struct ordo_dict_statistics is = { 0 };

    const ordo_status got = ordo_dict_statistics(s->dict, NULL, &is);
    if (got != ORDO_OK)
        return got;
    s->numbers[0] = is.elements;
    s->numbers[1] = is.stale;
    s->numbers[2] = is.tombstones;
    s->numbers[3] = is.bytes_data;
    return got;
}

static bool can(struct test *t, int structure, ordo_dict_op op)
{
    ordo_dict *dict = NULL;

    test_ok(t, create(t->dev, structure, ORDO_U32, 4, &dict));
    const bool is = ordo_dict_can(dict, op);
    ordo_dict_destroy(&dict);
    return is;
}

static void array_calls_of(struct test *t, struct fault *f, int structure)
{
    for (size_t i = 0; i < n_dict_calls; i++) {
        if (!can(t, structure, dict_calls[i].needs))
            continue;
        struct scenario is = { dict_calls[i].name, &dict_calls[i], .structure = structure, .held = HELD };
        sweep(t, &is, f);
        is.host = true;
        sweep(t, &is, f);
    }
}

/* Updates of what is empty, on other queues, and with kernels that are yet to be built. */
static void special_calls_of(struct test *t, struct fault *f, int structure)
{
    static const char *const names[] = { "ordo_dict_upsert", "ordo_dict_insert", "ordo_dict_apply", "ordo_dict_find",
                                         "ordo_dict_range" };

    for (size_t i = 0; i < n_dict_calls; i++)
        for (size_t name = 0; name < LENGTH(names); name++)
            if (strcmp(dict_calls[i].name, names[name]) == 0) {
                struct scenario is = { dict_calls[i].name, &dict_calls[i], .structure = structure };
                if (name < 3)
                    sweep(t, &is, f);
                is.held = HELD;
                is.order = name % 2 ? OUT_OF_ORDER : IN_ORDER;
                sweep(t, &is, f);
            }
}

static void plain_calls_of(struct test *t, struct fault *f, int structure)
{
    const struct scenario all[] = {
        { "create", .run = create_another, .structure = structure },
        { "destroy", .run = destroy, .structure = structure, .held = HELD },
        { "clear", .run = clear, .structure = structure, .held = HELD },
        { "compact", .run = compact, .structure = structure, .held = HELD },
        { "check", .run = check, .structure = structure, .held = HELD },
        { "size", .run = size, .structure = structure, .held = HELD },
        { "statistics", .run = statistics, .structure = structure, .held = HELD },
    };

    for (size_t i = 0; i < LENGTH(all); i++)
        sweep(t, &all[i], f);
}

static void each_dictionary(struct test *t, struct fault *f)
{
    for (int s = 0; s <= LSM_CLEANING; s++) {
        array_calls_of(t, f, s);
        special_calls_of(t, f, s);
        plain_calls_of(t, f, s);
    }
}

static void dictionaries_and_opencl(struct test *t)
{
    each_dictionary(t, layer);
    show(t, "OpenCL, dictionaries", 300);
}

static void dictionaries_and_memory(struct test *t)
{
    each_dictionary(t, &memory);
    show(t, "host memory, dictionaries", 100);
}

Test(faults, dictionaries_survive_every_opencl_call)
{
    with_layer(dictionaries_and_opencl);
}

Test(faults, dictionaries_survive_every_allocation)
{
    with_layer(dictionaries_and_memory);
}

/* ---- opening devices --------------------------------------------------------------------------------------------------------- */

/* A way to open a device. */
struct opening {
    const char *name;
    bool        adopt, adopt_queue;
    const char *cache;     /* ORDO_CACHE */
    bool        empty;     /* the cache is empty: all is found out anew */
    bool        self_test; /* with it */
};

struct opened {
    ordo_device *dev;
    char         message[512];
};

static ordo_status open_it(struct test *t, const struct opening *way, struct opened *out)
{
    *out = (struct opened) { NULL, "" };
    const struct ordo_device_config config = { .select = t->facts->name,
                                               .mask = t->mask,
                                               .message = out->message,
                                               .message_bytes = sizeof out->message,
                                               .no_self_test = !way->self_test };
    if (!way->adopt)
        return ordo_device_open(&config, &out->dev);
    return ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev),
                             way->adopt_queue ? ordo_device_queue(t->dev) : NULL, &config, &out->dev);
}

static bool same_facts(const struct ordo_device_facts *a, const struct ordo_device_facts *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->dropped, b->dropped) == 0 && a->cpu == b->cpu &&
           a->lanes == b->lanes && a->atomics == b->atomics && a->int64_atomics == b->int64_atomics &&
           a->sub_group == b->sub_group && a->max_group == b->max_group && a->local_bytes == b->local_bytes &&
           a->global_bytes == b->global_bytes && a->max_alloc_bytes == b->max_alloc_bytes &&
           a->groups_progress == b->groups_progress;
}

static void prepare_cache(const struct opening *way)
{
    cr_assert(setenv("ORDO_CACHE", way->cache, 1) == 0);
    if (way->empty)
        empty(way->cache);
}

static void judge_opening_error(struct complaint *c, const struct fault *f, const struct opened *o, ordo_status got)
{
    const bool none = got == ORDO_NO_DEVICE && strstr(o->message, "] CL_") != NULL;

    if (o->dev)
        complain(c, "there is a device after an error");
    if (!none && !suits(f, got))
        complain(c, "%s ended as '%s': %s", ordo_cl_error_string(f->given), ordo_status_string(got), o->message);
    if (strlen(o->message) < 20 && f->calls > 1) /* without the first there is nothing to hold a message */
        complain(c, "the message of the error is '%s'", o->message);
}

/* A device that was opened although a call failed: as always, or able to do less, but right. */
static void judge_opened(struct complaint *c, ordo_device *dev, const struct ordo_device_facts *usual)
{
    if (!same_facts(ordo_device_facts(dev), usual) && ordo_device_self_test(dev) != ORDO_OK)
        complain(c, "the device that was opened all the same does not work");
}

/* Nothing that a failure hid is remembered, unless the failure was that of a compile, which says what the device can. */
static void judge_next(struct complaint *c, struct test *t, const struct opening *way, const struct fault *f,
                       const struct ordo_device_facts *usual)
{
    struct opened o;

    if (f->given == CL_BUILD_PROGRAM_FAILURE)
        return;

    if (open_it(t, way, &o) != ORDO_OK)
        complain(c, "the device cannot be opened again: %s", o.message);
    else if (!same_facts(ordo_device_facts(o.dev), usual))
        complain(c, "the device is not the same when it is opened again");
    ordo_device_close(&o.dev);
}

static void try_opening(struct test *t, const struct opening *way, const struct ordo_device_facts *usual,
                        struct fault *f, const struct fault *plan)
{
    struct complaint c = { "" };
    struct opened    o;

    prepare_cache(way);
    const struct holding was = holding(t);
    fault_arm(f, plan->at, plan->code, plan->lasting);
    const ordo_status got = open_it(t, way, &o);
    if (f->struck > 0)
        f->armed = false;
    if (got != ORDO_OK)
        judge_opening_error(&c, f, &o, got);
    else if (f->struck > 0)
        judge_opened(&c, o.dev, usual);
    ordo_device_close(&o.dev);
    f->armed = false;
    const struct holding now = holding(t);
    judge_leaks(&c, &was, &now);
    judge_next(&c, t, way, f, usual);
    note(t, f, plan, got, &c);
}

static void sweep_opening(struct test *t, const struct opening *way, struct fault *f)
{
    struct fault            *seen = test_alloc(sizeof *seen);
    struct ordo_device_facts usual;
    struct opened            o;

    test_context(t, "opening a device: %s", way->name);
    for (int round = 0; round < 2; round++) { /* the first may have to build what the driver then keeps */
        prepare_cache(way);
        fault_arm(f, 0, 0, false);
        test_ok(t, open_it(t, way, &o));
        usual = *ordo_device_facts(o.dev);
        ordo_device_close(&o.dev);
        f->armed = false;
    }
    *seen = *f;
    for (unsigned long n = 1; n <= seen->calls; n++) {
        if (!chosen(t, seen, n, way->empty ? 5 : 10))
            continue;
        try_opening(t, way, &usual, f, &(struct fault) { .at = n });
        if (n % 2 == 0)
            try_opening(t, way, &usual, f, &(struct fault) { .at = n, .lasting = true });
    }
    free(seen);
}

static void each_opening(struct test *t, struct fault *f)
{
    char dir[] = "/tmp/ordo-faults-XXXXXX";

    cr_assert(mkdtemp(dir) != NULL);
    const struct opening all[] = {
        { "ordo_device_open, remembered", .cache = dir, .self_test = true },
        { "ordo_device_adopt, remembered", .adopt = true, .cache = dir, .self_test = true },
        { "ordo_device_adopt with a queue", .adopt = true, .adopt_queue = true, .cache = dir, .self_test = true },
        { "ordo_device_open, only probed", .cache = "off" },
        { "ordo_device_open, for the first time", .cache = dir, .empty = true, .self_test = true },
    };

    for (size_t i = 0; i < LENGTH(all); i++)
        sweep_opening(t, &all[i], f);
    empty(dir);
    cr_assert(rmdir(dir) == 0);
}

static void opening_and_opencl(struct test *t)
{
    each_opening(t, layer);
    show(t, "OpenCL, opening devices", 20);
}

static void opening_and_memory(struct test *t)
{
    each_opening(t, &memory);
    show(t, "host memory, opening devices", 20);
}

Test(faults, opening_survives_every_opencl_call)
{
    with_layer(opening_and_opencl);
}

Test(faults, opening_survives_every_allocation)
{
    with_layer(opening_and_memory);
}

/* ---- that the tests can fail --------------------------------------------------------------------------------------------------- */

static struct ordo_slice slice_of(const struct scene *s, size_t i)
{
    return test_slice(&s->array[i]);
}

static ordo_status scan_in(struct scene *s)
{
    return ordo_scan(s->t->dev, ordo_scan_params(.type = ORDO_U32), slice_of(s, 0), slice_of(s, 1), N, NULL);
}

static ordo_status pass_over_errors(struct scene *s)
{
    (void) scan_in(s);
    return ORDO_OK;
}

static ordo_status tell_another_error(struct scene *s)
{
    return scan_in(s) == ORDO_OK ? ORDO_OK : ORDO_INVALID;
}

static ordo_status leak_a_buffer(struct scene *s)
{
    cl_mem mem = clCreateBuffer(ordo_device_context(s->t->dev), CL_MEM_READ_WRITE, 64, NULL, NULL);

    const ordo_status got = scan_in(s);
    if (got == ORDO_OK && mem)
        (void) clReleaseMemObject(mem);
    return got;
}

static ordo_status leak_a_block(struct scene *s)
{
    static void *volatile block; /* volatile: else the compiler allocates nothing */

    block = malloc(64);
    const ordo_status got = scan_in(s);
    if (got == ORDO_OK)
        free(block);
    return got;
}

static ordo_status write_an_input(struct scene *s)
{
    const ordo_status got = scan_in(s);
    const uint32_t    word = 7;

    if (got != ORDO_OK)
        (void) clEnqueueWriteBuffer(ordo_device_queue(s->t->dev), s->array[0].mem, CL_TRUE, 0, sizeof word, &word, 0,
                                    NULL, NULL);
    return got;
}

static ordo_status clear_after_an_error(struct scene *s)
{
    size_t            count = 0;
    const ordo_status got = ordo_dict_export(s->dict, slice_of(s, 0), slice_of(s, 1), (size_t) 3 * N, &count, NULL);

    if (got != ORDO_OK) {
        layer->armed = false;
        (void) ordo_dict_clear(s->dict);
    }
    return got;
}

/* The number of the last call of this name. */
static unsigned long last_of(const struct fault *f, const char *name)
{
    for (unsigned long n = f->calls; n > 0; n--)
        if (strcmp(f->log[n - 1], name) == 0)
            return n;
    cr_assert_fail("there is no %s", name);
    abort();
}

static void expect_complaint(struct test *t, ordo_status (*wrong)(struct scene *s), const char *array_call,
                             const char *want)
{
    const struct scenario is = { "a call that is wrong", call_named(array_call), .run = wrong,
                                 .structure = strncmp(array_call, "ordo_dict", 9) == 0 ? LSM : NO_DICT, .held = HELD };
    struct expected       e = { new_outcome(), new_outcome(), new_outcome() };
    struct complaint      c = { "" };

    test_context(t, "the complaint '%s'", want);
    run_without(t, &is, layer, &e); /* builds kernels */
    run_without(t, &is, layer, &e);
    (void) try_fault(&c, t, &is, &e, layer, &(struct fault) { .at = last_of(layer, "clEnqueueNDRangeKernel") });
    test_true(t, layer->struck == 1);
    if (!strstr(c.text, want))
        test_fail(t, __FILE__, __LINE__, "the complaint is '%s'", c.text);
    forget(e.before);
    forget(e.after);
    forget(e.now);
}

static void wrong_calls(struct test *t)
{
    expect_complaint(t, pass_over_errors, "ordo_scan", "out differs");
    expect_complaint(t, tell_another_error, "ordo_scan", "ended as");
    expect_complaint(t, leak_a_buffer, "ordo_scan", "buffers that are left: 1");
    expect_complaint(t, leak_a_block, "ordo_scan", "blocks of host memory that are left: 1");
    expect_complaint(t, write_an_input, "ordo_scan", "an input was written");
    expect_complaint(t, clear_after_an_error, "ordo_dict_export", "the dictionary holds something else than before");
}

Test(faults, what_is_wrong_is_noticed)
{
    with_layer(wrong_calls);
}

static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    cr_assert(file != NULL, "%s", path);
    char        *text = test_alloc(1 << 20);
    const size_t bytes = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    text[bytes] = 0;
    return text;
}

/* Fails for an OpenCL function that is called in a file and that the layer does not know. Returns how many are called. */
static size_t find_calls(const char *path, const char *of_layer)
{
    char  *text = text_of(path);
    size_t n = 0;

    for (const char *at = text; (at = strstr(at, "cl")); at += 2) {
        const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        char         name[64];
        if ((at > text && (at[-1] == '_' || at[-1] == '"' || (at[-1] >= 'a' && at[-1] <= 'z'))) || at[2] < 'A' ||
            at[2] > 'Z' || at[length] != '(' || length >= sizeof name)
            continue;
        memcpy(name, at, length);
        name[length] = 0;
        const size_t begun = strncmp(name, "clRetain", 8) == 0 ? 8 : strncmp(name, "clRelease", 9) == 0 ? 9 : 0;
        cr_assert(strstr(of_layer, name + begun) != NULL, "%s calls %s, which fault_layer.c does not make fail", path,
                  name);
        n++;
    }
    free(text);
    return n;
}

/* Of the OpenCL calls in host/runtime, where all of the library's are, none escapes the layer. */
Test(faults, the_layer_knows_every_call)
{
    char          *of_layer = text_of(TEST_SOURCE_DIR "/fault_layer.c");
    DIR           *dir = opendir(TEST_SOURCE_DIR "/../host/runtime");
    size_t         n = 0;
    struct dirent *entry = NULL;

    cr_assert(dir != NULL);
    while ((entry = readdir(dir))) {
        char path[512];
        if (!strstr(entry->d_name, ".c"))
            continue;
        (void) snprintf(path, sizeof path, "%s/../host/runtime/%s", TEST_SOURCE_DIR, entry->d_name);
        n += find_calls(path, of_layer);
    }
    closedir(dir);
    free(of_layer);
    cr_assert(n > 60, "%zu calls found", n);
}
