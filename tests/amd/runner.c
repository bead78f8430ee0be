/* SPDX-License-Identifier: Apache-2.0 */
/* Runs kernels of AMD machine code in a separate process, so that a wild memory access ends the kernel and nothing
 * else.
 *
 * Each instruction is a function of the wave's registers (toolchain.py). The waves of all resident groups, of all
 * queues, take turns of random length in random order. The seed decides both. Registers, local and private memory
 * begin with noise. There are no caches, so every wave sees a store before the next instruction.
 *
 *   amd-runner SOCKET MEMORY ARCH MAPS       descriptors, rdna3|rdna4|cdna, the folder of toolchain.py's files
 *   ORDO_AMD_SEED=n       another order
 *   ORDO_AMD_TURN=n       instructions of a turn, at most (1000)
 *   ORDO_AMD_RESIDENT=n   work-groups of a launch that run concurrently (8)
 *   ORDO_AMD_BUDGET=n     instructions of a wave, at most
 *   ORDO_AMD_LAUNCHES=file  gets the name of each kernel that ran to its end
 *   ORDO_AMD_TRACE=1      a line on stderr for each launch (instructions, time); the registers of a failed wave */
#define _GNU_SOURCE
#include "protocol.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

static _Noreturn void die(const char *what)
{
    (void) fprintf(stderr, "amd-runner: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *need(void *made)
{
    if (!made)
        die("no memory");
    return made;
}

/* ---- settings ------------------------------------------------------------------------------------------------ */

static struct {
    int         socket, memory;
    bool        cdna, ids_in_trap_registers; /* gfx9; gfx12 */
    uint32_t    wave;                        /* lanes */
    const char *cache, *launches;
    uint64_t    turn, resident, budget, trace;
} set;

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators (OOPSLA 2014). */
static uint64_t noise_state;

static uint64_t noise(void)
{
    uint64_t z = (noise_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t noise_below(uint64_t n)
{
    return noise() % n;
}

static void fill_with_noise(void *to, size_t bytes)
{
    static uint64_t block[8192];
    if (!block[0])
        for (size_t i = 0; i < COUNT_OF(block); i++)
            block[i] = noise();
    for (size_t at = 0; at < bytes; at += sizeof block)
        memcpy((char *) to + at, block, bytes - at < sizeof block ? bytes - at : sizeof block);
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

/* ---- programs ------------------------------------------------------------------------------------------------ */

typedef void (*step_fn)(void **registers);

struct step {
    step_fn  run; /* NULL: none begins here, or trouble */
    uint32_t flags, trouble;
};

struct program {
    uint32_t        number, references;
    bool            gone;
    char           *image; /* the code object as it is loaded */
    size_t          image_bytes;
    uint64_t        text, text_bytes; /* where its code lies, in this process */
    struct step    *steps;            /* one for each word of the code */
    char           *troubles;
    char            broken[300]; /* why it cannot be used, "" if it can */
    struct program *next;
};
static struct program *programs;

static void *read_file(const char *path, size_t *bytes)
{
    FILE       *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0) {
        if (file)
            (void) fclose(file);
        return NULL;
    }
    char *text = need(malloc((size_t) about.st_size + 1));
    *bytes = fread(text, 1, (size_t) about.st_size, file);
    (void) fclose(file);
    return text;
}

/* ELF files of 64 bits, read by the places of their fields. */
static uint64_t field(const char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* The driver has checked the file. */
static void load_image(struct program *p, const char *elf)
{
    const uint64_t headers = field(elf + 32, 8), n = field(elf + 56, 2);
    for (uint64_t i = 0; i < n; i++) {
        const char    *h = elf + headers + 56 * i;
        const uint64_t end = field(h + 16, 8) + field(h + 40, 8);
        if (field(h, 4) == 1 && end > p->image_bytes)
            p->image_bytes = end;
    }
    p->image_bytes = (p->image_bytes + 4095) & ~(size_t) 4095;
    p->image = mmap(NULL, p->image_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->image == MAP_FAILED)
        die("mmap");
    for (uint64_t i = 0; i < n; i++) {
        const char *h = elf + headers + 56 * i;
        if (field(h, 4) == 1)
            memcpy(p->image + field(h + 16, 8), elf + field(h + 8, 8), field(h + 32, 8));
    }
}

static void find_text(struct program *p, const char *elf)
{
    const uint64_t sections = field(elf + 40, 8), n = field(elf + 60, 2);
    const char    *names = elf + field(elf + sections + 64 * field(elf + 62, 2) + 24, 8);
    for (uint64_t i = 0; i < n; i++) {
        const char *s = elf + sections + 64 * i;
        if (strcmp(names + field(s, 4), ".text") == 0) {
            p->text = (uint64_t) (uintptr_t) (p->image + field(s + 16, 8));
            p->text_bytes = field(s + 32, 8);
        }
    }
}

/* The function of a name FILE:SYMBOL. */
static step_fn find_function(const char *name)
{
    char        path[512];
    const char *colon = strchr(name, ':');
    step_fn     found = NULL;
    if (!colon)
        return NULL;
    (void) snprintf(path, sizeof path, "%s/%.*s", set.cache, (int) (colon - name), name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, colon + 1) : NULL;
    memcpy(&found, &address, sizeof found);
    return found;
}

static void load_map(struct program *p, const char *map, size_t bytes)
{
    struct map_header h;
    memcpy(&h, map, sizeof h);
    const size_t want =
        sizeof h + 4 * (size_t) h.slots + (size_t) h.functions * MAP_NAME_BYTES + (size_t) h.troubles * MAP_TEXT_BYTES;
    if (memcmp(h.magic, MAP_MAGIC, sizeof h.magic) != 0 || bytes != want || h.slots != p->text_bytes / 4) {
        (void) snprintf(p->broken, sizeof p->broken, "the map of a code object is damaged");
        return;
    }
    const char *names = map + sizeof h + 4 * (size_t) h.slots;
    step_fn    *functions = need(calloc(h.functions + 1, sizeof *functions));
    for (uint32_t i = 0; i < h.functions; i++)
        if (!(functions[i] = find_function(names + (size_t) i * MAP_NAME_BYTES)))
            (void) snprintf(p->broken, sizeof p->broken, "no function %s", names + (size_t) i * MAP_NAME_BYTES);
    p->steps = need(calloc((size_t) h.slots + 1, sizeof *p->steps));
    for (uint32_t i = 0; i < h.slots; i++) {
        const uint32_t slot = (uint32_t) field(map + sizeof h + 4 * (size_t) i, 4), number = slot & 0xffffff;
        p->steps[i].flags = slot >> 24;
        if (number && !(p->steps[i].flags & MAP_TROUBLE))
            p->steps[i].run = functions[number - 1];
        p->steps[i].trouble = number;
    }
    p->troubles = need(malloc((size_t) h.troubles * MAP_TEXT_BYTES + 1));
    memcpy(p->troubles, names + (size_t) h.functions * MAP_NAME_BYTES, (size_t) h.troubles * MAP_TEXT_BYTES);
    free(functions);
}

static void load_program(const struct message_load *m)
{
    struct program *p = need(calloc(1, sizeof *p));
    size_t          elf_bytes = 0, map_bytes = 0;
    char           *elf = read_file(m->code, &elf_bytes), *map = read_file(m->map, &map_bytes);

    p->number = m->program;
    if (elf && map && map_bytes >= sizeof(struct map_header)) {
        load_image(p, elf);
        find_text(p, elf);
        load_map(p, map, map_bytes);
    } else {
        (void) snprintf(p->broken, sizeof p->broken, "cannot read %s", elf ? m->map : m->code);
    }
    free(elf);
    free(map);
    p->next = programs;
    programs = p;
}

static struct program *find_program(uint32_t number)
{
    for (struct program *p = programs; p; p = p->next)
        if (p->number == number && !p->gone)
            return p;
    return NULL;
}

static void drop_unused_programs(void)
{
    for (struct program **at = &programs; *at;) {
        struct program *p = *at;
        if (!p->gone || p->references) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        if (p->image)
            munmap(p->image, p->image_bytes);
        free(p->steps);
        free(p->troubles);
        free(p);
    }
}

/* ---- waves --------------------------------------------------------------------------------------------------- */

/* Words of the scalar registers in the emulator: 0 to 127 are registers, 128 to 255 the constants of operands. Then
 * come the program counter and the emulator's own words. */
enum {
    SCALARS = 272,
    TRAP_REGISTERS = 108,
    NONE_OF_RDNA = 124, /* reads as 0 */
    PRIVATE_BASE = 237, /* reads as an address, of 64 bits */
    PRIVATE_APERTURE = 0x20000000,
    EXEC = 126,
    CONSTANTS = 128,
    PROGRAM_COUNTER = 256,
    PRIVATE_BYTES = 259,
    PRIVATE_ADDRESS = 220, /* no operand; emulator.py */
    VECTORS = 256
};
/* The last two are memory again, by bytes (emulator.py). */
enum {
    REG_SCALARS,
    REG_VECTORS,
    REG_MEMORY,
    REG_LOCAL,
    REG_PRIVATE,
    REG_ACCUMULATORS,
    REG_MEMORY_BYTES,
    REG_LOCAL_BYTES,
    REGS
};
#define ENDED UINT64_MAX /* the program counter of a wave that has ended */

struct group;

struct wave {
    void         *r[REGS]; /* what the functions of instructions are given */
    uint32_t     *scalars;
    struct group *group;
    uint64_t      spent; /* instructions */
    uint32_t      number;
    struct wave  *free;
    size_t        private_bytes;
};

struct group {
    struct launch *launch;
    uint32_t       id[3];
    uint32_t       alive, waiting; /* waves; waves at a barrier */
    struct wave  **waves;
    uint32_t       n;
    char          *local; /* memory */
    struct group  *next;
};

struct launch {
    struct message_launch m;
    struct program       *program;
    char                 *arguments;
    unsigned char         packet[64];
    uint32_t              properties, resources1, resources2, private_bytes, local_bytes;
    uint64_t              entry, started, total, at, stride; /* groups; the next is `at`, in a random order */
    struct group         *groups;
    uint32_t              resident;
    uint64_t              begin_ns, spent; /* instructions */
    bool                  failed;
    char                  why[400];
    struct launch        *next;
};
static struct launch *launches;

static struct wave  *free_waves;
static struct wave **ready; /* waves that can run */
static size_t        n_ready, ready_room;

static void make_ready(struct wave *w)
{
    if (n_ready == ready_room) {
        ready_room = ready_room ? 2 * ready_room : 256;
        ready = need(realloc(ready, ready_room * sizeof *ready));
    }
    ready[n_ready++] = w;
}

static struct wave *take_wave(void)
{
    struct wave *w = free_waves;
    if (w) {
        free_waves = w->free;
        return w;
    }
    const size_t vector_bytes = (size_t) VECTORS * set.wave * 4;
    w = need(calloc(1, sizeof *w));
    w->scalars = need(aligned_alloc(64, SCALARS * 4 / 64 * 64 + 64));
    w->r[REG_SCALARS] = w->scalars;
    w->r[REG_VECTORS] = need(aligned_alloc(64, vector_bytes));
    w->r[REG_ACCUMULATORS] = set.cdna ? need(aligned_alloc(64, vector_bytes)) : w->r[REG_VECTORS];
    return w;
}

static void set_constants(uint32_t *scalars)
{
    static const float fractions[] = { 0.5f, -0.5f, 1.0f, -1.0f, 2.0f, -2.0f, 4.0f, -4.0f, 0.15915494f };
    for (uint32_t i = 0; i <= 64; i++)
        scalars[CONSTANTS + i] = i;
    for (uint32_t i = 1; i <= 16; i++)
        scalars[CONSTANTS + 64 + i] = 0u - i;
    memcpy(scalars + 240, fractions, sizeof fractions);
}

/* Local memory of a group; the word before it is how many words it has (emulator.py). */
enum { LOCAL_HEAD = 64 };

static char *take_local(uint32_t bytes)
{
    char          *memory = need(aligned_alloc(64, LOCAL_HEAD + ((bytes + 127u) & ~63u)));
    const uint32_t words = (bytes + 3) / 4;
    fill_with_noise(memory, LOCAL_HEAD + bytes);
    memcpy(memory + LOCAL_HEAD - sizeof words, &words, sizeof words);
    return memory;
}

/* ---- how a wave begins: AMDGPU's ABI for kernels ("Initial Kernel Execution State") -------------------------- */

enum {
    WANTS_BUFFER = 1,
    WANTS_PACKET = 2,
    WANTS_QUEUE = 4,
    WANTS_ARGUMENTS = 8,
    WANTS_ID = 16,
    WANTS_SCRATCH = 32,
    WANTS_SIZE = 64
};

static uint32_t add_scalars(uint32_t *scalars, uint32_t at, uint64_t value)
{
    scalars[at] = (uint32_t) value;
    scalars[at + 1] = (uint32_t) (value >> 32);
    return at + 2;
}

static void set_scalars(struct wave *w, const struct group *g)
{
    const struct launch *l = g->launch;
    const uint64_t       scratch = (uint64_t) (uintptr_t) w->r[REG_PRIVATE];
    uint32_t            *s = w->scalars, at = 0;

    fill_with_noise(s, SCALARS * sizeof *s);
    set_constants(s);
    if (!set.cdna)
        s[NONE_OF_RDNA] = 0;
    if (l->properties & WANTS_BUFFER) { /* in elements of 4 bytes, one of each lane in turn */
        at = add_scalars(s, at, scratch | (uint64_t) 1 << 63);
        at = add_scalars(s, at, 0xffffffffu | (uint64_t) 0x00f00000 << 32);
    }
    if (l->properties & WANTS_PACKET)
        at = add_scalars(s, at, (uint64_t) (uintptr_t) l->packet);
    if (l->properties & WANTS_QUEUE)
        at = add_scalars(s, at, 0);
    if (l->properties & WANTS_ARGUMENTS)
        at = add_scalars(s, at, (uint64_t) (uintptr_t) l->arguments);
    if (l->properties & WANTS_ID)
        at = add_scalars(s, at, l->m.id);
    if (l->properties & WANTS_SCRATCH)
        at = add_scalars(s, at, scratch);
    if (l->properties & WANTS_SIZE)
        s[at++] = l->private_bytes;

    at = l->resources2 >> 1 & 31;
    if (set.ids_in_trap_registers) {
        s[TRAP_REGISTERS + 7] = (g->id[1] & 0xffff) | g->id[2] << 16;
        s[TRAP_REGISTERS + 9] = g->id[0];
    } else {
        for (uint32_t d = 0; d < 3; d++)
            if (l->resources2 >> (7 + d) & 1)
                s[at++] = g->id[d];
        if (l->resources2 >> 10 & 1)
            s[at++] = 0;
        if (l->resources2 & 1)
            s[at++] = 0; /* the buffer is the wave's own */
    }
    s[PRIVATE_BYTES] = l->private_bytes;
    (void) add_scalars(s, PRIVATE_ADDRESS, scratch);
    (void) add_scalars(s, PRIVATE_BASE, (uint64_t) PRIVATE_APERTURE << 32);
    memcpy(s + PROGRAM_COUNTER, &l->entry, sizeof l->entry);
}

static void set_lanes(struct wave *w, const struct group *g)
{
    const uint32_t *size = g->launch->m.group_size, first = w->number * set.wave;
    const uint32_t  items = size[0] * size[1] * size[2];
    const uint32_t  lanes = items - first < set.wave ? items - first : set.wave;
    const uint64_t  exec = lanes == 64 ? UINT64_MAX : ((uint64_t) 1 << lanes) - 1;
    uint32_t       *v = w->r[REG_VECTORS];

    fill_with_noise(v, (size_t) VECTORS * set.wave * 4);
    if (set.cdna)
        fill_with_noise(w->r[REG_ACCUMULATORS], (size_t) VECTORS * set.wave * 4);
    add_scalars(w->scalars, EXEC, exec);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint32_t i = first + lane;
        v[lane] = i % size[0] | i / size[0] % size[1] << 10 | i / (size[0] * size[1]) << 20;
    }
}

static void start_wave(struct group *g, uint32_t number)
{
    struct wave *w = take_wave();
    const size_t bytes = ((size_t) g->launch->private_bytes + 4) * set.wave;

    w->group = g;
    w->number = number;
    w->spent = 0;
    w->r[REG_MEMORY] = w->r[REG_MEMORY_BYTES] = NULL;
    w->r[REG_LOCAL] = w->r[REG_LOCAL_BYTES] = g->local + LOCAL_HEAD;
    if (w->private_bytes < bytes) {
        free(w->r[REG_PRIVATE]);
        w->r[REG_PRIVATE] = need(aligned_alloc(4096, (bytes + 4095) & ~(size_t) 4095));
        w->private_bytes = bytes;
    }
    fill_with_noise(w->r[REG_PRIVATE], bytes);
    set_scalars(w, g);
    set_lanes(w, g);
    g->waves[number] = w;
    make_ready(w);
}

static void start_group(struct launch *l)
{
    struct group  *g = need(calloc(1, sizeof *g));
    const uint32_t items = l->m.group_size[0] * l->m.group_size[1] * l->m.group_size[2];

    g->launch = l;
    g->id[0] = (uint32_t) (l->at % l->m.groups[0]);
    g->id[1] = (uint32_t) (l->at / l->m.groups[0] % l->m.groups[1]);
    g->id[2] = (uint32_t) (l->at / l->m.groups[0] / l->m.groups[1]);
    l->at = (l->at + l->stride) % l->total;
    l->started++;
    g->local = take_local(l->local_bytes);
    g->n = g->alive = (items + set.wave - 1) / set.wave;
    g->waves = need(calloc(g->n, sizeof(struct wave *)));
    for (uint32_t i = 0; i < g->n; i++)
        start_wave(g, i);
    g->next = l->groups;
    l->groups = g;
    l->resident++;
}

static void end_group(struct group *g)
{
    for (struct group **at = &g->launch->groups; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    g->launch->resident--;
    for (uint32_t i = 0; i < g->n; i++) {
        g->waves[i]->free = free_waves;
        free_waves = g->waves[i];
    }
    free(g->local);
    free(g->waves);
    free(g);
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

static void send_all(const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = send(set.socket, (const char *) from + at, bytes - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            exit(0); /* the driver is gone */
        at += n > 0 ? (size_t) n : 0;
    }
}

static void fail_launch(struct launch *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail_launch(struct launch *l, const char *format, ...)
{
    va_list args;
    if (l->failed)
        return;
    l->failed = true;
    va_start(args, format);
    (void) vsnprintf(l->why, sizeof l->why, format, args);
    va_end(args);
}

/* The kernel's name, once per process: a line of the file. */
static void note_launch(const char *name)
{
    static char   seen[512][64];
    static size_t n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(seen[i], name) == 0)
            return;
    if (!set.launches || n == COUNT_OF(seen))
        return;
    (void) snprintf(seen[n++], sizeof seen[0], "%s", name);
    FILE *file = fopen(set.launches, "a");
    if (file) {
        (void) fprintf(file, "%s\n", name);
        (void) fclose(file);
    }
}

static void end_launch(struct launch *l)
{
    struct {
        struct message      head;
        struct message_done done;
    } out;
    memset(&out, 0, sizeof out);
    out.head = (struct message) { MESSAGE_DONE, sizeof out.done };
    out.done.id = l->m.id;
    out.done.failed = l->failed;
    memcpy(out.done.text, l->why, sizeof out.done.text);
    if (!l->failed)
        note_launch(l->m.name);
    if (set.trace)
        (void) fprintf(stderr, "ran %s: %llu groups of %u, %llu instructions, %.3f ms\n", l->m.name,
                       (unsigned long long) l->total, l->m.group_size[0] * l->m.group_size[1] * l->m.group_size[2],
                       (unsigned long long) l->spent, (double) (now_ns() - l->begin_ns) / 1e6);

    for (size_t i = 0; i < n_ready;)
        if (ready[i]->group->launch == l)
            ready[i] = ready[--n_ready];
        else
            i++;
    for (struct group *g; (g = l->groups);) {
        l->groups = g->next;
        end_group(g);
    }
    for (struct launch **at = &launches; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    if (l->program)
        l->program->references--;
    drop_unused_programs();
    free(l->arguments);
    free(l);
    send_all(&out, offsetof(__typeof__(out), done) + sizeof out.done);
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    return b ? divisor(b, a % b) : a;
}

/* Reads the kernel's descriptor ("Kernel Descriptor" of AMDGPU's ABI). */
static void read_descriptor(struct launch *l)
{
    const char *d = l->program->image + l->m.descriptor;
    l->local_bytes = (uint32_t) field(d, 4) + l->m.local_bytes;
    l->private_bytes = (uint32_t) field(d + 4, 4);
    l->entry = (uint64_t) (uintptr_t) d + field(d + 16, 8);
    l->resources1 = (uint32_t) field(d + 48, 4);
    l->resources2 = (uint32_t) field(d + 52, 4);
    l->properties = (uint32_t) field(d + 56, 2);
}

/* The dispatch packet: what get_local_size and get_global_size read. */
static void write_packet(struct launch *l)
{
    memset(l->packet, 0, sizeof l->packet);
    for (uint32_t d = 0; d < 3; d++) {
        const uint16_t size = (uint16_t) l->m.group_size[d];
        const uint32_t grid = l->m.group_size[d] * l->m.groups[d];
        memcpy(l->packet + 4 + 2 * (size_t) d, &size, sizeof size);
        memcpy(l->packet + 12 + 4 * (size_t) d, &grid, sizeof grid);
    }
}

static void begin_launch(const char *body)
{
    struct launch *l = need(calloc(1, sizeof *l));
    memcpy(&l->m, body, sizeof l->m);
    l->begin_ns = now_ns();
    /* Read past the last argument no kernel does; in pages, so that one that did would be noticed soon. */
    l->arguments = need(calloc(1, l->m.argument_bytes + 256));
    memcpy(l->arguments, body + sizeof l->m, l->m.argument_bytes);
    l->program = find_program(l->m.program);
    l->next = launches;
    launches = l;
    l->total = (uint64_t) l->m.groups[0] * l->m.groups[1] * l->m.groups[2];
    if (!l->program || l->program->broken[0]) {
        fail_launch(l, "%s", l->program ? l->program->broken : "no such program");
        if (!l->program)
            return;
    }
    l->program->references++;
    if (l->failed)
        return;
    read_descriptor(l);
    write_packet(l);
    l->at = noise_below(l->total);
    do
        l->stride = 1 + noise_below(l->total);
    while (divisor(l->stride, l->total) != 1);
}

/* ---- turns --------------------------------------------------------------------------------------------------- */

static sigjmp_buf            out_of_step;
static volatile sig_atomic_t in_step;
static void                 *fault_address;

static void caught(int signal, siginfo_t *about, void *context)
{
    (void) context;
    if (!in_step) {
        (void) fprintf(stderr, "amd-runner: signal %d at %p, in itself\n", signal, about->si_addr);
        _exit(1);
    }
    fault_address = about->si_addr;
    siglongjmp(out_of_step, 1);
}

static void catch_faults(void)
{
    struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_NODEFER };
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
}

static uint64_t counter_of(const struct wave *w)
{
    uint64_t pc;
    memcpy(&pc, w->scalars + PROGRAM_COUNTER, sizeof pc);
    return pc;
}

/* The registers of a wave that failed: the scalars, and the vectors of its first lane that takes part. */
static void show_registers(const struct wave *w)
{
    const uint64_t  exec = field((const char *) (w->scalars + EXEC), set.wave / 8);
    const uint32_t *v = w->r[REG_VECTORS];
    const uint32_t  lane = exec ? (uint32_t) __builtin_ctzll(exec) : 0;

    (void) fprintf(stderr, "lanes %llx, vectors of lane %u\n", (unsigned long long) exec, lane);
    for (uint32_t i = 0; i < CONSTANTS; i++)
        (void) fprintf(stderr, "s%-3u %08x%s", i, w->scalars[i], i % 8 == 7 ? "\n" : "  ");
    for (uint32_t i = 0; i < VECTORS; i++)
        (void) fprintf(stderr, "v%-3u %08x%s", i, v[(size_t) i * set.wave + lane], i % 8 == 7 ? "\n" : "  ");
}

static void fail_wave(const struct wave *w, const char *what)
{
    const struct group  *g = w->group;
    const struct launch *l = g->launch;
    const uint64_t       at = counter_of(w) - l->program->text;
    fail_launch(g->launch, "kernel %s, group %u,%u,%u, wave %u, code + 0x%llx: %s", l->m.name, g->id[0], g->id[1],
                g->id[2], w->number, (unsigned long long) at, what);
    if (set.trace)
        show_registers(w);
}

/* A wave at a barrier waits for all waves of its group that have not ended. */
static void look_at_barrier(struct group *g)
{
    if (g->alive == 0 || g->waiting < g->alive)
        return;
    g->waiting = 0;
    for (uint32_t i = 0; i < g->n; i++)
        if (counter_of(g->waves[i]) != ENDED)
            make_ready(g->waves[i]);
}

enum turn { TURN_OVER, TURN_BARRIER, TURN_ENDED, TURN_FAILED };

static enum turn fail_step(const struct wave *w, const struct step *step)
{
    char text[MAP_TEXT_BYTES + 40];
    if (step && step->flags & MAP_TROUBLE)
        (void) snprintf(text, sizeof text, "the emulator cannot do %s",
                        w->group->launch->program->troubles + (size_t) (step->trouble - 1) * MAP_TEXT_BYTES);
    else
        (void) snprintf(text, sizeof text, "there is no instruction");
    fail_wave(w, text);
    return TURN_FAILED;
}

static enum turn run_steps(struct wave *w, uint64_t most)
{
    const struct program *p = w->group->launch->program;
    const uint64_t       *counter = (const uint64_t *) (const void *) (w->scalars + PROGRAM_COUNTER);

    for (uint64_t n = 0; n < most; n++) {
        const uint64_t at = *(const volatile uint64_t *) counter - p->text;
        if (at >= p->text_bytes)
            return w->spent += n, *counter == ENDED ? TURN_ENDED : fail_step(w, NULL);
        const struct step *step = &p->steps[at / 4];
        if (!step->run)
            return fail_step(w, step);
        step->run(w->r);
        if (step->flags) {
            w->spent += n;
            return step->flags & MAP_BARRIER ? TURN_BARRIER : TURN_OVER;
        }
    }
    w->spent += most;
    return TURN_OVER;
}

static enum turn run_turn(struct wave *w)
{
    enum turn      got = TURN_FAILED;
    const bool     keeps_denormals = (w->group->launch->resources1 >> 16 & 3) != 0; /* of 32 bits */
    const uint64_t most = 1 + noise_below(set.turn);

    _mm_setcsr(keeps_denormals ? 0x1f80 : 0x9fc0);
    if (sigsetjmp(out_of_step, 0) == 0) {
        in_step = 1;
        got = run_steps(w, most);
    } else {
        char text[80];
        (void) snprintf(text, sizeof text, "access to memory at %p, where there is none", fault_address);
        fail_wave(w, text);
        got = TURN_FAILED;
    }
    in_step = 0;
    _mm_setcsr(0x1f80);
    return got;
}

static void take_turn(void)
{
    const size_t    i = noise_below(n_ready);
    struct wave    *w = ready[i];
    struct group   *g = w->group;
    struct launch  *l = g->launch;
    const uint64_t  before = w->spent;
    const enum turn got = run_turn(w);

    l->spent += w->spent - before;
    switch (got) {
    case TURN_OVER:
        if (w->spent > set.budget)
            fail_wave(w, "it ran more instructions than a wave is granted");
        break;
    case TURN_BARRIER:
        ready[i] = ready[--n_ready];
        g->waiting++;
        look_at_barrier(g);
        break;
    case TURN_ENDED:
        ready[i] = ready[--n_ready];
        g->alive--;
        if (g->alive == 0)
            end_group(g);
        else
            look_at_barrier(g);
        break;
    case TURN_FAILED:
        break;
    }
    if (l->failed || (l->resident == 0 && l->started == l->total))
        end_launch(l);
}

static void start_groups(void)
{
    for (struct launch *l = launches, *next; l; l = next) {
        next = l->next;
        if (l->failed) {
            end_launch(l);
            continue;
        }
        while (l->resident < set.resident && l->started < l->total)
            start_group(l);
    }
}

/* ---- messages ------------------------------------------------------------------------------------------------ */

static void receive(void *to, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = read(set.socket, (char *) to + at, bytes - at);
        if (n == 0 || (n < 0 && errno != EINTR))
            exit(0); /* the driver is gone */
        at += n > 0 ? (size_t) n : 0;
    }
}

/* NOLINTBEGIN(performance-no-int-to-ptr): addresses are what this is about. */
static void map_range(const struct message_range *r)
{
    void *want = (void *) (uintptr_t) (AMD_BASE + r->offset);
    if (mmap(want, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, set.memory, (off_t) r->offset) !=
        want)
        die("mapping a buffer");
}

static void take_message(void)
{
    struct message head;
    receive(&head, sizeof head);
    char *body = need(calloc(1, (size_t) head.bytes + 1));
    receive(body, head.bytes);
    switch (head.kind) {
    case MESSAGE_MAP:
        map_range((const struct message_range *) (const void *) body);
        break;
    case MESSAGE_UNMAP: {
        const struct message_range *r = (const struct message_range *) (const void *) body;
        munmap((void *) (uintptr_t) (AMD_BASE + r->offset), r->bytes);
        break;
    }
    case MESSAGE_LOAD:
        load_program((const struct message_load *) (const void *) body);
        break;
    case MESSAGE_UNLOAD: {
        struct program *p = find_program((uint32_t) field(body, 4));
        if (p)
            p->gone = true;
        drop_unused_programs();
        break;
    }
    case MESSAGE_LAUNCH:
        begin_launch(body);
        break;
    default:
        die("a message of no kind");
    }
    free(body);
}

/* NOLINTEND(performance-no-int-to-ptr) */

static bool has_message(bool wait)
{
    struct pollfd socket = { .fd = set.socket, .events = POLLIN };
    return poll(&socket, 1, wait ? -1 : 0) > 0;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        (void) fprintf(stderr, "usage: amd-runner SOCKET MEMORY rdna3|rdna4|cdna MAPS\n");
        return 2;
    }
    set.socket = atoi(argv[1]);
    set.memory = atoi(argv[2]);
    set.cdna = strcmp(argv[3], "cdna") == 0;
    set.ids_in_trap_registers = strcmp(argv[3], "rdna4") == 0;
    set.wave = set.cdna ? 64 : 32;
    set.cache = argv[4];
    set.launches = getenv("ORDO_AMD_LAUNCHES");
    set.turn = number_from("ORDO_AMD_TURN", 1000);
    set.resident = number_from("ORDO_AMD_RESIDENT", 8);
    set.budget = number_from("ORDO_AMD_BUDGET", (uint64_t) 1 << 32);
    set.trace = number_from("ORDO_AMD_TRACE", 0);
    noise_state = number_from("ORDO_AMD_SEED", 1);
    catch_faults();
    for (unsigned turns = 0;; turns++) {
        while (has_message(!launches))
            take_message();
        start_groups();
        for (unsigned i = 0; i < 64 && n_ready; i++)
            take_turn();
    }
}
