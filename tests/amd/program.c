/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and kernels. toolchain.py runs the compilers at the other end of a socket. A cache keeps their output. */
#define _GNU_SOURCE
#include "driver.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- files --------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *bytes)
{
    FILE       *file = fopen(path, "rb");
    struct stat about;
    char       *text = NULL;
    if (file && fstat(fileno(file), &about) == 0 && (text = calloc(1, (size_t) about.st_size + 1)))
        *bytes = fread(text, 1, (size_t) about.st_size, file);
    if (file)
        (void) fclose(file);
    return text;
}

/* Writes another file and renames it, so nobody reads half a file. */
static bool write_file(const char *path, const char *text, size_t bytes)
{
    char fresh[300];
    (void) snprintf(fresh, sizeof fresh, "%s.%d.%p", path, (int) getpid(), (void *) &fresh);
    FILE *file = fopen(fresh, "wb");
    bool  good = file && fwrite(text, 1, bytes, file) == bytes;
    good = file && fclose(file) == 0 && good;
    return good && rename(fresh, path) == 0;
}

static void name_file(char *to, size_t room, const char *folder, const struct device *d, XXH128_hash_t key,
                      const char *ending)
{
    (void) snprintf(to, room, "%s/%s-%016llx%016llx%s", getenv(folder), d->key, (unsigned long long) key.high64,
                    (unsigned long long) key.low64, ending);
}

/* ---- the tools ----------------------------------------------------------------------------------------------- */

static bool all_of(int s, char *to, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = read(s, to + at, bytes - at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? (size_t) n : 0;
    }
    return true;
}

static int connect_tools(void)
{
    struct sockaddr_un where = { .sun_family = AF_UNIX };
    const int          s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void) snprintf(where.sun_path, sizeof where.sun_path, "%s", getenv("ORDO_AMD_TOOLS"));
    if (s >= 0 && connect(s, (const struct sockaddr *) &where, sizeof where) != 0) {
        close(s);
        return -1;
    }
    return s;
}

/* Asks for something in texts, the last NULL. true: done. The rest of the answer is malloc'd. */
static bool ask_tools(const char *const *texts, char **rest)
{
    char     request[4096] = "";
    uint32_t bytes = sizeof bytes;
    for (; *texts; texts++) {
        const size_t n = strlen(*texts) + 1;
        if (bytes + n > sizeof request) {
            *rest = strdup("the build options are too long");
            return false;
        }
        memcpy(request + bytes, *texts, n);
        bytes += (uint32_t) n;
    }
    const uint32_t body = bytes - (uint32_t) sizeof body;
    memcpy(request, &body, sizeof body);

    const int s = connect_tools();
    uint32_t  length = 0;
    char     *answer = NULL;
    if (s >= 0 && send(s, request, bytes, MSG_NOSIGNAL) == (ssize_t) bytes &&
        all_of(s, (char *) &length, sizeof length) && (answer = calloc(1, (size_t) length + 2)) &&
        !all_of(s, answer, length)) {
        free(answer);
        answer = NULL;
    }
    if (s >= 0)
        close(s);
    *rest = answer ? strdup(answer + strlen(answer) + 1)
                   : strdup("the compilers' process (tests/amd/suite.py) is not there");
    const bool good = answer && strcmp(answer, "ok") == 0;
    free(answer);
    return good;
}

bool program_translate(struct built *b, char *why, size_t room)
{
    char *rest = NULL;
    bool  good = b->map[0] != 0;
    if (good)
        return true;
    const XXH128_hash_t key = XXH3_128bits(b->binary, b->binary_bytes);
    name_file(b->path, sizeof b->path, "ORDO_AMD_MAPS", b->device, key, ".co");
    name_file(b->map, sizeof b->map, "ORDO_AMD_MAPS", b->device, key, ".map");
    good = access(b->path, R_OK) == 0 || write_file(b->path, b->binary, b->binary_bytes);
    if (good && access(b->map, R_OK) != 0) {
        good = ask_tools((const char *const[]) { "translate", b->device->key, b->path, b->map, NULL }, &rest);
        (void) snprintf(why, room, "%s", rest ? rest : "");
        free(rest);
    }
    if (!good)
        b->map[0] = 0;
    return good;
}

