/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that tests inject into concurrent batches of linked trees and hash tables. A launch gets the sum of some. */
#pragma once

enum ordo_fault {
    FAULT_LATCHES = 1,     /* some tries get no latch */
    FAULT_NODES = 2,       /* some tries get no new node */
    FAULT_SLOW_STORES = 4, /* pauses between the stores of a change */
    FAULT_SLOW_LOOKS = 8,  /* pauses between the two looks at a node */
    FAULT_SLOW_RAISE = 16, /* pauses between a split and its entry in the level above */
    FAULT_LATE_START = 32, /* some work-items wait until another has begun */
    FAULT_NO_TRIES = 64,   /* operations give up at the first step without progress */
    FAULT_ALONE = 128,     /* one work-item runs all operations */
    FAULT_NO_INNER = 256,  /* no inner node is free */
};
