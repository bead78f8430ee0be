/* SPDX-License-Identifier: Apache-2.0 */
#include "step.h"

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
        say(demo->out, 7, "WRONG: %zu of %s answers differ from the host's, such as %u for address %u\n\n",
            verdict->wrong, text_grouped(TEXT, verdict->checked), verdict->example_word, verdict->example);
    return verdict->wrong == 0;
}
