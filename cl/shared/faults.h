/* SPDX-License-Identifier: Apache-2.0 */
/* Tests inject faults into concurrent batches. */
#pragma once

enum ordo_fault {
    FAULT_LATCHES = 1,     /* Some attempts to lock a node or bucket fail. */
    FAULT_NODES = 2,       /* Some allocations of nodes fail. */
    FAULT_SLOW_STORES = 4, /* Writers pause between stores. */
    FAULT_SLOW_LOOKS = 8,  /* Readers pause between reads. */
    FAULT_SLOW_RAISE = 16, /* Splits pause before they add the new node to the level above. */
    FAULT_LATE_START = 32, /* Some work-items wait until others have started. */
    FAULT_NO_TRIES = 64,   /* Operations give up after one failed attempt. */
    FAULT_ALONE = 128,
    FAULT_NO_INNER = 256, /* All allocations of inner nodes of a tree fail. */
};
