/* SPDX-License-Identifier: Apache-2.0 */
/* What the layers above may use of OpenCL: errors, calls (a locked stretch of launches with their scratch), kernels,
 * buffers, tunables. Only host/runtime calls clXxx.
 *
 * A primitive reads:
 *
 *     struct ordo_call call;
 *     ORDO_TRY(ordo_call_begin(&call, dev, order));            // locks the device
 *     return ordo_call_end(&call, enqueue_scan(&call, ...));   // event out, scratch back to the pool, unlocks
 *
 * and in enqueue_scan, line by line: ORDO_TRY(ordo_call_scratch(...)), ORDO_TRY(ordo_call_kernel(...)),
 * ORDO_TRY(ordo_call_launch_kernel(...)).
 */
#ifndef ORDO_RUNTIME_H
#define ORDO_RUNTIME_H

#include "ordo/ordo.h"

#include <string.h>

/* ---- errors: error.c ----------------------------------------------------------------------------------------- */

/* Records the message of a failed call (log, last error) and returns `status`. `code`: OpenCL's, or 0. `format` gives the
 * fact, which the message begins with; NULL: what the status says. */
ordo_status ordo_fail(ordo_device *dev, ordo_status status, cl_int code, const char *file, int line, const char *format,
                      ...) __attribute__((format(printf, 6, 7)));
