/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include "bench/common/threads.h"
#include "bench/workload/keys.h"

#include <math.h>
#include <stdatomic.h>

#define HOSTS 100000

enum { STREAM_RANDOM, STREAM_HOST, STREAM_HOST_OFFSET, STREAM_VISIT };

static void random_at(void *addresses, size_t i)
{
    ((uint32_t *) addresses)[i] = (uint32_t) (draw(STREAM_RANDOM, i) >> 32);
}

void random_addresses(uint32_t *addresses, size_t count)
{
    for_each(count, random_at, addresses);
}

static uint32_t hosts[HOSTS];

static void visit_at(void *addresses, size_t i)
{
    const double share = (double) (draw(STREAM_VISIT, i) >> 11) * 0x1p-53; /* 0 <= share < 1 */
    /* (HOSTS + 1)^share - 1 lies in [r - 1, r) with probability proportional to log(1 + 1/r), about 1/r. */
    const size_t host = (size_t) (exp(share * log(HOSTS + 1.0)) - 1.0);
    ((uint32_t *) addresses)[i] = hosts[host < HOSTS ? host : HOSTS - 1];
}

void repeated_addresses(const struct geoip *geoip, uint32_t *addresses, size_t count)
{
    for (size_t h = 0; h < HOSTS; h++) {
        const size_t   row = draw(STREAM_HOST, h) % geoip->count;
        const uint64_t length = (uint64_t) geoip->last[row] - geoip->first[row] + 1;
        hosts[h] = geoip->first[row] + (uint32_t) (draw(STREAM_HOST_OFFSET, h) % length);
    }
    for_each(count, visit_at, addresses);
}

size_t count_countries(const struct geoip *geoip, const uint32_t *addresses, const uint32_t *ranks, size_t count,
                       size_t *by_country)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t row = ranks[i] <= geoip->count ? geoip_row(geoip, addresses[i], ranks[i]) : geoip->count;
        if (row == geoip->count)
            continue;
        by_country[geoip->country[row]]++;
        listed++;
    }
    return count - listed;
}

size_t check_sort(const struct geoip *geoip, const uint32_t *first, const uint32_t *rows)
{
    /* Ranges begin at distinct addresses, so one answer is right. */
    size_t wrong = 0;
    for (size_t i = 0; i < geoip->count; i++)
        wrong += rows[i] != i || first[i] != geoip->first[i];
    return wrong;
}

struct check {
    const struct geoip   *geoip;
    enum question         question;
    const uint32_t       *nearest, *addresses;
    const struct answers *answers;
    int                   n;
    atomic_size_t         wrong, withdrawn, example; /* of several threads */
};

static void check_at(void *check_, size_t i)
{
    struct check  *check = check_;
    const uint32_t address = check->addresses[i];
    const size_t   none = check->geoip->count, rank = geoip_rank(check->geoip, address);
    const size_t   row = geoip_row(check->geoip, address, rank);
    const size_t   want = check->question == ASK_RANK  ? rank
                          : check->question == ASK_ROW ? row
                          : rank                       ? check->nearest[rank - 1]
                                                       : none;
    for (const struct answers *a = check->answers; a < check->answers + check->n; a++) {
        if (a->found ? a->found[i] == (want != none) && (want == none || a->words[i] == want) : a->words[i] == want)
            continue;
        atomic_fetch_add(&check->wrong, 1);
        atomic_store(&check->example, i);
    }
    if (check->question == ASK_NEAREST && row < none && want != row)
        atomic_fetch_add(&check->withdrawn, 1);
}

void check_answers(const struct geoip *geoip, enum question question, const uint32_t *nearest,
                   const uint32_t *addresses, size_t count, const struct answers *answers, int n,
                   struct verdict *verdict)
{
    struct check check = { geoip, question, nearest, addresses, answers, n, 0, 0, 0 };
    for_each(count, check_at, &check);
    if (check.wrong) {
        verdict->example = addresses[check.example];
        verdict->example_word = answers->words[check.example];
    }
    verdict->wrong += check.wrong;
    verdict->withdrawn += check.withdrawn;
    verdict->checked += count * (size_t) n;
}
