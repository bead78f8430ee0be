/* SPDX-License-Identifier: Apache-2.0 */
/* Injects miscompiles: kernels with an error as a compiler might make it, read through ORDO_CL_DIR. Opening the device
 * must find each one every time: it chooses a safer variant with right results, or returns an error, on a busy machine
 * too. First each is shown to have an effect: without the self-test, results are wrong.
 *
 * ORDO_TEST_PLANTS=all tries all of them, or those with this text in their name, with every mask; else a few.
 * ORDO_TEST_TIMES=number of openings of each (default 3). On the one device that ORDO_DEVICE selects.
 *
 * x86 cannot show the effect of a missing fence, acquire or release, because its loads and stores are ordered, also if
 * it runs AMD's code (tests/amd). Such errors exist in NVIDIA's spelling only. PoCL cannot show the effect of a missing
 * team_sync in teams of one, or of local updates that are not atomic, because it runs the work-items of a group one
 * after another. LANES_SYNC and the counts of local updates in the self-test look for these. */
#define _DEFAULT_SOURCE
#include "tests/support/overlay.h"
#include "tests/support/support.h"
#include "tests/support/watchdog.h"

#include "runtime/runtime.h"

#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the errors -------------------------------------------------------------------------------------------------- */

enum {
    FEW = 1,        /* one of the few that are always tried */
    CONCURRENT = 2, /* has an effect in concurrent operations */
    MANY = 4,       /* has an effect with more than a million elements */
    TEAM = 8,       /* the body is for groups of one sub-group, not of one work-item */
    ON_CPU = 16,    /* in code for CPUs */
    IN_PTX = 32,    /* in code for NVIDIA's compiler */
    IN_AMD = 64,    /* in code for AMD's compiler */
    IN_WAVE64 = 128 /* and in waves of 64 */
};

struct edit {
    const char *file, *from, *to;
};

/* `direct`: a kernel of `groups` work-groups whose body leaves `want` in words[0] if all is well, for functions that
 * the public calls use seldom or never on the devices here. `edit`: an entry for each spelling of the edited text. */
struct plant {
    const char *name;
    struct edit edit[6];
    const char *masks;   /* masks with which it has an effect, ';' between them */
    const char *profile; /* ORDO_PROFILE's text; NULL: none */
    unsigned    kind;
    struct {
        const char *body; /* NULL: none */
        uint32_t    want, groups;
    } direct;
};

#define LANES   "device/team.cl"
#define ATOMIC  "device/atomic.cl"
#define ONE     "lanes=one;lanes=one,cpu=0"
#define ANY     ";atomics=legacy;int64_atomics=0;cpu=0"
#define WIDE    ";atomics=legacy;cpu=0"
#define BY_ONE  "cpu=0"
#define BY_LOOK "cpu=0,progress=1;cpu=0,progress=1,int64_atomics=0"

#define HALVES "volatile __global uint *piece = (volatile __global uint *) p;"
#define SPLIT_STORE                                                                                                    \
    "{ " HALVES " ordo_store_relaxed(piece, (uint) v); ordo_store_relaxed(piece + 1, (uint) (v >> 32)); return; }"
#define SPLIT_LOAD                                                                                                     \
    "{ " HALVES " const uint low = ordo_load_relaxed(piece); return low | (ulong) ordo_load_relaxed(piece + 1) << "    \
    "32; }"

/* Groups in the order of their tickets. Each waits for a bounded time until words[2] is its ticket, and finds in
 * `wide` the words of the group before. */
#define TURN(load, then)                                                                                               \
    "const uint ticket = ordo_add(words + 1, 1); uint left = 1 << 22; while (left > 0 && " load                        \
    "(words + 2) != ticket) left--; " then "(words + 2, ticket + 1);"
#define HAND_ON                                                                                                        \
    "for (uint j = 0; j < 8; j++) if (wide[j] != ticket) (void) ordo_add(words, 1); "                                  \
    "for (uint j = 0; j < 8; j++) wide[j] = ticket + 1; "

