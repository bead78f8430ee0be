/* SPDX-License-Identifier: Apache-2.0 */
/* The device layer's part of the self-test: what cl/primitive/self_test_lanes.cl and self_test_atomics.cl answered, held
 * against what they must answer. */
#include "self_test.h"

#include "shared/self_test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define LANES_MODULE   "primitive/self_test_lanes.cl"
#define ATOMICS_MODULE "primitive/self_test_atomics.cl"

/* In a rehearsal no answer is a right one: it goes on. */
#define WRONG(dev, ...) (ordo_rehearses(dev) ? ORDO_OK : ORDO_FAIL((dev), ORDO_SELF_TEST, __VA_ARGS__))

/* A group of a few sub-groups; where lanes do not talk, of a few work-items. */
static uint32_t test_group(const ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const uint32_t           wanted = f->lanes != ORDO_LANES_ONE ? 2 * f->sub_group : f->cpu ? 4 : 64;
    return f->max_group < wanted ? f->max_group : wanted;
}

/* ---- lanes: what they must answer ---------------------------------------------------------------------------- */

/* A work-item among its team and its sub-group. */
struct place {
    const uint32_t *team;      /* words of the team's lanes */
    const uint32_t *sub_group; /* words of the sub-group's lanes */
    uint32_t        width, lanes, lane, sub_lane, index;
};

typedef uint64_t answers[LANES_ANSWERS];

static uint64_t ballot(const struct place *p)
{
    uint64_t holding = 0;
    for (uint32_t l = 0; l < p->width; l++)
        holding |= (uint64_t) LANES_HOLDS(p->team[l]) << l;
    return holding;
}

/* The team's lanes that agree with this one in the digit's low bits. */
static uint64_t peers(const struct place *p, uint32_t bits)
{
    const uint32_t digit = (1u << bits) - 1;
    uint64_t       same = 0;
    for (uint32_t l = 0; l < p->width; l++)
        same |= (uint64_t) !((LANES_DIGIT(p->team[l]) ^ LANES_DIGIT(p->team[p->lane])) & digit) << l;
    return same;
}

static void want_votes(const struct place *p, answers want)
{
    const uint64_t holding = ballot(p), some = holding | (uint64_t) 1 << p->lane;
    want[LANES_LANE] = p->lane;
    want[LANES_INDEX] = p->index;
    want[LANES_LANES_BELOW] = ((uint64_t) 1 << p->lane) - 1;
    want[LANES_BALLOT] = holding;
    want[LANES_ANY] = holding != 0;
    want[LANES_ALL] = 1;
    want[LANES_FIRST_LANE] = p->width;
    for (uint32_t l = 0; l < p->width; l++) {
        const bool in = some >> l & 1;
        want[LANES_ALL] &= holding >> l;
        want[LANES_MASK_COUNT] += in;
        want[LANES_FIRST_LANE] = in && l < want[LANES_FIRST_LANE] ? l : want[LANES_FIRST_LANE];
        want[LANES_LAST_LANE] = in ? l : want[LANES_LAST_LANE];
    }
    for (uint32_t l = 0; l < p->lanes; l++)
        if (LANES_ROUNDS(p->sub_group[l]) > want[LANES_SUBGROUP_ANY])
            want[LANES_SUBGROUP_ANY] = LANES_ROUNDS(p->sub_group[l]);
}

static void want_shuffles(const struct place *p, answers want)
{
    const uint32_t *x = p->team, own = x[p->lane];
    const uint32_t  pick = LANES_PICK(own) % p->width, sender = p->index % (p->width + 1) % p->width;
    want[LANES_SHUFFLE] = x[pick];
    want[LANES_SHUFFLE64] = LANES_WIDE(x[pick]);
    want[LANES_BCAST] = x[sender];
    want[LANES_BCAST64] = LANES_WIDE(x[sender]);
    for (uint32_t by = 1; by < p->width; by++) {
        const uint32_t across = x[p->lane ^ by], below = x[p->lane >= by ? p->lane - by : p->lane];
        want[LANES_SHUFFLE_XOR] = LANES_JOIN(want[LANES_SHUFFLE_XOR], across);
        want[LANES_SHUFFLE_XOR64] = LANES_JOIN(want[LANES_SHUFFLE_XOR64], LANES_WIDE(across));
        want[LANES_SHUFFLE_UP] = LANES_JOIN(want[LANES_SHUFFLE_UP], below);
        want[LANES_SHUFFLE_UP64] = LANES_JOIN(want[LANES_SHUFFLE_UP64], LANES_WIDE(below));
    }
}

static void want_scans(const struct place *p, answers want)
{
    uint32_t sum = 0, before = 0, most = 0;
    uint64_t sum64 = 0, before64 = 0, most64 = 0;
    for (uint32_t l = 0; l < p->width; l++) {
        const uint32_t x = p->team[l];
        const uint64_t wide = LANES_WIDE(x);
        before = l == p->lane ? sum : before;
        before64 = l == p->lane ? sum64 : before64;
        sum += x;
        sum64 += wide;
        most = x > most ? x : most;
        most64 = wide > most64 ? wide : most64;
    }
    want[LANES_SCAN_EXCLUSIVE] = before;
    want[LANES_SCAN_EXCLUSIVE64] = before64;
    want[LANES_SCAN_INCLUSIVE] = (uint32_t) (before + p->team[p->lane]);
    want[LANES_SCAN_INCLUSIVE64] = before64 + LANES_WIDE(p->team[p->lane]);
    want[LANES_REDUCE_ADD] = sum;
    want[LANES_REDUCE_ADD64] = sum64;
    want[LANES_REDUCE_MAX] = most;
    want[LANES_REDUCE_MAX64] = most64;
}

