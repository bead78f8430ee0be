/* SPDX-License-Identifier: Apache-2.0 */
/* Tests atomics and memory order. The kernels are in cl/primitive/self_test_atomics.cl. */
#include "self_test_run.h"

static struct ordo_launch atomics_launch(const char *kernel, size_t groups, uint32_t group)
{
    return (struct ordo_launch) {
        "primitive/self_test_atomics.cl", kernel, groups, group, { { "GROUP_SIZE", group }, { NULL, 0 } }
    };
}

/* ---- atomics: updates ---------------------------------------------------------------------------------------- */

struct updates {
    ordo_device *dev;
    uint32_t     bits, group, n;
    const char  *suffix;
    uint64_t     spread;
    uint64_t    *words, *own, *answers;
    bool        *taken;
};

static uint64_t word_at(const struct updates *u, const void *words, size_t i)
{
    return u->bits == 64 ? ((const uint64_t *) words)[i] : ((const uint32_t *) words)[i];
}

static uint64_t answer_of(const struct updates *u, enum atomics_answer answer, uint32_t i)
{
    return word_at(u, u->answers, (size_t) answer * u->n + i);
}

static ordo_status check_word(const struct updates *u, const char *what, uint64_t got, uint64_t want)
{
    EXPECT(u->dev, got, want, "%s%s by %u work-items in groups of %u", what, u->suffix, u->n, u->group);
    return ORDO_OK;
}

static uint64_t mark_of(const struct updates *u, uint32_t i)
{
    return u->bits == 64 ? ATOMICS_OPPOSE64(atomics_mark(i)) : atomics_mark(i);
}

static ordo_status check_words(const struct updates *u)
{
    const uint64_t ones = ~(uint64_t) 0 >> (64 - u->bits);
    uint64_t       greatest = 0, least = ones, set = 0;
    for (uint32_t i = 0; i < u->n; i++) {
        const uint64_t mark = mark_of(u, i);
        greatest = mark > greatest ? mark : greatest;
        least = mark < least ? mark : least;
        set |= (uint64_t) 1 << i / 8 % u->bits;
    }
    ORDO_TRY(check_word(u, "ordo_add", word_at(u, u->words, ATOMICS_ADD), u->n * u->spread));
    ORDO_TRY(check_word(u, "ordo_add", word_at(u, u->words, ATOMICS_CARRY), (uint64_t) u->n * ATOMICS_CARRIED & ones));
    ORDO_TRY(check_word(u, "ordo_max", word_at(u, u->words, ATOMICS_MAX), greatest));
    ORDO_TRY(check_word(u, "ordo_min", word_at(u, u->words, ATOMICS_MIN), least));
    ORDO_TRY(check_word(u, "ordo_or", word_at(u, u->words, ATOMICS_OR), set));
    for (uint32_t w = 0; w < ATOMICS_CAS_WORDS; w++)
        ORDO_TRY(check_word(u, "ordo_cas", word_at(u, u->words, ATOMICS_CAS + w),
                            u->n / ATOMICS_CAS_WORDS + (w < u->n % ATOMICS_CAS_WORDS)));
    for (uint32_t i = 0; i < u->n; i++)
        ORDO_TRY(check_word(u, "ordo_cas of an unshared word", word_at(u, u->own, i), mark_of(u, i) + 2));
    return ORDO_OK;
}

static ordo_status take(const struct updates *u, const char *what, uint64_t seen)
{
    const uint64_t number = seen / u->spread;
    if (seen % u->spread || number > u->n)
        return WRONG(u->dev, "%s%s gave 0x%" PRIx64 ", which no work-item had stored", what, u->suffix, seen);
    if (u->taken[number])
        return WRONG(u->dev, "%s%s gave 0x%" PRIx64 " to two work-items", what, u->suffix, seen);
    u->taken[number] = true;
    return ORDO_OK;
}

static ordo_status check_numbers(const struct updates *u, const char *what, enum atomics_answer answer,
                                 enum atomics_word word)
{
    memset(u->taken, 0, (u->n + 1) * sizeof *u->taken);
    ORDO_TRY(take(u, what, word_at(u, u->words, word)));
    for (uint32_t i = 0; i < u->n; i++)
        ORDO_TRY(take(u, what, answer_of(u, answer, i)));
    return ORDO_OK;
}