static const struct plant plants[] = {
    /* lanes */
    { "a shuffle that gives another value",
      { { LANES, "uint team_shuffle(uint x, uint lane)\n{\n    return x;",
          "uint team_shuffle(uint x, uint lane)\n{\n    return x ^ 1;" } },
      ONE,
      .kind = FEW,
      .direct = { "words[0] = team_bcast(7, 0);", 7, 1 } },
    { "a shuffle of 64 bits that moves half of them",
      { { LANES, "ulong team_shuffle64(ulong x, uint lane)\n{\n    return x;",
          "ulong team_shuffle64(ulong x, uint lane)\n{\n    return (uint) x;" } },
      ONE,
      .direct = { "words[0] = (uint) (team_bcast64(7ul << 32, 0) >> 32);", 7, 1 } },
    { "a ballot that forgets a lane",
      { { LANES, "#if TEAM_WIDTH == 1\n    return p;",
          "#if TEAM_WIDTH == 1\n    return p && get_global_id(0) % 4 != 3;" } },
      ONE,
      .direct = { "if (get_global_id(0) == 3) words[0] = (uint) team_ballot(true);", 1, 4 } },
    { "a team's scan, off by one",
      { { LANES, "return team_scan_inclusive_add(x) - x;", "return team_scan_inclusive_add(x);" } },
      ONE,
      .direct = { "words[0] = team_scan_exclusive_add(9);", 0, 1 } },
    { "a popcount that leaves out a bit",
      { { LANES, "    return popcount(lanes);", "    return popcount(lanes & 0xfffffffeu);" } },
      ONE,
      .direct = { "words[0] = mask_count(1);", 1, 1 } },
    { "a clz that is one too large",
      { { LANES, "    return 31 - clz(lanes);", "    return 31 - (clz(lanes) + 1);" } },
      ONE,
      .direct = { "words[0] = last_lane(8);", 3, 1 } },
    { "a match that finds nobody",
      { { LANES, "#if TEAM_WIDTH == 1\n    return 1;", "#if TEAM_WIDTH == 1\n    return 0;" } },
      ONE,
      .direct = { "words[0] = (uint) team_match(5, 4);", 1, 1 } },
    { "turns that nobody gets",
      { { LANES, "#define TEAM_MORE_(left) ((left) != 0)", "#define TEAM_MORE_(left) ((left) > 1)" } },
      ONE,
      .direct = { "words[0] = 0; TEAM_FOR_EACH (owner, true) words[0]++;", 1, 1 } },
    { "a shuffle of Khronos sub-groups that gives a neighbour's value",
      { { LANES, "sub_group_shuffle(x, team_base_() + lane % TEAM_WIDTH)",
          "sub_group_shuffle(x, team_base_() + (lane ^ 1) % TEAM_WIDTH)" } },
      "lanes=khr,cpu=0" },
    { "a ballot of Khronos sub-groups that forgets a lane",
      { { LANES, "return sub_group_ballot(p).x;", "return sub_group_ballot(p).x & ~8u;" },
        { LANES, "return sub_group_reduce_add(p ?", "return sub_group_reduce_add(p && subgroup_lane() != 3 ?" } },
      "lanes=khr,cpu=0" },

    { "a shuffle of NVIDIA's that gives a neighbour's value",
      { { LANES, "    TEAM_SHUFFLE_(\"idx\", TEAM_SEGMENT_);",
          "    by ^= 1;\n    TEAM_SHUFFLE_(\"idx\", TEAM_SEGMENT_);" } },
      "",
      .kind = TEAM | IN_PTX,
      .direct = { "const uint x = team_bcast(team_lane(), 6); if (team_lane() == 0) words[0] = x;", 6, 1 } },
    { "a ballot of NVIDIA's that forgets a lane",
      { { LANES, "vote.sync.ballot.b32 %0, holds, 0xffffffff;",
          "vote.sync.ballot.b32 %0, holds, 0xffffffff;\\n\\tand.b32 %0, %0, 0xfffffff7;" } },
      "",
      .kind = TEAM | IN_PTX,
      .direct = { "const uint x = (uint) team_ballot(true); if (team_lane() == 0) words[0] = x;", UINT32_MAX, 1 } },
    { "a match of NVIDIA's that counts the others",
      { { LANES, "@!set not.b32 %0, %0;", "" } },
      "",
      .kind = TEAM | IN_PTX,
      .direct = { "const uint x = (uint) team_match(team_lane() % 2, 1); if (team_lane() == 0) words[0] = x;",
                  0x55555555, 1 } },
    { "a team's scan by NVIDIA's shuffles that adds lanes that are not there",
      { { LANES, "@there add.u32 %0, %0, below;", "add.u32 %0, %0, below;" } },
      "",
      .kind = TEAM | IN_PTX,
      .direct = { "const uint x = team_scan_inclusive_add(1); if (team_lane() == 5) words[0] = x;", 6, 1 } },

    { "a shuffle of AMD's that gives a neighbour's value",
      { { LANES, "(team_base_() + lane % TEAM_WIDTH) * 4", "(team_base_() + (lane ^ 1) % TEAM_WIDTH) * 4" } },
      "",
      .kind = TEAM | IN_AMD,
      .direct = { "const uint x = team_bcast(team_lane(), 6); if (team_lane() == 0) words[0] = x;", 6, 1 } },
    { "a ballot of AMD's that forgets a lane",
      { { LANES, "return (subgroup_mask) SUBGROUP_BALLOT_(p);",
          "return (subgroup_mask) SUBGROUP_BALLOT_(p) & ~(subgroup_mask) 8;" } },
      "",
      .kind = TEAM | IN_AMD,
      .direct = { "const uint x = (uint) team_ballot(true); if (team_lane() == 0) words[0] = x;", UINT32_MAX, 1 } },
    { "a ballot of AMD's that forgets the upper half of a wave",
      { { LANES, "return (subgroup_mask) SUBGROUP_BALLOT_(p);",
          "return (subgroup_mask) (uint) SUBGROUP_BALLOT_(p);" } },
      "",
      .kind = TEAM | IN_AMD | IN_WAVE64,
      .direct = { "const uint x = (uint) (team_ballot(true) >> (TEAM_WIDTH / 2)); if (team_lane() == 0) words[0] = x;",
                  UINT32_MAX, 1 } },
    { "a lane's number of AMD's that is taken of half a wave",
      { { LANES, "return (uint) get_local_id(0) % ORDO_SUBGROUP;",
          "return (uint) get_local_id(0) % (ORDO_SUBGROUP / 2);" } },
      "",
      .kind = TEAM | IN_AMD,
      .direct = { "if (subgroup_lane() == 0) (void) ordo_add(words, 1);", 1, 1 } },

    /* atomics */
    { "an addition that adds too much",
      { { ATOMIC, "return atomic_add(p, v);", "return atomic_add(p, v + 1);" } },
      ANY,
      .kind = CONCURRENT,
      .direct = { "words[0] = 0; (void) ordo_add(words, 1);", 1, 1 } },
    { "an addition that loses updates",
      { { ATOMIC, "return atomic_add(p, v);", "const uint was = *p;\n    *p = was + v;\n    return was;" } },
      ANY,
      .direct = { "for (uint k = 0; k < 100000; k++) (void) ordo_add(words, 1);", 6400000, 64 } },
    { "a compare and swap that always reports success",
      { { ATOMIC, "return atomic_cmpxchg(p, expected, desired);",
          "(void) atomic_cmpxchg(p, expected, desired);\n    return expected;" } },
      ANY,
      .kind = FEW,
      .direct = { "words[0] = 5; words[0] = ordo_cas(words, 4, 6);", 5, 1 } },
    { "a compare and swap that swaps in any case",
      { { ATOMIC, "return atomic_cmpxchg(p, expected, desired);", "return atomic_xchg(p, desired);" } },
      ANY,
      .direct = { "words[0] = 5; (void) ordo_cas(words, 4, 6);", 5, 1 } },
    { "a compare and swap in two steps",
      { { ATOMIC, "return atomic_cmpxchg(p, expected, desired);",
          "const uint was = *p;\n    if (was == expected)\n        *p = desired;\n    return was;" } },
      ANY,
      .direct = { "for (uint k = 0; k < 50000;) { const uint was = ordo_load_relaxed(words); k += ordo_cas(words, was, "
                  "was + 1) == "
                  "was; }",
                  3200000, 64 } },
    { "an exchange in two steps",
      { { ATOMIC, "return atomic_xchg(p, v);", "const uint was = *p;\n    *p = v;\n    return was;" } },
      ANY,
      .direct = { "uint sum = 0; for (uint k = 0; k < 100000; k++) sum += k - ordo_exchange(words + 1, k); (void) "
                  "atomic_add(words, sum); "
                  "if (atomic_inc(words + 2) == 63) words[0] -= words[1];",
                  0, 64 } },
    { "a maximum of the lower half",
      { { ATOMIC, "return atomic_max(p, v);", "return atomic_max(p, v & 0xffffu);" } },
      ANY,
      .direct = { "words[0] = 1; (void) ordo_max(words, 0x50000);", 0x50000, 1 } },
    { "an or that turns bits off",
      { { ATOMIC, "return atomic_or(p, v);", "return atomic_xor(p, v);" } },
      ANY,
      .direct = { "words[0] = 1; (void) ordo_or(words, 3);", 3, 1 } },
    { "an addition of 64 bits, split in two",
      { { ATOMIC, "return atom_add(p, v);",
          HALVES
          "\n    const uint low = atomic_add(piece, (uint) v), high = atomic_add(piece + 1, (uint) (v >> 32));\n  "
          "  return low | (ulong) high << 32;" } },
      WIDE,
      .kind = FEW,
      .direct = { "wide[0] = 0xffffffff; (void) ordo_add64(wide, 1); words[0] = (uint) (wide[0] >> 32);", 1, 1 } },
    { "a maximum of 64 bits by their halves",
      { { ATOMIC, "return atom_max(p, v);",
          HALVES "\n    (void) atomic_max(piece, (uint) v);\n    (void) atomic_max(piece + 1, (uint) (v >> 32));\n    "
                 "return 0;" } },
      WIDE,
      .direct = { "wide[0] = 5; (void) ordo_max64(wide, 1ul << 32); words[0] = (uint) wide[0];", 0, 1 } },
    { "a compare and swap of 64 bits that looks at the lower half",
      { { ATOMIC, "return atom_cmpxchg(p, expected, desired);",
          "const ulong was = *p;\n    return atom_cmpxchg(p, (uint) was == (uint) expected ? was : expected, "
          "desired);" } },
      WIDE,
      .direct = { "wide[0] = 1ul << 32 | 5; (void) ordo_cas64(wide, 5, 6); words[0] = (uint) wide[0];", 5, 1 } },
    { "loads and stores of 64 bits, split in two",
      { { ATOMIC,
          "    atomic_store_explicit((volatile __global atomic_ulong *) p, v, memory_order_relaxed, "
          "memory_scope_device);",
          SPLIT_STORE },
        { ATOMIC,
          "    return atomic_load_explicit((volatile __global atomic_ulong *) p, memory_order_relaxed, "
          "memory_scope_device);",
          SPLIT_LOAD },
        { ATOMIC, "    (void) atom_xchg(p, v);", SPLIT_STORE },
        { ATOMIC, "    return atom_or(p, 0ul);", SPLIT_LOAD },
        { ATOMIC, "    __asm__ volatile(\"st.relaxed.gpu.global.u64 [%0], %1;\" ::\"l\"(p), \"l\"(v) : \"memory\");",
          SPLIT_STORE },
        { ATOMIC, "    ulong v;\n    __asm__ volatile(\"ld.relaxed.gpu.global.u64 %0, [%1];\"",
          "    " SPLIT_LOAD "\n    ulong v;\n    __asm__ volatile(\"ld.relaxed.gpu.global.u64 %0, [%1];\"" } },
      WIDE,
      .direct = { "const uint i = (uint) get_global_id(0) + 1; for (uint k = 0; k < 50000; k++) { "
                  "ordo_store_relaxed64(wide, "
                  "(ulong) i << 32 | i); "
                  "const ulong w = ordo_load_relaxed64(wide); if ((uint) w != (uint) (w >> 32)) (void) "
                  "atomic_inc(words); }",
                  0, 64 } },
    { "words of 16 bytes read in another order",
      { { ATOMIC, "    return *(volatile __global const uint4 *) p;",
          "    const uint4 four = *(volatile __global const uint4 *) p;\n    return four.yxzw;" },
        { ATOMIC, ": \"=r\"(v.x), \"=r\"(v.y), \"=r\"(v.z), \"=r\"(v.w)",
          ": \"=r\"(v.y), \"=r\"(v.x), \"=r\"(v.z), \"=r\"(v.w)" } },
      ANY,
      .kind = CONCURRENT,
      .direct = { "words[4] = 1; words[5] = 2; words[0] = ordo_load_uncached128(words + 4).x;", 1, 1 } },
    { "an addition in local memory that adds too much",
      { { ATOMIC, "uint ordo_local_add(volatile __local uint *p, uint v)\n{\n    return atomic_add(p, v);",
          "uint ordo_local_add(volatile __local uint *p, uint v)\n{\n    return atomic_add(p, v + 1);" } },
      BY_ONE,
      .direct = { "box = 0; (void) ordo_local_add(&box, 1); words[0] = box;", 1, 1 } },
    { "an addition in local memory that gives the sum",
      { { ATOMIC, "uint ordo_local_add(volatile __local uint *p, uint v)\n{\n    return atomic_add(p, v);",
          "uint ordo_local_add(volatile __local uint *p, uint v)\n{\n    return atomic_add(p, v) + v;" } },
      ANY,
      .direct = { "box = 0; words[0] = ordo_local_add(&box, 1);", 0, 1 } },
    { "a load of NVIDIA's that is answered from the first-level cache",
      { { ATOMIC, "ld.relaxed.gpu.global.u32 %0, [%1];", "ld.global.ca.u32 %0, [%1];" } },
      "",
      .kind = IN_PTX,
      .direct = { TURN("ordo_load_relaxed", "if (left == 0) (void) ordo_add(words, 1); ordo_store_relaxed"), 0, 256 } },
    { "an acquire of NVIDIA's that orders nothing",
      { { ATOMIC, "ld.acquire.gpu.global.u32 %0, [%1];", "ld.relaxed.gpu.global.u32 %0, [%1];" } },
      "",
      .kind = IN_PTX,
      .direct = { TURN("ordo_load_acquire", HAND_ON "ordo_store_release"), 0, 1024 } },
    { "a fence of NVIDIA's that is left out",
      { { ATOMIC, "\"fence.acq_rel.gpu;\"", "\"\"" } },
      "",
      .kind = IN_PTX,
      .direct = { TURN("ordo_load_relaxed", "ordo_fence_device(); " HAND_ON "ordo_fence_device(); ordo_store_relaxed"),
                  0, 1024 } },
    { "barriers that are left out",
      { { "device/compiler.cl", "#pragma once", "#pragma once\n#define barrier(flags) ((void) 0)" } },
      BY_ONE,
      .kind = FEW },

    /* kernels */
    { "a sort that moves values along with wrong keys, by chunks",
      { { "primitive/sort_chunked.cl", "to_values[to] = from_values[e];", "to_values[to] = from_values[e / 2];" } },
      "",
      .kind = ON_CPU },
    { "a sort that leaves out a digit's bit",
      { { "group/rank.cl", "const uint      below = mask_count(peers & team_lanes_below());",
          "const uint      below = 0 * mask_count(peers & team_lanes_below()) + (digit == 5 && before > 0);" } },
      BY_ONE },
    { "a scan, off by one",
      { { "primitive/scan.cl", "fold_head(x) ? FOLD_IDENTITY : fold_value(before));\n        before = fold(before, x);",
          "fold_value(fold(before, x)));\n        before = fold(before, x);" },
        { "primitive/scan.cl", "const ordo_key exclusive = fold_head(x) ? FOLD_IDENTITY : fold_value(before);",
          "const ordo_key exclusive = fold_value(upto);" } },
      ";cpu=0",
      .kind = FEW },
    { "a search that takes equal keys for smaller ones",
      { { "group/search.cl", "return key_before(key, query);", "return key_upto(key, query);" },
        { "group/search.cl", "piece_sum(piece < query)", "piece_sum(piece <= query)" } },
      ";cpu=0" },
    { "a look-back that loses a bit",
      { { "group/lookback.cl", "(lookback_word) (fold_value(item) >> (w * LOOKBACK_PAYLOAD_BITS));",
          "(lookback_word) ((fold_value(item) & ~(ordo_key) 1) >> (w * LOOKBACK_PAYLOAD_BITS));" } },
      BY_LOOK,
      .profile = "scan.method=0 scan.group=64 scan.items=8" },
    { "a sort's look-back that forgets a tile",
      { { "primitive/sort_onesweep.cl", "look->sum += word[i] & SORT_COUNT_MASK;",
          "look->sum += look->at == 3 ? 0 : word[i] & SORT_COUNT_MASK;" } },
      BY_LOOK,
      .profile = "sort.method=0 sort.merged=0" },
    { "loops that end after 65535 rounds",
      { { "primitive/self_test_lanes.cl", "round < rounds", "round < min(rounds, 65535u)" },
        { "primitive/sort_chunked.cl", "i < RANK_RADIX * c.chunks", "i < min(RANK_RADIX * c.chunks, 65535u)" } },
      "",
      .kind = MANY | ON_CPU },
};

