/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a module's whole text, as the library hands it to a driver. compile.py gives it to other compilers.
 *
 * usage: expand MODULE [CL-DIR]      (CL-DIR: looked into first, as by ORDO_CL_DIR) */
#include "runtime/device_private.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static ordo_device        dev;
    struct ordo_device_config config = { .mask = NULL };
    char                     *text = NULL, *options = NULL;

    if (argc < 2 || argc > 3) {
        (void) fprintf(stderr, "usage: expand MODULE [CL-DIR]\n");
        return 2;
    }
    if (ordo_errors_open(&dev, &config) != ORDO_OK)
        return 1;
    dev.cl_dir = argc > 2 ? argv[2] : NULL;
    if (ordo_program_source(&dev, argv[1], NULL, &text, &options) != ORDO_OK) {
        (void) fprintf(stderr, "%s\n", dev.error ? dev.error : "no memory");
        return 1;
    }
    (void) fputs(text, stdout);
    free(text);
    free(options);
    return 0;
}
