/* SPDX-License-Identifier: Apache-2.0 */
/* A broken OpenCL driver. It ends its process when it is loaded. */
#include <stdlib.h>

__attribute__((constructor)) static void crash(void)
{
    abort();
}
