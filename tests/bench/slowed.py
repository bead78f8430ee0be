#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that ordo-bench --against finds a slower kernel. Compares a build whose merge is slower by a known share with the
unchanged build: with PoCL on concurrent pairs of processors, on a GPU from two free processors. First measures the slowdown
and adjusts it. Reports for each comparison whether it found the merge, and all other rows reported as slower. Needs a
checkout with its build in build/. Writes the output to the directory slow of $OUT, or here. Not part of a ring, because it
takes minutes and an idle machine.

    slowed.py [--seconds 225] [--cpu 1.3] [--gpu 1.1] [--fine 1.03] [--each 4] [--gpu-times 10] [--fine-times 2] [--slices 7]
              [--no-gpu] [--no-cpu]
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ap = argparse.ArgumentParser()
ap.add_argument("--seconds", type=float, default=225)
ap.add_argument("--cpu", type=float, default=1.3)
ap.add_argument("--gpu", type=float, default=1.1)
ap.add_argument("--fine", type=float, default=1.03)
ap.add_argument("--each", type=int, default=4)
ap.add_argument("--gpu-times", type=int, default=10)
ap.add_argument("--fine-times", type=int, default=2)
ap.add_argument("--no-gpu", action="store_true")
ap.add_argument("--no-cpu", action="store_true")
ap.add_argument("--slices", type=int, default=7)
o = ap.parse_args()

BEGAN = time.time()
END = BEGAN + o.seconds
BENCH = os.path.abspath("build/bench/ordo-bench")
OUT = os.path.join(os.environ.get("OUT", "."), "slow")
TMP = tempfile.mkdtemp(prefix="slow-")
os.makedirs(OUT, exist_ok=True)
LOCK = threading.Lock()
LOG = open(OUT + "/log", "w", buffering=1)


def say(text):
    with LOCK:
        line = f"{time.time() - BEGAN:6.1f} s  {text}"
        print(line, flush=True)
        LOG.write(line + "\n")


# ---- slower kernels -----------------------------------------------------------------------------------------------------

def kernels(name, cpu_share=0, gpu_steps=0):
    """A copy of the kernels. cpu_share: repeats this percentage of the steps of merge_chunks; gpu_steps: each work-item of
    merge_tiles first takes this number of steps of a random generator."""
    path = f"{TMP}/{name}"
    if os.path.exists(path):
        return path
    shutil.copytree("cl", path)
    file = path + "/primitive/merge.cl"
    text = open(file).read()
    if cpu_share:
        begin = text.index("    uint a = 0, b = 0;\n    while (a < tile.a_count && b < tile.b_count) {")
        end = text.index("#if ORDO_VALUE_BYTES\n    merge_copy(")
        loop = text[begin:end]
        once = loop.replace("uint a = 0, b = 0;",
                            f"uint a = 0, b = 0;\n    const uint part = (tile.a_count + tile.b_count) * {cpu_share} / 100;")
        once = once.replace("while (a < tile.a_count && b < tile.b_count) {",
                            "while (a < tile.a_count && b < tile.b_count && a + b < part) {")
        once = once.replace("a + b + min(tile.a_count - a, tile.b_count - b);",
                            "min(part, a + b + min(tile.a_count - a, tile.b_count - b));")
        assert once.count("part") == 4
        text = text[:begin] + once + loop.replace("uint a = 0, b = 0;", "a = b = 0;") + text[end:]
    if gpu_steps:
        at = text.index("    merge_tile tile;\n    merge_find_tile(&in, near")
        text = text[:at] + (f"    uint spin = (uint) get_group_id(0) + a_count; /* never 0, nor does it become 0 */\n"
                            f"    for (uint step = 0; step < {gpu_steps}; step++) {{\n"
                            "        spin ^= spin << 13;\n        spin ^= spin >> 17;\n        spin ^= spin << 5;\n    }\n"
                            "    if (spin == 0)\n        return;\n") + text[at:]
    open(file, "w").write(text)
    return path


# ---- programs on separate processors ---------------------------------------------------------------------------------

