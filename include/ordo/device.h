/* SPDX-License-Identifier: Apache-2.0 */
/* An opened OpenCL device: its facts, tunables, compiled programs and scratch memory.
 *
 * Threads      Any thread may use any device. A lock makes calls on a device enqueue commands one
 *              after another. Most calls release the lock before they wait. No other call on a
 *              device may run while the device is closed.
 * Fork         In the child of a fork, calls on the parent's device return ORDO_FORKED, and
 *              destroying and closing free only host memory. A child that computes must be forked
 *              before OpenCL is first used, or call exec: many drivers do not work in other
 *              children.
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

/* Receives one log message, without a newline. The text is valid during the call. The function must
 * not call Ordo.
 * Concurrency: one message at a time per device, from the thread of the Ordo call, usually with the
 *   device's lock held. */
typedef void (*ordo_log_fn)(void *user, ordo_log_level level, const char *message);

/* Settings for opening a device. Zero means the default. Only `log` and `user` are used after
 * opening. */
struct ordo_device_config {
    /* "0:1" (platform:device), "gpu", "cpu", or part of the name of a device or platform. NULL
     * means the variable ORDO_DEVICE, or else the first GPU, or else the first device. */
    const char *select;
    /* Receives errors and warnings, or the levels that the variable ORDO_LOG selects. If `log` is
     * NULL, messages go to stderr if ORDO_LOG is set. */
    ordo_log_fn log;
    void       *user; /* passed to log */
    /* Receives the error message if opening fails, cut to message_bytes. May be NULL. */
    char  *message;
    size_t message_bytes;
    /* Receives the size of the whole message with its final 0, or 0 after success. May be NULL. */
    size_t *message_needs;
    size_t  memory_limit; /* most bytes of device memory to use; 0: the device's size */
    /* Disables features, for tests. Example:
     * "lanes=one,local=16384,int64_atomics=0,progress=0,group=64". NULL means the variable
     * ORDO_MASK. */
    const char *mask;
    /* if true, the device's own queue gets CL_QUEUE_PROFILING_ENABLE (see order->done) */
    bool profiling;
    bool no_self_test;
    /* Threads that compile a new dictionary's likely kernels in the background: 1 to 16, or -1 for
     * none. 0 means the variable ORDO_BUILD_THREADS, or else 2 for a GPU and none for a CPU. */
    int build_threads;
};

/* Opens and tests a device, and creates a context and an in-order queue. On error sets *out to
 * NULL.
 * Cost: 0.26 s on an H200. The first time, or with a new profile, 1.9 s. Some seconds on a CPU.
 * Blocking: waits for the self-test.
 * Errors: ORDO_NO_DEVICE; the message lists the devices or the package to install. ORDO_IO for a
 *   wrong ORDO_CL_DIR. ORDO_SELF_TEST, ORDO_BUILD and ORDO_UNSUPPORTED if even the safest kernel
 *   variants fail. */
ORDO_API ordo_status ordo_device_open(const struct ordo_device_config *config, ordo_device **out);

/* Opens a device with the caller's context and queue, and retains them. If `queue` is NULL, creates
 * an in-order queue. Ignores config->select. */
ORDO_API ordo_status ordo_device_adopt(cl_context context, cl_device_id id, cl_command_queue queue,
                                       const struct ordo_device_config *config, ordo_device **out);

/* Closes the device and sets *device to NULL. Does nothing if `device` or *device is NULL.
 * Dictionaries and indexes stay usable, and keep the device's resources until they are destroyed.
 * `log` is never called again.
 * Blocking: waits for the device's own queue. */
ORDO_API void ordo_device_close(ordo_device **device);

/* Return the device's OpenCL objects, without retaining them, for the caller's own commands. */
ORDO_API cl_context       ordo_device_context(const ordo_device *device);
ORDO_API cl_device_id     ordo_device_id(const ordo_device *device);
ORDO_API cl_command_queue ordo_device_queue(const ordo_device *device);

/* ---- errors -------------------------------------------------------------------------------- */

/* After a driver error (ORDO_OPENCL, ORDO_BUILD, a memory error) every object is as before the
 * call, except as dict.h says. order->done is not set. The call may be repeated. Commands already
 * enqueued still run. If the driver fails permanently, each call returns an error. Objects can
 * still be destroyed and the device closed. */

