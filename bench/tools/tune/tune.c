/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-tune: finds faster tunables for a device by trying them, within a budget of time, and keeps what is both right
 * and faster in the user's profile.
 *
 * Tunables that work together ("sort.k4v4.*") form a group. A group's search goes tunable by tunable, nearest values
 * first, then over pairs of a group's size and its items, until nothing is better or the time is over. A candidate is
 * checked before it is timed, and must be 2 % faster twice to be taken. At the end the group's old and new values take turns:
 * the new ones are kept if they are faster again, slow no trial down, and the machine was not disturbed. */
#include "bench/common/device.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/common/timing.h"
#include "search.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

/* ---- the profile --------------------------------------------------------------------------------------------- */

static int count_changed(const struct tuner *tuner)
{
    int n = 0;
    for (int g = 0; g < tuner->n_groups; g++)
        n += changed(&tuner->groups[g]);
    return n;
}

static bool any_disturbed(const struct tuner *tuner)
{
    for (int g = 0; g < tuner->n_groups; g++)
        if (tuner->groups[g].disturbed)
            return true;
    return false;
}

/* Sets what is better on a freshly opened device, so that nothing else is written, and saves. */
static ordo_status write_profile(const struct tuner *tuner, ordo_device *fresh, char *path, size_t path_bytes)
{
    for (int g = 0; g < tuner->n_groups; g++)
        for (int p = 0; p < tuner->groups[g].n_params; p++) {
            const struct param *param = &tuner->groups[g].params[p];
            if (param->at == param->before)
                continue;
            const ordo_status got = ordo_device_set_tunable(fresh, param->name, param->choice[param->at]);
            if (got != ORDO_OK)
                return got;
        }
    return ordo_device_save_profile(fresh, path, path_bytes);
}

/* Whether a device that is opened now has the values that were found. */
static bool took_effect(const struct tuner *tuner, ordo_device *fresh)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(fresh, i, &info) == ORDO_OK; i++)
        for (int g = 0; g < tuner->n_groups; g++)
            for (int p = 0; p < tuner->groups[g].n_params; p++) {
                const struct param *param = &tuner->groups[g].params[p];
                if (strcmp(param->name, info.name) == 0 && param->choice[param->at] != info.value)
                    return false;
            }
    return true;
}

static int save(const struct tuner *tuner, const char *select)
{
    char         path[4096] = "", why[WHY_BYTES] = "";
    ordo_device *fresh = open_device(select);
    if (!fresh)
        return EXIT_FAILED;
    const ordo_status got = write_profile(tuner, fresh, path, sizeof path);
    if (got != ORDO_OK) {
        device_why(fresh, got, why);
        report_error("the profile was not written: %s", why);
    }
    ordo_device_close(&fresh);
    if (got != ORDO_OK)
        return EXIT_FAILED;

    fresh = open_device(select);
    const bool good = fresh && took_effect(tuner, fresh);
    ordo_device_close(&fresh);
    if (!good) {
        report_error("%s was written, but a device opened after it has other values", path);
        return EXIT_FAILED;
    }
    say(tuner->out, 0, "\nWritten to %s, and in use from now on; delete it to go back.", path);
    return EXIT_GOOD;
}

/* ---- the program --------------------------------------------------------------------------------------------- */

/* False if a group's present values do not work. */
static bool tune_all(struct tuner *tuner)
{
    bool good = true;
    int  n = 0;
    while (n < tuner->n_groups && now() < tuner->whole_deadline) {
        struct group *group = &tuner->groups[n];
        tuner->deadline = now() + (tuner->whole_deadline - now()) / (tuner->n_groups - n);
        if (tune_group(tuner, group))
            show_group(tuner, group);
        else
            good = false;
        n++;
    }
    progress_clear();
    if (n < tuner->n_groups) {
        char   names[MOST_GROUPS * sizeof tuner->groups->name] = "";
        size_t used = 0;
        for (; n < tuner->n_groups; n++)
            used += (size_t) snprintf(names + used, sizeof names - used, " %s", tuner->groups[n].name);
        say(tuner->out, 4, "\nNot reached within %g s:%s", tuner->options->budget, names);
    }
    return good;
}

static int conclude(const struct tuner *tuner, const char *select, int argc, char **argv)
{
    int  code = EXIT_GOOD;
    char why[WHY_BYTES];
    if (tuner->options->row)
        print_row(tuner);
    if (tuner->options->dry_run)
        fprintf(tuner->out, "\nNothing is written (--dry-run).\n");
    else if (count_changed(tuner) == 0)
        fprintf(tuner->out, "\nNothing better was found%s.\nYour profile stays as it is.\n",
                any_disturbed(tuner) ? " on a disturbed machine" : "");
    else
        code = save(tuner, select);
    if (!tuner->options->json)
        return code;

    cJSON *json = json_head("ordo-tune", argc, argv), *groups = cJSON_AddArrayToObject(json, "groups");
    cJSON_AddItemToObject(json, "device", json_device(ordo_device_facts(tuner->device)));
    for (int g = 0; g < tuner->n_groups; g++)
        if (tuner->groups[g].started)
            cJSON_AddItemToArray(groups, json_group(&tuner->groups[g]));
    cJSON_AddItemToObject(json, "dropped", cJSON_Duplicate(tuner->drops, true));
    if (!json_write(tuner->options->json, json, why)) {
        report_error("%s", why);
        code = EXIT_FAILED;
    }
    cJSON_Delete(json);
    return code;
}

int main(int argc, char **argv)
{
    tool_name("ordo-tune");
    const struct options options = read_options(argc, argv);
    char                 selected[SELECTED_MAX][SELECT_BYTES];
    if (select_devices(options.device, selected) != 1)
        usage_error("--device: one device at a time");

    struct tuner tuner = { .options = &options,
                           .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout,
                           .device = open_device(selected[0]) };
    if (!tuner.device)
        return EXIT_FAILED;
    tuner.cpu = ordo_device_facts(tuner.device)->cpu;
    tuner.drops = cJSON_CreateArray();
    tuner.whole_deadline = now() + options.budget;
    say(tuner.out, 4, "%s (%s), %g s", ordo_device_facts(tuner.device)->name, ordo_device_facts(tuner.device)->platform,
        options.budget);

    int code = EXIT_FAILED;
    if (!list_groups(&tuner))
        report_error("this device has no such tunables");
    else
        code = tune_all(&tuner) ? EXIT_GOOD : EXIT_FAILED;
    if (tuner.n_groups > 0 && conclude(&tuner, selected[0], argc, argv) != EXIT_GOOD)
        code = EXIT_FAILED;
    free(tuner.groups);
    cJSON_Delete(tuner.drops);
    ordo_device_close(&tuner.device);
    return code;
}