static void want_turns(const struct place *p, answers want)
{
    uint64_t turn = 0;
    for (uint32_t l = 0; l < p->width; l++)
        if (LANES_HOLDS(p->team[l])) {
            turn++;
            want[LANES_TURNS] = LANES_JOIN(want[LANES_TURNS], (uint64_t) p->team[l]);
            if (l == p->lane)
                want[LANES_TURN] = turn << 32 | p->team[l];
        }
    for (uint32_t round = 0; round < LANES_SYNC_ROUNDS; round++) {
        const uint32_t from = (p->sub_lane + 1 + round) % p->lanes;
        want[LANES_SYNC] = LANES_JOIN(want[LANES_SYNC], (uint64_t) (uint32_t) (p->sub_group[from] + round));
    }
}

static void want_lanes(const struct place *p, answers want)
{
    memset(want, 0, sizeof(answers));
    want_votes(p, want);
    want_shuffles(p, want);
    want_scans(p, want);
    want[LANES_MATCH0] = peers(p, 0);
    want[LANES_MATCH2] = peers(p, 2);
    want[LANES_MATCH8] = peers(p, 8);
    want_turns(p, want);
}

/* ---- lanes: running ------------------------------------------------------------------------------------------ */

/* Random words, of which some sub-groups get a pattern of their own. */
static void lanes_words(const struct ordo_lanes_case *c, uint32_t lanes, uint32_t *words)
{
    uint64_t state = c->seed * 2 + 1;
    for (uint32_t i = 0; i < c->group * c->n_groups; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t x = (uint32_t) (state >> 32);
        switch (i / lanes % 6) {
        case 1: /* none holds, all digits the same */
            x = (x & 0xfffeu) | 0x5a5a0000u;
            break;
        case 2: /* all hold, three digits */
            x = (x & 0xffffu) | 1 | (x >> 16) % 3 * 0x00570000u;
            break;
        case 3: /* one holds, every lane's digit its own */
            x = (x & 0xfffeu) | (i % lanes == lanes - 1) | i % lanes << 16;
            break;
        default:
            break;
        }
        words[i] = x;
    }
}

static ordo_status ask_lanes(struct ordo_call *call, const struct ordo_lanes_case *c, const uint32_t *words,
                             uint64_t *got)
{
    const size_t             n = (size_t) c->group * c->n_groups;
    const struct ordo_define defines[] = { { "GROUP_SIZE", c->group }, { "TEAM_WIDTH", c->team_width }, { NULL, 0 } };
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   in = NULL, out = NULL;

    ORDO_TRY(ordo_call_kernel(call, LANES_MODULE, "self_test_lanes", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, n * sizeof *words, &in));
    ORDO_TRY(ordo_call_scratch(call, n * sizeof(answers), &out));
    ORDO_TRY(ordo_call_write(call, in, 0, words, n * sizeof *words));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, c->n_groups, c->group, ORDO_ARGS(ORDO_ARG(in), ORDO_ARG(out))));
    return ordo_call_read(call, out, 0, got, n * sizeof(answers));
}

static ordo_status check_lanes(ordo_device *dev, const struct ordo_lanes_case *c, const uint32_t *words,
                               const uint64_t *got)
{
    static const char *const names[] = {
#define X(id, text) text,
        LANES_ANSWER_MAP(X)
#undef X
    };
    const uint32_t lanes = ordo_device_facts(dev)->sub_group, n = c->group * c->n_groups;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t     lane = i % c->team_width, sub_lane = i % lanes;
        const struct place p = { .team = words + i - lane,
                                 .sub_group = words + i - sub_lane,
                                 .width = c->team_width,
                                 .lanes = lanes,
                                 .lane = lane,
                                 .sub_lane = sub_lane,
                                 .index = i % c->group / c->team_width };
        answers            want;
        want_lanes(&p, want);
        for (uint32_t a = 0; a < LANES_ANSWERS; a++)
            if (got[(size_t) a * n + i] != want[a])
                return WRONG(dev,
                             "%s, teams of %u in sub-groups of %u, groups of %u: work-item %u got 0x%" PRIx64
                             " instead of 0x%" PRIx64,
                             names[a], c->team_width, lanes, c->group, i, got[(size_t) a * n + i], want[a]);
    }
    return ORDO_OK;
}

static ordo_status run_lanes(ordo_device *dev, const struct ordo_lanes_case *c, uint32_t *words, uint64_t *got)
{
    struct ordo_call call;
    lanes_words(c, ordo_device_facts(dev)->sub_group, words);
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    ORDO_TRY(ordo_call_end(&call, ask_lanes(&call, c, words, got)));
    return check_lanes(dev, c, words, got);
}

