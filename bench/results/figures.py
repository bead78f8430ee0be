#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables and pictures of the READMEs from the kept results.

    figures.py            writes them
    figures.py --check    lists those that differ from what it would write, with exit status 1

A table stands in a page between <!-- begin: NAME --> and <!-- end -->. TABLES says what each one shows, PICTURES
what is drawn. Pictures need Node.js; without it they are left as they are.
"""
import functools
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
PAGES = ("README.md", "bench/results/measured.md")


@functools.lru_cache(None)
class Kept:
    """The newest kept file of a label, such as "h200-suite"."""

    def __init__(self, label):
        self.label = label
        self.path = sorted(glob.glob(os.path.join(here, f"????-??-??-{label}.json")))[-1]
        with open(self.path, encoding="utf-8") as file:
            self.data = json.load(file)
        # The host's libraries are rows too, named instead of a structure.
        peers = [{**peer, "variant": f"{peer['name']}, {peer['threads']} thread{'s' * (peer['threads'] > 1)}"}
                 for peer in self.data.get("peers", [])]
        self.rows = [{**row, "file": label, "on": self.data["devices"][row["device"]]["name"]}
                     for row in self.data["rows"] + peers if row.get("check") == "ok"]
        for row in self.rows:
            if row["workload"] == "deleterandom":
                row.setdefault("erase_percent", round(100 * row["operations"] / row["count"]))

    def link(self, page):
        return link(self.label, self.path, page)


def link(text, path, page):
    return f"[{text}]({os.path.relpath(path, os.path.dirname(os.path.join(root, page)))})"


# ---- numbers as text


def digits(number):
    return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"


def scaled(number, units):
    for unit in units[:-1]:
        if number < 999.5:
            return f"{digits(number)} {unit}".strip()
        number /= 1000
    return f"{digits(number)} {units[-1]}"


def rate(number):
    return scaled(number, ("", "k", "M", "G", "T"))


def seconds(number):
    return scaled(number * 1e9, ("ns", "us", "ms", "s"))


def power(number):
    """2^20 for 1048576."""
    if isinstance(number, int) and number >= 1024 and number & (number - 1) == 0:
        return f"2^{number.bit_length() - 1}"
    return f"{number:,}" if isinstance(number, int) else f"{number}"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def source(page, files):
    """The sentence that names files: "From [h200-suite](...), NVIDIA H200, revision 1234567."."""
    about = {}
    for file in files:
        devices = ", ".join(sorted({device["name"] for device in file.data["devices"]}))
        about.setdefault(f"{devices}, revision {file.data['revision']}", []).append(file.link(page))
    return "From " + "; ".join(f"{', '.join(links)} ({words})" for words, links in about.items()) + ".\n\n"


# ---- rates: a table of the rows of files


# Fields that distinguish rows, besides workload, structure and types, and their form in a name. A name uses as few as it
# needs, in this order.
FIELDS = {
    "on": "{}", "dist": "{} keys", "load_percent": "load {} %", "update_percent": "{} % updates",
    "erase_percent": "{} % erased", "chunk": "chunks of {} words", "first_calls": "first calls",
    "batch": "batches of {}", "count": "{} elements", "operations": "{} operations", "width": "{} elements each",
    "hit_percent": "{} % found", "most_fills": "{} fills", "tune": "{}", "keys": "{}",
    "file": "{}",
}
COMMON = ("count", "batch", "operations", "load_percent", "chunk")


def lines_of(rows, over, name):
    """Names for lines and their rows: the rows of a line that stand in one column differ in no field."""
    for field, text in FIELDS.items():
        cells = {}
        for row in rows:
            cells.setdefault(row[over], set()).add(row.get(field) or 0)
        if field != over and any(len(values) > 1 for values in cells.values()):
            for value in dict.fromkeys(row.get(field) or 0 for row in rows):
                yield from lines_of([row for row in rows if (row.get(field) or 0) == value], over,
                                    f"{name}, {text.format(power(value))}" if value else name)
            return
    yield name, rows


def memory(row):
    """Bytes held on the device over bytes of keys and values."""
    held = row.get("statistics") or {}
    pair = (4 if row["key"].endswith("32") else 8) + row["value_bytes"]
    parts = sum(held.get("bytes_" + part, 0) for part in ("data", "index", "marks", "spare"))
    return parts / (held["elements"] * pair) if held.get("elements") and parts else None


# Figures other than rates.
VALUES = {"memory": memory, "index": lambda row: row.get("index_bytes_per_key")}
RATIOS = {
    "peer": lambda row: (row.get("peer") or {}).get("rate"),
    "sorted array": lambda row: row.get("rate_of_sorted_array"),
    "rebuild": lambda row: row["count"] / row["rebuild_s"] if row.get("rebuild_s") else None,
    "host": lambda row: next((r for r in (row.get("host_rates") or {}).values() if r), None),
}


def cell(rows, value, ratio):
    if not rows:
        return ""
    if value != "rate":
        return f"{statistics.median(VALUES[value](row) for row in rows):.3g}"
    row = sorted(rows, key=lambda row: row["rate"])[len(rows) // 2]
    other = ratio and RATIOS[ratio](row)
    return rate(row["rate"]) + (f" ({row['rate'] / other:.2f})" if other else "")


def rates(*labels, over, where=None, ratio=None, value="rate", flip=False):
    """Rows of these files that `where` selects, with a column for each value of the field `over`. In parentheses the
    ratio to `ratio`. `flip`: lines are structures, and columns tell workloads apart."""

    def table(page):
        files = [Kept(label) for label in labels]
        rows = [row for file in files for row in file.rows if over in row and (not where or where(row))]
        rows = [row for row in rows if value == "rate" or VALUES[value](row)]
        columns = list(dict.fromkeys(row[over] for row in rows))
        columns = columns if over == "workload" else sorted(columns)
        types = {(row["key"], row["value_bytes"]) for row in rows}
        names = {}
        for row in rows:
            name = row.get("variant") or "Ordo" if flip else f"{row['workload']} {row.get('variant') or ''}".strip()
            names.setdefault(name + (f", {row['key']}+{row['value_bytes']}" if len(types) > 1 else ""), []).append(row)
        lines = [line for name, those in names.items() for line in lines_of(those, over, name)]
        same = [f"{key}+{value_bytes}" for key, value_bytes in types] if len(types) == 1 else []
        for field in COMMON:
            values = {row.get(field) for row in rows}
            if field != over and len(values) == 1 and values != {None}:
                same.append(FIELDS[field].format(power(values.pop())))
        heads = columns if over == "workload" else [FIELDS[over].format(power(column)) for column in columns]
        body = [[name] + [cell([row for row in those if row[over] == column], value, ratio) for column in columns]
                for name, those in lines]
        return source(page, files) + markdown([", ".join(same), *heads], body)

    return table


# ---- other tables


def summary(*entries):
    """Chosen figures: (what, label, where, field, values, peer, ratio) each."""

    def table(page):
        lines = []
        for what, label, where, field, values, peer, ratio in entries:
            file = Kept(label)
            picked = [[row for row in file.rows if where(row) and row.get(field) == value] for value in values]
            found = [sorted(rows, key=lambda row: row["rate"])[len(rows) // 2] for rows in picked]
            lines.append([what, " / ".join(rate(row["rate"]) for row in found), peer,
                          " / ".join(f"{row['rate'] / RATIOS[ratio](row):.2f}" for row in found), file.link(page)])
        return markdown(["what", "Ordo", "peer", "Ordo to peer", "file"], lines)

    return table


def against(label, other):
    """A line for each distribution, a column for each type. In parentheses the ratio to the same row of another file."""

    def table(page):
        files = [Kept(label), Kept(other)]
        mine, its = ({(row["dist"], f"{row['key']}+{row['value_bytes']}"): row["rate"] for row in file.rows}
                     for file in files)
        types = list(dict.fromkeys(kind for _, kind in mine))
        return source(page, files) + markdown(["keys"] + types, [
            [dist] + [f"{rate(mine[dist, kind])} ({mine[dist, kind] / its[dist, kind]:.2f})"
                      if (dist, kind) in mine else "" for kind in types] for dist in dict.fromkeys(d for d, _ in mine)])

    return table


def first_calls(*labels):
    """The first call of each kind with empty / filled caches. A structure in several files is taken from the first."""

    def table(page):
        files = [Kept(label) for label in labels]
        times, whose = {}, {}
        for file in files:
            for first in file.data["first"]:
                if first["workload"] != "prepare" or whose.setdefault(first["structure"], file) != file:
                    continue
                prepared = [{"call": "`ordo_device_prepare`", **first.get("prepared", {})}]
                for call in prepared if "prepared" in first else first["calls"]:
                    if call.get("seconds"):
                        by = times.setdefault(call["call"], {})
                        by.setdefault(first["structure"], []).append(seconds(call["seconds"]))
        return source(page, files) + markdown(["first call"] + list(whose), [
            [name] + [" / ".join(by.get(structure, [])) for structure in whose] for name, by in times.items()])

    return table


def opening(*labels):
    """Seconds of opening a device."""

    def table(page):
        files = [Kept(label) for label in labels]
        head = ["device", "caches", "opening", "of it waiting for builds", "self-test"]
        return source(page, files) + markdown(head, [
            [file.data["devices"][first["device"]]["name"], first["caches"]] +
            [seconds(first[name]) if first[name] else "-" for name in ("seconds", "waited_for_builds", "self_test")]
            for file in files for first in file.data["first"] if first["workload"] == "open"])

    return table


def tasks(label):
    def table(page):
        file = Kept(label)
        return source(page, [file]) + markdown(["task", "Ordo", "a second", "plain C++", "Ordo to plain C++"], [
            [link(task["task"], os.path.join(root, "examples", task["task"] + ".cpp"), page),
             f"{task['count']:,} {task['items']} in {seconds(task['ordo_s'])}", rate(task["count"] / task["ordo_s"]),
             seconds(task["plain_s"]), f"{task['plain_s'] / task['ordo_s']:.2g}"] for task in file.data["tasks"]])

    return table


def processor_time(*labels):
    """Least nanoseconds of all processors for each operation, over the files and a library's numbers of threads. In
    parentheses the ratio to Ordo's."""

    def table(page):
        files = [Kept(label) for label in labels]
        rows = [row for file in files for row in file.rows]
        times = {}
        workloads = {row["workload"] for row in rows}
        for row in rows:
            size = f"{row['key']}+{row['value_bytes']}, {FIELDS['count'].format(power(row['count']))}"
            if len(workloads) > 1:
                size = f"{row['workload']}, {size}"
            if row.get("batch"):
                size += ", " + FIELDS["batch"].format(power(row["batch"]))
            times.setdefault(size, {}).setdefault(row.get("name", "Ordo"), []).append(
                row["cpu_s"] / row["operations"] * 1e9)
        names = list(dict.fromkeys(name for those in times.values() for name in those))
        return source(page, files) + markdown([", ".join(sorted(workloads))] + names, [
            [size] + ["" if name not in those else digits(min(those[name])) + (
                "" if name == "Ordo" else f" ({min(those[name]) / min(those['Ordo']):.2f})") for name in names]
            for size, those in times.items()])

    return table


