/* SPDX-License-Identifier: Apache-2.0 */
/* See fault_fixture.h. */
#include "fault_fixture.h"

#include "dict/hash/hash.h"
#include "dict/ltree/ltree.h"
#include "dict/trie/hamt.h"
#include "dict/trie/xfast.h"

#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const order_name[] = { "the device's queue", "another queue", "an out-of-order queue" };

static size_t bytes_of(const struct fixture *s, size_t i)
{
    return s->array[i].count * s->array[i].bytes;
}

/* Writes for each key of 4 bytes one of 16 bytes. The order stays, and near keys differ in the second word alone. */
static void widen(ordo_type type, const uint32_t *from, size_t n, void *to)
{
    for (size_t i = 0; i < n; i++)
        put_form(type, to, i, (key_form) (from[i] >> 8) << 64 | (uint64_t) from[i] << 56 | from[i]);
}

/* Bytes of an element of array i. */
static size_t element_bytes(const struct fixture *s, size_t i)
{
    const struct call_array *array = &s->is->call->array[i];
    return s->is->key && call_array_is_key(array) ? ordo_type_bytes(s->is->key) : array->bytes;
}

/* Replaces an array of keys of 4 bytes. */
static void widen_array(struct fixture *s, size_t i)
{
    const size_t count = call_array_count(&s->is->call->array[i], FIXTURE_N), bytes = element_bytes(s, i);
    void        *wide = test_alloc(count * bytes);

    memset(wide, TEST_EMPTY, count * bytes);
    if (!s->is->call->array[i].output)
        widen(s->is->key, s->host[i], count, wide);
    free(s->host[i]);
    s->host[i] = wide;
}

static void make_arrays(struct fixture *s)
{
    const struct array_call *call = s->is->call;
    struct test              fixed = *s->t; /* the same input every time */

    fixed.random = s->t->seed;
    s->n_arrays = call ? call_arrays(call) : 0;
    for (size_t i = 0; i < s->n_arrays; i++) {
        const size_t count = call_array_count(&call->array[i], FIXTURE_N);
        s->host[i] = test_alloc(count * call->array[i].bytes);
        memset(s->host[i], TEST_EMPTY, count * call->array[i].bytes);
    }
    if (call)
        call_fill(&fixed, call, FIXTURE_N, FIXTURE_HELD, s->host);
    for (size_t i = 0; i < s->n_arrays; i++) {
        if (element_bytes(s, i) != call->array[i].bytes)
            widen_array(s, i);
        s->array[i] =
            test_upload(s->t, s->host[i], call_array_count(&call->array[i], FIXTURE_N), element_bytes(s, i), i % 2 * 3);
    }
}

static void fill_wide(struct fixture *s)
{
    static uint32_t keys[FIXTURE_HELD], values[FIXTURE_HELD];
    static uint64_t wide[2 * FIXTURE_HELD];

    for (uint32_t i = 0; i < s->is->held; i++) {
        keys[i] = key_of(i);
        values[i] = value_of(i);
    }
    widen(s->is->key, keys, s->is->held, wide);
    test_ok(s->t, create(s->t->dev, s->is->structure, s->is->key, 4, &s->dict));
    test_ok(s->t, ordo_dict_build_host(s->dict, wide, values, s->is->held));
}

/* Updates some elements and erases others, so that an LSM has several runs. */
static void change_recent(struct fixture *s)
{
    static uint32_t keys[FIXTURE_RECENT], values[FIXTURE_RECENT];
    static uint64_t wide[2 * FIXTURE_RECENT];

    for (uint32_t i = 0; i < FIXTURE_RECENT; i++) {
        keys[i] = key_of(i * 7);
        values[i] = i;
    }
    if (s->is->key)
        widen(s->is->key, keys, FIXTURE_RECENT, wide);
    const void *const recent = s->is->key ? (const void *) wide : keys;
    test_ok(s->t, ordo_dict_upsert_host(s->dict, recent, values, FIXTURE_RECENT));
    test_ok(s->t, ordo_dict_erase_host(s->dict, recent, FIXTURE_RECENT / 5));
}

static void make_dictionary(struct fixture *s)
{
    if (s->is->structure == NO_DICT)
        return;
    if (s->is->held == 0) {
        test_ok(s->t, create(s->t->dev, s->is->structure, s->is->key, 4, &s->dict));
        return;
    }
    if (s->is->key)
        fill_wide(s);
    else
        s->dict = make_dict(s->t, s->t->dev, s->is->structure, 0, s->is->held);
    change_recent(s);
    if (s->is->device_faults && s->is->structure == HASH)
        ordo_hash_of(s->dict)->faults = s->is->device_faults;
    else if (s->is->device_faults && s->is->structure == HAMT)
        ordo_hamt_of(s->dict)->drafts.faults = s->is->device_faults;
    else if (s->is->device_faults && s->is->structure == XFAST)
        ordo_xfast_of(s->dict)->drafts.faults = s->is->device_faults;
    else if (s->is->device_faults)
        ordo_ltree_of(s->dict)->faults = s->is->device_faults;
}

