/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of the device layer: runs the kernels of cl/primitive/self_test_lanes.cl and self_test_atomics.cl
 * and compares their answers with known ones. */
#include "self_test.h"

#include "shared/self_test.h"

#include <inttypes.h>
#include <stdlib.h>

#define LANES_MODULE   "primitive/self_test_lanes.cl"
#define ATOMICS_MODULE "primitive/self_test_atomics.cl"

/* On a dry-run device every answer is made up, and the test continues. */
#define WRONG(dev, ...) (ordo_is_dry_run(dev) ? ORDO_OK : ORDO_FAIL((dev), ORDO_SELF_TEST, __VA_ARGS__))

/* Returns an error if two numbers differ. The format says where. */
#define EXPECT(dev, got, want, format, ...)                                                                            \
    do {                                                                                                               \
        const uint64_t got_ = (got), want_ = (want);                                                                   \
        if (got_ != want_)                                                                                             \
            return WRONG((dev), format ": 0x%" PRIx64 " instead of 0x%" PRIx64, __VA_ARGS__, got_, want_);             \
    } while (0)

/* One buffer of a test kernel. */
struct buffer {
    size_t      bytes;
    void       *to;   /* receives the buffer after the launches; NULL: nothing does */
    const void *from; /* initial content; NULL: zeros */
};
#define BUFFERS_MAX 4

static ordo_status enqueue(struct ordo_call *call, const struct ordo_launch *launch, int launches,
                           const struct buffer *buffers, size_t n, const cl_uint *numbers, size_t n_numbers)
{
    cl_mem           mem[BUFFERS_MAX] = { NULL };
    struct ordo_args args = { .n = 0 };

    for (size_t i = 0; i < n; i++) {
        ORDO_TRY(ordo_call_scratch(call, buffers[i].bytes, &mem[i]));
        if (buffers[i].from)
            ORDO_TRY(ordo_call_write(call, mem[i], 0, buffers[i].from, buffers[i].bytes));
        else
            ORDO_TRY(ordo_call_fill(call, mem[i], 0, buffers[i].bytes, 0));
        ORDO_ADD(&args, ORDO_ARG(mem[i]));
    }
    for (size_t i = 0; i < n_numbers; i++)
        ORDO_ADD(&args, ORDO_ARG(numbers[i]));
    for (int i = 0; i < launches; i++)
        ORDO_TRY(ordo_call_launch(call, launch, &args));
    for (size_t i = 0; i < n; i++)
        if (buffers[i].to)
            ORDO_TRY(ordo_call_read(call, mem[i], 0, buffers[i].to, buffers[i].bytes));
    return ORDO_OK;
}

/* Launches a kernel whose arguments are the buffers and then the numbers. */
static ordo_status run_kernel(ordo_device *dev, struct ordo_launch launch, int launches, const struct buffer *buffers,
                              size_t n, const cl_uint *numbers, size_t n_numbers)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    return ordo_call_end(&call, enqueue(&call, &launch, launches, buffers, n, numbers, n_numbers));
}
#define LIST(type, ...) ((const type[]) { __VA_ARGS__ }), sizeof((const type[]) { __VA_ARGS__ }) / sizeof(type)
#define BUFFERS(...)    LIST(struct buffer, __VA_ARGS__)
#define NUMBERS(...)    LIST(cl_uint, __VA_ARGS__)
#define NO_NUMBERS      NULL, 0

/* Work-items of a group: a few sub-groups, or a few work-items on a device without lanes. */
static uint32_t test_group(const ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const uint32_t           wanted = f->lanes != ORDO_LANES_ONE ? 2 * f->sub_group : f->cpu ? 4 : 64;
    return f->max_group < wanted ? f->max_group : wanted;
}

static struct ordo_launch lanes_launch(const char *kernel, size_t groups, uint32_t group, uint32_t team_width)
{
    return (struct ordo_launch) {
        LANES_MODULE, kernel, groups, group, { { "GROUP_SIZE", group }, { "TEAM_WIDTH", team_width }, { NULL, 0 } }
    };
}