/* ---- injecting an error ------------------------------------------------------------------------------------------ */

#define DIRECT_FILE "planted.cl"

/* The kernel that is run directly and, unless `clean`, the error. */
static void plant(const struct plant *p, bool clean, struct overlay *o)
{
    char direct[2048];

    *o = overlay_begin();
    (void) snprintf(direct, sizeof direct,
                    "#include \"device/team.cl\"\n#include \"device/atomic.cl\"\n"
                    "ORDO_KERNEL(PLANTED_GROUP) void planted(__global uint *words, __global ulong *wide)\n"
                    "{\n    __local uint box;\n    box = 0;\n%s\n}\n",
                    p->direct.body ? p->direct.body : "");
    overlay_write(o, DIRECT_FILE, direct);
    for (size_t i = 0; !clean && i < LENGTH(p->edit) && p->edit[i].file; i++)
        overlay_edit(o, p->edit[i].file, p->edit[i].from, p->edit[i].to);
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

/* Results of the public calls, compared with the right ones. */
struct work {
    ordo_device *dev;
    unsigned     kind;
    size_t       n;
    uint32_t    *keys, *values, *out, *queries;
    char         wrong[512];
};

static bool is_wrong(struct work *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool is_wrong(struct work *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void) vsnprintf(w->wrong, sizeof w->wrong, format, args);
    va_end(args);
    return false;
}

static bool went_well(struct work *w, const char *what, ordo_status got)
{
    char text[256] = "";
    if (got == ORDO_OK)
        return true;
    (void) ordo_device_last_error(w->dev, text, sizeof text);
    return is_wrong(w, "%s: '%s': %s", what, ordo_status_string(got), text);
}

static uint32_t key_of(size_t i)
{
    uint32_t x = (uint32_t) (i - i % 8 / 7) * 0x9e3779b1u; /* one in eight twice */
    x = (x ^ x >> 15) * 0x85ebca77u;
    return x ^ x >> 13;
}

static bool scans(struct work *w)
{
    uint32_t sum = 0;
    if (!went_well(
            w, "scan",
            ordo_scan_host(w->dev, &(struct ordo_scan_params) { ORDO_U32, ORDO_SUM, false }, w->keys, w->out, w->n)))
        return false;
    for (size_t i = 0; i < w->n; sum += w->keys[i++])
        if (w->out[i] != sum)
            return is_wrong(w, "scan: element %zu is %u, not %u", i, w->out[i], sum);
    return true;
}

/* Sorts keys into `out`, and their places into `values`. */
static bool sorts(struct work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        w->out[i] = w->keys[i];
        w->values[i] = (uint32_t) i;
    }
    if (!went_well(w, "sort",
                   ordo_sort_host(w->dev, &(struct ordo_sort_params) { .key = ORDO_U32, .value_bytes = 4 }, w->out,
                                  w->values, w->n)))
        return false;
    for (size_t i = 0; i < w->n; i++) {
        if (w->values[i] >= w->n || w->keys[w->values[i]] != w->out[i])
            return is_wrong(w, "sort: pair %zu was not in the input", i);
        if (i > 0 && (w->out[i - 1] > w->out[i] || (w->out[i - 1] == w->out[i] && w->values[i - 1] >= w->values[i])))
            return is_wrong(w, "sort: pair %zu is out of order", i);
    }
    return true;
}

