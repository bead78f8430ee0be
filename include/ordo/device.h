/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL device with all that Ordo knows of it: what it can do, which kernel variants were chosen for it, their
 * tuning, the built programs, and the scratch memory.
 *
 *     ordo_device *dev = NULL;
 *     ordo_status got = ordo_device_open(NULL, &dev);       // by ORDO_DEVICE, else the first GPU, else a CPU
 *     ...
 *     ordo_device_close(&dev);
 *
 * Thread-safety: safe. Any thread may call with any device; calls on one device are enqueued one after another under
 * its lock, which is never held while waiting for the device except where a call is said to block. Two devices share
 * nothing. Closing must not run beside other calls on that device.
 *
 * In the child of a fork calls on a device that was opened before return ORDO_FORKED, at once, whatever other threads of the
 * parent were doing. Destroying and closing there frees host memory and leaves the driver alone. A child that is to compute must
 * be forked before OpenCL is first used (or call exec): many drivers do not work in the child of a process that has used them
 * (with PoCL the first command of a device that is opened there never ends), and Ordo cannot tell.
 */
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

/* ---- the environment -----------------------------------------------------------------------------------------
 *
 * Read when a device is opened, unless config says otherwise. In a program that has more rights than its caller
 * (set-user-ID and the like) all of it counts as not set.
 *
 *   ORDO_DEVICE   which device; one that names none is refused (ORDO_NO_DEVICE), with the choices
 *   ORDO_MASK     what the device is to do without, for tests; what it does not know is refused (ORDO_INVALID)
 *   ORDO_CL_DIR   a directory of kernel sources that go before the library's: a file that is not there is the library's. A
 *                 directory that is missing is refused (ORDO_IO)
 *   ORDO_LOG      error, warning, info or debug; another word is told at warning, and taken for warning
 *   ORDO_PROFILE  the file of tunables, or "off". It must be a regular file of less than 64 KiB that
 *                 belongs to the user or to root, and no link. Any other is not read: a warning says
 *                 why, and the shipped profile is taken
 *   ORDO_CACHE    where built programs and the self-test's outcome are kept, or "off". Default: $XDG_CACHE_HOME/ordo, else
 *                 ~/.cache/ordo. What lies there is run, so a directory counts only if it is the user's own and writable by
 *                 nobody else, and so does each file in it; links are not followed. Without one each process builds all
 *                 anew, which is told once at warning, as is the first file that cannot be written. It keeps under 128 MiB:
 *                 the oldest entries go, and what crashes left; files that are not Ordo's stay */

/* ---- opening ------------------------------------------------------------------------------------------------- */

typedef enum ordo_log_level {
    ORDO_LOG_ERROR = 0,
    ORDO_LOG_WARNING = 1,
    ORDO_LOG_INFO = 2,
    ORDO_LOG_DEBUG = 3
} ordo_log_level;

/* Receives one message, without a newline, valid only during the call. One message of a device is handed out at a time,
 * from whatever thread has it, but for those that build kernels ahead: that of the Ordo call, as a rule with the device's lock held. So `log` needs no lock of its
 * own for one device, keeps calls waiting while it runs, and must not call Ordo. */
typedef void (*ordo_log_fn)(void *user, ordo_log_level level, const char *message);

