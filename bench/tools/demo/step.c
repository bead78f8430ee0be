/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

#include <math.h>
#include <string.h>

void give_up(const char *what, const char *why)
{
    progress_clear();
    report_error("%s: %s", what, why);
    exit(EXIT_FAILED);
}

void must(const struct demo *demo, const char *what, ordo_status status)
{
    char why[WHY_BYTES];
    if (device_why(demo->device, status, why) != ORDO_OK)
        give_up(what, why);
}

void *must_have(void *memory)
{
    if (!memory)
        give_up("host", ordo_status_string(ORDO_NO_HOST_MEMORY));
    return memory;
}

void *room(size_t bytes)
{
    return must_have(malloc(bytes ? bytes : 1));
}

cl_mem on_device(const struct demo *demo, size_t bytes, const void *from)
{
    cl_mem mem = NULL;
    must(demo, "a buffer", device_buffer(demo->device, bytes, &mem));
    if (from)
        to_device(demo, mem, from, bytes);
    return mem;
}

void to_device(const struct demo *demo, cl_mem to, const void *from, size_t bytes)
{
    must(demo, "to the device", device_write(demo->device, to, from, bytes));
}

void *from_device(const struct demo *demo, cl_mem from, void *to, size_t bytes)
{
    must(demo, "from the device", device_read(demo->device, from, to, bytes));
    return to;
}

double seconds_since(const struct demo *demo, const char *what, double begin)
{
    must(demo, what, ordo_device_finish(demo->device));
    return now() - begin;
}

bool keep_verdict(struct demo *demo, const struct verdict *verdict, cJSON *json)
{
    demo->wrong += verdict->wrong;
    json_exact(json, "checked", (double) verdict->checked);
    json_exact(json, "wrong", (double) verdict->wrong);
    if (verdict->wrong)
        say(demo->out, 7, "WRONG: %zu of %s answers differ from the host's, such as %s\n\n", verdict->wrong,
            text_grouped(TEXT, verdict->checked), verdict->example);
    return verdict->wrong == 0;
}

void steps_begin(struct steps *steps, struct demo *demo, cJSON *json)
{
    static const struct column columns[] = {
        { "", 27, true },     { "items", 10, false },      { "first run", 9, false },
        { "time", 9, false }, { "per second", 10, false }, { "check", 5, true }
    };
    steps->demo = demo;
    steps->json = cJSON_AddArrayToObject(json, "steps");
    steps->table = (struct table) { demo->out, columns, sizeof columns / sizeof *columns };
    table_head(&steps->table);
}

/* first: NaN for one run. check: "" for none. */
static cJSON *show_step(const struct steps *steps, const char *name, size_t items, double first, double seconds,
                        const char *check)
{
    table_row(&steps->table,
              (const char *[]) { name, text_grouped(TEXT, items), text_seconds(TEXT, first),
                                 text_seconds(TEXT, seconds), text_rate(TEXT, (double) items / seconds), check });
    cJSON *step = json_append(steps->json);
    json_text(step, "step", name);
    json_exact(step, "items", (double) items);
    json_number(step, "first_run_seconds", first);
    json_number(step, "seconds", seconds);
    return step;
}

void take_step(struct steps *steps, const struct demo_step *step, void *act)
{
    double       seconds[2];
    const size_t wrong_before = steps->verdict.wrong;
    for (int run = 0; run < 2; run++) {
        progress("%s%s", step->name, run ? " again" : ", building kernels");
        const double begin = now();
        must(steps->demo, step->name, step->run(act));
        seconds[run] = seconds_since(steps->demo, step->name, begin);
    }
    if (step->fetch)
        step->fetch(act);
    progress("%s, checking", step->name);
    const double begin = now();
    if (step->check)
        step->check(act, &steps->verdict);
    steps->checking += now() - begin;
    const size_t wrong = steps->verdict.wrong - wrong_before;
    cJSON       *json = show_step(steps, step->name, step->items, seconds[0], seconds[1],
                            !step->check ? "-"
                                  : wrong      ? "WRONG"
                                               : "ok");
    if (step->check)
        json_exact(json, "wrong", (double) wrong);
}

void steps_end(const struct steps *steps)
{
    show_step(steps, "check on the host", steps->verdict.checked, NAN, steps->checking, "");
}

char *bar_text(char text[BAR_WIDTH + 1], int width, double share)
{
    const size_t length = (size_t) (width * share + 0.5);
    memset(text, '#', length);
    text[length] = 0;
    return text;
}
