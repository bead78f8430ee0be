/* SPDX-License-Identifier: Apache-2.0 */
/* Papers' experiments as data (README.md here says what each field means): what is to be measured, the figures that a paper's
 * text gives, and what it claims. */
#ifndef BENCH_PAPERS_PAPER_H
#define BENCH_PAPERS_PAPER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* The built-in paper of that name, or a file that a name ending in .json says. NULL with the reason in `why`. The caller
 * deletes it. */
cJSON *paper_load(const char *name, char *why, size_t why_bytes);

/* What Ordo calls a structure of the paper's; "" if it has none. */
const char *paper_structure(const cJSON *paper, const char *structure);
/* The paper's name for what Ordo calls so; "" if it has none. */
const char *paper_name_of(const cJSON *paper, const char *ordo);
/* Whether Ordo has the structure here. */
bool paper_has(const cJSON *paper, const char *structure);
/* NULL if some structure that only Ordo can stand for is there; else what the paper needs and is not. */
const char *paper_needs(const cJSON *paper);

const cJSON *paper_experiment(const cJSON *paper, const char *id);

#endif
