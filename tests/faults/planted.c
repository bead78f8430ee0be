/* SPDX-License-Identifier: Apache-2.0 */
/* Injects miscompiles (plants.h) through ORDO_CL_DIR. Opening the device must find each one every time: it chooses a
 * safer variant with right results, or returns an error, on a busy machine too. First each is shown to have an effect:
 * without the self-test, results are wrong.
 *
 * ORDO_TEST_PLANTS=all tries all of them, or those with this text in their name, with every mask; else a few.
 * ORDO_TEST_TIMES=number of openings of each (default 3). On the one device that ORDO_DEVICE selects. */
#define _DEFAULT_SOURCE
#include "plants.h"

#include "tests/support/overlay.h"
#include "tests/support/watchdog.h"

#include "runtime/runtime.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- injecting an error ------------------------------------------------------------------------------------------ */

#define DIRECT_FILE "planted.cl"

/* The kernel that is run directly and, unless `clean`, the error. */
static struct overlay plant(const struct plant *p, bool clean)
{
    const struct overlay o = overlay_begin();
    char                 direct[2048];

    (void) snprintf(direct, sizeof direct,
                    "#include \"device/team.cl\"\n#include \"device/atomic.cl\"\n"
                    "ORDO_KERNEL(PLANTED_GROUP) void planted(__global uint *words, __global ulong *wide)\n"
                    "{\n    __local uint box;\n    box = 0;\n%s\n}\n",
                    p->direct.body ? p->direct.body : "");
    overlay_write(&o, DIRECT_FILE, direct);
    for (size_t i = 0; !clean && i < LENGTH(p->edit) && p->edit[i].file; i++)
        overlay_edit(&o, p->edit[i].file, p->edit[i].from, p->edit[i].to);
    return o;
}

/* ---- that an error has an effect --------------------------------------------------------------------------------- */

/* Runs the kernel of planted.cl, and reads words[0]. */
static ordo_status ask_direct(struct ordo_call *call, const struct plant *p, uint32_t *got)
{
    const uint32_t           lanes = ordo_device_facts(call->dev)->sub_group, group = p->kind & TEAM ? lanes : 1;
    const struct ordo_launch launch = { DIRECT_FILE,
                                        "planted",
                                        p->direct.groups,
                                        group,
                                        { { "TEAM_WIDTH", lanes }, { "PLANTED_GROUP", group }, { NULL, 0 } } };
    cl_mem                   words = NULL, wide = NULL;
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, 64, &words));
    ORDO_TRY(ordo_call_scratch(call, 64, &wide));
    ORDO_TRY(ordo_call_fill(call, words, 0, 64, 0));
    ORDO_TRY(ordo_call_fill(call, wide, 0, 64, 0));
    ORDO_ADD(&args, ORDO_ARG(words), ORDO_ARG(wide));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_read(call, words, 0, got, sizeof *got);
}

static bool is_right_directly(ordo_device *dev, const struct plant *p, char *wrong, size_t room)
{
    struct ordo_call call;
    uint32_t         got = 0;
    ordo_status      status = ordo_call_begin(&call, dev, NULL);
    if (status == ORDO_OK)
        status = ordo_call_end(&call, ask_direct(&call, p, &got));
    (void) snprintf(wrong, room, "the kernel: %s, %u, not %u", ordo_status_string(status), got, p->direct.want);
    return status == ORDO_OK && got == p->direct.want;
}

/* Whether the device uses the edited text. */
static bool has_variant(ordo_device *dev, const struct plant *p)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const bool               in_ptx = f->lanes == ORDO_LANES_NVIDIA && f->atomics == ORDO_ATOMICS_NVIDIA;
    const bool               in_amd = f->lanes == ORDO_LANES_AMD;
    return (f->cpu || !(p->kind & ON_CPU)) && (in_ptx || !(p->kind & IN_PTX)) && (in_amd || !(p->kind & IN_AMD)) &&
           (f->sub_group == 64 || !(p->kind & IN_WAVE64));
}

enum bite { RIGHT, WRONG, NO_VARIANT, NOT_OPENED, NOT_BUILT };

enum { BITE_TRIES = 20 };

