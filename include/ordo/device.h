/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an OpenCL device, and returns its facts, tunables and memory use.
 *
 * Threads      Any thread may use any device. Calls on one device take turns to enqueue commands.
 *              Most calls let other calls in while they wait. While one thread closes a device, no
 *              other thread may be in a call on it.
 * Fork         In the child of a fork, calls on the parent's device return ORDO_FORKED. Calls that
 *              destroy objects or close the device free only host memory there. Many drivers do not
 *              work in a child. A child that computes must be forked before OpenCL is first used,
 *              or call exec.
 *
 * Example:
 *
 *     ordo_device *dev = NULL;
 *     ordo_status status = ordo_device_open(NULL, &dev);
 *     if (status != ORDO_OK)
 *         printf("%s\n", ordo_status_string(status));
 *     ordo_device_close(&dev); */
#ifndef ORDO_DEVICE_H
#define ORDO_DEVICE_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ordo_device ordo_device;

/* ---- the environment ----------------------------------------------------------------------------
 *
 * Opening a device reads these variables, except in set-user-ID programs. Settings in
 * ordo_device_config take precedence.
 *
 *   ORDO_DEVICE   selects the device. ORDO_NO_DEVICE if none matches.
 *   ORDO_MASK     lists features to disable, for tests.
 *   ORDO_CL_DIR   is a directory of kernel sources to use instead of the library's. ORDO_IO if it
 *                 does not exist.
 *   ORDO_LOG      is error, warning, info or debug.
 *   ORDO_PROFILE  is the file of tunables, or "off". It must be a regular file under 64 KiB of the
 *                 user or root. Otherwise the shipped profile is used, with a warning.
 *   ORDO_CACHE    is the directory of compiled programs and self-test results, or "off". The
 *                 default is $XDG_CACHE_HOME/ordo or ~/.cache/ordo. The user must own directory and
 *                 files, and nobody else may write them: they are executed. */

/* ---- opening ------------------------------------------------------------------------------- */

typedef enum ordo_log_level {
    ORDO_LOG_ERROR = 0,
    ORDO_LOG_WARNING = 1,
    ORDO_LOG_INFO = 2,
    ORDO_LOG_DEBUG = 3
} ordo_log_level;

/* Receives one log message, without a newline. The text is valid until the function returns. The
 * function must not call Ordo.
 * Concurrency: Ordo calls the function in the thread that called Ordo, and never in two threads at
 *   a time for one device. */
typedef void (*ordo_log_fn)(void *user, ordo_log_level level, const char *message);

/* Settings for opening a device. Zero means the default. Pointers other than `log` and `user` need
 * to be valid only until the device is open. */
struct ordo_device_config {
    /* "0:1" (platform:device), "gpu", "cpu", or part of the name of a device or platform. NULL
     * means the environment variable ORDO_DEVICE. If that is not set, the first GPU is used, or
     * else the first device. */
    const char *select;
    /* Receives errors and warnings. The environment variable ORDO_LOG can select other levels. If
     * ORDO_LOG is set and `log` is NULL, messages go to stderr. */
    ordo_log_fn log;
    void       *user; /* passed to log */
    /* If opening fails, `message` receives the error message, cut to message_bytes. *message_needs
     * receives the size of the whole message with its final 0. Both pointers may be NULL. */
    char   *message;
    size_t  message_bytes;
    size_t *message_needs;
    size_t  memory_limit; /* bytes of device memory that Ordo may use; 0 means all */
    /* Disables features, for tests. Example:
     * "lanes=one,local=16384,int64_atomics=0,progress=0,group=64". NULL means the environment
     * variable ORDO_MASK. */
    const char *mask;
    bool        profiling; /* the device's own queue gets CL_QUEUE_PROFILING_ENABLE */
    bool        no_self_test;
    /* Number of threads that compile kernels in the background after a dictionary is created. The
     * maximum is 16, and -1 means none. 0 means the environment variable ORDO_BUILD_THREADS, or if
     * that is not set, 2 on a GPU and none on a CPU. */
    int build_threads;
};

