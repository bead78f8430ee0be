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

/* Contents of a free scratch block, which is a temporary buffer of calls. */
enum ordo_scratch_use {
    ORDO_SCRATCH_PLAIN,   /* any data */
    ORDO_SCRATCH_ZEROED,  /* zeros */
    ORDO_SCRATCH_STAMPED, /* words with marks from 0 to `stamp` of the block (ordo_call_stamped) */
};

/* A scratch block, or a buffer that outlives calls. A scratch block is reused only by calls in the same queue. */
struct ordo_block {
    struct ordo_block    *next;
    cl_mem                mem;
    size_t                bytes;
    cl_command_queue      queue; /* Retained. NULL if this is no scratch block. */
    bool                  in_use;
    enum ordo_scratch_use use;
    uint32_t              stamp;
};

struct ordo_stage {
    struct ordo_stage *next;
    cl_mem             mem;
    /* Pinned memory, mapped at `host`. On a CPU it is NULL, and `mem` uses the memory at `host`. */
    cl_mem   pinned;
    char    *host;
    bool     in_use;
    uint64_t sent; /* sequence number of the last upload that may still read `host`, or 0 */
};

/* transfer.c copies arrays through this pinned memory, in pieces of `piece` bytes. Transfers below `least` bytes do not
 * use it. `helpers` is the number of helper threads. */
struct ordo_ring {
    cl_mem mem;
    char  *host;
    size_t piece, least;
    int    helpers;
};

/* Memory of ordo_host_alloc. On a CPU, `pinned` is NULL. */
struct ordo_host_block {
    char  *host;
    size_t bytes;
    cl_mem pinned;
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
    bool                limited;
};

struct ordo_digest {
    uint64_t low, high;
};

/* A program contains some or all kernels of one source file. */
struct ordo_program {
    struct ordo_program *next;
    struct ordo_digest   variant;
    char                *file, *only, *options; /* `only` lists the kernels of the program. NULL: all. */
    enum {
        ORDO_PROGRAM_KNOWN,
        ORDO_PROGRAM_OTHERS, /* Another process builds the program. */
        ORDO_PROGRAM_WANTED,
        ORDO_PROGRAM_IN_WORK,
        ORDO_PROGRAM_BUILT,
        ORDO_PROGRAM_FAILED
    } state;
    bool                ahead, from_cache;
    double              build_ms;
    cl_program          program;
    struct ordo_kernel *kernels; /* Protected by the device's lock. */
};

#define ORDO_BUILD_THREADS_MAX 16
struct ordo_builds {
    pthread_mutex_t      lock; /* A thread must not lock another mutex while it holds `lock`. */
    pthread_cond_t       changed;
    struct ordo_program *programs;
    pthread_t            thread[ORDO_BUILD_THREADS_MAX];
    unsigned             n_threads, threads_most;
    bool                 end;
    unsigned             preparing;
    unsigned             in_work;
    unsigned             calls;
    double               calm_ms;
    double               waited_ms;
    double               ms; /* Total ms that calls waited for builds from source. */
    bool                 told;
    uint64_t             expected[64];
    size_t               n_expected;
};

/* Tests use these hooks to change programs. */
struct ordo_build_changes {
    const char *(*before)(const ordo_device *dev); /* Returns text to insert before the source, or "". */
    /* Returns compiler options, each with a space before it. */
    const char *(*options)(const ordo_device *dev, const struct ordo_define *defines);
};
extern const struct ordo_build_changes *ordo_build_changes;

struct ordo_dry_run {
    ordo_device           *stands_for;
    struct ordo_gathering *gathering;
    uint32_t               answer;
    unsigned               launches;
    struct ordo_kernel     kernel;
};

struct ordo_device {
    struct ordo_facts facts;
    cl_platform_id    platform;
    cl_device_id      id;
    cl_context        context;
    cl_command_queue  queue;
    pid_t             pid;
    atomic_uint       holders;
    atomic_bool       closed;
    bool              own_queue_out_of_order;

    pthread_mutex_t lock;       /* Recursive. Protects all members below, except the error members. */
    pthread_mutex_t error_lock; /* protects error, error_status and cl_error */
    pthread_mutex_t log_lock;   /* Serialises log messages. A thread that holds log_lock must lock no other mutex. */
    char           *error;
    ordo_status     error_status;
    cl_int          cl_error;
    atomic_bool     failed;

    ordo_log_fn    log;
    void          *log_user;
    ordo_log_level log_level;
    bool           log_to_stderr;

    char        std[24];
    bool        khr_ballot;
    bool        intel_sub_groups; /* Kernels can require a sub-group size (cl_intel_required_subgroup_size). */
    bool        probe_disturbed;  /* A trial compile lacked memory, so probe results are not cached. */
    char       *extensions;
    char       *cl_dir;
    char       *cache_dir;
    atomic_bool cache_told;
    atomic_int  cache_trouble; /* errno of a failed cache write that is not logged yet, or 0. */
    bool        profile_told;

    ordo_status (*test_primitives)(ordo_device *dev, bool all);

    struct ordo_digest identity;
    struct ordo_builds builds;
    /* If true, a program contains only the kernels that one comment "Built together: ..." of its source lists. */
    bool                             kernels_apart;
    const struct ordo_build_changes *changes;
    /* For tests: the compiler optimizes every program (1), none (-1), or the programs that the tests choose (0). */
    int                 optimized;
    struct ordo_device *next_live;
    /* True if the driver refused the last barrier of a call. */
    bool                 barrier_lost;
    struct ordo_dry_run *dry_run, own_dry_run;

