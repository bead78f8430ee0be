/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_ENVIRONMENT_H
#define ORDO_ENVIRONMENT_H

/* Like getenv, but returns NULL in a set-user-ID program, because its user must not choose kernels. */
const char *ordo_environment(const char *name);

#endif