class Place:
    def __init__(self, name, cpus, device, env):
        self.name, self.cpus, self.device = name, cpus, device
        self.dir = f"{TMP}/{name}"
        os.makedirs(self.dir + "/pocl"), os.makedirs(self.dir + "/cuda")
        self.env = dict(os.environ, **env)
        self.env.pop("ORDO_CL_DIR", None)
        self.env.update(ORDO_CACHE=self.dir + "/ordo", POCL_CACHE_DIR=self.dir + "/pocl", XDG_CACHE_HOME=self.dir,
                        CUDA_CACHE_PATH=self.dir + "/cuda", ORDO_DEVICE=device)
        if device == "cpu":
            self.env["POCL_MAX_PTHREAD_COUNT"] = str(len(cpus))
        self.other = self.dir + "/other"
        open(self.other, "w").write(f'#!/bin/sh\nunset ORDO_CL_DIR\nexec {BENCH} "$@"\n')
        os.chmod(self.other, 0o755)

    def run(self, arguments, kernels=None, file=None):
        """The exit status and the output of ordo-bench; None: no time."""
        left = END - time.time()
        if left < 2:
            return None, ""
        env = dict(self.env, **({"ORDO_CL_DIR": kernels} if kernels else {}))
        command = ["timeout", "-s", "INT", "-k", "2", f"{left:.0f}", "taskset", "-c", ",".join(map(str, self.cpus)), BENCH, "-d",
                   self.device, "--no-host", "--no-array", "--no-chart", "--no-limits"] + arguments
        got = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = got.stdout.decode(errors="replace")
        if file:
            open(f"{OUT}/{file}", "w").write(text)
        return got.returncode, text

    def least(self, sizes, kernels, name):
        """{size: the least time of a merge}"""
        path = f"{self.dir}/{name}.json"
        code, text = self.run(["-w", "merge", "-n", sizes, "-r", "12", "--json", path], kernels)
        if code != 0:
            raise RuntimeError(f"status {code}: {text[-500:]}")
        rows = json.load(open(path))["rows"]
        assert all(row["check"] == "ok" for row in rows), text
        return {row["count"]: min(row["samples_s"]) for row in rows}


def ratios(place, sizes, shares, make, rounds):
    """{share: {size: how many times slower}}, the least times of `rounds` turns of each."""
    best = {}
    for turn in range(rounds):
        for share in [0] + shares:
            got = place.least(sizes, make(share) if share else None, "calibrate")
            for size, seconds in got.items():
                best[share, size] = min(best.get((share, size), 1e9), seconds)
    sizes_seen = {size for _, size in best}
    return {share: {size: best[share, size] / best[0, size] for size in sorted(sizes_seen)} for share in shares}


def text_of(by_size):
    return ", ".join(f"2^{size.bit_length() - 1} {ratio:.3f}" for size, ratio in by_size.items())


# ---- comparisons ---------------------------------------------------------------------------------------------------------

TALLY = {}


def compare(place, what, number, arguments, kernels):
    began = time.time()
    name = f"{place.name}-{what}-{number}"
    code, text = place.run(arguments + ["--against", place.other], kernels, name + ".txt")
    if code is None or code in (124, 130, 137) or "Compared:" not in text:
        say(f"{name}: no time, or no result: status {code} {text[-200:] if code not in (None, 124, 130, 137) else ''}")
        return
    listed = re.findall(r"^(\w+) (\S+ .*?2\^\d+)\s.*\s([\d.]+)x?$", text[text.index("Compared:"):], re.M)
    ours = [f"{rest} {ratio}" for workload, rest, ratio in listed if workload == "merge"]
    others = [f"{workload} {rest} {ratio}" for workload, rest, ratio in listed if workload != "merge"]
    found = code == 3 and bool(ours)
    with LOCK:
        tally = TALLY.setdefault(what, [0, 0, 0])
        tally[0] += found
        tally[1] += 1
        tally[2] += len(others)
    summary = re.search(r"Compared:.*(?:\n.*again\.)?", text).group(0).replace("\n", " ")
    say(f"{name}: {'FOUND' if found else 'not found'} (status {code}) {ours}; others called slower: {others or 'none'}; "
        f"{time.time() - began:.0f} s; {summary}")


def cpu_part(places):
    sizes, rows = "16,18,20", ["-w", "merge,scan,reduce", "-n", "16,18,20", "-r", "5"]
    make = lambda share: kernels(f"cpu-{share}", cpu_share=share)
    share, seen = round(100 * (o.cpu - 1)), {}
    for attempt in range(2):
        make(share)

        def one(place):
            try:
                seen[attempt, place] = ratios(place, sizes, [share], make, 3)[share]
            except Exception as e:  # reported; the other parts continue
                say(f"{place.name}: calibration: {e}")
        threads = [threading.Thread(target=one, args=(place,)) for place in places]
        [t.start() for t in threads], [t.join() for t in threads]
        each = [seen[attempt, place] for place in places if (attempt, place) in seen]
        typical = {size: statistics.median(one[size] for one in each) for size in each[0]}
        middle = statistics.mean(typical.values())
        say(f"PoCL: {share} % of merge's steps twice: times slower, median of {len(each)} slices: {text_of(typical)}; "
            f"least of slices {min(min(one.values()) for one in each):.3f}, most {max(max(one.values()) for one in each):.3f}")
        if attempt == 0 and abs(middle - o.cpu) > 0.02:
            share = max(1, min(100, round(share * (o.cpu - 1) / max(middle - 1, 0.02))))
        elif attempt == 0:
            break
    say(f"PoCL: goes on with {share} %")

    def all_of(place):
        took = 40.0
        for number in range(1, o.each + 1):
            if END - time.time() < 1.15 * took:
                break
            began = time.time()
            compare(place, f"cpu-{o.cpu}", number, rows, make(share))
            took = time.time() - began
    threads = [threading.Thread(target=all_of, args=(place,)) for place in places]
    [t.start() for t in threads], [t.join() for t in threads]


