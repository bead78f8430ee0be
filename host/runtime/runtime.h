/* SPDX-License-Identifier: Apache-2.0 */
/* The other layers use OpenCL only through these functions. A call locks the device while it enqueues commands:
 *
 *    struct ordo_call call;
 *    ORDO_TRY(ordo_call_begin(&call, dev, order));            // locks the device
 *    return ordo_call_end(&call, enqueue_scan(&call, ...));   // creates the event, unlocks */
#ifndef ORDO_RUNTIME_H
#define ORDO_RUNTIME_H

#include "ordo/array.h"

#include <string.h>

/* ---- errors: error.c ----------------------------------------------------------------------------------------- */

/* Records the device's last error and returns `status`. `code` is an OpenCL error code, or 0. If `format` is NULL, the
 * message is the text of `status`. */
ordo_status ordo_fail(ordo_device *dev, ordo_status status, cl_int code, const char *file, int line, const char *format,
                      ...) __attribute__((format(printf, 6, 7)));
double      ordo_now_ms(void);
void ordo_log(ordo_device *dev, ordo_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* If `expr` fails, it must have recorded the error message. */
#define ORDO_TRY(expr)                                                                                                 \
    do {                                                                                                               \
        const ordo_status try_ = (expr);                                                                               \
        if (try_ != ORDO_OK)                                                                                           \
            return try_;                                                                                               \
    } while (0)

#define ORDO_FAIL(dev, status, ...) ordo_fail((dev), (status), 0, __FILE__, __LINE__, __VA_ARGS__)

#define ORDO_REQUIRE(dev, cond, status, ...)                                                                           \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            return ORDO_FAIL((dev), (status), __VA_ARGS__);                                                            \
    } while (0)

#define ORDO_REQUIRE_GIVEN(dev, argument) ORDO_REQUIRE(dev, (argument) != NULL, ORDO_INVALID, "%s is NULL", #argument)

#define ORDO_AT_MOST "a call takes up to %zu (ORDO_MAX_COUNT)"
#define ORDO_REQUIRE_COUNT(dev, name, count)                                                                           \
    ORDO_REQUIRE(dev, (count) <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "%s is %zu: " ORDO_AT_MOST, (name), (size_t) (count), \
                 ORDO_MAX_COUNT)

#define ORDO_REQUIRE_MEMORY(dev, block) ORDO_REQUIRE(dev, (block) != NULL, ORDO_NO_HOST_MEMORY, NULL)

#define ORDO_TRY_CL(dev, code_expr, ...)                                                                               \
    do {                                                                                                               \
        const cl_int code_ = (code_expr);                                                                              \
        if (code_ != CL_SUCCESS)                                                                                       \
            return ordo_fail_cl((dev), code_, __FILE__, __LINE__, __VA_ARGS__);                                        \
    } while (0)
/* Records an OpenCL error. Depending on `code`, returns ORDO_DEVICE_FAILED, ORDO_NO_DEVICE_MEMORY, ORDO_NO_HOST_MEMORY
 * or ORDO_OPENCL. */
ordo_status ordo_fail_cl(ordo_device *dev, cl_int code, const char *file, int line, const char *what, ...)
    __attribute__((format(printf, 5, 6)));

/* For OpenCL calls that wait for the device. These calls also report failed kernels. */
#define ORDO_TRY_WAIT(dev, code_expr, what) ORDO_TRY(ordo_waited((dev), (code_expr), __FILE__, __LINE__, (what)))
ordo_status ordo_waited(ordo_device *dev, cl_int code, const char *file, int line, const char *what);

#ifdef __clang_analyzer__ /* tells the analyzer that these functions never return ORDO_OK */
#define ordo_fail(dev, status, ...)  ((void) ordo_fail((dev), (status), __VA_ARGS__), (status))
#define ordo_fail_cl(dev, code, ...) ((void) ordo_fail_cl((dev), (code), __VA_ARGS__), ORDO_OPENCL)
#endif

static inline bool ordo_lacks_memory(ordo_status status)
{
    return status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE;
}