static struct ordo_launch atomics_launch(const char *kernel, size_t groups, uint32_t group)
{
    return (struct ordo_launch) { ATOMICS_MODULE, kernel, groups, group, { { "GROUP_SIZE", group }, { NULL, 0 } } };
}

/* ---- lanes: known answers ------------------------------------------------------------------------------------ */

/* A work-item in its team and its sub-group. */
struct place {
    const uint32_t *team;      /* input words of the team's lanes */
    const uint32_t *sub_group; /* input words of the sub-group's lanes */
    uint32_t        width, lanes, lane, sub_lane, index;
};

typedef uint64_t answers[LANES_ANSWERS];

/* The lanes of the team that agree with this lane in the low bits of the digit. */
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
    uint64_t holding = 0;
    for (uint32_t l = 0; l < p->width; l++)
        holding |= (uint64_t) LANES_HOLDS(p->team[l]) << l;
    const uint64_t some = holding | (uint64_t) 1 << p->lane;
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

/* A lane's input word, or the word spread over 64 bits. Answers for 64 bits follow those for 32 bits. */
static uint64_t operand(const struct place *p, uint32_t lane, bool wide)
{
    return wide ? LANES_WIDE(p->team[lane]) : p->team[lane];
}

static void want_shuffles(const struct place *p, bool wide, answers want)
{
    want[LANES_SHUFFLE + wide] = operand(p, LANES_PICK(p->team[p->lane]) % p->width, wide);
    want[LANES_BCAST + wide] = operand(p, p->index % (p->width + 1) % p->width, wide);
    for (uint32_t by = 1; by < p->width; by++) {
        const uint64_t across = operand(p, p->lane ^ by, wide);
        const uint64_t below = operand(p, p->lane >= by ? p->lane - by : p->lane, wide);
        want[LANES_SHUFFLE_XOR + wide] = LANES_JOIN(want[LANES_SHUFFLE_XOR + wide], across);
        want[LANES_SHUFFLE_UP + wide] = LANES_JOIN(want[LANES_SHUFFLE_UP + wide], below);
    }
}

static void want_scans(const struct place *p, bool wide, answers want)
{
    const uint64_t bits = wide ? UINT64_MAX : UINT32_MAX;
    uint64_t       sum = 0, before = 0, greatest = 0;
    for (uint32_t l = 0; l < p->width; l++) {
        const uint64_t x = operand(p, l, wide);
        before = l == p->lane ? sum : before;
        sum += x;
        greatest = x > greatest ? x : greatest;
    }
    want[LANES_SCAN_EXCLUSIVE + wide] = before & bits;
    want[LANES_SCAN_INCLUSIVE + wide] = (before + operand(p, p->lane, wide)) & bits;
    want[LANES_REDUCE_ADD + wide] = sum & bits;
    want[LANES_REDUCE_MAX + wide] = greatest;
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
    for (int wide = 0; wide < 2; wide++) {
        want_shuffles(p, wide, want);
        want_scans(p, wide, want);
    }
    want[LANES_MATCH0] = peers(p, 0);
    want[LANES_MATCH2] = peers(p, 2);
    want[LANES_MATCH8] = peers(p, 8);
    want_turns(p, want);
}

/* ---- lanes: running ------------------------------------------------------------------------------------------ */

/* Random words; some sub-groups get a pattern. */
static void lanes_words(const struct ordo_lanes_case *c, uint32_t lanes, uint32_t *words)
{
    uint64_t state = c->seed * 2 + 1;
    for (uint32_t i = 0; i < c->group * c->n_groups; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t x = (uint32_t) (state >> 32);
        switch (i / lanes % 6) {
        case 1: /* no lane holds, all digits are equal */
            x = (x & 0xfffeu) | 0x5a5a0000u;
            break;
        case 2: /* all lanes hold, there are three digits */
            x = (x & 0xffffu) | 1 | (x >> 16) % 3 * 0x00570000u;
            break;
        case 3: /* one lane holds, all digits differ */
            x = (x & 0xfffeu) | (i % lanes == lanes - 1) | i % lanes << 16;
            break;
        default:
            break;
        }
        words[i] = x;
    }
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
            EXPECT(dev, got[(size_t) a * n + i], want[a],
                   "%s, teams of %u in sub-groups of %u, groups of %u, work-item %u", names[a], c->team_width, lanes,
                   c->group, i);
    }
    return ORDO_OK;
}

