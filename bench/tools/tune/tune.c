/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-tune: finds faster tunables for a device within a time budget, and writes correct and faster values to the
 * user's profile.
 *
 * Tunables that work together ("sort.k4v4.*") form a group. The search of a group goes tunable by tunable, nearest
 * values first, then over pairs of a group's size and its items, until nothing is better or the time is over. A
 * candidate is checked before it is timed. It must be 2 % faster twice. At the end old and new values take turns. The
 * new ones are kept if they are faster again, slow no trial down, and the machine was not disturbed. */
#include "group.h"

#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/options.h"
#include "bench/common/terminal.h"

#include <ctype.h>
#include <string.h>

static void describe_trial(const struct spec *spec, char text[64])
{
    const char *variant = variant_name(spec->workload, spec->variant);
    snprintf(text, 64, "%s%s%s %s", workload_name(spec->workload), *variant ? " " : "", variant,
             text_count(TEXT, spec->count));
}

static void show_group(const struct tuner *tuner, const struct group *group)
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

static cJSON *json_group(const struct group *group)
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

#define AT(name)  offsetof(struct options, name)
#define NAMES_MAX 16

static void take_names(void *options, const struct option_row *row, const char *text)
{
    const bool shapes = row->at == AT(shapes);
    unsigned  *bits = (unsigned *) ((char *) options + row->at);
    int        chosen[NAMES_MAX];
    char       why[WHY_BYTES];
    int n = parse_names(text, shapes ? shape_name : primitive_name, shapes ? N_SHAPES : N_PRIMITIVES, chosen, NAMES_MAX,
                        why);
    if (n < 0)
        usage_error("%s: %s", row->name, why);
    for (*bits = 0; n > 0; n--)
        *bits |= 1u << chosen[n - 1];
}

static const char *const help[] = {
#include "tune_help.h"
};

static const struct option_row rows[] = {
    { "--device", 'd', true, take_text, false, AT(device), 0, 0 },
    { "--budget", 'b', true, take_double, false, AT(budget), 0.1, 1e6 },
    { "--primitives", 'p', true, take_names, false, AT(primitives), 0, 0 },
    { "--shapes", 's', true, take_names, false, AT(shapes), 0, 0 },
    { "--dry-run", 0, false, take_flag, false, AT(dry_run), 0, 0 },
    { "--row", 0, false, take_flag, false, AT(row), 0, 0 },
    { "--json", 0, true, take_json, false, AT(json), 0, 0 },
};

/* Sets the changed values on a fresh device, or compares all values with it. False if that fails. */
static bool agrees(const struct tuner *tuner, ordo_device *fresh, bool set)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(fresh, i, &info) == ORDO_OK; i++)
        for (const struct group *group = tuner->groups; group < tuner->groups + tuner->n_groups; group++)
            for (int p = 0; p < group->n_params; p++) {
                const uint32_t value = value_at(group, &group->in_use, p);
                if (strcmp(group->params[p].name, info.name) != 0)
                    continue;
                if (set && value != value_at(group, &group->before, p) &&
                    ordo_device_set_tunable(fresh, info.name, value) != ORDO_OK)
                    return false;
                if (!set && value != info.value)
                    return false;
            }
    return true;
}

/* Sets the better values on a freshly opened device, so that only they are written, and saves. Opens it again to see
 * them. */
static bool save(const struct tuner *tuner, const char *select)
{
    char         path[4096] = "", why[WHY_BYTES] = "";
    ordo_device *fresh = open_device(select);
    if (!fresh)
        return false;
    const bool        set = agrees(tuner, fresh, true);
    const ordo_status got = set ? ordo_device_save_profile(fresh, path, sizeof path) : ORDO_INVALID;
    device_why(fresh, got, why);
    ordo_device_close(&fresh);
    if (got != ORDO_OK) {
        report_error("the profile was not written: %s", why);
        return false;
    }
    fresh = open_device(select);
    const bool good = fresh && agrees(tuner, fresh, false);
    ordo_device_close(&fresh);
    if (good)
        say(tuner->out, 0, "\nWritten to %s, and in use from now on; delete it to go back.", path);
    else
        report_error("%s was written, but a device opened after it has other values", path);
    return good;
}

