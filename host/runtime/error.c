/* SPDX-License-Identifier: Apache-2.0 */
/* Records error messages, and writes the log. */
#include "internal.h"
#include "ordo/ordo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#undef ordo_fail /* runtime.h defines both names as macros for the static analyzer */
#undef ordo_fail_cl

/* NVIDIA's driver returns this code from every call after a kernel has accessed memory out of bounds. */
#define ILLEGAL_ACCESS (-9999)

double ordo_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double) t.tv_sec + 1e-6 * (double) t.tv_nsec;
}

const char *ordo_version(void)
{
    return ORDO_VERSION;
}

const char *ordo_status_string(ordo_status status)
{
    switch (status) {
#define X(name, code, text)                                                                                            \
    case ORDO_##name:                                                                                                  \
        return text;
        ORDO_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

static const char *entry_of(const char *list, cl_long n)
{
    while (*list && n-- > 0) /* NOLINT(clang-analyzer-core.uninitialized.Branch): the analyzer does not model strlen */
        list += strlen(list) + 1;
    return *list ? list : NULL;
}

const char *ordo_cl_error_string(cl_int code)
{
    /* String i of `failures` names error code -i. String i of `invalid` names error code -30 - i. */
    static const char failures[] =
        "CL_SUCCESS\0CL_DEVICE_NOT_FOUND\0CL_DEVICE_NOT_AVAILABLE\0CL_COMPILER_NOT_AVAILABLE\0"
        "CL_MEM_OBJECT_ALLOCATION_FAILURE\0CL_OUT_OF_RESOURCES\0CL_OUT_OF_HOST_MEMORY\0"
        "CL_PROFILING_INFO_NOT_AVAILABLE\0CL_MEM_COPY_OVERLAP\0CL_IMAGE_FORMAT_MISMATCH\0"
        "CL_IMAGE_FORMAT_NOT_SUPPORTED\0CL_BUILD_PROGRAM_FAILURE\0CL_MAP_FAILURE\0"
        "CL_MISALIGNED_SUB_BUFFER_OFFSET\0CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST\0"
        "CL_COMPILE_PROGRAM_FAILURE\0CL_LINKER_NOT_AVAILABLE\0CL_LINK_PROGRAM_FAILURE\0"
        "CL_DEVICE_PARTITION_FAILED\0CL_KERNEL_ARG_INFO_NOT_AVAILABLE\0";
    static const char invalid[] =
        "CL_INVALID_VALUE\0CL_INVALID_DEVICE_TYPE\0CL_INVALID_PLATFORM\0CL_INVALID_DEVICE\0"
        "CL_INVALID_CONTEXT\0CL_INVALID_QUEUE_PROPERTIES\0CL_INVALID_COMMAND_QUEUE\0CL_INVALID_HOST_PTR\0"
        "CL_INVALID_MEM_OBJECT\0CL_INVALID_IMAGE_FORMAT_DESCRIPTOR\0CL_INVALID_IMAGE_SIZE\0"
        "CL_INVALID_SAMPLER\0CL_INVALID_BINARY\0CL_INVALID_BUILD_OPTIONS\0CL_INVALID_PROGRAM\0"
        "CL_INVALID_PROGRAM_EXECUTABLE\0CL_INVALID_KERNEL_NAME\0CL_INVALID_KERNEL_DEFINITION\0"
        "CL_INVALID_KERNEL\0CL_INVALID_ARG_INDEX\0CL_INVALID_ARG_VALUE\0CL_INVALID_ARG_SIZE\0"
        "CL_INVALID_KERNEL_ARGS\0CL_INVALID_WORK_DIMENSION\0CL_INVALID_WORK_GROUP_SIZE\0"
        "CL_INVALID_WORK_ITEM_SIZE\0CL_INVALID_GLOBAL_OFFSET\0CL_INVALID_EVENT_WAIT_LIST\0CL_INVALID_EVENT\0"
        "CL_INVALID_OPERATION\0CL_INVALID_GL_OBJECT\0CL_INVALID_BUFFER_SIZE\0CL_INVALID_MIP_LEVEL\0"
        "CL_INVALID_GLOBAL_WORK_SIZE\0CL_INVALID_PROPERTY\0CL_INVALID_IMAGE_DESCRIPTOR\0"
        "CL_INVALID_COMPILER_OPTIONS\0CL_INVALID_LINKER_OPTIONS\0CL_INVALID_DEVICE_PARTITION_COUNT\0"
        "CL_INVALID_PIPE_SIZE\0CL_INVALID_DEVICE_QUEUE\0CL_INVALID_SPEC_ID\0"
        "CL_MAX_SIZE_RESTRICTION_EXCEEDED\0";
    const char *name = code > 0        ? NULL
                       : code > -30    ? entry_of(failures, -(cl_long) code)
                       : code == -1001 ? "CL_PLATFORM_NOT_FOUND_KHR"
                                       : entry_of(invalid, -30 - (cl_long) code);
    if (code == ILLEGAL_ACCESS)
        return "NVIDIA's code for a kernel of this process that read or wrote outside of its memory";
    return name ? name : "unknown OpenCL code";
}

static char *format_list(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t) length + 1);
    if (text)
        vsnprintf(text, (size_t) length + 1, format, list);
    return text;
}