double      ordo_now_ms(void);
void ordo_log(ordo_device *dev, ordo_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Leaves the function with the status of a call that failed; what failed has recorded the message. */
#define ORDO_TRY(expr)                                                                                                 \
    do {                                                                                                               \
        const ordo_status try_ = (expr);                                                                               \
        if (try_ != ORDO_OK)                                                                                           \
            return try_;                                                                                               \
    } while (0)

/* A precondition, and the sentence that the user reads where it does not hold, which has the values:
 *     ORDO_REQUIRE(dev, bits <= 64, ORDO_INVALID, "bits is %u: a key has 64", bits);
 * Below, the same for what is asked often. */
#define ORDO_REQUIRE(dev, cond, status, ...)                                                                           \
    do {                                                                                                               \
        if (!(cond))                                                                                                   \
            return ORDO_FAIL((dev), (status), __VA_ARGS__);                                                            \
    } while (0)

/* An argument that may not be NULL, by the name that the headers give it. */
#define ORDO_REQUIRE_GIVEN(dev, argument) ORDO_REQUIRE(dev, (argument) != NULL, ORDO_INVALID, "%s is NULL", #argument)

/* A number of elements that one call takes. */
#define ORDO_AT_MOST "a call takes up to %zu (ORDO_MAX_COUNT)"
#define ORDO_REQUIRE_COUNT(dev, name, count)                                                                           \
    ORDO_REQUIRE(dev, (count) <= ORDO_MAX_COUNT, ORDO_TOO_LARGE, "%s is %zu: " ORDO_AT_MOST, (name), (size_t) (count), \
                 ORDO_MAX_COUNT)

/* What malloc and its like returned. */
#define ORDO_REQUIRE_MEMORY(dev, block) ORDO_REQUIRE(dev, (block) != NULL, ORDO_NO_HOST_MEMORY, NULL)

/* Wraps the code of an OpenCL call made in host/runtime, and what was called: "clSetKernelArg of %s", name. */
#define ORDO_TRY_CL(dev, code_expr, ...)                                                                               \
    do {                                                                                                               \
        const cl_int code_ = (code_expr);                                                                              \
        if (code_ != CL_SUCCESS)                                                                                       \
            return ordo_fail_cl((dev), code_, __FILE__, __LINE__, __VA_ARGS__);                                        \
    } while (0)
/* ORDO_NO_DEVICE_MEMORY for the codes that mean it, unless the device has failed; else ORDO_OPENCL. */
ordo_status ordo_fail_cl(ordo_device *dev, cl_int code, const char *file, int line, const char *what, ...)
    __attribute__((format(printf, 5, 6)));

/* The same of a call that waits for what was enqueued before: its code tells of a kernel that failed, too. */
#define ORDO_TRY_WAIT(dev, code_expr, what) ORDO_TRY(ordo_waited((dev), (code_expr), __FILE__, __LINE__, (what)))
ordo_status ordo_waited(ordo_device *dev, cl_int code, const char *file, int line, const char *what);

/* Fails with `status` and a message: ORDO_FAIL(dev, ORDO_INVALID, "bits is %u: a key has 64", bits). A NULL format leaves
 * the text to the status. */
#define ORDO_FAIL(dev, status, ...) ordo_fail((dev), (status), 0, __FILE__, __LINE__, __VA_ARGS__)

#ifdef __clang_analyzer__ /* sees one file at a time, and would follow paths on which these return ORDO_OK */
#define ordo_fail(dev, status, ...)  ((void) ordo_fail((dev), (status), __VA_ARGS__), (status))
#define ordo_fail_cl(dev, code, ...) ((void) ordo_fail_cl((dev), (code), __VA_ARGS__), ORDO_OPENCL)
#endif

/* Whether a call failed for want of memory: none is left, or more than the device's largest allocation was asked for. */
static inline bool ordo_lacks_memory(ordo_status status)
{
    return status == ORDO_NO_DEVICE_MEMORY || status == ORDO_TOO_LARGE;
}

/* ---- kernels: program.c -------------------------------------------------------------------------------------- */

/* One -D of a kernel variant. Lists end with { NULL, 0 }. ORDO_MAX_REGISTERS limits the registers of a work-item where the
 * driver has an option for it; elsewhere, and with 0, it is left out. */
struct ordo_define {
    const char *name;
    long        value;
};

#define ORDO_DEFINES_MAX 20

/* One launch: a kernel of a module, its variant, and its size. Fill it in, then launch it:
 *
 *     struct ordo_launch launch = { .file = "primitive/scan.cl", .kernel = "scan_tiles", .groups = tiles, .group = 256 };
 *     ordo_launch_define(&launch, "SCAN_ITEMS", 8);
 *     ORDO_TRY(ordo_call_launch(call, &launch, &args));
 */
struct ordo_launch {
    const char        *file, *kernel;
    size_t             groups, group;                 /* work-groups, and work-items of each */
    struct ordo_define defines[ORDO_DEFINES_MAX + 1]; /* the last one has no name */
};
void ordo_launch_define(struct ordo_launch *launch, const char *name, long value);

struct ordo_kernel; /* a built kernel of one variant; lives as long as the device */

/* ---- buffers: memory.c --------------------------------------------------------------------------------------- */

/* Device memory that outlives a call (indexes, structures); counted and limited. 0 bytes gives a 1-byte buffer.
 * ORDO_TOO_LARGE above the largest allocation, ORDO_NO_DEVICE_MEMORY above the limit. */
ordo_status ordo_buffer_create(ordo_device *dev, size_t bytes, cl_mem *out);
/* Sets *mem to NULL. Commands that were enqueued with it run on: OpenCL keeps it for them. */
void ordo_buffer_destroy(ordo_device *dev, cl_mem *mem);

/* Who holds buffers for later that others may have when memory is short. `give` lets go of them; it is called within calls, whoever's
 * they are, whenever one asks for memory, and finds the device's lock taken. Until it leaves, it stays where it is. */
struct ordo_reserve {
    struct ordo_reserve *next;
    void (*give)(struct ordo_reserve *reserve);
};
void ordo_reserve_join(ordo_device *dev, struct ordo_reserve *reserve);
void ordo_reserve_leave(ordo_device *dev, struct ordo_reserve *reserve);

/* The caller's memory as a buffer, on a device that works in the same memory: nothing is copied, and no device memory taken.
 * NULL where that cannot be. What kernels wrote is there after a blocking read to where it is. `host` must stay until all
 * commands with the buffer are done; ordo_buffer_leave then lets go of it. */
cl_mem ordo_buffer_over(ordo_device *dev, void *host, size_t bytes);
void   ordo_buffer_leave(ordo_device *dev, cl_mem *mem);

/* Whether kernels can read so that the caches rather keep other things: ordo_read_once of cl/device/compiler.cl is more than a
 * read. */
bool ordo_device_reads_once(const ordo_device *dev);

/* ---- who holds a device: device.c ------------------------------------------------------------------------------ */

/* An object that outlives calls holds its device, so that this is there until the object is destroyed, whenever its opener
 * closes it. */
void ordo_device_hold(ordo_device *dev);
/* ORDO_FORKED in the child of a fork: before such an object is made without a call on the device. */
ordo_status ordo_device_check_fork(ordo_device *dev);
/* The last one closes it. */
void ordo_device_let_go(ordo_device *dev);

/* ---- calls: call.c ------------------------------------------------------------------------------------------- */

#define ORDO_CALL_SCRATCH_MAX 48

struct ordo_call {
    ordo_device             *dev;
    const struct ordo_order *order;
    cl_command_queue         queue;
    bool                     out_of_order; /* a barrier follows each command */
    cl_event                *wait;         /* the wait list of each of its commands, retained */
    cl_uint                  n_wait;
    cl_uint                  n_pending; /* so many of them, the first, may fail */
    bool                     passed;    /* a command has the list: its events are pending */
    bool                     turns;     /* its object's last call was on another queue; its own is retained */
    bool                     again;     /* it ended since events are pending: see ordo_call_settled */
    cl_event                 begun;     /* see ordo_call_changes */
    struct ordo_scratch     *scratch[ORDO_CALL_SCRATCH_MAX];
    int                      n_scratch;
};

/* Locks the device and checks it (NULL, fork) and the order's queue (context, device) and wait list (NULL, context, events
 * that have failed). On error nothing is locked. */
ordo_status ordo_call_begin(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order);
/* Hands the order's event out, returns scratch to the pool (safe: the queue is in order), unlocks. Returns `status`, or
 * the error of handing out. */
ordo_status ordo_call_end(struct ordo_call *call, ordo_status status);

/* Scratch of at least `bytes`, alive until the call's commands are done. Uninitialised. */
ordo_status ordo_call_scratch(struct ordo_call *call, size_t bytes, cl_mem *out);

/* The same, all zero, for counters: the call's commands leave it all zero again. Costs a fill only when a block is new. */
ordo_status ordo_call_zeroed(struct ordo_call *call, size_t bytes, cl_mem *out);

/* The same for words that bear the stamp of the command they are of, and so need not be zero for the next one: *stamp, from 1
 * to `most`, is none that the block has borne since it was all zero. Costs a fill when a block is new, and when stamps run out. */
ordo_status ordo_call_stamped(struct ordo_call *call, size_t bytes, uint32_t most, cl_mem *out, cl_uint *stamp);

/* Gives back what was taken since `mark` (call->n_scratch then): what is enqueued later may take it. */
void ordo_call_release(struct ordo_call *call, int mark);
/* The same where something else is tried, as what was begun since then failed. */
void ordo_call_abandon(struct ordo_call *call, int mark);

/* What an object remembers of its last calls. All zero: there was none. */
struct ordo_last_call {
    cl_command_queue queue; /* of the last one; retained */
    cl_event         done;  /* the last one is done; NULL: the queue is asked when it matters */
    cl_event         begun; /* of the last one that changed the object: a marker before its commands. May be NULL. */
    cl_command_queue begun_on;
    bool             dropped; /* such a marker has failed */
};
/* ordo_call_begin for a call on an object: its commands come after those of the last call on the object, and it is now the
 * last. If events are pending in either queue, it waits on the host for a last call on another queue. `waits`: blocks,
 * without the lock, until no event is left that its commands would have to wait for. If an event of
 * the order's list failed, it returns ORDO_OPENCL. That other events failed is no error. */
ordo_status ordo_call_begin_after(struct ordo_call *call, ordo_device *dev, const struct ordo_order *order,
                                  struct ordo_last_call *last, bool waits);
/* Before a call waits for the device. While it has pending events, it may not: it ends with an error, without a message,
 * and call->again is set. Whoever began it then makes it again, and waits at its begin. */
ordo_status ordo_call_settled(struct ordo_call *call);
/* Before the first command of a call that changes what the object has or what the host knows of it. As ordo_call_settled,
 * since a command that is dropped would leave the host with what is not so. In a queue of the caller's it also enqueues a
 * marker, which joins the call's wait list: if another command in the queue fails and the marker is dropped, all commands of
 * the call are. */
ordo_status ordo_call_changes(struct ordo_call *call);
/* At the end of a call on an object, after an error too. Cannot fail: what the call stored is stored. */
void ordo_call_remember(struct ordo_call *call, struct ordo_last_call *last);
/* Whether commands of a call that changed the object were dropped. Tells of each once. */
bool ordo_last_call_dropped(ordo_device *dev, struct ordo_last_call *last);
/* The object is made anew: what became of earlier changes does not matter. */
void ordo_last_call_trust(struct ordo_last_call *last);
void ordo_last_call_forget(const ordo_device *dev, struct ordo_last_call *last);

/* The kernel `name` of module `file` ("primitive/scan.cl") built with `defines` besides those that describe the device
 * (see cl/device/compiler.cl); built once, then found again. */
ordo_status ordo_call_kernel(struct ordo_call *call, const char *file, const char *name,
                             const struct ordo_define *defines, struct ordo_kernel **out);

struct ordo_arg {
    size_t      bytes;
    const void *value; /* NULL: local memory of `bytes` */
};
#define ORDO_ARG(x) ((struct ordo_arg) { sizeof(x), &(x) })
#define ORDO_ARGS(...)                                                                                                 \
    ((struct ordo_arg[]) { __VA_ARGS__ }), sizeof((struct ordo_arg[]) { __VA_ARGS__ }) / sizeof(struct ordo_arg)

/* Arguments that are put together piece by piece. The list keeps the offsets of its slices, so it stays where it is until
 * the launch; all else that is added must live as long. */
struct ordo_args {
    struct ordo_arg arg[64];
    size_t          n;
    cl_ulong        at[12];
    size_t          n_at;
};
void ordo_args_add(struct ordo_args *args, const struct ordo_arg *more, size_t n);
#define ORDO_ADD(args, ...) ordo_args_add((args), ORDO_ARGS(__VA_ARGS__))
/* A slice as kernels take it: its memory, and where it begins. */
void ordo_args_slice(struct ordo_args *args, const struct ordo_slice *slice);

/* Builds the kernel if this variant is new, and enqueues it. ORDO_UNSUPPORTED if the kernel cannot run with such a group here
 * (registers, local memory). No groups: nothing happens. A NULL cl_mem argument reaches the kernel as a NULL pointer. */
ordo_status ordo_call_launch(struct ordo_call *call, const struct ordo_launch *launch, const struct ordo_args *args);

/* Enqueues groups x group_size work-items. ORDO_UNSUPPORTED if the kernel cannot run with such a group here (registers,
 * local memory). groups may be 0: nothing happens.
 * A NULL cl_mem argument is legal in OpenCL and reaches the kernel as a NULL pointer. */
ordo_status ordo_call_launch_kernel(struct ordo_call *call, struct ordo_kernel *kernel, size_t groups,
                                    size_t group_size, const struct ordo_arg *args, size_t n_args);
/* Sets `bytes` from byte `at` on to a repeated 32-bit word; at and bytes are multiples of 4. */
ordo_status ordo_call_fill(struct ordo_call *call, cl_mem mem, size_t at, size_t bytes, uint32_t word);
ordo_status ordo_call_copy(struct ordo_call *call, cl_mem from, size_t from_at, cl_mem to, size_t to_at, size_t bytes);
/* As ordo_call_write and _read, but host memory must stay as it is until the command is done, of which *done (which may be NULL)
 * tells. */
ordo_status ordo_call_send(struct ordo_call *call, cl_mem to, size_t at, const void *from, size_t bytes,
                           cl_event *done);
ordo_status ordo_call_fetch(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes, cl_event *done);
/* Blocking transfers; ordo_call_write also returns only when `from` may be reused. */
ordo_status ordo_call_write(struct ordo_call *call, cl_mem to, size_t at, const void *from, size_t bytes);
ordo_status ordo_call_read(struct ordo_call *call, cl_mem from, size_t at, void *to, size_t bytes);

/* Checks that slice is a buffer of this device's context that holds `count` elements of `bytes` each from `at` on, and
 * that no size overflows. `name` names it in the message. bytes 0: the slice must be ordo_none(). */
ordo_status ordo_check_slice(ordo_device *dev, const char *name, struct ordo_slice slice, size_t count, size_t bytes);
/* Whether a_count elements of a_bytes each at a share a byte with those at b. Sub-buffers of one buffer are seen through. */
bool ordo_slices_overlap(struct ordo_slice a, size_t a_count, size_t a_bytes, struct ordo_slice b, size_t b_count,
                         size_t b_bytes);

/* ---- small arrays: staging.c ------------------------------------------------------------------------------------- */

/* Memory by which the small arrays of a call over host memory go to the device together and come back together: on the host
 * (pinned, so that the driver copies it as it is), and on the device; the same on a CPU. The device keeps a few. */
#define ORDO_STAGE_BYTES ((size_t) 64 << 10)
struct ordo_stage;

/* Within a call. NULL: they do not fit, or there is none to be had, and each array goes its own way. */
struct ordo_stage *ordo_stage_take(struct ordo_call *call, size_t bytes);
/* idle: all commands of its call are done. */
void   ordo_stage_give(ordo_device *dev, struct ordo_stage *stage, bool idle);
char  *ordo_stage_host(const struct ordo_stage *stage);
cl_mem ordo_stage_buffer(const struct ordo_stage *stage);

/* The first `bytes`, which are written, go to the device. Only enqueues. On a CPU the buffer is made now, as a driver may copy
 * what lies there at that moment. If it cannot be had, ordo_stage_buffer is NULL, and that is no error. */
ordo_status ordo_stage_send(struct ordo_call *call, struct ordo_stage *stage, size_t bytes);
/* Waits for the call's commands and for `bytes` from byte `at` on to come back. */
ordo_status ordo_stage_receive(struct ordo_call *call, struct ordo_stage *stage, size_t at, size_t bytes);

/* ---- large arrays: transfer.c ---------------------------------------------------------------------------------- */

struct ordo_transfer {
    cl_mem      mem; /* all of it, from its first byte on */
    const void *from;
    void       *to; /* one of the two */
    size_t      bytes;
};
/* All arrays to the device (`up`) or back; blocks. */
ordo_status ordo_call_transfer(struct ordo_call *call, bool up, const struct ordo_transfer *arrays, size_t n);

/* ---- rehearsals: dry_run.c, builds.c ------------------------------------------------------------------------ */

/* Which programs a preparation builds, of those that its rehearsals need: every parts-th, from number `part` on; all if
 * parts is 0. */
struct ordo_gathering {
    uint32_t part, parts;
    size_t   n; /* programs that were numbered */
};

/* A stand-in for a device, on which calls are made to learn which kernels they need: these are built ahead for the device. Calls
 * there enqueue nothing, and what they read back is made up, so that many of them fail in the end. Objects made on it are
 * destroyed before it is closed; it is closed before the device. One thread at a time. */
ordo_status ordo_rehearsal_open(ordo_device *dev, struct ordo_gathering *gathering, ordo_device **out);
void        ordo_rehearsal_close(ordo_device **stand_in);
/* Before each call: each word that it reads back is `answer`, and it may launch so much again. */
void ordo_rehearsal_answer(ordo_device *stand_in, uint32_t answer);
bool ordo_rehearses(const ordo_device *dev);

/* Whether the device builds programs before they are asked for. */
bool ordo_builds_ahead(const ordo_device *dev);
/* Whether it does, and this is the first time that this is expected. */
bool ordo_builds_expect(ordo_device *dev, const char *name, uint32_t type);
/* Before the rehearsals of a preparation, which ordo_builds_finish ends. Several threads may prepare at once. */
void ordo_builds_begin(ordo_device *dev);
/* Builds what is wanted, side by side with the device's own threads, until nothing is. progress (may be NULL) is told how many
 * programs are built of how many; false from it: the rest is forgotten, and ORDO_CANCELLED returned. *built and *failed: how
 * many are and how many could not be, of which the first one's status is returned and its message recorded. */
ordo_status ordo_builds_finish(ordo_device *dev, bool (*progress)(void *user, size_t done, size_t total), void *user,
                               size_t *built, size_t *failed);

/* ---- tunables: profile.c ------------------------------------------------------------------------------------- */

/* Shapes of data that are tuned apart: bytes of key and value. */
enum ordo_shape { ORDO_K4V0, ORDO_K4V4, ORDO_K4V8, ORDO_K8V0, ORDO_K8V4, ORDO_K8V8, ORDO_N_SHAPES };
enum ordo_shape ordo_shape_of(size_t key_bytes, size_t value_bytes);

/* How a sort ranks and how groups learn of each other. */
enum ordo_sort_method { ORDO_SORT_ONESWEEP = 0, ORDO_SORT_REDUCE_SCAN = 1, ORDO_SORT_CHUNKED = 2 };
/* How a scan's groups learn of each other. */
enum ordo_scan_method { ORDO_SCAN_LOOKBACK = 0, ORDO_SCAN_REDUCE = 1 };

/* name, text, values it may take (profile.c refuses others; every one of them gives right answers) */
#define ORDO_TUNABLE_MAP(X)                                                                                            \
    X(SORT_METHOD, "sort.method", "0 one-sweep, 1 reduce-then-scan, 2 counting sort per chunk", 0, 1, 2)               \
    X(SORT_DIGIT_BITS, "sort.digit_bits", "bits sorted per pass", 4, 5, 6, 7, 8)                                       \
    X(SORT_GROUP, "sort.group", "work-items per group", 1, 64, 128, 256, 384, 512, 1024)                               \
    X(SORT_ITEMS, "sort.items", "items per work-item (chunked: thousands per chunk)", 4, 5, 7, 8, 9, 11, 12, 13, 15,   \
      16, 18, 19, 21, 23)                                                                                              \
    X(SORT_REGISTERS, "sort.registers",                                                                                \
      "most registers of a work-item, where the driver can limit them; 0: its choice", 0, 40, 48, 64, 80, 96, 128)     \
    X(SORT_DIRECT, "sort.direct", "most tiles that each count all keys for themselves", 0, 4, 8, 12, 16, 24, 32, 48)   \
    X(SORT_SMALL_GROUP, "sort.small_group", "work-items of the single-launch sort; 1: not used", 1, 64, 128, 256, 512, \
      1024)                                                                                                            \
    X(SORT_SMALL_ITEMS, "sort.small_items", "items per work-item of the single-launch sort", 2, 4, 6, 8, 12, 16)       \
    X(SORT_LOCAL, "sort.local", "least log2 of the count where 8-byte keys may end in a local pass; 0: never", 0, 12,  \
      16, 18, 19, 20, 21, 22, 24)                                                                                      \
    X(SORT_LOCAL_GROUP, "sort.local_group", "work-items per group of the local pass; 1: never runs", 1, 64, 128, 256,  \
      512, 1024)                                                                                                       \
    X(SORT_LOCAL_ITEMS, "sort.local_items", "items per work-item of the local pass: even", 4, 8, 12, 16)               \
    X(SCAN_METHOD, "scan.method", "0 look-back, 1 reduce-then-scan", 0, 1)                                             \
    X(SCAN_GROUP, "scan.group", "work-items per group", 1, 64, 128, 256, 512)                                          \
    X(SCAN_ITEMS, "scan.items", "items per work-item", 4, 8, 12, 16, 20, 24, 1024, 4096)                               \
    X(COMPACT_GROUP, "compact.group", "work-items per group", 1, 64, 128, 256, 512)                                    \
    X(COMPACT_ITEMS, "compact.items", "items per work-item", 4, 8, 12, 16, 20, 24, 1024, 4096)                         \
    X(BY_KEY_GROUP, "by_key.group", "work-items per group", 1, 64, 128, 256, 512)                                      \
    X(BY_KEY_ITEMS, "by_key.items", "items per work-item", 4, 8, 12, 16, 20, 24, 1024, 4096)                           \
    X(TOP_GROUP, "top.group", "work-items per group", 1, 64, 128, 256, 512)                                            \
    X(TOP_ITEMS, "top.items", "items per work-item and round", 4, 8, 16, 32, 64, 1024, 4096)                           \
    X(MERGE_GROUP, "merge.group", "work-items per group", 1, 64, 128, 256, 512)                                        \
    X(MERGE_ITEMS, "merge.items", "items per work-item", 4, 5, 7, 8, 9, 11, 13, 15, 17, 1024, 4096)                    \
    X(MERGE_STAGED, "merge.staged", "values: 0 gathered from device memory, 1 through local memory", 0, 1)             \
    X(RUNS_GROUP, "merge_runs.group", "work-items per group of the multi-way merge", 1, 64, 128, 256, 512)             \
    X(RUNS_ITEMS, "merge_runs.items", "items per work-item of the multi-way merge (group 1: per chunk)", 5, 7, 8, 9,   \
      11, 13, 15, 17, 1024, 4096)                                                                                      \
    X(SEARCH_NODE, "search.node_keys", "keys per node of a static index", 8, 16, 32)                                   \
    X(SEARCH_LANES, "search.lanes", "lanes per query", 1, 2, 4, 8)                                                     \
    X(SEARCH_GROUP, "search.group", "work-items per group", 1, 32, 64, 128, 256, 512)                                  \
    X(SEARCH_ITEMS, "search.items", "queries that a work-item has in flight", 1, 2, 4, 8, 16, 32, 64, 128)             \
    X(SEARCH_LOCAL, "search.local_keys", "keys that a group keeps in local memory, at most", 256, 1024, 4096, 8192)    \
    X(SEARCH_TILE, "search.tile", "sorted queries: queries per work-item", 1, 2, 4, 8, 16)                             \
    X(SEARCH_BUFFERED, "search.buffered", "random queries of 2^this keys and more are partitioned; 0: never", 0, 20,   \
      22, 24, 26, 28, 30)                                                                                              \
    X(SEARCH_SORTED, "search.sort_queries", "random queries are sorted for so many keys each and fewer; 0: never", 0,  \
      1, 2, 4, 8, 16)                                                                                                  \
    X(BLINK_LANES, "blink.lanes", "lanes per query of a B-link tree", 1, 2, 4, 8)                                      \
    X(BLINK_GROUP, "blink.group", "work-items per group", 32, 64, 128, 256, 512)                                       \
    X(BLINK_ITEMS, "blink.items", "queries that a work-item has in flight", 1, 2, 4, 8, 16, 32)                        \
    X(LTREE_GROUP, "links.group", "work-items per group of operations side by side; above 256 with few registers", 32, \
      64, 128, 256, 512, 768, 1024)

enum ordo_tunable {
#define X(id, name, text, ...) ORDO_##id,
    ORDO_TUNABLE_MAP(X)
#undef X
        ORDO_N_TUNABLES
};

uint32_t ordo_tunable(const ordo_device *dev, enum ordo_tunable tunable, enum ordo_shape shape);

#endif
