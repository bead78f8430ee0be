/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about prefixes: an X-fast trie answers them itself, other structures in another way that gives the same. As plan_updates.h. */
#ifndef BENCH_PLAN_PREFIX_H
#define BENCH_PLAN_PREFIX_H

#include "plan_draw.h"

/* The table of longestprefix. Of the X-fast trie: prefixes, among them that of no bits. Of others: where each stretch of addresses begins
 * that have one longest prefix, with its value, which is that of the last of these at or before an address. */
bool prefix_script(const struct dict_plan *plan, struct script *script);
/* The queries of both, and their one step. */
bool draw_prefix_queries(struct dict_plan *plan);

#endif