/* ---- buffers: memory.c --------------------------------------------------------------------------------------- */

/* Creates a buffer that outlives the call. Returns ORDO_TOO_LARGE if `bytes` exceeds the largest allocation. Returns
 * ORDO_NO_DEVICE_MEMORY if all buffers together exceed the memory limit. */
ordo_status ordo_buffer_create(ordo_device *dev, size_t bytes, cl_mem *out);
/* Sets *mem to NULL. OpenCL keeps the memory until enqueued commands have ended. */
void ordo_buffer_destroy(ordo_device *dev, cl_mem *mem);

/* An object that caches buffers. If memory is lacking, `give` is called while the device is locked. It must free the
 * cached buffers. */
struct ordo_reserve {
    struct ordo_reserve *next;
    void (*give)(struct ordo_reserve *reserve);
};
void ordo_reserve_join(ordo_device *dev, struct ordo_reserve *reserve);
void ordo_reserve_leave(ordo_device *dev, struct ordo_reserve *reserve);

/* Returns a buffer over the caller's memory at `host`, or NULL on GPUs and after an error. A blocking read into `host`
 * makes kernels' results visible there. Release the buffer only after its last command has ended. */
cl_mem ordo_buffer_over(ordo_device *dev, void *host, size_t bytes);
void   ordo_buffer_leave(ordo_device *dev, cl_mem *mem);

/* Returns true if ordo_read_once (cl/device/compiler.cl) reads without filling the caches. */
bool ordo_device_reads_once(const ordo_device *dev);

/* ---- holders of a device: device.c ------------------------------------------------------------------------------ */

/* Each object holds one reference. Releasing the last reference destroys the device. */
void ordo_device_hold(ordo_device *dev);
void ordo_device_release(ordo_device *dev);
/* Returns ORDO_FORKED in the child of a fork. A function that creates an object without ordo_call_begin must call
 * this. */
ordo_status ordo_device_check_fork(ordo_device *dev);

/* ---- calls: order.c, call.c ----------------------------------------------------------------------------------- */

#define ORDO_CALL_SCRATCH_MAX 48

struct ordo_call {
    ordo_device             *dev;
    const struct ordo_order *order;
    cl_command_queue         queue;
    bool                     out_of_order;
    bool                     lacks_barrier;
    cl_event                *wait;
    cl_uint                  n_wait;
    cl_uint                  n_pending; /* The first n_pending events of `wait` may be incomplete. */
    bool                     passed;    /* A command with the call's wait list was enqueued. */
    bool                     again;
    bool                     changes; /* The call changes an object from a queue of the caller's. */
    cl_event                 begun;   /* Event of the first command that may change the object, or NULL. */
    cl_event                 ended;   /* The object's event after all commands of the call, or NULL. */
    cl_command_queue         retained;
    struct ordo_block       *scratch[ORDO_CALL_SCRATCH_MAX];
    int                      n_scratch;
};

/* Checks the device and the order, then locks the device. If it fails, the device is not locked. */
ordo_status ordo_call_begin(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order);
/* Creates order->done, returns scratch to the pool and unlocks the device. Returns `status`, or the error of creating
 * the event. */
ordo_status ordo_call_end(struct ordo_call *call, ordo_status status);

/* Returns an uninitialised temporary buffer (scratch). Later calls reuse it only after the commands of this call. */
ordo_status ordo_call_scratch(struct ordo_call *call, size_t bytes, cl_mem *out);
/* Returns zeroed scratch. The call's kernels must leave zeros in it, because later calls reuse it. */
ordo_status ordo_call_zeroed(struct ordo_call *call, size_t bytes, cl_mem *out);
/* Returns a temporary buffer. Kernels may mark its words with *stamp, a number that no word contains yet. It is between
 * 1 and `max`. */
ordo_status ordo_call_stamped(struct ordo_call *call, size_t bytes, uint32_t max, cl_mem *out, cl_uint *stamp);