/* Opens and tests a device, and creates a context and an in-order queue. On error sets *out to
 * NULL.
 * Cost: 0.26 s on an H200, but 1.9 s the first time or with a new profile. A CPU takes some
 *   seconds.
 * Blocking: yes.
 * Errors: ORDO_NO_DEVICE if no device matches. The message lists the devices, or the package to
 *   install. ORDO_IO if the environment variable ORDO_CL_DIR is wrong. ORDO_SELF_TEST, ORDO_BUILD
 *   or ORDO_UNSUPPORTED if the self-test fails with every variant of the kernels. */
ORDO_API ordo_status ordo_device_open(const struct ordo_device_config *config, ordo_device **out);

/* Like ordo_device_open, but uses and retains the caller's context and queue. If `queue` is NULL,
 * creates an in-order queue. Ignores config->select. */
ORDO_API ordo_status ordo_device_adopt(cl_context context, cl_device_id id, cl_command_queue queue,
                                       const struct ordo_device_config *config, ordo_device **out);

/* Closes the device and sets *device to NULL. Does nothing if `device` or *device is NULL.
 * Dictionaries and indexes stay usable, and keep the device's resources until they are destroyed.
 * The log function is never called again.
 * Blocking: waits for the device's own queue. */
ORDO_API void ordo_device_close(ordo_device **device);

/* Return the device's OpenCL objects, without retaining them. */
ORDO_API cl_context       ordo_device_context(const ordo_device *device);
ORDO_API cl_device_id     ordo_device_id(const ordo_device *device);
ORDO_API cl_command_queue ordo_device_queue(const ordo_device *device);

/* ---- errors -------------------------------------------------------------------------------- */

/* A call that returns a driver error (ORDO_OPENCL, ORDO_BUILD, a memory error) leaves dictionaries
 * and indexes unchanged, with the exceptions that dict.h names. It does not set *order->done. The
 * caller may repeat the call. Commands of earlier calls still run. If the driver fails permanently,
 * each call returns an error. Even then objects can be destroyed and the device closed.
 *
 * ORDO_DEVICE_FAILED means that a kernel failed on the device. The kernel's outputs are undefined.
 * A dictionary that it changed must be cleared. All calls return ORDO_DEVICE_FAILED until Ordo
 * waits for the queue without an error. Most drivers refuse all calls on the context after such a
 * failure. NVIDIA's driver also refuses new contexts in the process. */

/* Copies the message of the device's last error, from any thread, to `text`. Writes at most `bytes`
 * bytes, including a final 0. Returns the size of the whole message, or 1 if there was no error. */
ORDO_API size_t ordo_device_last_error(ordo_device *device, char *text, size_t bytes);

/* Returns the OpenCL code of the device's last error, or 0. */
ORDO_API cl_int ordo_device_last_cl_error(ordo_device *device);

/* Returns the name of an OpenCL code ("CL_OUT_OF_RESOURCES"), or "unknown OpenCL code". */
ORDO_API const char *ordo_cl_error_string(cl_int code);

/* ---- facts --------------------------------------------------------------------------------- */

/* Ways to exchange data between the work-items of a sub-group. KHR uses the functions of the
 * Khronos extension, NVIDIA uses PTX in inline assembly, and AMD uses builtins of its compiler. ONE
 * means that kernels do not use sub-groups. */
typedef enum ordo_lanes {
    ORDO_LANES_ONE = 0,
    ORDO_LANES_KHR = 1,
    ORDO_LANES_NVIDIA = 2,
    ORDO_LANES_AMD = 3,
} ordo_lanes;

