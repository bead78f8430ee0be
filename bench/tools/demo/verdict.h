/* SPDX-License-Identifier: Apache-2.0 */
/* Results of checks on the host. */
#pragma once

#include "bench/common/why.h"

#include <stddef.h>

struct verdict {
    size_t checked, wrong;     /* answers */
    size_t withdrawn;          /* ASK_NEAREST: addresses in a range that is not the nearest */
    char   example[WHY_BYTES]; /* a wrong answer, such as "7 for address 20" */
};
