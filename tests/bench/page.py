#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the page of results: contrast, colours for the colour-blind, the fields of a file, and large files. If
ORDO_TEST_CHROMIUM names a Chromium, also windows of three widths, light and dark, and printed pages. Node.js draws the
pages.

    page.py ORDO-BENCH RESULTS
"""
import copy
import glob
import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

bench, results = sys.argv[1:]
node = shutil.which("node") or shutil.which("nodejs")
failures = []


def must(good, what):
    if not good:
        failures.append(what)


def report(out, *files):
    done = subprocess.run([bench, "report", *files, "-o", out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    must(done.returncode in (0, 1), "report ends with %d: %s" % (done.returncode, done.stdout.decode()[:300]))


def render(*arguments):
    """Draws pages in place, as a browser does."""
    render = os.path.join(os.path.dirname(os.path.abspath(__file__)), "render.js")
    return subprocess.run([node, render, *arguments], check=True, stdout=subprocess.PIPE).stdout


def text_of(path):
    with open(path, encoding="utf-8") as page:
        return page.read()


# ---- colours


def rgb(text):
    text = text.lstrip("#")
    text = "".join(c * 2 for c in text) if len(text) == 3 else text
    return [int(text[i:i + 2], 16) / 255 for i in (0, 2, 4)]


def linear(colour):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]


def luminance(colour):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# Viénot, Brettel, Mollon 1999 for the first two; Machado, Oliveira, Fernandes 2009 for the third; on linear colours.
BLIND = {
    "protanopia": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranopia": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def seen(colour, matrix):
    return [min(1, max(0, sum(m * c for m, c in zip(row, colour)))) for row in matrix]


def lab(colour):
    x, y, z = (sum(m * c for m, c in zip(row, colour)) / white for row, white in zip(
        ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)), (0.9505, 1, 1.089)))
    f = [t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def distance(a, b, matrix):
    return sum((x - y) ** 2 for x, y in zip(lab(seen(linear(a), matrix)), lab(seen(linear(b), matrix)))) ** 0.5


def check_colours(path):
    page = text_of(path)
    drawn = json.loads(render("--lines", path))
    style = page[page.index("<style>"):page.index("</style>")]
    grounds = re.findall(r":root\{(.*?)\}", style, re.DOTALL)
    must(len(grounds) == 2, "there is a light and a dark ground")
    must(len(drawn["colours"]) == 8, "there are eight colours of lines")
    for which, ground in enumerate(grounds):
        colour = {name: rgb(value) for name, value in re.findall(r"--([a-z]+):(#[0-9a-f]+)", ground)}
        for text, below in (("t", "g"), ("q", "g"), ("bad", "g"), ("bad", "badg"), ("t", "badg"), ("t", "mid"), ("t", "good")):
            must(contrast(colour[text], colour[below]) >= 4.5,
                 "%d: text %s on %s has %.2f:1" % (which, text, below, contrast(colour[text], colour[below])))
        for colours in drawn["colours"]:
            has = contrast(rgb(colours[which]), colour["g"])
            must(has >= 3, "%s has %.2f:1" % (colours[which], has))
        shown = {colours[0]: rgb(colours[which]) for colours in drawn["colours"]}
        lines = [(i, shown[line["colour"]], line["dash"]) for i, line in enumerate(drawn["lines"])]
        for (i, a, dash), (j, b, other) in itertools.combinations(lines, 2):
            apart = min(distance(a, b, matrix) for matrix in BLIND.values())
            must(i % drawn["marks"] != j % drawn["marks"] or dash != other or apart >= 10,
                 "%d: lines %d and %d differ by %.1f, and neither in dash nor in mark" % (which, i, j, apart))


# ---- fields of a file on the page

# Fields for tools, and sources of computed figures on the page.
SILENT = {
    "tool", "version", "schema", "sources", "type", "sanitizers", "environment", "system", "processors", "ended", "seconds", "load",
    "began", "sensors", "sensors_at_end", "vendor", "opencl", "cpu", "unified_memory", "groups_progress", "int64_atomics", "address_order",
    "own_binary_cache", "lanes", "atomics", "sub_group", "compute_units", "max_group", "cache_line_bytes", "clock_mhz", "timer_ns",
    "local_bytes", "cache_bytes", "global_bytes", "max_alloc_bytes", "open_ms", "build_ms", "self_test_ms", "self_test_remembered",
    "dropped", "tunables", "origins", "process", "when", "compiler",
}


def leaves(thing, path=()):
    if isinstance(thing, dict):
        for name, value in thing.items():
            yield from leaves(value, path + (name,))
    elif isinstance(thing, list):
        for i, value in enumerate(thing[:2]):
            yield from leaves(value, path + (i,))
    elif isinstance(thing, (int, float, str)) and not isinstance(thing, bool):
        yield path, thing


def put(thing, path, value):
    for step in path[:-1]:
        thing = thing[step]
    thing[path[-1]] = value


# The figures of a row on the page. A row without them is in the list of hidden rows.
SHOWN = {"rate", "count", "workload", "variant", "key", "value_bytes", "dist", "check", "revision", "date", "name", "platform", "driver",
         "processor", "paper", "here", "verdict", "says", "where", "why", "title", "call", "threads", "version", "copy_bytes_per_s"}


def check_fields(dir, file):
    with open(file, encoding="utf-8") as source:
        whole = json.load(source)
    whole["rows"] = [row for row in whole.get("rows", []) if row.get("check") == "ok"][:3]
    pages = {}

    def page_of(thing, what):
        mutant, page = os.path.join(dir, "mutant.json"), os.path.join(dir, "mutant%d.html" % len(pages))
        with open(mutant, "w", encoding="utf-8") as out:
            json.dump(thing, out)
        report(page, mutant)
        pages[page] = what

    page_of(whole, "")
    for path, value in leaves(whole):
        names = [step for step in path if isinstance(step, str)]
        if names[-1] not in SHOWN or SILENT.intersection(names[:-1]) or names[0] in ("tool", "version", "schema", "processes", "build"):
            continue
        if names[-2:] == ["peer", "count"] or ("limits" in names and path[3] > 0): # the row's own; of the first process
            continue
        if "fills" in names and len(whole[path[0]][path[1]]["fills"]) < 2: # a plot over fills has two at least
            continue
        changed = copy.deepcopy(whole)
        other = value * 1.5 + 1 if isinstance(value, float) else value * 2 + 2 if isinstance(value, int) else None
        if other is None: # a word that means something is changed for another that does
            other = {"u32": "u64", "uniform": "zipf", "ok": "WRONG"}.get(value, "another" if names[-1] not in ("workload", "variant") else None)
        if other is None:
            continue
        if names[-1] == "value_bytes":
            other = 8 if value != 8 else 4
        put(changed, path, other)
        page_of(changed, "/".join(map(str, path)))
    render(*pages)
    before, *after = pages
    for page in after:
        must(text_of(page) != text_of(before), "%s: no change with %s" % (os.path.basename(file), pages[page]))
    return len(after)


# ---- large


def kept_rows(n):
    """The first good rows of the kept files, suites first, without fields that differ between processes."""
    files = sorted(glob.glob(os.path.join(results, "*.json")), key=lambda name: ("suite" not in name, "h200" not in name, name))
    rows = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            rows += [row for row in json.load(file).get("rows", []) if row.get("check") == "ok"]
        if len(rows) >= n:
            return [{**row, "device": 0, "process": 0} for row in rows[:n]]
    return []


def check_large(dir):
    rows = kept_rows(500)
    must(len(rows) == 500, "there are 500 kept rows")
    files = []
    for d in range(6):
        files.append(os.path.join(dir, "large%d.json" % d))
        slower = [{**row, "rate": row["rate"] / (1 + 0.13 * d)} for row in rows]
        with open(files[-1], "w", encoding="utf-8") as out:
            json.dump({"tool": "ordo-bench", "schema": 1, "revision": "r", "clean": True, "date": "2026-01-0%dT00:00:00Z" % (d + 1),
                       "arguments": ["suite"], "host": {"processor": "p"}, "processes": [], "rows": slower,
                       "devices": [{"name": "Device %d" % d, "platform": "P", "driver": "1", "limits": [{"copy_bytes_per_s": 1e12}]}]}, out)
    page = os.path.join(dir, "large.html")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    report(page, *files)
    size = os.path.getsize(page)
    render(page)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    must(size < 1.5e6, "a page of 6 devices with 500 rows each has %d bytes" % size)
    # Against work that grows with the square of the rows, not a measurement: 0.4 s, and three times that under sanitizers.
    must(spent < 10, "a page of 6 devices with 500 rows each takes %.2f s" % spent)
    return size, spent


# ---- windows

FRAME = """<!doctype html><body style="margin:0"><pre id=o></pre><script>
const w=+location.hash.slice(1), f=document.createElement('iframe');
f.style.cssText='border:0;height:800px;width:'+w+'px'; f.src='page.html';
const rolls=(x,v)=>['auto','scroll','hidden'].includes(v.getComputedStyle(x).overflowX);
f.onload=()=>{const d=f.contentDocument, v=f.contentWindow; let far=d.documentElement.scrollWidth;
for(const x of d.querySelectorAll('body *')){let p=x.parentElement; while(p&&!rolls(p,v))p=p.parentElement;
if(!p)far=Math.max(far,x.getBoundingClientRect().right)}
document.getElementById('o').textContent='widest '+Math.ceil(far-0.5)+' dark '+v.matchMedia('(prefers-color-scheme: dark)').matches};
document.body.append(f);</script>"""


def browse(chromium, dir, *arguments):
    return subprocess.run([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                           "--user-data-dir=" + os.path.join(dir, "profile"), *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120, check=False).stdout.decode("utf-8", "replace")


def check_windows(chromium, dir):
    with open(os.path.join(dir, "frame.html"), "w", encoding="utf-8") as frame:
        frame.write(FRAME)
    grounds = set()
    for width in (390, 820, 1280):
        for scheme in (0, 1):
            told = browse(chromium, dir, "--window-size=1400,900", "--blink-settings=preferredColorScheme=%d" % scheme,
                          "--virtual-time-budget=5000", "--dump-dom", "file://%s/frame.html#%d" % (dir, width))
            found = re.search(r"widest (\d+) dark (\w+)", told)
            must(found, "a window of %d pixels shows the page" % width)
            if found:
                grounds.add(found.group(2))
                must(int(found.group(1)) <= width, "in a window of %d pixels something ends at %s" % (width, found.group(1)))
    must(len(grounds) == 2, "light and dark were both shown")
    pdf = os.path.join(dir, "page.pdf")
    browse(chromium, dir, "--print-to-pdf=" + pdf, "file://%s/page.html" % dir)
    with open(pdf, "rb") as printed:
        pages = len(re.findall(rb"/Type\s*/Page[^s]", printed.read()))
    return pages


def main():
    if not node:
        print("SKIP: Node.js draws the pages, which is not there")
        sys.exit(77)
    files = sorted(glob.glob(os.path.join(results, "*.json")))
    with tempfile.TemporaryDirectory() as dir:
        report(os.path.join(dir, "page.html"), *files)
        check_colours(os.path.join(dir, "page.html"))
        tried = sum(check_fields(dir, file) for file in
                    ([f for f in files if "compare" in f] + [f for f in files if "paper" in f] + files)[:3])
        bytes, spent = check_large(dir)
        chromium = os.environ.get("ORDO_TEST_CHROMIUM")
        pages = check_windows(chromium, dir) if chromium else 0
    for failure in failures:
        print("not so: " + failure)
    print("%d fields; 6 devices with 500 rows: %d bytes in %.2f s; %s" %
          (tried, bytes, spent, "printed on %d pages" % pages if chromium else "windows are looked at with ORDO_TEST_CHROMIUM=PROGRAM"))
    sys.exit(1 if failures else 0)


main()