/* Opens the device without the self-test, and works with it. */
static int bite_in(const struct plant *p, const char *mask, int tries)
{
    const struct ordo_device_config config = { .mask = mask, .no_self_test = true };
    ordo_device                    *dev = NULL;
    char                            wrong[512] = "";
    bool                            right = true;

    const ordo_status got = ordo_device_open(&config, &dev);
    if (got != ORDO_OK)
        return got == ORDO_INVALID ? NO_VARIANT : NOT_OPENED;
    if (!has_variant(dev, p))
        return NO_VARIANT;
    for (int i = 0; right && i < tries; i++)
        right =
            p->direct.body ? is_right_directly(dev, p, wrong, sizeof wrong) : works(dev, p->kind, wrong, sizeof wrong);
    if (!right)
        (void) fprintf(stderr, "    without the self-test: %s\n", wrong);
    if (!right && strstr(wrong, ordo_status_string(ORDO_BUILD)))
        return NOT_BUILT; /* an error of this test, not a miscompile */
    return right ? RIGHT : WRONG;
}

static int bite_of_clean(const struct plant *p, const char *mask)
{
    return bite_in(p, mask, 1);
}

static int bite_of_planted(const struct plant *p, const char *mask)
{
    return bite_in(p, mask, p->direct.body ? BITE_TRIES : 1);
}

/* ---- that an error is found -------------------------------------------------------------------------------------- */

enum fate { CAUGHT, MISSED, NO_MESSAGE, NOT_CURED };

/* A device that was opened with a safer variant. */
static enum fate fate_of_opened(ordo_device *dev, const struct plant *p)
{
    char        wrong[512] = "";
    const char *dropped = ordo_device_facts(dev)->dropped;

    (void) fprintf(stderr, "    opened: %s\n", dropped[0] ? dropped : "as if nothing were wrong");
    if (!dropped[0])
        return MISSED;
    if (!works(dev, p->kind, wrong, sizeof wrong)) {
        (void) fprintf(stderr, "    opened, and then wrong: %s\n", wrong);
        return NOT_CURED;
    }
    if (ordo_device_self_test(dev) != ORDO_OK) {
        (void) fprintf(stderr, "    opened, and fails its self-test\n");
        return NOT_CURED;
    }
    return CAUGHT;
}

static int fate_of(const struct plant *p, const char *mask)
{
    char                            message[1024] = "";
    const struct ordo_device_config config = { .mask = mask, .message = message, .message_bytes = sizeof message };
    AUTO_DEVICE ordo_device        *dev = NULL;
    const ordo_status               got = ordo_device_open(&config, &dev);

    if (got != ORDO_OK) {
        (void) fprintf(stderr, "    refused: %s\n", message);
        return message[0] && !dev ? CAUGHT : NO_MESSAGE;
    }
    return fate_of_opened(dev, p);
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Instead of an answer: the process died, as stderr reports. */
enum { DIED = 100 };
enum { CHILD_SECONDS = 300 };

/* Calls `ask` in a separate process. A wrong kernel may read and write anywhere and end the process, and NVIDIA's
 * driver then refuses every call of that process. */
static int in_child(int (*ask)(const struct plant *p, const char *mask), const struct plant *p, const char *mask)
{
    int         status = 0;
    const pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        (void) alarm(CHILD_SECONDS);
        _exit(ask(p, mask));
    }
    cr_assert(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status))
        (void) fprintf(stderr, "    ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : DIED;
}

static long times(void)
{
    const char *set = getenv("ORDO_TEST_TIMES");
    return set ? strtol(set, NULL, 10) : 3;
}

static void set_profile(const struct plant *p, const struct overlay *o)
{
    char path[128];
    (void) snprintf(path, sizeof path, "%s/profile", o->dir);
    overlay_write(o, "profile", p->profile ? p->profile : "");
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);
}

/* How many of times() openings found the error. */
static long times_caught(const struct plant *p, const char *mask)
{
    long caught = 0;
    for (long i = 0; i < times(); i++) {
        const int fate = in_child(fate_of, p, mask);
        cr_expect(fate == MISSED || fate == CAUGHT, "%s, mask '%s': not refused, and not well (%d)", p->name, mask,
                  fate);
        caught += fate == CAUGHT;
    }
    return caught;
}

/* Expects that the error has an effect, and is found each time. */
static void expect_caught(const struct plant *p, const char *mask)
{
    const int  bite = in_child(bite_of_planted, p, mask);
    const long caught = times_caught(p, mask);

    cr_expect(bite == WRONG || bite == DIED, "%s, mask '%s': does not bite (%d)", p->name, mask, bite);
    cr_expect(caught == times(), "%s, mask '%s': caught %ld times of %ld", p->name, mask, caught, times());
}

