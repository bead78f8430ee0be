/* SPDX-License-Identifier: Apache-2.0 */
/* An OpenCL driver that ends its process as soon as it is loaded, as broken ones do. */
#include <stdlib.h>

__attribute__((constructor)) static void crash(void)
{
    abort();
}