/* ---- building ------------------------------------------------------------------------------------------------ */

struct built *program_for(struct program *p, const struct device *device)
{
    for (cl_uint i = 0; i < p->context->n; i++)
        if (p->context->devices[i] == device)
            return &p->built[i];
    return NULL;
}

static void take_binary(struct built *b, char *binary, size_t bytes)
{
    static uint32_t numbers;
    free(b->binary);
    b->binary = binary;
    b->binary_bytes = bytes;
    b->has_binary = true;
    b->number = ++numbers;
    b->map[0] = 0;
}

/* Compiles the source into a file of the cache, or finds that it was; what the compiler said. */
static bool compile(const struct program *p, const struct built *b, char *out, size_t room, char **log)
{
    char          source[256], said[256], ending[32];
    size_t        bytes = 0;
    XXH3_state_t *state = XXH3_createState();
    (void) XXH3_128bits_reset(state);
    (void) XXH3_128bits_update(state, p->source, strlen(p->source) + 1);
    (void) XXH3_128bits_update(state, b->options, strlen(b->options) + 1);
    const XXH128_hash_t key = XXH3_128bits_digest(state);
    (void) XXH3_freeState(state);
    name_file(out, room, "ORDO_AMD_CACHE", b->device, key, ".built");
    name_file(said, sizeof said, "ORDO_AMD_CACHE", b->device, key, ".log");
    if (access(out, R_OK) == 0)
        return true;
    if ((*log = read_file(said, &bytes)))
        return false;
    (void) snprintf(ending, sizeof ending, ".%d.cl",
                    (int) getpid()); /* others may build the same, and take theirs away */
    name_file(source, sizeof source, "ORDO_AMD_CACHE", b->device, key, ending);
    if (!write_file(source, p->source, strlen(p->source))) {
        *log = strdup("cannot write to ORDO_AMD_CACHE");
        return false;
    }
    const bool good = ask_tools((const char *const[]) { "build", b->device->key, source, b->options, out, NULL }, log);
    /* Caches errors of the source. Other errors are tried again. */
    if (!good && *log && !strstr(*log, "suite.py") && !write_file(said, *log, strlen(*log)))
        return false;
    (void) unlink(source);
    return good;
}

static cl_int build_one(struct program *p, struct built *b, const char *options)
{
    char   path[256];
    size_t bytes = 0;
    char  *log = NULL, *binary = NULL;
    free(b->options);
    free(b->log);
    b->options = strdup(options ? options : "");
    b->log = NULL;
    if (p->source && compile(p, b, path, sizeof path, &log) && (binary = read_file(path, &bytes)))
        take_binary(b, binary, bytes);
    else if (p->source) {
        b->log = log;
        b->status = CL_BUILD_ERROR;
        return CL_BUILD_PROGRAM_FAILURE;
    }
    b->log = log;
    code_object_free(&b->code);
    const bool good = b->has_binary && code_object_read(b->binary, b->binary_bytes, b->device->machine, &b->code);
    b->status = good ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    return good ? CL_SUCCESS : CL_INVALID_BINARY;
}

