/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-info: all OpenCL platforms and devices, what Ordo uses on each, and advice. Drivers crash and hang, so each
 * query runs in a child: platforms, devices of a platform, facts of a device. If the first query crashes, each
 * driver is queried alone. */
#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/options.h"
#include "bench/common/terminal.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
#include "info_help.h"
};

static void take_prepare(void *options, const struct option_row *row, const char *text)
{
    (void) prepare_params(text);
    take_text(options, row, text);
}

#define AT(name) offsetof(struct options, name)
static const struct option_row rows[] = {
    { "--tunables", 0, false, take_flag, false, AT(tunables), 0, 0 },
    { "--start", 0, false, take_flag, false, AT(start), 0, 0 },
    { "--no-self-test", 0, false, take_flag, false, AT(no_self_test), 0, 0 },
    { "--timeout", 0, true, take_double, false, AT(seconds), 0.01, 86400 },
    { "--json", 0, true, take_json, false, AT(json), 0, 0 },
    { "--root", 0, true, take_text, false, AT(root), 0, 0 },
    { "--prepare", 0, true, take_prepare, false, AT(prepare), 0, 0 },
};

static bool any_usable(const cJSON *json)
{
    const cJSON *platform = NULL, *device = NULL;
    cJSON_ArrayForEach(platform, json_at(json, "platforms"))
        cJSON_ArrayForEach(device, json_at(platform, "devices"))
            if (is_true(device, "usable"))
                return true;
    return false;
}

int main(int argc, char **argv)
{
    tool_name("ordo-info");
    child_keep_environment();
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return answer_question(argv[2]);

    struct options options = { .root = "", .seconds = 300 };
    take_all_options(&(struct option_table) { rows, sizeof rows / sizeof *rows, help }, argc, argv, &options);
    if (options.prepare)
        return prepare_device(options.prepare) ? EXIT_GOOD : EXIT_FAILED;
    cJSON *json = gather(&options, argc, argv);
    if (!options.json)
        show(&options, json);
    const bool good = (!options.json || json_write(options.json, json)) && any_usable(json);
    cJSON_Delete(json);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