/* Returns scratch to the pool, except the first `mark` blocks. `mark` is an earlier value of call->n_scratch. */
void ordo_call_release(struct ordo_call *call, int mark);
/* Like ordo_call_release, but for a step that failed. Its kernels may have left any data in its blocks, so the pool
 * treats them as uninitialised. */
void ordo_call_abandon(struct ordo_call *call, int mark);
/* Executes an optional step. If it lacks memory, sets *lacked and releases the step's scratch. Returns other errors. */
#define ORDO_CALL_TRY(call, expr, lacked)                                                                              \
    do {                                                                                                               \
        const int         mark_ = (call)->n_scratch;                                                                   \
        const ordo_status status_ = (expr);                                                                            \
        ORDO_TRY(ordo_call_lacks((call), mark_, status_, (lacked)));                                                   \
    } while (0)
ordo_status ordo_call_lacks(struct ordo_call *call, int mark, ordo_status status, bool *lacked);

/* The last call on an object, such as a dictionary. Must be initialized with zeros. */
struct ordo_last_call {
    cl_command_queue queue; /* retained, or NULL */
    cl_event         done;  /* Event after the last call, or NULL if no marker is enqueued yet. */
    cl_event         begun; /* Event of the first command of the last call that changed the object, or NULL. */
    bool             dropped;
};
/* Begins a call on an object. Its commands run after the object's last call, even in another queue. If `waits` is true,
 * the host first waits for the wait list, without the lock. Returns ORDO_OPENCL if an event has failed. */
ordo_status ordo_call_begin_after(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order,
                                  struct ordo_last_call *last, bool waits);
/* Like ordo_call_begin_after. But if `waits` is true, the host also waits for earlier commands of the caller's queue. A
 * driver may drop a part of a call that follows a failed command. */
ordo_status ordo_call_begin_alone(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order,
                                  struct ordo_last_call *last, bool waits);
/* Must be called before the host waits for the device. If the wait list has incomplete events, fails without an error
 * message and sets call->again. The caller must then begin the call again, with `waits` true. */
ordo_status ordo_call_settled(struct ordo_call *call);
/* Must be called before a command or the host changes the object. If it sets call->again, the caller must begin the
 * call again. If the driver drops commands of this call, the next call on the object detects it. */
ordo_status ordo_call_changes(struct ordo_call *call);
/* Must be called at the end of each call on an object, also after an error. */
void ordo_call_remember(struct ordo_call *call, struct ordo_last_call *last);
/* Returns true if the driver dropped commands that should have changed the object. Reports each loss once. */
bool ordo_last_call_dropped(ordo_device *dev, struct ordo_last_call *last);
/* Must be called when the object is rebuilt. */
void ordo_last_call_trust(struct ordo_last_call *last);
void ordo_last_call_forget(const ordo_device *dev, struct ordo_last_call *last);

/* ---- launches and other commands: call.c, builds.c ---------------------------------------------------------- */

/* A -D option of the compiler. A list of options ends with { NULL, 0 }. The option ORDO_MAX_REGISTERS also limits the
 * registers per work-item, if the driver can do this. */
struct ordo_define {
    const char *name;
    long        value;
};

#define ORDO_DEFINES_MAX 20

struct ordo_launch {
    const char        *file, *kernel;
    size_t             groups, group; /* work-groups, and work-items per group */
    struct ordo_define defines[ORDO_DEFINES_MAX + 1];
};
void ordo_launch_define(struct ordo_launch *launch, const char *name, long value);

struct ordo_arg {
    size_t      bytes;
    const void *value; /* NULL: local memory */
};
#define ORDO_ARG(x) ((struct ordo_arg) { sizeof(x), &(x) })
#define ORDO_ARGS(...)                                                                                                 \
    ((struct ordo_arg[]) { __VA_ARGS__ }), sizeof((struct ordo_arg[]) { __VA_ARGS__ }) / sizeof(struct ordo_arg)

/* Variables passed to ORDO_ARG must live until the launch. The struct contains pointers into itself, so do not copy or
 * move it. */