static void begin(struct fixture *s, struct test *t, const struct scenario *is)
{
    *s = (struct fixture) { .t = t, .is = is };
    make_dictionary(s);
    s->strings = call_strings_of(t, is->call, FIXTURE_N);
    make_arrays(s);
    if (is->order != OWN_QUEUE) {
        s->order.queue = test_queue(t, is->order == OUT_OF_ORDER ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
        s->order.done = &s->done;
        test_true(t, s->order.queue != NULL);
    }
    if (is->cold)
        ordo_programs_destroy(t->dev);
    if (is->fresh)
        fault_empty(is->fresh);
    test_ok(t, ordo_device_finish(t->dev));
    test_ok(t, ordo_device_trim(t->dev)); /* so that scratch is allocated again */
}

static void forget_event(struct fixture *s)
{
    if (s->done)
        (void) clReleaseEvent(s->done);
    s->done = NULL;
}

static void end(struct fixture *s)
{
    forget_event(s);
    ordo_dict_destroy(&s->dict);
    call_strings_free(&s->strings);
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

static ordo_status run(struct fixture *s)
{
    struct given      g = call_given(s->t->dev, s->dict, FIXTURE_N);
    struct ordo_slice slice[CALL_ARRAYS];

    g.strings = s->strings;
    g.type = s->is->key;
    if (s->n_arrays == 0)
        g.got = &s->numbers[0];
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

static bool is_concurrent(const struct fixture *s)
{
    return s->is->call && s->is->call->needs == ORDO_CAN_CONCURRENT;
}

static void look_at_dictionary(struct fixture *s, struct outcome *o)
{
    o->count = 0;
    o->key_bytes = ordo_type_bytes(s->is->key);
    o->status = s->dict ? ordo_dict_check(s->dict, NULL) : ORDO_OK;
    if (s->dict && o->status == ORDO_OK)
        o->status = ordo_dict_export_host(s->dict, o->keys, o->values, FIXTURE_MAX, &o->count);
    /* A batch that lacks memory puts elements into other slots of a hash table. Concurrent batches do so too. */
    if (s->dict)
        model_put_in_order(s->dict, s->is->key, 4, o->keys, o->values, o->count);
}

static void look(struct fixture *s, struct outcome *o)
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

struct expected fixture_expected(void)
{
    return (struct expected) { new_outcome(), new_outcome(), new_outcome() };
}

void fixture_forget(struct expected *e)
{
    forget(e->before);
    forget(e->after);
    forget(e->now);
}

static bool same_content(const struct outcome *a, const struct outcome *b)
{
    return a->count == b->count && memcmp(a->keys, b->keys, a->count * a->key_bytes) == 0 &&
           memcmp(a->values, b->values, a->count * sizeof *a->values) == 0;
}

/* The first array that differs (`inputs`: the first input); n_arrays: none. */
static size_t other_array(const struct fixture *s, const struct outcome *a, const struct outcome *b, bool inputs)
{
    for (size_t i = 0; i < s->n_arrays; i++)
        if ((!inputs || !s->is->call->array[i].output) && memcmp(a->output[i], b->output[i], bytes_of(s, i)) != 0)
            return i;
    return s->n_arrays;
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static void check_error(struct complaint *c, ordo_device *dev, const struct fault *f, ordo_status got)
{
    char text[256] = "";

    (void) ordo_device_last_error(dev, text, sizeof text);
    if (f->struck == 0)
        complain(c, "an error where nothing failed: %s", ordo_status_string(got));
    else if (!fault_suits(f, got))
        complain(c, "it ended as '%s': %s", ordo_status_string(got), text);
    if (strlen(text) < 20)
        complain(c, "the message of the error is '%s'", text);
    if (f == fault_opencl && !f->lasting && ordo_device_last_cl_error(dev) != f->given)
        complain(c, "the error's code is %s, not %s", ordo_cl_error_string(ordo_device_last_cl_error(dev)),
                 ordo_cl_error_string(f->given));
}

/* Arrays of ordo_dict_apply_concurrent (calls.c). */
enum { KEYS = 1, VALUES = 3, FOUND = 5, OUTCOMES = 9 };

/* The rank of a key among the elements, and whether it is one of them. */
static size_t rank_of(const struct outcome *o, ordo_type type, key_form form, bool *there)
{
    size_t low = 0, high = o->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (form_of_key(type, o->keys, middle) < form)
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < o->count && form_of_key(type, o->keys, low) == form;
    return low;
}

/* Stores upsert i of the batch in `now`. The key has `rank` among the elements. */
static void add_upsert(const struct expected *e, size_t i, size_t rank, bool there)
{
    struct outcome *o = e->now;
    char           *key = (char *) o->keys + rank * o->key_bytes;

    if (!there) {
        const size_t after = o->count++ - rank;
        memmove(key + o->key_bytes, key, after * o->key_bytes);
        memmove(&o->values[rank + 1], &o->values[rank], after * sizeof *o->values);
        memcpy(key, (const char *) o->output[KEYS] + i * o->key_bytes, o->key_bytes);
    }
    o->values[rank] = ((const uint32_t *) o->output[VALUES])[i];
    ((uint8_t *) o->output[FOUND])[i] = ((const uint8_t *) e->after->output[FOUND])[i];
    ((uint8_t *) o->output[OUTCOMES])[i] = ORDO_DONE;
}

size_t fixture_not_stored;

/* An upsert that lacked memory must have changed nothing. It is then added to `now`. */
static void add_not_stored(struct complaint *c, const struct fixture *s, const struct expected *e)
{
    const ordo_type type = s->is->key;

    for (size_t i = 0; i < FIXTURE_N; i++) {
        bool there = false, was_there = false;
        if (((const uint8_t *) e->now->output[OUTCOMES])[i] != ORDO_NOT_STORED)
            continue;
        const key_form form = form_of_key(type, e->now->output[KEYS], i);
        const size_t   is = rank_of(e->now, type, form, &there), was = rank_of(e->before, type, form, &was_there);
        if (there != was_there || (there && e->now->values[is] != e->before->values[was]) ||
            e->now->count == FIXTURE_MAX) {
            complain(c, "upsert %zu lacked memory, but changed the dictionary", i);
            return;
        }
        add_upsert(e, i, is, there);
        fixture_not_stored++;
    }
}

static void check_result(struct complaint *c, struct fixture *s, const struct expected *e)
{
    if (is_concurrent(s))
        add_not_stored(c, s, e);
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

static void check_event(struct complaint *c, struct fixture *s, ordo_status got)
{
    if (!s->order.done)
        return;
    if (got == ORDO_OK && (!s->done || clWaitForEvents(1, &s->done) != CL_SUCCESS))
        complain(c, "there is no event to wait for");
    if (got != ORDO_OK && s->done)
        complain(c, "there is an event after an error");
    forget_event(s);
}

/* Whether a refused command only orders others. */
static bool is_order(const char *command)
{
    return strcmp(command, "clEnqueueMarkerWithWaitList") == 0 || strcmp(command, "clEnqueueBarrierWithWaitList") == 0;
}

/* Whether a call that returned an error may have changed the dictionary: completely if its event could not be created
 * (device.h), in part if it is a concurrent batch (dict.h). */
static bool may_stay(const struct fixture *s, const struct fault *f, const struct expected *e)
{
    if (is_concurrent(s))
        return true;
    if (f->only && s->is->order == OWN_QUEUE && f->what && !is_order(f->what))
        return false;
    return f->lasting && s->is->structure != NO_DICT && same_content(e->now, e->after);
}

/* Whether this fault may keep the host from reading that a change is done. The library tries such a read twice. */
static bool hides_result(const struct fault *f)
{
    static const char *const reads[] = { "clEnqueueReadBuffer", "clFlush", "clFinish", "clWaitForEvents" };
    bool                     is = false;

    for (size_t i = 0; i < LENGTH(reads); i++)
        is = is || strcmp(f->what, reads[i]) == 0;
    return is && f->lasting;
}

/* After an error the content is unchanged, and the same call works. */
static void check_rest(struct complaint *c, struct fixture *s, const struct fault *f, const struct expected *e)
{
    look(s, e->now);
    if (e->now->status != ORDO_OK)
        complain(c, "the dictionary that is left: '%s'", ordo_status_string(e->now->status));
    if (s->is->in_part && f->what && !hides_result(f) && same_content(e->now, e->after))
        complain(c, "an error, though the call is done");
    const bool stays = may_stay(s, f, e);
    if (!stays && !same_content(e->now, e->before))
        complain(c, "the dictionary holds something else than before");
    if (other_array(s, e->now, e->before, true) < s->n_arrays)
        complain(c, "an input was written");
    const ordo_status again = run(s);
    if (again != ORDO_OK)
        complain(c, "the same call right after gives '%s'", ordo_status_string(again));
    check_event(c, s, again);
    look(s, e->now);
    if (!stays)
        check_result(c, s, e);
    else if (!(s->is->call && s->is->call->once) && !same_content(e->now, e->after))
        complain(c, "the dictionary holds something else when the call is made again");
}

ordo_status fixture_run_with(struct complaint *c, struct test *t, const struct scenario *is, const struct expected *e,
                             struct fault *f, const struct fault *plan)
{
    const struct fault_holding was = fault_holding(t);
    struct fixture             s;

    begin(&s, t, is);
    fault_arm(f, plan->at, plan->code, plan->lasting);
    const ordo_status got = run(&s);
    f->armed = false;
    if (got != ORDO_OK)
        check_error(c, t->dev, f, got);
    check_event(c, &s, got);
    if (got != ORDO_OK) {
        check_rest(c, &s, f, e);
    } else {
        look(&s, e->now);
        check_result(c, &s, e);
    }
    end(&s);
    const struct fault_holding now = fault_holding(t);
    fault_check_leaks(c, &was, &now);
    return got;
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static void try_one(struct test *t, const struct scenario *is, const struct expected *e, struct fault *f,
                    const struct fault *plan)
{
    struct complaint  c = { "" };
    const ordo_status got = fixture_run_with(&c, t, is, e, f, plan);

    fault_note(t, f, plan, got, &c);
}

static void describe(struct test *t, const struct scenario *is)
{
    test_context(t, "%s%s%s%s%s%s on %s%s", is->name, is->host ? "_host" : "", is->structure == NO_DICT ? "" : " of a ",
                 is->structure == NO_DICT ? "" : structures[is->structure].name,
                 is->key ? " with keys of 16 bytes" : "",
                 is->structure != NO_DICT && is->held == 0 ? " that is empty" : "", order_name[is->order],
                 is->cold ? ", kernels not built" : "");
}

void fixture_run_without(struct test *t, const struct scenario *is, struct fault *f, struct expected *e)
{
    struct fixture s;

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
    look(&s, e->now); /* so that its memory exists */
    end(&s);
}

/* Calls of each scenario that fail: fewer with more structures, so that a sample takes as long, and fewer on a GPU,
 * whose driver takes 0.14 s for a run, compared with 0.02 s on a CPU. */
enum { SAMPLE = N_CONFIGURED < 16 ? 80 / N_CONFIGURED : 5, SAMPLE_OF_GPU = 2 };

/* Each chosen call fails, alone or with all later calls. */
static void fail_calls(struct test *t, const struct scenario *is, const struct expected *e, struct fault *f,
                       const struct fault *seen)
{
    for (unsigned long n = 1; n <= seen->calls; n++) {
        const bool last = seen->calls - n < is->last_calls;
        if (!fault_chosen(t, seen, n, t->facts->cpu ? SAMPLE : SAMPLE_OF_GPU) && !last)
            continue;
        try_one(t, is, e, f, &(struct fault) { .at = n });
        if (f == fault_opencl && (fault_every_call() || n % 5 == 0))
            try_one(t, is, e, f, &(struct fault) { .at = n, .code = CL_OUT_OF_HOST_MEMORY });
        if (fault_every_call() || n % 3 == 0 || n == seen->calls)
            try_one(t, is, e, f, &(struct fault) { .at = n, .lasting = true });
    }
}

/* About as many places in a call from which its commands are refused, evenly spread and moved by the seed. */
enum { LASTING_PLACES = 6 };

/* All commands from one on are refused until the call returns. */
static void refuse_commands(struct test *t, const struct scenario *is, const struct expected *e, struct fault *f,
                            const struct fault *seen)
{
    const unsigned long step = fault_every_call() ? 1 : seen->calls / LASTING_PLACES + 1;

    for (unsigned long n = 1 + t->seed % step; n <= seen->calls; n += step)
        try_one(t, is, e, f,
                &(struct fault) { .at = n, .code = n / step % 2 ? CL_OUT_OF_HOST_MEMORY : 0, .lasting = true });
}

void fault_sweep(struct test *t, const struct scenario *is, struct fault *f)
{
    struct expected e = fixture_expected();
    struct fault   *seen = test_alloc(sizeof *seen);

    describe(t, is);
    fixture_run_without(t, is, f, &e); /* builds the kernels */
    fixture_run_without(t, is, f, &e);
    *seen = *f;
    (f->only ? refuse_commands : fail_calls)(t, is, &e, f, seen);
    free(seen);
    fixture_forget(&e);
}

void fault_skip_if_of_the_host(const struct fault *f)
{
    const char *set = getenv("ORDO_TEST_FAULTS");

    if (f == &fault_memory && set && strcmp(set, "opencl") == 0)
        test_skip("allocations, which do not depend on the driver (ORDO_TEST_FAULTS=opencl)");
}

unsigned long fault_last_of(const struct fault *f, const char *name)
{
    for (unsigned long n = f->calls; n > 0; n--)
        if (strcmp(f->log[n - 1], name) == 0)
            return n;
    cr_assert_fail("there is no %s", name);
    abort();
}
