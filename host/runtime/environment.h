/* SPDX-License-Identifier: Apache-2.0 */
/* The environment, as the library reads it. */
#ifndef ORDO_ENVIRONMENT_H
#define ORDO_ENVIRONMENT_H

/* As getenv; NULL in a program that has more rights than its caller (set-user-ID and the like): what kernels it builds, and
 * which files it reads, is then not for the caller's environment to say. */
const char *ordo_environment(const char *name);

#endif
