/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: kernels from ORDO_CL_DIR, build errors with file and line, variants. */
#include "tests/support/overlay.h"
#include "tests/support/support.h"

#include "runtime/internal.h"

#include <stdio.h>

TestSuite(program, .init = test_host_code);

static struct overlay begin(void)
{
    const struct overlay o = overlay_begin();
    overlay_use(&o);
    return o;
}

/* "primitive/scan.cl:123" */
static const char *place(const char *file, int line)
{
    static char text[128];
    snprintf(text, sizeof text, "%s:%d", file, line);
    return text;
}

static ordo_device *open_device(bool no_self_test)
{
    ordo_device                    *dev = NULL;
    const struct ordo_device_config config = { .no_self_test = no_self_test };
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    return dev;
}

static ordo_status scan_few(ordo_device *dev)
{
    const uint32_t    in[] = { 1, 2, 3, 4, 5 }, want[] = { 0, 1, 3, 6, 10 };
    uint32_t          out[5] = { 0 };
    const ordo_status got = ordo_scan_host(dev, ordo_scan_params(.type = ORDO_U32, .op = ORDO_SUM), in, out, 5);
    cr_assert(got != ORDO_OK || memcmp(out, want, sizeof want) == 0);
    return got;
}

static ordo_status sort_few(ordo_device *dev)
{
    uint32_t          keys[] = { 3, 1, 2 };
    const uint32_t    want[] = { 1, 2, 3 };
    const ordo_status got = ordo_sort_host(dev, ordo_sort_params(.key = ORDO_U32), keys, NULL, 3);
    cr_assert(got != ORDO_OK || memcmp(keys, want, sizeof want) == 0);
    return got;
}