struct ordo_args {
    struct ordo_arg arg[64];
    size_t          n;
    cl_ulong        at[12];
    size_t          n_at;
};
void ordo_args_add(struct ordo_args *args, const struct ordo_arg *more, size_t n);
#define ORDO_ADD(args, ...) ordo_args_add((args), ORDO_ARGS(__VA_ARGS__))
/* Adds two arguments: the slice's buffer, and the index of its first element. */
void ordo_args_slice(struct ordo_args *args, const struct ordo_slice *slice);

/* Builds the kernel if necessary. Returns ORDO_UNSUPPORTED if the work-group is too large for the kernel. Does nothing
 * if launch->groups is 0. A cl_mem argument may be NULL. */
ordo_status ordo_call_launch(struct ordo_call *call, const struct ordo_launch *launch, const struct ordo_args *args);

/* A kernel lives as long as the device. */
struct ordo_kernel;
ordo_status ordo_call_kernel(struct ordo_call *call, const char *file, const char *name,
                             const struct ordo_define *defines, struct ordo_kernel **out);
ordo_status ordo_call_launch_kernel(struct ordo_call *call, struct ordo_kernel *kernel, size_t groups,
                                    size_t group_size, const struct ordo_arg *args, size_t n_args);

/* Offsets and sizes are in bytes. A fill needs offsets and sizes that are multiples of 4. */
ordo_status ordo_call_fill(struct ordo_call *call, cl_mem mem, size_t at, size_t bytes, uint32_t word);
ordo_status ordo_call_copy(struct ordo_call *call, cl_mem from, size_t from_at, cl_mem to, size_t to_at, size_t bytes);
ordo_status ordo_call_write(struct ordo_call *call, cl_mem to, size_t at, const void *from, size_t bytes);
ordo_status ordo_call_read(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes);
/* Tries twice. For reads after a change of a dictionary: an error would report that nothing changed. */
ordo_status ordo_call_read_after_change(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes);
/* Transfers without blocking. Until the event *done is complete, the caller must neither free nor write the host
 * memory. `done` may be NULL. */
ordo_status ordo_call_send(struct ordo_call *call, cl_mem to, size_t at, const void *from, size_t bytes,
                           cl_event *done);
ordo_status ordo_call_fetch(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes, cl_event *done);

/* Transfers that may still run. */
enum { ORDO_TRANSFERS_MAX = 18 };
struct ordo_pending_transfers {
    cl_event event[ORDO_TRANSFERS_MAX];
    cl_uint  n;
};
/* Waits until all have ended, and removes them. Fails if one failed. If `unlocked` is true, unlocks the device
 * meanwhile. Only the last step of a call may do this. */
ordo_status ordo_call_await(struct ordo_call *call, struct ordo_pending_transfers *transfers, bool unlocked);

/* Returns ORDO_INVALID if the slice has fewer than `count` elements of `bytes` bytes, or if its buffer belongs to
 * another context. If `bytes` is 0, the slice must be ordo_none(). */
ordo_status ordo_check_slice(ordo_device *dev, const char *name, struct ordo_slice slice, size_t count, size_t bytes);
/* Returns ORDO_INVALID if the buffer lies in host memory whose address is no multiple of `align`. */
ordo_status ordo_check_aligned(ordo_device *dev, const char *name, cl_mem mem, size_t align);
bool ordo_slices_overlap(struct ordo_slice a, size_t a_count, size_t a_bytes, struct ordo_slice b, size_t b_count,
                         size_t b_bytes);

/* ---- small arrays: staging.c ------------------------------------------------------------------------------------- */

/* A stage holds all small arrays of a call. It has pinned host memory and a device buffer. On a CPU these are the same
 * memory. */
#define ORDO_STAGE_BYTES ((size_t) 64 << 10)
struct ordo_stage;

