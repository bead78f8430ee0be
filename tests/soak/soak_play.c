/* SPDX-License-Identifier: Apache-2.0 */
/* One call of the soak: its arrays, its hazards, and its right results (soak.h). */
#include "soak.h"

#include "runtime/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_OPERATIONS = 1 << 18, MOST_ELEMENTS = 1 << 17 };

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static ordo_type value_type(struct life *l, uint32_t bytes)
{
    static const ordo_type narrow[] = { ORDO_U32, ORDO_I32, ORDO_F32 }, wide[] = { ORDO_U64, ORDO_I64, ORDO_F64 };
    const size_t           i = soak_below(l, 3);

    return bytes == 8 ? wide[i] : narrow[i];
}

static ordo_op operation_for(struct life *l, ordo_type type)
{
    const bool summable = type != ORDO_F32 && type != ORDO_F64;

    return summable ? (ordo_op) soak_below(l, 3) : (ordo_op) (1 + soak_below(l, 2));
}

/* Few operations are as likely as many. An emptying life takes quarters of all keys now and then. */
static size_t choose_n(struct life *l, const struct soak_row *row)
{
    const size_t keys = l->n_forms + l->n_forms / 2 + 1;

    if (row->traits & ROW_ARRAY)
        return soak_size(l, MOST_ELEMENTS);
    if ((row->traits & ROW_CHANGES) && (l->mood == MOOD_EMPTY || l->mood == MOOD_GROW) && soak_one_in(l, 2))
        return l->n_forms / (1 + soak_below(l, 5)) + 1;
    if (soak_one_in(l, 4))
        return 1 + soak_below(l, keys < MOST_OPERATIONS ? keys : MOST_OPERATIONS);
    return soak_size(l, keys < MOST_OPERATIONS ? keys : MOST_OPERATIONS);
}

static void choose_given(struct life *l, struct play *p)
{
    const size_t  n = choose_n(l, p->row);
    struct given *g = &p->g;

    *g = call_given(l->t.dev, (p->row->traits & ROW_ARRAY) ? NULL : l->dict, n);
    /* Not all calls on arrays take keys of 16 bytes. */
    g->type = (p->row->traits & ROW_ARRAY) && has_wide_keys(l) ? ORDO_U64 : l->config.key;
    g->value_bytes = l->config.value_bytes;
    g->value = value_type(l, l->config.value_bytes);
    g->op = operation_for(l, g->value);
    g->second = soak_below(l, n + 1);
    g->k = soak_below(l, n);
    g->room = soak_one_in(l, 3) ? soak_below(l, CALL_ROOM * n + 1) : CALL_ROOM * n;
    g->relation = (ordo_relation) soak_below(l, 4);
    g->limit = (uint32_t) soak_below(l, 4);
    g->ascending = soak_one_in(l, 2);
    g->got = &p->got_number;
    if (p->row->choose)
        p->row->choose(l, p);
}

static void make_arrays(struct life *l, struct play *p)
{
    p->n_arrays = call_arrays(p->call);
    for (size_t i = 0; i < p->n_arrays; i++) {
        const struct call_array *is = &p->call->array[i];
        p->bytes[i] = call_array_bytes(is, &p->g);
        p->count[i] = p->compared[i] = call_array_count(is, p->g.n);
        if (p->bytes[i] == 0 || (is->output && is->optional && soak_one_in(l, 5)))
            continue;
        const size_t size = p->count[i] * p->bytes[i];
        p->want[i] = test_alloc(size);
        memset(p->want[i], TEST_EMPTY, size);
        if (is->output)
            p->got[i] = test_alloc(size);
    }
}

static void reset_outputs(struct play *p)
{
    p->got_number = (size_t) -1;
    for (size_t i = 0; i < p->n_arrays; i++)
        if (p->got[i])
            memset(p->got[i], TEST_EMPTY, p->count[i] * p->bytes[i]);
}

