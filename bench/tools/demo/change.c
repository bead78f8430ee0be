/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include "bench/common/threads.h"
#include "bench/workload/keys.h"

#include <stdlib.h>

#define STREAM 5

static void swap(uint32_t *rows, size_t a, size_t b)
{
    const uint32_t row = rows[a];
    rows[a] = rows[b];
    rows[b] = row;
}

static size_t below(struct change *change, size_t limit)
{
    return (size_t) (draw(STREAM, change->draws++) % limit);
}

/* Computes the nearest announced row at or before each row. */
static void find_nearest(struct change *change)
{
    const size_t count = change->geoip->count;
    for (size_t row = 0; row < count; row++)
        change->nearest[row] = NO_ROW;
    for (size_t i = 0; i < change->announced; i++)
        change->nearest[change->rows[i]] = change->rows[i];
    for (size_t row = 1; row < count; row++)
        if (change->nearest[row] == NO_ROW)
            change->nearest[row] = change->nearest[row - 1];
}

bool change_make(const struct geoip *geoip, struct change *change)
{
    const size_t count = geoip->count;
    *change = (struct change) { .geoip = geoip, .announced = count - count / 10 };
    change->rows = malloc(count * sizeof *change->rows + 1);
    change->nearest = malloc(count * sizeof *change->nearest + 1);
    if (!change->rows || !change->nearest) {
        change_free(change);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        change->rows[i] = (uint32_t) i;
    for (size_t i = count; i > change->announced; i--)
        swap(change->rows, i - 1, below(change, i));
    find_nearest(change);
    return true;
}

void change_free(struct change *change)
{
    free(change->rows);
    free(change->nearest);
    *change = (struct change) { .geoip = NULL };
}

/* Moves `count` random rows of rows[from .. end - 1] to its end. */
static void choose(struct change *change, size_t from, size_t end, size_t count)
{
    for (size_t i = 0; i < count; i++)
        swap(change->rows, end - 1 - i, from + below(change, end - i - from));
}

void change_next(struct change *change, size_t count, uint32_t *announced, uint32_t *withdrawn)
{
    const size_t all = change->geoip->count, border = change->announced;
    choose(change, 0, border, count);
    choose(change, border, all, count);
    for (size_t i = 0; i < count; i++) { /* swaps the rows at the border with those at the end */
        withdrawn[i] = change->rows[border - 1 - i];
        announced[i] = change->rows[all - 1 - i];
        swap(change->rows, border - 1 - i, all - 1 - i);
    }
    find_nearest(change);
}

/* ---- the check ----------------------------------------------------------------------------------------------- */

struct check {
    const struct change         *change;
    const uint32_t              *addresses;
    const struct change_answers *answers;
    int                          n;
    struct change_result         result[MAX_PARTS];
};

static void check_span(void *check_, size_t from, size_t to, int part)
{
    struct check         *check = check_;
    const struct change  *change = check->change;
    const struct geoip   *geoip = change->geoip;
    struct change_result *result = &check->result[part];
    *result = (struct change_result) { 0 };
    for (size_t i = from; i < to; i++) {
        const uint32_t address = check->addresses[i];
        const size_t   rank = geoip_rank(geoip, address), row = geoip_row(geoip, address, rank);
        const uint32_t nearest = rank ? change->nearest[rank - 1] : NO_ROW;
        for (int a = 0; a < check->n; a++) {
            const bool found = check->answers[a].found[i];
            if (found == (nearest != NO_ROW) && (!found || check->answers[a].rows[i] == nearest))
                continue;
            result->wrong++;
            result->example = address;
        }
        result->withdrawn += row < geoip->count && nearest != row;
    }
}

void change_check(const struct change *change, const uint32_t *addresses, size_t count,
                  const struct change_answers *answers, int n, struct change_result *result)
{
    struct check check = { .change = change, .addresses = addresses, .answers = answers, .n = n };
    const int    parts = for_spans(count, check_span, &check);
    for (int p = 0; p < parts; p++) {
        if (check.result[p].wrong)
            result->example = check.result[p].example;
        result->wrong += check.result[p].wrong;
        result->withdrawn += check.result[p].withdrawn;
    }
    result->checked += count * (size_t) n;
}