/* False if a group's present values do not work. */
static bool tune_all(struct tuner *tuner)
{
    bool good = true;
    int  n = 0;
    for (; n < tuner->n_groups && now() < tuner->whole_deadline; n++) {
        tuner->deadline = now() + (tuner->whole_deadline - now()) / (tuner->n_groups - n);
        if (tune_group(tuner, &tuner->groups[n]))
            show_group(tuner, &tuner->groups[n]);
        else
            good = false;
    }
    progress_clear();
    char   names[GROUPS_MAX * sizeof tuner->groups->name] = "";
    size_t used = 0;
    for (; n < tuner->n_groups; n++)
        used += (size_t) snprintf(names + used, sizeof names - used, " %s", tuner->groups[n].name);
    if (used)
        say(tuner->out, 4, "\nNot reached within %g s:%s", tuner->options->budget, names);
    return good;
}

/* False if the profile cannot be written. */
static bool conclude(const struct tuner *tuner, const char *select)
{
    bool disturbed = false, any = false;
    for (int g = 0; g < tuner->n_groups; g++) {
        disturbed |= tuner->groups[g].disturbed;
        any |= changed(&tuner->groups[g]);
    }
    if (tuner->options->row) { /* of the table in host/runtime/profile.c */
        fprintf(tuner->out, "\n/* %s */\nstatic const struct setting measured[] = {\n",
                ordo_device_facts(tuner->device)->name);
        for (const struct group *group = tuner->groups; group < tuner->groups + tuner->n_groups; group++)
            for (int p = 0; p < group->n_params && group->started; p++)
                print_setting(tuner->out, group->params[p].name, value_at(group, &group->in_use, p));
        fprintf(tuner->out, "};\n");
    }
    if (tuner->options->dry_run)
        fprintf(tuner->out, "\nNothing is written (--dry-run).\n");
    else if (any)
        return save(tuner, select);
    else
        fprintf(tuner->out, "\nNothing better was found%s.\nYour profile stays as it is.\n",
                disturbed ? " on a disturbed machine" : "");
    return true;
}

int main(int argc, char **argv)
{
    tool_name("ordo-tune");
    static struct options options = { .budget = 60, .primitives = ~0u, .shapes = ~0u };
    static struct tuner   tuner;
    char                  selected[SELECTED_MAX][SELECT_BYTES];
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &options);
    if (select_devices(options.device, selected) != 1)
        usage_error("--device: one device at a time");
    tuner.options = &options;
    tuner.out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout;
    tuner.device = open_device(selected[0]);
    if (!tuner.device)
        return EXIT_FAILED;
    const struct ordo_facts *facts = ordo_device_facts(tuner.device);
    tuner.cpu = facts->cpu;
    tuner.json = json_head("ordo-tune", argc, argv);
    tuner.drops = cJSON_AddArrayToObject(tuner.json, "dropped");
    cJSON_AddItemToObject(tuner.json, "device", json_device(facts));
    tuner.whole_deadline = now() + options.budget;
    say(tuner.out, 4, "%s (%s), %g s", facts->name, facts->platform, options.budget);
    list_groups(&tuner);
    bool good = tuner.n_groups > 0;
    if (good) {
        good = tune_all(&tuner);
        good = conclude(&tuner, selected[0]) && good;
        cJSON *groups = cJSON_AddArrayToObject(tuner.json, "groups");
        for (int g = 0; g < tuner.n_groups; g++)
            if (tuner.groups[g].started)
                cJSON_AddItemToArray(groups, json_group(&tuner.groups[g]));
        good = (!options.json || json_write(options.json, tuner.json)) && good;
    } else {
        report_error("this device has no such tunables");
    }
    cJSON_Delete(tuner.json);
    ordo_device_close(&tuner.device);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
