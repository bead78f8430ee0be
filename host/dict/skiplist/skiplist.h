/* SPDX-License-Identifier: Apache-2.0 */
/* The skiplist on the host's side: a linked tree (dict/links/links.h) of which leaves also merge. Its files from the bottom up:
 *
 *   reclaim.c    what merged leaves leave behind, taken away between launches
 *   skiplist.c   the structure's table
 */
#ifndef ORDO_SKIPLIST_PRIVATE_H
#define ORDO_SKIPLIST_PRIVATE_H

#include "dict/links/links.h"

/* ordo_links_config.reclaim. */
ordo_status ordo_skiplist_reclaim(struct ordo_call *call, struct ordo_links *tree, const cl_uint *state);

#endif
