/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments of the functions on dictionaries that take no arrays, and of Roaring sets: see bad_arguments.h. */
#include "bad_arguments.h"

void try_no_dictionary(struct test *t)
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

void try_dictionary_parameters(struct test *t)
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
void try_roaring_parameters(struct test *t)
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

void try_creating(struct test *t)
{
    static const uint32_t bad_bytes[] = { 1, 2, 3, 5, 7, 12, 24, UINT32_MAX };
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

void try_configurations(struct test *t)
{
#define X(id, stem, ...) NO_CONFIG(ordo_##stem##_create);
    ORDO_STRUCTURE_MAP(X)
#undef X
}
