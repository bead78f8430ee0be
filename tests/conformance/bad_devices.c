/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of the functions on devices, types and indexes: see bad_arguments.h. */
#include "bad_arguments.h"

#include <stdio.h>

void try_texts(struct test *t)
{
    for (int i = -2000; i < 2000; i++) {
        test_true(t, ordo_status_string((ordo_status) i)[0] != 0);
        test_true(t, ordo_cl_error_string(i)[0] != 0);
    }
    test_true(t, strcmp(ordo_status_string((ordo_status) 1000), "unknown status") == 0);
    test_true(t, strcmp(ordo_cl_error_string(INT32_MIN), "unknown OpenCL code") == 0);
    test_true(t, strcmp(ordo_version(), ORDO_VERSION) == 0);
}

void try_opening(struct test *t)
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

void try_adopting(struct test *t)
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

void try_no_device(struct test *t)
{
    char                     text[8] = "as was";
    struct ordo_memory       memory;
    struct ordo_tunable_info info;
    ordo_device             *none = NULL;
    void                    *memory_out = NULL;

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
    test_status(t, ordo_host_alloc(NULL, 1, &memory_out), ORDO_INVALID);
    test_status(t, ordo_host_free(NULL, text), ORDO_INVALID);
}

/* tests/primitive/pack.c tries fields that exceed a key. */
void try_key_plans(struct test *t)
{
    const struct ordo_key_field field = { .type = ORDO_U32 };
    struct ordo_key_layout      out;

    test_status(t, ordo_key_plan(NULL, &field, 1, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, NULL, 1, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, &field, 0, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, &field, SIZE_MAX, &out), ORDO_INVALID);
    test_status(t, ordo_key_plan(t->dev, &field, 1, NULL), ORDO_INVALID);
}

void try_preparation(struct test *t)
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

void try_device_parameters(struct test *t)
{
    char                     text[8] = "as was";
    struct ordo_tunable_info info;
    void                    *memory = t;

    test_status(t, ordo_device_memory(t->dev, NULL), ORDO_INVALID);
    test_status(t, ordo_host_alloc(t->dev, 1, NULL), ORDO_INVALID);
    test_status(t, ordo_host_alloc(t->dev, 0, &memory), ORDO_INVALID);
    test_status(t, ordo_host_alloc(t->dev, SIZE_MAX, &memory), ORDO_TOO_LARGE);
    test_true(t, memory == NULL);
    test_status(t, ordo_host_free(t->dev, text), ORDO_INVALID);
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
void try_profile(struct test *t)
{
    const char *was = getenv("ORDO_PROFILE");
    char        kept[4096] = "", path[256] = "";

    cr_assert(!was || (size_t) snprintf(kept, sizeof kept, "%s", was) < sizeof kept);
    cr_assert(setenv("ORDO_PROFILE", "/proc/no/such/place", 1) == 0);
    test_status(t, ordo_device_save_profile(t->dev, path, sizeof path), ORDO_IO);
    test_true(t, strcmp(path, "/proc/no/such/place") == 0);
    test_status(t, ordo_device_save_profile(t->dev, NULL, 0), ORDO_IO);
    test_status(t, ordo_device_save_profile(t->dev, NULL, 100), ORDO_IO);
    cr_assert((was ? setenv("ORDO_PROFILE", kept, 1) : unsetenv("ORDO_PROFILE")) == 0);
}

void try_types(struct test *t)
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

void try_indexes(struct test *t)
{
    indexes_by(t, "ordo_index_build", ordo_index_build);
}

void try_compressed_indexes(struct test *t)
{
    indexes_by(t, "ordo_index_build_compressed", ordo_index_build_compressed);
}
