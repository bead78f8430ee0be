/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments for every public function, parameter by parameter as declared in include/ordo. Each is refused with
 * its status and changes nothing. An unknown function or parameter fails the test.
 *
 * Functions over arrays come from calls.h; others have a row in `others`. Parameters of a single call (bit ranges,
 * gaps between runs, codes of mixed batches) are tested with that call. Released objects are not tested, because
 * OpenCL gives no guarantee for them. */
#include "bad_arguments.h"

#include <stdio.h>

/* Each function outside calls.h, its parameters, and its tests. */
static const struct other {
    const char *name, *parameters;
    void (*trial)(struct test *t);
    void (*more)(struct test *t);
} others[] = {
    { "ordo_version", "", try_texts, NULL },
    { "ordo_status_string", "status", try_texts, NULL },
    { "ordo_cl_error_string", "code", try_texts, NULL },
    { "ordo_device_open", "config out", try_opening, NULL },
    { "ordo_device_adopt", "context id queue config out", try_adopting, NULL },
    { "ordo_device_close", "device", try_no_device, NULL },
    { "ordo_device_context", "device", try_no_device, NULL },
    { "ordo_device_id", "device", try_no_device, NULL },
    { "ordo_device_queue", "device", try_no_device, NULL },
    { "ordo_device_last_error", "device text bytes", try_no_device, try_device_parameters },
    { "ordo_device_last_cl_error", "device", try_no_device, NULL },
    { "ordo_device_facts", "device", try_no_device, NULL },
    { "ordo_device_self_test", "device", try_no_device, NULL },
    { "ordo_device_memory", "device out", try_no_device, try_device_parameters },
    { "ordo_device_trim", "device", try_no_device, NULL },
    { "ordo_host_alloc", "device bytes out", try_no_device, try_device_parameters },
    { "ordo_host_free", "device memory", try_no_device, try_device_parameters },
    { "ordo_device_tunable", "device i out", try_no_device, try_device_parameters },
    { "ordo_device_set_tunable", "device name value", try_no_device, try_device_parameters },
    { "ordo_device_save_profile", "device path path_bytes", try_no_device, try_profile },
    { "ordo_device_finish", "device", try_no_device, NULL },
    { "ordo_device_prepare", "device params out", try_no_device, try_preparation },
    { "ordo_type_bytes", "type", try_types, NULL },
    { "ordo_key_bits", "type key", try_types, NULL },
    { "ordo_key_plan", "device fields n_fields out", try_key_plans, NULL },
    { "ordo_index_build", "device key keys count order out", try_indexes, NULL },
    { "ordo_index_build_compressed", "device key keys count order out", try_compressed_indexes, NULL },
    { "ordo_index_destroy", "index", try_indexes, NULL },
    { "ordo_index_bytes", "index", try_indexes, NULL },
    { "ordo_string_index_build", "device params column order out", try_string_indexes, NULL },
    { "ordo_string_index_build_host", "device params column out", try_string_indexes, NULL },
    { "ordo_string_index_destroy", "index", try_string_indexes, NULL },
    { "ordo_string_index_get_statistics", "index out", try_string_indexes, NULL },
    { "ordo_string_dict_create", "device config out", try_string_dicts, NULL },
    { "ordo_string_dict_destroy", "dict", try_string_dicts, NULL },
    { "ordo_string_dict_build", "dict strings values order", try_string_dicts, NULL },
    { "ordo_string_dict_build_host", "dict strings values", try_string_dicts, NULL },
    { "ordo_string_dict_upsert", "dict strings values order", try_string_dicts, NULL },
    { "ordo_string_dict_upsert_host", "dict strings values", try_string_dicts, NULL },
    { "ordo_string_dict_erase", "dict strings order", try_string_dicts, NULL },
    { "ordo_string_dict_erase_host", "dict strings", try_string_dicts, NULL },
    { "ordo_string_dict_clear", "dict", try_string_dicts, NULL },
    { "ordo_string_dict_cleanup", "dict order", try_string_dicts, NULL },
    { "ordo_string_dict_select", "dict ranks count out found needed order", try_string_dicts, NULL },
    { "ordo_string_dict_select_host", "dict ranks count out found needed", try_string_dicts, NULL },
    { "ordo_string_dict_export", "dict out max_count count needed order", try_string_dicts, NULL },
    { "ordo_string_dict_export_host", "dict out max_count count needed", try_string_dicts, NULL },
    { "ordo_string_dict_size", "dict out", try_string_dicts, NULL },
    { "ordo_string_dict_check", "dict order", try_string_dicts, NULL },
    { "ordo_string_dict_get_statistics", "dict out", try_string_dicts, NULL },
    { "ordo_dict_destroy", "dict", try_no_dictionary, NULL },
    { "ordo_dict_can", "dict op", try_no_dictionary, try_dictionary_parameters },
    { "ordo_dict_name", "dict", try_no_dictionary, NULL },
    { "ordo_dict_clear", "dict", try_no_dictionary, NULL },
    { "ordo_dict_compact", "dict order", try_no_dictionary, try_dictionary_parameters },
    { "ordo_dict_size", "dict order out", try_no_dictionary, try_dictionary_parameters },
    { "ordo_dict_check", "dict order", try_no_dictionary, try_dictionary_parameters },
    { "ordo_dict_statistics", "dict order out", try_no_dictionary, try_dictionary_parameters },
    { "ordo_lsm_cleanup", "dict order", try_no_dictionary, try_dictionary_parameters },
    { "ordo_hamt_read_roaring", "dict bytes size order", try_roaring_parameters, NULL },
    { "ordo_hamt_read_roaring_host", "dict bytes size", try_roaring_parameters, NULL },
    { "ordo_hamt_write_roaring", "dict out capacity size order", try_roaring_parameters, NULL },
    { "ordo_hamt_write_roaring_host", "dict out capacity size", try_roaring_parameters, NULL },
/* clang-format off */
#define X(id, stem, ...) { "ordo_" #stem "_create", "device config out", try_creating, try_configurations },
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
    release_foreign_context();
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
