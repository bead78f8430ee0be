/* SPDX-License-Identifier: Apache-2.0 */
/* FAST: a static search tree for data that is read and rarely changed, with a buffer for what changes.
 *
 *     tree      levels of separators, in nodes of a cache line, over one sorted run of distinct keys
 *     buffer    at most one more sorted run: what has changed since the tree was built
 *
 * After C. Kim, J. Chhugani, N. Satish, E. Sedlar, A. D. Nguyen, T. Kaldewey, V. W. Lee, S. A. Brandt, P. Dubey, "Designing
 * Fast Architecture-Sensitive Tree Search on Modern Multicore/Many-Core Processors", ACM TODS 36(4), 2011. A node is compared
 * as a whole, by the lanes of a team or as a vector; on a CPU 64 queries of a work-item go down in step; updates are
 * gathered and then merged with the tree, which is built anew. There a query waits for the rebuild; here it looks into
 * the buffer first, so a batch is seen as soon as its call is. */
#ifndef ORDO_FAST_H
#define ORDO_FAST_H

#include "dict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ordo_fast_config {
    struct ordo_dict_config dict;
    /* The tree is built anew when more has come than one in so many of its elements: 1 to 65536; 0: 128. Less means fewer
     * rebuilds, and a larger buffer for queries to look into. */
    uint32_t rebuild_one_in;
};

/* An empty FAST tree.
 * Cost    queries: as of the sorted array while the buffer is empty; else they look into the buffer too, until they have
 *         paid for merging it in, which is done then. An update of b elements into n: a sort of b and a merge with the
 *         buffer; each time that n / rebuild_one_in have come, a merge of all, which waits once. Each rebuild counts in
 *         ordo_dict_statistics as a cleanup.
 * First calls wait for their kernels as those of the sorted array do.
 * Memory  keys and values, 7 % of the keys for the tree, 2 bits for each element while there is a buffer; during a rebuild
 *         at most 2.2 times the keys and values and 4 MiB, which stay held for the next one until ordo_dict_compact. Without
 *         the memory for a rebuild there is a larger buffer, in several runs, until there is. The tree is one allocation: what
 *         does not fit into the device's largest stays in the buffer. */
ORDO_API ordo_status ordo_fast_create(ordo_device *device, const struct ordo_fast_config *config, ordo_dict **out);

/* Parameters made in place, as ordo.h says. */
#ifndef __cplusplus
#define ordo_fast_config(...) (&(struct ordo_fast_config) { __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif

#endif