static ordo_status check_seen(const struct updates *u)
{
    const uint32_t n = u->n;

    ORDO_TRY(check_numbers(u, "ordo_add", ATOMICS_SEEN_ADD, ATOMICS_ADD));
    ORDO_TRY(check_numbers(u, "ordo_exchange", ATOMICS_SEEN_EXCHANGE, ATOMICS_EXCHANGE));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t mark = mark_of(u, i);
        ORDO_TRY(check_word(u, "ordo_load_relaxed", answer_of(u, ATOMICS_SEEN_RELAXED, i), mark));
        ORDO_TRY(check_word(u, "ordo_load_acquire", answer_of(u, ATOMICS_SEEN_ACQUIRE, i), mark + 1));
        ORDO_TRY(check_word(u, "ordo_cas, refused,", answer_of(u, ATOMICS_SEEN_REFUSED, i), mark + 1));
        ORDO_TRY(check_word(u, "ordo_cas, agreed,", answer_of(u, ATOMICS_SEEN_AGREED, i), mark + 1));
        if (answer_of(u, ATOMICS_SEEN_CAS, i) != 1)
            return WRONG(u->dev, "ordo_cas%s: %d tries in a loop did not succeed once", u->suffix,
                         (int) ATOMICS_CAS_TRIES);
    }
    return ORDO_OK;
}

static ordo_status run_updates(ordo_device *dev, const struct updates *u)
{
    const char              *kernel = u->bits == 32 ? "self_test_updates" : "self_test_updates64";
    const struct ordo_launch launch = atomics_launch(kernel, u->n / u->group, u->group);
    const size_t             bytes = u->bits / 8, n = u->n;

    memset((char *) u->words + ATOMICS_MIN * bytes, 0xff, bytes);
    ORDO_TRY(ordo_self_test_run(dev, launch, 1,
                                BUFFERS({ ATOMICS_WORDS * bytes, u->words, u->words }, { n * bytes, u->own, NULL },
                                        { ATOMICS_ANSWERS * n * bytes, u->answers, NULL }),
                                NO_NUMBERS));
    ORDO_TRY(check_seen(u));
    return check_words(u);
}

static ordo_status test_updates(ordo_device *dev, uint32_t bits, uint32_t group, uint32_t n)
{
    const size_t   all = ATOMICS_WORDS + (size_t) n + (size_t) ATOMICS_ANSWERS * n;
    struct updates u = { .dev = dev, .bits = bits, .group = group, .n = n };
    u.spread = bits == 64 ? ATOMICS_SPREAD64 : 1;
    u.suffix = bits == 64 ? "64" : "";
    u.words = calloc(all, sizeof *u.words);
    u.taken = calloc((size_t) n + 1, sizeof *u.taken);
    u.own = u.words ? u.words + ATOMICS_WORDS : NULL;
    u.answers = u.words ? u.own + n : NULL;
    const ordo_status got =
        u.words && u.taken ? run_updates(dev, &u) : ORDO_FAIL(u.dev, ORDO_NO_HOST_MEMORY, "the self-test");
    free(u.words);
    free(u.taken);
    return got;
}

/* ---- atomics: local memory ----------------------------------------------------------------------------------- */

enum { LOCAL_GROUPS = 4 };

static ordo_status test_local(ordo_device *dev, uint32_t group)
{
    const struct ordo_launch launch = atomics_launch("self_test_local_updates", LOCAL_GROUPS, group);
    uint32_t                 got[LOCAL_GROUPS][ATOMICS_LOCALS];

    ORDO_TRY(ordo_self_test_run(dev, launch, 1, BUFFERS({ sizeof got, got, NULL }), NO_NUMBERS));
    for (uint32_t g = 0; g < LOCAL_GROUPS; g++) {
        uint32_t sum = 0, greatest = 0, set = 0;
        for (uint32_t lid = 0; lid < group; lid++) {
            const uint32_t mark = atomics_mark(g * group + lid);
            sum += lid + 1;
            greatest = mark > greatest ? mark : greatest;
            set |= 1u << lid % 32;
        }
        EXPECT(dev, got[g][ATOMICS_LOCAL_ADD], sum, "ordo_local_add in group %u", g);
        EXPECT(dev, got[g][ATOMICS_LOCAL_MAX], greatest, "ordo_local_max in group %u", g);
        EXPECT(dev, got[g][ATOMICS_LOCAL_OR], set, "ordo_local_or in group %u", g);
        EXPECT(dev, got[g][ATOMICS_LOCAL_TAKEN], group * (group - 1) / 2, "answers of ordo_local_add in group %u", g);
    }
    return ORDO_OK;
}