static ordo_status test_lanes(ordo_device *dev, const struct ordo_lanes_case *c, uint32_t *words, uint64_t *got)
{
    const size_t             n = (size_t) c->group * c->n_groups;
    const struct ordo_launch launch = lanes_launch("self_test_lanes", c->n_groups, c->group, c->team_width);

    lanes_words(c, ordo_device_facts(dev)->sub_group, words);
    ORDO_TRY(run_kernel(dev, launch, 1, BUFFERS({ n * sizeof *words, NULL, words }, { n * sizeof(answers), got, NULL }),
                        NO_NUMBERS));
    return check_lanes(dev, c, words, got);
}

ordo_status ordo_self_test_lanes_case(ordo_device *dev, const struct ordo_lanes_case *c)
{
    const size_t      n = (size_t) c->group * c->n_groups;
    uint32_t         *words = calloc(n, sizeof *words);
    uint64_t         *got = calloc(n, sizeof(answers));
    const ordo_status status =
        words && got ? test_lanes(dev, c, words, got) : ORDO_FAIL(dev, ORDO_NO_HOST_MEMORY, "the self-test");
    free(words);
    free(got);
    return status;
}

/* ---- loops and phases ---------------------------------------------------------------------------------------- */

#define GROUP_MAX 128 /* of test_group */

/* Finds a driver that ends a long loop early. A work-item of a CPU loops over thousands of elements. */
static ordo_status test_loop(ordo_device *dev, uint32_t group, uint32_t lanes)
{
    const struct ordo_launch launch = lanes_launch("self_test_loop", 1, group, lanes);
    uint32_t                 got[GROUP_MAX], want = 0;

    ORDO_TRY(run_kernel(dev, launch, 1, BUFFERS({ group * sizeof *got, got, NULL }), NUMBERS(LOOP_ROUNDS)));
    for (uint32_t round = 0; round < LOOP_ROUNDS; round++)
        want = LOOP_ROUND(want);
    for (uint32_t i = 0; i < group; i++)
        EXPECT(dev, got[i], want, "a loop of %u rounds, which the driver may have ended too early",
               (unsigned) LOOP_ROUNDS);
    return ORDO_OK;
}

static ordo_status test_phases(ordo_device *dev, uint32_t group, uint32_t lanes)
{
    const struct ordo_launch launch = lanes_launch("self_test_phases", 1, group, lanes);
    uint32_t                 in[PHASES_PARTS * PHASES_WORDS], got[PHASES_PARTS * PHASES_WORDS];

    for (uint32_t i = 0; i < PHASES_PARTS * PHASES_WORDS; i++)
        in[i] = atomics_mark(i + 1);
    ORDO_TRY(run_kernel(dev, launch, 1, BUFFERS({ sizeof in, got, in }), NUMBERS(PHASES_PARTS, PHASES_WORDS)));
    for (uint32_t i = 0; i < PHASES_PARTS * PHASES_WORDS; i++) {
        const uint32_t part = i / PHASES_WORDS, key = i % PHASES_WORDS % PHASES_KEYS;
        uint32_t       want = UINT32_MAX;
        for (uint32_t w = key; w < PHASES_WORDS; w += PHASES_KEYS) {
            const uint32_t word = in[part * PHASES_WORDS + w];
            want = word < want ? word : want;
        }
        EXPECT(dev, got[i], want, "minima that a group of %u folds in phases, word %u", group, i);
    }
    return ORDO_OK;
}

ordo_status ordo_self_test_lanes(ordo_device *dev)
{
    const uint32_t         lanes = ordo_device_facts(dev)->sub_group, group = test_group(dev);
    struct ordo_lanes_case c = { .team_width = lanes, .group = group, .n_groups = 8, .seed = 1 };
    ORDO_TRY(test_loop(dev, group, lanes));
    ORDO_TRY(test_phases(dev, group, lanes));
    ORDO_TRY(ordo_self_test_lanes_case(dev, &c));
    c.team_width = 4;
    return lanes > 4 ? ordo_self_test_lanes_case(dev, &c) : ORDO_OK;
}

