/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_ENVIRONMENT_H
#define ORDO_ENVIRONMENT_H

/* Like getenv, but returns NULL in a set-user-ID program, whose user must not make it run other kernels
 * (ORDO_CL_DIR). */
const char *ordo_environment(const char *name);

#endif