VERDICTS = ("holds", "by less", "does not", "cannot be asked")


def papers(*labels):
    """How many claims of each paper have each verdict."""

    def table(page):
        lines = []
        for label in labels:
            file = Kept(label)
            for paper in file.data["papers"]:
                verdicts = [claim["verdict"] for claim in paper["claims"]]
                lines.append([paper["id"], file.data["devices"][paper["device"]]["name"]] +
                             [str(verdicts.count(verdict)) for verdict in VERDICTS] + [file.link(page)])
        return markdown(["paper", "device"] + list(VERDICTS) + ["file"], lines)

    return table


# ---- tables of the pages


def of(*workloads, **fields):
    """Takes rows of these workloads whose fields have these values."""
    return lambda row: row["workload"] in (workloads or (row["workload"],)) and all(
        row.get(field) == value for field, value in fields.items())

def suite(count, batch):
    """Takes one row of each structure and workload of a suite: pairs of u32, uniform keys, this batch."""
    return of("fillrandom", "readrandom", "readmissing", "seekrandom", "countrandom", "rangerandom",
              key="u32", value_bytes=4, dist="uniform", count=count, batch=batch)


ARRAYS = "h100-all-with-cub-thrust"
LARGE = (1 << 20, 1 << 24, 1 << 27)
BATCHES = (1 << 16, 1 << 20, 1 << 22)
HASH = "cuCollections, BGHT"
PAPERS = ("gpu-lsm", "gpu-b-tree", "fast-tree", "gpu-skiplist-gfsl", "xfast-trie-and-hamt")


