/* SPDX-License-Identifier: Apache-2.0 */
/* What a device object is made of; for host/runtime only. */
#ifndef ORDO_DEVICE_PRIVATE_H
#define ORDO_DEVICE_PRIVATE_H

#include "environment.h"
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

/* What a block of scratch was made for, and stays with. But for the first they are zeroed when they are made. */
enum ordo_scratch_use {
    ORDO_SCRATCH_PLAIN,
    ORDO_SCRATCH_ZEROED,  /* counters, all zero while not in use */
    ORDO_SCRATCH_STAMPED, /* words with stamps */
};

/* A scratch buffer of the pool. A free one may be handed out again on its own queue only: what still uses it there
 * comes first in that queue. */
struct ordo_scratch {
    struct ordo_scratch  *next;
    cl_mem                mem;
    size_t                bytes;
    cl_command_queue      queue; /* retained, so that its address is not given to another queue */
    bool                  in_use;
    enum ordo_scratch_use use;
    uint32_t              stamp; /* ORDO_SCRATCH_STAMPED: borne last */
};

/* Memory for small arrays on their way: see stage.c. */
struct ordo_stage {
    struct ordo_stage *next;
    cl_mem             mem;    /* what kernels are given */
    cl_mem             pinned; /* NULL: mem is `own`, and there during calls only */
    void              *own;
    char              *host;   /* pinned, mapped for good; or own */
    bool               in_use; /* by a call over host memory */
    uint64_t           sent;   /* commands may still use `host`: they are those of this number; 0: none are */
};

/* Pinned memory for large arrays on their way: see transfer.c. */
struct ordo_ring {
    cl_mem mem; /* NULL: none yet */
    char  *host;
    size_t piece, least; /* bytes of a piece; arrays that are less together go as they are */
    int    helpers;      /* 0: none goes by it, as on a stand-in, where all here is 0 */
};

/* An event that is not complete and that commands in a queue wait for: see order.c. */
struct ordo_pending {
    struct ordo_pending *next;
    cl_command_queue     queue; /* both are retained */
    cl_event             event;
};

/* A buffer that outlives calls. */
struct ordo_held {
    struct ordo_held *next;
    cl_mem            mem;
    size_t            bytes;
};

struct ordo_kernel {
    struct ordo_kernel *next;
    char               *name;
    cl_kernel           kernel;
    size_t              max_group; /* what the built kernel can run with on this device */
    uint64_t            local_bytes;
    bool                limited; /* built with a limit on registers */
};

/* 128 bits that stand for (module, options) within a device, or for a whole build in the disk cache. */
struct ordo_digest {
    uint64_t low, high;
};

/* A module with the options of one variant; with some kernels of it, or all. */
struct ordo_program {
    struct ordo_program *next, *next_wanted;
    struct ordo_digest   variant;
    char                *file, *only, *options; /* only: the names of its kernels; NULL: all */
    enum {
        ORDO_PROGRAM_KNOWN,
        ORDO_PROGRAM_OTHERS, /* another process builds it (prepare.h) */
        ORDO_PROGRAM_WANTED,
        ORDO_PROGRAM_IN_WORK,
        ORDO_PROGRAM_BUILT,
        ORDO_PROGRAM_FAILED
    } state;
    bool                ahead, from_cache; /* ahead: by a thread of the device's own, of which nobody was told yet */
    double              build_ms;
    cl_program          program;
    struct ordo_kernel *kernels; /* under the device's lock */
};

/* Programs, and the threads that build some before they are asked for. Whoever holds its lock takes no other. */
#define ORDO_BUILD_THREADS_MAX 16
struct ordo_builds {
    pthread_mutex_t      lock;
    pthread_cond_t       changed; /* something is wanted, was built, or all is to end */
    struct ordo_program *programs;
    struct ordo_program *first_wanted, *last_wanted; /* in the order of asking; some may be in work or built by now */
    pthread_t            thread[ORDO_BUILD_THREADS_MAX];
    unsigned             n_threads, threads_most;
    bool                 end;
    unsigned             preparing;    /* preparations under way */
    unsigned             in_work;      /* programs that threads and preparations build now */
    unsigned             calls;        /* that wait for a program now, or build one */
    double               calm_ms;      /* when the last of them was served */
    double               waited_ms;    /* by calls, for programs */
    double               ms;           /* of them for those built from source, while the device was opened too */
    bool                 told;         /* that this takes long */
    uint64_t             expected[64]; /* what was once expected */
    size_t               n_expected;
};