static cl_int CL_API_CALL build(cl_program handle, cl_uint n, const cl_device_id *ids, const char *options,
                                void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    struct program *p = AS(program, handle, KIND_PROGRAM);
    cl_int          got = CL_SUCCESS;
    if (!p)
        return CL_INVALID_PROGRAM;
    if ((n == 0) != (ids == NULL) || (!done && user))
        return CL_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (p->kernels)
        got = CL_INVALID_OPERATION;
    for (cl_uint i = 0; got == CL_SUCCESS && i < (n ? n : p->context->n); i++) {
        struct device *d = n ? AS(device, ids[i], KIND_DEVICE) : p->context->devices[i];
        struct built  *b = d ? program_for(p, d) : NULL;
        got = b ? build_one(p, b, options) : CL_INVALID_DEVICE;
    }
    pthread_mutex_unlock(&driver_lock);
    if (done)
        done(handle, user);
    return got;
}

/* ---- programs ------------------------------------------------------------------------------------------------ */

static struct program *create(struct context *c)
{
    struct program *p = object_create(sizeof *p, KIND_PROGRAM);
    if (!p)
        return NULL;
    pthread_mutex_lock(&driver_lock);
    p->context = c;
    context_retain(c);
    for (cl_uint i = 0; i < c->n; i++)
        p->built[i] = (struct built) { .device = c->devices[i], .status = CL_BUILD_NONE };
    pthread_mutex_unlock(&driver_lock);
    return p;
}

static cl_program CL_API_CALL create_from_source(cl_context handle, cl_uint n, const char **texts, const size_t *bytes,
                                                 cl_int *code)
{
    struct context *c = AS(context, handle, KIND_CONTEXT);
    cl_int          got = !c ? CL_INVALID_CONTEXT : n == 0 || !texts ? CL_INVALID_VALUE : CL_SUCCESS;
    size_t          all = 1, at = 0;
    for (cl_uint i = 0; got == CL_SUCCESS && i < n; i++) {
        if (texts[i])
            all += bytes && bytes[i] ? bytes[i] : strlen(texts[i]);
        else
            got = CL_INVALID_VALUE;
    }
    struct program *p = got == CL_SUCCESS ? create(c) : NULL;
    if (p)
        p->source = calloc(1, all);
    for (cl_uint i = 0; p && p->source && i < n; i++) {
        const size_t length = bytes && bytes[i] ? bytes[i] : strlen(texts[i]);
        memcpy(p->source + at, texts[i], length);
        at += length;
    }
    if (code)
        *code = got == CL_SUCCESS && (!p || !p->source) ? CL_OUT_OF_HOST_MEMORY : got;
    return (cl_program) p;
}

static cl_program CL_API_CALL create_from_binary(cl_context handle, cl_uint n, const cl_device_id *ids,
                                                 const size_t *bytes, const unsigned char **binaries, cl_int *loaded,
                                                 cl_int *code)
{
    struct context *c = AS(context, handle, KIND_CONTEXT);
    cl_int got = !c ? CL_INVALID_CONTEXT : n == 0 || !ids || !bytes || !binaries ? CL_INVALID_VALUE : CL_SUCCESS;
    struct program *p = got == CL_SUCCESS ? create(c) : NULL;
    if (got == CL_SUCCESS && !p)
        got = CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; p && i < n; i++) {
        const struct device *d = AS(device, ids[i], KIND_DEVICE);
        struct built        *b = d ? program_for(p, d) : NULL;
        struct code_object   co;
        cl_int               one = !b ? CL_INVALID_DEVICE : !binaries[i] || !bytes[i] ? CL_INVALID_VALUE : CL_SUCCESS;
        char                *copy = one == CL_SUCCESS ? malloc(bytes[i] + 1) : NULL;
        if (copy) {
            memcpy(copy, binaries[i], bytes[i]);
            copy[bytes[i]] = 0;
            if (!code_object_read(copy, bytes[i], d->machine, &co))
                one = CL_INVALID_BINARY;
        } else if (one == CL_SUCCESS)
            one = CL_OUT_OF_HOST_MEMORY;
        if (one == CL_SUCCESS) {
            code_object_free(&co);
            take_binary(b, copy, bytes[i]);
        } else {
            free(copy);
            got = one;
        }
        if (loaded)
            loaded[i] = one;
    }
    if (p && got != CL_SUCCESS) {
        pthread_mutex_lock(&driver_lock);
        program_release(p);
        pthread_mutex_unlock(&driver_lock);
        p = NULL;
    }
    if (code)
        *code = got;
    return (cl_program) p;
}