static void begin(struct life *l, struct play *p, const struct soak_row *row)
{
    *p = (struct play) { .row = row, .call = call_named(row->name), .host = soak_below(l, 5) < 3 };
    if (!p->call)
        soak_fail(l, "there is no call %s", row->name);
    choose_given(l, p);
    make_arrays(l, p);
    soak_fill(l, p);
    if (row->fix)
        row->fix(l, p);
    if (row->traits & ROW_CHANGES)
        p->after = model_copy(&l->model);
    row->model(l, p);
    reset_outputs(p);
    p->queue = p->host ? 0 : soak_below(l, l->without[HAZARD_LOOSE] ? N_QUEUES - 1 : N_QUEUES);
    l->calls++;
    l->operations += p->g.n;
}

static void end(struct play *p)
{
    for (size_t i = 0; i < p->n_arrays; i++) {
        free(p->want[i]);
        free(p->got[i]);
    }
    free(p->refused_keys);
    free(p->refused_values);
    if (p->row->traits & ROW_CHANGES)
        model_free(&p->after);
}

static void commit(struct life *l, struct play *p)
{
    if (!(p->row->traits & ROW_CHANGES) || p->want_status != ORDO_OK)
        return;
    const struct model was = l->model;
    l->model = p->after;
    p->after = was;
}

/* ---- the call ---------------------------------------------------------------------------------------------------- */

static ordo_status call_host(struct play *p)
{
    void *a[CALL_ARRAYS];

    for (size_t i = 0; i < CALL_ARRAYS; i++)
        a[i] = p->got[i] ? p->got[i] : p->want[i];
    return p->call->run_host(&p->g, a);
}

/* Events that a call waits for. */
struct waits {
    cl_uint  n;
    cl_event event[CALL_ARRAYS];
};

/* Makes an array of the device. With `waits` an input arrives by a command of another queue, and the call waits for
 * it. */
static struct test_array upload(struct life *l, const struct play *p, size_t i, struct waits *waits)
{
    const bool        late = waits && !p->got[i] && p->count[i];
    struct test_array a = test_upload(&l->t, late || p->got[i] ? NULL : p->want[i], p->count[i], p->bytes[i],
                                      soak_one_in(l, 3) ? 0 : soak_below(l, 9));

    if (late) {
        cl_command_queue other = l->queue[p->queue == 1 ? 2 : 1];
        SOAK_MUST(l, clEnqueueWriteBuffer(other, a.mem, CL_FALSE, a.at * a.bytes, a.count * a.bytes, p->want[i], 0,
                                          NULL, &waits->event[waits->n++]) == CL_SUCCESS);
        SOAK_MUST(l, clFlush(other) == CL_SUCCESS);
    }
    return a;
}

static void upload_all(struct life *l, struct play *p, struct waits *waits)
{
    const bool late = soak_one_in(l, 3);

    for (size_t i = 0; i < p->n_arrays; i++)
        if (p->want[i])
            p->array[i] = upload(l, p, i, late ? waits : NULL);
}

/* download_all frees the arrays. */
static ordo_status call_device(struct life *l, struct play *p, const struct waits *waits)
{
    struct ordo_slice a[CALL_ARRAYS];
    struct ordo_order order = { .queue = p->queue ? l->queue[p->queue] : NULL,
                                .n_wait = waits->n,
                                .wait = waits->n ? waits->event : NULL,
                                .done = soak_one_in(l, 3) ? &p->done : NULL };

    for (size_t i = 0; i < CALL_ARRAYS; i++)
        a[i] = p->want[i] ? test_slice(&p->array[i]) : ordo_none();
    p->g.order = order.queue || order.n_wait || order.done ? &order : NULL;
    p->done = NULL;
    const ordo_status got = p->call->run(&p->g, a);
    p->g.order = NULL;
    return got;
}