/* How to open a device. Zero means default; nothing is kept after the call but `log` and `user`. */
struct ordo_device_config {
    const char *select;  /* "0:1" (platform:device), "gpu", "cpu", or part of a device's or platform's name, in any
                                case; NULL: the environment's ORDO_DEVICE, else the first GPU, else the first device */
    ordo_log_fn log;     /* receives errors and warnings, or what ORDO_LOG=error|warning|info|debug says; NULL: nothing
                                is printed unless that is set (stderr) */
    void       *user;    /* handed to log */
    char       *message; /* receives why opening failed, cut to fit; NULL if not wanted */
    size_t      message_bytes;
    size_t     *message_needs; /* receives the bytes that the whole message needs with its final 0, and 0 if opening
                                  succeeds; NULL if not wanted. 4096 hold all but build logs */
    size_t      memory_limit;  /* bytes of device memory that Ordo may hold at once; 0: what the device has */
    const char *mask;          /* pretend that the device can less, for tests: a list such as "lanes=one,local=16384,
                                int64_atomics=0,progress=0,group=64"; NULL: the environment's ORDO_MASK */
    bool        profiling;     /* create the device's own queue with CL_QUEUE_PROFILING_ENABLE, to time calls: see
                                order->done */
    bool        no_self_test;  /* skip the self-test (for tools that only list) */
    int build_threads; /* that build kernels before calls ask for them: from when a dictionary is created, what it is
                          likely to need, while no call waits for another. 0: the environment's
                          ORDO_BUILD_THREADS (0: none; a word that is no number from 0 to 16 is told at warning, and
                          counts as not set), else some on a GPU, and none where kernels run on the CPU that would build
                          them; -1: none; 1 to 16: so many. Another number is refused (ORDO_INVALID) */
};

/* Opens a device, creating a context and an in-order queue of its own.
 * Blocks for the probe and the self-test: 1.9 s on the first use of a driver (an H200), in which kernels are compiled, some
 * seconds on a CPU; from then on for what the driver itself takes (0.25 s there) and some 10 ms,
 * because their outcome and the built programs are kept in the user's cache directory. A profile that is new or changed
 * (see ordo_device_save_profile) is tested once more, as it may choose other variants.
 * Variants with which the self-test finds wrong answers, or that do not build here, are replaced by safer ones, which
 * facts.dropped tells.
 * Errors  ORDO_NO_DEVICE (the message lists the choices, names the package to install, or says why a driver that is there
 *         shows no device), ORDO_IO (ORDO_CL_DIR), ORDO_SELF_TEST, ORDO_BUILD
 *         and ORDO_UNSUPPORTED if the safest variant fails too, and at once ORDO_OPENCL, ORDO_NO_HOST_MEMORY,
 *         ORDO_NO_DEVICE_MEMORY, ORDO_DEVICE_FAILED, ORDO_TOO_LARGE. *out is NULL after an error. */
ORDO_API ordo_status ordo_device_open(const struct ordo_device_config *config, ordo_device **out);

/* The same over the caller's own context, device and queue, all of which are retained. `queue` may be NULL: an
 * in-order queue is created. config->select is ignored. */
ORDO_API ordo_status ordo_device_adopt(cl_context context, cl_device_id id, cl_command_queue queue,
                                       const struct ordo_device_config *config, ordo_device **out);

/* Waits for what this device's own queue holds, releases all and sets *device to NULL. NULL and *NULL are fine. Dictionaries and
 * indexes that are still there may be used as before, and what they need of the device goes with the last of them; the log is
 * told nothing from now on. */
ORDO_API void ordo_device_close(ordo_device **device);

/* The OpenCL objects behind a device, for the caller's own commands and buffers. Not retained for the caller. */
ORDO_API cl_context       ordo_device_context(const ordo_device *device);
ORDO_API cl_device_id     ordo_device_id(const ordo_device *device);
ORDO_API cl_command_queue ordo_device_queue(const ordo_device *device);

/* ---- errors -------------------------------------------------------------------------------------------------- */

/* What holds after an error of the driver (ORDO_OPENCL, ORDO_NO_DEVICE_MEMORY, ORDO_NO_HOST_MEMORY, ORDO_BUILD,
 * ORDO_DEVICE_FAILED), for every object of Ordo: it is as it was before the call, nothing is lost, no order->done is
 * handed out, and the same call works as soon as the driver does. What had been enqueued stays enqueued.
 * Where a driver fails for good (a lost device), each call returns its error, and destroying and closing frees what is left.
 * A call may then be done although it returns an error, if it was its event that could not be had.
 * Calls enqueue and return: a command that fails on the device itself, later, shows in a call that waits, such as
 * ordo_device_finish, as ORDO_DEVICE_FAILED. What such a command was to write is undefined: a dictionary then has to be
 * cleared. Most drivers then refuse all that is asked of the context, and NVIDIA's every new context of the process:
 * until a call that waits succeeds, ORDO_DEVICE_FAILED is what is returned of that, too. */

