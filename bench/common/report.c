/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "revision.h"
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- numbers as text ----------------------------------------------------------------------------------------- */

/* Three digits, whatever the size. */
static void three_digits(char text[TEXT_BYTES], double number, const char *unit)
{
    const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
    snprintf(text, TEXT_BYTES, "%.*f %s", decimals, number, unit);
}

static char *scaled(char text[TEXT_BYTES], double number, double base, const char *const *units, int n_units)
{
    int unit = 0;
    if (isnan(number)) {
        snprintf(text, TEXT_BYTES, "-");
        return text;
    }
    while (unit + 1 < n_units && number >= base * 0.9995) {
        number /= base;
        unit++;
    }
    three_digits(text, number, units[unit]);
    return text;
}

char *text_rate(char text[TEXT_BYTES], double per_second)
{
    static const char *const units[] = { "", "k", "M", "G", "T" };
    return scaled(text, per_second, 1000, units, 5);
}

char *text_seconds(char text[TEXT_BYTES], double seconds)
{
    static const char *const units[] = { "ns", "us", "ms" };
    if (seconds >= 0.9995) {
        three_digits(text, seconds, "s");
        return text;
    }
    return scaled(text, seconds * 1e9, 1000, units, 3);
}

char *text_bytes(char text[TEXT_BYTES], double bytes)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    return scaled(text, bytes, 1024, units, 5);
}

char *text_giga(char text[TEXT_BYTES], double number)
{
    if (isnan(number))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, number < 9.995e9 ? "%.2f" : number < 99.95e9 ? "%.1f" : "%.0f", number * 1e-9);
    return text;
}

char *text_count(char text[TEXT_BYTES], size_t count)
{
    int log2 = 0;
    while (log2 < 63 && ((size_t) 1 << log2) < count)
        log2++;
    if (count == (size_t) 1 << log2 && log2 >= 4)
        snprintf(text, TEXT_BYTES, "2^%d", log2);
    else
        snprintf(text, TEXT_BYTES, "%zu", count);
    return text;
}

char *text_grouped(char text[TEXT_BYTES], size_t number)
{
    char digits[TEXT_BYTES];
    int  used = 0;
    snprintf(digits, sizeof digits, "%zu", number);
    for (size_t left = strlen(digits), at = 0; left > 0; left--, at++) {
        text[used++] = digits[at];
        if (left > 1 && left % 3 == 1)
            text[used++] = ',';
    }
    text[used] = 0;
    return text;
}

char *text_ratio(char text[TEXT_BYTES], double ratio)
{
    if (isnan(ratio))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, ratio < 99.95 ? ratio < 9.995 ? "%.2fx" : "%.1fx" : "%.0fx", ratio);
    return text;
}