def h200(*names):
    return [f"h200-{name}" for name in names]


TABLES = {
    # README.md
    "speed": summary(
        ("sort 2^20 / 2^24 / 2^27, H200", "h200-sort-with-cub", of("sort", value_bytes=4), "count", LARGE, "CUB",
         "peer"),
        ("sort u64 keys with u32 values, 2^22 / 2^24 / 2^26, H200", "h200-sort-wide-with-cub",
         of("sort", value_bytes=4), "count", (1 << 22, 1 << 24, 1 << 26), "CUB", "peer"),
        ("sort 2^24 rows of three columns (u32, f32, u64), H200", "h200-wide-with-thrust", of("columns"), "count",
         LARGE[1:2], "CUB's merge sort of tuples", "peer"),
        ("lower bound in 2^24, random, with an index, H100", ARRAYS, of("search", variant="random+index"), "count",
         LARGE[1:2], "Thrust", "peer"),
        ("LSM filled to 2^26 by batches of 2^16 / 2^20 / 2^22, H200", "h200-lsm-fill-with-peer", of(), "batch", BATCHES,
         "the paper's, made of CUB's calls", "peer"),
        ("hash table built at load 0.8, 2^24 pairs, H200", "h200-hash-load-80", of("build"), "count", LARGE[1:2], HASH,
         "peer"),
        ("LSM filled to 2^22 by batches of 2^16 / 2^20 / 2^22, PoCL on two cores", "pocl-2-cores-lsm-fill", of(),
         "batch", BATCHES, "`absl::btree_map`, one thread", "host")),
    # bench/results/measured.md
    "arrays-h100": rates(ARRAYS, over="count", ratio="peer", where=lambda row: row["workload"] != "reduce"),
    "sort-h200": rates(*h200("sort-with-cub", "sort-wide-with-cub"), over="count", ratio="peer"),
    "sort-h100": rates("h100-sort-with-cub", "h100-sort-wide-with-cub", over="count", ratio="peer"),
    "sort-16-bytes": rates("h100-sort-16-bytes", over="count"),
    "sort-16-bytes-h200": rates("h200-sort-16-bytes-with-cub", over="count", ratio="peer"),
    "sort-shapes-h200": against(*h200("sort-shapes", "sort-shapes-lsd")),
    "fold-h200": rates("h200-fold-with-cub", over="count", ratio="peer"),
    "sums-h100": rates("h100-reduce-groupby", over="count", ratio="peer"),
    "arrays-h200": rates(*h200("scan-compact-reduce", "arrays", "groupby-top"), over="count"),
    "search-h200": rates("h200-search-past-caches", over="count"),
    "suite-h200": rates("h200-suite", over="workload", flip=True, where=suite(1 << 24, 1 << 20)),
    "structures": rates("h200-structures", "h200-erase", over="workload", flip=True,
                        where=lambda row: (row["workload"] == "deleterandom") == (row["file"] == "h200-erase")),
    "compare-h200": rates("h200-compare", over="workload", flip=True),
    "combine": rates(*h200("combine-lsm", "combine-links", "combine-hash", "combine-hash-8"), "h100-combine",
                     over="batch"),
    "mixedseeks": rates("h200-mixedseeks", over="workload", flip=True),
    "rank-select": rates("h100-rank-select", over="workload", flip=True),
    "memory": rates(*h200("blink-updates", "blink-compact", "chunk-16-mix", "chunk-32-mix", "hamt-memory-27"),
                    over="count", value="memory", where=of("fillrandom", "concurrentfill", "cleanup", "build")),
    "concurrent": rates(*h200("concurrent", "concurrent-points", "concurrent-points-10m", "concurrent-points-100m"),
                        over="update_percent"),
    "lsm-fill": rates("h200-lsm-fill-with-peer", "h100-lsm-fill-with-peer", over="batch", ratio="peer"),
    "lsm-updates": rates(*h200("lsm-fill-2-24", "lsm-updates", "sorted-updates"), over="batch"),
    "lsm-queries": rates(*h200("lsm-later-calls", "lsm-queries", "lsm-first-calls", "lsm-first-calls-1024"),
                         over="workload", ratio="sorted array", flip=True),
    "lsm-cleanup": rates("h200-lsm-cleanup", over="count", ratio="rebuild"),
    "blink-queries": rates(*h200("blink-read", "blink-queries", "blink-concurrent-read", "blink-ranges"), over="count"),
    "blink-updates": rates(*h200("blink-fill", "blink-updates", "blink-batches", "blink-batches-with-room"),
                           over="batch"),
    "blink-erase": rates(*h200("blink-erase-10", "blink-erase-50", "blink-erase-100"), over="count"),
    "blink-mix": rates(*h200("blink-mix", "blink-mix-zipf"), over="update_percent"),
    "skiplist": rates("h200-skiplist", over="batch"),
    "chunks": rates(*h200("chunk-16-mix", "chunk-32-mix", "chunk-16-batches", "chunk-32-batches"), over="chunk"),
    "chunk-points": rates(*h200("chunk-16-points", "chunk-32-points"), over="count"),
    "hash-load": rates(*h200("hash-load-50", "hash-load-80", "hash-load-95", "hash-find-50"), over="load_percent",
                       ratio="peer"),
    "hash-find": rates(*h200("hash-find-80", "hash-find-90", "hash-find-95", "hash-u64", "cuckoo-80"),
                       over="load_percent"),
    "hash-updates": rates("h200-hash-updates", over="workload", flip=True),
    "hamt": rates("h200-hamt", over="workload", flip=True),
    "small-batches": rates("h200-small-batches", over="batch"),
    "host-pinned": rates("h200-host-pinned", over="workload", flip=True),
    "wide-peer": rates("h200-wide-with-thrust", over="count", ratio="peer"),
    "fast-layouts": rates(*h200("fast-level-order", "fast-blocked"), over="tune", flip=False),
    "blink-peer": rates(*h200("blink-with-mvgpubtree", "blink-reads-with-mvgpubtree"), over="batch", ratio="peer"),
    "concurrent-mix": rates(*h200("concurrent-mix", "concurrent-points-10m-at-once"), over="update_percent"),
    "concurrent-beside": rates("h200-concurrent-points-10m-beside", over="update_percent"),
    "concurrent-inserts": rates("h200-blink-concurrent-insert", over="batch", ratio="peer"),
    "strings": rates(*h200("strings", "strings-words", "strings-paths"), over="count"),
    "strings-index": rates(*h200("strings", "strings-words", "strings-paths"), over="count", value="index",
                           where=of("indexstrings")),
    "concurrent-tries": rates("h200-concurrent-tries", over="batch"),
    "fast": rates("h200-fast-27", over="count", ratio="sorted array"),
    "prefix": rates("h200-prefix", "h200-count-prefix-24", over="count", ratio="sorted array"),
    "opening": opening("h200-open", "pocl-2-cores-first-calls"),
    "first-calls": first_calls(*h200("first-calls-lsm", "first-calls-sorted-array", "first-calls-blink",
                                      "first-calls")),
    "first-calls-pocl": first_calls("pocl-2-cores-first-calls"),
    "papers": papers(*(f"{device}-paper-{paper}" for device in ("h200", "pocl-2-cores") for paper in PAPERS)),
    "suite-pocl": rates("pocl-2-cores-suite", over="workload", flip=True, where=suite(1 << 18, 1 << 14)),
    "compare-pocl": rates("pocl-2-cores-compare", over="workload", flip=True),
    "strings-sort-pocl": processor_time("pocl-2-cores-sortstrings-words", "pocl-2-cores-sortstrings-paths"),
    "strings-find-pocl": processor_time("pocl-2-cores-findstrings-words", "pocl-2-cores-findstrings-paths"),
    "sort-pocl": processor_time("pocl-2-cores-sort-with-parlay-vqsort", "pocl-2-cores-sort-with-parlay-vqsort-again"),
    "devices-pocl": rates("pocl-2-cores-with-boost-vexcl", over="count", ratio="peer"),
    "search-pocl": rates("pocl-2-cores-search-with-pgm", over="count", flip=True),
    "hash-pocl": processor_time("pocl-2-cores-hash-mixed"),
    "hash-fill-pocl": rates("pocl-2-cores-hash-fill", over="batch", flip=True),
    "insert-pocl": rates("pocl-2-cores-insert-small", over="batch", flip=True),
    "roaring-pocl": rates("pocl-2-cores-roaring", over="dist"),
    "lsm-pocl": rates("pocl-2-cores-lsm-fill", over="batch", ratio="host"),
    "read-pocl": rates(*(f"pocl-2-cores-{name}" for name in ("lsm-read", "blink-read", "hamt-seek")), over="count",
                       ratio="host"),
    "tasks-h200": tasks("h200-tasks"),
    "tasks-h100": tasks("h100-tasks"),
    "tasks-pocl": tasks("pocl-2-cores-tasks"),
}

