#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the READMEs say of performance is in the kept files: each rate, each ratio to a peer, each picture, the table of tasks.

    figures.py SOURCE ORDO-BENCH    SOURCE: the repository's root

A figure is looked for in the files that its row, its paragraph, or else its section names, to as many digits as it has. Rates of
a column headed by a peer whose figures others published, and ratios to these, are looked for in each other.
"""
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

source, bench = sys.argv[1:]
results = os.path.join(source, "bench", "results")
PUBLISHED = "MVGpuBTree"
UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
RATE = re.compile(r"(?<![\w.^])(\d+(?:\.\d+)?) ([kMGT])\b(?!iB|B)")
RATIO = re.compile(r"(?<![\w.^,=-])(\d+(?:\.\d+)?)(?![\w.^]|,\d| [kMGT]\b)")
LINK = re.compile(r"results/([\w.-]+\.json)")
failures = []
looked = 0


def must(good, what):
    global looked
    looked += 1
    if not good:
        failures.append(what)


def numbers_of(thing, names):
    """All numbers by one of these names, anywhere within."""
    if isinstance(thing, dict):
        for name, value in thing.items():
            if name in names and isinstance(value, (int, float)):
                yield value
            elif name == "host_rates":
                yield from (v for v in value.values() if v)
            else:
                yield from numbers_of(value, names)
    elif isinstance(thing, list):
        for value in thing:
            yield from numbers_of(value, names)


# What a row is about, by the words in front of it: workloads. The first that fits.
ABOUT = [
    (r"prefix sums", ["scan"]), (r"lower bound", ["search"]), (r"find through an index", ["lookup"]), (r"^sort|sort \d|sort,", ["sort"]),
    (r"merge", ["merge"]), (r"sums by key|\.\.\. sorted", ["groupby"]), (r"the least 100", ["top"]), (r"the middle", ["select"]),
    (r"rows of 4", ["gather"]), (r"B-link tree of .*range", ["readrandom", "rangerandom"]), (r"into an empty tree", ["concurrentfill", "fillrandom"]),
    (r"filled", ["fillrandom"]), (r"in a batch that may hold", ["concurrentread"]), (r"one batch into", ["concurrentinsert", "insertrandom"]),
    (r"erase", ["deleterandom"]), (r"ranges", ["rangerandom"]), (r"count / range", ["countrandom", "rangerandom"]),
    (r"successor", ["seekrandom"]), (r"find, all there", ["readrandom", "readmissing"]), (r"updates, 2\^", ["concurrentmix"]),
    (r"^find", ["readrandom"]), (r"memory", ["fillrandom", "compactall", "cleanup"]),
]
SIZE = re.compile(r"2\^(\d+)")


class Row:
    """What one row of a file says."""

    def __init__(self, data, row):
        self.workload = row.get("workload")
        self.sizes = {row.get(name) for name in ("count", "batch", "operations")}
        self.rates = list(numbers_of(row, {"rate", "bytes_per_s", "rate_of_sorted_array", "device_rate"}))
        self.ratios = []
        rate = row.get("rate")
        others = list((row.get("host_rates") or {}).values()) + [row.get("rate_of_sorted_array")]
        others += [(row.get("peer") or {}).get("rate")]
        if row.get("rebuild_s"):
            others.append(row["count"] / row["rebuild_s"])
        self.ratios += [rate / other for other in others if rate and other]
        held = row.get("statistics") or {}
        pair = {"u32": 4, "i32": 4, "f32": 4}.get(row.get("key"), 8) + (row.get("value_bytes") or 0)
        memory = sum(held.get(part, 0) for part in ("bytes_data", "bytes_index", "bytes_marks", "bytes_spare"))
        if held.get("elements") and memory:
            self.ratios.append(memory / (held["elements"] * pair))


class Kept:
    """The figures of one file."""

    def __init__(self, name):
        with open(os.path.join(results, name), encoding="utf-8") as file:
            data = json.load(file)
        self.rows = [Row(data, row) for row in data.get("rows", [])]
        self.of_devices = list(numbers_of(data.get("devices", []), {"copy_bytes_per_s", "bytes_per_second", "gathers_32_per_s"}))


def pool(files, about="", sizes=()):
    """Rates and ratios of the rows of files that are about this, of these sizes where they name one."""
    workloads = next((w for words, w in ABOUT if re.search(words, about)), None)
    rows = [row for name in files for row in kept[name].rows if not workloads or row.workload in workloads]
    rows = [row for row in rows if not sizes or row.sizes & set(sizes)]
    of_devices = [] if workloads else [n for name in files for n in kept[name].of_devices]
    return [r for row in rows for r in row.rates] + of_devices, [r for row in rows for r in row.ratios]


kept = {name: Kept(name) for name in sorted(os.listdir(results)) if name.endswith(".json")}


def says(text, numbers, unit=1.0):
    """Whether one of them is the text's number, to its digits."""
    digits = len(text.replace(".", "").lstrip("0")) or 1
    want = float(text) * unit
    # The digits of a number rounded twice may differ by one.
    return any(n and abs(n - want) <= 0.5001 * 10 ** -(len(text.split(".")[1]) if "." in text else 0) * unit
               or n and float(f"{n:.{digits}g}") == float(f"{want:.{digits}g}") for n in numbers)


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def section(path, begin, end):
    """Blocks of lines between two headings."""
    with open(os.path.join(source, path), encoding="utf-8") as file:
        text = file.read()
    text = text[text.index(begin):]
    text = text[: text.index(end)]
    return [block.split("\n") for block in re.split(r"\n\s*\n", text)]


