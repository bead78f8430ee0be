/* SPDX-License-Identifier: Apache-2.0 */
/* Two work-items that change a B-link tree side by side, played by one: a schedule that the seed makes, the same on every device and
 * however busy the machine is.
 *
 *     struct overlay o;
 *     overlay_begin(&o);
 *     schedule_put(&o);        // edits cl/dict/links/concurrent.cl: further edits act on both
 *     overlay_use(&o);
 *     tree->torture = SCHEDULE_TORTURE | ...
 *
 * The first plays operations 0, 2, 4 .. of a launch. Where LINKS_TORTURE has it pause, between its looks and between its stores, the
 * second plays some steps of 1, 3, 5 .., until its turn is over or the first has the latch that it wants. So what two threads do to
 * each other only where they meet by chance happens in every history. What remains to chance is what one processor sees of
 * another's stores, of which a schedule knows nothing. */
#ifndef ORDO_TESTS_SCHEDULE_H
#define ORDO_TESTS_SCHEDULE_H

#include "tests/support/overlay.h"

/* One work-item; pauses between stores, between looks, and before the level above is told. */
#define SCHEDULE_TORTURE (128 + 4 + 8 + 16)

/* After all other edits of the file. */
void schedule_put(const struct overlay *o);

/* What it makes of a file's text, which has no kernels: its functions and types as other_..., then `tail`; to be freed. */
char *schedule_other(const char *text, const char *tail);

#endif
