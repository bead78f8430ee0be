/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"
#include "bench/workload/workload.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

const char *const primitive_names[N_PRIMITIVES] = {
#define X(id, name) name,
    PRIMITIVE_MAP(X)
#undef X
};
const char *const shape_names[N_SHAPES] = { "k4v4", "k4v0", "k8v4", "k8v8", "k4v8", "k8v0" };

static const char *primitive_any(int i)
{
    return primitive_names[i];
}
static const char *shape_any(int i)
{
    return shape_names[i];
}

static const char *const help[] = {
#include "tune_help.h"
};

enum { OPT_DRY_RUN = 256, OPT_ROW, OPT_JSON, OPT_VERSION };

static int names_option(const char *option, const char *text, const char *(*name)(int), int n_names, int *chosen)
{
    char      why[WHY_BYTES];
    const int n = parse_names(text, name, n_names, chosen, MOST_NAMES, why);
    if (n < 0)
        usage_error("%s: %s", option, why);
    return n;
}

static void take_option(struct options *o, int option)
{
    switch (option) {
    case 'd':
        o->device = optarg;
        break;
    case 'b':
        o->budget = option_number("--budget", optarg, 0.1, 1e6);
        break;
    case 'p':
        o->n_primitives = names_option("--primitives", optarg, primitive_any, N_PRIMITIVES, o->primitives);
        break;
    case 's':
        o->n_shapes = names_option("--shapes", optarg, shape_any, N_SHAPES, o->shapes);
        break;
    case OPT_DRY_RUN:
        o->dry_run = true;
        break;
    case OPT_ROW:
        o->row = true;
        break;
    case OPT_JSON:
        o->json = json_option(optarg);
        break;
    case 'h':
        print_lines(help);
        exit(EXIT_GOOD);
    case OPT_VERSION:
        print_version();
        exit(EXIT_GOOD);
    default: /* getopt has said what is wrong */
        fprintf(stderr, "Try 'ordo-tune --help'.\n");
        exit(EXIT_USAGE);
    }
}

struct options read_options(int argc, char **argv)
{
    static const struct option long_options[] = {
        { "device", required_argument, NULL, 'd' },     { "budget", required_argument, NULL, 'b' },
        { "primitives", required_argument, NULL, 'p' }, { "shapes", required_argument, NULL, 's' },
        { "dry-run", no_argument, NULL, OPT_DRY_RUN },  { "row", no_argument, NULL, OPT_ROW },
        { "json", required_argument, NULL, OPT_JSON },  { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, OPT_VERSION },  { NULL, 0, NULL, 0 },
    };
    struct options o = { .budget = 60 };
    for (int option; (option = getopt_long(argc, argv, "d:b:p:s:h", long_options, NULL)) != -1;)
        take_option(&o, option);
    if (optind < argc)
        usage_error("unexpected argument '%s'", argv[optind]);
    return o;
}