/* Returns NULL if `bytes` do not fit or no stage is free. */
struct ordo_stage *ordo_stage_take(struct ordo_call *call, size_t bytes);
/* `idle`: all commands that use the stage have ended. */
void   ordo_stage_give(ordo_device *dev, struct ordo_stage *stage, bool idle);
char  *ordo_stage_host(const struct ordo_stage *stage);
cl_mem ordo_stage_buffer(const struct ordo_stage *stage);

/* Enqueues an upload of the first `bytes` bytes of the stage's host memory. On a CPU, creates the stage's buffer over
 * this memory, and uploads nothing. If the driver refuses this buffer, ordo_stage_buffer returns NULL. */
ordo_status ordo_stage_send(struct ordo_call *call, struct ordo_stage *stage, size_t bytes);
/* Enqueues a download to the stage's host memory. */
ordo_status ordo_stage_fetch(struct ordo_call *call, struct ordo_stage *stage, size_t at, size_t bytes,
                             struct ordo_pending_transfers *pending);
/* Must be called when this download has ended. */
void ordo_stage_received(ordo_device *dev, const struct ordo_stage *stage);

/* ---- large arrays: transfer.c ---------------------------------------------------------------------------------- */

struct ordo_transfer {
    cl_mem      mem;
    size_t      at; /* in bytes */
    const void *from;
    void       *to;
    size_t      bytes;
};
/* Transfers arrays, and may reorder the list. After success or an error, the caller must call ordo_call_await. */
ordo_status ordo_call_transfer(struct ordo_call *call, bool up, struct ordo_transfer *arrays, size_t n,
                               struct ordo_pending_transfers *pending);

/* ---- transfers that overlap kernels: overlap.c ------------------------------------------------------------------- */

/* Returns the number of bytes that a piece of a batch should transfer. Returns 0 if batches should stay whole. */
size_t ordo_piece_bytes(const ordo_device *dev);

/* Calls in a queue for uploads and a queue for downloads. */
struct ordo_overlap {
    struct ordo_call up, down;
};
/* Must be called after the call has taken the scratch that it transfers. */
ordo_status ordo_overlap_begin(struct ordo_call *call, struct ordo_overlap *out);
/* Transfers arrays, and may reorder the list. After success or an error, the caller must call ordo_call_await with the
 * queue's call. The downloads wait for the event `after` of the device's queue, which ordo_overlap_fetch releases. */
ordo_status ordo_overlap_send(struct ordo_overlap *overlap, struct ordo_transfer *arrays, size_t n,
                              struct ordo_pending_transfers *pending);
ordo_status ordo_overlap_fetch(struct ordo_overlap *overlap, cl_event after, struct ordo_transfer *arrays, size_t n,
                               struct ordo_pending_transfers *pending);

/* ---- memory of ordo_host_alloc: memory.c ------------------------------------------------------------------------- */

/* Returns true if the memory lies in one block of the device's ordo_host_alloc. */
bool ordo_is_pinned(ordo_device *dev, const void *memory, size_t bytes);

/* ---- dry runs and building ahead: dry_run.c, builds.c ------------------------------------------------------------ */

/* Divides builds between processes. This process builds the requested program i, counted from 0, if i modulo `parts` is
 * `part`. If `parts` is 0, it builds all programs. */
struct ordo_gathering {
    uint32_t part, parts;
    size_t   n;
};

/* Opens a device whose calls launch nothing. Instead, `dev` builds the kernels that the calls need. `gathering` (may be
 * NULL) selects the programs that this process builds. Reads return invented data. Close *out after its objects and
 * before `dev`. Only one thread may use *out. */
ordo_status ordo_dry_run_open(ordo_device *dev, struct ordo_gathering *gathering, ordo_device **out);
void        ordo_dry_run_close(ordo_device **dry_run);
/* Must be called before each call on the dry-run device. Sets the word that all reads of this call return. */
void ordo_dry_run_answer(ordo_device *dry_run, uint32_t answer);
bool ordo_is_dry_run(const ordo_device *dev);

