/* SPDX-License-Identifier: Apache-2.0 */
/* How tests have programs built: with or without optimization, with fewer declarations. See support.h. */
#include "support.h"

#include "runtime/internal.h"

#include <stdio.h>

static bool is_pocl(const ordo_device *dev, const char *version)
{
    return strcmp(dev->facts.platform, "Portable Computing Language") == 0 &&
           strncmp(dev->facts.driver, version, strlen(version)) == 0;
}

/* Also under a mask, because PoCL names its devices so. Calls no OpenCL function, because tests make these fail. */
static bool is_processor(const ordo_device *dev)
{
    static const char *const kinds[] = { "pthread", "basic", "cpu" };
    bool                     is = false;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        is = is || strncmp(dev->facts.name, kinds[i], strlen(kinds[i])) == 0;
    return is;
}

/* Whether this process tests host code. */
static bool of_host;

static long value_of(const struct ordo_define *defines, const char *name, long otherwise)
{
    for (const struct ordo_define *d = defines; d && d->name; d++)
        if (strcmp(d->name, name) == 0)
            return d->value;
    return otherwise;
}

/* On a CPU most of the time goes to the compiler. PoCL needs 5 to 10 times as long for a GPU's code with optimization,
 * up to 30 s a kernel. No user runs that code, and some of it is wrong (tests/README.md, "Drivers"). Kernels for other
 * types differ in a line or two. So only code for u32 keys is optimized, with values of 4 bytes if there are any.
 * ORDO_TEST_KINDS=all (suite slow) and test_optimized optimize all code that a CPU runs. */
static bool is_optimized(const ordo_device *dev, const struct ordo_define *defines)
{
    if (dev->optimized != 0)
        return dev->optimized > 0;
    if (of_host && !test_wants_all("ORDO_TEST_KINDS"))
        return false;
    if (!is_pocl(dev, "") || !is_processor(dev))
        return true;
    return dev->facts.cpu &&
           (test_wants_all("ORDO_TEST_KINDS") ||
            (value_of(defines, "ORDO_KEY", ORDO_U32) == ORDO_U32 && value_of(defines, "ORDO_VALUE_BYTES", 4) == 4 &&
             value_of(defines, "COMBINE_TYPE", ORDO_U32) == ORDO_U32));
}

/* Whether PoCL gets declared.cl instead of PoCL's declarations. */
static bool are_declared(const ordo_device *dev)
{
    return is_pocl(dev, "3.1") && !test_wants_all("ORDO_TEST_KINDS");
}

static const char *read_declared(void)
{
    static char text[1 << 14];
    FILE       *file = text[0] ? NULL : fopen(TEST_SUPPORT_DIR "/declared.cl", "r");

    if (!file)
        return text;
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    cr_assert(bytes > 0 && bytes < sizeof text - 1 && fclose(file) == 0);
    return text;
}

static const char *before_programs(const ordo_device *dev)
{
    return are_declared(dev) ? read_declared() : "";
}

/* Keeps Clang from reading its declarations again. */
#define NO_DECLARATIONS " -D_OPENCL_H_"

static const char *options_of_programs(const ordo_device *dev, const struct ordo_define *defines)
{
    if (is_optimized(dev, defines))
        return are_declared(dev) ? NO_DECLARATIONS : "";
    return are_declared(dev) ? NO_DECLARATIONS " -cl-opt-disable" : " -cl-opt-disable";
}

static const struct ordo_build_changes changes = { before_programs, options_of_programs };

void test_spare_compiler(void)
{
    ordo_build_changes = &changes;
}

void test_host_code(void)
{
    test_spare_compiler();
    of_host = true;
}

bool test_compiler_ends_processes(const struct test *t)
{
    static bool told;
    const bool  ends = is_pocl(t->dev, "6.0");
    if (ends && !told)
        fprintf(stderr, "a kernel is left out, which this driver's compiler ends the process over\n");
    told |= ends;
    return ends;
}

void test_optimized(struct test *t)
{
    t->dev->optimized = 1;
}

void test_unoptimized(struct test *t)
{
    t->dev->optimized = test_wants_all("ORDO_TEST_KINDS") ? 0 : -1;
}
