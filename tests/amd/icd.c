/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions that the loader sees. A function that neither the library nor its tests call returns
 * CL_INVALID_OPERATION. */
#include "driver.h"

#include <string.h>

struct _cl_icd_dispatch driver_table;

void info_fill_table(struct _cl_icd_dispatch *table);
void memory_fill_table(struct _cl_icd_dispatch *table);
void program_fill_table(struct _cl_icd_dispatch *table);
void queue_fill_table(struct _cl_icd_dispatch *table);

static cl_int missing(void)
{
    return CL_INVALID_OPERATION;
}

static void *CL_API_CALL no_function(cl_platform_id platform, const char *name)
{
    (void) platform, (void) name;
    return NULL;
}

/* Every entry is a pointer to a function, and most of those return a code. */
__attribute__((constructor)) static void fill_table(void)
{
    cl_int (*const none)(void) = missing;
    for (size_t at = 0; at + sizeof none <= sizeof driver_table; at += sizeof none)
        memcpy((char *) &driver_table + at, &none, sizeof none);
    driver_table.clGetExtensionFunctionAddressForPlatform = no_function;
    info_fill_table(&driver_table);
    memory_fill_table(&driver_table);
    program_fill_table(&driver_table);
    queue_fill_table(&driver_table);
}

#define EXPORTED __attribute__((visibility("default")))

/* The functions that the loader looks up. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): these are called by position. */
EXPORTED void *CL_API_CALL  clGetExtensionFunctionAddress(const char *name);
EXPORTED cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *out, cl_uint *have);
EXPORTED cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *to,
                                              size_t *have);

EXPORTED cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *out, cl_uint *have)
{
    return driver_table.clGetPlatformIDs(n, out, have);
}

EXPORTED cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *to,
                                              size_t *have)
{
    return driver_table.clGetPlatformInfo(platform, what, room, to, have);
}

EXPORTED void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    void *address = NULL;
    cl_int (*const platforms)(cl_uint, cl_platform_id *, cl_uint *) = clIcdGetPlatformIDsKHR;
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        memcpy(&address, &platforms, sizeof address);
    return address;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
