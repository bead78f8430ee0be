/* SPDX-License-Identifier: Apache-2.0 */
/* What a model answers about prefixes, by plain code. Keys are ORDO_U32 or ORDO_U64. */
#ifndef BENCH_MODEL_PREFIX_H
#define BENCH_MODEL_PREFIX_H

#include "model.h"
#include "sheet.h"

/* A prefix as a key, and how many bits it has (ordo/xfast.h); the least and the greatest key that begin with the first bits of one. */
uint64_t prefix_key(ordo_type type, uint64_t bits, unsigned length);
unsigned prefix_length(ordo_type type, uint64_t prefix);
uint64_t prefix_least(ordo_type type, uint64_t bits, unsigned length);
uint64_t prefix_greatest(ordo_type type, uint64_t bits, unsigned length);

/* DO_COUNT_PREFIX: keys that begin as each row's. */
void model_count_prefix(const struct model *model, struct sheet *sheet, const struct step *step);
/* DO_LONGEST_PREFIX: of each row's key every length that a prefix of the model has is tried, from the longest on. */
void model_longest_prefix(const struct model *model, struct sheet *sheet, const struct step *step);

#endif
