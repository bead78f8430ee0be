/* SPDX-License-Identifier: Apache-2.0 */
/* Defines struct ordo_device and the functions that the files of host/runtime share. */
#ifndef ORDO_DEVICE_PRIVATE_H
#define ORDO_DEVICE_PRIVATE_H

#include "environment.h"
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

/* Content of a free scratch block: arbitrary data, zeros, or numbers of earlier calls (ordo_call_stamped). */
enum ordo_scratch_use {
    ORDO_SCRATCH_PLAIN,
    ORDO_SCRATCH_ZEROED,
    ORDO_SCRATCH_STAMPED,
};

/* A scratch block (temporary buffer of a call), or a buffer that outlives calls. Scratch is reused only in the same
 * queue, so that new commands run after the old ones. */
struct ordo_block {
    struct ordo_block    *next;
    cl_mem                mem;
    size_t                bytes;
    cl_command_queue      queue; /* Retained. NULL if the buffer outlives calls. */
    bool                  in_use;
    enum ordo_scratch_use use;
    uint32_t              stamp;
};

struct ordo_stage {
    struct ordo_stage *next;
    cl_mem             mem;
    /* Buffer whose pinned memory is mapped at `host`. NULL on a CPU: there each call creates `mem` in the memory at
     * `host`. */
    cl_mem   pinned;
    char    *host;
    bool     in_use;
    uint64_t sent; /* Number of the last upload that may still read `host`, or 0. */
};

/* Pinned memory of transfer.c. */
struct ordo_ring {
    cl_mem mem;
    char  *host;
    size_t piece, least; /* Bytes of a piece. Transfers below `least` bytes do not use the ring. */
    int    helpers;      /* Helper threads. 0: the ring is not used. */
};

/* An incomplete event in the wait list of a command in `queue`. */
struct ordo_pending {
    struct ordo_pending *next;
    cl_command_queue     queue;
    cl_event             event;
};

struct ordo_kernel {
    struct ordo_kernel *next;
    char               *name;
    cl_kernel           kernel;
    size_t              max_group;
    bool                limited; /* Compiled with a limit on registers. */
};

struct ordo_digest {
    uint64_t low, high;
};

/* Kernels of one source file that are compiled with the same -D options. */
struct ordo_program {
    struct ordo_program *next;
    struct ordo_digest   variant;
    char                *file, *only, *options; /* `only` lists the compiled kernels. NULL: all. */
    enum {
        ORDO_PROGRAM_KNOWN,
        ORDO_PROGRAM_OTHERS, /* Another process builds it (`part` in ordo/prepare.h). */
        ORDO_PROGRAM_WANTED,
        ORDO_PROGRAM_IN_WORK,
        ORDO_PROGRAM_BUILT,
        ORDO_PROGRAM_FAILED
    } state;
    /* `ahead`: the program was built before a call needed it. This is not yet logged. */
    bool                ahead, from_cache;
    double              build_ms;
    cl_program          program;
    struct ordo_kernel *kernels; /* Protected by the device's lock. */
};

/* A thread that holds `lock` must not lock another mutex. */
#define ORDO_BUILD_THREADS_MAX 16
struct ordo_builds {
    pthread_mutex_t      lock;
    pthread_cond_t       changed;  /* Signalled when a program is requested or built, or threads must end. */
    struct ordo_program *programs; /* newest first */
    pthread_t            thread[ORDO_BUILD_THREADS_MAX];
    unsigned             n_threads, threads_most;
    bool                 end;
    unsigned             preparing;
    unsigned             in_work;      /* programs being built before calls need them */
    unsigned             calls;        /* calls waiting for a program */
    double               calm_ms;      /* Time when a call last got its program (ordo_now_ms). */
    double               waited_ms;    /* Total ms that calls waited for programs. */
    double               ms;           /* Total ms of builds from source for which calls waited. */
    bool                 told;         /* It was logged that calls waited long. */
    uint64_t             expected[64]; /* Hashes of the arguments of ordo_builds_expect. */
    size_t               n_expected;
};

/* Tests change programs by these hooks. */
struct ordo_build_changes {
    const char *(*before)(const ordo_device *dev); /* Returns text to insert before the source, or "". */
    /* Returns compiler options to append, each after a space. */
    const char *(*options)(const ordo_device *dev, const struct ordo_define *defines);
};
extern const struct ordo_build_changes *ordo_build_changes; /* copied into each opened device */

struct ordo_dry_run {
    ordo_device           *stands_for;
    struct ordo_gathering *gathering; /* The list of programs that ordo_device_prepare builds, or NULL. */
    uint32_t               answer;    /* the word that every read returns */
    /* Remaining launches. Later launches fail, which ends loops that wait for a result. */
    unsigned           launches;
    struct ordo_kernel kernel;
};