/* Atomics that order the memory accesses of different work-groups. LEGACY uses atomics of OpenCL
 * 1.2, which guarantee no order. C11 uses atomics of OpenCL C 2.0 with memory_scope_device. NVIDIA
 * uses PTX in inline assembly. */
typedef enum ordo_atomics {
    ORDO_ATOMICS_LEGACY = 0,
    ORDO_ATOMICS_C11 = 1,
    ORDO_ATOMICS_NVIDIA = 2,
} ordo_atomics;

/* Facts about a device, from the driver, trial compiles and the self-test. */
struct ordo_facts {
    char name[128], vendor[128], platform[128], driver[128], version[128];
    bool cpu;
    bool unified_memory;
    /* True if a started work-group continues to run while another work-group waits for it. */
    bool groups_progress;
    bool int64_atomics;
    /* If true, the device performs a load after an earlier load that returned its address, without
     * a fence between them. */
    bool         address_order;
    bool         own_binary_cache; /* the driver caches programs */
    ordo_lanes   lanes;
    ordo_atomics atomics;
    uint32_t     sub_group; /* work-items per sub-group; 1 with ORDO_LANES_ONE */
    uint32_t     compute_units;
    uint32_t     max_group;
    uint32_t     cache_line_bytes;
    uint32_t     vector_bytes;
    uint32_t     clock_mhz;
    uint32_t     timer_ns; /* resolution of profiling timers */
    uint64_t     local_bytes;
    uint64_t     cache_bytes;
    uint64_t     global_bytes;
    uint64_t     max_alloc_bytes;
    double       open_ms; /* includes build_ms and self_test_ms */
    double       build_ms;
    double       self_test_ms;
    bool         self_test_remembered;
    /* Kernel variants that failed the self-test, and their replacements, one per line. */
    char dropped[256];
};

/* Returns the facts, which are valid until the device is closed. Returns NULL if `device` is
 * NULL. */
ORDO_API const struct ordo_facts *ordo_device_facts(const ordo_device *device);

/* Tests sub-group operations, atomics, scan and sort.
 * Blocking: yes.
 * Errors: ORDO_SELF_TEST. */
ORDO_API ordo_status ordo_device_self_test(ordo_device *device);

/* ---- memory -------------------------------------------------------------------------------- */

struct ordo_memory {
    uint64_t held_bytes; /* includes scratch_bytes */
    uint64_t held_peak_bytes;
    uint64_t scratch_bytes;
    uint64_t scratch_peak_bytes;
    uint64_t buffers;
};
ORDO_API ordo_status ordo_device_memory(ordo_device *device, struct ordo_memory *out);

/* Frees scratch memory that no command uses. Then sets held_peak_bytes and scratch_peak_bytes of
 * struct ordo_memory to the bytes that remain. */
ORDO_API ordo_status ordo_device_trim(ordo_device *device);

/* ---- host memory --------------------------------------------------------------------------- */

/* Allocates memory of the host for arrays of _host calls. The device copies from and to it as fast
 * as their link allows. A call whose arrays have less than 64 KiB together first copies them to one
 * staging buffer. A CPU computes in the memory itself, which has large pages. Arrays may begin
 * anywhere in the memory. Calls on other devices may use it like any memory. struct ordo_memory
 * does not count it. The memory is not initialized, and aligned for all types.
 * If queries and results of a batch take more than 32 MiB of it, they pass in pieces (array.h).
 * Blocking: waits for the device's own queue, if the device is not a CPU.
 * Errors: ORDO_INVALID if `bytes` is 0. ORDO_TOO_LARGE if it exceeds max_alloc_bytes of the facts.
 *   ORDO_NO_HOST_MEMORY or ORDO_NO_DEVICE_MEMORY. After an error *out is NULL. */
ORDO_API ordo_status ordo_host_alloc(ordo_device *device, size_t bytes, void **out);

