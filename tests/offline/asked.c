/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the programs that the library builds on a device with given facts. It makes every call of the interface with
 * every shape of data, under the shipped profile, then with each tunable at each of its choices. A line for each
 * program has, between tabs, the file of its text, "shipped" or the choice that needed it first, its kernels, and its
 * options. A line "choice" for each choice has its name and value, and the number of its programs that the shipped
 * profile does not need.
 *
 * usage: asked OUT CL-DIR WHAT NAME=VALUE...
 *
 *   OUT     an empty folder for the texts of modules
 *   CL-DIR  searched first, as ORDO_CL_DIR: kernels of tests
 *   WHAT    "shipped", or "choices" to add every choice of every tunable, one at a time
 *   NAMEs   facts: lanes atomics sub_group int64 cpu progress ballot intel local max_group units nvidia_options
 *
 * Kernels do nothing. Where a dictionary depends on their results, it gets each of a few made-up numbers. */
#include "ask.h"
#include "programs.h"
#include "runtime/internal.h"
#include "runtime/self_test.h"
#include "tests/support/auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- self-tests, and kernels of tests ---------------------------------------------------------------------------- */

static void ask_self_test(ordo_device *dev)
{
    const uint32_t lanes = dev->facts.sub_group, group = lanes > 1 ? 2 * lanes : 64;
    const uint32_t widths[] = { lanes, 4, 1 };
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        const struct ordo_lanes_case c = { widths[i], group, 8, 1 };
        if (widths[i] <= lanes)
            ignore(ordo_self_test_lanes_case(dev, &c));
    }
    ignore(ordo_self_test_lanes(dev));
    ignore(ordo_self_test_atomics(dev));
}

/* As tests/primitive/group.c. */
static void ask_group(ordo_device *dev)
{
    static const long   widths[] = { 1, 4, 0 };
    struct ordo_call    call;
    struct ordo_kernel *kernel = NULL;
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        const long               width = widths[i] ? widths[i] : (long) dev->facts.sub_group;
        const struct ordo_define defines[] = { { "GROUP_SIZE", dev->facts.cpu ? 4 : 128 },
                                               { "TEAM_WIDTH", width },
                                               { NULL, 0 } };
        if (width > (long) dev->facts.sub_group || ordo_call_begin(&call, dev, NULL) != ORDO_OK)
            continue;
        ignore(ordo_call_end(&call, ordo_call_kernel(&call, "group.cl", "scan_add", defines, &kernel)));
    }
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static void set_tunable(ordo_device *dev, const struct ordo_tunable_info *info, uint32_t value)
{
    if (ordo_device_set_tunable(dev, info->name, value) == ORDO_OK)
        return;
    (void) fprintf(stderr, "tunable %s: the shipped profile has %u, which is none of its choices\n", info->name, value);
    exit(1);
}

static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), part = strlen(end);
    return length >= part && strcmp(text + length - part, end) == 0;
}

/* Sets the layout of an index to the one that uses a tunable. Returns the layout before. Other tunables keep theirs. */
static uint32_t set_layout(ordo_device *dev, const struct ordo_tunable_info *info, bool back, uint32_t was)
{
    const bool               depth = ends_in(info->name, "_depth"), nodes = ends_in(info->name, "node_keys");
    struct ordo_tunable_info layout;
    char                     name[64];
    if (!depth && !nodes)
        return 0;
    snprintf(name, sizeof name, "%.*s.layout", (int) (strrchr(info->name, '.') - info->name), info->name);
    for (size_t i = 0; ordo_device_tunable(dev, i, &layout) == ORDO_OK; i++)
        if (strcmp(layout.name, name) == 0) {
            if (ordo_device_set_tunable(dev, name, back ? was : depth) != ORDO_OK)
                abort();
            return layout.value;
        }
    abort();
}

static void ask_choice(ordo_device *dev, const struct ordo_tunable_info *info, uint32_t value)
{
    AUTO_FREE char *name = ordo_format("%s=%u", info->name, value);
    if (!name)
        abort();
    set_tunable(dev, info, value);
    const uint32_t layout = set_layout(dev, info, false, 0);
    programs_choose(name);
    ordo_programs_destroy(dev); /* so that each program is built again */
    ordo_profile_lower(dev);
    ask_primitives(dev, info->name);
    answer = 600;
    for (size_t p = 0; p < COUNT_OF(pairs); p++)
        if ((is_of(info->name, "blink") || is_of(info->name, "links") || is_of(info->name, "xfast")) &&
            is_for(info->name, &pairs[p]))
            ask_structures(dev, &pairs[p]);
    set_layout(dev, info, true, layout);
    printf("choice\t%s\t%zu\n", name, programs_differing());
}