struct ordo_device {
    struct ordo_facts facts;
    cl_platform_id    platform;
    cl_device_id      id;
    cl_context        context;
    cl_command_queue  queue;
    pid_t             pid;
    atomic_uint       holders; /* reference count: the opener and each object hold one */
    /* Set by ordo_device_close. A closed device logs nothing. */
    atomic_bool closed;
    bool        own_queue_out_of_order;

    pthread_mutex_t lock;       /* Recursive. Protects all members below, except the error members. */
    pthread_mutex_t error_lock; /* protects error, error_status and cl_error */
    pthread_mutex_t log_lock;   /* Serialises log messages. A thread that holds it locks no other mutex. */
    char           *error;
    ordo_status     error_status;
    cl_int          cl_error;
    atomic_bool     failed; /* The last wait for commands reported a failed kernel. */

    ordo_log_fn    log;
    void          *log_user;
    ordo_log_level log_level;
    bool           log_to_stderr;

    char        std[24];          /* Compiler option -cl-std=..., or "". */
    bool        khr_ballot;       /* With ORDO_LANES_KHR: sub_group_ballot compiles. */
    bool        intel_sub_groups; /* Kernels can require a sub-group size (cl_intel_required_subgroup_size). */
    bool        probe_disturbed;  /* A trial compile lacked memory, so probe results are not cached. */
    char       *extensions;       /* a space, then CL_DEVICE_EXTENSIONS */
    char       *cl_dir;           /* $ORDO_CL_DIR, or NULL */
    char       *cache_dir;        /* NULL: no disk cache */
    atomic_bool cache_told;       /* A failed cache write was logged. */
    atomic_int  cache_trouble;    /* errno of a failed cache write that is not logged yet, or 0. */
    bool        profile_told;     /* It was logged that a profile was not read. */

    ordo_status (*test_primitives)(ordo_device *dev, bool all);

    /* Hash of the names and versions of platform, device, driver and Ordo. */
    struct ordo_digest identity;
    struct ordo_builds builds;
    /* If true, each program contains only kernels that one comment "Built together: ..." lists. */
    bool                             kernels_apart;
    const struct ordo_build_changes *changes;
    /* For tests. 1: the compiler optimizes every program, -1: none, 0: programs that the tests choose. */
    int                 optimized;
    struct ordo_device *next_live; /* Next device in `live` (builds.c). */
    /* The driver refused a call's last barrier. The next call in an out-of-order queue begins with a barrier. */
    bool                 barrier_lost;
    struct ordo_dry_run *dry_run, own_dry_run; /* &own_dry_run, or NULL */

