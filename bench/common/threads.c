/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Fewer elements are not worth a thread. */
#define SPAN_MIN 16384

struct part {
    part_fn fn;
    void   *arg;
    int     number;
};

static void *run_part(void *part_)
{
    const struct part *part = part_;
    part->fn(part->arg, part->number);
    return NULL;
}

void run_parts(int parts, part_fn fn, void *arg)
{
    struct part part[MAX_PARTS];
    pthread_t   threads[MAX_PARTS];
    bool        started[MAX_PARTS] = { false };
    for (int p = 0; p < parts; p++)
        part[p] = (struct part) { fn, arg, p };
    for (int p = 1; p < parts; p++)
        started[p] = pthread_create(&threads[p], NULL, run_part, &part[p]) == 0;
    for (int p = 0; p < parts; p++)
        if (!started[p]) /* the first part, and parts without a thread */
            run_part(&part[p]);
    for (int p = 1; p < parts; p++)
        if (started[p])
            pthread_join(threads[p], NULL);
}

int processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (int) online;
}

struct spans {
    span_fn fn;
    void   *arg;
    size_t  count, parts;
};

static void run_span(void *spans_, int part)
{
    const struct spans *spans = spans_;
    const size_t        each = spans->count / spans->parts, p = (size_t) part;
    spans->fn(spans->arg, each * p, p + 1 == spans->parts ? spans->count : each * (p + 1), part);
}

int for_spans(size_t count, span_fn fn, void *arg)
{
    if (count == 0)
        return 0;
    size_t parts = (size_t) processors();
    if (parts > MAX_PARTS)
        parts = MAX_PARTS;
    if (parts > (count + SPAN_MIN - 1) / SPAN_MIN)
        parts = (count + SPAN_MIN - 1) / SPAN_MIN;
    run_parts((int) parts, run_span, &(struct spans) { fn, arg, count, parts });
    return (int) parts;
}

struct calls {
    each_fn fn;
    void   *arg;
};

static void call_span(void *calls_, size_t from, size_t to, int part)
{
    const struct calls *calls = calls_;
    (void) part;
    for (size_t i = from; i < to; i++)
        calls->fn(calls->arg, i);
}

void for_each(size_t count, each_fn fn, void *arg)
{
    for_spans(count, call_span, &(struct calls) { fn, arg });
}

/* First touches of memory cost more than threads. */
#define THREADS_FROM ((size_t) 4 << 20)

struct filling {
    char *to;
    int   byte;
};

static void fill_span(void *filling_, size_t from, size_t to, int part)
{
    const struct filling *filling = filling_;
    (void) part;
    memset(filling->to + from, filling->byte, to - from);
}

void fill_bytes(void *to, int byte, size_t bytes)
{
    if (bytes < THREADS_FROM)
        memset(to, byte, bytes);
    else
        for_spans(bytes, fill_span, &(struct filling) { to, byte });
}