/* Copies the message of the last call on this device that failed, cut to `bytes` with its final 0: first the fact, with
 * names and values or the build log, then in brackets the device and the place in the library's source.
 * Returns the bytes that the whole message needs, 1 if there was no failure yet. A call that was given NULL for its device
 * or dictionary leaves none. Where several threads call, the last failure is that of any of them. */
ORDO_API size_t ordo_device_last_error(ordo_device *device, char *text, size_t bytes);

/* OpenCL's own code behind the last ORDO_OPENCL, ORDO_NO_DEVICE_MEMORY, ORDO_DEVICE_FAILED or ORDO_BUILD on this device;
 * else 0. */
ORDO_API cl_int ordo_device_last_cl_error(ordo_device *device);

/* The name of an OpenCL code ("CL_OUT_OF_RESOURCES"), or "unknown OpenCL code". Never NULL. */
ORDO_API const char *ordo_cl_error_string(cl_int code);

/* ---- facts --------------------------------------------------------------------------------------------------- */

/* How lanes of one team talk to each other. */
typedef enum ordo_lanes {
    ORDO_LANES_ONE = 0,    /* a team is one work-item: every CPU, and anything unknown */
    ORDO_LANES_KHR = 1,    /* Khronos sub-groups */
    ORDO_LANES_NVIDIA = 2, /* PTX in inline assembly */
    ORDO_LANES_AMD = 3,    /* the AMD compiler's builtins */
} ordo_lanes;

/* How ordered access between work-groups is spelled. */
typedef enum ordo_atomics {
    ORDO_ATOMICS_LEGACY = 0, /* OpenCL 1.2 atomics and mem_fence: order between work-groups is not promised */
    ORDO_ATOMICS_C11 = 1,    /* OpenCL C 2.0/3.0 atomics with memory_scope_device */
    ORDO_ATOMICS_NVIDIA = 2, /* PTX ld.relaxed, ld.acquire, st.release, fence.acq_rel.gpu */
} ordo_atomics;

/* What the probe found. Facts come from feature lists, trial compiles and the self-test, never from version strings. */
struct ordo_facts {
    char         name[128], vendor[128], platform[128], driver[128], version[128];
    bool         cpu;              /* the device is a CPU: teams of one, large chunks per work-item */
    bool         unified_memory;   /* host and device share memory */
    bool         groups_progress;  /* a started work-group is known to keep running: look-back is allowed */
    bool         int64_atomics;    /* 64-bit atomics in device memory */
    bool         address_order;    /* a read at an address that hangs on another read comes after it, without a fence */
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
    double       open_ms;      /* how long opening took, of which ... */
    double       build_ms;     /* ... building programs (0 when all came from a cache) */
    double       self_test_ms; /* ... and the self-test (0 when a remembered outcome was used) */
    bool         self_test_remembered;
    char         dropped[256]; /* variants that failed and what replaced them, one per line; "" if none */
};

/* Valid until the device is closed; NULL for NULL. Facts stay as they are, but for self_test_ms and self_test_remembered,
 * which ordo_device_self_test sets. */
ORDO_API const struct ordo_facts *ordo_device_facts(const ordo_device *device);

/* Runs the self-test now (known answers for lanes, atomics, scan and sort with the chosen variants), whatever is
 * remembered. Blocks. ORDO_SELF_TEST if an answer is wrong; the message says which. */
ORDO_API ordo_status ordo_device_self_test(ordo_device *device);

/* ---- memory -------------------------------------------------------------------------------------------------- */

struct ordo_memory {
    uint64_t held_bytes; /* device memory that Ordo holds now: indexes, structures, scratch */
    uint64_t held_peak_bytes;
    uint64_t scratch_bytes;      /* of it, scratch: in use or pooled for the next call */
    uint64_t scratch_peak_bytes; /* most scratch in use by calls at once since the last trim */
    uint64_t buffers;            /* number of cl_mem objects held */
};
ORDO_API ordo_status ordo_device_memory(ordo_device *device, struct ordo_memory *out);