ordo_status ordo_self_test_lanes_case(ordo_device *dev, const struct ordo_lanes_case *c)
{
    const size_t n = (size_t) c->group * c->n_groups;
    uint32_t    *words = calloc(n, sizeof *words);
    uint64_t    *got = calloc(n, sizeof(answers));

    const ordo_status status =
        words && got ? run_lanes(dev, c, words, got) : ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, "the self-test");
    free(words);
    free(got);
    return status;
}

/* ---- loops --------------------------------------------------------------------------------------------------- */

/* A CPU's work-item loops over thousands of elements: a driver that ends its loops early would leave out the rest. */
static ordo_status test_loop(struct ordo_call *call)
{
    const uint32_t           group = test_group(call->dev), lanes = ordo_device_facts(call->dev)->sub_group;
    const struct ordo_define defines[] = { { "GROUP_SIZE", group }, { "TEAM_WIDTH", lanes }, { NULL, 0 } };
    const cl_uint            rounds = LOOP_ROUNDS;
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   sums = NULL;
    uint32_t                 got = 0, want = 0;

    ORDO_TRY(ordo_call_kernel(call, LANES_MODULE, "self_test_loop", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, group * sizeof got, &sums));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, 1, group, ORDO_ARGS(ORDO_ARG(sums), ORDO_ARG(rounds))));
    ORDO_TRY(ordo_call_read(call, sums, 0, &got, sizeof got));
    for (uint32_t round = 0; round < rounds; round++)
        want = LOOP_ROUND(want);
    return got == want ? ORDO_OK : WRONG(call->dev, "a loop of %u rounds: the driver ended it too early", rounds);
}

/* ---- phases -------------------------------------------------------------------------------------------------- */

static ordo_status test_phases(struct ordo_call *call)
{
    const uint32_t           group = test_group(call->dev), lanes = ordo_device_facts(call->dev)->sub_group;
    const struct ordo_define defines[] = { { "GROUP_SIZE", group }, { "TEAM_WIDTH", lanes }, { NULL, 0 } };
    const cl_uint            parts = PHASES_PARTS, n = PHASES_WORDS;
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   words = NULL;
    uint32_t                 in[PHASES_PARTS * PHASES_WORDS], got[PHASES_PARTS * PHASES_WORDS];

    for (uint32_t i = 0; i < PHASES_PARTS * PHASES_WORDS; i++)
        in[i] = atomics_mark(i + 1);
    ORDO_TRY(ordo_call_kernel(call, LANES_MODULE, "self_test_phases", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, sizeof in, &words));
    ORDO_TRY(ordo_call_write(call, words, 0, in, sizeof in));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, 1, group, ORDO_ARGS(ORDO_ARG(words), ORDO_ARG(parts), ORDO_ARG(n))));
    ORDO_TRY(ordo_call_read(call, words, 0, got, sizeof got));
    for (uint32_t i = 0; i < PHASES_PARTS * PHASES_WORDS; i++) {
        const uint32_t part = i / PHASES_WORDS, key = i % PHASES_WORDS % PHASES_KEYS;
        uint32_t       want = UINT32_MAX;
        for (uint32_t w = key; w < PHASES_WORDS; w += PHASES_KEYS) {
            const uint32_t word = in[part * PHASES_WORDS + w];
            want = word < want ? word : want;
        }
        if (got[i] != want)
            return WRONG(call->dev,
                         "minima that a group of %u folds in phases: word %u is 0x%" PRIx32 " instead of 0x%" PRIx32,
                         group, i, got[i], want);
    }
    return ORDO_OK;
}

ordo_status ordo_self_test_lanes(ordo_device *dev)
{
    const uint32_t         lanes = ordo_device_facts(dev)->sub_group;
    struct ordo_lanes_case c = { .team_width = lanes, .group = test_group(dev), .n_groups = 8, .seed = 1 };
    struct ordo_call       call;
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    ORDO_TRY(ordo_call_end(&call, test_loop(&call)));
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    ORDO_TRY(ordo_call_end(&call, test_phases(&call)));
    ORDO_TRY(ordo_self_test_lanes_case(dev, &c));
    if (lanes <= 4)
        return ORDO_OK;
    c.team_width = 4;
    return ordo_self_test_lanes_case(dev, &c);
}

/* ---- atomics: updates ---------------------------------------------------------------------------------------- */

/* One run of the updates in 32 or 64 bits; the words that came back, widened. */
struct updates {
    ordo_device *dev;
    uint32_t     bits, group, n;
    uint64_t     spread;                /* see ATOMICS_SPREAD64 */
    uint64_t    *words, *own, *answers; /* ATOMICS_WORDS; n; ATOMICS_ANSWERS * n */
    bool        *taken;                 /* n + 1 */
};

static void widen(uint64_t *words, size_t n, uint32_t bits)
{
    const uint32_t *narrow = (const uint32_t *) (const void *) words;
    for (size_t i = n; bits == 32 && i-- > 0;) {
        uint32_t word;
        memcpy(&word, narrow + i, sizeof word);
        words[i] = word;
    }
}

