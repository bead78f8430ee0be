/* SPDX-License-Identifier: Apache-2.0 */
/* Mixed batches on the model. */
#ifndef BENCH_MODEL_APPLY_H
#define BENCH_MODEL_APPLY_H

#include "model.h"
#include "sheet.h"

/* Does a step of DO_APPLY as model_do (model_step.h) does. */
bool model_apply(struct model *model, struct sheet *sheet, struct step *step);

#endif
