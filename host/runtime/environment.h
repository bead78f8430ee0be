/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ORDO_ENVIRONMENT_H
#define ORDO_ENVIRONMENT_H

/* Like getenv, but returns NULL in a program with more rights than its caller (set-user-ID and the like), because the
 * caller's environment may not choose the kernels that such a program builds or the files that it reads. */
const char *ordo_environment(const char *name);

#endif