static bool searches(struct work *w)
{
    for (size_t i = 0; i < w->n; i++)
        w->queries[i] = w->keys[i] - i % 2;
    if (!went_well(
            w, "search",
            ordo_search_host(w->dev, ordo_search_params(.key = ORDO_U32), w->out, w->n, w->queries, w->n, w->values)))
        return false;
    for (size_t i = 0; i < w->n; i++) {
        const uint32_t rank = w->values[i], query = w->queries[i];
        if (rank > w->n || (rank > 0 && w->out[rank - 1] >= query) || (rank < w->n && w->out[rank] < query))
            return is_wrong(w, "search: the rank of query %zu is not %u", i, rank);
    }
    return true;
}

/* Each of `n` distinct keys must be in the dictionary, with its number as its value. */
static bool holds(struct work *w, ordo_dict *dict, const uint32_t *keys, size_t n)
{
    AUTO_FREE uint8_t *found = test_alloc(n);
    bool               right = went_well(w, "find", ordo_dict_find_host(dict, keys, n, w->values, found));
    for (size_t i = 0; right && i < n; i++)
        if (!found[i] || w->values[i] != i)
            right = is_wrong(w, "dictionary: key %zu is %s", i, found[i] ? "there with another value" : "not there");
    return right;
}

enum { DICT_KEYS = 6000 };