/* ---- atomics: updates ---------------------------------------------------------------------------------------- */

/* One run of the updates, in words of 32 or 64 bits. */
struct updates {
    ordo_device *dev;
    uint32_t     bits, group, n;
    const char  *suffix;                /* of the functions' names */
    uint64_t     spread;                /* see ATOMICS_SPREAD64 */
    uint64_t    *words, *own, *answers; /* room for ATOMICS_WORDS; n; ATOMICS_ANSWERS * n words of 64 bits */
    bool        *taken;                 /* n + 1 */
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

/* atomics_mark(i) in as many bits as the words have. */
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

/* Checks that `seen` is one of 0 .. n (spread) and that no other work-item saw it. */
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

/* Each of 0 .. n is the answer of one work-item, or the final word. */
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
    ORDO_TRY(run_kernel(dev, launch, 1,
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

    ORDO_TRY(run_kernel(dev, launch, 1, BUFFERS({ sizeof got, got, NULL }), NO_NUMBERS));
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

    ORDO_TRY(run_kernel(dev, launch, 1, BUFFERS({ bytes, got[0], NULL }, { bytes, got[1], NULL }), NUMBERS(0)));

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
    uint32_t words[CONTEND_WORDS], *balances; /* CONTEND_KINDS * n */
    uint64_t words64[CONTEND_WORDS64];
};

/* Whether the device runs only a few groups concurrently. They may take turns and never collide. */
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

/* Limit of the time from the first launch, whose kernel may have to be compiled, to the last. The launches take a ms
 * or two on an idle CPU. On a busy one threads may have to take turns. */
#define CONTENTION_MS 2000

/* Launches more rounds each time until the work-items have collided often enough. The last launches are so long that
 * the system runs each thread on its own processor. */
static ordo_status contention(ordo_device *dev, struct contention *q)
{
    const struct ordo_launch launch = atomics_launch("self_test_contend", q->n / q->group, q->group);
    const uint32_t           kinds = ordo_device_facts(dev)->int64_atomics ? CONTEND_KINDS : CONTEND_ADD64;
    double                   start = 0;

    for (uint32_t rounds = CONTEND_ROUNDS;; rounds = rounds < CONTEND_ROUNDS_MAX ? 4 * rounds : rounds) {
        bool collided = true;
        ORDO_TRY(run_kernel(dev, launch, 1,
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
        return ORDO_OK; /* one thread, or a simulator: no collisions */
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
    ORDO_TRY(run_kernel(dev, launch, few ? OPTIMISTIC_LAUNCHES_FEW : OPTIMISTIC_LAUNCHES,
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

/* Launches twice as many groups as compute units, so that some groups wait for others that began later elsewhere. */
static ordo_status test_chain(ordo_device *dev, uint32_t group)
{
    const uint32_t           units = ordo_device_facts(dev)->compute_units;
    const uint32_t           groups = units < 4 ? 8 : units < CHAIN_GROUPS_MAX / 2 ? 2 * units : CHAIN_GROUPS_MAX;
    const struct ordo_launch launch = atomics_launch("self_test_chain", groups, group);
    struct chain             c;
    memset(&c, 0, sizeof c);
    for (uint32_t j = 0; j < CHAIN_PAYLOAD; j++)
        c.payload[j] = CHAIN_PAYLOAD_AFTER(UINT32_MAX, j);
    ORDO_TRY(run_kernel(dev, launch, 1,
                        BUFFERS({ sizeof c.report, c.report, NULL }, { sizeof c.payload, c.payload, c.payload },
                                { sizeof c.sums, c.sums, NULL }, { sizeof c.sums64, c.sums64, NULL }),
                        NO_NUMBERS));
    return check_chain(dev, groups, &c);
}

ordo_status ordo_self_test_atomics(ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const uint32_t           group = test_group(dev), groups = f->cpu ? 64 : 96;
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