static void check_message(ordo_device *dev, const char *one, const char *other)
{
    char text[16384];
    (void) ordo_device_last_error(dev, text, sizeof text);
    cr_assert(strstr(text, one) && strstr(text, other), "neither \"%s\" nor \"%s\" may lack in: %s", one, other, text);
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

Test(program, a_build_error_names_file_and_line)
{
    AUTO(overlay_end) struct overlay o = begin();
    const int line = overlay_add_line(&o, "primitive/scan.cl", "primitive/scan.cl", "no_such_type nonsense(void);");
    AUTO_DEVICE ordo_device *dev = open_device(true);

    cr_assert(scan_few(dev) == ORDO_BUILD);
    check_message(dev, place("primitive/scan.cl", line), "no_such_type");
    cr_assert(ordo_device_last_cl_error(dev) != CL_SUCCESS);
    cr_assert(scan_few(dev) == ORDO_BUILD, "the second time too");
    cr_assert(sort_few(dev) == ORDO_OK, "what does not need the file works on");

    overlay_edit(&o, "primitive/scan.cl", "no_such_type nonsense(void);", "");
    cr_assert(scan_few(dev) == ORDO_OK, "after it was repaired");
}

Test(program, a_build_error_makes_opening_fail_with_its_message)
{
    char                             message[8192] = "";
    ordo_device                     *dev = NULL;
    const struct ordo_device_config  config = { .message = message, .message_bytes = sizeof message };
    AUTO(overlay_end) struct overlay o = begin();
    const int line = overlay_add_line(&o, "primitive/scan.cl", "primitive/scan.cl", "no_such_type nonsense(void);");

    cr_assert(ordo_device_open(&config, &dev) == ORDO_BUILD);
    cr_assert(dev == NULL);
    cr_assert(strstr(message, place("primitive/scan.cl", line)), "%s", message);
}

Test(program, a_missing_include_is_named)
{
    AUTO(overlay_end) struct overlay o = begin();
    (void) overlay_add_line(&o, "primitive/scan.cl", "primitive/scan.cl", "#include \"group/absent.cl\"");
    AUTO_DEVICE ordo_device *dev = open_device(true);

    cr_assert(scan_few(dev) == ORDO_BUILD);
    check_message(dev, "group/absent.cl", "primitive/scan.cl");
    cr_assert(sort_few(dev) == ORDO_OK);
}

static ordo_status build_kernel(ordo_device *dev, const char *module, const char *name)
{
    struct ordo_call    call;
    struct ordo_kernel *kernel = NULL;
    cr_assert(ordo_call_begin(&call, dev, NULL) == ORDO_OK);
    return ordo_call_end(&call, ordo_call_kernel(&call, module, name, NULL, &kernel));
}

/* An error in an included file is reported with that file and its line. */
Test(program, an_error_in_an_included_file_is_named_by_it)
{
    AUTO(overlay_end) struct overlay o = begin();
    const int line = overlay_add_line(&o, "primitive/broken.cl", "group/scan.cl", "no_such_type nonsense(void);");
    overlay_write(&o, "primitive/module.cl",
                  "#pragma once\n#define TEAM_WIDTH 1\n#include \"primitive/broken.cl\"\n"
                  "__kernel void nothing(__global uint *p) { p[0] = 0; }\n");

    AUTO_DEVICE ordo_device *dev = open_device(true);
    cr_assert(build_kernel(dev, "primitive/module.cl", "nothing") == ORDO_BUILD);
    check_message(dev, place("primitive/broken.cl", line), "no_such_type");
}

/* ---- includes in branches ---------------------------------------------------------------------------------------- */

#define KERNEL "\n__kernel void nothing(__global uint *p) { p[0] = ANSWER; }\n"

/* A file is included once even if an earlier include was skipped. In each text part.cl is compiled. */
Test(program, an_include_that_is_passed_over_does_not_count)
{
    static const char *const modules[] = {
        "#if 0\n#include \"primitive/part.cl\"\n#endif\n#include \"primitive/part.cl\"" KERNEL,
        "#ifdef ABSENT\n#include \"primitive/part.cl\"\n#else\n#include \"primitive/part.cl\"\n#endif" KERNEL,
        "#if 0\n#include \"primitive/part.cl\"\n#elif 1\n#include \"primitive/whole.cl\"\n#endif" KERNEL,
        "#if 0\n#include \"primitive/whole.cl\"\n#endif\n#include \"primitive/part.cl\"" KERNEL,
        "#if 1\n#include \"primitive/part.cl\"\n#endif\n#include \"primitive/part.cl\"" KERNEL,
        "#include \"primitive/whole.cl\"\n#include \"primitive/part.cl\"\n#include \"primitive/whole.cl\"" KERNEL,
    };
    AUTO(overlay_end) struct overlay o = begin();
    overlay_write(&o, "primitive/part.cl", "#pragma once\nenum { ANSWER = 42 }; /* twice is an error */\n");
    overlay_write(&o, "primitive/whole.cl",
                  "#pragma once\n#if 1\n#include \"primitive/part.cl\"\n#endif\n"
                  "#include \"primitive/whole.cl\"\nenum { WHOLE = ANSWER };\n");

    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        char                     text[1024] = "";
        AUTO_DEVICE ordo_device *dev = open_device(true);
        overlay_write(&o, "primitive/module.cl", modules[i]);
        const ordo_status got = build_kernel(dev, "primitive/module.cl", "nothing");
        (void) ordo_device_last_error(dev, text, sizeof text);
        cr_assert(got == ORDO_OK, "module %zu: %s", i, text);
    }
}

/* The first of `files` files. Each includes the next one `times` times in branches that the compiler may skip. */
static void expect_refused(int files, int times, const char *part)
{
    char                             name[32], text[4096];
    AUTO(overlay_end) struct overlay o = begin();
    for (int i = 0; i < files; i++) {
        size_t used = 0;
        text[0] = 0;
        for (int n = 0; n < times; n++)
            used += (size_t) snprintf(text + used, sizeof text - used, "#if X\n#include \"primitive/%d.cl\"\n#endif\n",
                                      i + 1 < files ? i + 1 : 0);
        snprintf(name, sizeof name, "primitive/%d.cl", i);
        overlay_write(&o, name, text);
    }

    AUTO_DEVICE ordo_device *dev = open_device(true);
    cr_assert(build_kernel(dev, "primitive/0.cl", "nothing") == ORDO_BUILD);
    check_message(dev, part, ".cl");
}

Test(program, sources_without_measure_are_refused)
{
    expect_refused(40, 1, "one file more than");
    expect_refused(9, 50, "bytes"); /* 50 to the power of 8 inclusions */
}