# A picture's name, the label of its file, and the title of a plot of ordo-bench report.
PICTURES = {
    "sort-h100": ("h100-all-with-cub-thrust", "sort u32+4, NVIDIA H100 80GB HBM3"),
    "merge-h100": ("h100-all-with-cub-thrust", "merge u32+4, NVIDIA H100 80GB HBM3"),
    "fill-pocl": ("pocl-2-cores-lsm-fill", "fillrandom u32+4 into 2^22, pthread-haswell-AMD EPYC"),
    "fill-h200": ("h200-suite", "fillrandom u32+4 into 2^24, NVIDIA H200"),
}

# ---- writing


def page_of(path, text):
    """The page with new tables."""
    return re.sub(r"(<!-- begin: ([\w-]+) -->\n).*?(<!-- end -->)",
                  lambda found: f"{found[1]}{TABLES[found[2]](path)}\n{found[3]}", text, flags=re.DOTALL)


def picture_of(node, label, title):
    """The drawing of one plot."""
    return subprocess.run([node, os.path.join(root, "bench", "results", "draw.js"), Kept(label).path, title],
                          check=True, capture_output=True, text=True).stdout


def made():
    """Paths and their wanted contents."""
    for path in PAGES:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            yield path, page_of(path, file.read())
    node = shutil.which("node") or shutil.which("nodejs")
    for name, (label, title) in PICTURES.items():
        if node:
            yield f"bench/results/pictures/{name}.svg", picture_of(node, label, title)


def problems():
    """Files that no page names, and missing files."""
    pages = {path: open(os.path.join(root, path), encoding="utf-8").read() for path in PAGES}
    text = "".join(pages.values())
    for name in sorted(os.path.basename(path) for path in glob.glob(os.path.join(here, "*.json"))):
        if name not in text:
            yield f"bench/results/{name} stands on no page"
    for name in TABLES:
        if f"<!-- begin: {name} -->" not in text:
            yield f"the table {name} stands on no page"
    for name in sorted(set(PICTURES) | {file[:-4] for file in os.listdir(os.path.join(here, "pictures"))}):
        if f"pictures/{name}.svg" not in text or name not in PICTURES:
            yield f"the picture {name} stands on no page"


def main(check):
    different = list(problems())
    for path, text in made():
        whole = os.path.join(root, path)
        if not os.path.exists(whole) or open(whole, encoding="utf-8").read() != text:
            different.append(f"{path} is not what the kept files make of it: python3 bench/results/figures.py")
            if not check:
                with open(whole, "w", encoding="utf-8") as file:
                    file.write(text)
    if check:
        print("\n".join(different) or "the pages show the kept files")
    return bool(different) and check


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--check"]))
