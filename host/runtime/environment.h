/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_ENVIRONMENT_H
#define ORDO_ENVIRONMENT_H

/* Like getenv, but returns NULL in a set-user-ID program. The caller's environment must not choose the kernels and
 * files of a program with more rights than the caller. */
const char *ordo_environment(const char *name);

#endif