static ordo_status ask_updates(struct ordo_call *call, const struct updates *u)
{
    const size_t             bytes = u->bits / 8, n = u->n;
    const struct ordo_define defines[] = { { "GROUP_SIZE", u->group }, { NULL, 0 } };
    const char              *name = u->bits == 32 ? "self_test_updates" : "self_test_updates64";
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   words = NULL, own = NULL, out = NULL;

    ORDO_TRY(ordo_call_kernel(call, ATOMICS_MODULE, name, defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, ATOMICS_WORDS * bytes, &words));
    ORDO_TRY(ordo_call_scratch(call, n * bytes, &own));
    ORDO_TRY(ordo_call_scratch(call, ATOMICS_ANSWERS * n * bytes, &out));
    ORDO_TRY(ordo_call_fill(call, words, 0, ATOMICS_WORDS * bytes, 0));
    ORDO_TRY(ordo_call_fill(call, words, ATOMICS_MIN * bytes, bytes, UINT32_MAX));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, n / u->group, u->group,
                                     ORDO_ARGS(ORDO_ARG(words), ORDO_ARG(own), ORDO_ARG(out))));
    ORDO_TRY(ordo_call_read(call, words, 0, u->words, ATOMICS_WORDS * bytes));
    ORDO_TRY(ordo_call_read(call, own, 0, u->own, n * bytes));
    return ordo_call_read(call, out, 0, u->answers, ATOMICS_ANSWERS * n * bytes);
}

static ordo_status check_word(const struct updates *u, const char *what, uint64_t got, uint64_t want)
{
    if (got == want)
        return ORDO_OK;
    return WRONG(u->dev, "%s%s by %u work-items in groups of %u: the word ended as 0x%" PRIx64 " instead of 0x%" PRIx64,
                 what, u->bits == 64 ? "64" : "", u->n, u->group, got, want);
}

/* atomics_mark(i) in the word's bits. */
static uint64_t mark_of(const struct updates *u, uint32_t i)
{
    return u->bits == 64 ? ATOMICS_OPPOSE64(atomics_mark(i)) : atomics_mark(i);
}

static ordo_status check_words(const struct updates *u)
{
    const uint64_t ones = ~(uint64_t) 0 >> (64 - u->bits);
    uint64_t       most = 0, least = ones, set = 0;
    for (uint32_t i = 0; i < u->n; i++) {
        const uint64_t mark = mark_of(u, i);
        most = mark > most ? mark : most;
        least = mark < least ? mark : least;
        set |= (uint64_t) 1 << i / 8 % u->bits;
    }
    ORDO_TRY(check_word(u, "ordo_add", u->words[ATOMICS_ADD], u->n * u->spread));
    ORDO_TRY(check_word(u, "ordo_add", u->words[ATOMICS_CARRY], (uint64_t) u->n * ATOMICS_CARRIED & ones));
    ORDO_TRY(check_word(u, "ordo_max", u->words[ATOMICS_MAX], most));
    ORDO_TRY(check_word(u, "ordo_min", u->words[ATOMICS_MIN], least));
    ORDO_TRY(check_word(u, "ordo_or", u->words[ATOMICS_OR], set));
    for (uint32_t w = 0; w < ATOMICS_CAS_WORDS; w++)
        ORDO_TRY(check_word(u, "ordo_cas", u->words[ATOMICS_CAS + w],
                            u->n / ATOMICS_CAS_WORDS + (w < u->n % ATOMICS_CAS_WORDS)));
    for (uint32_t i = 0; i < u->n; i++)
        ORDO_TRY(check_word(u, "ordo_cas of a word that nobody shares", u->own[i], mark_of(u, i) + 2));
    return ORDO_OK;
}

/* A number that exactly one work-item may have seen, of first .. first + n (spread). */
static ordo_status take(const struct updates *u, const char *what, uint64_t seen)
{
    const uint64_t number = seen / u->spread;
    if (seen % u->spread || number > u->n)
        return WRONG(u->dev, "%s%s gave 0x%" PRIx64 ", which nobody had stored", what, u->bits == 64 ? "64" : "", seen);
    if (u->taken[number])
        return WRONG(u->dev, "%s%s gave 0x%" PRIx64 " to two work-items", what, u->bits == 64 ? "64" : "", seen);
    u->taken[number] = true;
    return ORDO_OK;
}

static ordo_status check_seen(const struct updates *u)
{
    const uint32_t n = u->n;

    /* Additions give each of 0 .. n - 1 to one; exchanges give each of 0 .. n to one, the last to the word. */
    memset(u->taken, 0, (n + 1) * sizeof *u->taken);
    u->taken[n] = true;
    for (uint32_t i = 0; i < n; i++)
        ORDO_TRY(take(u, "ordo_add", u->answers[ATOMICS_SEEN_ADD * n + i]));
    memset(u->taken, 0, (n + 1) * sizeof *u->taken);
    ORDO_TRY(take(u, "ordo_exchange", u->words[ATOMICS_EXCHANGE]));
    for (uint32_t i = 0; i < n; i++)
        ORDO_TRY(take(u, "ordo_exchange", u->answers[ATOMICS_SEEN_EXCHANGE * n + i]));

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t mark = mark_of(u, i);
        ORDO_TRY(check_word(u, "ordo_load_relaxed", u->answers[ATOMICS_SEEN_RELAXED * n + i], mark));
        ORDO_TRY(check_word(u, "ordo_load_acquire", u->answers[ATOMICS_SEEN_ACQUIRE * n + i], mark + 1));
        ORDO_TRY(check_word(u, "ordo_cas, refused,", u->answers[ATOMICS_SEEN_REFUSED * n + i], mark + 1));
        ORDO_TRY(check_word(u, "ordo_cas, agreed,", u->answers[ATOMICS_SEEN_AGREED * n + i], mark + 1));
        if (u->answers[ATOMICS_SEEN_CAS * n + i] != 1)
            return WRONG(u->dev, "ordo_cas%s: %d tries in a loop did not succeed once", u->bits == 64 ? "64" : "",
                         (int) ATOMICS_CAS_TRIES);
    }
    return ORDO_OK;
}

