/* SPDX-License-Identifier: Apache-2.0 */
/* Miscompiles of kernels: edits of their sources as a compiler might make errors, and how each shows. */
#ifndef ORDO_TESTS_PLANTS_H
#define ORDO_TESTS_PLANTS_H

#include "tests/support/support.h"

enum {
    FEW = 1,        /* one of the few that are always tried */
    CONCURRENT = 2, /* has an effect in concurrent operations */
    MANY = 4,       /* has an effect with more than a million elements */
    TEAM = 8,       /* the body is for groups of one sub-group, not of one work-item */
    ON_CPU = 16,    /* in code for CPUs */
    IN_PTX = 32,    /* in code for NVIDIA's compiler */
    IN_AMD = 64,    /* in code for AMD's compiler */
    IN_WAVE64 = 128 /* and in waves of 64 */
};

struct edit {
    const char *file, *from, *to;
};

/* `direct`: a kernel of `groups` work-groups whose body leaves `want` in words[0] if all is well, for functions that
 * the public calls use seldom or never on the devices here. `edit`: an entry for each spelling of the edited text. */
struct plant {
    const char *name;
    struct edit edit[6];
    const char *masks;   /* masks with which it has an effect, ';' between them */
    const char *profile; /* ORDO_PROFILE's text; NULL: none */
    unsigned    kind;
    struct {
        const char *body; /* NULL: none */
        uint32_t    want, groups;
    } direct;
};

enum { PLANTS_MAX = 100 };

extern const struct plant plants[];
extern const size_t       n_plants;

/* ---- planted_work.c ---------------------------------------------------------------------------------------------- */

/* Whether a scan, a sort, a search and a dictionary of the public interface give right results on a device. If not,
 * `wrong` receives the first difference. `kind` may be CONCURRENT and MANY. */
bool works(ordo_device *dev, unsigned kind, char *wrong, size_t room);

#endif
