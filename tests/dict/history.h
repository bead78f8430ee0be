/* SPDX-License-Identifier: Apache-2.0 */
/* Histories of concurrent operations, and whether an order of them explains their results.
 *
 *     struct history h = history_begin(&before, true);
 *     history_add(&h, (struct history_op) { .key = form, .code = ORDO_FIND, .found = 1, .begin = 3, .end = 9 });
 *     if (history_explain(&h, &after, text, sizeof text) != HISTORY_EXPLAINED) ...
 *     history_free(&h);
 *
 * Each operation has an interval of a common clock and took effect at one moment of it. A history is linearizable if
 * the history of each key is. (Herlihy and Wing, Linearizability, TOPLAS 1990. The search is by Wing and Gong, Testing
 * and Verifying Concurrent Objects, JPDC 1993. It skips known states like Lowe, Testing for Linearizability, 2017.) */
#ifndef ORDO_TESTS_HISTORY_H
#define ORDO_TESTS_HISTORY_H

#include "model.h"

/* An operation on one key: ordo_code up to ORDO_ERASE. */
struct history_op {
    key_form key;        /* ordered form */
    uint64_t wrote;      /* of upserts and inserts: the value, unique in the history and the content before it */
    uint64_t saw;        /* of successful finds: the value */
    uint32_t begin, end; /* ticks, all different; begin < end */
    uint8_t  code;
    bool     found;
};

/* Percent of find, contains, upsert, insert and erase in plans of tests. */
#define POINTS                                                                                                         \
    {                                                                                                                  \
        25, 10, 25, 15, 25                                                                                             \
    }
#define CHANGES                                                                                                        \
    {                                                                                                                  \
        0, 0, 20, 40, 40                                                                                               \
    }

struct history {
    const struct model *before;
    bool                values; /* false: no values, or ignored */
    struct history_op  *op;
    size_t              count, room;
    bool                sorted; /* sorted by key, then by begin */
};

enum history_verdict {
    HISTORY_EXPLAINED,
    HISTORY_WRONG,
    HISTORY_UNDECIDED, /* too many orders to try */
};

struct history history_begin(const struct model *before, bool values);
void           history_add(struct history *h, struct history_op op);
void           history_free(struct history *h);

/* Whether an order of all operations leads from the content before to `after`. If not, `text` names a key and its
 * operations. */
enum history_verdict history_explain(struct history *h, const struct model *after, char *text, size_t text_bytes);

/* For operations that read many keys between the ticks begin and end. */
/* Whether the key may have had this value (any, if value is NULL) at some moment. */
bool history_may_hold(struct history *h, key_form key, const uint64_t *value, uint32_t begin, uint32_t end);
/* Whether the key was certainly present all the time. */
bool history_must_hold(struct history *h, key_form key, uint32_t begin, uint32_t end);

#endif
