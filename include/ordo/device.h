/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL device: its facts, kernel variants, tunables, built programs and scratch memory.
 *
 * Concurrency  Any thread may use any device. A lock of the device enqueues its calls one after
 *              another. No call holds the lock while it waits, unless its comment says that it
 *              blocks. Devices share nothing. No other call on a device may run while it is closed.
 * Fork         In the child of a fork, calls on a device of the parent return ORDO_FORKED
 *              immediately. Destroying and closing there frees host memory and does not call the
 *              driver. A child that computes must be forked before OpenCL is first used, or call
 *              exec, because many drivers do not work in such a child (with PoCL the first command
 *              never ends).
 *
 * Example: opens the device of ORDO_DEVICE, else a GPU, else a CPU.
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
 * Opening a device reads these variables, unless its configuration has the setting. Programs with
 * more rights than their caller (set-user-ID) ignore them.
 *
 *   ORDO_DEVICE   selects the device. If it selects none, opening returns ORDO_NO_DEVICE, with the
 *                 choices in the message
 *   ORDO_MASK     features that the device does without, for tests. ORDO_INVALID if it is unknown
 *   ORDO_CL_DIR   a directory of sources that replace the library's. ORDO_IO if it is missing
 *   ORDO_LOG      error, warning, info or debug. Another word counts as warning, and is logged
 *   ORDO_PROFILE  the file of tunables, or "off". It must be a regular file under 64 KiB, no link,
 *                 that belongs to the user or to root. Otherwise the shipped profile is used, and a
 *                 warning gives the cause
 *   ORDO_CACHE    the directory of built programs and self-test outcomes, or "off". Default:
 *                 $XDG_CACHE_HOME/ordo, else ~/.cache/ordo. Its files are run, so the directory and
 *                 they must belong to the user, and nobody else may write to them; links are not
 *                 followed. Without a cache each process builds all programs, after one warning. A
 *                 cache of 128 MiB loses its oldest entries, and never files of others */

/* ---- opening ------------------------------------------------------------------------------- */

typedef enum ordo_log_level {
    ORDO_LOG_ERROR = 0,
    ORDO_LOG_WARNING = 1,
    ORDO_LOG_INFO = 2,
    ORDO_LOG_DEBUG = 3
} ordo_log_level;

/* Receives one message, without a newline, valid during the call. It must not call Ordo.
 * Concurrency: a device passes one message at a time, on the thread of the Ordo call, usually with
 *   the device's lock held. So `log` needs no lock if it serves one device. */
typedef void (*ordo_log_fn)(void *user, ordo_log_level level, const char *message);

/* How to open a device. Zero means default. Only `log` and `user` are kept after the call. */
struct ordo_device_config {
    const char *select;  /* "0:1" (platform:device), "gpu", "cpu", or part of the name of a device
                            or platform, in any case; NULL: ORDO_DEVICE, else the first GPU, else
                            the first device */
    ordo_log_fn log;     /* receives errors and warnings, or the levels of ORDO_LOG; NULL: messages
                            are printed to stderr if ORDO_LOG is set */
    void       *user;    /* passed to log */
    char       *message; /* receives the cause if opening fails, cut to fit; may be NULL */
    size_t      message_bytes;
    size_t     *message_needs; /* receives the bytes of the whole message with its final 0, or 0 if
                                  opening succeeds; may be NULL. 4096 bytes hold any message but a
                                  build log */
    size_t      memory_limit;  /* limit of device memory in bytes; 0: the limit of the device */
    const char *mask;          /* features that the device does without, for tests: a list such as
                                  "lanes=one,local=16384,int64_atomics=0,progress=0,group=64";
                                  NULL: ORDO_MASK */
    bool        profiling;     /* the device's own queue has CL_QUEUE_PROFILING_ENABLE, to time
                                  calls: see order->done */
    bool        no_self_test;  /* skip the self-test (for tools that only list) */
    /* Threads that build a new dictionary's likely kernels ahead, while no call waits. 1 to 16; -1:
     * none; 0: ORDO_BUILD_THREADS (0 to 16; other words are logged and ignored), else 2 on a GPU,
     * and none if kernels run on the CPU. */
    int build_threads;
};