def gpu_part(place):
    sizes, rows = "22", ["-w", "merge,scan,reduce", "-n", "22", "-r", "3"]
    make = lambda steps: kernels(f"gpu-{steps}", gpu_steps=steps)
    size, tried = 1 << 22, [20, 60, 180, 540]
    seen = ratios(place, sizes, tried, make, 2)
    points = [(0, 1.0)] + [(steps, seen[steps][size]) for steps in tried]
    say("GPU: steps before each tile of merge, times slower: " + ", ".join(f"{s} {r:.3f}" for s, r in points))

    def steps_for(wanted):
        for (s0, r0), (s1, r1) in zip(points, points[1:]):
            if r1 >= wanted and r1 > r0:
                return max(1, round(s0 + (s1 - s0) * (wanted - r0) / (r1 - r0)))
        s, r = points[-1]
        return round(s * (wanted - 1) / max(r - 1, 0.01))
    coarse, fine = steps_for(o.gpu), steps_for(o.fine)
    seen = ratios(place, sizes, [coarse, fine], make, 2)
    say(f"GPU: {coarse} steps: {seen[coarse][size]:.3f} times slower; {fine} steps: {seen[fine][size]:.3f}")
    if abs(seen[coarse][size] - o.gpu) > 0.01 or abs(seen[fine][size] - o.fine) > 0.01:
        points = sorted(points + [(coarse, seen[coarse][size]), (fine, seen[fine][size])])
        coarse, fine = steps_for(o.gpu), steps_for(o.fine)
        seen = ratios(place, sizes, [coarse, fine], make, 1)
        say(f"GPU: corrected: {coarse} steps: {seen[coarse][size]:.3f} times slower; {fine} steps: {seen[fine][size]:.3f}")
    finer = ["--slower-by", "1.5"]  # the slowdown to find is below the default of 5 %
    plan = [(f"gpu-{o.gpu}", number, rows, coarse) for number in range(1, o.gpu_times + 1)]
    plan += [(f"gpu-{o.fine}", number, rows + finer, fine) for number in range(1, o.fine_times + 1)]
    plan.append(("gpu-itself-by-1.5-percent", 1, rows + finer, 0))
    took = 15.0
    for what, number, arguments, share in plan:
        if END - time.time() < 1.15 * took:
            break
        began = time.time()
        compare(place, what, number, arguments, make(share) if share else None)
        took = time.time() - began


def processors():
    """The processors, ordered by core."""
    def core(cpu):
        base = f"/sys/devices/system/cpu/cpu{cpu}/topology/"
        try:
            return (int(open(base + "physical_package_id").read()), int(open(base + "core_id").read()), cpu)
        except (OSError, ValueError):
            return (0, cpu, cpu)
    return sorted(os.sched_getaffinity(0), key=core)


def only_pocl():
    """An environment in which the loader does not wake the GPU for each process, if possible."""
    vendors = TMP + "/vendors"
    os.makedirs(vendors)
    for place in ("/etc/OpenCL/vendors",):
        for name in os.listdir(place) if os.path.isdir(place) else []:
            if "pocl" in name:
                shutil.copy(os.path.join(place, name), vendors)
    env = {"OCL_ICD_VENDORS": vendors, "OPENCL_VENDOR_PATH": vendors, "OCL_ICD_FILENAMES": ""}
    got = subprocess.run([BENCH, "--list"], env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return env if re.search(r"pthread|Portable Computing|cpu-", got.stdout.decode()) else {}


cpus = processors()
say(f"{len(cpus)} processors, in this order: {cpus}; load {open('/proc/loadavg').read().split()[0]}")
try:
    say(next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).strip())
except (OSError, StopIteration):
    pass
pairs = [cpus[i:i + 2] for i in range(0, len(cpus) - 1, 2)] or [cpus]
n_cpu = 0 if o.no_cpu else min(o.slices, len(pairs) - (0 if o.no_gpu else 1))
env = only_pocl() if n_cpu else {}
say(f"{n_cpu} slices for PoCL{'' if env or not n_cpu else ' (all vendors in each process)'}")


def part(of, *arguments):
    try:
        of(*arguments)
    except Exception as e:  # the other part continues
        say(f"{of.__name__}: {type(e).__name__}: {e}")


parts = []
if n_cpu:
    places = [Place(f"slice-{i}", pairs[i], "cpu", env) for i in range(n_cpu)]
    parts.append(threading.Thread(target=part, args=(cpu_part, places)))
if not o.no_gpu:
    parts.append(threading.Thread(target=part, args=(gpu_part, Place("gpu", pairs[-1], "gpu", {}))))
[t.start() for t in parts], [t.join() for t in parts]
for what, (found, n, others) in sorted(TALLY.items()):
    say(f"TOTAL {what}: found {found} of {n}; {others} other rows called slower")
shutil.rmtree(TMP, ignore_errors=True)
