/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a script, done by the model. */
#ifndef BENCH_MODEL_STEP_H
#define BENCH_MODEL_STEP_H

#include "model.h"
#include "sheet.h"

/* Does the step (of a concurrent batch: one whose results no order of its operations would change), and writes to the
 * sheet's outputs what a dictionary must give. Range columns grow as needed, and the step learns how many elements it
 * gives. False without memory. */
bool model_do(struct model *model, struct sheet *sheet, struct step *step);
/* The whole script; elements of ranges follow those of the steps before. */
bool model_run(struct model *model, struct script *script);

#endif
