/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the driver for tests: OpenCL with a device for each AMD processor that toolchain.py compiles for.
 *
 * Every function holds one lock unless its comment says otherwise. One thread, the dispatcher, starts commands
 * (queue.c). Kernels run in one process per device (link.c, runner.c). Each object begins with a word that names its
 * kind, so the driver recognizes an invalid handle. */
#ifndef ORDO_TESTS_AMD_DRIVER_H
#define ORDO_TESTS_AMD_DRIVER_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_icd.h>

#include "protocol.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICES_MAX = 8, ARGS_MAX = 64 };

enum kind {
    KIND_NONE,
    KIND_PLATFORM = 0x414d4401,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_BUFFER,
    KIND_PROGRAM,
    KIND_KERNEL,
    KIND_EVENT
};

/* The beginning of every handle. The loader reads the table. */
struct object {
    const struct _cl_icd_dispatch *table;
    enum kind                      kind;
    unsigned                       references;
};

/* The object of a handle, or NULL if it is none of this kind. */
void *object_as(const void *handle, enum kind kind);
#define AS(type, handle, kind) ((struct type *) object_as((handle), (kind)))
/* A fresh object with one reference, or NULL. */
void *object_create(size_t bytes, enum kind kind);

extern struct _cl_icd_dispatch driver_table;
extern pthread_mutex_t         driver_lock;

/* Defines retain_TYPE and release_TYPE, which are clRetain... and clRelease... of a kind of object. */
#define RETAIN_AND_RELEASE(type, handle_type, kind, invalid)                                                           \
    static cl_int change_references_of_##type(handle_type handle, bool more)                                           \
    {                                                                                                                  \
        struct type *object = AS(type, handle, kind);                                                                  \
        if (!object)                                                                                                   \
            return (invalid);                                                                                          \
        pthread_mutex_lock(&driver_lock);                                                                              \
        if (more)                                                                                                      \
            object->object.references++;                                                                               \
        else                                                                                                           \
            type##_release(object);                                                                                    \
        pthread_mutex_unlock(&driver_lock);                                                                            \
        return CL_SUCCESS;                                                                                             \
    }                                                                                                                  \
    static cl_int CL_API_CALL retain_##type(handle_type handle)                                                        \
    {                                                                                                                  \
        return change_references_of_##type(handle, true);                                                              \
    }                                                                                                                  \
    static cl_int CL_API_CALL release_##type(handle_type handle)                                                       \
    {                                                                                                                  \
        return change_references_of_##type(handle, false);                                                             \
    }

/* ---- info.c: platform, devices, contexts --------------------------------------------------------------------- */

struct platform {
    struct object object;
};

struct link;
struct device {
    struct object object;
    char          key[16], arch[16], name[64]; /* toolchain.py's names of it, and ROCm's */
    uint32_t      wave, units;
    unsigned      machine; /* of ELF files: the low byte of their flags */
    struct link  *link;
};
extern struct platform driver_platform;
extern struct device   driver_devices[DEVICES_MAX];
extern cl_uint         driver_n_devices;

#define GLOBAL_BYTES    ((uint64_t) 2 << 30)
#define MAX_ALLOC_BYTES (GLOBAL_BYTES / 100 * 85) /* as ROCm's */
#define LOCAL_BYTES     65536
#define MAX_GROUP       256

struct context {
    struct object  object;
    cl_uint        n;
    struct device *devices[DEVICES_MAX];
    void (*notify)(const char *, const void *, size_t, void *);
    void *user;
};
void context_retain(struct context *context);
void context_release(struct context *context);

/* Answers a query: `bytes` at `value`. */
cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *have);
#define ANSWER(type, value)                                                                                            \
    {                                                                                                                  \
        const type answer_ = (value);                                                                                  \
        return answer(&answer_, sizeof answer_, room, to, have);                                                       \
    }

/* ---- memory.c ------------------------------------------------------------------------------------------------ */

struct buffer {
    struct object   object;
    struct context *context;
    struct buffer  *parent;        /* of a sub-buffer */
    size_t          bytes, origin; /* of a sub-buffer, in the parent */
    uint64_t        offset;        /* of its first byte, in the file */
    uint64_t        from, to;      /* its pages there */
    struct buffer  *next;          /* of all that have pages */
};
extern struct buffer *driver_buffers;
int                   memory_file(void); /* -1: there is none */
char                 *buffer_bytes(const struct buffer *buffer);
uint64_t              buffer_address(const struct buffer *buffer); /* for kernels */
void                  buffer_retain(struct buffer *buffer);
void                  buffer_release(struct buffer *buffer);