/* What tests change of how programs are built from source (tests/support/support.c). */
struct ordo_build_changes {
    const char *(*before)(const ordo_device *dev); /* goes before the text of each program; may be "" */
    const char *(*options)(const ordo_device *dev, const struct ordo_define *defines); /* with a space before each */
};
extern const struct ordo_build_changes *ordo_build_changes; /* of devices that are opened while it is set; else NULL */

/* On such a device calls are rehearsed: they go all their way, but enqueue nothing, and their memory is of one byte each. Every
 * kernel that they ask for is built ahead for the device that it stands for. */
struct ordo_rehearsal {
    ordo_device           *stands_for;
    struct ordo_gathering *gathering; /* NULL: kernels are built only if the device has threads for that */
    uint32_t               answer;    /* what is read back: each word is this */
    unsigned launches; /* left; then they fail, so that no loop waits for ever for what a kernel would have done */
    struct ordo_kernel kernel; /* any */
};

struct ordo_device {
    struct ordo_facts facts;
    cl_platform_id    platform;
    cl_device_id      id;
    cl_context        context;
    cl_command_queue  queue;
    pid_t             pid;
    atomic_uint       holders; /* whoever opened it, and each object on it: the last one to let go closes it */
    atomic_bool       closed;  /* by whoever opened it, who hears no more of it */
    bool              own_queue_out_of_order; /* an adopted one may be */

    pthread_mutex_t lock;       /* recursive; everything below but the error text */
    pthread_mutex_t error_lock; /* the error text, and whether the device failed */
    pthread_mutex_t log_lock;   /* one message is handed out at a time; nothing else is taken under it */
    char           *error;      /* NULL although there was an error: no memory for the message */
    ordo_status     error_status;
    cl_int          cl_error;
    bool            failed; /* a kernel did, and no call that waits has succeeded since */

    ordo_log_fn    log;
    void          *log_user;
    ordo_log_level log_level;
    bool           log_to_stderr;

    char        std[24];          /* -cl-std=... that the probe chose, or "" */
    bool        khr_ballot;       /* with ORDO_LANES_KHR: sub_group_ballot compiles */
    bool        intel_sub_groups; /* a kernel can fix its sub-group size */
    bool        probe_disturbed;  /* a trial ended for want of memory: what it says holds for now only */
    char       *extensions;       /* of the device, space at both ends */
    char       *cl_dir;           /* ORDO_CL_DIR, or NULL */
    char       *cache_dir;        /* NULL: no disk cache */
    atomic_bool cache_told;       /* that it cannot be written to */
    atomic_int  cache_trouble;    /* errno of a write on a thread that is mute, to be told by another; 0 */
    bool        profile_told;     /* that the file of ORDO_PROFILE is not there */

    ordo_status (*test_primitives)(ordo_device *dev, bool all); /* see self_test.h */

    struct ordo_digest identity; /* device, driver, platform, library version */
    struct ordo_builds builds;
    bool               kernels_apart; /* programs of single kernels and of those built together, instead of modules */
    const struct ordo_build_changes *changes;   /* of tests; NULL: programs are built as users have them */
    int                              optimized; /* of those: 1: all programs, -1: none, 0: as they choose */
    struct ordo_device              *next_live; /* builds.c's own */
    struct ordo_rehearsal           *rehearsal; /* NULL: what is called is done */

    struct ordo_scratch *scratch;
    struct ordo_ring     ring;
    char                *landing;    /* of small reads (call.c); NULL: not yet wanted */
    size_t               stage_most; /* bytes of arrays that go by a stage */
    struct ordo_stage   *stages;
    uint64_t             stage_number; /* of what was sent last, from 1 on */
    struct ordo_pending *pending;
    struct ordo_held    *held;
    struct ordo_reserve *reserves;
    struct ordo_memory   memory;
    uint64_t             scratch_used;
    uint64_t             memory_limit;

    uint32_t    tunable[ORDO_N_TUNABLES][ORDO_N_SHAPES];
    ordo_origin origin[ORDO_N_TUNABLES][ORDO_N_SHAPES];
};

/* That this is the process that opened the device. */
#define ORDO_REQUIRE_NO_FORK(dev) ORDO_REQUIRE(dev, (dev)->pid == getpid(), ORDO_FORKED, NULL)

static inline void ordo_lock(ordo_device *dev)
{
    pthread_mutex_lock(&dev->lock);
}