static ordo_status run_updates(struct ordo_call *call, const struct updates *u)
{
    ORDO_TRY(ask_updates(call, u));
    widen(u->words, ATOMICS_WORDS, u->bits);
    widen(u->own, u->n, u->bits);
    widen(u->answers, (size_t) ATOMICS_ANSWERS * u->n, u->bits);
    ORDO_TRY(check_seen(u));
    return check_words(u);
}

static ordo_status test_updates(struct ordo_call *call, uint32_t bits, uint32_t group, uint32_t n)
{
    struct updates u = { .dev = call->dev, .bits = bits, .group = group, .n = n };
    u.spread = bits == 64 ? ATOMICS_SPREAD64 : 1;
    u.words = calloc(ATOMICS_WORDS, sizeof *u.words);
    u.own = calloc(n, sizeof *u.own);
    u.answers = calloc((size_t) ATOMICS_ANSWERS * n, sizeof *u.answers);
    u.taken = calloc((size_t) n + 1, sizeof *u.taken);

    const ordo_status got = u.words && u.own && u.answers && u.taken
                                ? run_updates(call, &u)
                                : ORDO_FAIL(u.dev, ORDO_NO_HOST_MEMORY, "the self-test");
    free(u.words);
    free(u.own);
    free(u.answers);
    free(u.taken);
    return got;
}

/* ---- atomics: local memory ----------------------------------------------------------------------------------- */

static ordo_status check_local(ordo_device *dev, const char *what, uint32_t group, uint32_t got, uint32_t want)
{
    if (got == want)
        return ORDO_OK;
    return WRONG(dev, "%s in group %u: the word ended as 0x%" PRIx32 " instead of 0x%" PRIx32, what, group, got, want);
}

enum { LOCAL_GROUPS = 4 };

static ordo_status test_local(struct ordo_call *call, uint32_t group)
{
    const struct ordo_define defines[] = { { "GROUP_SIZE", group }, { NULL, 0 } };
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   out = NULL;
    uint32_t                 got[LOCAL_GROUPS][ATOMICS_LOCALS];

    ORDO_TRY(ordo_call_kernel(call, ATOMICS_MODULE, "self_test_local_updates", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, sizeof got, &out));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, LOCAL_GROUPS, group, ORDO_ARGS(ORDO_ARG(out))));
    ORDO_TRY(ordo_call_read(call, out, 0, got, sizeof got));

    for (uint32_t g = 0; g < LOCAL_GROUPS; g++) {
        uint32_t sum = 0, most = 0, set = 0;
        for (uint32_t lid = 0; lid < group; lid++) {
            const uint32_t mark = atomics_mark(g * group + lid);
            sum += lid + 1;
            most = mark > most ? mark : most;
            set |= 1u << lid % 32;
        }
        ORDO_TRY(check_local(call->dev, "ordo_local_add", g, got[g][ATOMICS_LOCAL_ADD], sum));
        ORDO_TRY(check_local(call->dev, "ordo_local_max", g, got[g][ATOMICS_LOCAL_MAX], most));
        ORDO_TRY(check_local(call->dev, "ordo_local_or", g, got[g][ATOMICS_LOCAL_OR], set));
        ORDO_TRY(check_local(call->dev, "what ordo_local_add gives", g, got[g][ATOMICS_LOCAL_TAKEN],
                             group * (group - 1) / 2));
    }
    return ORDO_OK;
}

/* ---- atomics: words that are peeked at ----------------------------------------------------------------------- */

enum { PEEKERS_MOST = 256 };

static ordo_status test_peeks(struct ordo_call *call, uint32_t group)
{
    const struct ordo_define defines[] = { { "GROUP_SIZE", group }, { NULL, 0 } };
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   own = NULL, seen = NULL;
    uint32_t                 got[2][PEEKERS_MOST * ATOMICS_PEEK_WORDS];
    const uint32_t           n = group < PEEKERS_MOST ? PEEKERS_MOST / group * group : PEEKERS_MOST;
    const size_t             bytes = (size_t) n * ATOMICS_PEEK_WORDS * sizeof got[0][0];
    static const cl_uint     never = 0;

    ORDO_TRY(ordo_call_kernel(call, ATOMICS_MODULE, "self_test_peeks", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, bytes, &own));
    ORDO_TRY(ordo_call_scratch(call, bytes, &seen));
    ORDO_TRY(ordo_call_fill(call, own, 0, bytes, 0));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, n / group, group,
                                     ORDO_ARGS(ORDO_ARG(own), ORDO_ARG(seen), ORDO_ARG(never))));
    ORDO_TRY(ordo_call_read(call, own, 0, got[0], bytes));
    ORDO_TRY(ordo_call_read(call, seen, 0, got[1], bytes));

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t mark = atomics_mark(i);
        const uint32_t want[ATOMICS_PEEK_WORDS] = { mark,     0,        UINT32_MAX - mark, mark,
                                                    mark + 4, mark + 5, mark + 6,          mark + 7 };
        for (uint32_t w = 0; w < 2 * ATOMICS_PEEK_WORDS; w++) {
            const uint32_t word = w % ATOMICS_PEEK_WORDS,
                           is = got[w / ATOMICS_PEEK_WORDS][i * ATOMICS_PEEK_WORDS + word];
            if (is != want[word])
                return WRONG(call->dev,
                             "%s, word %u of work-item %u in groups of %u: 0x%" PRIx32 " instead of 0x%" PRIx32,
                             w < ATOMICS_PEEK_WORDS ? "ordo_poke" : "ordo_peek", word, i, group, is, want[word]);
        }
    }
    return ORDO_OK;
}