/* ORDO_DEVICE_FAILED: a call waited and found that a kernel had failed. The kernel's outputs are
 * undefined, and its dictionary must be cleared. Most drivers then refuse all calls on the context.
 * NVIDIA's driver also refuses new contexts of the process. Ordo's calls return ORDO_DEVICE_FAILED
 * until a wait succeeds. */

/* Copies the message of the device's last error, in any thread, to `text`. Cuts it to `bytes` with
 * its final 0. Returns the size of the whole message, or 1 if there was no error. */
ORDO_API size_t ordo_device_last_error(ordo_device *device, char *text, size_t bytes);

/* Returns the OpenCL code of the device's last error, or 0. */
ORDO_API cl_int ordo_device_last_cl_error(ordo_device *device);

/* Returns the name of an OpenCL code ("CL_OUT_OF_RESOURCES"), or "unknown OpenCL code". */
ORDO_API const char *ordo_cl_error_string(cl_int code);

/* ---- facts --------------------------------------------------------------------------------- */

/* How the lanes (work-items) of a team exchange data. A team is a sub-group, part of one, or a
 * single work-item. */
typedef enum ordo_lanes {
    ORDO_LANES_ONE = 0,    /* single work-items: CPUs, unknown devices */
    ORDO_LANES_KHR = 1,    /* Khronos sub-groups */
    ORDO_LANES_NVIDIA = 2, /* PTX in inline assembly */
    ORDO_LANES_AMD = 3,    /* the AMD compiler's builtins */
} ordo_lanes;

/* Operations that order memory accesses of different work-groups. */
typedef enum ordo_atomics {
    ORDO_ATOMICS_LEGACY = 0, /* OpenCL 1.2 atomics, no order guaranteed */
    ORDO_ATOMICS_C11 = 1,    /* OpenCL C 2.0 atomics with memory_scope_device */
    ORDO_ATOMICS_NVIDIA = 2, /* PTX: ld.acquire, st.release, fence.acq_rel.gpu */
} ordo_atomics;

/* Facts about a device, from the driver, trial compiles and the self-test. */
struct ordo_facts {
    char name[128], vendor[128], platform[128], driver[128], version[128];
    bool cpu; /* a work-group runs in one thread */
    bool unified_memory;
    /* true if started work-groups continue to run, so that others may wait for them */
    bool groups_progress;
    bool int64_atomics; /* device memory has 64-bit atomics */
    /* true if, even without a fence, a load through a pointer runs after the load of the pointer */
    bool         address_order;
    bool         own_binary_cache; /* the driver caches programs */
    ordo_lanes   lanes;
    ordo_atomics atomics;
    uint32_t     sub_group; /* work-items per sub-group; 1 with ORDO_LANES_ONE */
    uint32_t     compute_units;
    uint32_t     max_group; /* work-items of the largest work-group */
    uint32_t     cache_line_bytes;
    uint32_t     vector_bytes; /* bytes of a native vector */
    uint32_t     clock_mhz;
    uint32_t     timer_ns;    /* resolution of profiling timers */
    uint64_t     local_bytes; /* local memory of a work-group */
    uint64_t     cache_bytes; /* global memory cache */
    uint64_t     global_bytes;
    uint64_t     max_alloc_bytes;
    double       open_ms;
    double       build_ms;     /* part of open_ms: compiling programs */
    double       self_test_ms; /* part of open_ms */
    bool         self_test_remembered;
    /* kernel variants that failed the self-test, and their replacements, one per line */
    char dropped[256];
};

/* Returns the facts, which are valid until the device is closed. Returns NULL if `device` is NULL.
 * Only ordo_device_self_test changes self_test_ms and self_test_remembered. */
ORDO_API const struct ordo_facts *ordo_device_facts(const ordo_device *device);

/* Tests sub-group operations, atomics, scan and sort.
 * Blocking: yes.
 * Errors: ORDO_SELF_TEST. */
ORDO_API ordo_status ordo_device_self_test(ordo_device *device);

/* ---- memory -------------------------------------------------------------------------------- */