static inline void ordo_unlock(ordo_device *dev)
{
    pthread_mutex_unlock(&dev->lock);
}

/* error.c */
/* While it is on, nothing that happens on this thread is logged, or becomes the last error: it is none of the caller's. */
void        ordo_mute_thread(bool on);
bool        ordo_thread_is_mute(void);
double      ordo_now_ms(void);
ordo_status ordo_errors_open(ordo_device *dev, const struct ordo_device_config *config);
/* From now on the caller's log is told nothing. */
void ordo_errors_close(ordo_device *dev);

/* Codes that say nothing about what was asked, and may be gone the next time. */
bool ordo_is_want_of_memory(cl_int code);

/* probe.c: fills facts that OpenCL tells (features), then those that need a trial compile. */
ordo_status ordo_probe_features(ordo_device *dev);
ordo_status ordo_probe_trials(ordo_device *dev);
/* Lowers the facts by a mask such as "lanes=one,local=16384". */
ordo_status ordo_apply_mask(ordo_device *dev, const char *mask);
/* After a fact was lowered: the driver's default language where nothing needs a newer one. */
void ordo_choose_older_language(ordo_device *dev);
/* OpenCL 1.2 forms, which give order between work-groups by no means. */
void ordo_take_legacy_atomics(ordo_device *dev);

/* select.c: sets dev->id to the device that `select` names, of all that the loader lists. */
ordo_status ordo_select_device(ordo_device *dev, const char *select);

/* probe_cache.c: the outcome of probe and self-test, by device, kernel sources, mask and the user's profile, which may select
 * variants that were never tested. */
ordo_status ordo_memory_key(ordo_device *dev, const char *mask, struct ordo_digest *out);
/* Takes it over instead of probing, if it is there and fits the features that were probed. */
bool ordo_recall(ordo_device *dev, struct ordo_digest key);
void ordo_remember(ordo_device *dev, struct ordo_digest key);

/* program.c */
bool ordo_device_has(const ordo_device *dev, const char *extension);
/* Ends the threads and releases all programs; all can be built again. */
void        ordo_programs_destroy(ordo_device *dev);
ordo_status ordo_builds_open(ordo_device *dev);
/* After ordo_programs_destroy, or in the child of a fork. */
void ordo_builds_close(ordo_device *dev);
/* Waits for what is in work, and ends the threads: nothing is built ahead any more. */
void ordo_builds_end(ordo_device *dev);
/* Has a program built soon: by a thread of the device, if it may have any (builds.threads_most), or by the preparation
 * that gathers programs. Never waits for a build. The call that needs a program reports a failure to build it. */
void ordo_build_ahead(struct ordo_rehearsal *rehearsal, const char *file, const char *kernel,
                      const struct ordo_define *defines);
/* Forgets what is wanted and nobody has begun to build. */
void ordo_builds_forget(ordo_device *dev);

/* source.c: the whole text of a module, includes expanded, with all kernels or those of a list of names; malloc'd. */
ordo_status ordo_program_text(ordo_device *dev, const char *file, const char *kernels, char **text);
/* The names of those kernels that are built together with this one, itself among them. No end is marked by a 0. */
struct ordo_kernel_set {
    const char *names; /* with spaces between them; NULL: all of the module */
    size_t      bytes;
};
struct ordo_kernel_set ordo_kernel_set(const char *file, const char *kernel);
/* The options of a variant; malloc'd. */
ordo_status ordo_program_options(ordo_device *dev, const struct ordo_define *defines, char **out);
/* A build log in which the driver counts lines of the whole text, with files and their lines; malloc'd, or NULL. */
char *ordo_log_with_files(const char *log, const char *text);

/* bare.c: a device with only its locks and log, or NULL; and giving one back, with what it has got of host memory since. */
ordo_device *ordo_bare_device(const struct ordo_device_config *config);
void         ordo_bare_device_free(ordo_device *dev);

/* program.c: builds what file, kernel and options say. By any thread. */
ordo_status ordo_program_build(ordo_device *dev, struct ordo_program *program);
/* Whether n texts compile as one, and the kernel `trial` of each can be made; quiet. Some drivers find fault only with the
 * kernel. */
bool ordo_trial_compile(ordo_device *dev, const char *options, const char *const *texts, size_t n);
/* A hash of every kernel source, which changes when any of them does. */
struct ordo_digest ordo_sources_digest(const ordo_device *dev);

