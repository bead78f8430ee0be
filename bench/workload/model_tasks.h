/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges erased, and the ends of the model taken or looked at. Each does its step as model_do (model_step.h) does. */
#ifndef BENCH_MODEL_TASKS_H
#define BENCH_MODEL_TASKS_H

#include "model.h"
#include "sheet.h"

/* False without memory. */
bool model_erase_ranges(struct model *model, struct sheet *sheet, const struct step *step);
void model_take_first(struct model *model, struct sheet *sheet, const struct step *step);
/* The first or the last elements, as step->call says. */
void model_peek(const struct model *model, struct sheet *sheet, const struct step *step);

#endif