/* ---- atomics: quarrels --------------------------------------------------------------------------------------- */

struct contention {
    uint32_t group, n, rounds, enough;
    uint32_t words[CONTEND_WORDS], *balances; /* CONTEND_KINDS * n */
    uint64_t words64[CONTEND_WORDS64];
    cl_mem   device_words, device_words64, device_balances;
};

/* Whether the device runs but a few groups at once, which may take turns, and so never meet. */
static bool runs_few(const ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    return f->cpu || f->compute_units < CONTEND_GROUPS_FEW / 2;
}

static ordo_status lend_to_contention(struct ordo_call *call, struct contention *q)
{
    ORDO_TRY(ordo_call_scratch(call, sizeof q->words, &q->device_words));
    ORDO_TRY(ordo_call_scratch(call, sizeof q->words64, &q->device_words64));
    return ordo_call_scratch(call, (size_t) CONTEND_KINDS * q->n * sizeof *q->balances, &q->device_balances);
}

static ordo_status ask_contention(struct ordo_call *call, struct contention *q)
{
    const struct ordo_define defines[] = { { "GROUP_SIZE", q->group }, { NULL, 0 } };
    const cl_uint            rounds = q->rounds, enough = q->enough;
    const size_t             bytes = (size_t) CONTEND_KINDS * q->n * sizeof *q->balances;
    struct ordo_kernel      *kernel = NULL;

    ORDO_TRY(ordo_call_kernel(call, ATOMICS_MODULE, "self_test_contend", defines, &kernel));
    ORDO_TRY(ordo_call_fill(call, q->device_words, 0, sizeof q->words, 0));
    ORDO_TRY(ordo_call_fill(call, q->device_words64, 0, sizeof q->words64, 0));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, q->n / q->group, q->group,
                                     ORDO_ARGS(ORDO_ARG(q->device_words), ORDO_ARG(q->device_words64),
                                               ORDO_ARG(q->device_balances), ORDO_ARG(rounds), ORDO_ARG(enough))));
    ORDO_TRY(ordo_call_read(call, q->device_words, 0, q->words, sizeof q->words));
    ORDO_TRY(ordo_call_read(call, q->device_words64, 0, q->words64, sizeof q->words64));
    return ordo_call_read(call, q->device_balances, 0, q->balances, bytes);
}

static ordo_status check_contention(ordo_device *dev, const struct contention *q)
{
    static const char *const names[] = { "ordo_add", "ordo_cas", "ordo_exchange", "ordo_add64",
                                         "ordo_store_relaxed64 and ordo_load_relaxed64" };
    uint32_t                 sum[CONTEND_KINDS] = { 0 };
    for (uint32_t kind = 0; kind < CONTEND_KINDS; kind++)
        for (uint32_t i = 0; i < q->n; i++)
            sum[kind] += q->balances[kind * q->n + i];

    const bool     wide = ordo_device_facts(dev)->int64_atomics;
    const uint64_t want[] = { sum[CONTEND_ADD], sum[CONTEND_CAS], sum[CONTEND_EXCHANGE],
                              sum[CONTEND_ADD64] * (uint64_t) CONTEND_STEP64, 0 };
    const uint64_t is[] = { q->words[CONTEND_ADD], q->words[CONTEND_CAS], q->words[CONTEND_EXCHANGE],
                            q->words64[CONTEND_WORD_ADD64], sum[CONTEND_STORE64] };
    for (uint32_t kind = 0; kind < (wide ? CONTEND_KINDS : CONTEND_ADD64); kind++)
        if (is[kind] != want[kind])
            return WRONG(dev, "%s by %u work-items at once: 0x%" PRIx64 " instead of 0x%" PRIx64, names[kind], q->n,
                         is[kind], want[kind]);
    return ORDO_OK;
}

static bool have_met(const ordo_device *dev, const struct contention *q)
{
    bool met = true;
    for (uint32_t kind = 0; kind < (ordo_device_facts(dev)->int64_atomics ? CONTEND_KINDS : CONTEND_ADD64); kind++)
        met = met && q->words[CONTEND_MET + kind] >= q->enough;
    return met;
}

/* From the first launch on, which may have to be compiled. It takes a ms or two on a CPU that has nothing else to do. On a busy
 * one threads may be made to take turns: up to so long. */