static void ask_choices(ordo_device *dev)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(dev, i, &info) == ORDO_OK; i++) {
        for (uint32_t c = 0; c < info.n_choices; c++)
            if (info.choice[c] != info.value)
                ask_choice(dev, &info, info.choice[c]);
        set_tunable(dev, &info, info.value);
    }
}

/* ---- main -------------------------------------------------------------------------------------------------------- */

struct facts {
    unsigned lanes, atomics, sub_group, int64, cpu, progress, ballot, intel, local, max_group, units, nvidia_options;
};

static bool take_fact(struct facts *f, const char *word)
{
    const struct {
        const char *name;
        unsigned   *at;
    } names[] = {
        { "lanes=", &f->lanes },         { "atomics=", &f->atomics }, { "sub_group=", &f->sub_group },
        { "int64=", &f->int64 },         { "cpu=", &f->cpu },         { "progress=", &f->progress },
        { "ballot=", &f->ballot },       { "intel=", &f->intel },     { "local=", &f->local },
        { "max_group=", &f->max_group }, { "units=", &f->units },     { "nvidia_options=", &f->nvidia_options }
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strncmp(word, names[i].name, strlen(names[i].name)) == 0) {
            *names[i].at = (unsigned) strtoul(word + strlen(names[i].name), NULL, 10);
            return true;
        }
    return false;
}

/* Gives a device these facts, without a probe. */
static void make_device(ordo_device *dev, const struct facts *f, const char *cl_dir)
{
    static char extensions[] = " cl_nv_compiler_options ";
    static char own_dir[4096];

    pthread_mutexattr_t recursive;
    dev->facts.lanes = (ordo_lanes) f->lanes;
    dev->facts.atomics = (ordo_atomics) f->atomics;
    dev->facts.sub_group = f->sub_group;
    dev->facts.int64_atomics = f->int64 != 0;
    dev->facts.cpu = f->cpu != 0;
    dev->facts.groups_progress = f->progress != 0;
    dev->facts.address_order = dev->facts.atomics == ORDO_ATOMICS_NVIDIA;
    dev->facts.local_bytes = f->local;
    dev->facts.max_group = f->max_group;
    dev->facts.compute_units = f->units;
    dev->facts.cache_line_bytes = 128;
    dev->facts.vector_bytes = 16;
    dev->facts.max_alloc_bytes = dev->memory_limit = (uint64_t) 1 << 40;
    dev->khr_ballot = f->ballot != 0;
    dev->intel_sub_groups = f->intel != 0;
    dev->extensions = f->nvidia_options ? extensions : extensions + sizeof extensions - 2;
    dev->pid = getpid();
    snprintf(own_dir, sizeof own_dir, "%s", cl_dir);
    dev->cl_dir = own_dir;
    no_driver.max_group = f->max_group;
    (void) pthread_mutexattr_init(&recursive);
    (void) pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    (void) pthread_mutex_init(&dev->lock, &recursive);
    ordo_profile_load(dev);
}

int main(int argc, char **argv)
{
    static ordo_device        dev;
    struct ordo_device_config config = { .mask = NULL };
    struct facts              facts = { 0 };

    for (int i = 4; i < argc; i++)
        if (!take_fact(&facts, argv[i]))
            argc = 0;
    if (argc < 5) {
        (void) fprintf(stderr, "usage: asked OUT CL-DIR shipped|choices FACT=VALUE...\n");
        return 2;
    }
    (void) setenv("ORDO_PROFILE", "off", 1);
    ordo_device_hold(&dev); /* so that destroying an object never closes it */
    ordo_errors_open(&dev, &config);
    ordo_builds_open(&dev);
    programs_record(argv[1]);
    no_driver.read = make_up;
    no_driver.launches = LAUNCHES;
    make_device(&dev, &facts, argv[2]);
    ask_self_test(&dev);
    ask_group(&dev);
    ask_primitives(&dev, NULL);
    ask_dicts(&dev);
    if (strcmp(argv[3], "choices") == 0)
        ask_choices(&dev);
    programs_print();
    return 0;
}