bool ordo_builds_ahead(const ordo_device *dev);
/* Returns true on the first call with this `name` and `type`. Without build threads, returns false. */
bool ordo_builds_expect(ordo_device *dev, const char *name, uint32_t type);
/* Begins a preparation, which ordo_builds_finish ends. Several preparations may run concurrently. */
void ordo_builds_begin(ordo_device *dev);
/* Builds the requested programs. If `progress` returns false, cancels the rest and returns ORDO_CANCELLED. Otherwise
 * returns the first failed program's error. `progress` may be NULL. */
ordo_status ordo_builds_finish(ordo_device *dev, bool (*progress)(void *user, size_t done, size_t total), void *user,
                               size_t *built, size_t *failed);

/* ---- tunables: profile.c ------------------------------------------------------------------------------------- */

/* Sizes of key and value in bytes: K4V8 means 4-byte keys with 8-byte values. Keys and values of 16 bytes use the
 * tunables of 8 bytes. */
enum ordo_shape { ORDO_K4V0, ORDO_K4V4, ORDO_K4V8, ORDO_K8V0, ORDO_K8V4, ORDO_K8V8, ORDO_N_SHAPES };
enum ordo_shape ordo_shape_of(size_t key_bytes, size_t value_bytes);

enum ordo_sort_method { ORDO_SORT_ONESWEEP = 0, ORDO_SORT_REDUCE_SCAN = 1, ORDO_SORT_CHUNKED = 2 };
enum ordo_scan_method { ORDO_SCAN_LOOKBACK = 0, ORDO_SCAN_REDUCE = 1 };

/* PAIR: a tunable's best value depends on the sizes of key and value. KEY: it depends only on the key's size. */
enum ordo_tunable_scope { ORDO_TUNABLE_PAIR, ORDO_TUNABLE_KEY };

/* Other values of a tunable may be faster on these devices:
 *
 *   ANY        all devices
 *   GROUPS     all devices except CPUs
 *   LANES      devices with sub-group operations, except CPUs
 *   PROGRESS   devices on which a work-group can safely wait for another, except CPUs */
enum ordo_tunable_facts { ORDO_TUNABLE_ANY, ORDO_TUNABLE_GROUPS, ORDO_TUNABLE_LANES, ORDO_TUNABLE_PROGRESS };