/* Gives pooled scratch back to the driver and restarts the peaks. Commands still running keep theirs until done. */
ORDO_API ordo_status ordo_device_trim(ordo_device *device);

/* ---- tuning -------------------------------------------------------------------------------------------------- */

/* Where a tunable's value comes from. */
typedef enum ordo_origin { ORDO_ORIGIN_DEFAULT, ORDO_ORIGIN_SHIPPED, ORDO_ORIGIN_TUNED, ORDO_ORIGIN_SET } ordo_origin;

/* One tunable for one shape of data, such as "sort.k4v4.items": items per work-item when sorting 4-byte keys with
 * 4-byte values. */
struct ordo_tunable_info {
    char        name[48];
    const char *text; /* what it means */
    uint32_t    value;
    ordo_origin origin;
    bool        applies;   /* other values can be faster on this device */
    uint32_t    n_choices; /* the values that it may be set to */
    uint32_t    choice[16];
};

/* The i-th tunable, i from 0; ORDO_INVALID past the last. */
ORDO_API ordo_status ordo_device_tunable(ordo_device *device, size_t i, struct ordo_tunable_info *out);

/* Sets a tunable on this device object only. ORDO_INVALID: no such name, or not one of its choices. What a combination
 * asks beyond the device (larger groups, more local memory, look-back without progress) each call lowers to what fits.
 * A kernel that the driver then still cannot run, for its registers say, makes the call fail: ORDO_UNSUPPORTED. */
ORDO_API ordo_status ordo_device_set_tunable(ordo_device *device, const char *name, uint32_t value);

/* Writes every tunable whose origin is TUNED or SET to the user's profile for this device, which each later open
 * reads. The file: $ORDO_PROFILE if set, else $XDG_CONFIG_HOME/ordo/<device>.profile (~/.config without it).
 * Directories of it that are missing are made. path receives its name if not NULL, cut to path_bytes with the 0 at its end.
 * Only the user can read a new file. A link at that place is replaced, not followed.
 * ORDO_IO if it cannot be written. */
ORDO_API ordo_status ordo_device_save_profile(ordo_device *device, char *path, size_t path_bytes);

/* ---- order --------------------------------------------------------------------------------------------------- */

/* Where a call stands among the caller's own commands. NULL instead of a pointer to it: the device's own queue, no
 * wait list, no event.
 *
 * Wait lists  ORDO_INVALID for NULL in the list, what is no event, and events of another context; ORDO_OPENCL, with the
 *             event's own code as ordo_device_last_cl_error, for one that has failed already. Nothing is enqueued then.
 * Blocking    A call that changes a dictionary, or waits for the device, blocks until the events in the list are complete,
 *             user events included: another thread must set them. So do queries that must first build something
 *             (dict.h). Ordo's lock is not held meanwhile. If an event fails, the call returns ORDO_OPENCL and changes
 *             nothing. A call that changes a dictionary also waits for events that earlier calls on its queue wait for.
 * Failure     Other calls pass the list to the driver. If an event fails later, each of them is done as a whole or not at
 *             all, as are calls without a list behind them in the queue; order->done then fails, and outputs are undefined.
 *             Calls made after that are right. (PoCL before version 4 ends the process or hangs when an event fails
 *             that commands wait for.)
 *             If a command of the caller's fails and the driver drops commands that change a dictionary, the next call
 *             checks it on the device, and returns ORDO_BROKEN if it is not sound. */
struct ordo_order {
    cl_command_queue queue;  /* of the device's context; NULL: the device's own queue. In-order and out-of-order both
                                work; an out-of-order queue gets a barrier between the kernels of one call */
    cl_uint          n_wait; /* events in wait */
    const cl_event  *wait;   /* start after these */
    cl_event        *done;   /* receives an event that the caller releases; NULL if not wanted. It is a marker, which
                                starts and ends at once: on an in-order queue with profiling, a call takes from the
                                CL_PROFILING_COMMAND_END of the marker before it to that of its own */
};

/* Waits until the device's own queue is empty. */
ORDO_API ordo_status ordo_device_finish(ordo_device *device);

#ifdef __cplusplus
}
#endif

#endif
