/* SPDX-License-Identifier: Apache-2.0 */
/* The miscompiles. Each spelling of a function, by the vendor's compiler or by the version of OpenCL, has an edit.
 *
 * x86 cannot show the effect of a missing fence, acquire or release, because its loads and stores are ordered, also if
 * it runs AMD's code (tests/amd). Such errors exist in NVIDIA's spelling only. PoCL cannot show the effect of a missing
 * team_sync in teams of one, or of local updates that are not atomic, because it runs the work-items of a group one
 * after another. LANES_SYNC and the counts of local updates in the self-test look for these. */
#include "plants.h"

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

const struct plant plants[] = {
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

_Static_assert(LENGTH(plants) <= PLANTS_MAX, "PLANTS_MAX is the number of plants, at most");

const size_t n_plants = LENGTH(plants);
