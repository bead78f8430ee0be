/* SPDX-License-Identifier: Apache-2.0 */
/* Dictionaries of strings, for the program `faults` (faults.c). */
#include "fault_fixture.h"

/* The content of a dictionary of strings. */
struct string_content {
    uint64_t offsets[FIXTURE_N + 1];
    uint8_t  bytes[CALL_STRING_BYTES * FIXTURE_N];
    uint32_t values[FIXTURE_N];
    size_t   count, needed;
};

static ordo_status read_strings(ordo_string_dict *dict, struct string_content *c)
{
    const struct ordo_host_string_elements out = { c->offsets, c->bytes, sizeof c->bytes, c->values };

    memset(c, 0, sizeof *c);
    return ordo_string_dict_export_host(dict, &out, FIXTURE_N, &c->count, &c->needed);
}

/* Updates a dictionary of strings. If the update fails and changes the content, returns ORDO_BROKEN, which suits no
 * fault. */
static ordo_status update_strings(ordo_string_dict *dict, const struct ordo_strings *column,
                                  const struct ordo_slice *values)
{
    static struct string_content before, after;

    const ordo_status ready = read_strings(dict, &before);
    if (ready != ORDO_OK)
        return ready;
    const ordo_status got =
        values ? ordo_string_dict_upsert(dict, column, *values, NULL) : ordo_string_dict_erase(dict, column, NULL);
    if (got == ORDO_OK)
        return got;
    fault_opencl->armed = fault_memory.armed = false;
    const bool sound = ordo_string_dict_check(dict, NULL) == ORDO_OK && read_strings(dict, &after) == ORDO_OK;
    return sound && memcmp(&before, &after, sizeof before) == 0 ? got : ORDO_BROKEN;
}

/* Updates a dictionary of strings: runs that stay apart, that are merged, and that are cleaned up. */
static ordo_status change_strings(struct fixture *s, ordo_string_dict *dict)
{
    const struct ordo_slice   values = test_slice(&s->array[0]);
    const struct ordo_strings all = { test_slice(&s->array[0]), 4, test_slice(&s->array[1]),
                                      (size_t) CALL_STRING_BYTES * FIXTURE_N, FIXTURE_N };
    const size_t              counts[] = { FIXTURE_N, 9, 2, 800, FIXTURE_N - 1 };
    ordo_status               got = ORDO_OK;

    for (size_t i = 0; i < LENGTH(counts) && got == ORDO_OK; i++) {
        struct ordo_strings part = all;
        part.count = counts[i];
        got = update_strings(dict, &part, i + 1 < LENGTH(counts) ? &values : NULL);
    }
    const struct ordo_strings some = { all.offsets, 4, all.bytes, all.n_bytes, FIXTURE_N / 2 };
    if (got == ORDO_OK)
        got = update_strings(dict, &some, &values);
    if (got == ORDO_OK)
        got = ordo_string_dict_cleanup(dict, NULL);
    return got == ORDO_OK
               ? ordo_string_dict_search(dict, ORDO_STRING_LONGEST_PREFIX, &all, test_slice(&s->array[2]), NULL)
               : got;
}

static ordo_status keep_strings(struct fixture *s)
{
    AUTO(ordo_string_dict_destroy) ordo_string_dict *dict = NULL;

    const ordo_status got = ordo_string_dict_create(s->t->dev, ordo_string_dict_config(.value_bytes = 4), &dict);
    return got == ORDO_OK ? change_strings(s, dict) : got;
}

/* Builds a dictionary, erases, selects, and upserts strings of host memory and then of device memory in the scenario's
 * queue. */
static ordo_status build_strings(struct fixture *s, ordo_string_dict *dict)
{
    static const uint32_t          offsets[] = { 0, 1, 3, 3 }, ranks[] = { 2, FIXTURE_N, 0 };
    const struct ordo_host_strings few = { offsets, 4, "abc", 3, LENGTH(offsets) - 1 };
    const struct ordo_slice        values = test_slice(&s->array[0]);
    const struct ordo_strings      all = { values, 4, test_slice(&s->array[1]), (size_t) CALL_STRING_BYTES * FIXTURE_N,
                                           FIXTURE_N };
    uint64_t                       got_offsets[LENGTH(ranks) + 1];
    uint8_t                        bytes[CALL_STRING_BYTES * 4], found[LENGTH(ranks)];
    const struct ordo_host_string_elements out = { got_offsets, bytes, sizeof bytes, NULL };

    ordo_status got = ordo_string_dict_build(dict, &all, values, NULL);
    if (got == ORDO_OK)
        got = ordo_string_dict_upsert_host(dict, &few, offsets);
    if (got == ORDO_OK)
        got = ordo_string_dict_erase_host(dict, &few);
    if (got == ORDO_OK)
        got = ordo_string_dict_select_host(dict, ranks, LENGTH(ranks), &out, found, &s->numbers[0]);
    return got == ORDO_OK ? ordo_string_dict_upsert(dict, &all, values, s->is->order == OWN_QUEUE ? NULL : &s->order)
                          : got;
}

static ordo_status make_strings(struct fixture *s)
{
    AUTO(ordo_string_dict_destroy) ordo_string_dict *dict = NULL;

    const ordo_status got = ordo_string_dict_create(s->t->dev, ordo_string_dict_config(.value_bytes = 4), &dict);
    return got == ORDO_OK ? build_strings(s, dict) : got;
}

static void sweep_all(struct test *t, struct fault *f)
{
    const struct array_call *arrays = call_named("ordo_sort_strings");
    struct scenario          is = { "a dictionary of strings", arrays, .run = keep_strings, .structure = NO_DICT,
                                    .last_calls = 12 };

    fault_sweep(t, &is, f);
    is.name = "a built dictionary of strings";
    is.run = make_strings;
    for (int order = OWN_QUEUE; order <= OUT_OF_ORDER; order++) {
        is.order = (enum order_kind) order;
        fault_sweep(t, &is, f);
    }
}

DEVICE_TEST(faults, dictionaries_of_strings_survive_every_opencl_call)
{
    sweep_all(t, fault_opencl);
    fault_show(t, "OpenCL, dictionaries of strings");
}

DEVICE_TEST(faults, dictionaries_of_strings_survive_every_allocation)
{
    fault_skip_if_of_the_host(&fault_memory);
    sweep_all(t, &fault_memory);
    fault_show(t, "host memory, dictionaries of strings");
}

MASK_TEST(faults, dictionaries_of_strings_survive_a_driver_that_refuses_all_commands, "", "cpu=0")
{
    fault_opencl->only = "clEnqueue";
    sweep_all(t, fault_opencl);
    fault_opencl->only = NULL;
    fault_show(t, "OpenCL, dictionaries of strings, commands refused");
}