/* Frees memory of ordo_host_alloc. Does nothing if `memory` is NULL. No call of any thread may use
 * the memory any more. Closing the device does not free it: it stays usable and keeps the device's
 * resources, and this function still takes a copy of the device's pointer until all is freed.
 * Errors: ORDO_INVALID if this device's ordo_host_alloc did not return `memory`, or if it was
 *   freed. */
ORDO_API ordo_status ordo_host_free(ordo_device *device, void *memory);

/* ---- tuning -------------------------------------------------------------------------------- */

typedef enum ordo_origin {
    ORDO_ORIGIN_DEFAULT,
    ORDO_ORIGIN_SHIPPED,
    ORDO_ORIGIN_TUNED,
    ORDO_ORIGIN_SET
} ordo_origin;

/* A tunable is a number that changes speed, but not results. */
struct ordo_tunable_info {
    char        name[48];
    const char *text; /* its meaning */
    uint32_t    value;
    ordo_origin origin;
    bool        applies; /* true if other values may be faster on this device */
    uint32_t    n_choices;
    uint32_t    choice[16];
};

/* Describes tunable number i, counted from 0.
 * Errors: ORDO_INVALID if no tunable has this number. */
ORDO_API ordo_status ordo_device_tunable(ordo_device *device, size_t i,
                                         struct ordo_tunable_info *out);

/* Sets a tunable. If the value exceeds the device's limits, later calls use a lower value, or
 * return ORDO_UNSUPPORTED if the driver still cannot run the kernel.
 * Errors: ORDO_INVALID for an unknown name or a value that is not among its choices. */
ORDO_API ordo_status ordo_device_set_tunable(ordo_device *device, const char *name, uint32_t value);

/* Writes all tunables of origin TUNED or SET to the user's profile: $ORDO_PROFILE, or else
 * $XDG_CONFIG_HOME/ordo/<device>.profile, or else ~/.config/ordo/<device>.profile. Creates missing
 * directories. `path` (may be NULL) receives the file name, cut to path_bytes with its final 0.
 * Errors: ORDO_IO if the file cannot be written. */
ORDO_API ordo_status ordo_device_save_profile(ordo_device *device, char *path, size_t path_bytes);

/* ---- order --------------------------------------------------------------------------------- */

/* Orders a call among the caller's commands. NULL means the device's own queue without events.
 *
 * Blocking  Some calls block until the events in `wait` are complete: calls that change a
 *           dictionary, that wait for the device, or that first prepare an index. Meanwhile another
 *           thread must complete user events. A call that changes a dictionary also waits for the
 *           `wait` events of earlier calls on the same queue.
 * Errors    ORDO_INVALID if `wait` has NULL, a wrong object or an event of another context.
 *           ORDO_OPENCL if an event has failed. ordo_device_last_cl_error returns its code. After
 *           these errors the call has enqueued and changed nothing.
 * Failure   Calls that do not block pass the `wait` events to the driver. If such an event fails,
 *           the driver may skip the call and later calls on the same queue. It never skips only a
 *           part of a call. If it skips a call, *order->done fails and the outputs are undefined.
 *           PoCL before version 4 crashes or hangs if such an event fails. If another command of
 *           the caller fails, some drivers also drop later updates of a dictionary. The
 *           dictionary's next call then checks the dictionary, and may return ORDO_BROKEN. */
struct ordo_order {
    /* Queue of the device's context, or NULL for the device's own queue. In an out-of-order queue,
     * barriers separate the commands of a call. */
    cl_command_queue queue;
    cl_uint          n_wait;
    const cl_event  *wait;
    /* May be NULL. *done receives an event that completes after the call's commands. The caller
     * must release it. In an in-order queue with profiling, the time of a call is the end
     * (CL_PROFILING_COMMAND_END) of its event minus the end of the previous call's event. */
    cl_event *done;
};

/* Waits for all commands in the device's own queue. */
ORDO_API ordo_status ordo_device_finish(ordo_device *device);

#ifdef __cplusplus
}
#endif

#endif