/* ---- atomics: relaxed vector loads and stores ------------------------------------------------------------------- */

enum { PEEKERS_MAX = 256 };

static ordo_status test_peeks(ordo_device *dev, uint32_t group)
{
    const uint32_t           n = group < PEEKERS_MAX ? PEEKERS_MAX / group * group : PEEKERS_MAX;
    const struct ordo_launch launch = atomics_launch("self_test_peeks", n / group, group);
    const size_t             bytes = (size_t) n * ATOMICS_PEEK_WORDS * sizeof(uint32_t);
    uint32_t                 got[2][PEEKERS_MAX * ATOMICS_PEEK_WORDS] = { { 0 } };

    ORDO_TRY(ordo_self_test_run(dev, launch, 1, BUFFERS({ bytes, got[0], NULL }, { bytes, got[1], NULL }), NUMBERS(0)));

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t mark = atomics_mark(i);
        const uint32_t want[ATOMICS_PEEK_WORDS] = { mark,     0,        UINT32_MAX - mark, mark,
                                                    mark + 4, mark + 5, mark + 6,          mark + 7 };
        for (uint32_t w = 0; w < 2 * ATOMICS_PEEK_WORDS; w++) {
            const uint32_t word = w % ATOMICS_PEEK_WORDS,
                           is = got[w / ATOMICS_PEEK_WORDS][i * ATOMICS_PEEK_WORDS + word];
            EXPECT(dev, is, want[word], "%s, word %u of work-item %u in groups of %u",
                   w < ATOMICS_PEEK_WORDS ? "ordo_store_uncached" : "ordo_load_uncached", word, i, group);
        }
    }
    return ORDO_OK;
}

/* ---- atomics: contention ------------------------------------------------------------------------------------- */

struct contention {
    uint32_t group, n, enough;
    uint32_t words[CONTEND_WORDS], *balances;
    uint64_t words64[CONTEND_WORDS64];
};

/* Returns true if few work-groups run concurrently. Their updates of the same word then rarely collide. */
static bool runs_few(const ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    return f->cpu || f->compute_units < CONTEND_GROUPS_FEW / 2;
}

static ordo_status check_contention(ordo_device *dev, const struct contention *q, uint32_t kinds)
{
    static const char *const names[] = { "ordo_add", "ordo_cas", "ordo_exchange", "ordo_add64",
                                         "ordo_store_relaxed64 and ordo_load_relaxed64" };
    uint32_t                 sum[CONTEND_KINDS] = { 0 };
    for (uint32_t kind = 0; kind < CONTEND_KINDS; kind++)
        for (uint32_t i = 0; i < q->n; i++)
            sum[kind] += q->balances[kind * q->n + i];

    const uint64_t want[] = { sum[CONTEND_ADD], sum[CONTEND_CAS], sum[CONTEND_EXCHANGE],
                              sum[CONTEND_ADD64] * (uint64_t) CONTEND_STEP64, 0 };
    const uint64_t is[] = { q->words[CONTEND_ADD], q->words[CONTEND_CAS], q->words[CONTEND_EXCHANGE],
                            q->words64[CONTEND_WORD_ADD64], sum[CONTEND_STORE64] };
    for (uint32_t kind = 0; kind < kinds; kind++)
        EXPECT(dev, is[kind], want[kind], "%s by %u concurrent work-items", names[kind], q->n);
    return ORDO_OK;
}

#define CONTENTION_MS 2000

