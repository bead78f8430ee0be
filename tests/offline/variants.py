# SPDX-License-Identifier: Apache-2.0
"""The kernel variants that compile.py compiles for every target: one row per module and set of tunables.

    row(MODULE, NAME=value, ...)

A value is a number; a list, of which every member is compiled (lists multiply); or a word:
    "sub"      the target's sub-group
    "narrow"   4, or the sub-group if that is less
everywhere=True compiles it for each target of compile.py, not only for the main ones: for code that meets the hardware.
`only=f` keeps those combinations for which f(target, defines) holds. target has .lanes, .sub_group, .cpu, .progress.
"""

VARIANTS = []


def row(module, only=lambda target, defines: True, everywhere=False, **defines):
    VARIANTS.append((module, only, everywhere, defines))


def on_gpu(target, _):
    return not target.cpu


def on_cpu(target, _):
    return target.cpu


U32, U64, I32, I64, F32, F64 = range(6)
# Both widths of key, one with a sign and one without; every size of value.
PAIRS = [dict(ORDO_KEY=U32, ORDO_VALUE_BYTES=0), dict(ORDO_KEY=F32, ORDO_VALUE_BYTES=4),
         dict(ORDO_KEY=F64, ORDO_VALUE_BYTES=8)]

# ---- the device layer and what groups do --------------------------------------------------------------------------
row("primitive/self_test_lanes.cl", everywhere=True, GROUP_SIZE=128, TEAM_WIDTH=["sub", "narrow", 1])
row("primitive/self_test_atomics.cl", everywhere=True, GROUP_SIZE=[1, 128])
row("group.cl", everywhere=True, GROUP_SIZE=["sub", 256], TEAM_WIDTH=["sub", 1], only=on_gpu)
row("group.cl", everywhere=True, GROUP_SIZE=1, only=on_cpu)

# ---- scan, reduce, compact ----------------------------------------------------------------------------------------
SUM, MIN, MAX = range(3)


def progress_if_lookback(target, defines):
    return target.progress or not defines["SCAN_LOOKBACK"]


for group, items, where in (256, 16, on_gpu), (1, 4096, on_cpu):
    for key, op in (U32, SUM), (F64, MIN):
        row("primitive/scan.cl", ORDO_KEY=key, FOLD_OP=op, FOLD_SEGMENTED=[0, 1], SCAN_LOOKBACK=[0, 1],
            FOLD_GROUP=group, TILE_ITEMS=items,
            only=lambda target, defines, where=where: where(target, defines) and progress_if_lookback(target, defines))
        row("primitive/reduce.cl", ORDO_KEY=key, FOLD_OP=op, FOLD_GROUP=group, TILE_ITEMS=items, only=where)
    row("primitive/compact.cl", COMPACT_KEY_BYTES=[4, 8], COMPACT_VALUE_BYTES=[0, 8], SCAN_LOOKBACK=[0, 1],
        FOLD_GROUP=group, TILE_ITEMS=items,
        only=lambda target, defines, where=where: where(target, defines) and progress_if_lookback(target, defines))

# ---- sort ---------------------------------------------------------------------------------------------------------
for pair in PAIRS:
    row("primitive/sort.cl", **pair, GROUP_SIZE=256, RANK_ITEMS=12, RANK_BITS=8, HISTOGRAM_COPIES=4, only=on_gpu)
    row("primitive/sort_small.cl", **pair, GROUP_SIZE=256, RANK_ITEMS=8, RANK_BITS=8, only=on_gpu)
    row("primitive/sort_chunked.cl", **pair, RANK_BITS=8, only=on_cpu)
    row("primitive/sort_chunked.cl", **pair, RANK_BITS=6, only=on_gpu)
row("primitive/sort.cl", ORDO_KEY=I64, ORDO_VALUE_BYTES=4, ORDO_DESCENDING=1, GROUP_SIZE=512, RANK_ITEMS=7, RANK_BITS=5,
    HISTOGRAM_COPIES=1, only=on_gpu)

# ---- merge --------------------------------------------------------------------------------------------------------
for pair in PAIRS:
    row("primitive/merge.cl", **pair, MERGE_GROUP=256, MERGE_ITEMS=9, MERGE_STAGED=[0, 1], only=on_gpu)
    row("primitive/merge.cl", **pair, MERGE_GROUP=1, MERGE_ITEMS=4096)
    row("primitive/merge_runs.cl", **pair, RUNS_GROUP=256, RUNS_ITEMS=9, RUNS_SEARCH_GROUP=64, only=on_gpu)
    row("primitive/merge_runs.cl", **pair, RUNS_GROUP=128, RUNS_ITEMS=8, RUNS_SEARCH_GROUP=64, RUNS_HIDDEN=[1, 2],
        only=on_gpu)
    row("primitive/merge_runs.cl", **pair, RUNS_GROUP=1, RUNS_ITEMS=4096, RUNS_SEARCH_GROUP=1, RUNS_HIDDEN=[0, 1, 2])