    struct ordo_block   *scratch, *held; /* The pool's blocks, and the buffers that outlive calls. */
    struct ordo_ring     ring;
    char                *bounce;     /* Host memory for polled reads (call.c), or NULL. */
    size_t               stage_most; /* Maximum bytes of the arrays that a call copies through a stage. */
    struct ordo_stage   *stages;
    uint64_t             stage_number;
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
/* While true, this thread neither logs nor records errors. */
extern _Thread_local bool ordo_thread_is_mute;
void                      ordo_errors_open(ordo_device *dev, const struct ordo_device_config *config);
void                      ordo_errors_close(ordo_device *dev);

bool ordo_is_want_of_memory(cl_int code);

/* probe.c. ordo_probe_features reads facts from OpenCL. ordo_probe_trials compiles small kernels to find others. */
ordo_status ordo_probe_features(ordo_device *dev);
void        ordo_probe_trials(ordo_device *dev);
ordo_status ordo_apply_mask(ordo_device *dev, const char *mask);
/* Must be called after turning off a feature. If no feature needs option -cl-std, removes it. Some devices lack the
 * generic pointers of newer languages. */
void ordo_choose_older_language(ordo_device *dev);

/* select.c. Sets dev->id. */
ordo_status ordo_select_device(ordo_device *dev, const char *select);

/* probe_cache.c. The key is a hash of device, kernel sources, mask and profile. */
ordo_status ordo_memory_key(ordo_device *dev, const char *mask, struct ordo_digest *out);
bool        ordo_recall(ordo_device *dev, struct ordo_digest key);
void        ordo_remember(ordo_device *dev, struct ordo_digest key);

/* program.c */
bool ordo_device_has(const ordo_device *dev, const char *extension);
/* Ends the build threads and releases all programs. */
void ordo_programs_destroy(ordo_device *dev);
void ordo_builds_open(ordo_device *dev);
void ordo_builds_close(ordo_device *dev);
void ordo_builds_end(ordo_device *dev);
/* Requests a program and does not wait. */
void ordo_build_ahead(struct ordo_dry_run *dry, const char *file, const char *kernel,
                      const struct ordo_define *defines);
void ordo_builds_forget(ordo_device *dev);

/* source.c. Sets *text to a file's malloc'd source with expanded includes. Keeps only the kernels that `kernels` lists,
 * or all if it is NULL. */
ordo_status ordo_program_text(ordo_device *dev, const char *file, const char *kernels, char **text);
struct ordo_kernel_set {
    const char *names; /* Names separated by spaces, not zero-terminated. NULL: all kernels. */
    size_t      bytes;
};
struct ordo_kernel_set ordo_kernel_set(const char *file, const char *kernel);
char                  *ordo_program_options(const ordo_device *dev, const struct ordo_define *defines);
/* Returns a malloc'd build log in which each error names its file and line, or NULL. */
char *ordo_log_with_files(const char *log, const char *text);

/* dry_run.c. Returns a device with only locks and a log, or NULL if memory is lacking. */
ordo_device *ordo_bare_device(const struct ordo_device_config *config);
void         ordo_bare_device_free(ordo_device *dev);

/* program.c. Any thread may call this. */
ordo_status ordo_program_build(ordo_device *dev, struct ordo_program *program);
/* Compiles the texts as one program. Each must define a kernel named trial. */
bool               ordo_trial_compile(ordo_device *dev, const char *options, const char *const *texts, size_t n);
struct ordo_digest ordo_sources_digest(const ordo_device *dev);

/* cache.c */
void ordo_cache_open(ordo_device *dev);
/* Returns malloc'd content, or NULL if there is no valid file. */
void *ordo_cache_read(ordo_device *dev, const char *kind, struct ordo_digest key, size_t *bytes);
void  ordo_cache_write(ordo_device *dev, const char *kind, struct ordo_digest key, const void *data, size_t bytes);
void  ordo_cache_drop(ordo_device *dev, const char *kind, struct ordo_digest key);
void  ordo_cache_tell(ordo_device *dev);
/* Returns malloc'd text, or NULL. */
char *ordo_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct ordo_digest ordo_digest_of(struct ordo_digest seed, const void *data, size_t bytes);
#define ORDO_DIGEST_TEXT(seed, text) ordo_digest_of((seed), (text), strlen(text))

/* memory.c */
void ordo_scratch_destroy(ordo_device *dev);
/* Frees the list of buffers that outlive calls, without calling OpenCL. */
void ordo_held_forget(ordo_device *dev);
/* Takes a free block from the pool, or creates one and sets *fresh. The caller must zero a fresh block if `use` is not
 * ORDO_SCRATCH_PLAIN. */
ordo_status ordo_scratch_take(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use,
                              struct ordo_block **out, bool *fresh);
void        ordo_scratch_give(ordo_device *dev, struct ordo_block *block);
/* Must be called if commands that zero blocks may not have run. The content of free blocks then counts as arbitrary. */
void ordo_scratch_distrust(ordo_device *dev);

/* Returns the mapped address of new pinned memory, or NULL. It does not count as device memory. */
char *ordo_pinned_create(ordo_device *dev, size_t bytes, cl_mem *mem);
void  ordo_pinned_destroy(ordo_device *dev, cl_mem *mem, char *host);

/* staging.c. Makes the stages of uploads 1 to `number` reusable. These uploads must have ended. */
void ordo_stages_forget(ordo_device *dev, uint64_t number);
void ordo_stages_destroy(ordo_device *dev);

/* transfer.c */
void ordo_ring_open(ordo_device *dev);
void ordo_ring_destroy(ordo_device *dev);

/* order.c */
/* Uses clCreateCommandQueue, which every platform has. */
ordo_status ordo_queue_create(ordo_device *dev, cl_command_queue_properties properties, cl_command_queue *out);
/* Returns ORDO_INVALID unless the queue belongs to the device and its context. */
ordo_status ordo_queue_check(ordo_device *dev, cl_command_queue queue, const char *name, bool *out_of_order);
bool        ordo_event_ended(cl_event event);
/* Must be called before each command. Records the incomplete events of the wait list in dev->pending. */
ordo_status ordo_call_pass_events(struct ordo_call *call);
void        ordo_call_drop_events(struct ordo_call *call);
ordo_status ordo_call_barrier(const struct ordo_call *call);
/* Tries once. Returns false, without an error message, if the driver refuses. */
bool ordo_call_try_barrier(const struct ordo_call *call);
void ordo_pending_forget(ordo_device *dev);

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
