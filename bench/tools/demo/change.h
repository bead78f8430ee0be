/* SPDX-License-Identifier: Apache-2.0 */
/* Address ranges that come and go: which of a list's ranges are announced at the moment, batches of withdrawals and
 * announcements, and the check of predecessor queries between them. */
#ifndef ORDO_BENCH_CHANGE_H
#define ORDO_BENCH_CHANGE_H

#include "geoip.h"

struct change {
    const struct geoip *geoip;
    uint32_t           *rows; /* all rows: those announced first, then the others */
    size_t              announced;
    uint32_t           *nearest; /* of each row, itself if it is announced, else the nearest before it; NO_ROW: none */
    uint64_t            draws;   /* so far */
};
#define NO_ROW UINT32_MAX

/* Nine tenths of the ranges are announced, at random but in every run the same. False without memory: then *change is
 * empty. */
bool change_make(const struct geoip *geoip, struct change *change);
void change_free(struct change *change);

/* One batch: announces `count` ranges that were not, and withdraws as many that were. Both lists receive rows, no row is in
 * both. `count` may be a tenth of all ranges at most. */
void change_next(struct change *change, size_t count, uint32_t *announced, uint32_t *withdrawn);

/* What a structure said of `count` addresses: whether a range begins at or before each, and the row of the last that does. */
struct change_answers {
    const uint8_t  *found;
    const uint32_t *rows;
};

struct change_result {
    size_t   checked, wrong; /* answers */
    size_t   withdrawn;      /* addresses whose range is in the list, but not announced */
    uint32_t example;        /* an address that was answered wrongly, if there is one */
};

/* Compares what `n` structures said with a binary search in the list, on every processor; adds to the result. */
void change_check(const struct change *change, const uint32_t *addresses, size_t count,
                  const struct change_answers *answers, int n, struct change_result *result);

#endif