char *ordo_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    return text;
}

#define NO_MEMORY "(no memory for the message)"

static const char *const level_names[] = { "error", "warning", "info", "debug" };

/* Locks the mutex. In the child of a fork, returns false if another thread held the mutex during the fork. */
static bool enter(const ordo_device *dev, pthread_mutex_t *lock)
{
    return (dev->pid == getpid() ? pthread_mutex_lock(lock) : pthread_mutex_trylock(lock)) == 0;
}

static void emit(ordo_device *dev, ordo_log_level level, const char *text)
{
    if (level > dev->log_level || (!dev->log && !dev->log_to_stderr) || !enter(dev, &dev->log_lock))
        return;
    if (dev->log && !atomic_load(&dev->closed))
        dev->log(dev->log_user, level, text);
    else if (!dev->log)
        fprintf(stderr, "ordo: %s: %s\n", level_names[level], text);
    pthread_mutex_unlock(&dev->log_lock);
}

/* After this call, no thread runs the caller's log function. */
void ordo_errors_close(ordo_device *dev)
{
    const bool entered = enter(dev, &dev->log_lock);
    atomic_store(&dev->closed, true);
    if (entered)
        pthread_mutex_unlock(&dev->log_lock);
}

_Thread_local bool ordo_thread_is_mute;

void ordo_log(ordo_device *dev, ordo_log_level level, const char *format, ...)
{
    if (ordo_thread_is_mute || !dev || level > dev->log_level || (!dev->log && !dev->log_to_stderr))
        return;
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    emit(dev, level, text ? text : NO_MEMORY);
    free(text);
}

/* Returns malloc'd text like "no memory: CL_OUT_OF_RESOURCES (-5) [device; file:line]", or NULL. If `fact` is NULL, the
 * text begins with the text of `status`. */
static char *message_of(const ordo_device *dev, ordo_status status, cl_int code, const char *file, int line,
                        const char *fact)
{
    char        of_opencl[128] = "";
    const char *slash = strrchr(file, '/');
    const char *then = fact && strchr(fact, '\n') ? "\n" : code ? ": " : " ";
    if (code)
        snprintf(of_opencl, sizeof of_opencl, "%s (%d) ", ordo_cl_error_string(code), code);
    return ordo_format("%s%s%s[%s%s%s:%d]", fact ? fact : ordo_status_string(status), then, of_opencl, dev->facts.name,
                       *dev->facts.name ? "; " : "", slash ? slash + 1 : file, line);
}

static void record(ordo_device *dev, ordo_status status, cl_int code, char *text)
{
    if (!enter(dev, &dev->error_lock)) {
        free(text);
        return;
    }
    char *old = dev->error;
    dev->error = text;
    dev->error_status = status;
    dev->cl_error = code;
    pthread_mutex_unlock(&dev->error_lock);
    free(old);
}