#define CONTENTION_MS 2000

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double) t.tv_sec + 1e-6 * (double) t.tv_nsec;
}

/* Longer each time, while they have not met: in the end so long that the system gives each thread a processor of its own. */
static ordo_status contention(struct ordo_call *call, struct contention *q)
{
    double start = 0;

    ORDO_TRY(lend_to_contention(call, q));
    for (q->rounds = CONTEND_ROUNDS;; q->rounds = q->rounds < CONTEND_ROUNDS_MOST ? 4 * q->rounds : q->rounds) {
        ORDO_TRY(ask_contention(call, q));
        ORDO_TRY(check_contention(call->dev, q));
        start = q->rounds == CONTEND_ROUNDS ? now_ms() : start;
        if (!runs_few(call->dev) || have_met(call->dev, q) || now_ms() > start + CONTENTION_MS)
            return ORDO_OK;
    }
}

static ordo_status test_contention(struct ordo_call *call, uint32_t group)
{
    const uint32_t    units = ordo_device_facts(call->dev)->compute_units;
    const bool        few = runs_few(call->dev);
    const uint32_t    groups = few ? CONTEND_GROUPS_FEW : 2 * units;
    struct contention q = { .group = group, .n = groups * group, .enough = few ? CONTEND_ENOUGH * group : UINT32_MAX };

    if (units < 2)
        return ORDO_OK; /* one thread, or a simulator: nobody to meet */
    q.balances = calloc((size_t) CONTEND_KINDS * q.n, sizeof *q.balances);
    ORDO_REQUIRE_MEMORY(call->dev, q.balances);
    const ordo_status got = contention(call, &q);
    free(q.balances);
    return got;
}

/* ---- atomics: glimpses -------------------------------------------------------------------------------------------- */

static ordo_status ask_glimpses(struct ordo_call *call, uint32_t group, uint32_t groups, uint32_t n_lines,
                                uint32_t report[GLIMPSE_REPORT])
{
    const struct ordo_define defines[] = { { "GROUP_SIZE", group }, { NULL, 0 } };
    static const cl_uint     never = 0;
    const size_t             bytes = (size_t) n_lines * GLIMPSE_WORDS * sizeof(uint32_t);
    uint32_t                 line[GLIMPSE_WORDS];
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   lines = NULL, words = NULL;

    for (uint32_t j = 0; j < GLIMPSE_WORDS; j++)
        line[j] = j == GLIMPSE_HEADER ? 0 : GLIMPSE_WORD(0u, j);
    ORDO_TRY(ordo_call_kernel(call, ATOMICS_MODULE, "self_test_glimpse", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, bytes, &lines));
    ORDO_TRY(ordo_call_scratch(call, GLIMPSE_REPORT * sizeof *report, &words));
    ORDO_TRY(ordo_call_fill(call, words, 0, GLIMPSE_REPORT * sizeof *report, 0));
    ORDO_TRY(ordo_call_write(call, lines, 0, line, sizeof line));
    for (size_t done = sizeof line; done < bytes; done *= 2) /* n_lines is a power of two */
        ORDO_TRY(ordo_call_copy(call, lines, 0, lines, done, done));
    for (int launch = 0; launch < (runs_few(call->dev) ? GLIMPSE_LAUNCHES_FEW : GLIMPSE_LAUNCHES); launch++)
        ORDO_TRY(
            ordo_call_launch_kernel(call, kernel, groups, group,
                                    ORDO_ARGS(ORDO_ARG(lines), ORDO_ARG(n_lines), ORDO_ARG(never), ORDO_ARG(words))));
    return ordo_call_read(call, words, 0, report, GLIMPSE_REPORT * sizeof *report);
}

static ordo_status test_glimpses(struct ordo_call *call, uint32_t group)
{
    const ordo_device *dev = call->dev;
    const uint32_t     units = ordo_device_facts(dev)->compute_units;
    const uint32_t     groups = runs_few(dev) ? CONTEND_GROUPS_FEW / 2 : 2 * units;
    uint32_t           n_lines = GLIMPSE_LINES_FEW, report[GLIMPSE_REPORT] = { 0 };

    while (!runs_few(dev) && n_lines * GLIMPSE_READERS < groups * group)
        n_lines *= 2;
    ORDO_TRY(ask_glimpses(call, group, groups, n_lines, report));
    if (report[GLIMPSE_BAD])
        return WRONG(
            call->dev,
            "%s: of %u reads that seemed whole %u were not; word %u was not of version %u (%u changes, %u seen "
            "to be torn)",
            ordo_device_facts(dev)->address_order ? "ordo_after" : "ordo_load_acquire and ordo_fence_acquire",
            report[GLIMPSE_GOOD] + report[GLIMPSE_BAD], report[GLIMPSE_BAD], report[GLIMPSE_BAD_WORD],
            report[GLIMPSE_BAD_VERSION], report[GLIMPSE_CHANGES], report[GLIMPSE_TORN]);
    if (!report[GLIMPSE_GOOD] || !report[GLIMPSE_CHANGES])
        return WRONG(call->dev, "words under a latch: %u changes and %u whole reads", report[GLIMPSE_CHANGES],
                     report[GLIMPSE_GOOD]);
    ordo_log(call->dev, ORDO_LOG_DEBUG, "words under a latch: %u changes, %u whole reads, %u seen to be torn",
             report[GLIMPSE_CHANGES], report[GLIMPSE_GOOD], report[GLIMPSE_TORN]);
    return ORDO_OK;
}