/* Line numbers are right behind each kind of branch and repeated include. */
Test(program, errors_behind_branches_are_at_their_lines)
{
    static const struct {
        const char *text;
        int         line;
    } modules[] = {
        { "#if 0\n#include \"primitive/part.cl\"\n#endif\nno_such_type nonsense(void);\n", 4 },
        { "#if 0\n#include \"primitive/part.cl\"\n#else\nno_such_type nonsense(void);\n#endif\n", 4 },
        { "#if 0\n#include \"primitive/part.cl\"\n#elif 1\nno_such_type nonsense(void);\n#endif\n", 4 },
        { "#if 1\n#include \"primitive/part.cl\"\n#endif\n#include \"primitive/part.cl\"\n"
          "no_such_type nonsense(void);\n",
          5 },
        { "#include \"primitive/part.cl\"\n#include \"primitive/part.cl\"\n\nno_such_type nonsense(void);\n", 4 },
    };
    AUTO(overlay_end) struct overlay o = begin();
    overlay_write(&o, "primitive/part.cl", "#pragma once\nenum { ANSWER = 42 };\n");

    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        AUTO_DEVICE ordo_device *dev = open_device(true);
        overlay_write(&o, "primitive/module.cl", modules[i].text);
        cr_assert(build_kernel(dev, "primitive/module.cl", "nothing") == ORDO_BUILD, "module %zu", i);
        check_message(dev, place("primitive/module.cl", modules[i].line), "no_such_type");
    }
}

/* ---- missing modules --------------------------------------------------------------------------------------------- */

DEVICE_TEST(program, an_unknown_module_is_named)
{
    struct ordo_call         call;
    struct ordo_kernel      *kernel = NULL;
    const struct ordo_define none[] = { { NULL, 0 } };

    test_ok(t, ordo_call_begin(&call, t->dev, NULL));
    test_status(t, ordo_call_kernel(&call, "primitive/absent.cl", "absent", none, &kernel), ORDO_BUILD);
    test_true(t, kernel == NULL);
    test_status(t, ordo_call_end(&call, ORDO_BUILD), ORDO_BUILD);
    check_message(t->dev, "primitive/absent.cl", t->facts->name);
    test_ok(t, scan_few(t->dev));
}

/* ---- variants ---------------------------------------------------------------------------------------------------- */

static size_t n_programs(const ordo_device *dev)
{
    size_t n = 0;
    for (const struct ordo_program *p = dev->builds.programs; p; p = p->next)
        n++;
    return n;
}

DEVICE_TEST(program, a_variant_is_built_once)
{
    const uint32_t in[] = { 1, 2, 3 };
    const uint64_t in64[] = { 1, 2, 3 };
    uint64_t       out[3];

    test_ok(t, scan_few(t->dev));
    const size_t before = n_programs(t->dev);
    const double build_ms = t->dev->builds.ms;
    test_ok(t, scan_few(t->dev));
    test_ok(t,
            ordo_scan_host(t->dev, ordo_scan_params(.type = ORDO_U32, .op = ORDO_SUM, .inclusive = true), in, out, 3));
    test_true(t, n_programs(t->dev) == before);
    test_true(t, t->dev->builds.ms <= build_ms);

    test_ok(t, ordo_scan_host(t->dev, ordo_scan_params(.type = ORDO_U64, .op = ORDO_SUM), in64, out, 3));
    test_true(t, n_programs(t->dev) == before + 1);
    test_ok(t, ordo_scan_host(t->dev, ordo_scan_params(.type = ORDO_U64, .op = ORDO_SUM), in64, out, 3));
    test_true(t, n_programs(t->dev) == before + 1);
}

/* The expanded text has no include, each file once, and the lines in their places. */
DEVICE_TEST(program, includes_are_expanded)
{
    const struct ordo_define defines[] = { { "ONE", 1 }, { "TWO", -2 }, { NULL, 0 } };
    AUTO_FREE char          *text = NULL, *options = ordo_program_options(t->dev, defines);

    test_ok(t, ordo_program_text(t->dev, "primitive/scan.cl", NULL, &text));
    test_true(t, options != NULL);
    test_true(t, strstr(text, "#include \"") == NULL && strstr(text, "#pragma once") == NULL);
    test_true(t, strstr(text, "#line 1 \"primitive/scan.cl\"") != NULL);
    const char *first = strstr(text, "#line 1 \"device/compiler.cl\"");
    test_true(t, first != NULL && strstr(first + 1, "#line 1 \"device/compiler.cl\"") == NULL);
    test_true(t, strstr(options, " -DONE=1") && strstr(options, " -DTWO=-2") && strstr(options, " -DORDO_CPU="));
}
