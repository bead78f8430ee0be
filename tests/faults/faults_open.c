/* SPDX-License-Identifier: Apache-2.0 */
/* Every OpenCL call and every allocation of host memory fails in turn while a device is opened. Opening returns a
 * suitable error, or works; nothing leaks, and nothing is remembered that a failure hid. See faults.c. */
#define _GNU_SOURCE
#include "fault_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

TestSuite(faults_open, .init = fault_alone);

/* ---- opening devices --------------------------------------------------------------------------------------------- */

/* A way to open a device. */
struct opening {
    const char *name;
    bool        adopt, adopt_queue;
    const char *cache;     /* ORDO_CACHE */
    bool        empty;     /* the cache is empty, so nothing is remembered */
    bool        self_test; /* with it */
};

struct opened {
    ordo_device *dev;
    char         message[512];
};

static ordo_status open_it(struct test *t, const struct opening *way, struct opened *out)
{
    *out = (struct opened) { NULL, "" };
    const struct ordo_device_config config = { .select = t->facts->name,
                                               .mask = t->mask,
                                               .message = out->message,
                                               .message_bytes = sizeof out->message,
                                               .no_self_test = !way->self_test };
    if (!way->adopt)
        return ordo_device_open(&config, &out->dev);
    return ordo_device_adopt(ordo_device_context(t->dev), ordo_device_id(t->dev),
                             way->adopt_queue ? ordo_device_queue(t->dev) : NULL, &config, &out->dev);
}

static bool same_facts(const struct ordo_facts *a, const struct ordo_facts *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->dropped, b->dropped) == 0 && a->cpu == b->cpu &&
           a->lanes == b->lanes && a->atomics == b->atomics && a->int64_atomics == b->int64_atomics &&
           a->sub_group == b->sub_group && a->max_group == b->max_group && a->local_bytes == b->local_bytes &&
           a->global_bytes == b->global_bytes && a->max_alloc_bytes == b->max_alloc_bytes &&
           a->groups_progress == b->groups_progress;
}

static void prepare_cache(const struct opening *way)
{
    cr_assert(setenv("ORDO_CACHE", way->cache, 1) == 0);
    if (way->empty)
        fault_empty(way->cache);
}

static void check_opening_error(struct complaint *c, const struct fault *f, const struct opened *o, ordo_status got)
{
    const bool none = got == ORDO_NO_DEVICE && strstr(o->message, "CL_") != NULL;

    if (o->dev)
        complain(c, "there is a device after an error");
    if (!none && !fault_suits(f, got))
        complain(c, "%s ended as '%s': %s", ordo_cl_error_string(f->given), ordo_status_string(got), o->message);
    if (strlen(o->message) < 20 && f->calls > 1) /* without the first one no object can have a message */
        complain(c, "the message of the error is '%s'", o->message);
}

/* A device that was opened although a call failed is as usual, or can do less, but is right. */
static void check_opened(struct complaint *c, ordo_device *dev, const struct ordo_facts *usual)
{
    if (!same_facts(ordo_device_facts(dev), usual) && ordo_device_self_test(dev) != ORDO_OK)
        complain(c, "the device that was opened all the same does not work");
}

/* A build that fails once without an error in its log is the driver's failure, and has no consequences. */
static void check_built_again(struct complaint *c, const struct fault *f, const struct opened *o,
                              const struct ordo_facts *usual)
{
    if (f->struck == 0 || f->lasting || f->given != CL_BUILD_PROGRAM_FAILURE)
        return;
    if (!o->dev)
        complain(c, "a build that failed once was not tried again: %s", o->message);
    else if (!same_facts(ordo_device_facts(o->dev), usual))
        complain(c, "a build that failed once changed what the device can");
}

/* Nothing that a failure hid is remembered, unless all compiles failed, which is a fact of the device. */
static void check_next(struct complaint *c, struct test *t, const struct opening *way, const struct fault *f,
                       const struct ordo_facts *usual)
{
    struct opened o;

    if (f->given == CL_BUILD_PROGRAM_FAILURE && f->lasting)
        return;

    if (open_it(t, way, &o) != ORDO_OK)
        complain(c, "the device cannot be opened again: %s", o.message);
    else if (!same_facts(ordo_device_facts(o.dev), usual))
        complain(c, "the device is not the same when it is opened again");
    ordo_device_close(&o.dev);
}

