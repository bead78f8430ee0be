/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's end of the processes that run kernels, one per device. The first launch starts a process. If a
 * process ends, its launches fail, and the next launch starts another. A launch that takes longer than
 * ORDO_AMD_SECONDS (300) ends its process. */
#define _GNU_SOURCE
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOADED_MAX = 4096, RUNNING_MAX = 64 };

struct link {
    pid_t           child;
    int             socket;
    uint32_t        loaded[LOADED_MAX]; /* numbers of programs */
    unsigned        n_loaded;
    struct command *running[RUNNING_MAX];
    unsigned        n_running;
    uint64_t        last_ns; /* when a launch began or ended last */
    char            got[sizeof(struct message) + sizeof(struct message_done)];
    size_t          n_got; /* bytes of the next message */
};

static void warn(const char *text)
{
    (void) fprintf(stderr, "AMD's machine code: %s\n", text);
}

/* ---- the process --------------------------------------------------------------------------------------------- */

static bool send_all(struct link *l, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = send(l->socket, (const char *) from + at, bytes - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false; /* receive_from says so */
        at += n > 0 ? (size_t) n : 0;
    }
    return true;
}

static bool send_message(struct link *l, enum message_kind kind, const void *body, size_t bytes, const void *more,
                         size_t more_bytes)
{
    const struct message head = { kind, (uint32_t) (bytes + more_bytes) };
    return send_all(l, &head, sizeof head) && send_all(l, body, bytes) && send_all(l, more, more_bytes);
}

static void map_all(struct link *l)
{
    for (const struct buffer *b = driver_buffers; b; b = b->next) {
        const struct message_range range = { b->from, b->to - b->from };
        (void) send_message(l, MESSAGE_MAP, &range, sizeof range, NULL, 0);
    }
}

static bool start_child(struct device *d)
{
    int  ends[2];
    char socket_text[16], memory_text[16], runner[] = AMD_RUNNER;
    if (memory_file() < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return false;
    (void) fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void) snprintf(socket_text, sizeof socket_text, "%d", ends[1]);
    (void) snprintf(memory_text, sizeof memory_text, "%d", memory_file());
    char *const arguments[] = { runner, socket_text, memory_text, d->arch, getenv("ORDO_AMD_MAPS"), NULL };
    pid_t       child = 0;
    const int   failed = posix_spawn(&child, runner, NULL, NULL, arguments, environ);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return false;
    }
    d->link->child = child;
    d->link->socket = ends[0];
    d->link->n_loaded = 0;
    d->link->n_got = 0;
    map_all(d->link);
    return true;
}

/* Ends the process and fails its launches. */
static void end_child(struct device *d, const char *why)
{
    struct link *l = d->link;
    char         text[200];
    int          status = 0;
    kill(l->child, SIGKILL);
    (void) waitpid(l->child, &status, 0);
    close(l->socket);
    l->child = 0;
    (void) snprintf(text, sizeof text, "the process that runs kernels for %s %s", d->key, why);
    warn(text);
    while (l->n_running)
        command_done(l->running[--l->n_running], CL_OUT_OF_RESOURCES);
}

static struct link *link_of(struct device *d)
{
    if (!d->link) {
        d->link = calloc(1, sizeof *d->link);
        if (!d->link)
            return NULL;
    }
    return d->link->child || start_child(d) ? d->link : NULL;
}

void link_forget(void)
{
    for (cl_uint i = 0; i < driver_n_devices; i++)
        if (driver_devices[i].link) {
            if (driver_devices[i].link->child)
                close(driver_devices[i].link->socket);
            free(driver_devices[i].link);
            driver_devices[i].link = NULL;
        }
}

/* ---- messages to it ------------------------------------------------------------------------------------------ */

static void tell_range(const struct buffer *b, enum message_kind kind)
{
    const struct message_range range = { b->from, b->to - b->from };
    for (cl_uint i = 0; i < driver_n_devices; i++)
        if (driver_devices[i].link && driver_devices[i].link->child)
            (void) send_message(driver_devices[i].link, kind, &range, sizeof range, NULL, 0);
}