/* False if the device has no such variant. */
static bool try_plant(const struct plant *p, const char *mask)
{
    AUTO(overlay_end) struct overlay clean = plant(p, true), planted = plant(p, false);

    (void) fprintf(stderr, "%s, mask '%s'\n", p->name, mask);
    watchdog_note(p->name, "", mask, 0);
    set_profile(p, &clean);
    overlay_use(&clean);
    const int sound = in_child(bite_of_clean, p, mask);
    if (sound == NO_VARIANT)
        return false;
    cr_assert(sound == RIGHT, "%s, mask '%s': something is wrong without it (%d)", p->name, mask, sound);
    overlay_use(&planted);
    expect_caught(p, mask);
    return true;
}

/* The i-th mask; false if there are fewer. */
static bool mask_of(const struct plant *p, int i, char *mask, size_t room)
{
    const char *at = p->masks;
    for (; i > 0 && at; i--) {
        at = strchr(at, ';');
        at = at ? at + 1 : NULL;
    }
    if (at)
        (void) snprintf(mask, room, "%.*s", (int) strcspn(at, ";"), at);
    return at != NULL;
}

enum { MASKS_MAX = 4 };

/* With how many of its masks an error is tried. */
static int masks_tried(const struct plant *p)
{
    const char *set = getenv("ORDO_TEST_PLANTS");
    return !set ? (int) (p->kind & FEW) : strcmp(set, "all") == 0 || strstr(p->name, set) ? MASKS_MAX : 0;
}

struct planting {
    int plant, mask;
};

/* A process for each, because no driver survives a fork in use. */
ParameterizedTestParameters(planted, is_caught_when_the_device_is_opened)
{
    static struct planting all[MASKS_MAX * PLANTS_MAX];
    char                   mask[64];
    size_t                 n = 0;
    for (int i = 0; i < (int) n_plants; i++)
        for (int m = 0; m < masks_tried(&plants[i]) && mask_of(&plants[i], m, mask, sizeof mask); m++)
            all[n++] = (struct planting) { i, m };
    return cr_make_param_array(struct planting, all, n);
}

ParameterizedTest(struct planting *which, planted, is_caught_when_the_device_is_opened)
{
    const struct plant *p = &plants[which->plant];
    char                mask[64] = "";

    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0); /* each opening tests */
    (void) setenv("POCL_AFFINITY", "1", 0); /* a core for each thread, because they may share one on a busy machine */
    (void) mask_of(p, which->mask, mask, sizeof mask);
    if (!try_plant(p, mask))
        test_skip("%s: no device here runs this variant", p->name);
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static bool opens_with(const struct overlay *o, bool remembered, bool dropped)
{
    char                            wrong[512] = "", message[512] = "";
    const struct ordo_device_config config = { .message = message, .message_bytes = sizeof message };
    AUTO_DEVICE ordo_device        *dev = NULL;

    overlay_use(o);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK, "%s", message);
    const struct ordo_facts *f = ordo_device_facts(dev);
    const bool               as_expected =
        f->self_test_remembered == remembered && (f->dropped[0] != 0) == dropped && works(dev, 0, wrong, sizeof wrong);
    (void) fprintf(stderr, "%s: remembered %d, dropped '%s', %s\n", o->dir, f->self_test_remembered, f->dropped,
                   wrong[0] ? wrong : "right");
    return as_expected;
}

static const struct plant *plant_of(const char *name)
{
    const struct plant *p = NULL;

    for (size_t i = 0; i < n_plants; i++)
        p = strcmp(plants[i].name, name) == 0 ? &plants[i] : p;
    cr_assert(p != NULL, "no plant '%s'", name);
    return p;
}

static bool has_wide_atomics(void)
{
    const struct ordo_device_config config = { .no_self_test = true };
    AUTO_DEVICE ordo_device        *dev = NULL;

    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    return ordo_device_facts(dev)->int64_atomics;
}

/* The outcome with the library's kernels does not hold for changed ones, nor the other way round. */
Test(planted, is_neither_hidden_nor_spread_by_the_cache)
{
    if (!has_wide_atomics())
        test_skip("the device has no 64-bit atomics");
    const struct plant              *p = plant_of("an addition of 64 bits, split in two");
    AUTO(overlay_end) struct overlay cache = overlay_begin(), clean = plant(p, true), planted = plant(p, false);

    cr_assert(setenv("ORDO_CACHE", cache.dir, 1) == 0);
    set_profile(p, &clean);
    cr_expect(opens_with(&clean, false, false));
    cr_expect(opens_with(&planted, false, true));
    cr_expect(opens_with(&planted, true, true));
    cr_expect(opens_with(&clean, true, false));
    cr_expect(opens_with(&planted, true, true));
}
