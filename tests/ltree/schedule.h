/* SPDX-License-Identifier: Apache-2.0 */
/* Two work-items that change a B-link tree side by side, played by one: a schedule that the seed makes, the same on every device and
 * however busy the machine is.
 *
 *     struct overlay o;
 *     overlay_begin(&o);
 *     schedule_flatten(&o);    // cl/dict/ltree/concurrent.cl with all that it includes of its folder: edits act on it
 *     schedule_put(&o);        // after all other edits
 *     overlay_use(&o);
 *     tree->faults = SCHEDULE_FAULTS | ...
 *
 * The first plays operations 0, 2, 4 .. of a launch. Where a fault makes it pause, between its looks and between its stores, the
 * second plays some steps of 1, 3, 5 .., until its turn is over or the first has the latch that it wants. So what two threads do to
 * each other only where they meet by chance happens in every history. What remains to chance is what one processor sees of
 * another's stores, of which a schedule knows nothing. */
#ifndef ORDO_TESTS_SCHEDULE_H
#define ORDO_TESTS_SCHEDULE_H

#include "shared/faults.h"
#include "tests/support/overlay.h"

/* One work-item; pauses between stores, between looks, and before the level above is told. */
#define SCHEDULE_FAULTS (FAULT_ALONE + FAULT_SLOW_STORES + FAULT_SLOW_LOOKS + FAULT_SLOW_RAISE)

/* Puts the files of operations side by side into one, dict/ltree/concurrent.cl. */
void schedule_flatten(const struct overlay *o);

/* After all other edits of that file. */
void schedule_put(const struct overlay *o);

/* What it makes of a file's text, which has no kernels: its functions and types as other_..., then `tail`; to be freed. */
char *schedule_other(const char *text, const char *tail);

#endif