/* Opens a device with its own context and in-order queue, and tests it. Sets *out to NULL on error.
 * Cost: 0.26 s on an H200, which spends 0.25 s in its driver. The first time, or with a new
 *   profile, 1.9 s, to compile and test kernels. Some seconds on a CPU.
 * Blocking: waits for probe and self-test. facts.dropped lists variants that failed and were
 *   replaced.
 * Errors: ORDO_NO_DEVICE (the message lists the choices, or the package to install), ORDO_IO;
 *   ORDO_SELF_TEST, ORDO_BUILD and ORDO_UNSUPPORTED if the safest variant fails; ORDO_OPENCL,
 *   ORDO_NO_HOST_MEMORY, ORDO_NO_DEVICE_MEMORY, ORDO_DEVICE_FAILED, ORDO_TOO_LARGE. */
ORDO_API ordo_status ordo_device_open(const struct ordo_device_config *config, ordo_device **out);

/* Opens the caller's device with the caller's context and queue, and retains them. If queue is
 * NULL, creates an in-order queue. Ignores config->select. */
ORDO_API ordo_status ordo_device_adopt(cl_context context, cl_device_id id, cl_command_queue queue,
                                       const struct ordo_device_config *config, ordo_device **out);

/* Releases the device and sets *device to NULL. Accepts NULL and *NULL. Dictionaries and indexes
 * remain usable, and keep their part of the device until the last one is destroyed. `log` is called
 * no more.
 * Blocking: waits for the device's own queue. */
ORDO_API void ordo_device_close(ordo_device **device);

/* Return the OpenCL objects of a device, for the caller's own commands and buffers. Add no
 * reference. */
ORDO_API cl_context       ordo_device_context(const ordo_device *device);
ORDO_API cl_device_id     ordo_device_id(const ordo_device *device);
ORDO_API cl_command_queue ordo_device_queue(const ordo_device *device);

/* ---- errors -------------------------------------------------------------------------------- */

/* If the driver returns an error (ORDO_OPENCL, ORDO_NO_DEVICE_MEMORY, ORDO_NO_HOST_MEMORY,
 * ORDO_BUILD, ORDO_DEVICE_FAILED), every object is as before the call, there is no order->done, and
 * the same call works as soon as the driver does. Enqueued commands stay enqueued. If a driver
 * fails for good (a lost device), each call returns its error, even if only the event could not be
 * created; destroying and closing frees the rest.
 * If a command fails later on the device, a call that waits, such as ordo_device_finish, returns
 * ORDO_DEVICE_FAILED. The outputs of the command are undefined, and a dictionary must be cleared.
 * Most drivers then refuse every call on the context, and NVIDIA's every new context of the
 * process. These calls return ORDO_DEVICE_FAILED until a call that waits succeeds. */

/* Copies the message of the last failed call of any thread on this device, cut to `bytes` with its
 * final 0. It gives the error with names and values, or the build log, then in brackets the device
 * and the line of the source. Returns the bytes of the whole message, 1 if no call has failed.
 * Calls with NULL for device or dictionary leave no message. */
ORDO_API size_t ordo_device_last_error(ordo_device *device, char *text, size_t bytes);

/* Returns OpenCL's code of the last ORDO_OPENCL, ORDO_NO_DEVICE_MEMORY, ORDO_DEVICE_FAILED or
 * ORDO_BUILD on this device, or 0. */
ORDO_API cl_int ordo_device_last_cl_error(ordo_device *device);

/* Returns the name of an OpenCL code ("CL_OUT_OF_RESOURCES"), or "unknown OpenCL code". */
ORDO_API const char *ordo_cl_error_string(cl_int code);