void link_map(const struct buffer *b)
{
    tell_range(b, MESSAGE_MAP);
}

void link_unmap(const struct buffer *b)
{
    tell_range(b, MESSAGE_UNMAP);
}

static bool is_loaded(const struct link *l, uint32_t number)
{
    for (unsigned i = 0; i < l->n_loaded; i++)
        if (l->loaded[i] == number)
            return true;
    return false;
}

static void load(struct link *l, const struct built *b)
{
    struct message_load m = { .program = b->number };
    if (is_loaded(l, b->number) || l->n_loaded == LOADED_MAX)
        return;
    l->loaded[l->n_loaded++] = b->number;
    (void) snprintf(m.code, sizeof m.code, "%s", b->path);
    (void) snprintf(m.map, sizeof m.map, "%s", b->map);
    (void) send_message(l, MESSAGE_LOAD, &m, sizeof m, NULL, 0);
}

void link_unload(const struct built *b)
{
    struct link *l = b->device ? b->device->link : NULL;
    for (unsigned i = 0; l && l->child && i < l->n_loaded; i++)
        if (l->loaded[i] == b->number) {
            l->loaded[i] = l->loaded[--l->n_loaded];
            (void) send_message(l, MESSAGE_UNLOAD, &b->number, sizeof b->number, NULL, 0);
            return;
        }
}

bool link_launch(struct device *d, struct command *c, char *why, size_t room)
{
    static uint64_t ids;
    struct link    *l = link_of(d);
    (void) snprintf(why, room, "%s", l ? "too many launches at once" : "cannot start " AMD_RUNNER);
    if (!l || l->n_running == RUNNING_MAX)
        return false;
    load(l, c->built);
    c->launch.id = ++ids;
    c->launch.program = c->built->number;
    l->running[l->n_running++] = c;
    l->last_ns = driver_now();
    (void) send_message(l, MESSAGE_LAUNCH, &c->launch, sizeof c->launch, c->arguments, c->launch.argument_bytes);
    return true;
}

/* ---- messages from it ---------------------------------------------------------------------------------------- */

unsigned link_sockets(struct pollfd *to)
{
    unsigned n = 0;
    for (cl_uint i = 0; i < driver_n_devices; i++)
        if (driver_devices[i].link && driver_devices[i].link->child)
            to[n++] = (struct pollfd) { .fd = driver_devices[i].link->socket, .events = POLLIN };
    return n;
}

static void take_done(struct link *l, const struct message_done *m)
{
    for (unsigned i = 0; i < l->n_running; i++)
        if (l->running[i]->launch.id == m->id) {
            struct command *c = l->running[i];
            l->running[i] = l->running[--l->n_running];
            l->last_ns = driver_now();
            if (m->failed)
                warn(m->text);
            command_done(c, m->failed ? CL_OUT_OF_RESOURCES : CL_COMPLETE);
            return;
        }
}

static bool receive_from(struct link *l)
{
    for (;;) {
        const ssize_t n = recv(l->socket, l->got + l->n_got, sizeof l->got - l->n_got, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (n < 0)
            return true;
        l->n_got += (size_t) n;
        if (l->n_got == sizeof l->got) {
            struct message_done done;
            memcpy(&done, l->got + sizeof(struct message), sizeof done);
            l->n_got = 0;
            take_done(l, &done);
        }
    }
}

static uint64_t patience_ns(void)
{
    const char *text = getenv("ORDO_AMD_SECONDS");
    return (text ? strtoull(text, NULL, 10) : 300) * UINT64_C(1000000000);
}

void link_receive(void)
{
    for (cl_uint i = 0; i < driver_n_devices; i++) {
        struct device *d = &driver_devices[i];
        if (!d->link || !d->link->child)
            continue;
        if (!receive_from(d->link))
            end_child(d, "ended by itself");
        else if (d->link->n_running && driver_now() > d->link->last_ns + patience_ns())
            end_child(d, "took too long (ORDO_AMD_SECONDS)");
    }
}