/* ---- atomics: a chain of groups ------------------------------------------------------------------------------ */

enum { CHAIN_GROUPS_MAX = 256 };

struct chain {
    uint32_t report[CHAIN_WORDS], payload[CHAIN_PAYLOAD], sums[CHAIN_GROUPS_MAX];
    uint64_t sums64[CHAIN_GROUPS_MAX];
};

static ordo_status ask_chain(struct ordo_call *call, uint32_t groups, uint32_t group, struct chain *c)
{
    const struct ordo_define defines[] = { { "GROUP_SIZE", group }, { NULL, 0 } };
    struct ordo_kernel      *kernel = NULL;
    cl_mem                   report = NULL, payload = NULL, sums = NULL, sums64 = NULL;

    for (uint32_t j = 0; j < CHAIN_PAYLOAD; j++)
        c->payload[j] = CHAIN_PAYLOAD_AFTER(UINT32_MAX, j);
    ORDO_TRY(ordo_call_kernel(call, ATOMICS_MODULE, "self_test_chain", defines, &kernel));
    ORDO_TRY(ordo_call_scratch(call, sizeof c->report, &report));
    ORDO_TRY(ordo_call_scratch(call, sizeof c->payload, &payload));
    ORDO_TRY(ordo_call_scratch(call, sizeof c->sums, &sums));
    ORDO_TRY(ordo_call_scratch(call, sizeof c->sums64, &sums64));
    ORDO_TRY(ordo_call_fill(call, report, 0, sizeof c->report, 0));
    ORDO_TRY(ordo_call_fill(call, sums, 0, sizeof c->sums, 0));
    ORDO_TRY(ordo_call_fill(call, sums64, 0, sizeof c->sums64, 0));
    ORDO_TRY(ordo_call_write(call, payload, 0, c->payload, sizeof c->payload));
    ORDO_TRY(ordo_call_launch_kernel(call, kernel, groups, group,
                                     ORDO_ARGS(ORDO_ARG(report), ORDO_ARG(payload), ORDO_ARG(sums), ORDO_ARG(sums64))));
    ORDO_TRY(ordo_call_read(call, report, 0, c->report, sizeof c->report));
    ORDO_TRY(ordo_call_read(call, payload, 0, c->payload, sizeof c->payload));
    ORDO_TRY(ordo_call_read(call, sums, 0, c->sums, sizeof c->sums));
    return ordo_call_read(call, sums64, 0, c->sums64, sizeof c->sums64);
}

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
        if (c->payload[j] != CHAIN_PAYLOAD_AFTER(groups - 1, j))
            return WRONG(dev, "a chain of %u work-groups left 0x%" PRIx32 " instead of 0x%" PRIx32, groups,
                         c->payload[j], (uint32_t) CHAIN_PAYLOAD_AFTER(groups - 1, j));

    const bool wide = ordo_device_facts(dev)->int64_atomics;
    for (uint32_t t = 0; t < groups; t++) {
        const uint32_t sum = (t + 1) * (t + 2) / 2;
        if (c->sums[t] != (CHAIN_FLAG | sum) || (wide && c->sums64[t] != (CHAIN_FLAG64 | sum)))
            return WRONG(dev,
                         "ordo_load_relaxed and ordo_store_relaxed: a running sum of %u passed as 0x%" PRIx32
                         " (0x%" PRIx64 " in 64 bits)",
                         sum, c->sums[t], c->sums64[t]);
    }
    return ORDO_OK;
}

/* Twice as many groups as compute units, so that some wait for others that began later elsewhere. */
static ordo_status test_chain(struct ordo_call *call, uint32_t group)
{
    struct chain   c;
    const uint32_t units = ordo_device_facts(call->dev)->compute_units;
    const uint32_t groups = units < 4 ? 8 : units < CHAIN_GROUPS_MAX / 2 ? 2 * units : CHAIN_GROUPS_MAX;
    memset(&c, 0, sizeof c);
    ORDO_TRY(ask_chain(call, groups, group, &c));
    return check_chain(call->dev, groups, &c);
}

static ordo_status test_atomics(struct ordo_call *call)
{
    const struct ordo_facts *f = ordo_device_facts(call->dev);
    const uint32_t           group = test_group(call->dev), groups = f->cpu ? 64 : 96;
    ORDO_TRY(test_updates(call, 32, group, groups * group));
    if (f->int64_atomics)
        ORDO_TRY(test_updates(call, 64, group, groups * group));
    ORDO_TRY(test_local(call, group));
    ORDO_TRY(test_peeks(call, group));
    ORDO_TRY(test_contention(call, group));
    if (f->atomics != ORDO_ATOMICS_LEGACY)
        ORDO_TRY(test_glimpses(call, group));
    return f->groups_progress ? test_chain(call, group) : ORDO_OK;
}

ordo_status ordo_self_test_atomics(ordo_device *dev)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    return ordo_call_end(&call, test_atomics(&call));
}
