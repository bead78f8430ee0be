/* SPDX-License-Identifier: Apache-2.0 */
#include "sensors.h"

#include "json.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(cJSON *list, const char *name, double clock_mhz, double power_w, double temperature_c)
{
    cJSON *sensor = cJSON_CreateObject();
    cJSON_AddStringToObject(sensor, "name", name);
    json_number(sensor, "clock_mhz", clock_mhz);
    json_number(sensor, "power_w", power_w);
    json_number(sensor, "temperature_c", temperature_c);
    cJSON_AddItemToArray(list, sensor);
}

/* ---- sysfs --------------------------------------------------------------------------------------------------- */

/* A number in a file; NaN if there is none. */
static double read_number(const char *directory, const char *file)
{
    char   path[1024];
    double number = NAN;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    FILE *from = fopen(path, "r");
    if (from && fscanf(from, "%lf", &number) != 1)
        number = NAN;
    if (from)
        fclose(from);
    return number;
}

/* Of one graphics card: its driver's first monitor. */
static void add_card(cJSON *list, const char *root, const char *card)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/class/drm/%.32s/device/hwmon", root, card);
    DIR *monitors = opendir(path);
    for (const struct dirent *entry; monitors && (entry = readdir(monitors));) {
        char monitor[800];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(monitor, sizeof monitor, "%s/%s", path, entry->d_name);
        const double power = read_number(monitor, "power1_average"), input = read_number(monitor, "power1_input");
        add(list, card, read_number(monitor, "freq1_input") * 1e-6, (isnan(power) ? input : power) * 1e-6,
            read_number(monitor, "temp1_input") * 1e-3);
        break;
    }
    if (monitors)
        closedir(monitors);
}

static void add_cards(cJSON *list, const char *root)
{
    for (int c = 0; c < 64; c++) { /* by number, so that the order is the same each time */
        char card[16];
        snprintf(card, sizeof card, "card%d", c);
        add_card(list, root, card);
    }
}

/* The first core's clock, and the first zone's temperature. */
static void add_cpu(cJSON *list, const char *root)
{
    char clock[512], zone[512];
    snprintf(clock, sizeof clock, "%s/sys/devices/system/cpu/cpu0/cpufreq", root);
    snprintf(zone, sizeof zone, "%s/sys/class/thermal/thermal_zone0", root);
    const double mhz = read_number(clock, "scaling_cur_freq") * 1e-3, celsius = read_number(zone, "temp") * 1e-3;
    if (!isnan(mhz) || !isnan(celsius))
        add(list, "cpu", mhz, NAN, celsius);
}

/* ---- nvidia-smi ---------------------------------------------------------------------------------------------- */

/* The next field of a line between commas; NaN if it is no number, as "[N/A]". Goes on to what follows; NULL: nothing. */
static double field(char **line)
{
    char *end = NULL, *text = *line;
    if (!text)
        return NAN;
    const double number = strtod(text, &end);
    *line = strchr(text, ',');
    if (*line)
        (*line)++;
    return end == text ? NAN : number;
}

static void add_nvidia(cJSON *list)
{
    char line[512];
    if (access("/dev/nvidiactl", F_OK) != 0)
        return;
    FILE *from = popen("timeout 5 nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,name "
                       "--format=csv,noheader,nounits 2>/dev/null",
                       "r");
    while (from && fgets(line, sizeof line, from)) {
        char        *rest = line;
        const double clock = field(&rest), power = field(&rest), temperature = field(&rest);
        if (!rest)
            continue;
        rest[strcspn(rest, "\n")] = 0;
        add(list, rest + strspn(rest, " "), clock, power, temperature);
    }
    if (from)
        pclose(from);
}

cJSON *read_sensors(const char *root)
{
    cJSON *list = cJSON_CreateArray();
    add_cards(list, root);
    add_cpu(list, root);
    if (!*root)
        add_nvidia(list);
    return list;
}