/* cache.c: files in the user's cache directory, each with a checksum inside. */
void ordo_cache_open(ordo_device *dev);
/* malloc'd content of entry `kind`-`key`, or NULL if it is not there, not whole, or not ours. */
void *ordo_cache_read(ordo_device *dev, const char *kind, struct ordo_digest key, size_t *bytes);
void  ordo_cache_write(ordo_device *dev, const char *kind, struct ordo_digest key, const void *data, size_t bytes);
void  ordo_cache_drop(ordo_device *dev, const char *kind, struct ordo_digest key);
/* Tells what threads that are mute met. */
void ordo_cache_tell(ordo_device *dev);
/* A malloc'd path from printf, NULL when out of memory. */
char *ordo_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct ordo_digest ordo_digest_of(struct ordo_digest seed, const void *data, size_t bytes);
#define ORDO_DIGEST_TEXT(seed, text) ordo_digest_of((seed), (text), strlen(text))

/* memory.c */
void ordo_scratch_destroy(ordo_device *dev);
/* What is known of buffers that are still there when the device is closed, as in the child of a fork. */
void ordo_held_forget(ordo_device *dev);
/* A block that is not plain says with *fresh that it is new and has yet to be zeroed. */
ordo_status ordo_scratch_take(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use,
                              struct ordo_scratch **out, bool *fresh);
/* Takes a free block out of the pool for good. */
void ordo_scratch_drop(ordo_device *dev, struct ordo_scratch *block);
/* The same for all of a queue that are not plain: what was to zero them may not have been done. */
void ordo_scratch_drop_zeroed(ordo_device *dev, cl_command_queue queue);
void ordo_scratch_give(ordo_device *dev, struct ordo_scratch *block);

/* stage.c: the commands up to this number are done. */
void ordo_stages_forget(ordo_device *dev, uint64_t number);
/* Gives those back that nothing uses. */
void ordo_stages_destroy(ordo_device *dev);

/* transfer.c */
void ordo_ring_open(ordo_device *dev);
void ordo_ring_destroy(ordo_device *dev);

/* order.c */
/* A queue of the device's, by the call of OpenCL 1.2, which every platform has. */
ordo_status ordo_queue_create(ordo_device *dev, cl_command_queue_properties properties, cl_command_queue *out);
/* Checks the order's queue and list. The call's wait list becomes those events of the order's list and of the events that are
 * pending in the queue that are not complete. */
ordo_status ordo_order_take(struct ordo_call *call);
/* Adds the event of the object's last call (last may be NULL), if that was on another queue and is not complete. An event that
 * can fail may do so while calls before it still run. So that event is waited for on the host, alone, if events are pending
 * in either queue: *must_wait. `renew`: a failed event is replaced by a new marker. */
ordo_status ordo_order_follow(struct ordo_call *call, struct ordo_last_call *last, bool renew, bool *must_wait);
/* Adds an event to the call's wait list, and leaves room for one more (hand_out_event in call.c). */
ordo_status ordo_order_add(struct ordo_call *call, cl_event event);
void        ordo_order_drop(struct ordo_call *call);
/* Waits on the host until each event of the call's wait list is complete or has failed. Without the lock. */
ordo_status ordo_order_wait(const struct ordo_call *call);
/* Before each command that is given the call's wait list: its n_pending events are now pending in the queue. */
ordo_status ordo_order_pass(struct ordo_call *call);
/* CL_COMPLETE, more while the event is not complete, negative if it failed. More also if the driver does not tell. */
cl_int ordo_event_state(cl_event event);
/* Forgets events that are no longer pending. If one failed, zeroed scratch of its queue is dropped: what was to zero it may
 * not have run. */
void ordo_pending_settle(ordo_device *dev);
void ordo_pending_forget(ordo_device *dev);

/* Whether an event is pending in the queue. */
static inline bool ordo_pending_in(const ordo_device *dev, cl_command_queue queue)
{
    const struct ordo_pending *p = dev->pending;
    while (p && p->queue != queue)
        p = p->next;
    return p != NULL;
}

/* profile.c: defaults for the facts at hand, then the shipped rows, then the user's profile. */
void ordo_profile_load(ordo_device *dev);
/* Adds what the user's profile says to a hash; without one it stays as it is. */
ordo_status ordo_profile_digest(ordo_device *dev, struct ordo_digest *hash);
/* After a fact was lowered: methods that rest on it go to the next safer one. */
void ordo_profile_lower(ordo_device *dev);

#endif