char *text_percent(char text[TEXT_BYTES], double share)
{
    if (isnan(share))
        snprintf(text, TEXT_BYTES, "-");
    else
        snprintf(text, TEXT_BYTES, share < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
    return text;
}

/* ---- the terminal -------------------------------------------------------------------------------------------- */

/* Columns of a terminal, 80 if it does not say; INT_MAX if it is none. */
static int columns_of(int file)
{
    struct winsize size = { .ws_col = 0 };
    if (!isatty(file))
        return INT_MAX;
    return ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* ---- tables and charts --------------------------------------------------------------------------------------- */

static void table_line(const struct table *table, const char *const *cells)
{
    char   line[512];
    size_t used = 0;
    for (int c = 0; c < table->n_columns && used < sizeof line; c++) {
        const struct column *column = &table->columns[c];
        used += (size_t) snprintf(line + used, sizeof line - used, "%s%*s", c ? "  " : "",
                                  column->left ? -column->width : column->width, cells[c]);
    }
    if (used >= sizeof line)
        used = sizeof line - 1;
    while (used > 0 && line[used - 1] == ' ')
        used--;
    fprintf(table->out, "%.*s\n", (int) used, line);
}

void table_head(const struct table *table)
{
    const char *titles[32];
    for (int c = 0; c < table->n_columns; c++)
        titles[c] = table->columns[c].title;
    progress_clear();
    table_line(table, titles);
}

void table_row(const struct table *table, const char *const *cells)
{
    progress_clear();
    table_line(table, cells);
    fflush(table->out);
}

void chart(FILE *out, const char *title, const struct bar *bars, int n_bars, int width)
{
    const int room = columns_of(fileno(out)) - 12 - 8; /* label and rate */
    double    most = 0;
    if (width > room)
        width = room > 1 ? room : 1;
    for (int b = 0; b < n_bars; b++)
        if (bars[b].value > most)
            most = bars[b].value;

    progress_clear();
    fprintf(out, "%s\n", title);
    for (int b = 0; b < n_bars; b++) {
        char      rate[TEXT_BYTES];
        const int length = most > 0 && !isnan(bars[b].value) ? (int) lround(bars[b].value / most * width) : 0;
        fprintf(out, "%10s |", bars[b].label);
        for (int i = 0; i < length; i++)
            fputc('#', out);
        fprintf(out, " %s\n", text_rate(rate, bars[b].value));
    }
}

/* ---- progress ------------------------------------------------------------------------------------------------ */

static bool progress_is_shown;
static char progress_begin[100];

void progress_about(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(progress_begin, sizeof progress_begin, format, args);
    va_end(args);
}

void progress(const char *format, ...)
{
    const char *terminal = getenv("TERM");
    if (!isatty(STDERR_FILENO) || (terminal && strcmp(terminal, "dumb") == 0))
        return;

    char      line[200];
    const int columns = columns_of(STDERR_FILENO);
    va_list   args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Carriage return, the text, and "erase to the end of the line". */
    char whole[320];
    snprintf(whole, sizeof whole, "%s%s%s", progress_begin, *progress_begin ? ": " : "", line);
    fprintf(stderr, "\r%.*s\033[K", columns - 1, whole);
    fflush(stderr);
    progress_is_shown = true;
}

void progress_clear(void)
{
    if (!progress_is_shown)
        return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    progress_is_shown = false;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

void json_number(cJSON *object, const char *name, double number)
{
    char text[32];
    if (isnan(number) || isinf(number)) {
        cJSON_AddNullToObject(object, name);
        return;
    }
    snprintf(text, sizeof text, "%.6g", number);
    cJSON_AddNumberToObject(object, name, strtod(text, NULL));
}

static void processor_model(char *model, size_t bytes)
{
    FILE *info = fopen("/proc/cpuinfo", "r");
    char  line[256];
    snprintf(model, bytes, "unknown");
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        snprintf(model, bytes, "%.*s", (int) strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (info)
        fclose(info);
}

static cJSON *json_host(void)
{
    static const char *const variables[] = { "ORDO_DEVICE",
                                             "ORDO_MASK",
                                             "ORDO_CACHE",
                                             "ORDO_PROFILE",
                                             "ORDO_CL_DIR",
                                             "POCL_DEVICES",
                                             "POCL_MAX_PTHREAD_COUNT",
                                             "RUSTICL_ENABLE",
                                             "CUDA_VISIBLE_DEVICES",
                                             "OCL_ICD_VENDORS" };
    cJSON                   *host = cJSON_CreateObject(), *environment = cJSON_AddObjectToObject(host, "environment");
    struct utsname           system;
    char                     model[128];

    processor_model(model, sizeof model);
    if (uname(&system) == 0) {
        char text[200];
        snprintf(text, sizeof text, "%.60s %.60s %.60s", system.sysname, system.release, system.machine);
        cJSON_AddStringToObject(host, "system", text);
    }
    cJSON_AddStringToObject(host, "processor", model);
    cJSON_AddNumberToObject(host, "processors", processors());
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            cJSON_AddStringToObject(environment, variables[i], getenv(variables[i]));
    return host;
}

cJSON *json_head(const char *tool, int argc, char **argv)
{
    cJSON       *head = cJSON_CreateObject();
    const time_t now = time(NULL);
    struct tm    utc;
    char         date[40] = "";

    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    cJSON_AddStringToObject(head, "tool", tool);
    cJSON_AddStringToObject(head, "version", ordo_version());
    cJSON_AddStringToObject(head, "revision", ORDO_REVISION);
    cJSON_AddStringToObject(head, "date", date);
    cJSON_AddItemToObject(head, "host", json_host());
    cJSON *arguments = cJSON_AddArrayToObject(head, "arguments");
    for (int i = 1; i < argc; i++)
        cJSON_AddItemToArray(arguments, cJSON_CreateString(argv[i]));
    return head;
}

cJSON *json_device(const struct ordo_device_facts *facts)
{
    cJSON *device = cJSON_CreateObject();
    cJSON_AddStringToObject(device, "name", facts->name);
    cJSON_AddStringToObject(device, "vendor", facts->vendor);
    cJSON_AddStringToObject(device, "platform", facts->platform);
    cJSON_AddStringToObject(device, "driver", facts->driver);
    cJSON_AddStringToObject(device, "opencl", facts->version);
    cJSON_AddBoolToObject(device, "cpu", facts->cpu);
    cJSON_AddBoolToObject(device, "unified_memory", facts->unified_memory);
    cJSON_AddBoolToObject(device, "groups_progress", facts->groups_progress);
    cJSON_AddBoolToObject(device, "int64_atomics", facts->int64_atomics);
    cJSON_AddBoolToObject(device, "own_binary_cache", facts->own_binary_cache);
    cJSON_AddStringToObject(device, "lanes", lanes_name(facts->lanes));
    cJSON_AddStringToObject(device, "atomics", atomics_name(facts->atomics));
    cJSON_AddNumberToObject(device, "sub_group", facts->sub_group);
    cJSON_AddNumberToObject(device, "compute_units", facts->compute_units);
    cJSON_AddNumberToObject(device, "max_group", facts->max_group);
    cJSON_AddNumberToObject(device, "cache_line_bytes", facts->cache_line_bytes);
    cJSON_AddNumberToObject(device, "clock_mhz", facts->clock_mhz);
    cJSON_AddNumberToObject(device, "timer_ns", facts->timer_ns);
    cJSON_AddNumberToObject(device, "local_bytes", (double) facts->local_bytes);
    cJSON_AddNumberToObject(device, "cache_bytes", (double) facts->cache_bytes);
    cJSON_AddNumberToObject(device, "global_bytes", (double) facts->global_bytes);
    cJSON_AddNumberToObject(device, "max_alloc_bytes", (double) facts->max_alloc_bytes);
    json_number(device, "open_ms", facts->open_ms);
    json_number(device, "build_ms", facts->build_ms);
    json_number(device, "self_test_ms", facts->self_test_ms);
    cJSON_AddBoolToObject(device, "self_test_remembered", facts->self_test_remembered);
    cJSON_AddStringToObject(device, "dropped", facts->dropped);
    return device;
}

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *json_option(const char *path)
{
    FILE *file = is_standard(path) ? NULL : fopen(path, "a");
    if (!file && !is_standard(path))
        usage_error("--json: cannot write %s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return path;
}

bool json_write(const char *path, const cJSON *json, char *why, size_t why_bytes)
{
    char *text = cJSON_Print(json);
    FILE *file = !text ? NULL : is_standard(path) ? stdout : fopen(path, "w");
    bool  good = file && fprintf(file, "%s\n", text) > 0 && fflush(file) == 0;
    if (!good)
        snprintf(why, why_bytes, "cannot write %s: %s", path, text ? strerror(errno) : "out of memory");
    if (file && file != stdout && fclose(file) != 0 && good) {
        snprintf(why, why_bytes, "cannot write %s: %s", path, strerror(errno));
        good = false;
    }
    cJSON_free(text);
    return good;
}

/* The whole file as text, which the caller frees; NULL with errno set. */
static char *read_file(FILE *file)
{
    size_t room = 1 << 16, used = 0;
    char  *text = malloc(room);
    while (text) {
        const size_t got = fread(text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (used + 1 < room)
            continue;
        char *more = realloc(text, room *= 2);
        if (!more)
            free(text);
        text = more;
    }
    if (text && ferror(file)) {
        free(text);
        return NULL;
    }
    if (text)
        text[used] = 0;
    return text;
}

cJSON *json_read(const char *path, char *why, size_t why_bytes)
{
    FILE *file = is_standard(path) ? stdin : fopen(path, "r");
    char *text = file ? read_file(file) : NULL;
    if (!text)
        snprintf(why, why_bytes, "cannot read %s: %s", path, strerror(errno));
    if (file && file != stdin)
        fclose(file);
    if (!text)
        return NULL;

    cJSON *json = cJSON_Parse(text);
    if (!json) {
        const char *at = cJSON_GetErrorPtr();
        int         line = 1;
        for (const char *c = text; at && c < at; c++)
            line += *c == '\n';
        snprintf(why, why_bytes, "%s is not JSON (line %d)", path, line);
    }
    free(text);
    return json;
}

/* ---- names of facts ------------------------------------------------------------------------------------------ */

const char *lanes_name(ordo_lanes lanes)
{
    static const char *const names[] = { "one", "khronos", "nvidia", "amd" };
    return names[lanes];
}

const char *atomics_name(ordo_atomics atomics)
{
    static const char *const names[] = { "legacy", "c11", "nvidia" };
    return names[atomics];
}

const char *origin_name(ordo_origin origin)
{
    static const char *const names[] = { "default", "shipped", "tuned", "set" };
    return names[origin];
}

/* ---- complaints ---------------------------------------------------------------------------------------------- */

static const char *name_of_tool = "ordo";

void tool_name(const char *name)
{
    name_of_tool = name;
}

void print_lines(const char *const *lines)
{
    for (; *lines; lines++)
        puts(*lines);
}

void print_version(void)
{
    printf("%s %s\n", name_of_tool, ordo_version());
}

static void complain_with(const char *format, va_list args)
{
    progress_clear();
    fflush(stdout);
    fprintf(stderr, "%s: ", name_of_tool);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_with(format, args);
    va_end(args);
}

void usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    complain_with(format, args);
    va_end(args);
    fprintf(stderr, "Try '%s --help'.\n", name_of_tool);
    exit(EXIT_USAGE);
}

double option_number(const char *option, const char *text, double low, double high)
{
    char        *end = NULL;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= low && number <= high))
        usage_error("%s: '%s' is no number from %.16g to %.16g", option, text, low, high);
    return number;
}