/* ---- facts --------------------------------------------------------------------------------- */

/* How the lanes of a team communicate. */
typedef enum ordo_lanes {
    ORDO_LANES_ONE = 0,    /* a team is one work-item: CPUs and unknown devices */
    ORDO_LANES_KHR = 1,    /* Khronos sub-groups */
    ORDO_LANES_NVIDIA = 2, /* PTX in inline assembly */
    ORDO_LANES_AMD = 3,    /* the AMD compiler's builtins */
} ordo_lanes;

/* The form of ordered accesses between work-groups. */
typedef enum ordo_atomics {
    ORDO_ATOMICS_LEGACY = 0, /* OpenCL 1.2 atomics: no promised order between work-groups */
    ORDO_ATOMICS_C11 = 1,    /* OpenCL C 2.0/3.0 atomics with memory_scope_device */
    ORDO_ATOMICS_NVIDIA = 2, /* PTX ld.relaxed, ld.acquire, st.release, fence.acq_rel.gpu */
} ordo_atomics;

/* Facts of a device, from feature lists, trial compiles and the self-test. */
struct ordo_facts {
    char         name[128], vendor[128], platform[128], driver[128], version[128];
    bool         cpu;              /* the device is a CPU: teams are single work-items */
    bool         unified_memory;   /* host and device share memory */
    bool         groups_progress;  /* a started work-group keeps running, so look-back is allowed */
    bool         int64_atomics;    /* 64-bit atomics in device memory */
    bool         address_order;    /* a read stays after the read that gives its address, even
                                      without a fence */
    bool         own_binary_cache; /* the driver caches programs itself, so Ordo does not */
    ordo_lanes   lanes;
    ordo_atomics atomics;
    uint32_t     sub_group; /* lanes of a sub-group; 1 with ORDO_LANES_ONE */
    uint32_t     compute_units;
    uint32_t     max_group; /* work-items of the largest work-group */
    uint32_t     cache_line_bytes;
    uint32_t     clock_mhz;
    uint32_t     timer_ns;    /* resolution of profiling timers */
    uint64_t     local_bytes; /* local memory of a work-group */
    uint64_t     cache_bytes; /* global memory cache */
    uint64_t     global_bytes;
    uint64_t     max_alloc_bytes;
    double       open_ms;      /* time of opening */
    double       build_ms;     /* part of open_ms: building programs (0 if all came from a cache) */
    double       self_test_ms; /* part of open_ms: the self-test (0 if its outcome was cached) */
    bool         self_test_remembered;
    char         dropped[256]; /* failed variants and their replacements, one per line; or "" */
};

/* Returns the facts, valid until the device is closed; NULL for NULL. Only ordo_device_self_test
 * changes them: self_test_ms and self_test_remembered. */
ORDO_API const struct ordo_facts *ordo_device_facts(const ordo_device *device);

/* Runs the self-test: known answers for lanes, atomics, scan and sort with the chosen variants.
 * Blocking: waits.
 * Errors: ORDO_SELF_TEST; the message names the wrong answer. */
ORDO_API ordo_status ordo_device_self_test(ordo_device *device);

/* ---- memory -------------------------------------------------------------------------------- */

struct ordo_memory {
    uint64_t held_bytes; /* device memory that Ordo holds: indexes, structures, scratch */
    uint64_t held_peak_bytes;
    uint64_t scratch_bytes;      /* part of held_bytes: scratch in use or in the pool */
    uint64_t scratch_peak_bytes; /* peak of scratch in use since the last trim */
    uint64_t buffers;            /* number of cl_mem objects held */
};
ORDO_API ordo_status ordo_device_memory(ordo_device *device, struct ordo_memory *out);

/* Releases pooled scratch and restarts the peaks. Running commands keep their scratch. */
ORDO_API ordo_status ordo_device_trim(ordo_device *device);

/* ---- tuning -------------------------------------------------------------------------------- */

