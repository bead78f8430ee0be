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


U32, U64, I32, I64, F32, F64 = range(6)

# ---- the device layer and what groups do --------------------------------------------------------------------------
row("primitive/self_test_lanes.cl", everywhere=True, GROUP_SIZE=128, TEAM_WIDTH=["sub", "narrow", 1])
row("primitive/self_test_atomics.cl", everywhere=True, GROUP_SIZE=[1, 128])
row("group.cl", everywhere=True, GROUP_SIZE=["sub", 256], TEAM_WIDTH=["sub", 1], only=on_gpu)
row("group.cl", everywhere=True, GROUP_SIZE=1, only=lambda target, _: target.cpu)