# ---- search -------------------------------------------------------------------------------------------------------
SEARCHES = [dict(ORDO_KEY=U32, SEARCH_UPPER=0), dict(ORDO_KEY=F64, SEARCH_UPPER=1),
            dict(ORDO_KEY=F32, SEARCH_LOOKUP=1, ORDO_VALUE_BYTES=4), dict(ORDO_KEY=I64, SEARCH_LOOKUP=1, ORDO_VALUE_BYTES=0),
            dict(ORDO_KEY=U64, SEARCH_LOOKUP=1, ORDO_VALUE_BYTES=8)]

row("primitive/index.cl", ORDO_KEY=[U32, F64], INDEX_NODE_LOG2=4)
for search in SEARCHES:
    row("primitive/search.cl", **search, SEARCH_LOCAL=1, SEARCH_GROUP=256, SEARCH_ITEMS=1, SEARCH_NODE=16,
        TEAM_WIDTH=[2, 4], only=lambda target, defines: not target.cpu and defines["TEAM_WIDTH"] <= target.sub_group)
    row("primitive/search.cl", **search, SEARCH_LOCAL=1, SEARCH_GROUP=512, SEARCH_ITEMS=4, SEARCH_NODE=8, TEAM_WIDTH=1,
        only=on_gpu)
    row("primitive/search.cl", **search, SEARCH_LOCAL=0, SEARCH_GROUP=64, SEARCH_ITEMS=16, SEARCH_NODE=16, TEAM_WIDTH=1,
        only=on_cpu)
    row("primitive/search.cl", **search, SEARCH_LOCAL=0, SEARCH_GROUP=1, SEARCH_ITEMS=1, SEARCH_NODE=16, TEAM_WIDTH=1)
    if "SEARCH_LOOKUP" in search:
        row("primitive/search.cl", **search, SEARCH_UPPER=1, SEARCH_RUN=1, SEARCH_LOCAL=1, SEARCH_GROUP=512, SEARCH_ITEMS=4,
            SEARCH_NODE=8, TEAM_WIDTH=1, only=on_gpu)
        row("primitive/search.cl", **search, SEARCH_UPPER=1, SEARCH_RUN=1, SEARCH_LOCAL=0, SEARCH_GROUP=64, SEARCH_ITEMS=16,
            SEARCH_NODE=16, TEAM_WIDTH=1, only=on_cpu)

# ---- dictionaries -------------------------------------------------------------------------------------------------
for pair in PAIRS:
    for module in "runs", "batch", "apply":
        row(f"dict/{module}.cl", **pair, RUN_GROUP=[1, 64])


def fits_sub_group(target, defines):
    return not target.cpu and defines["TEAM_WIDTH"] <= target.sub_group


for pair in PAIRS:
    for module in "build", "check":
        row(f"dict/blink_{module}.cl", **pair, RUN_GROUP=[1, 64], BLINK_GROUP=64, TEAM_WIDTH=1)
    row("dict/blink_query.cl", **pair, RUN_GROUP=128, BLINK_GROUP=128, TEAM_WIDTH=[1, 4], only=fits_sub_group)
    row("dict/blink_query.cl", **pair, RUN_GROUP=64, BLINK_GROUP=64, BLINK_ITEMS=8, TEAM_WIDTH=1, only=on_cpu)
    row("dict/blink_update.cl", **pair, RUN_GROUP=64, BLINK_GROUP=64, TEAM_WIDTH=["sub", 4, 1], only=fits_sub_group)
    row("dict/blink_update.cl", **pair, RUN_GROUP=64, BLINK_GROUP=64, TEAM_WIDTH=1, only=on_cpu)


def has_registers(target, defines):
    """Intel's compiler warns of spills. Eight bytes of both are a node of 112 registers for each lane: it has no more than 128. And
    what tests are put in makes the kernel larger."""
    return target.lanes != 1 or (defines["ORDO_VALUE_BYTES"] < 8 and "BLINK_TORTURE" not in defines)


for pair in PAIRS:
    row("dict/blink_concurrent.cl", **pair, BLINK_GROUP=[1, 64], TEAM_WIDTH=1, only=has_registers)
row("dict/blink_concurrent.cl", ORDO_KEY=U32, ORDO_VALUE_BYTES=4, BLINK_GROUP=64, TEAM_WIDTH=1, BLINK_BY_FENCE=1,
    BLINK_HISTORY=1, BLINK_TORTURE=63, only=has_registers)
