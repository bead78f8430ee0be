/* SPDX-License-Identifier: Apache-2.0 */
/* Two concurrent work-items on a linked tree, played by one: the seed makes the schedule, so it is the same on every
 * device, however busy the machine is.
 *
 *     struct overlay o;
 *     overlay_begin(&o);
 *     schedule_flatten(&o);    // makes cl/dict/ltree/concurrent.cl one file, which further edits change
 *     schedule_put(&o);        // after all other edits
 *     overlay_use(&o);
 *     tree->faults = SCHEDULE_FAULTS | ...
 *
 * The first work-item plays operations 0, 2, 4 .. of a launch. When a fault makes it pause, between its looks or its
 * stores, the second plays some steps of operations 1, 3, 5 .., until its turn ends or the first has the latch that it
 * wants. So rare interleavings of two threads happen in every history. A schedule says nothing about the order in
 * which one processor sees another's stores. */
#ifndef ORDO_TESTS_SCHEDULE_H
#define ORDO_TESTS_SCHEDULE_H

#include "shared/faults.h"
#include "tests/support/overlay.h"

/* One work-item; pauses between stores and between looks. */
#define SCHEDULE_OF_TWO (FAULT_ALONE + FAULT_SLOW_STORES + FAULT_SLOW_LOOKS)
/* Pauses also before the level above gets an entry. */
#define SCHEDULE_FAULTS (SCHEDULE_OF_TWO + FAULT_SLOW_RAISE)

/* Puts all files of concurrent operations into one, dict/ltree/concurrent.cl. */
void schedule_flatten(const struct overlay *o);

/* Adds the second work-item. */
void schedule_put(const struct overlay *o);

/* A file whose kernels' work a second work-item does, too. */
struct schedule_copy {
    const char *file;    /* of the first work-item */
    const char *kernels; /* the text at which its kernels begin */
    const char *waits;   /* the statement with which it waits for other work-items */
    const char *plays;   /* functions that let the second work-item do operations */
};

/* Writes the file for the second work-item: a copy without kernels and without the wait, with functions and types as
 * other_..., then `plays`. */
void schedule_write_other(const struct overlay *o, const struct schedule_copy *copy, const char *other_file);

#endif
