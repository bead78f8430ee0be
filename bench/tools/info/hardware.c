/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "runtime/choose.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *maker_name(enum maker maker)
{
    static const char *const names[] = { "NVIDIA", "AMD", "Intel" };
    return names[maker];
}

static const unsigned pci_vendor[N_MAKERS] = { 0x10de, 0x1002, 0x8086 };

enum maker maker_of(unsigned vendor_id, const char *vendor)
{
    static const struct {
        enum maker  maker;
        const char *begin;
    } names[] = { { NVIDIA, "NVIDIA" }, { AMD, "AMD" }, { AMD, "Advanced Micro" }, { INTEL, "Intel" } };

    for (int m = 0; m < N_MAKERS; m++)
        if (vendor_id == pci_vendor[m])
            return (enum maker) m;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(vendor, names[i].begin, strlen(names[i].begin)) == 0)
            return names[i].maker;
    return N_MAKERS;
}

/* ---- what the system shows ----------------------------------------------------------------------------------- */

struct hardware {
    const char *root;
    bool        gpu[N_MAKERS]; /* on the PCI bus, or by device nodes */
    char        closed[128];   /* a device node without permission, or "" */
};

static unsigned read_hex(const char *root, const char *device, const char *file)
{
    char path[512], text[32] = "";
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%.64s/%s", root, device, file);
    FILE *from = fopen(path, "r");
    if (from && !fgets(text, sizeof text, from))
        text[0] = 0;
    if (from)
        fclose(from);
    return (unsigned) strtoul(text, NULL, 16);
}

/* Display controllers, and accelerators without a display. */
static bool computes(unsigned pci_class)
{
    const unsigned base = pci_class >> 16;
    return base == 0x03 || base == 0x12;
}

static void look_at_pci(struct hardware *hardware)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices", hardware->root);
    DIR *bus = opendir(path);
    for (const struct dirent *entry; bus && (entry = readdir(bus));) {
        if (entry->d_name[0] == '.' || !computes(read_hex(hardware->root, entry->d_name, "class")))
            continue;
        for (int m = 0; m < N_MAKERS; m++)
            hardware->gpu[m] |= read_hex(hardware->root, entry->d_name, "vendor") == pci_vendor[m];
    }
    if (bus)
        closedir(bus);
}

__attribute__((format(printf, 2, 3))) static bool exists(const char *root, const char *format, ...)
{
    char    path[512];
    va_list args;
    va_start(args, format);
    const int used = snprintf(path, sizeof path, "%s", root);
    vsnprintf(path + used, sizeof path - (size_t) used, format, args);
    va_end(args);
    return access(path, F_OK) == 0;
}

static void look_at_node(struct hardware *hardware, const char *node)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", hardware->root, node);
    if (access(path, F_OK) == 0 && access(path, R_OK | W_OK) != 0 && !hardware->closed[0])
        snprintf(hardware->closed, sizeof hardware->closed, "%s", node);
}

/* Containers often have the nodes without the bus. */
static void look_at_nodes(struct hardware *hardware)
{
    hardware->gpu[NVIDIA] |= exists(hardware->root, "/dev/nvidiactl") || exists(hardware->root, "/dev/dxg");
    hardware->gpu[AMD] |= exists(hardware->root, "/dev/kfd");
    look_at_node(hardware, "/dev/kfd");
    for (int n = 128; n < 136; n++) {
        char node[64];
        snprintf(node, sizeof node, "/dev/dri/renderD%d", n);
        look_at_node(hardware, node);
    }
}

/* Whether a registered driver file contains `part` in its name. */
static bool registered(const char *root, const char *part)
{
    const char *chosen = getenv("OCL_ICD_VENDORS"); /* a directory or a file */
    char        path[512];
    bool        found = false;
    if (*root || !chosen || !*chosen)
        snprintf(path, sizeof path, "%s/etc/OpenCL/vendors", root);
    else
        snprintf(path, sizeof path, "%s", chosen);

    DIR *vendors = opendir(path);
    if (!vendors)
        return strstr(path, part) != NULL;
    for (const struct dirent *entry; (entry = readdir(vendors));)
        found |= strstr(entry->d_name, ".icd") && strstr(entry->d_name, part);
    closedir(vendors);
    return found;
}

