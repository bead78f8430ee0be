/* SPDX-License-Identifier: Apache-2.0 */
/* The device object; for host/runtime only. */
#ifndef ORDO_DEVICE_PRIVATE_H
#define ORDO_DEVICE_PRIVATE_H

#include "environment.h"
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

/* The content of a free scratch block: anything (plain), zeros, or words with stamps. A new block is zeroed unless
 * plain. */
enum ordo_scratch_use {
    ORDO_SCRATCH_PLAIN,
    ORDO_SCRATCH_ZEROED,
    ORDO_SCRATCH_STAMPED,
};

/* Device memory: a buffer that outlives calls, or a scratch block of the pool. Only its own queue reuses a free block,
 * behind the commands that still use it. */
struct ordo_block {
    struct ordo_block    *next;
    cl_mem                mem;
    size_t                bytes;
    cl_command_queue      queue; /* retained, so that no other queue gets its address; NULL: no scratch */
    bool                  in_use;
    enum ordo_scratch_use use;
    uint32_t              stamp;
};

struct ordo_stage {
    struct ordo_stage *next;
    cl_mem             mem;
    cl_mem             pinned; /* NULL: mem is a buffer over `host` during calls */
    char              *host;   /* mapped if pinned, else malloc'd */
    bool               in_use; /* a call over host memory uses it */
    uint64_t           sent;   /* number of the send that may still use `host`, or 0 */
};

struct ordo_ring {
    cl_mem mem; /* NULL: none yet */
    char  *host;
    size_t piece, least; /* bytes of a piece, and of the smallest array in the ring */
    int    helpers;      /* 0: the ring is unused */
};

/* An incomplete event for which commands in a queue wait (order.c). */
struct ordo_pending {
    struct ordo_pending *next;
    cl_command_queue     queue; /* both are retained */
    cl_event             event;
};

struct ordo_kernel {
    struct ordo_kernel *next;
    char               *name;
    cl_kernel           kernel;
    size_t              max_group; /* limit of work-items per group on this device */
    bool                limited;   /* built with a limit on registers */
};

/* Identifies a module with its options, or a build in the disk cache. */
struct ordo_digest {
    uint64_t low, high;
};

/* A module, or some of its kernels, built with the options of one variant. */
struct ordo_program {
    struct ordo_program *next;
    struct ordo_digest   variant;
    char                *file, *only, *options; /* only: names of the kernels, or NULL: all */
    enum {
        ORDO_PROGRAM_KNOWN,
        ORDO_PROGRAM_OTHERS, /* another process builds it (prepare.h) */
        ORDO_PROGRAM_WANTED,
        ORDO_PROGRAM_IN_WORK,
        ORDO_PROGRAM_BUILT,
        ORDO_PROGRAM_FAILED
    } state;
    bool                ahead, from_cache; /* ahead: built before a call needed it, and not yet logged */
    double              build_ms;
    cl_program          program;
    struct ordo_kernel *kernels; /* the device's lock protects these */
};

/* The programs, and the threads that build ahead. A thread with this lock takes no other lock. */
#define ORDO_BUILD_THREADS_MAX 16
struct ordo_builds {
    pthread_mutex_t      lock;
    pthread_cond_t       changed;  /* a program is wanted or was built, or threads must end */
    struct ordo_program *programs; /* newest first */
    pthread_t            thread[ORDO_BUILD_THREADS_MAX];
    unsigned             n_threads, threads_most;
    bool                 end;
    unsigned             preparing;
    unsigned             in_work;      /* programs that threads and preparations build now */
    unsigned             calls;        /* calls that wait for a program or build one */
    double               calm_ms;      /* when the last of these calls got its program */
    double               waited_ms;    /* time that calls waited for programs */
    double               ms;           /* time of builds from source, including opening */
    bool                 told;         /* a long wait is logged */
    uint64_t             expected[64]; /* see ordo_builds_expect */
    size_t               n_expected;
};

/* Tests change builds from source (tests/support/support.c). */
struct ordo_build_changes {
    const char *(*before)(const ordo_device *dev); /* precedes the text of each program; may be "" */
    const char *(*options)(const ordo_device *dev, const struct ordo_define *defines); /* with a space before each */
};
extern const struct ordo_build_changes *ordo_build_changes; /* for devices opened while it is set; else NULL */

/* The state of a dry-run device. Its buffers have 1 byte each. */
struct ordo_dry_run {
    ordo_device           *stands_for;
    struct ordo_gathering *gathering; /* NULL: only the device's threads build kernels */
    uint32_t               answer;    /* each word that a call reads */
    unsigned               launches;  /* launches left; then they fail, which ends waiting loops */
    struct ordo_kernel     kernel;    /* represents all kernels */
};