/* The source of a tunable's value. */
typedef enum ordo_origin {
    ORDO_ORIGIN_DEFAULT,
    ORDO_ORIGIN_SHIPPED,
    ORDO_ORIGIN_TUNED,
    ORDO_ORIGIN_SET
} ordo_origin;

/* One tunable for one shape of data, such as "sort.k4v4.items": items per work-item in a sort of
 * 4-byte keys with 4-byte values. */
struct ordo_tunable_info {
    char        name[48];
    const char *text; /* its meaning */
    uint32_t    value;
    ordo_origin origin;
    bool        applies;   /* other values can be faster on this device */
    uint32_t    n_choices; /* the values that it may be set to */
    uint32_t    choice[16];
};

/* Returns the i-th tunable, i from 0.
 * Errors: ORDO_INVALID past the last. */
ORDO_API ordo_status ordo_device_tunable(ordo_device *device, size_t i,
                                         struct ordo_tunable_info *out);

/* Sets a tunable of this device object. Later calls lower values that exceed the device (larger
 * groups, more local memory, look-back without progress).
 * Errors: ORDO_INVALID for an unknown name, or a value that is not one of its choices. A later call
 *   returns ORDO_UNSUPPORTED if the driver cannot run the kernel, for example for lack of
 *   registers. */
ORDO_API ordo_status ordo_device_set_tunable(ordo_device *device, const char *name, uint32_t value);

/* Writes every tunable of origin TUNED or SET to the user's profile, which each later open reads:
 * $ORDO_PROFILE, else $XDG_CONFIG_HOME/ordo/<device>.profile, else ~/.config/ordo/<device>.profile.
 * Creates missing directories. The new file is readable by the user only, and replaces a link of
 * that name. `path` (may be NULL) receives the name, cut to path_bytes with its final 0.
 * Errors: ORDO_IO if the file cannot be written. */
ORDO_API ordo_status ordo_device_save_profile(ordo_device *device, char *path, size_t path_bytes);

/* ---- order --------------------------------------------------------------------------------- */

/* Orders a call among the caller's commands. NULL: the device's own queue, no wait list, no event.
 *
 * Blocking  A call that changes a dictionary, waits for the device, or must first build something
 *           (dict.h) blocks until the events in the list are complete, without Ordo's lock. Another
 *           thread must set user events. If an event fails, the call returns ORDO_OPENCL and
 *           changes nothing. A call that changes a dictionary also waits for events that earlier
 *           calls on its queue wait for.
 * Errors    ORDO_INVALID for NULL in the list, for other objects than events, and for events of
 *           another context. ORDO_OPENCL for an event that has failed; ordo_device_last_cl_error
 *           returns the event's code. Then nothing is enqueued.
 * Failure   Other calls pass the list to the driver. If an event then fails, each of them runs as
 *           a whole or not at all, and so does each call without a list behind them in the queue.
 *           If it does not run, order->done fails, and outputs are undefined. Later calls are
 *           right. (PoCL before version 4 crashes or hangs if commands wait for an event that
 *           fails.) If a command of the caller fails and the driver drops commands that change a
 *           dictionary, the next call checks the dictionary on the device, and returns ORDO_BROKEN
 *           if it is damaged. */
struct ordo_order {
    cl_command_queue queue;  /* a queue of the device's context; NULL: the device's own queue. In an
                                out-of-order queue barriers separate the kernels of a call */
    cl_uint          n_wait; /* number of events in wait */
    const cl_event  *wait;   /* the call starts after these events */
    cl_event        *done;   /* receives a marker event, which the caller releases; may be NULL. On
                                an in-order queue with profiling, a call's time is the difference
                                between the CL_PROFILING_COMMAND_END of its marker and of the marker
                                before it */
};

/* Waits until the device's own queue is empty. */
ORDO_API ordo_status ordo_device_finish(ordo_device *device);

#ifdef __cplusplus
}
#endif

#endif
