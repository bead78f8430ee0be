/* SPDX-License-Identifier: Apache-2.0 */
/* Builds programs, or loads them from the disk cache unless the driver has its own cache. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

static char *build_log(ordo_device *dev, cl_program program)
{
    size_t bytes = 0;
    if (clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS || bytes < 2)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log)
        clGetProgramBuildInfo(program, dev->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    return log;
}

static char *join_trials(const char *const *texts, size_t n)
{
    char *all = ordo_format("%s", "");
    for (size_t i = 0; i < n && all; i++) {
        char *more = ordo_format("%s#undef trial\n#define trial trial%zu\n%s", all, i, texts[i]);
        free(all);
        all = more;
    }
    return all;
}

static cl_int make_kernel(cl_program program, size_t i)
{
    char   name[32];
    cl_int code = CL_SUCCESS;
    snprintf(name, sizeof name, "trial%zu", i);
    cl_kernel kernel = clCreateKernel(program, name, &code);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

static cl_int compile_once(ordo_device *dev, const char *text, const char *options, cl_program *program, char **log)
{
    cl_int code = CL_SUCCESS;
    *log = NULL;
    *program = clCreateProgramWithSource(dev->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS)
        return code;
    code = clBuildProgram(*program, 1, &dev->id, options, NULL, NULL);
    *log = build_log(dev, *program);
    if (code != CL_SUCCESS) {
        clReleaseProgram(*program);
        *program = NULL;
    }
    return code;
}

/* PoCL 3.1 sometimes fails without an error message while several processes build. Tries once more in this case. */
static cl_int compile(ordo_device *dev, const char *text, const char *options, cl_program *program, char **log)
{
    cl_int code = compile_once(dev, text, options, program, log);
    if (code == CL_BUILD_PROGRAM_FAILURE && (!*log || !strstr(*log, "error"))) {
        free(*log);
        code = compile_once(dev, text, options, program, log);
    }
    return code;
}

bool ordo_trial_compile(ordo_device *dev, const char *options, const char *const *texts, size_t n)
{
    char      *text = join_trials(texts, n), *log = NULL;
    cl_program program = NULL;
    cl_int     code = text ? compile(dev, text, options, &program, &log) : CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < n && code == CL_SUCCESS; i++)
        code = make_kernel(program, i);
    if (program)
        clReleaseProgram(program);
    free(log);
    free(text);
    dev->probe_disturbed = dev->probe_disturbed || ordo_is_want_of_memory(code);
    return code == CL_SUCCESS;
}

static ordo_status refuse(ordo_device *dev, const char *file, const char *text, const char *options, cl_int code,
                          const char *log)
{
    char             *named = log ? ordo_log_with_files(log, text) : NULL;
    const char       *shown = named ? named : log ? log : "(the driver gives no log)";
    const ordo_status failed = ordo_fail(dev, code == CL_OUT_OF_HOST_MEMORY ? ORDO_NO_HOST_MEMORY : ORDO_BUILD, code,
                                         __FILE__, __LINE__, "%s does not build with %s:\n%s", file, options, shown);
    free(named);
    return failed;
}

static ordo_status build_from_source(ordo_device *dev, const char *file, const char *text, const char *options,
                                     cl_program *out)
{
    char        *log = NULL;
    const cl_int code = compile(dev, text, options, out, &log);
    ordo_status  got = ORDO_OK;
    if (code != CL_SUCCESS)
        got = refuse(dev, file, text, options, code, log);
    else if (log && log[strspn(log, " \n\t")])
        ordo_log(dev, ORDO_LOG_DEBUG, "build log of %s:\n%s", file, log);
    free(log);
    return got;
}

static cl_program build_from_cache(ordo_device *dev, struct ordo_digest key, const char *options)
{
    size_t         bytes = 0;
    unsigned char *binary = ordo_cache_read(dev, "program", key, &bytes);
    if (!binary)
        return NULL;

    cl_int               code = CL_SUCCESS, loaded = CL_SUCCESS;
    const unsigned char *binaries[] = { binary };
    cl_program program = clCreateProgramWithBinary(dev->context, 1, &dev->id, &bytes, binaries, &loaded, &code);
    free(binary);
    if (code == CL_SUCCESS && loaded == CL_SUCCESS &&
        clBuildProgram(program, 1, &dev->id, options, NULL, NULL) == CL_SUCCESS)
        return program;
    if (program)
        clReleaseProgram(program);
    ordo_log(dev, ORDO_LOG_INFO, "a cached program is refused by the driver; building it anew");
    ordo_cache_drop(dev, "program", key);
    return NULL;
}

static void keep_binary(ordo_device *dev, struct ordo_digest key, cl_program program)
{
    size_t bytes = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0)
        return;
    unsigned char *binary = malloc(bytes);
    if (binary && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        ordo_cache_write(dev, "program", key, binary, bytes);
    free(binary);
}

ordo_status ordo_program_build(ordo_device *dev, struct ordo_program *p)
{
    char *text = NULL;
    ORDO_TRY(ordo_program_text(dev, p->file, p->only, &text));
    if (dev->changes) {
        char *own = text;
        text = ordo_format("%s%s", dev->changes->before(dev), own);
        free(own);
        ORDO_REQUIRE_MEMORY(dev, text);
    }

    const bool               cached = dev->cache_dir && !dev->facts.own_binary_cache;
    const struct ordo_digest key = ORDO_DIGEST_TEXT(ORDO_DIGEST_TEXT(dev->identity, text), p->options);
    const double             start = ordo_now_ms();
    ordo_status              got = ORDO_OK;
    p->program = cached ? build_from_cache(dev, key, p->options) : NULL;
    p->from_cache = p->program != NULL;
    if (!p->program) {
        got = build_from_source(dev, p->file, text, p->options, &p->program);
        if (got == ORDO_OK && cached)
            keep_binary(dev, key, p->program);
    }
    p->build_ms = ordo_now_ms() - start;
    free(text);
    return got;
}