void program_retain(struct program *p)
{
    p->object.references++;
}

void program_release(struct program *p)
{
    if (--p->object.references)
        return;
    p->object.kind = KIND_NONE;
    for (cl_uint i = 0; i < p->context->n; i++) {
        struct built *b = &p->built[i];
        link_unload(b);
        code_object_free(&b->code);
        free(b->log);
        free(b->binary);
        free(b->options);
    }
    context_release(p->context);
    free(p->source);
    free(p);
}

RETAIN_AND_RELEASE(program, cl_program, KIND_PROGRAM, CL_INVALID_PROGRAM)

static cl_int give_binaries(const struct program *p, size_t room, void *to, size_t *have)
{
    unsigned char **out = to;
    if (out && room < p->context->n * sizeof *out)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; out && i < p->context->n; i++)
        if (out[i] && p->built[i].binary)
            memcpy(out[i], p->built[i].binary, p->built[i].binary_bytes);
    if (have)
        *have = p->context->n * sizeof *out;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL info(cl_program handle, cl_program_info what, size_t room, void *to, size_t *have)
{
    const struct program *p = AS(program, handle, KIND_PROGRAM);
    size_t                sizes[DEVICES_MAX];
    if (!p)
        return CL_INVALID_PROGRAM;
    for (cl_uint i = 0; i < p->context->n; i++)
        sizes[i] = p->built[i].has_binary ? p->built[i].binary_bytes : 0;
    switch (what) {
    case CL_PROGRAM_BINARY_SIZES:
        return answer(sizes, p->context->n * sizeof *sizes, room, to, have);
    case CL_PROGRAM_BINARIES:
        return give_binaries(p, room, to, have);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL build_info(cl_program handle, cl_device_id id, cl_program_build_info what, size_t room,
                                     void *to, size_t *have)
{
    struct program      *p = AS(program, handle, KIND_PROGRAM);
    const struct device *d = AS(device, id, KIND_DEVICE);
    const struct built  *b = p && d ? program_for(p, d) : NULL;
    if (!b)
        return p ? CL_INVALID_DEVICE : CL_INVALID_PROGRAM;
    switch (what) {
    case CL_PROGRAM_BUILD_LOG:
        return answer(b->log ? b->log : "", b->log ? strlen(b->log) + 1 : 1, room, to, have);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------- */

static const struct built *first_built(const struct program *p)
{
    for (cl_uint i = 0; i < p->context->n; i++)
        if (p->built[i].status == CL_BUILD_SUCCESS)
            return &p->built[i];
    return NULL;
}

static cl_kernel CL_API_CALL create_kernel(cl_program handle, const char *name, cl_int *code)
{
    struct program *p = AS(program, handle, KIND_PROGRAM);
    struct kernel  *k = NULL;
    cl_int          got = !p ? CL_INVALID_PROGRAM : !name ? CL_INVALID_VALUE : CL_SUCCESS;
    if (got == CL_SUCCESS) {
        pthread_mutex_lock(&driver_lock);
        const struct built *b = first_built(p);
        got = b ? CL_INVALID_KERNEL_NAME : CL_INVALID_PROGRAM_EXECUTABLE;
        for (unsigned i = 0; b && i < b->code.n && !k; i++)
            if (strcmp(b->code.kernels[i].name, name) == 0) {
                k = object_create(sizeof *k, KIND_KERNEL);
                got = k ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
                if (!k)
                    break;
                k->program = p;
                k->index = i;
                p->kernels++;
                program_retain(p);
            }
        pthread_mutex_unlock(&driver_lock);
    }
    if (code)
        *code = got;
    return (cl_kernel) k;
}

void kernel_release(struct kernel *k)
{
    if (--k->object.references)
        return;
    k->object.kind = KIND_NONE;
    k->program->kernels--;
    program_release(k->program);
    free(k);
}

RETAIN_AND_RELEASE(kernel, cl_kernel, KIND_KERNEL, CL_INVALID_KERNEL)

struct kernel_info *kernel_for(const struct kernel *k, const struct device *device, struct built **built)
{
    struct built *b = device ? program_for(k->program, device) : (struct built *) first_built(k->program);
    if (!b || b->status != CL_BUILD_SUCCESS || k->index >= b->code.n)
        return NULL;
    *built = b;
    return &b->code.kernels[k->index];
}

/* Not to be called by two threads at once, as OpenCL says. */
static cl_int CL_API_CALL set_arg(cl_kernel handle, cl_uint i, size_t bytes, const void *value)
{
    struct kernel *k = AS(kernel, handle, KIND_KERNEL);
    struct built  *b = NULL;
    if (!k)
        return CL_INVALID_KERNEL;
    const struct kernel_info *info_ = kernel_for(k, NULL, &b);
    if (!info_)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    if (i >= info_->n_given)
        return CL_INVALID_ARG_INDEX;
    const struct argument *a = &info_->arguments[i];
    if (a->kind == ARGUMENT_LOCAL) {
        if (value || bytes == 0)
            return value ? CL_INVALID_ARG_VALUE : CL_INVALID_ARG_SIZE;
        k->args[i].local = bytes;
    } else if (a->kind == ARGUMENT_BUFFER) {
        cl_mem mem = NULL;
        if (bytes != sizeof mem)
            return CL_INVALID_ARG_SIZE;
        if (value)
            memcpy(&mem, value, sizeof mem);
        if (mem && !object_as(mem, KIND_BUFFER))
            return CL_INVALID_MEM_OBJECT;
        k->args[i].buffer = (struct buffer *) mem;
    } else {
        if (bytes != a->bytes || bytes > sizeof k->args[i].value)
            return CL_INVALID_ARG_SIZE;
        if (!value)
            return CL_INVALID_ARG_VALUE;
        memcpy(k->args[i].value, value, bytes);
    }
    k->args[i].is_set = true;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL group_info(cl_kernel handle, cl_device_id id, cl_kernel_work_group_info what, size_t room,
                                     void *to, size_t *have)
{
    const struct kernel *k = AS(kernel, handle, KIND_KERNEL);
    const struct device *d = AS(device, id, KIND_DEVICE);
    struct built        *b = NULL;
    if (!k)
        return CL_INVALID_KERNEL;
    const struct kernel_info *i = id && !d ? NULL : kernel_for(k, d, &b);
    if (!i)
        return CL_INVALID_DEVICE;
    const size_t fixed[] = { i->fixed[0], i->fixed[1], i->fixed[2] };
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        ANSWER(size_t, i->max_group);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return answer(fixed, sizeof fixed, room, to, have);
    case CL_KERNEL_LOCAL_MEM_SIZE:
        ANSWER(cl_ulong, i->local_bytes);
    default:
        return CL_INVALID_VALUE;
    }
}

void program_fill_table(struct _cl_icd_dispatch *table);
void program_fill_table(struct _cl_icd_dispatch *table)
{
    table->clCreateProgramWithSource = create_from_source;
    table->clCreateProgramWithBinary = create_from_binary;
    table->clRetainProgram = retain_program;
    table->clReleaseProgram = release_program;
    table->clBuildProgram = build;
    table->clGetProgramInfo = info;
    table->clGetProgramBuildInfo = build_info;
    table->clCreateKernel = create_kernel;
    table->clRetainKernel = retain_kernel;
    table->clReleaseKernel = release_kernel;
    table->clSetKernelArg = set_arg;
    table->clGetKernelWorkGroupInfo = group_info;
}