static void download_all(struct life *l, struct play *p, ordo_status status)
{
    if (status != ORDO_OK && p->done)
        soak_fail(l, "%s handed an event out with an error", p->row->name);
    if (p->done) {
        SOAK_MUST(l, clWaitForEvents(1, &p->done) == CL_SUCCESS && clReleaseEvent(p->done) == CL_SUCCESS);
        p->done = NULL;
    }
    SOAK_MUST(l, clFinish(l->queue[p->queue]) == CL_SUCCESS); /* inputs may still arrive */
    for (size_t i = 0; i < p->n_arrays; i++) {
        if (p->got[i])
            test_check_download(&l->t, &p->array[i], p->got[i], p->call->array[i].name, __FILE__, __LINE__);
        if (p->want[i])
            test_free(&p->array[i]);
    }
}

/* ---- one attempt ------------------------------------------------------------------------------------------------ */

static ordo_status attempt(struct life *l, struct play *p, struct hazards *b)
{
    struct waits waits = { 0 };

    if (!p->host)
        upload_all(l, p, &waits);
    soak_begin_hazards(l, b);
    p->is_limited = b->limit;
    p->memory_limit = l->t.dev->memory_limit;
    const ordo_status got = p->host ? call_host(p) : call_device(l, p, &waits);
    soak_end_hazards(l, b);
    for (cl_uint i = 0; i < waits.n; i++)
        SOAK_MUST(l, clWaitForEvents(1, &waits.event[i]) == CL_SUCCESS && clReleaseEvent(waits.event[i]) == CL_SUCCESS);
    if (!p->host)
        download_all(l, p, got);
    return got;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void compare_array(struct life *l, const struct play *p, size_t i)
{
    const size_t   bytes = p->bytes[i];
    const uint8_t *got = p->got[i], *want = p->want[i];
    uint64_t       is = 0, right = 0;

    for (size_t e = 0; e < p->compared[i]; e++) {
        if (memcmp(got + e * bytes, want + e * bytes, bytes) == 0)
            continue;
        memcpy(&is, got + e * bytes, bytes < 8 ? bytes : 8);
        memcpy(&right, want + e * bytes, bytes < 8 ? bytes : 8);
        soak_fail(l, "%s: element %zu of %zu is %#llx, not %#llx", p->call->array[i].name, e, p->compared[i],
                  (unsigned long long) is, (unsigned long long) right);
    }
}

static void compare(struct life *l, struct play *p)
{
    if (p->row->check) {
        p->row->check(l, p);
        return;
    }
    if (p->counts_elements && p->got_number != p->want_number)
        soak_fail(l, "%zu elements, not %zu", p->got_number, p->want_number);
    if ((p->row->traits & ROW_ANY_ORDER) && p->want_status == ORDO_OK && p->got[0])
        model_put_in_order(p->g.dict, l->config.key, p->got[1] ? l->config.value_bytes : 0, p->got[0], p->got[1],
                           p->want_number);
    for (size_t i = 0; i < p->n_arrays; i++)
        if (p->got[i])
            compare_array(l, p, i);
}

static void expect_unchanged(struct life *l, const struct play *p, ordo_status status)
{
    if (p->row->traits & ROW_ARRAY)
        return;
    const char *wrong = soak_compare_content(l, &l->model);
    if (*wrong)
        soak_fail(l, "'%s' from %s changed the dictionary: %s", ordo_status_string(status), p->row->name, wrong);
    test_ok(&l->t, ordo_dict_check(l->dict, NULL));
}

/* Whether the structure changes nodes or buckets in place, so that an error of the driver may leave some of a batch. */
static bool changes_in_place(const struct life *l, const struct play *p)
{
    return (p->row->traits & ROW_CHANGES) && (structure_is(l->structure, ORDO_IS_TREE) || l->structure == HASH) &&
           (fault_opencl->lasting || strcmp(fault_opencl->what, "clCreateBuffer") != 0);
}

/* Checks the content after a call that the driver refused half way. Returns whether the call is repeated. */
static bool judge_fault(struct life *l, struct play *p, ordo_status status)
{
    if (!fault_suits(fault_opencl, status))
        soak_fail(l, "'%s' from %s, after %s had failed with %s", ordo_status_string(status), p->row->name,
                  fault_opencl->what, ordo_cl_error_string(fault_opencl->given));
    if ((p->row->traits & ROW_ARRAY) || !(p->row->traits & ROW_CHANGES))
        return true;
    const bool        in_place = changes_in_place(l, p);
    const ordo_status check = ordo_dict_check(l->dict, NULL);
    if (check == ORDO_BROKEN && in_place) {
        test_ok(&l->t, ordo_dict_clear(l->dict));
        model_clear(&l->model);
        return false;
    }
    test_ok(&l->t, check);
    struct model now = soak_read_content(l);
    const bool   is_old = soak_same_content(&now, &l->model), is_new = soak_same_content(&now, &p->after);
    if (!is_old && !(is_new && fault_opencl->lasting) && !(in_place && soak_lies_between(&now, &l->model, &p->after)))
        soak_fail(l, "%s returned '%s' after %s had failed, and the dictionary holds %s: %s", p->row->name,
                  ordo_status_string(status), fault_opencl->what, is_new ? "what it holds after the call" : "neither",
                  soak_compare_content(l, &l->model));
    model_free(&l->model);
    l->model = now;
    return is_old;
}

/* Judges a status that is not the right one. Returns whether the call is repeated without its hazards. */
static bool judge(struct life *l, struct play *p, const struct hazards *b, ordo_status status)
{
    char text[400] = "";

    if (b->fault)
        return judge_fault(l, p, status);
    const bool short_of_memory = status == ORDO_NO_DEVICE_MEMORY && b->limit;
    const bool too_large = status == ORDO_TOO_LARGE && b->alloc;
    (void) ordo_device_last_error(l->t.dev, text, sizeof text);
    if (short_of_memory || too_large) {
        expect_unchanged(l, p, status);
        return true;
    }
    if (status == ORDO_NO_DEVICE_MEMORY && (p->row->traits & ROW_STORES) && soak_may_lack_nodes(l, p->g.count)) {
        expect_unchanged(l, p, status);
        return false;
    }
    soak_fail(l, "%s returned '%s', not '%s'%s: %s", p->row->name, ordo_status_string(status),
              ordo_status_string(p->want_status),
              b->limit   ? ", with little memory"
              : b->alloc ? ", with small allocations"
                         : "",
              text);
}

static void describe(struct life *l, const struct play *p, const struct hazards *b)
{
    char text[96] = "";

    if (b->limit || b->alloc)
        (void) snprintf(text, sizeof text, ", %llu bytes %s", (unsigned long long) b->more,
                        b->limit ? "left" : "at once");
    if (b->fault)
        (void) snprintf(text, sizeof text, ", call %lu of %s refused%s", b->plan.at,
                        b->plan.only ? b->plan.only : "the driver", b->plan.lasting ? ", and all after" : "");
    life_context(l, "%s%s of %zu, queue %zu, %zu elements%s", p->row->name, p->host ? "_host" : "", p->g.count,
                 p->queue, l->model.count, text);
}

static void upsert_in_model(struct life *l, const struct play *p)
{
    AUTO_FREE uint8_t *codes = test_alloc(p->n_refused);

    memset(codes, ORDO_UPSERT, p->n_refused);
    (void) model_apply(
        &l->model, &(struct ordo_host_batch) {
                       .codes = codes, .keys = p->refused_keys, .values = p->refused_values, .count = p->n_refused });
}

/* Memory for the stores that a concurrent batch refused: as much as that batch had in addition to its arrays. */
static uint64_t limit_of_refused(const struct life *l, const struct play *p)
{
    const uint64_t limit = p->memory_limit + p->n_refused * (ordo_type_bytes(l->config.key) + l->config.value_bytes);
    uint64_t       arrays = 0;

    if (!p->host)
        return p->memory_limit;
    for (size_t i = 0; i < p->n_arrays; i++)
        arrays += p->want[i] ? p->count[i] * p->bytes[i] : 0;
    return limit > arrays ? limit - arrays : 0;
}

/* Memory that a concurrent batch of a hash table or trie takes in addition to an upsert of its refused keys: lists and
 * latches (10 bytes an operation and 64 KiB), and its arrays on the device. A trie refuses what does not fit as a mixed
 * batch, which takes some 40 blocks of 4 KiB more than an upsert. Other structures: 0. */
static uint64_t concurrent_bytes(const struct life *l, const struct play *p)
{
    const uint64_t table = ((uint64_t) 96 << 10) + 48 * (uint64_t) p->g.count;

    if (structure_is(l->structure, ORDO_IS_TRIE) || l->structure == XFAST)
        return table + ((uint64_t) 160 << 10);
    return l->structure == HASH ? table : 0;
}

/* Repeats the stores that a concurrent batch refused, in order. With the batch's memory, less concurrent_bytes for a
 * hash table or a trie, they must not fit. With all memory they must, unless nodes are limited. */
static void store_refused(struct life *l, const struct play *p)
{
    ordo_status status = ORDO_NO_DEVICE_MEMORY;

    if (p->is_limited) {
        const uint64_t limit = limit_of_refused(l, p), more = concurrent_bytes(l, p);
        test_ok(&l->t, ordo_device_trim(l->t.dev)); /* the batch's scratch is not the upsert's */
        l->t.dev->memory_limit = limit < more ? 0 : limit - more;
        status = ordo_dict_upsert_host(l->dict, p->refused_keys, p->refused_values, p->n_refused);
        soak_end_limits(l);
        life_context(l, "%zu stores of new keys refused, %zu stored, an upsert of those refused gives '%s'",
                     p->n_refused, p->n_stores, ordo_status_string(status));
        if (status == ORDO_OK && (more > 0 || p->n_refused > p->n_stores))
            soak_fail(l, "%zu stores of new keys refused, %zu stored, and an upsert of those refused fits",
                      p->n_refused, p->n_stores);
    } else if (!soak_may_lack_nodes(l, p->n_refused))
        soak_fail(l, "%zu stores of new keys refused, though there are nodes for them", p->n_refused);
    if (status != ORDO_OK)
        status = ordo_dict_upsert_host(l->dict, p->refused_keys, p->refused_values, p->n_refused);
    if (status == ORDO_NO_DEVICE_MEMORY && soak_may_lack_nodes(l, p->n_refused))
        return;
    test_ok(&l->t, status);
    upsert_in_model(l, p);
}

void soak_play(struct life *l, const struct soak_row *row)
{
    struct play p;

    begin(l, &p, row);
    struct hazards b = soak_choose_hazards(l, &p);
    describe(l, &p, &b);
    ordo_status status = attempt(l, &p, &b);
    bool        again = status == p.want_status || judge(l, &p, &b, status);
    for (int tries = 1; again && status != p.want_status; tries++) {
        reset_outputs(&p);
        b = soak_next_hazards(&b, tries);
        describe(l, &p, &b);
        status = attempt(l, &p, &b);
        again = status == p.want_status || judge(l, &p, &b, status);
    }
    if (again) {
        compare(l, &p);
        commit(l, &p);
    }
    if (p.n_refused)
        store_refused(l, &p);
    end(&p);
}

void soak_burst(struct life *l, const struct soak_row *const row[], size_t n)
{
    struct play p[8];

    for (size_t i = 0; i < n; i++) {
        const struct hazards none = { 0 };
        struct waits         waits = { 0 };
        begin(l, &p[i], row[i]);
        p[i].host = false;
        describe(l, &p[i], &none);
        upload_all(l, &p[i], &waits);
        const ordo_status status = call_device(l, &p[i], &waits);
        for (cl_uint e = 0; e < waits.n; e++)
            SOAK_MUST(l, clReleaseEvent(waits.event[e]) == CL_SUCCESS);
        p[i].is_refused = status != p[i].want_status && !judge(l, &p[i], &none, status);
        if (!p[i].is_refused)
            commit(l, &p[i]);
    }
    for (size_t i = 0; i < n; i++) {
        life_context(l, "%s, one of %zu without a wait between them", row[i]->name, n);
        download_all(l, &p[i], p[i].want_status);
        if (!p[i].is_refused)
            compare(l, &p[i]);
        end(&p[i]);
    }
}