    struct ordo_block *scratch, *held;
    struct ordo_ring   ring;
    /* Sorted by address. */
    struct ordo_host_block *host_blocks;
    size_t                  n_host_blocks;
    char                   *bounce;
    size_t                  stage_most;
    /* overlap.c creates these queues, and transfers pieces of this size. */
    cl_command_queue     queue_up, queue_down;
    size_t               piece_bytes;
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

/* probe.c. ordo_probe_features asks OpenCL for facts. ordo_probe_trials compiles small kernels to find other facts. */
ordo_status ordo_probe_features(ordo_device *dev);
void        ordo_probe_trials(ordo_device *dev);
ordo_status ordo_apply_mask(ordo_device *dev, const char *mask);
/* Must be called after a feature is turned off. Removes the compiler option -cl-std if no other feature needs it. */
void ordo_choose_older_language(ordo_device *dev);

/* select.c. Sets dev->id. */
ordo_status ordo_select_device(ordo_device *dev, const char *select);

/* probe_cache.c. The key of a cache file is a hash of device, kernel sources, mask and profile. */
ordo_status ordo_memory_key(ordo_device *dev, const char *mask, struct ordo_digest *out);
bool        ordo_recall(ordo_device *dev, struct ordo_digest key);
void        ordo_remember(ordo_device *dev, struct ordo_digest key);

/* program.c */
bool ordo_device_has(const ordo_device *dev, const char *extension);
void ordo_programs_destroy(ordo_device *dev);
void ordo_builds_open(ordo_device *dev);
void ordo_builds_close(ordo_device *dev);
void ordo_builds_end(ordo_device *dev);
void ordo_build_ahead(struct ordo_dry_run *dry, const char *file, const char *kernel,
                      const struct ordo_define *defines);
void ordo_builds_forget(ordo_device *dev);

/* source.c. Sets *text to a file's malloc'd source, in which includes are expanded. `kernels` lists the kernels to
 * keep, and NULL keeps all. */
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
/* Compiles the texts as one program. Each text must define a kernel `trial`, which is renamed. */
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
/* Frees the entries of dev->held, but does not release their buffers. */
void ordo_held_forget(ordo_device *dev);
/* Takes a free block from the pool, or creates one and sets *fresh. The caller must zero a fresh block if `use` is not
 * ORDO_SCRATCH_PLAIN. */
ordo_status ordo_scratch_take(ordo_device *dev, cl_command_queue queue, size_t bytes, enum ordo_scratch_use use,
                              struct ordo_block **out, bool *fresh);
void        ordo_scratch_give(ordo_device *dev, struct ordo_block *block);
/* Marks all free blocks as ORDO_SCRATCH_PLAIN. Must be called if the driver may have dropped commands that fill blocks
 * with zeros. */
void ordo_scratch_distrust(ordo_device *dev);

/* Creates pinned memory, mapped at *host. After an error, both outputs are NULL. Pinned memory does not count as device
 * memory. */
cl_int ordo_pinned_create(ordo_device *dev, size_t bytes, cl_mem *mem, char **host);
void   ordo_pinned_destroy(ordo_device *dev, cl_mem *mem, char *host);
/* Returns the number of blocks of ordo_host_alloc that begin at or before `memory`. */
size_t ordo_host_blocks_up_to(const ordo_device *dev, const void *memory);
/* Returns the block that contains the byte at `memory`, or NULL. *at is the byte's offset in the block. */
struct ordo_host_block *ordo_host_block_of(const ordo_device *dev, const void *memory, size_t *at);
/* Returns host memory for a CPU, or NULL. It begins at a page, because drivers would copy memory with a smaller
 * alignment. Large memory uses huge pages. free() releases it. */
void *ordo_large_pages(size_t size);

/* staging.c. Uploads have consecutive numbers from 1. Allows calls to reuse the staging memory of the uploads 1 to
 * `number`. These uploads must have ended. */
void ordo_stages_forget(ordo_device *dev, uint64_t number);
void ordo_stages_destroy(ordo_device *dev);

/* transfer.c */
void ordo_ring_open(ordo_device *dev);
void ordo_ring_destroy(ordo_device *dev);

/* overlap.c */
void ordo_overlap_open(ordo_device *dev);
void ordo_overlap_close(ordo_device *dev);

/* order.c */
ordo_status ordo_queue_create(ordo_device *dev, cl_command_queue_properties properties, cl_command_queue *out);
ordo_status ordo_queue_check(ordo_device *dev, cl_command_queue queue, const char *name, bool *out_of_order);
bool        ordo_event_ended(cl_event event);
/* Must be called before each command. Adds the incomplete events of the call's wait list to dev->pending. */
ordo_status ordo_call_pass_events(struct ordo_call *call);
void        ordo_call_drop_events(struct ordo_call *call);
ordo_status ordo_call_barrier(const struct ordo_call *call);
/* Returns false, without an error message, if the driver refuses the barrier. */
bool ordo_call_try_barrier(const struct ordo_call *call);
/* Enqueues a marker that ends after all commands of the call. It fails if the driver drops commands of a change. */
cl_int ordo_call_mark(const struct ordo_call *call, cl_event *out);
void   ordo_pending_forget(ordo_device *dev);

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
