/* SPDX-License-Identifier: Apache-2.0 */
#include "ranges.h"

#include "bench/common/threads.h"
#include "bench/workload/keys.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdatomic.h>

#define HOSTS 100000

/* Streams of draws. dicts.c has stream 5. */
enum { STREAM_RANDOM, STREAM_HOST, STREAM_HOST_OFFSET, STREAM_VISIT, STREAM_BOUND = 16, STREAM_BYTE };

static void random_at(void *addresses, size_t i)
{
    ((uint32_t *) addresses)[i] = (uint32_t) (draw(STREAM_RANDOM, i) >> 32);
}

void random_addresses(uint32_t *addresses, size_t count)
{
    for_each(count, random_at, addresses);
}

static uint32_t hosts[HOSTS];

static size_t visited_host(size_t i)
{
    const double share = (double) (draw(STREAM_VISIT, i) >> 11) * 0x1p-53; /* 0 <= share < 1 */
    /* (HOSTS + 1)^share - 1 lies in [r - 1, r) with probability proportional to log(1 + 1/r), about 1/r. */
    const size_t host = (size_t) (exp(share * log(HOSTS + 1.0)) - 1.0);
    return host < HOSTS ? host : HOSTS - 1;
}

static void visit_at(void *addresses, size_t i)
{
    ((uint32_t *) addresses)[i] = hosts[visited_host(i)];
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

static struct ip6 hosts6[HOSTS];

static void visit6_at(void *addresses, size_t i)
{
    ((struct ip6 *) addresses)[i] = hosts6[visited_host(i)];
}

/* Draws the first byte that differs between the bounds. If it equals that byte of a bound, copies the later bytes from
 * the bound. Otherwise draws them too. */
static struct ip6 address_within(const struct ip6 *first, const struct ip6 *last, uint64_t seed)
{
    struct ip6 address = *first;
    size_t     at = 0;
    while (at < 16 && first->byte[at] == last->byte[at])
        at++;
    if (at == 16)
        return address;
    const uint64_t choices = (uint64_t) last->byte[at] - first->byte[at] + 1;
    const uint8_t  byte = (uint8_t) (first->byte[at] + draw(STREAM_BYTE, seed * 16 + at) % choices);
    if (byte == last->byte[at])
        address = *last;
    address.byte[at] = byte;
    if (byte != first->byte[at] && byte != last->byte[at])
        while (++at < 16)
            address.byte[at] = (uint8_t) draw(STREAM_BYTE, seed * 16 + at);
    return address;
}

void repeated_addresses6(const struct geoip6 *geoip, struct ip6 *addresses, size_t count)
{
    for (size_t h = 0; h < HOSTS; h++) {
        const size_t row = draw(STREAM_HOST, h) % geoip->count;
        hosts6[h] = address_within(&geoip->first[row], &geoip->last[row], h);
    }
    for_each(count, visit6_at, addresses);
}

/* Adds 1 if `up`, else subtracts 1, modulo 2^128. */
static struct ip6 next_to(struct ip6 address, bool up)
{
    for (size_t at = 16; at-- > 0;) {
        address.byte[at] = (uint8_t) (up ? address.byte[at] + 1 : address.byte[at] - 1);
        if (address.byte[at] != (up ? 0 : 0xff))
            break;
    }
    return address;
}

struct bounds {
    const struct geoip6 *geoip;
    struct ip6          *addresses;
};

static void bound_at(void *bounds_, size_t i)
{
    const struct bounds *bounds = bounds_;
    const uint64_t       bits = draw(STREAM_BOUND, i);
    const size_t         row = (size_t) ((bits >> 2) % bounds->geoip->count);
    const struct ip6     bound = bits & 1 ? bounds->geoip->last[row] : bounds->geoip->first[row];
    bounds->addresses[i] = bits & 2 ? next_to(bound, bits & 1) : bound;
}

void bounds6(const struct geoip6 *geoip, struct ip6 *addresses, size_t count)
{
    for_each(count, bound_at, &(struct bounds) { geoip, addresses });
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

size_t count_countries6(const struct geoip6 *geoip, const struct ip6 *addresses, const uint32_t *ranks, size_t count,
                        size_t *by_country)
{
    size_t listed = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t row = ranks[i] <= geoip->count ? geoip6_row(geoip, &addresses[i], ranks[i]) : geoip->count;
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

size_t check_sort6(const struct geoip6 *geoip, const struct ip6 *first, const uint32_t *rows)
{
    size_t wrong = 0;
    for (size_t i = 0; i < geoip->count; i++)
        wrong += rows[i] != i || ip6_order(&first[i], &geoip->first[i]) != 0;
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
    if (check.wrong)
        because(verdict->example, "%u for address %u", answers->words[check.example], addresses[check.example]);
    verdict->wrong += check.wrong;
    verdict->withdrawn += check.withdrawn;
    verdict->checked += count * (size_t) n;
}

struct check6 {
    const struct geoip6 *geoip;
    const struct ip6    *addresses;
    const uint32_t      *ranks;
    atomic_size_t        wrong, example;
};

static void check6_at(void *check_, size_t i)
{
    struct check6 *check = check_;
    if (check->ranks[i] == geoip6_rank(check->geoip, &check->addresses[i]))
        return;
    atomic_fetch_add(&check->wrong, 1);
    atomic_store(&check->example, i);
}

void check_ranks6(const struct geoip6 *geoip, const struct ip6 *addresses, const uint32_t *ranks, size_t count,
                  struct verdict *verdict)
{
    struct check6 check = { geoip, addresses, ranks, 0, 0 };
    char          text[INET6_ADDRSTRLEN] = "";
    for_each(count, check6_at, &check);
    if (check.wrong) {
        inet_ntop(AF_INET6, addresses[check.example].byte, text, sizeof text);
        because(verdict->example, "%u for address %s", ranks[check.example], text);
    }
    verdict->wrong += check.wrong;
    verdict->checked += count;
}