/* ---- code_object.c ------------------------------------------------------------------------------------------- */

enum argument_kind { ARGUMENT_VALUE, ARGUMENT_BUFFER, ARGUMENT_LOCAL, ARGUMENT_HIDDEN };
struct argument {
    enum argument_kind kind;
    uint32_t           offset, bytes;
    char               hidden[32]; /* what the compiler wants to know */
};
struct kernel_info {
    char            name[64];
    uint64_t        descriptor;
    uint32_t        argument_bytes, local_bytes, private_bytes, max_group, fixed[3];
    unsigned        n, n_given; /* arguments; the caller's come first */
    struct argument arguments[ARGS_MAX];
};
struct code_object {
    unsigned            n;
    struct kernel_info *kernels;
};
/* Reads what an ELF file says of its kernels; false if it is not one of this machine. */
bool code_object_read(const char *elf, size_t bytes, unsigned machine, struct code_object *out);
void code_object_free(struct code_object *co);

/* ---- program.c ----------------------------------------------------------------------------------------------- */

struct built { /* for one device */
    struct device     *device;
    cl_build_status    status;
    char              *log, *binary, *options;
    size_t             binary_bytes;
    bool               has_binary; /* binary was given, or built */
    struct code_object code;
    char               path[256], map[256]; /* files: the code object, its map */
    uint32_t           number;              /* for the runner */
};
struct program {
    struct object   object;
    struct context *context;
    char           *source;
    unsigned        kernels; /* that are alive */
    struct built    built[DEVICES_MAX];
};
struct kernel {
    struct object   object;
    struct program *program;
    unsigned        index; /* in the code object: the same for each device */
    struct {
        bool           is_set;
        struct buffer *buffer;
        size_t         local;
        unsigned char  value[1024];
    } args[ARGS_MAX];
};
struct built       *program_for(struct program *program, const struct device *device);
struct kernel_info *kernel_for(const struct kernel *kernel, const struct device *device, struct built **built);
/* Has the code translated; false, and why in the text, if that fails. */
bool program_translate(struct built *built, char *why, size_t room);
void program_retain(struct program *program);
void program_release(struct program *program);
void kernel_release(struct kernel *kernel);

/* ---- link.c: the process that runs kernels ------------------------------------------------------------------- */

struct command;
/* Hands a launch over; false, and why, if there is no such process. */
bool link_launch(struct device *device, struct command *command, char *why, size_t room);
void link_map(const struct buffer *buffer);
void link_unmap(const struct buffer *buffer);
void link_unload(const struct built *built);
/* Sockets to wait on; link_receive reads the messages that arrived. */
struct pollfd;
unsigned link_sockets(struct pollfd *to);
void     link_receive(void);
/* In the child of a fork: none of it is there. */
void link_forget(void);

/* ---- queue.c ------------------------------------------------------------------------------------------------- */

struct event {
    struct object   object;
    struct context *context;
    struct queue   *queue; /* NULL: a user's */
    cl_int          status;
};

enum command_kind {
    COMMAND_READ,
    COMMAND_WRITE,
    COMMAND_COPY,
    COMMAND_FILL,
    COMMAND_LAUNCH,
    COMMAND_MARKER,
    COMMAND_BARRIER
};
struct command {
    enum command_kind     kind;
    struct queue         *queue;
    struct event         *event, **wait;
    cl_uint               n_wait;
    bool                  running;
    struct buffer        *from, *to;
    size_t                at, at_to, bytes, pattern_bytes;
    void                 *host;
    unsigned char         pattern[128];
    struct program       *program; /* of a launch, and the rest */
    struct built         *built;
    struct message_launch launch;
    unsigned char        *arguments;
    struct buffer        *used[ARGS_MAX];
    unsigned              n_used;
    struct command       *next;
};
struct queue {
    struct object               object;
    struct context             *context;
    struct device              *device;
    cl_command_queue_properties properties;
    cl_int                      broken; /* a command failed: the code that all later ones fail with */
    struct command             *first, **last;
    struct queue               *next;
};
void     command_done(struct command *command, cl_int status);
uint64_t driver_now(void);
void     queue_wake(void);
/* In the child of a fork. */
void queue_forget(void);

#endif
