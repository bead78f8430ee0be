/* SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

/* Below this many elements a thread costs more than it brings. */
#define SPAN_MIN 16384

struct span {
    span_fn fn;
    void   *arg;
    size_t  from, to;
    int     part;
};

static void *run_span(void *arg)
{
    const struct span *span = arg;
    span->fn(span->arg, span->from, span->to, span->part);
    return NULL;
}

int processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (int) online;
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

    struct span spans[MAX_PARTS];
    pthread_t   threads[MAX_PARTS];
    bool        started[MAX_PARTS] = { false };
    for (size_t p = 0; p < parts; p++)
        spans[p] =
            (struct span) { fn, arg, count / parts * p, p + 1 == parts ? count : count / parts * (p + 1), (int) p };

    for (size_t p = 1; p < parts; p++)
        started[p] = pthread_create(&threads[p], NULL, run_span, &spans[p]) == 0;
    for (size_t p = 0; p < parts; p++)
        if (!started[p]) /* the first, and those for which there was no thread */
            run_span(&spans[p]);
    for (size_t p = 1; p < parts; p++)
        if (started[p])
            pthread_join(threads[p], NULL);
    return (int) parts;
}
