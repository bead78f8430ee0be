/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that tests inject into concurrent batches of linked trees and hash tables. Kernels get a bitmap of faults. */
#pragma once

enum ordo_fault {
    FAULT_LATCHES = 1,     /* Some attempts to lock a node fail. */
    FAULT_NODES = 2,       /* Some attempts to allocate a node fail. */
    FAULT_SLOW_STORES = 4, /* A writer pauses between its stores to a node. */
    FAULT_SLOW_LOOKS = 8,  /* A reader pauses between its two reads of a node's header. */
    FAULT_SLOW_RAISE = 16, /* A writer that has split a node pauses before it adds the new node to the level above. */
    FAULT_LATE_START = 32, /* Some work-items wait until another work-item has started. */
    FAULT_NO_TRIES = 64,   /* Operations give up after their first failed attempt. */
    FAULT_ALONE = 128,     /* One work-item runs all operations. */
    FAULT_NO_INNER = 256,  /* Every allocation of an inner node fails. */
};
