/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_ENVIRONMENT_H
#define ORDO_ENVIRONMENT_H

/* Like getenv, but returns NULL in a set-user-ID program. ORDO_CL_DIR names the directory of the kernel sources. The
 * user of such a program must not make it run other kernels. */
const char *ordo_environment(const char *name);

#endif
