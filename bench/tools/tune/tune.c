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

#include <stdlib.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------------------------- */

static int take_names(const struct option_row *row, const char *text, const char *(*name)(int), int n, int *chosen)
{
    char      why[WHY_BYTES];
    const int taken = parse_names(text, name, n, chosen, NAMES_MAX, why);
    if (taken < 0)
        usage_error("%s: %s", row->name, why);
    return taken;
}

static void take_primitives(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    o->n_primitives = take_names(row, text, primitive_name, N_PRIMITIVES, o->primitives);
}

static void take_shapes(void *options, const struct option_row *row, const char *text)
{
    struct options *o = options;
    o->n_shapes = take_names(row, text, shape_name, N_SHAPES, o->shapes);
}

static const char *const help[] = {
#include "tune_help.h"
};

#define AT(name) offsetof(struct options, name)
static const struct option_row rows[] = {
    { "--device", 'd', true, take_text, false, AT(device), 0, 0 },
    { "--budget", 'b', true, take_double, false, AT(budget), 0.1, 1e6 },
    { "--primitives", 'p', true, take_primitives, false, 0, 0, 0 },
    { "--shapes", 's', true, take_shapes, false, 0, 0, 0 },
    { "--dry-run", 0, false, take_flag, false, AT(dry_run), 0, 0 },
    { "--row", 0, false, take_flag, false, AT(row), 0, 0 },
    { "--json", 0, true, take_json, false, AT(json), 0, 0 },
};

/* ---- the profile --------------------------------------------------------------------------------------------- */

/* The first param that `test` accepts, or NULL. */
static const struct param *find_param(const struct tuner *tuner, bool (*test)(const struct param *param, void *user),
                                      void               *user)
{
    for (int g = 0; g < tuner->n_groups; g++)
        for (int p = 0; p < tuner->groups[g].n_params; p++)
            if (test(&tuner->groups[g].params[p], user))
                return &tuner->groups[g].params[p];
    return NULL;
}

static bool has_changed(const struct param *param, void *user)
{
    (void) user;
    return param->at != param->before;
}

/* Sets a changed value on the fresh device. True if that fails. */
static bool cannot_set(const struct param *param, void *fresh)
{
    return has_changed(param, NULL) && ordo_device_set_tunable(fresh, param->name, param->choice[param->at]) != ORDO_OK;
}

/* Whether the fresh device has another value. */
static bool has_other_value(const struct param *param, void *fresh)
{
    struct ordo_tunable_info info;
    for (size_t i = 0; ordo_device_tunable(fresh, i, &info) == ORDO_OK; i++)
        if (strcmp(param->name, info.name) == 0 && param->choice[param->at] != info.value)
            return true;
    return false;
}

/* Sets the better values on a freshly opened device, so that only they are written, and saves. Opens it again to see
 * them. */
static int save(const struct tuner *tuner, const char *select)
{
    char         path[4096] = "", why[WHY_BYTES] = "";
    ordo_device *fresh = open_device(select);
    if (!fresh)
        return EXIT_FAILED;
    const bool        set = !find_param(tuner, cannot_set, fresh);
    const ordo_status got = set ? ordo_device_save_profile(fresh, path, sizeof path) : ORDO_INVALID;
    device_why(fresh, got, why);
    ordo_device_close(&fresh);
    if (got != ORDO_OK) {
        report_error("the profile was not written: %s", why);
        return EXIT_FAILED;
    }
    fresh = open_device(select);
    const bool good = fresh && !find_param(tuner, has_other_value, fresh);
    ordo_device_close(&fresh);
    if (good)
        say(tuner->out, 0, "\nWritten to %s, and in use from now on; delete it to go back.", path);
    else
        report_error("%s was written, but a device opened after it has other values", path);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

/* ---- the program --------------------------------------------------------------------------------------------- */

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

static bool write_json(const struct tuner *tuner, int argc, char **argv)
{
    char   why[WHY_BYTES];
    cJSON *json = json_head("ordo-tune", argc, argv), *groups = cJSON_AddArrayToObject(json, "groups");
    cJSON_AddItemToObject(json, "device", json_device(ordo_device_facts(tuner->device)));
    for (int g = 0; g < tuner->n_groups; g++)
        if (tuner->groups[g].started)
            cJSON_AddItemToArray(groups, json_group(&tuner->groups[g]));
    cJSON_AddItemToObject(json, "dropped", cJSON_Duplicate(tuner->drops, true));
    const bool good = json_write(tuner->options->json, json, why);
    if (!good)
        report_error("%s", why);
    cJSON_Delete(json);
    return good;
}

static int conclude(const struct tuner *tuner, const char *select)
{
    bool disturbed = false;
    for (int g = 0; g < tuner->n_groups; g++)
        disturbed |= tuner->groups[g].disturbed;
    if (tuner->options->row)
        print_row(tuner);
    if (tuner->options->dry_run)
        fprintf(tuner->out, "\nNothing is written (--dry-run).\n");
    else if (find_param(tuner, has_changed, NULL))
        return save(tuner, select);
    else
        fprintf(tuner->out, "\nNothing better was found%s.\nYour profile stays as it is.\n",
                disturbed ? " on a disturbed machine" : "");
    return EXIT_GOOD;
}

int main(int argc, char **argv)
{
    tool_name("ordo-tune");
    struct options options = { .budget = 60 };
    char           selected[SELECTED_MAX][SELECT_BYTES];
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &options);
    if (select_devices(options.device, selected) != 1)
        usage_error("--device: one device at a time");

    struct tuner tuner = { .options = &options,
                           .out = options.json && strcmp(options.json, "-") == 0 ? stderr : stdout,
                           .device = open_device(selected[0]) };
    if (!tuner.device)
        return EXIT_FAILED;
    const struct ordo_facts *facts = ordo_device_facts(tuner.device);
    tuner.cpu = facts->cpu;
    tuner.drops = cJSON_CreateArray();
    tuner.whole_deadline = now() + options.budget;
    say(tuner.out, 4, "%s (%s), %g s", facts->name, facts->platform, options.budget);

    bool good = list_groups(&tuner);
    if (!good)
        report_error("this device has no such tunables");
    good = good && tune_all(&tuner);
    good = (tuner.n_groups == 0 || conclude(&tuner, selected[0]) == EXIT_GOOD) && good;
    good = (tuner.n_groups == 0 || !options.json || write_json(&tuner, argc, argv)) && good;
    free(tuner.groups);
    cJSON_Delete(tuner.drops);
    ordo_device_close(&tuner.device);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
