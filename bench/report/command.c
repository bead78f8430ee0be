/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include "bench/common/json.h"
#include "bench/common/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char *const page_html[] = {
#include "page_html.h"
};
static const char *const script_js[] = {
#include "script_js.h"
};

/* Fields of rows and devices that the page does not show: three quarters of a file. */
static const char unshown[] =
    " samples_s batches_s interval_s device_s began_s took_s first_call_s repetitions calls_per_repetition ended_by "
    "scratch_bytes "
    " index_bytes index_build_s rate_of_sorted_array rebuild_s share_of_copy_rate stale tombstones runs leaves levels "
    " cleanups bytes_peak process tunables origins ";

static void drop_unshown(cJSON *json)
{
    char name[64];
    for (cJSON *value = json ? json->child : NULL, *next; value; value = next) {
        next = value->next;
        snprintf(name, sizeof name, " %s ", value->string ? value->string : "-");
        if (strstr(unshown, name))
            cJSON_Delete(cJSON_DetachItemViaPointer(json, value));
        else
            drop_unshown(value);
    }
}

static size_t count_wrong(const cJSON *json)
{
    size_t       wrong = text_is(json, "check", "WRONG");
    const cJSON *value = NULL;
    cJSON_ArrayForEach(value, json)
        wrong += count_wrong(value);
    return wrong;
}

/* Adds a file of results with its name. Returns false after a message. */
static bool add_file(cJSON *files, const char *path)
{
    char        why[WHY_BYTES] = "";
    cJSON      *file = json_read(path, why);
    const char *slash = strrchr(path, '/');
    if (!file) {
        report_error("%s", why);
        return false;
    }
    cJSON_AddItemToArray(files, file);
    if (!text_is(file, "tool", "ordo-bench") || !cJSON_IsArray(json_at(file, "devices")) ||
        !cJSON_IsArray(json_at(file, "rows"))) {
        report_error("%s was not written by ordo-bench --json", path);
        return false;
    }
    drop_unshown(json_at(file, "devices"));
    drop_unshown(json_at(file, "rows"));
    json_text(file, "name", slash ? slash + 1 : path);
    return true;
}

static void put_lines(FILE *out, const char *const *lines)
{
    for (; *lines; lines++)
        fprintf(out, "%s\n", *lines);
}

static bool write_page(const cJSON *files, const char *path)
{
    char *text = cJSON_PrintUnformatted(files);
    FILE *out = text && strcmp(path, "-") != 0 ? fopen(path, "w") : stdout;
    bool  good = text && out;
    if (!good) {
        report_error("cannot write %s: %s", path, text ? strerror(errno) : "out of memory");
        cJSON_free(text);
        return false;
    }
    put_lines(out, page_html);
    fprintf(out, "<script type=\"application/json\" id=\"files\">");
    for (const char *at = text; *at; at++) /* "<" could end the script. JSON has it only in strings. */
        fprintf(out, *at == '<' ? "\\u003c" : "%c", *at);
    fprintf(out, "</script>\n<script>\n");
    put_lines(out, script_js);
    fprintf(out, "</script></body></html>\n");
    good = fflush(out) == 0 && !ferror(out);
    if (out != stdout)
        good = fclose(out) == 0 && good;
    if (!good)
        report_error("cannot write %s: %s", path, strerror(errno));
    cJSON_free(text);
    return good;
}

static int report(int n, char **paths, const char *page)
{
    cJSON *files = cJSON_CreateArray();
    int    code = EXIT_USAGE, i = 0;
    while (i < n && add_file(files, paths[i]))
        i++;
    const size_t wrong = count_wrong(files);
    if (i == n)
        code = write_page(files, page) && wrong == 0 ? EXIT_GOOD : EXIT_FAILED;
    if (wrong)
        report_error("%zu rows are WRONG", wrong);
    cJSON_Delete(files);
    return code;
}

int report_command(int argc, char **argv)
{
    static const struct option names[] = { { "output", required_argument, NULL, 'o' }, { NULL, 0, NULL, 0 } };
    const char                *page = NULL;
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, "o:", names, NULL)) != -1;) {
        if (code != 'o')
            usage_error("report: FILE... -o PAGE");
        page = optarg;
    }
    if (optind == argc || !page)
        usage_error("report: needs result files and a page: ordo-bench report FILE... -o PAGE");
    return report(argc - optind, argv + optind, page);
}