/* X(id in capitals, name, scope, facts, default, description, permitted values) */
#define ORDO_TUNABLE_MAP(X)                                                                                            \
    X(SORT_METHOD, "sort.method", PAIR, GROUPS, 1, "0 one-sweep, 1 reduce-scan, 2 chunked", 0, 1, 2)                   \
    X(SORT_DIGIT_BITS, "sort.digit_bits", PAIR, ANY, 8, "bits a pass", 4, 5, 6, 7, 8)                                  \
    X(SORT_GROUP, "sort.group", PAIR, GROUPS, 256, "work-items a group", 1, 64, 128, 256, 384, 512, 1024)              \
    X(SORT_ITEMS, "sort.items", PAIR, ANY, 8, "items a work-item (chunked: 1000s a chunk)", 4, 5, 7, 8, 9, 11, 12, 13, \
      15, 16, 18, 19, 21, 23)                                                                                          \
    X(SORT_REGISTERS, "sort.registers", PAIR, GROUPS, 0, "limit of registers; 0: none", 0, 40, 48, 64, 80, 96, 128)    \
    X(SORT_MERGED, "sort.merged", PAIR, GROUPS, 16, "limit of tiles of a sort in two launches; 0: never", 0, 4, 8, 16, \
      32, 64)                                                                                                          \
    X(SORT_SMALL_GROUP, "sort.small_group", PAIR, GROUPS, 256, "group of the one-launch sort; 1: unused", 1, 64, 128,  \
      256, 512, 1024)                                                                                                  \
    X(SORT_SMALL_ITEMS, "sort.small_items", PAIR, GROUPS, 4, "items of the one-launch sort", 2, 4, 6, 8, 12, 16)       \
    X(SORT_LOCAL, "sort.local", PAIR, ANY, 22,                                                                         \
      "log2 of the count from which a sort may end in local memory (8-byte keys) or a cache; 0: never", 0, 12, 16, 18, \
      19, 20, 21, 22, 24)                                                                                              \
    X(SORT_LOCAL_GROUP, "sort.local_group", PAIR, GROUPS, 256, "group of the local pass; 1: unused", 1, 64, 128, 256,  \
      512, 1024)                                                                                                       \
    X(SORT_LOCAL_ITEMS, "sort.local_items", PAIR, GROUPS, 8, "items a work-item of the local pass", 4, 8, 12, 16)      \
    X(SCAN_METHOD, "scan.method", KEY, PROGRESS, 1, "0 look-back, 1 reduce-then-scan", 0, 1)                           \
    X(SCAN_GROUP, "scan.group", KEY, GROUPS, 256, "work-items a group", 1, 64, 128, 256, 512)                          \
    X(SCAN_ITEMS, "scan.items", KEY, ANY, 8, "items a work-item", 4, 8, 12, 16, 20, 24, 1024, 4096)                    \
    X(COMPACT_GROUP, "compact.group", KEY, GROUPS, 256, "work-items a group", 1, 64, 128, 256, 512)                    \
    X(COMPACT_ITEMS, "compact.items", KEY, ANY, 8, "items a work-item", 4, 8, 12, 16, 20, 24, 1024, 4096)              \
    X(BY_KEY_GROUP, "by_key.group", KEY, GROUPS, 256, "work-items a group", 1, 64, 128, 256, 512)                      \
    X(BY_KEY_ITEMS, "by_key.items", KEY, ANY, 8, "items a work-item", 4, 8, 12, 16, 20, 24, 1024, 4096)                \
    X(TOP_GROUP, "top.group", KEY, GROUPS, 256, "work-items a group", 1, 64, 128, 256, 512)                            \
    X(TOP_ITEMS, "top.items", KEY, ANY, 16, "items a work-item and round", 4, 8, 16, 32, 64, 1024, 4096)               \
    X(MERGE_GROUP, "merge.group", PAIR, GROUPS, 128, "work-items a group", 1, 64, 128, 256, 512)                       \
    X(MERGE_ITEMS, "merge.items", PAIR, ANY, 7, "items a work-item", 4, 5, 7, 8, 9, 11, 13, 15, 17, 1024, 4096)        \
    X(MERGE_STAGED, "merge.staged", PAIR, GROUPS, 0, "1: values pass through local memory", 0, 1)                      \
    X(MERGE_RUNS_GROUP, "merge_runs.group", PAIR, GROUPS, 128, "work-items a group", 1, 64, 128, 256, 512)             \
    X(MERGE_RUNS_ITEMS, "merge_runs.items", PAIR, ANY, 8, "items a work-item (group 1: a chunk)", 5, 7, 8, 9, 11, 13,  \
      15, 17, 1024, 4096)                                                                                              \
    X(SEARCH_NODE_KEYS, "search.node_keys", KEY, ANY, 16, "keys a node of a static index", 8, 16, 32)                  \
    X(SEARCH_LAYOUT, "search.layout", KEY, ANY, 0, "of an index: 0 level order, 1 blocked", 0, 1)                      \
    X(SEARCH_SIMD_DEPTH, "search.simd_depth", KEY, ANY, 0, "levels a SIMD block (blocked); 0: by the device", 0, 1, 2, \
      3, 4, 5)                                                                                                         \
    X(SEARCH_LINE_DEPTH, "search.line_depth", KEY, ANY, 0, "levels a line (blocked); 0: by the device", 0, 1, 3, 4, 5) \
    X(SEARCH_PAGE_DEPTH, "search.page_depth", KEY, ANY, 0,                                                             \
      "levels a page (blocked), cut to whole lines; 0: by the device; 31: one page", 0, 4, 5, 8, 10, 12, 15, 16, 20,   \
      31)                                                                                                              \
    X(SEARCH_LANES, "search.lanes", KEY, LANES, 2, "lanes a query", 1, 2, 4, 8)                                        \
    X(SEARCH_GROUP, "search.group", KEY, GROUPS, 256, "work-items a group", 1, 32, 64, 128, 256, 512)                  \
    X(SEARCH_ITEMS, "search.items", KEY, ANY, 1, "queries in flight a work-item", 1, 2, 4, 8, 16, 32, 64, 128)         \
    X(SEARCH_LOCAL_KEYS, "search.local_keys", KEY, ANY, 4096, "limit of keys in local memory", 256, 1024, 4096, 8192)  \
    X(SEARCH_TILE, "search.tile", KEY, ANY, 8, "sorted queries a work-item", 1, 2, 4, 8, 16)                           \
    X(SEARCH_BUFFERED, "search.buffered", KEY, ANY, 0,                                                                 \
      "log2 of keys from which random queries are partitioned; 0: never", 0, 20, 22, 24, 26, 28, 30)                   \
    X(SEARCH_SORT_QUERIES, "search.sort_queries", KEY, ANY, 0,                                                         \
      "keys a query up to which random queries are sorted; 0: never", 0, 1, 2, 4, 8, 16)                               \
    X(BLINK_LANES, "blink.lanes", KEY, LANES, 4, "lanes a query of a tree", 1, 2, 4, 8)                                \
    X(BLINK_GROUP, "blink.group", KEY, ANY, 128, "work-items a group", 32, 64, 128, 256, 512)                          \
    X(BLINK_ITEMS, "blink.items", KEY, ANY, 1, "queries in flight a work-item", 1, 2, 4, 8, 16, 32)                    \
    X(LTREE_LANES, "links.lanes", KEY, LANES, 1, "lanes a concurrent operation; Khronos: 1 or a sub-group", 1, 8, 16,  \
      32)                                                                                                              \
    X(LTREE_FINDS, "links.finds", KEY, ANY, 2, "concurrent finds: 0 beside updates, 1 first, 2 first if many", 0, 1,   \
      2)                                                                                                               \
    X(LTREE_GROUP, "links.group", KEY, ANY, 64, "work-items a group; above 256 with few registers", 32, 64, 128, 256,  \
      512, 768, 1024)                                                                                                  \
    X(LTREE_COUPLED, "links.coupled", KEY, ANY, 0, "1: a descent latches each node before it releases the one above",  \
      0, 1)                                                                                                            \
    X(LTREE_RETRY, "links.retry", KEY, ANY, 0, "at a latched node: 0 look again, 1 wait ever longer, 2 restart", 0, 1, \
      2)                                                                                                               \
    X(LTREE_FENCES, "links.fences", KEY, ANY, 0, "1: fences also on devices that need none", 0, 1)                     \
    X(LTREE_UNCACHED, "links.uncached", KEY, ANY, 0, "1: descents bypass the caches", 0, 1)                            \
    X(XFAST_LANES, "xfast.lanes", KEY, LANES, 1, "lanes that look up all levels at once; 1: a binary search", 1, 8,    \
      16, 32)                                                                                                          \
    X(STRINGS_LANES, "strings.lanes", KEY, LANES, 1, "lanes a query of an index of strings", 1, 2, 4, 8, 16)

enum ordo_tunable {
#define X(id, ...) ORDO_##id,
    ORDO_TUNABLE_MAP(X)
#undef X
        ORDO_N_TUNABLES
};

enum { ORDO_INDEX_LEVEL_ORDER, ORDO_INDEX_BLOCKED };

/* Older names. */
#define ORDO_RUNS_GROUP    ORDO_MERGE_RUNS_GROUP
#define ORDO_RUNS_ITEMS    ORDO_MERGE_RUNS_ITEMS
#define ORDO_SEARCH_NODE   ORDO_SEARCH_NODE_KEYS
#define ORDO_SEARCH_LOCAL  ORDO_SEARCH_LOCAL_KEYS
#define ORDO_SEARCH_SORTED ORDO_SEARCH_SORT_QUERIES

uint32_t ordo_tunable(const ordo_device *dev, enum ordo_tunable tunable, enum ordo_shape shape);

#endif