static bool keeps(struct work *w)
{
    AUTO_DICT ordo_dict *dict = NULL;
    size_t               size = 0;
    bool                 right =
        went_well(w, "dictionary",
                  w->kind & CONCURRENT
                      ? ordo_blink_create(w->dev, ordo_blink_config(.dict = { ORDO_U32, 4 }), &dict)
                      : ordo_sorted_array_create(w->dev, ordo_sorted_array_config(.dict = { ORDO_U32, 4 }), &dict));
    for (uint32_t i = 0; i < DICT_KEYS; i++) {
        w->queries[i] = i * 0x9e3779b1u;
        w->out[i] = i;
    }
    right = right && went_well(w, "build", ordo_dict_build_host(dict, w->queries, w->out, DICT_KEYS / 2));
    if (w->kind & CONCURRENT) {
        AUTO_FREE uint8_t *codes = test_alloc(DICT_KEYS);
        memset(codes, ORDO_UPSERT, DICT_KEYS);
        right = right &&
                went_well(w, "concurrent batch",
                          ordo_dict_apply_concurrent_host(
                              dict, &(struct ordo_host_concurrent_batch) {
                                        .codes = codes, .keys = w->queries, .values = w->out, .count = DICT_KEYS }));
    } else {
        right = right && went_well(w, "upsert", ordo_dict_upsert_host(dict, w->queries, w->out, DICT_KEYS));
    }
    right = right && holds(w, dict, w->queries, DICT_KEYS) && went_well(w, "check", ordo_dict_check(dict, NULL)) &&
            went_well(w, "size", ordo_dict_size(dict, NULL, &size));
    if (right && size != DICT_KEYS)
        right = is_wrong(w, "dictionary: size %zu", size);
    return right;
}

