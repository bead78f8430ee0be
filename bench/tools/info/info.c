/* SPDX-License-Identifier: Apache-2.0 */
/* ordo-info: every platform and device that OpenCL shows here, what Ordo makes of it, and what would bring more.
 *
 * Drivers crash and hang. So each question goes to a process of its own: which platforms there are, which devices a
 * platform has, what a device can do. If even the first question kills its process, each registered driver is asked by
 * itself. */
#include "bench/common/child.h"
#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/tools/prepare/prepare.h"
#include "report.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
#include "info_help.h"
};

enum { OPT_TUNABLES = 256, OPT_START, OPT_NO_SELF_TEST, OPT_TIMEOUT, OPT_JSON, OPT_ROOT, OPT_PREPARE, OPT_VERSION };

static struct options read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        { "tunables", no_argument, NULL, OPT_TUNABLES },         { "start", no_argument, NULL, OPT_START },
        { "no-self-test", no_argument, NULL, OPT_NO_SELF_TEST }, { "timeout", required_argument, NULL, OPT_TIMEOUT },
        { "json", required_argument, NULL, OPT_JSON },           { "root", required_argument, NULL, OPT_ROOT },
        { "prepare", required_argument, NULL, OPT_PREPARE },     { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },           { NULL, 0, NULL, 0 },
    };
    struct options o = { .root = "", .seconds = 300 };
    for (int option; (option = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
        switch (option) {
        case OPT_TUNABLES:
            o.tunables = true;
            break;
        case OPT_START:
            o.start = true;
            break;
        case OPT_NO_SELF_TEST:
            o.no_self_test = true;
            break;
        case OPT_TIMEOUT:
            o.seconds = option_number("--timeout", optarg, 0.01, 86400);
            break;
        case OPT_JSON:
            o.json = json_option(optarg);
            break;
        case OPT_ROOT:
            o.root = optarg;
            break;
        case OPT_PREPARE:
            prepare_check(optarg);
            o.prepare = optarg;
            break;
        case 'h':
            print_lines(help);
            exit(EXIT_GOOD);
        case OPT_VERSION:
            print_version();
            exit(EXIT_GOOD);
        default: /* getopt has said what is wrong */
            fprintf(stderr, "Try 'ordo-info --help'.\n");
            exit(EXIT_USAGE);
        }
    }
    if (optind < argc)
        usage_error("unexpected argument '%s'", argv[optind]);
    return o;
}

static bool any_usable(const cJSON *json)
{
    const cJSON *platform = NULL, *device = NULL;
    cJSON_ArrayForEach(platform, json_at(json, "platforms"))
        cJSON_ArrayForEach(device, json_at(platform, "devices")) if (is_true(device, "usable")) return true;
    return false;
}

int main(int argc, char **argv)
{
    tool_name("ordo-info");
    child_keep_environment();
    if (argc == 3 && strcmp(argv[1], "--child") == 0)
        return answer_question(argv[2]);

    const struct options options = read_options(argc, argv);
    if (options.prepare)
        return prepare_device(options.prepare) ? EXIT_GOOD : EXIT_FAILED;
    cJSON *json = gather(&options, argc, argv);
    char   why[512];
    int    code = any_usable(json) ? EXIT_GOOD : EXIT_FAILED;
    if (!options.json) {
        show(&options, json);
    } else if (!json_write(options.json, json, why, sizeof why)) {
        complain("%s", why);
        code = EXIT_FAILED;
    }
    cJSON_Delete(json);
    return code;
}