static ordo_status contention(ordo_device *dev, struct contention *q)
{
    const struct ordo_launch launch = atomics_launch("self_test_contend", q->n / q->group, q->group);
    const uint32_t           kinds = ordo_device_facts(dev)->int64_atomics ? CONTEND_KINDS : CONTEND_ADD64;
    double                   start = 0;

    for (uint32_t rounds = CONTEND_ROUNDS;; rounds = rounds < CONTEND_ROUNDS_MAX ? 4 * rounds : rounds) {
        bool collided = true;
        ORDO_TRY(
            ordo_self_test_run(dev, launch, 1,
                               BUFFERS({ sizeof q->words, q->words, NULL }, { sizeof q->words64, q->words64, NULL },
                                       { (size_t) CONTEND_KINDS * q->n * sizeof *q->balances, q->balances, NULL }),
                               NUMBERS(rounds, q->enough)));
        ORDO_TRY(check_contention(dev, q, kinds));
        for (uint32_t kind = 0; kind < kinds; kind++)
            collided = collided && q->words[CONTEND_MET + kind] >= q->enough;
        start = rounds == CONTEND_ROUNDS ? ordo_now_ms() : start;
        if (!runs_few(dev) || collided || ordo_now_ms() > start + CONTENTION_MS)
            return ORDO_OK;
    }
}

static ordo_status test_contention(ordo_device *dev, uint32_t group)
{
    const uint32_t    units = ordo_device_facts(dev)->compute_units;
    const bool        few = runs_few(dev);
    const uint32_t    groups = few ? CONTEND_GROUPS_FEW : 2 * units;
    struct contention q = { .group = group, .n = groups * group, .enough = few ? CONTEND_ENOUGH * group : UINT32_MAX };

    if (units < 2)
        return ORDO_OK; /* On a single CPU thread, updates never collide. */
    q.balances = calloc((size_t) CONTEND_KINDS * q.n, sizeof *q.balances);
    ORDO_REQUIRE_MEMORY(dev, q.balances);
    const ordo_status got = contention(dev, &q);
    free(q.balances);
    return got;
}

/* ---- atomics: words under a latch -------------------------------------------------------------------------------- */

static ordo_status test_optimistic(ordo_device *dev, uint32_t group)
{
    const bool               few = runs_few(dev);
    const uint32_t           units = ordo_device_facts(dev)->compute_units;
    const uint32_t           groups = few ? CONTEND_GROUPS_FEW / 2 : 2 * units;
    const struct ordo_launch launch = atomics_launch("self_test_optimistic", groups, group);
    uint32_t                 n_lines = OPTIMISTIC_LINES_FEW, report[OPTIMISTIC_REPORT] = { 0 };

    while (!few && n_lines * OPTIMISTIC_READERS < groups * group)
        n_lines *= 2;
    ORDO_TRY(ordo_self_test_run(dev, launch, few ? OPTIMISTIC_LAUNCHES_FEW : OPTIMISTIC_LAUNCHES,
                                BUFFERS({ (size_t) n_lines * OPTIMISTIC_WORDS * sizeof(uint32_t), NULL, NULL },
                                        { sizeof report, report, NULL }),
                                NUMBERS(n_lines, 0)));
    if (report[OPTIMISTIC_BAD])
        return WRONG(dev,
                     "%s: %u of %u reads that seemed whole were torn; word %u was not of version %u (%u changes; %u "
                     "other reads were torn)",
                     ordo_device_facts(dev)->address_order ? "ordo_after" : "ordo_load_acquire and ordo_fence_acquire",
                     report[OPTIMISTIC_BAD], report[OPTIMISTIC_GOOD] + report[OPTIMISTIC_BAD],
                     report[OPTIMISTIC_BAD_WORD], report[OPTIMISTIC_BAD_VERSION], report[OPTIMISTIC_CHANGES],
                     report[OPTIMISTIC_TORN]);
    if (!report[OPTIMISTIC_GOOD] || !report[OPTIMISTIC_CHANGES])
        return WRONG(dev, "words under a latch: %u changes and %u whole reads", report[OPTIMISTIC_CHANGES],
                     report[OPTIMISTIC_GOOD]);
    ordo_log(dev, ORDO_LOG_DEBUG, "words under a latch: %u changes, %u whole reads, %u known to be torn",
             report[OPTIMISTIC_CHANGES], report[OPTIMISTIC_GOOD], report[OPTIMISTIC_TORN]);
    return ORDO_OK;
}