static bool works(ordo_device *dev, unsigned kind, char *wrong, size_t room)
{
    struct work w = { .dev = dev, .kind = kind, .n = kind & MANY ? 1100000 : 70001 };
    w.keys = test_alloc(w.n * 4);
    w.values = test_alloc(w.n * 4);
    w.out = test_alloc(w.n * 4);
    w.queries = test_alloc(w.n * 4);
    for (size_t i = 0; i < w.n; i++)
        w.keys[i] = key_of(i);
    const bool right = scans(&w) && sorts(&w) && searches(&w) && keeps(&w);
    (void) snprintf(wrong, room, "%s", w.wrong);
    free(w.keys);
    free(w.values);
    free(w.out);
    free(w.queries);
    return right;
}

/* ---- that an error has an effect --------------------------------------------------------------------------------- */

/* Runs the kernel of planted.cl, and reads words[0]. */
static ordo_status ask_direct(struct ordo_call *call, const struct plant *p, uint32_t *got)
{
    const uint32_t           lanes = ordo_device_facts(call->dev)->sub_group, group = p->kind & TEAM ? lanes : 1;
    const struct ordo_launch launch = { DIRECT_FILE,
                                        "planted",
                                        p->direct.groups,
                                        group,
                                        { { "TEAM_WIDTH", lanes }, { "PLANTED_GROUP", group }, { NULL, 0 } } };
    cl_mem                   words = NULL, wide = NULL;
    struct ordo_args         args = { .n = 0 };

    ORDO_TRY(ordo_call_scratch(call, 64, &words));
    ORDO_TRY(ordo_call_scratch(call, 64, &wide));
    ORDO_TRY(ordo_call_fill(call, words, 0, 64, 0));
    ORDO_TRY(ordo_call_fill(call, wide, 0, 64, 0));
    ORDO_ADD(&args, ORDO_ARG(words), ORDO_ARG(wide));
    ORDO_TRY(ordo_call_launch(call, &launch, &args));
    return ordo_call_read(call, words, 0, got, sizeof *got);
}

static bool is_right_directly(ordo_device *dev, const struct plant *p, char *wrong, size_t room)
{
    struct ordo_call call;
    uint32_t         got = 0;
    ordo_status      status = ordo_call_begin(&call, dev, NULL);
    if (status == ORDO_OK)
        status = ordo_call_end(&call, ask_direct(&call, p, &got));
    (void) snprintf(wrong, room, "the kernel: %s, %u, not %u", ordo_status_string(status), got, p->direct.want);
    return status == ORDO_OK && got == p->direct.want;
}

