/* SPDX-License-Identifier: Apache-2.0 */
/* Histories that follow a schedule of two (schedule.h), with kernels that a test changes. */
#ifndef ORDO_TESTS_HISTORY_SCHEDULES_H
#define ORDO_TESTS_HISTORY_SCHEDULES_H

#include "history_run.h"

#include "tests/ltree/schedule.h"

#define TREE_FILE "dict/ltree/concurrent.cl"

/* A change of a kernel's text, right or wrong. */
struct edit {
    const char *file, *text, *instead;
};

enum { EDITS_MAX = 3 };

/* Makes kernels that follow schedules, with these edits. overlay_end removes them. */
struct overlay begin_schedules(const struct edit edits[EDITS_MAX]);

/* A plan with keys of 4 bytes. Half of them are stored before. */
#define SCHEDULED(name, values, keys, order, operations, mixture)                                                      \
    {                                                                                                                  \
        name, ORDO_U32, values, keys, 0, 50, order, operations, mixture, 0, SCHEDULE_FAULTS                            \
    }

/* ---- edits that leave kernels right ------------------------------------------------------------------------------ */

/* Assumes that addresses give order, which they do on some devices (ORDO_AFTER_ORDERS). */
#define BY_ADDRESS                                                                                                     \
    {                                                                                                                  \
        "device/atomic.cl", "#define ORDO_AFTER_ORDERS ORDO_ADDRESS_ORDER", "#define ORDO_AFTER_ORDERS 1"              \
    }

/* Access values of 8 bytes in halves, with a pause between them. Values of a history have equal halves. */
#define TORN_READS                                                                                                     \
    {                                                                                                                  \
        TREE_FILE, "        value = ltree_load_uncached_value(ltree_values(&batch->tree, op->at) + slot);\n",          \
            "    {\n"                                                                                                  \
            "        __global const uint *halves = (__global const uint *) (ltree_values(&batch->tree, op->at) + "     \
            "slot);\n"                                                                                                 \
            "        value = ordo_load_uncached(halves);\n"                                                            \
            "        ltree_delay(batch, op, 8);\n"                                                                     \
            "        value |= (ltree_value) ordo_load_uncached(halves + 1) << 32;\n"                                   \
            "    }\n"                                                                                                  \
    }
#define TORN_WRITES                                                                                                    \
    {                                                                                                                  \
        TREE_FILE, "        ltree_store_uncached_value(ltree_values(tree, site->node) + site->slot, value);\n",        \
            "        {\n"                                                                                              \
            "            __global uint *halves = (__global uint *) (ltree_values(tree, site->node) + site->slot);\n"   \
            "            ordo_store_uncached(halves, (uint) value);\n"                                                 \
            "            ltree_delay(batch, op, 4);\n"                                                                 \
            "            ordo_store_uncached(halves + 1, (uint) (value >> 32));\n"                                     \
            "        }\n"                                                                                              \
    }

/* Lets readers see the new link and high of a node with its header from before it was latched. Fences allow that. */
#define SEEN_BEFORE                                                                                                    \
    {                                                                                                                  \
        TREE_FILE, "    if (tail.header & LTREE_LATCHED)\n",                                                           \
            "    if (tail.header & LTREE_LATCHED && key_upto(op->query, tail.high))\n"                                 \
    }

#endif