/* NVIDIA's container tool adds the library, not always its registration. */
static bool nvidia_library(const char *root)
{
    static const char *const directories[] = { "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                               "/usr/lib", "/usr/local/nvidia/lib64" };
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (exists(root, "%s/libnvidia-opencl.so.1", directories[i]))
            return true;
    return false;
}

/* ---- advice -------------------------------------------------------------------------------------------------- */

struct pad {
    char (*advice)[ADVICE_BYTES];
    int n;
};

__attribute__((format(printf, 2, 3))) static void advise(struct pad *pad, const char *format, ...)
{
    va_list args;
    if (pad->n == ADVICE_MAX)
        return;
    va_start(args, format);
    vsnprintf(pad->advice[pad->n++], ADVICE_BYTES, format, args);
    va_end(args);
}

static void advise_nvidia(struct pad *pad, const struct hardware *hardware)
{
    if (registered(hardware->root, "nvidia"))
        advise(pad, "An NVIDIA GPU is there and its driver is registered, but shows no device: see whether nvidia-smi "
                    "works (kernel module), and in a container whether it was started with --gpus all and "
                    "NVIDIA_DRIVER_CAPABILITIES=compute,utility.");
    else if (nvidia_library(hardware->root))
        advise(pad,
               "An NVIDIA GPU and its OpenCL library are there, but not registered: mkdir -p /etc/OpenCL/vendors && "
               "echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd");
    else
        advise(pad, "An NVIDIA GPU is there without an OpenCL driver: install nvidia-opencl-icd.");
}

static void advise_amd(struct pad *pad, const struct hardware *hardware)
{
    if (registered(hardware->root, "rusticl"))
        advise(pad, "An AMD GPU is there: set RUSTICL_ENABLE=radeonsi and Mesa shows it; rocm-opencl-icd is the faster "
                    "driver where it supports the GPU.");
    else if (registered(hardware->root, "amdocl"))
        advise(pad,
               "An AMD GPU is there and a driver is registered, but shows no device: it may be too new or too old for "
               "it; mesa-opencl-icd with RUSTICL_ENABLE=radeonsi is the other way.");
    else
        advise(pad, "An AMD GPU is there without an OpenCL driver: install rocm-opencl-icd, or mesa-opencl-icd and set "
                    "RUSTICL_ENABLE=radeonsi.");
}

static void advise_intel(struct pad *pad, const struct hardware *hardware)
{
    if (registered(hardware->root, "intel"))
        advise(pad, "An Intel GPU is there and its driver is registered, but shows no device: it may be too new or too "
                    "old for that driver.");
    else
        advise(pad, "An Intel GPU is there without an OpenCL driver: install intel-opencl-icd%s.",
               registered(hardware->root, "rusticl") ? ", or set RUSTICL_ENABLE=iris" : "");
}

static void advise_rusticl(struct pad *pad, const struct hardware *hardware)
{
    const char *driver = hardware->gpu[AMD] ? "radeonsi" : hardware->gpu[INTEL] ? "iris" : "llvmpipe";
    const char *set = getenv("RUSTICL_ENABLE");
    if (set && *set)
        advise(pad, "Mesa's Rusticl is there but shows no device with RUSTICL_ENABLE=%s.", set);
    else
        advise(pad, "Mesa's Rusticl is there but shows no device until it is told to: RUSTICL_ENABLE=%s%s.", driver,
               strcmp(driver, "llvmpipe") == 0 ? " (the CPU; PoCL is the better way to it)" : "");
}

int hardware_advice(const char *root, const struct exposed *exposed, char advice[ADVICE_MAX][ADVICE_BYTES])
{
    static void (*const advise_for[N_MAKERS])(struct pad *, const struct hardware *) = { advise_nvidia, advise_amd,
                                                                                         advise_intel };
    struct hardware hardware = { .root = root };
    struct pad      pad = { advice, 0 };
    bool            hidden = false;
    char            why[ADVICE_BYTES];

    look_at_pci(&hardware);
    look_at_nodes(&hardware);
    for (int m = 0; m < N_MAKERS; m++)
        if (hardware.gpu[m] && !exposed->gpu[m]) {
            advise_for[m](&pad, &hardware);
            hidden |= m != NVIDIA;
        }
    if (hidden && hardware.closed[0])
        advise(&pad, "%s may not be opened by this user: usermod -aG render,video %s, then log in again.",
               hardware.closed, getenv("USER") ? getenv("USER") : "USER");
    if (exposed->rusticl && !exposed->rusticl_device && !(hardware.gpu[AMD] && !exposed->gpu[AMD]))
        advise_rusticl(&pad, &hardware);
    ordo_no_device(POCL, why, sizeof why);
    if (!exposed->cpu && exposed->pocl) /* it is already installed */
        advise(&pad, "No CPU is exposed: %s.", why);
    else if (!exposed->cpu)
        advise(&pad, "No CPU is exposed: install pocl-opencl-icd and every machine has a device.");
    return pad.n;
}