/* Whether the device uses the edited text. */
static bool has_variant(ordo_device *dev, const struct plant *p)
{
    const struct ordo_facts *f = ordo_device_facts(dev);
    const bool               in_ptx = f->lanes == ORDO_LANES_NVIDIA && f->atomics == ORDO_ATOMICS_NVIDIA;
    const bool               in_amd = f->lanes == ORDO_LANES_AMD;
    return (f->cpu || !(p->kind & ON_CPU)) && (in_ptx || !(p->kind & IN_PTX)) && (in_amd || !(p->kind & IN_AMD)) &&
           (f->sub_group == 64 || !(p->kind & IN_WAVE64));
}

enum bite { RIGHT, WRONG, NO_VARIANT, NOT_OPENED, NOT_BUILT };

enum { BITE_TRIES = 20 };

/* Without the self-test. */
static int bite_of(const struct plant *p, const char *mask, bool clean)
{
    const struct ordo_device_config config = { .mask = mask, .no_self_test = true };
    ordo_device                    *dev = NULL;
    char                            wrong[512] = "";
    bool                            right = true;

    const ordo_status got = ordo_device_open(&config, &dev);
    if (got != ORDO_OK)
        return got == ORDO_INVALID ? NO_VARIANT : NOT_OPENED;
    if (!has_variant(dev, p))
        return NO_VARIANT;
    for (int i = 0; right && i < (clean || !p->direct.body ? 1 : BITE_TRIES); i++)
        right =
            p->direct.body ? is_right_directly(dev, p, wrong, sizeof wrong) : works(dev, p->kind, wrong, sizeof wrong);
    if (!right)
        (void) fprintf(stderr, "    without the self-test: %s\n", wrong);
    if (!right && strstr(wrong, ordo_status_string(ORDO_BUILD)))
        return NOT_BUILT; /* an error of this test, not a miscompile */
    return right ? RIGHT : WRONG;
}

/* ---- that an error is found -------------------------------------------------------------------------------------- */

enum fate { CAUGHT, MISSED, NO_MESSAGE, NOT_CURED };

/* A device that was opened with a safer variant. */
static enum fate fate_of_opened(ordo_device *dev, const struct plant *p)
{
    char        wrong[512] = "";
    const char *dropped = ordo_device_facts(dev)->dropped;

    (void) fprintf(stderr, "    opened: %s\n", dropped[0] ? dropped : "as if nothing were wrong");
    if (!dropped[0])
        return MISSED;
    if (!works(dev, p->kind, wrong, sizeof wrong)) {
        (void) fprintf(stderr, "    opened, and then wrong: %s\n", wrong);
        return NOT_CURED;
    }
    if (ordo_device_self_test(dev) != ORDO_OK) {
        (void) fprintf(stderr, "    opened, and fails its self-test\n");
        return NOT_CURED;
    }
    return CAUGHT;
}

static int fate_of(const struct plant *p, const char *mask, bool clean)
{
    char                            message[1024] = "";
    const struct ordo_device_config config = { .mask = mask, .message = message, .message_bytes = sizeof message };
    AUTO_DEVICE ordo_device        *dev = NULL;
    const ordo_status               got = ordo_device_open(&config, &dev);

    (void) clean;
    if (got != ORDO_OK) {
        (void) fprintf(stderr, "    refused: %s\n", message);
        return message[0] && !dev ? CAUGHT : NO_MESSAGE;
    }
    const enum fate fate = fate_of_opened(dev, p);
    return fate;
}

/* ---- processes --------------------------------------------------------------------------------------------------- */

/* Instead of an answer: the process died, as stderr reports. */
enum { DIED = 100 };
enum { CHILD_SECONDS = 300 };

/* Calls `ask` in a separate process. A wrong kernel may read and write anywhere and end the process, and NVIDIA's
 * driver then refuses every call of that process. */
static int in_child(int (*ask)(const struct plant *p, const char *mask, bool clean), const struct plant *p,
                    const char *mask, bool clean)
{
    int         status = 0;
    const pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        (void) alarm(CHILD_SECONDS);
        _exit(ask(p, mask, clean));
    }
    cr_assert(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status))
        (void) fprintf(stderr, "    ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : DIED;
}

static long times(void)
{
    const char *set = getenv("ORDO_TEST_TIMES");
    return set ? strtol(set, NULL, 10) : 3;
}

static void set_profile(const struct plant *p, const struct overlay *o)
{
    char path[128];
    (void) snprintf(path, sizeof path, "%s/profile", o->dir);
    overlay_write(o, "profile", p->profile ? p->profile : "");
    cr_assert(setenv("ORDO_PROFILE", path, 1) == 0);
}

/* How many of times() openings found the error. */
static long times_caught(const struct plant *p, const char *mask)
{
    long caught = 0;
    for (long i = 0; i < times(); i++) {
        const int fate = in_child(fate_of, p, mask, false);
        cr_expect(fate == MISSED || fate == CAUGHT, "%s, mask '%s': not refused, and not well (%d)", p->name, mask,
                  fate);
        caught += fate == CAUGHT;
    }
    return caught;
}

