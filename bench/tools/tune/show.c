/* SPDX-License-Identifier: Apache-2.0 */
#include "show.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <ctype.h>
#include <string.h>

static void describe_trial(const struct spec *spec, char *text, size_t bytes)
{
    char        count[TEXT_BYTES];
    const char *variant = variant_name(spec->workload, spec->variant);
    snprintf(text, bytes, "%s%s%s %s", workload_name(spec->workload), *variant ? " " : "", variant,
             text_count(count, spec->count));
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
        const struct param *param = &group->params[p];
        if (param->at != param->before)
            fprintf(tuner->out, "  %s: %u -> %u\n", param->name, param->choice[param->before],
                    param->choice[param->at]);
    }
    if (group->disturbed)
        say(tuner->out, 4, "  disturbed: other work on this machine changed the times from turn to turn; as it was");
    else if (!changed(group))
        say(tuner->out, 4, "  nothing is faster by more than 2 %% without a loss elsewhere: as it was");
    table_head(&table);
    for (int t = 0; t < group->n_trials; t++) {
        const struct trial *trial = &group->trials[t];
        char                what[64], before[TEXT_BYTES], after[TEXT_BYTES], change[TEXT_BYTES];
        const double        operations = (double) spec_operations(&trial->spec);
        const double        now_takes = changed(group) ? trial->after : trial->before;
        describe_trial(&trial->spec, what, sizeof what);
        snprintf(change, sizeof change, "%+.0f %%", 100 * (trial->before / now_takes - 1));
        const char *cells[] = { what, text_rate(before, operations / trial->before),
                                text_rate(after, operations / now_takes), change };
        table_row(&table, cells);
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
        const struct param *param = &group->params[p];
        cJSON              *value = cJSON_CreateObject();
        json_text(value, "name", param->name);
        json_exact(value, "before", param->choice[param->before]);
        json_exact(value, "after", param->choice[param->at]);
        cJSON_AddItemToArray(values, value);
    }
    for (int t = 0; t < group->n_trials; t++) {
        char   what[64];
        cJSON *trial = cJSON_CreateObject();
        describe_trial(&group->trials[t].spec, what, sizeof what);
        json_text(trial, "trial", what);
        json_number(trial, "before_s", group->trials[t].before);
        json_number(trial, "after_s", group->trials[t].after);
        cJSON_AddItemToArray(trials, trial);
    }
    return json;
}

/* "sort.k4v4.small_items" as { ORDO_SORT_SMALL_ITEMS, value, K4V4 }. */
static void print_setting(const struct tuner *tuner, const char *name, uint32_t value)
{
    const char *shape = strchr(name, '.'), *last = strrchr(name, '.');
    fprintf(tuner->out, "    { ORDO_");
    for (const char *at = name; *at; at++)
        if (at < shape || at >= last)
            fputc(*at == '.' ? '_' : toupper((unsigned char) *at), tuner->out);
    fprintf(tuner->out, ", %u, ", value);
    for (const char *at = shape + 1; at < last; at++)
        fputc(toupper((unsigned char) *at), tuner->out);
    fprintf(tuner->out, " },\n");
}

void print_row(const struct tuner *tuner)
{
    fprintf(tuner->out, "\n/* %s */\nstatic const struct setting measured[] = {\n",
            ordo_device_facts(tuner->device)->name);
    for (int g = 0; g < tuner->n_groups; g++)
        for (int p = 0; p < tuner->groups[g].n_params && tuner->groups[g].started; p++)
            print_setting(tuner, tuner->groups[g].params[p].name,
                          tuner->groups[g].params[p].choice[tuner->groups[g].params[p].at]);
    fprintf(tuner->out, "};\n");
}