ordo_status ordo_fail(ordo_device *dev, ordo_status status, cl_int code, const char *file, int line, const char *format,
                      ...)
{
    if (!dev || ordo_thread_is_mute)
        return status;
    va_list list;
    va_start(list, format);
    char *fact = format ? format_list(format, list) : NULL;
    va_end(list);
    char *text = message_of(dev, status, code, file, line, format && !fact ? NO_MEMORY : fact);
    free(fact);

    emit(dev, ORDO_LOG_ERROR, text ? text : NO_MEMORY);
    record(dev, status, code, text);
    return status;
}

bool ordo_is_want_of_memory(cl_int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY;
}

/* Some drivers return CL_OUT_OF_RESOURCES or CL_INVALID_COMMAND_QUEUE after a kernel has failed. */
static bool may_mean_failure(cl_int code)
{
    return code == CL_OUT_OF_RESOURCES || code == CL_INVALID_COMMAND_QUEUE;
}

static ordo_status status_of(ordo_device *dev, cl_int code)
{
    if (code == ILLEGAL_ACCESS || (dev && may_mean_failure(code) && atomic_load(&dev->failed)))
        return ORDO_DEVICE_FAILED;
    if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES)
        return ORDO_NO_DEVICE_MEMORY;
    return code == CL_OUT_OF_HOST_MEMORY ? ORDO_NO_HOST_MEMORY : ORDO_OPENCL;
}

ordo_status ordo_fail_cl(ordo_device *dev, cl_int code, const char *file, int line, const char *what, ...)
{
    va_list list;
    va_start(list, what);
    char *call = format_list(what, list);
    va_end(list);
    const ordo_status status = ordo_fail(dev, status_of(dev, code), code, file, line, "%s failed", call ? call : what);
    free(call);
    return status;
}

ordo_status ordo_waited(ordo_device *dev, cl_int code, const char *file, int line, const char *what)
{
    if (code == CL_SUCCESS || may_mean_failure(code))
        atomic_store(&dev->failed, code != CL_SUCCESS);
    return code == CL_SUCCESS ? ORDO_OK : ordo_fail_cl(dev, code, file, line, "%s", what);
}

size_t ordo_device_last_error(ordo_device *dev, char *text, size_t bytes)
{
    if (!dev)
        return 0;
    if (text && bytes)
        *text = 0;
    if (!enter(dev, &dev->error_lock))
        return 1;
    const char  *error = dev->error ? dev->error : dev->error_status ? ordo_status_string(dev->error_status) : "";
    const size_t need = strlen(error) + 1;
    if (text && bytes)
        snprintf(text, bytes, "%s", error);
    pthread_mutex_unlock(&dev->error_lock);
    return need;
}

cl_int ordo_device_last_cl_error(ordo_device *dev)
{
    if (!dev || !enter(dev, &dev->error_lock))
        return 0;
    const cl_int code = dev->cl_error;
    pthread_mutex_unlock(&dev->error_lock);
    return code;
}

void ordo_errors_open(ordo_device *dev, const struct ordo_device_config *config)
{
    const char *wanted = ordo_environment("ORDO_LOG");
    bool        known = !wanted || !*wanted;
    dev->log = config->log;
    dev->log_user = config->user;
    dev->log_level = ORDO_LOG_WARNING;
    dev->log_to_stderr = wanted && *wanted;
    for (int i = 0; wanted && i < 4; i++)
        if (strcmp(wanted, level_names[i]) == 0) {
            dev->log_level = (ordo_log_level) i;
            known = true;
        }
    dev->pid = getpid();
    dev->error_lock = dev->log_lock = (pthread_mutex_t) PTHREAD_MUTEX_INITIALIZER;
    if (!known)
        ordo_log(dev, ORDO_LOG_WARNING,
                 "ORDO_LOG=%s: unknown level, \"warning\" is used (expected error, warning, info or debug)", wanted);
}