def files_in(text):
    names = LINK.findall(text)
    for name in names:
        must(name in kept, f"{name} is not in bench/results")
    return [name for name in names if name in kept]


def check_cell(path, cell, about, rates, ratios, published, kind):
    """kind: whose the figures are, and whether numbers without a unit are ratios."""
    cell = re.sub(r"\[[^]]*\]\([^)]*\)|`[^`]*`", "", cell)
    cell = re.sub(r"([\d.]+) to ([\d.]+ [kMGT]\b)", lambda m: f"{m[1]} {m[2][-1]} to {m[2]}", cell)
    for number, unit in RATE.findall(cell):
        if "theirs" in kind:
            published.append(float(number) * UNITS[unit])
        else:
            must(says(number, rates, UNITS[unit]), f"{path}: {number} {unit} of '{about}'")
    for number in RATIO.findall(cell) if "ratios" in kind else []:
        if "of others" in kind:
            must(any(says(number, [r / p for p in published]) for r in rates), f"{path}: {number} of '{about}'")
        else:
            must(says(number, ratios), f"{path}: the ratio {number} of '{about}'")


def check_table(path, lines, files, published):
    head = cells_of(lines[0])
    before = ""
    for line in lines[2:]:
        cells = cells_of(line)
        label = f"{before} {cells[0]}" if cells[0].startswith("...") else cells[0]
        before = cells[0] if not cells[0].startswith("...") else before
        about = f"{label} ({head[0]})"
        for i, cell in list(enumerate(cells))[1:]:
            sizes = SIZE.findall(head[i]) or SIZE.findall(cells[0]) or (SIZE.findall(before) if "..." in cells[0] else [])
            rates, ratios = pool(files_in(line) or files, cells[0] if cells[0].startswith("... 2^") or "sorted" in cells[0] else about,
                                 [2 ** int(size) for size in sizes])
            are_ratios = cells[0].startswith("... to") or re.search("to peer|to a sorted", head[i]) or "memory" in cells[0]
            kind = (["theirs"] if PUBLISHED in head[i] else []) + (["ratios"] if are_ratios and PUBLISHED not in head[i] else [])
            check_cell(path, cell, about, rates, ratios, published, kind + (["of others"] if PUBLISHED in line else []))


def check_section(path, begin, end, published):
    files = []
    for block in section(path, begin, end):
        text = "\n".join(block)
        if block[0].startswith("#"):
            files = []
        if any(mark in text for mark in ("ordo-bench\n", "<!--")):
            continue
        here = files_in(text)
        files = here or files
        if block[0].startswith("|"):
            check_table(path, block, files, published)
            continue
        rates, _ = pool(files)
        for number, unit in RATE.findall(re.sub(r"`[^`]*`", "", text)):
            must(says(number, rates, UNITS[unit]), f"{path}: {number} {unit} is in none of {files}")


published = []
check_section("bench/README.md", "## Measured", "## What the demo prints", published)
check_section("README.md", "## How fast", "## Environment", published)

# ---- pictures: those of the kept files, each shown somewhere, and none missing
pictures = os.path.join(results, "pictures")
with tempfile.TemporaryDirectory() as drawn:
    must(subprocess.run(["sh", os.path.join(results, "pictures.sh"), bench, drawn], check=False).returncode == 0,
         "the pictures can be drawn")
    for name in sorted(set(os.listdir(drawn)) | set(os.listdir(pictures))):
        must(os.path.exists(os.path.join(drawn, name)) and os.path.exists(os.path.join(pictures, name))
             and filecmp.cmp(os.path.join(drawn, name), os.path.join(pictures, name), shallow=False),
             f"bench/results/pictures/{name} is what the kept files say: sh bench/results/pictures.sh {bench}")
for path in ("README.md", "bench/README.md"):
    with open(os.path.join(source, path), encoding="utf-8") as file:
        for name in re.findall(r"pictures/([\w.-]+\.svg)", file.read()):
            must(os.path.exists(os.path.join(pictures, name)), f"{path} shows {name}")

for failure in failures:
    print("not so:", failure)
if not failures:
    print(f"{looked} figures, files and pictures are as the READMEs say")
sys.exit(bool(failures) or looked < 150)