static void try_opening(struct test *t, const struct opening *way, const struct ordo_facts *usual, struct fault *f,
                        const struct fault *plan)
{
    struct complaint c = { "" };
    struct opened    o;

    prepare_cache(way);
    const struct fault_holding was = fault_holding(t);
    fault_arm(f, plan->at, plan->code, plan->lasting);
    const ordo_status got = open_it(t, way, &o);
    if (f->struck > 0)
        f->armed = false;
    if (got != ORDO_OK)
        check_opening_error(&c, f, &o, got);
    else if (f->struck > 0)
        check_opened(&c, o.dev, usual);
    check_built_again(&c, f, &o, usual);
    ordo_device_close(&o.dev);
    f->armed = false;
    const struct fault_holding now = fault_holding(t);
    fault_check_leaks(&c, &was, &now);
    check_next(&c, t, way, f, usual);
    fault_note(t, f, plan, got, &c);
}

/* Whether call n fails: a sample of all, and each build if nothing is remembered. On a GPU, whose driver then takes
 * seconds to open, some of the builds, and half as many calls. */
static bool chosen(struct test *t, const struct opening *way, const struct fault *seen, unsigned long n)
{
    const bool builds = n <= FAULT_LOG && strcmp(seen->log[n - 1], "clBuildProgram") == 0;

    return (way->empty && builds && t->facts->cpu) ||
           fault_chosen(t, seen, n, (way->empty ? 3 : 6) / (t->facts->cpu ? 1 : 2));
}

static void sweep_opening(struct test *t, const struct opening *way, struct fault *f)
{
    AUTO_FREE struct fault *seen = test_alloc(sizeof *seen);
    struct ordo_facts       usual;
    struct opened           o;

    test_context(t, "opening a device: %s", way->name);
    for (int round = 0; round < 2; round++) { /* the first one may build programs that the driver then keeps */
        prepare_cache(way);
        fault_arm(f, 0, 0, false);
        test_ok(t, open_it(t, way, &o));
        usual = *ordo_device_facts(o.dev);
        ordo_device_close(&o.dev);
        f->armed = false;
    }
    *seen = *f;
    for (unsigned long n = 1; n <= seen->calls; n++) {
        if (!chosen(t, way, seen, n))
            continue;
        try_opening(t, way, &usual, f, &(struct fault) { .at = n });
        if (n % 2 == 0)
            try_opening(t, way, &usual, f, &(struct fault) { .at = n, .lasting = true });
    }
}

static void each_opening(struct test *t, struct fault *f)
{
    char dir[] = "/tmp/ordo-faults-XXXXXX";

    test_spare_compiler();
    cr_assert(mkdtemp(dir) != NULL);
    const struct opening all[] = {
        { "ordo_device_open, remembered", .cache = dir, .self_test = true },
        { "ordo_device_adopt, remembered", .adopt = true, .cache = dir, .self_test = true },
        { "ordo_device_adopt with a queue", .adopt = true, .adopt_queue = true, .cache = dir, .self_test = true },
        { "ordo_device_open, only probed", .cache = "off" },
        { "ordo_device_open, for the first time", .cache = dir, .empty = true, .self_test = true },
    };

    /* Builds on a GPU take seconds each time, and allocations do not depend on the device. */
    for (size_t i = 0; i < LENGTH(all); i++)
        if (t->facts->cpu || !all[i].empty || f == fault_opencl || fault_every_call())
            sweep_opening(t, &all[i], f);
    fault_empty(dir);
    cr_assert(rmdir(dir) == 0);
}

DEVICE_TEST(faults_open, opening_survives_every_opencl_call)
{
    each_opening(t, fault_opencl);
    fault_show(t, "OpenCL, opening devices");
}

DEVICE_TEST(faults_open, opening_survives_every_allocation)
{
    each_opening(t, &fault_memory);
    fault_show(t, "host memory, opening devices");
}
