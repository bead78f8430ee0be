/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that tests inject into concurrent operations of linked trees and hash tables. A launch gets a sum of them. */
#pragma once

enum ordo_fault {
    FAULT_LATCHES = 1,     /* every few tries a latch cannot be had */
    FAULT_NODES = 2,       /* every few times a new node cannot be had */
    FAULT_SLOW_STORES = 4, /* long pauses between the stores of a change */
    FAULT_SLOW_LOOKS = 8,  /* long pauses between the two looks at a node */
    FAULT_SLOW_RAISE = 16, /* long pauses before the level above gets the entry of a split */
    FAULT_LATE_START = 32, /* every few work-items begin only after another one has begun */
    FAULT_NO_TRIES = 64,   /* an operation gives up at the first step that achieves nothing */
    FAULT_ALONE = 128,     /* one work-item runs all operations */
    FAULT_NO_INNER = 256,  /* no inner node can be had */
};
