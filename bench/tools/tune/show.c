/* SPDX-License-Identifier: Apache-2.0 */
#include "group.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <ctype.h>
#include <string.h>

static void describe_trial(const struct spec *spec, char text[64])
{
    const char *variant = variant_name(spec->workload, spec->variant);
    snprintf(text, 64, "%s%s%s %s", workload_name(spec->workload), *variant ? " " : "", variant,
             text_count(TEXT, spec->count));
}

void show_group(const struct tuner *tuner, const struct group *group)
{
    static const struct column columns[] = {
        { "", 28, true }, { "before", 9, false }, { "after", 9, false }, { "change", 7, false }
    };
    const struct table table = { tuner->out, columns, 4 };
    say(tuner->out, 4, "\n%s: %d candidates tried, %d dropped%s", group->name, group->tried, group->dropped,
        group->finished ? "" : "; out of time");
    for (int p = 0; p < group->n_params; p++) {
        const uint32_t before = value_at(group, &group->before, p), after = value_at(group, &group->in_use, p);
        if (before != after)
            fprintf(tuner->out, "  %s: %u -> %u\n", group->params[p].name, before, after);
    }
    if (group->disturbed)
        say(tuner->out, 4, "  disturbed: other work on this machine changed the times from turn to turn; as it was");
    else if (!changed(group))
        say(tuner->out, 4, "  nothing is faster by more than 2 %% without a loss elsewhere: as it was");
    table_head(&table);
    for (int t = 0; t < group->n_trials; t++) {
        const struct trial *trial = &group->trials[t];
        char                what[64], change[TEXT_BYTES];
        const double        operations = (double) spec_operations(&trial->spec);
        const double        now_takes = changed(group) ? trial->after : trial->before;
        describe_trial(&trial->spec, what);
        snprintf(change, sizeof change, "%+.0f %%", 100 * (trial->before / now_takes - 1));
        table_row(&table, (const char *[]) { what, text_rate(TEXT, operations / trial->before),
                                             text_rate(TEXT, operations / now_takes), change });
    }
}

cJSON *json_group(const struct group *group)
{
    cJSON *json = cJSON_CreateObject();
    json_text(json, "group", group->name);
    json_exact(json, "tried", group->tried);
    json_exact(json, "dropped", group->dropped);
    json_flag(json, "finished", group->finished);
    json_flag(json, "disturbed", group->disturbed);
    cJSON *values = cJSON_AddArrayToObject(json, "values"), *trials = cJSON_AddArrayToObject(json, "trials");
    for (int p = 0; p < group->n_params; p++) {
        cJSON *value = json_append(values);
        json_text(value, "name", group->params[p].name);
        json_exact(value, "before", value_at(group, &group->before, p));
        json_exact(value, "after", value_at(group, &group->in_use, p));
    }
    for (int t = 0; t < group->n_trials; t++) {
        char   what[64];
        cJSON *trial = json_append(trials);
        describe_trial(&group->trials[t].spec, what);
        json_text(trial, "trial", what);
        json_number(trial, "before_s", group->trials[t].before);
        json_number(trial, "after_s", group->trials[t].after);
    }
    return json;
}

/* "sort.k4v4.small_items" as { ORDO_SORT_SMALL_ITEMS, value, K4V4 }. */
static void print_setting(FILE *out, const char *name, uint32_t value)
{
    const char *shape = strchr(name, '.'), *last = strrchr(name, '.');
    fprintf(out, "    { ORDO_");
    for (const char *at = name; *at; at++)
        if (at < shape || at >= last)
            fputc(*at == '.' ? '_' : toupper((unsigned char) *at), out);
    fprintf(out, ", %u, ", value);
    for (const char *at = shape + 1; at < last; at++)
        fputc(toupper((unsigned char) *at), out);
    fprintf(out, " },\n");
}

void print_row(const struct tuner *tuner)
{
    fprintf(tuner->out, "\n/* %s */\nstatic const struct setting measured[] = {\n",
            ordo_device_facts(tuner->device)->name);
    for (const struct group *group = tuner->groups; group < tuner->groups + tuner->n_groups; group++)
        for (int p = 0; p < group->n_params && group->started; p++)
            print_setting(tuner->out, group->params[p].name, value_at(group, &group->in_use, p));
    fprintf(tuner->out, "};\n");
}
