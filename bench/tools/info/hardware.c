/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "bench/common/json.h"
#include "runtime/choose.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum maker { NVIDIA, AMD, INTEL, N_MAKERS };

#define POCL "Portable Computing Language" /* name of its platform */

struct hardware {
    const char *root;
    bool        present[N_MAKERS + 1]; /* GPUs on the PCI bus, or with device nodes */
    bool        shown[N_MAKERS + 1];   /* GPUs that OpenCL has */
    bool        cpu;
    bool        rusticl, pocl; /* these platforms have no device */
    char        closed[128];   /* a device node without permission, or "" */
};

const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

cJSON *driver_files(const char *root)
{
    const char *chosen = *root ? NULL : getenv("OCL_ICD_VENDORS"); /* a directory or a file */
    char        pattern[300];
    cJSON      *files = cJSON_CreateArray();
    glob_t      found;
    snprintf(pattern, sizeof pattern, "%s%s", root, chosen && *chosen ? chosen : "/etc/OpenCL/vendors");
    const size_t length = strlen(pattern);
    if (length < 4 || strcmp(pattern + length - 4, ".icd") != 0)
        snprintf(pattern + length, sizeof pattern - length, "/*.icd");
    if (glob(pattern, 0, NULL, &found) != 0)
        return files;
    for (size_t i = 0; i < found.gl_pathc; i++)
        cJSON_AddItemToArray(files, cJSON_CreateString(found.gl_pathv[i]));
    globfree(&found);
    return files;
}

/* Makers by PCI vendor id and by the begin of a vendor's name. */
static const struct {
    enum maker  maker;
    unsigned    pci;
    const char *begin;
} makers[] = {
    { NVIDIA, 0x10de, "NVIDIA" },
    { AMD, 0x1002, "AMD" },
    { AMD, 0x1002, "Advanced Micro" },
    { INTEL, 0x8086, "Intel" },
};

/* N_MAKERS: another. */
static enum maker maker_of(unsigned pci, const char *vendor)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (pci == makers[i].pci || strncasecmp(vendor, makers[i].begin, strlen(makers[i].begin)) == 0)
            return makers[i].maker;
    return N_MAKERS;
}

static void look_at_platforms(struct hardware *hardware, const cJSON *platforms)
{
    const cJSON *platform = NULL, *device = NULL;
    cJSON_ArrayForEach(platform, platforms) {
        const char *name = text_of(platform, "name");
        const bool  empty = cJSON_GetArraySize(json_at(platform, "devices")) == 0;
        hardware->rusticl |= empty && strcasecmp(name, "rusticl") == 0;
        hardware->pocl |= empty && strcmp(name, POCL) == 0;
        cJSON_ArrayForEach(device, json_at(platform, "devices")) {
            const enum maker maker = maker_of((unsigned) number_of(device, "vendor_id"), text_of(device, "vendor"));
            hardware->shown[maker] |= text_is(device, "type", "gpu");
            hardware->cpu |= text_is(device, "type", "cpu");
        }
    }
}

static unsigned read_hex(const char *device, const char *file)
{
    char     path[700];
    unsigned number = 0;
    snprintf(path, sizeof path, "%s/%s", device, file);
    FILE *from = fopen(path, "r");
    if (from && fscanf(from, "%x", &number) != 1)
        number = 0;
    if (from)
        fclose(from);
    return number;
}

static void look_at_pci(struct hardware *hardware)
{
    char   pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/sys/bus/pci/devices/*", hardware->root);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const unsigned base = read_hex(found.gl_pathv[i], "class") >> 16;
        /* Display controllers, and accelerators without a display. */
        if (base == 0x03 || base == 0x12)
            hardware->present[maker_of(read_hex(found.gl_pathv[i], "vendor"), "")] = true;
    }
    globfree(&found);
}

/* Whether a file exists. Keeps the name of the first one in `closed` (NULL: none) that may not be opened. */
static bool look_at(const struct hardware *hardware, const char *file, char *closed)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", hardware->root, file);
    const bool exists = access(path, F_OK) == 0;
    if (exists && closed && !*closed && access(path, R_OK | W_OK) != 0)
        snprintf(closed, sizeof hardware->closed, "%s", file);
    return exists;
}

/* Containers often have the nodes without the bus. */
static void look_at_nodes(struct hardware *hardware)
{
    hardware->present[NVIDIA] |= look_at(hardware, "/dev/nvidiactl", NULL) || look_at(hardware, "/dev/dxg", NULL);
    hardware->present[AMD] |= look_at(hardware, "/dev/kfd", hardware->closed);
    for (int n = 128; n < 136; n++) {
        char node[64];
        snprintf(node, sizeof node, "/dev/dri/renderD%d", n);
        look_at(hardware, node, hardware->closed);
    }
}

/* Whether a registered driver file contains `part` in its name. */
static bool registered(const struct hardware *hardware, const char *part)
{
    cJSON       *files = driver_files(hardware->root);
    const cJSON *file = NULL;
    bool         found = false;
    cJSON_ArrayForEach(file, files)
        found |= strstr(file_name(cJSON_GetStringValue(file)), part) != NULL;
    cJSON_Delete(files);
    return found;
}