struct ordo_device {
    struct ordo_facts facts;
    cl_platform_id    platform;
    cl_device_id      id;
    cl_context        context;
    cl_command_queue  queue;
    pid_t             pid;
    atomic_uint       holders;                /* opener and objects; the last one closes the device */
    atomic_bool       closed;                 /* the opener closed it; its log receives nothing more */
    bool              own_queue_out_of_order; /* an adopted queue may be */

    pthread_mutex_t lock;       /* recursive; protects the members below except the error */
    pthread_mutex_t error_lock; /* the error text, and whether the device failed */
    pthread_mutex_t log_lock;   /* serialises messages; its holder takes no other lock */
    char           *error;      /* NULL after an error if there was no memory */
    ordo_status     error_status;
    cl_int          cl_error;
    atomic_bool     failed; /* a kernel failed, and no wait has succeeded since */

    ordo_log_fn    log;
    void          *log_user;
    ordo_log_level log_level;
    bool           log_to_stderr;

    char        std[24];          /* -cl-std=... chosen by the probe, or "" */
    bool        khr_ballot;       /* with ORDO_LANES_KHR: sub_group_ballot compiles */
    bool        intel_sub_groups; /* a kernel can fix its sub-group size */
    bool        probe_disturbed;  /* a trial lacked memory, so the outcome is not cached */
    char       *extensions;       /* with a space before the first */
    char       *cl_dir;           /* ORDO_CL_DIR, or NULL */
    char       *cache_dir;        /* NULL: no disk cache */
    atomic_bool cache_told;       /* a failed write is logged */
    atomic_int  cache_trouble;    /* errno of a failed write on a mute thread, to be logged, or 0 */
    bool        profile_told;     /* a missing profile is logged */

    ordo_status (*test_primitives)(ordo_device *dev, bool all);

    struct ordo_digest               identity; /* device, driver, platform, library version */
    struct ordo_builds               builds;
    bool                             kernels_apart; /* a program is a set of kernels ("Built together"), not a module */
    const struct ordo_build_changes *changes;       /* tests set it, or NULL */
    int                              optimized;     /* programs: 1: all, -1: none, 0: by choice of the tests */
    struct ordo_device              *next_live;     /* in the list of builds.c */
    bool                             barrier_lost;  /* a barrier was refused: see enqueued() in call.c */
    struct ordo_dry_run             *dry_run, own_dry_run; /* dry_run is NULL or &own_dry_run */

    struct ordo_block   *scratch, *held; /* scratch: the pool; held: buffers that outlive calls */
    struct ordo_ring     ring;
    char                *bounce;     /* target of small reads (call.c), or NULL */
    size_t               stage_most; /* bytes of the largest arrays that use a stage */
    struct ordo_stage   *stages;
    uint64_t             stage_number; /* number of the last send */
    struct ordo_pending *pending;
    struct ordo_reserve *reserves;
    struct ordo_memory   memory;
    uint64_t             scratch_used;
    uint64_t             memory_limit;

    uint32_t    tunable[ORDO_N_TUNABLES][ORDO_N_SHAPES];
    ordo_origin origin[ORDO_N_TUNABLES][ORDO_N_SHAPES];
};

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
/* While true, this thread logs nothing and sets no last error. */
extern _Thread_local bool ordo_thread_is_mute;
void                      ordo_errors_open(ordo_device *dev, const struct ordo_device_config *config);
void                      ordo_errors_close(ordo_device *dev);

/* Whether the code reports lack of memory, which may not happen again. */
bool ordo_is_want_of_memory(cl_int code);

/* probe.c. First reads the facts that OpenCL reports, then compiles trials. */
ordo_status ordo_probe_features(ordo_device *dev);
void        ordo_probe_trials(ordo_device *dev);
ordo_status ordo_apply_mask(ordo_device *dev, const char *mask);
/* Call this after lowering a fact. Chooses the default language unless a fact needs a newer one, whose generic pointers
 * some devices lack. */
void ordo_choose_older_language(ordo_device *dev);

/* select.c: sets dev->id. */
ordo_status ordo_select_device(ordo_device *dev, const char *select);

/* probe_cache.c caches the outcome of probe and self-test by device, kernel sources, mask and profile. */
ordo_status ordo_memory_key(ordo_device *dev, const char *mask, struct ordo_digest *out);
bool        ordo_recall(ordo_device *dev, struct ordo_digest key);
void        ordo_remember(ordo_device *dev, struct ordo_digest key);

/* program.c */
bool ordo_device_has(const ordo_device *dev, const char *extension);
/* Ends the threads and releases all programs. */
void ordo_programs_destroy(ordo_device *dev);
void ordo_builds_open(ordo_device *dev);
void ordo_builds_close(ordo_device *dev);
void ordo_builds_end(ordo_device *dev);
/* Requests a program from the device's threads or a preparation. Never waits. */
void ordo_build_ahead(struct ordo_dry_run *dry, const char *file, const char *kernel,
                      const struct ordo_define *defines);
