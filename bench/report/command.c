/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "bench/common/complain.h"
#include "bench/common/json.h"
#include "page.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool read_files(struct report *report, int n, char **paths)
{
    char why[512] = "";
    for (int i = 0; i < n; i++) {
        cJSON *file = json_read(paths[i], why, sizeof why);
        if (!file || !report_add(report, paths[i], file, why, sizeof why)) {
            complain("%s", why);
            return false;
        }
    }
    if (report_sort_out(report))
        return true;
    complain("out of memory");
    return false;
}

static bool write_page(const struct report *report, const char *path)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    bool  good = out && page_write(out, report);
    if (out && out != stdout)
        good = fclose(out) == 0 && good;
    if (!good)
        complain("cannot write %s: %s", path, strerror(errno));
    return good;
}

static bool write_svgs(const struct report *report, const char *directory)
{
    char why[4200] = "";
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        complain("cannot make %s: %s", directory, strerror(errno));
        return false;
    }
    if (page_write_svgs(directory, report, why, sizeof why))
        return true;
    complain("%s", why);
    return false;
}

int report_command(int argc, char **argv)
{
    static const struct option names[] = { { "output", required_argument, NULL, 'o' },
                                           { "svg", required_argument, NULL, 's' },
                                           { NULL, 0, NULL, 0 } };
    const char                *page = NULL, *svg = NULL;
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, "o:", names, NULL)) != -1;) {
        if (code == 'o')
            page = optarg;
        else if (code == 's')
            svg = optarg;
        else
            usage_error("report: FILE... -o PAGE [--svg DIRECTORY]");
    }
    if (optind == argc || !page)
        usage_error("report: FILE... -o PAGE [--svg DIRECTORY]: it takes files of results, and where to write");

    struct report report = { .n_files = 0 };
    int           code = EXIT_FAILED;
    if (!read_files(&report, argc - optind, argv + optind))
        code = EXIT_USAGE;
    else if (write_page(&report, page) && (!svg || write_svgs(&report, svg)))
        code = report.wrong ? EXIT_FAILED : EXIT_GOOD;
    if (report.wrong)
        complain("%zu rows are WRONG", report.wrong);
    report_free(&report);
    return code;
}