/* The error has an effect, and is found each time. False if the device has no such variant. */
static bool try_plant(const struct plant *p, const char *mask)
{
    struct overlay clean, planted;

    (void) fprintf(stderr, "%s, mask '%s'\n", p->name, mask);
    watchdog_note(p->name, "", mask, 0);
    plant(p, true, &clean);
    plant(p, false, &planted);
    set_profile(p, &clean);
    overlay_use(&clean);
    const int sound = in_child(bite_of, p, mask, true);
    overlay_use(&planted);
    if (sound != NO_VARIANT) {
        cr_assert(sound == RIGHT, "%s, mask '%s': something is wrong without it (%d)", p->name, mask, sound);
        const int bite = in_child(bite_of, p, mask, false);
        cr_expect(bite == WRONG || bite == DIED, "%s, mask '%s': does not bite (%d)", p->name, mask, bite);
        const long caught = times_caught(p, mask);
        cr_expect(caught == times(), "%s, mask '%s': caught %ld times of %ld", p->name, mask, caught, times());
    }
    overlay_end(&clean);
    overlay_end(&planted);
    return sound != NO_VARIANT;
}

/* The i-th mask; false if there are fewer. */
static bool mask_of(const struct plant *p, int i, char *mask, size_t room)
{
    const char *at = p->masks;
    for (; i > 0 && at; i--) {
        at = strchr(at, ';');
        at = at ? at + 1 : NULL;
    }
    if (at)
        (void) snprintf(mask, room, "%.*s", (int) strcspn(at, ";"), at);
    return at != NULL;
}

enum { MASKS_MAX = 4 };

/* With how many of its masks an error is tried. */
static int masks_tried(const struct plant *p)
{
    const char *set = getenv("ORDO_TEST_PLANTS");
    return !set ? (int) (p->kind & FEW) : strcmp(set, "all") == 0 || strstr(p->name, set) ? MASKS_MAX : 0;
}

struct planting {
    int plant, mask;
};

/* A process for each, because no driver survives a fork in use. */
ParameterizedTestParameters(planted, is_caught_when_the_device_is_opened)
{
    static struct planting all[MASKS_MAX * LENGTH(plants)];
    char                   mask[64];
    size_t                 n = 0;
    for (int i = 0; i < (int) LENGTH(plants); i++)
        for (int m = 0; m < masks_tried(&plants[i]) && mask_of(&plants[i], m, mask, sizeof mask); m++)
            all[n++] = (struct planting) { i, m };
    return cr_make_param_array(struct planting, all, n);
}

ParameterizedTest(struct planting *which, planted, is_caught_when_the_device_is_opened)
{
    const struct plant *p = &plants[which->plant];
    char                mask[64] = "";

    cr_assert(setenv("ORDO_CACHE", "off", 1) == 0); /* each opening tests */
    (void) setenv("POCL_AFFINITY", "1", 0); /* a core for each thread, because they may share one on a busy machine */
    (void) mask_of(p, which->mask, mask, sizeof mask);
    if (!try_plant(p, mask))
        test_skip("%s: no device here runs this variant", p->name);
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

static bool opens_with(const struct overlay *o, bool remembered, bool dropped)
{
    char                            wrong[512] = "", message[512] = "";
    const struct ordo_device_config config = { .message = message, .message_bytes = sizeof message };
    AUTO_DEVICE ordo_device        *dev = NULL;

    overlay_use(o);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK, "%s", message);
    const struct ordo_facts *f = ordo_device_facts(dev);
    const bool               as_expected =
        f->self_test_remembered == remembered && (f->dropped[0] != 0) == dropped && works(dev, 0, wrong, sizeof wrong);
    (void) fprintf(stderr, "%s: remembered %d, dropped '%s', %s\n", o->dir, f->self_test_remembered, f->dropped,
                   wrong[0] ? wrong : "right");
    return as_expected;
}

/* The outcome with the library's kernels does not hold for changed ones, nor the other way round. */
Test(planted, is_neither_hidden_nor_spread_by_the_cache)
{
    const struct plant             *p = NULL;
    const struct ordo_device_config config = { .no_self_test = true };
    ordo_device                    *dev = NULL;
    struct overlay                  clean, planted, cache;

    for (size_t i = 0; i < LENGTH(plants); i++)
        p = strcmp(plants[i].name, "an addition of 64 bits, split in two") == 0 ? &plants[i] : p;
    cache = overlay_begin();
    cr_assert(p && setenv("ORDO_CACHE", cache.dir, 1) == 0);
    plant(p, true, &clean);
    plant(p, false, &planted);
    set_profile(p, &clean);
    cr_assert(ordo_device_open(&config, &dev) == ORDO_OK);
    const bool wide = ordo_device_facts(dev)->int64_atomics;
    ordo_device_close(&dev);
    if (wide) {
        cr_expect(opens_with(&clean, false, false));
        cr_expect(opens_with(&planted, false, true));
        cr_expect(opens_with(&planted, true, true));
        cr_expect(opens_with(&clean, true, false));
        cr_expect(opens_with(&planted, true, true));
    }
    overlay_end(&clean);
    overlay_end(&planted);
    overlay_end(&cache);
    if (!wide)
        test_skip("the device has no 64-bit atomics");
}