void ordo_builds_forget(ordo_device *dev);

/* source.c. A module's text, malloc'd, with includes expanded and all or the listed kernels. */
ordo_status ordo_program_text(ordo_device *dev, const char *file, const char *kernels, char **text);
/* Names of the kernels built together with a kernel, without a 0 at the end. */
struct ordo_kernel_set {
    const char *names; /* separated by spaces, or NULL: all of the module */
    size_t      bytes;
};
struct ordo_kernel_set ordo_kernel_set(const char *file, const char *kernel);
/* Returns the options of a variant, malloc'd, or NULL without memory. */
char *ordo_program_options(const ordo_device *dev, const struct ordo_define *defines);
/* Replaces line numbers in a build log by files and their lines. Returns malloc'd text, or NULL. */
char *ordo_log_with_files(const char *log, const char *text);

/* dry_run.c. Creates a device with only its locks and log. NULL: no memory. */
ordo_device *ordo_bare_device(const struct ordo_device_config *config);
void         ordo_bare_device_free(ordo_device *dev);

/* program.c. Builds a program. Any thread may call it. */
ordo_status ordo_program_build(ordo_device *dev, struct ordo_program *program);
/* Whether n texts compile as one program. Creates their kernels `trial`, because some drivers report errors only
 * then. */
bool               ordo_trial_compile(ordo_device *dev, const char *options, const char *const *texts, size_t n);
struct ordo_digest ordo_sources_digest(const ordo_device *dev);

/* cache.c. Files in the user's cache directory, each with a checksum inside. */
void ordo_cache_open(ordo_device *dev);
/* The content of entry `kind`-`key`, malloc'd. NULL: it is absent, damaged or another user's. */
void *ordo_cache_read(ordo_device *dev, const char *kind, struct ordo_digest key, size_t *bytes);
void  ordo_cache_write(ordo_device *dev, const char *kind, struct ordo_digest key, const void *data, size_t bytes);
void  ordo_cache_drop(ordo_device *dev, const char *kind, struct ordo_digest key);
void  ordo_cache_tell(ordo_device *dev);
/* Returns malloc'd text from printf, or NULL. */
char *ordo_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct ordo_digest ordo_digest_of(struct ordo_digest seed, const void *data, size_t bytes);
#define ORDO_DIGEST_TEXT(seed, text) ordo_digest_of((seed), (text), strlen(text))

/* memory.c */
void ordo_scratch_destroy(ordo_device *dev);
/* Frees host memory of remaining buffers, as in the child of a fork. */
void ordo_held_forget(ordo_device *dev);
/* *fresh: the caller must zero the block unless it is plain. */
ordo_status ordo_scratch_take(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use,
                              struct ordo_block **out, bool *fresh);
void        ordo_scratch_give(ordo_device *dev, struct ordo_block *block);
/* Makes all free blocks plain, because commands that zero them may not have run. */
void ordo_scratch_distrust(ordo_device *dev);

/* Mapped pinned memory, not counted, or NULL. ordo_pinned_destroy accepts host NULL. */
char *ordo_pinned_create(ordo_device *dev, size_t bytes, cl_mem *mem);
void  ordo_pinned_destroy(ordo_device *dev, cl_mem *mem, char *host);

/* staging.c. All sends up to `number` are done. */
void ordo_stages_forget(ordo_device *dev, uint64_t number);
void ordo_stages_destroy(ordo_device *dev);

/* transfer.c */
void ordo_ring_open(ordo_device *dev);
void ordo_ring_destroy(ordo_device *dev);

/* order.c */
/* Uses the call of OpenCL 1.2, which every platform has. */
ordo_status ordo_queue_create(ordo_device *dev, cl_command_queue_properties properties, cl_command_queue *out);
/* Returns ORDO_INVALID unless the queue is of the device and its context. `name` is for the message. */
ordo_status ordo_queue_check(ordo_device *dev, cl_command_queue queue, const char *name, bool *out_of_order);
bool        ordo_event_ended(cl_event event);
/* Call this before each command. Makes the first n_pending events of the wait list pending in the queue. */
ordo_status ordo_call_pass_events(struct ordo_call *call);
void        ordo_call_drop_events(struct ordo_call *call);
ordo_status ordo_call_barrier(struct ordo_call *call); /* holds back the next commands in the call's queue */
void        ordo_pending_forget(ordo_device *dev);

static inline bool ordo_pending_in(const ordo_device *dev, cl_command_queue queue)
{
    const struct ordo_pending *p = dev->pending;
    while (p && p->queue != queue)
        p = p->next;
    return p != NULL;
}

/* profile.c */
void        ordo_profile_load(ordo_device *dev);
ordo_status ordo_profile_digest(ordo_device *dev, struct ordo_digest *hash);
void        ordo_profile_lower(ordo_device *dev);

#endif