/* NVIDIA's container tool adds the library, not always its registration. */
static bool has_nvidia_library(const struct hardware *hardware)
{
#define LIBRARY "/libnvidia-opencl.so.1"
    return look_at(hardware, "/usr/lib/x86_64-linux-gnu" LIBRARY, NULL) ||
           look_at(hardware, "/usr/lib/aarch64-linux-gnu" LIBRARY, NULL) ||
           look_at(hardware, "/usr/lib64" LIBRARY, NULL) || look_at(hardware, "/usr/lib" LIBRARY, NULL) ||
           look_at(hardware, "/usr/local/nvidia/lib64" LIBRARY, NULL);
}

void advise(cJSON *advice, const char *format, ...)
{
    char    text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cJSON_AddItemToArray(advice, cJSON_CreateString(text));
}

/* Advice on a GPU that is present and not shown. The first row of its maker whose driver is registered counts. */
static const struct {
    enum maker  maker;
    const char *driver; /* part of a registered file's name; LIBRARY: unregistered; NULL: no condition */
    const char *advice;
} rows[] = {
    { NVIDIA, "nvidia",
      "An NVIDIA GPU is there and its driver is registered, but shows no device: see whether nvidia-smi works (kernel "
      "module), and in a container whether it was started with --gpus all and "
      "NVIDIA_DRIVER_CAPABILITIES=compute,utility." },
    { NVIDIA, LIBRARY,
      "An NVIDIA GPU and its OpenCL library are there, but not registered: mkdir -p /etc/OpenCL/vendors && echo "
      "libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd" },
    { NVIDIA, NULL, "An NVIDIA GPU is there without an OpenCL driver: install nvidia-opencl-icd." },
    { AMD, "rusticl",
      "An AMD GPU is there: set RUSTICL_ENABLE=radeonsi and Mesa shows it; rocm-opencl-icd is the faster driver where "
      "it supports the GPU." },
    { AMD, "amdocl",
      "An AMD GPU is there and a driver is registered, but shows no device: it may be too new or too old for it; "
      "mesa-opencl-icd with RUSTICL_ENABLE=radeonsi is the other way." },
    { AMD, NULL,
      "An AMD GPU is there without an OpenCL driver: install rocm-opencl-icd, or mesa-opencl-icd and set "
      "RUSTICL_ENABLE=radeonsi." },
    { INTEL, "intel",
      "An Intel GPU is there and its driver is registered, but shows no device: it may be too new or too old for that "
      "driver." },
    { INTEL, "rusticl",
      "An Intel GPU is there without an OpenCL driver: install intel-opencl-icd, or set RUSTICL_ENABLE=iris." },
    { INTEL, NULL, "An Intel GPU is there without an OpenCL driver: install intel-opencl-icd." },
};

static void advise_on_gpu(cJSON *advice, const struct hardware *hardware, enum maker maker)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *driver = rows[i].driver;
        if (rows[i].maker == maker &&
            (!driver || (strcmp(driver, LIBRARY) == 0 ? has_nvidia_library(hardware) : registered(hardware, driver)))) {
            advise(advice, "%s", rows[i].advice);
            return;
        }
    }
}

static void advise_on_rusticl(cJSON *advice, const struct hardware *hardware)
{
    const char *driver = hardware->present[AMD] ? "radeonsi" : hardware->present[INTEL] ? "iris" : NULL;
    const char *set = getenv("RUSTICL_ENABLE");
    if (set && *set)
        advise(advice, "Mesa's Rusticl is there but shows no device with RUSTICL_ENABLE=%s.", set);
    else
        advise(advice, "Mesa's Rusticl is there but shows no device until it is told to: RUSTICL_ENABLE=%s.",
               driver ? driver : "llvmpipe (the CPU; PoCL is the better way to it)");
}

void advise_on_hardware(cJSON *advice, const char *root, const cJSON *platforms)
{
    struct hardware hardware = { .root = root };
    bool            hidden[N_MAKERS];
    char            why[400];
    look_at_platforms(&hardware, platforms);
    look_at_pci(&hardware);
    look_at_nodes(&hardware);
    for (int m = 0; m < N_MAKERS; m++) {
        hidden[m] = hardware.present[m] && !hardware.shown[m];
        if (hidden[m])
            advise_on_gpu(advice, &hardware, (enum maker) m);
    }
    if ((hidden[AMD] || hidden[INTEL]) && hardware.closed[0])
        advise(advice, "%s may not be opened by this user: usermod -aG render,video %s, then log in again.",
               hardware.closed, getenv("USER") ? getenv("USER") : "USER");
    if (hardware.rusticl && !hidden[AMD])
        advise_on_rusticl(advice, &hardware);
    ordo_no_device(POCL, why, sizeof why);
    if (!hardware.cpu && hardware.pocl) /* it is already installed */
        advise(advice, "No CPU is exposed: %s.", why);
    else if (!hardware.cpu)
        advise(advice, "No CPU is exposed: install pocl-opencl-icd and every machine has a device.");
}