/* ---- atomics: a chain of groups ------------------------------------------------------------------------------ */

enum { CHAIN_GROUPS_MAX = 256 };

struct chain {
    uint32_t report[CHAIN_WORDS], payload[CHAIN_PAYLOAD], sums[CHAIN_GROUPS_MAX];
    uint64_t sums64[CHAIN_GROUPS_MAX];
};

static ordo_status check_chain(ordo_device *dev, uint32_t groups, const struct chain *c)
{
    const uint32_t *r = c->report;
    if (r[CHAIN_STOPPED])
        return WRONG(dev, "a chain of %u work-groups: %u of them had their turn, then one waited in vain", groups,
                     r[CHAIN_TURN]);
    if (r[CHAIN_STALE])
        return WRONG(dev,
                     "ordo_store_release and ordo_load_acquire, or ordo_fence_device: %u stale words in a chain of %u "
                     "work-groups; group %u read 0x%" PRIx32 " instead of 0x%" PRIx32,
                     r[CHAIN_STALE], groups, r[CHAIN_STALE_GROUP], r[CHAIN_STALE_GOT], r[CHAIN_STALE_WANT]);
    if (r[CHAIN_TICKET] != groups || r[CHAIN_TURN] != groups)
        return WRONG(dev, "a chain of %u work-groups: %u tickets and %u turns", groups, r[CHAIN_TICKET], r[CHAIN_TURN]);
    for (uint32_t j = 0; j < CHAIN_PAYLOAD; j++)
        EXPECT(dev, c->payload[j], CHAIN_PAYLOAD_AFTER(groups - 1, j), "payload of a chain of %u work-groups", groups);

    const bool wide = ordo_device_facts(dev)->int64_atomics;
    for (uint32_t t = 0; t < groups; t++) {
        const uint32_t sum = (t + 1) * (t + 2) / 2;
        EXPECT(dev, c->sums[t], CHAIN_FLAG | sum, "ordo_load_relaxed and ordo_store_relaxed, running sum %u", t);
        if (wide)
            EXPECT(dev, c->sums64[t], CHAIN_FLAG64 | sum,
                   "ordo_load_relaxed64 and ordo_store_relaxed64, running sum %u", t);
    }
    return ORDO_OK;
}

static ordo_status test_chain(ordo_device *dev, uint32_t group)
{
    const uint32_t           units = ordo_device_facts(dev)->compute_units;
    const uint32_t           groups = units < 4 ? 8 : units < CHAIN_GROUPS_MAX / 2 ? 2 * units : CHAIN_GROUPS_MAX;
    const struct ordo_launch launch = atomics_launch("self_test_chain", groups, group);
    struct chain             c;
    memset(&c, 0, sizeof c);
    for (uint32_t j = 0; j < CHAIN_PAYLOAD; j++)
        c.payload[j] = CHAIN_PAYLOAD_AFTER(UINT32_MAX, j);
    ORDO_TRY(ordo_self_test_run(dev, launch, 1,
                                BUFFERS({ sizeof c.report, c.report, NULL }, { sizeof c.payload, c.payload, c.payload },
                                        { sizeof c.sums, c.sums, NULL }, { sizeof c.sums64, c.sums64, NULL }),
                                NO_NUMBERS));
    return check_chain(dev, groups, &c);
}

ordo_status ordo_self_test_atomics(ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const uint32_t           group = ordo_self_test_group(dev), groups = f->cpu ? 64 : 96;
    ORDO_TRY(test_updates(dev, 32, group, groups * group));
    if (f->int64_atomics)
        ORDO_TRY(test_updates(dev, 64, group, groups * group));
    ORDO_TRY(test_local(dev, group));
    ORDO_TRY(test_peeks(dev, group));
    ORDO_TRY(test_contention(dev, group));
    if (f->atomics != ORDO_ATOMICS_LEGACY)
        ORDO_TRY(test_optimistic(dev, group));
    return f->groups_progress ? test_chain(dev, group) : ORDO_OK;
}