struct ordo_memory {
    uint64_t held_bytes; /* indexes, structures and scratch */
    uint64_t held_peak_bytes;
    uint64_t scratch_bytes;      /* part of held_bytes */
    uint64_t scratch_peak_bytes; /* peak of scratch since the last trim */
    uint64_t buffers;            /* number of cl_mem objects held */
};
ORDO_API ordo_status ordo_device_memory(ordo_device *device, struct ordo_memory *out);

/* Frees unused scratch memory and restarts the peaks. Running commands keep their scratch. */
ORDO_API ordo_status ordo_device_trim(ordo_device *device);

/* ---- tuning -------------------------------------------------------------------------------- */

/* Where a tunable's value comes from. */
typedef enum ordo_origin {
    ORDO_ORIGIN_DEFAULT,
    ORDO_ORIGIN_SHIPPED,
    ORDO_ORIGIN_TUNED,
    ORDO_ORIGIN_SET
} ordo_origin;

/* A tunable (a number that changes speed, not results) for one size of keys and values. Example:
 * "sort.k4v4.items" is the number of items per work-item in sorts of 4-byte keys and values. */
struct ordo_tunable_info {
    char        name[48];
    const char *text; /* its meaning */
    uint32_t    value;
    ordo_origin origin;
    bool        applies;   /* if true, other values may be faster */
    uint32_t    n_choices; /* number of permitted values */
    uint32_t    choice[16];
};

/* Returns tunable number i, counted from 0.
 * Errors: ORDO_INVALID after the last tunable. */
ORDO_API ordo_status ordo_device_tunable(ordo_device *device, size_t i,
                                         struct ordo_tunable_info *out);

/* Sets a tunable of this device object. If the device cannot run a value, later calls use a lower
 * one.
 * Errors: ORDO_INVALID for an unknown name or a value not among its choices. Later calls return
 *   ORDO_UNSUPPORTED if the driver cannot run the kernel. */
ORDO_API ordo_status ordo_device_set_tunable(ordo_device *device, const char *name, uint32_t value);

/* Writes all tunables of origin TUNED or SET to the user's profile: $ORDO_PROFILE,
 * $XDG_CONFIG_HOME/ordo/<device>.profile or ~/.config/ordo/<device>.profile. Opening a device reads
 * it. Creates missing directories. Only the user can read the file. `path` (may be NULL) receives
 * the file name, cut to path_bytes with its final 0.
 * Errors: ORDO_IO if the file cannot be written. */
ORDO_API ordo_status ordo_device_save_profile(ordo_device *device, char *path, size_t path_bytes);

/* ---- order --------------------------------------------------------------------------------- */

/* Orders a call among the caller's commands. NULL means the device's own queue without events.
 *
 * Blocking  A call blocks until the events in `wait` are complete if it changes a dictionary, waits
 *           for the device or first prepares an index. Another thread must set user events. A call
 *           that changes a dictionary also waits for the events of earlier calls on its queue. If
 *           an event fails, the call returns ORDO_OPENCL and changes nothing.
 * Errors    ORDO_INVALID if `wait` has NULL, a wrong object or an event of another context.
 *           ORDO_OPENCL for a failed event, with its code in ordo_device_last_cl_error. Nothing is
 *           enqueued then.
 * Failure   Other calls pass the events to the driver. If an event fails later, this and each later
 *           call runs completely or not at all. If a call does not run, its order->done fails and
 *           its outputs are undefined. PoCL before version 4 crashes or hangs instead. After a
 *           failed command of the caller, some drivers skip commands that change a dictionary. The
 *           dictionary's next call checks it, and may return ORDO_BROKEN. */
struct ordo_order {
    /* Queue of the device's context, or NULL for the device's own queue. In an out-of-order queue,
     * barriers separate the commands of a call. */
    cl_command_queue queue;
    cl_uint          n_wait;
    const cl_event  *wait; /* events that must precede the call */
    /* Receives a marker event after the call's commands, which the caller must release. May be
     * NULL. In an in-order queue with profiling, a call's time is the difference of
     * CL_PROFILING_COMMAND_END between its marker and the previous call's. */
    cl_event *done;
};

/* Waits for all commands in the device's own queue. */
ORDO_API ordo_status ordo_device_finish(ordo_device *device);

#ifdef __cplusplus
}
#endif

#endif
