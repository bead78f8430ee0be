/* SPDX-License-Identifier: Apache-2.0 */
/* Tests operations between lanes, that is work-items of a sub-group. The kernels are in
 * cl/primitive/self_test_lanes.cl. */
#include "self_test_run.h"

#define BUFFERS_MAX 4

static ordo_status enqueue(struct ordo_call *call, const struct ordo_launch *launch, int launches,
                           const struct ordo_test_buffer *buffers, size_t n, const cl_uint *numbers, size_t n_numbers)
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

ordo_status ordo_self_test_run(ordo_device *dev, struct ordo_launch launch, int launches,
                               const struct ordo_test_buffer *buffers, size_t n, const cl_uint *numbers,
                               size_t n_numbers)
{
    struct ordo_call call;
    ORDO_TRY(ordo_call_begin(&call, dev, NULL));
    return ordo_call_end(&call, enqueue(&call, &launch, launches, buffers, n, numbers, n_numbers));
}

uint32_t ordo_self_test_group(const ordo_device *dev)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const uint32_t           wanted = f->lanes != ORDO_LANES_ONE ? 2 * f->sub_group : f->cpu ? 4 : 64;
    return f->max_group < wanted ? f->max_group : wanted;
}

static struct ordo_launch lanes_launch(const char *kernel, size_t groups, uint32_t group, uint32_t team_width)
{
    return (struct ordo_launch) { "primitive/self_test_lanes.cl",
                                  kernel,
                                  groups,
                                  group,
                                  { { "GROUP_SIZE", group }, { "TEAM_WIDTH", team_width }, { NULL, 0 } } };
}

/* ---- lanes: known answers ------------------------------------------------------------------------------------ */

struct place {
    const uint32_t *team;
    const uint32_t *sub_group;
    uint32_t        width, lanes, lane, sub_lane, index;
};

typedef uint64_t answers[LANES_ANSWERS];

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

/* Fills `words` with random numbers for half of the sub-groups, and with edge cases for the others. */
static void lanes_words(const struct ordo_lanes_case *c, uint32_t lanes, uint32_t *words)
{
    uint64_t state = c->seed * 2 + 1;
    for (uint32_t i = 0; i < c->group * c->n_groups; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t x = (uint32_t) (state >> 32);
        switch (i / lanes % 6) {
        case 1:
            x = (x & 0xfffeu) | 0x5a5a0000u;
            break;
        case 2:
            x = (x & 0xffffu) | 1 | (x >> 16) % 3 * 0x00570000u;
            break;
        case 3:
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
    ORDO_TRY(ordo_self_test_run(
        dev, launch, 1, BUFFERS({ n * sizeof *words, NULL, words }, { n * sizeof(answers), got, NULL }), NO_NUMBERS));
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

#define GROUP_MAX 128 /* the largest size that ordo_self_test_group returns */

static ordo_status test_loop(ordo_device *dev, uint32_t group, uint32_t lanes)
{
    const struct ordo_launch launch = lanes_launch("self_test_loop", 1, group, lanes);
    uint32_t                 got[GROUP_MAX], want = 0;

    ORDO_TRY(ordo_self_test_run(dev, launch, 1, BUFFERS({ group * sizeof *got, got, NULL }), NUMBERS(LOOP_ROUNDS)));
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
    ORDO_TRY(ordo_self_test_run(dev, launch, 1, BUFFERS({ sizeof in, got, in }), NUMBERS(PHASES_PARTS, PHASES_WORDS)));
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
    const uint32_t         lanes = ordo_device_facts(dev)->sub_group, group = ordo_self_test_group(dev);
    struct ordo_lanes_case c = { .team_width = lanes, .group = group, .n_groups = 8, .seed = 1 };
    ORDO_TRY(test_loop(dev, group, lanes));
    ORDO_TRY(test_phases(dev, group, lanes));
    ORDO_TRY(ordo_self_test_lanes_case(dev, &c));
    c.team_width = 4;
    return lanes > 4 ? ordo_self_test_lanes_case(dev, &c) : ORDO_OK;
}
