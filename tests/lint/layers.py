#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: layers.py BUILD

Checks the order of the code: meson.build lists files from the bottom up (host, cl, bench), and each uses only files before
it.
  symbols   an object of the build refers only to objects of files before its own
  includes  a header lies in the includer's folder, or in one that is listed before; no circle of headers; each kernel file
            is listed after those that it includes
  families  host/dict/A and host/dict/B, and cl/dict/A and cl/dict/B, do not know of each other, but for those that are made
            of others (STANDS_ON)
  OpenCL    of the library only host/runtime calls clXxx
Prints what breaks it, a line each; exit status 1 if anything does.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
wrong = []


def complain(text):
    wrong.append(text)


def relative(path):
    return os.path.relpath(os.path.realpath(path), os.path.realpath(ROOT))


# ---- what is listed ------------------------------------------------------------------------------------------------


def introspect(build):
    out = subprocess.run(["meson", "introspect", "--targets", build], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def sources_of(targets, name):
    """The files of a target, in the order of its meson.build."""
    for target in targets:
        if target["name"] == name:
            return [relative(s) for group in target["target_sources"] for s in group.get("sources", [])]
    return []


def lists_of(build):
    """Lists of files, each from the bottom up: the library's, and the tools' on what they share."""
    targets = introspect(build)
    shared = [s for part in ("common", "tools", "rows") for s in sources_of(targets, f"bench-{part}")]
    lists = [sources_of(targets, "ordo")]
    for tool in ("ordo-bench", "ordo-tune", "ordo-demo", "ordo-info"):
        lists.append(shared + [s for s in sources_of(targets, tool) if s.startswith("bench/")])
    if not lists[0] or not shared:
        sys.exit(f"layers.py: {build} lists no sources of the library, or none of the tools")
    return lists, sources_of(targets, "cl_sources")


# ---- symbols -------------------------------------------------------------------------------------------------------


def objects_of(build):
    """The object of each source file; of a file that is compiled twice, the first."""
    objects = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
        for entry in json.load(commands):
            source = relative(os.path.join(entry["directory"], entry["file"]))
            objects.setdefault(source, os.path.join(entry["directory"], entry["output"]))
    return objects


def symbols_of(path):
    """Names that an object defines for others, and names that it wants."""
    defined, wanted = set(), set()
    out = subprocess.run(["nm", "-P", "-g", path], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        name, kind = line.split()[:2]
        (wanted if kind in "Uw" else defined).add(name)
    return defined, wanted


def check_symbols(files, objects):
    files = [f for f in files if f in objects]
    symbols = {f: symbols_of(objects[f]) for f in files}
    place = {f: i for i, f in enumerate(files)}
    home = {name: f for f in files for name in symbols[f][0]}
    for f in files:
        for name in sorted(symbols[f][1]):
            to = home.get(name, f)
            if place[to] > place[f]:
                complain(f"{f} uses {name} of {to}, which is listed after it")
            check_family(f, to, f"uses {name} of")
            if f.startswith(("host/primitive/", "host/dict/")) and re.match(r"cl[A-Z]", name):
                complain(f"{f} calls {name}: only host/runtime calls OpenCL")
    return len(files)


# ---- includes ------------------------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


def includes_of(path):
    """Files of the repository that one includes by "..."; others are generated or foreign."""
    found = []
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        for name in INCLUDE.findall(source.read()):
            for folder in (os.path.dirname(path), "", "host", "cl", "include"):
                if os.path.isfile(os.path.join(ROOT, folder, name)):
                    found.append(relative(os.path.join(ROOT, folder, name)))
                    break
    return found


def family_of(path):
    match = re.match(r"(?:host|cl)/dict/(\w+)/", path)
    return match and match.group(1) != "generic" and match.group(1)  # which all families stand on


# A structure that is made of others: its family stands on theirs.
STANDS_ON = {"trie": {"runs", "hash"}}


def check_family(path, to, what):
    if to and family_of(to) in STANDS_ON.get(family_of(path), ()):
        return
    if family_of(path) and family_of(to) and family_of(path) != family_of(to):
        complain(f"{path} {what} {to}: families do not know of each other")


def folder_places(files):
    """Where each folder's first file is listed, and its last. Below all are the public headers, then those for both
    compilers; below the tools, the library."""
    first = {"include/ordo": -3, "cl/shared": -2}
    if files[0].startswith("bench/"):
        first["host/runtime"] = -1
    last = dict(first)
    for i, path in enumerate(files):
        first.setdefault(os.path.dirname(path), i)
        last[os.path.dirname(path)] = i
    return first, last


def headers_in(folder):
    return [
        relative(os.path.join(at, name))
        for at, _, names in os.walk(os.path.join(ROOT, folder))
        for name in names
        if name.endswith(".h")
    ]


def check_includes(files, headers):
    first, last = folder_places(files)
    place = {f: i for i, f in enumerate(files)}
    for path in sorted(set(files + headers)):
        here = place.get(path, last.get(os.path.dirname(path)))
        for to in includes_of(path):
            there = -1 if to == "host/dict/structure_map.h" else first.get(os.path.dirname(to))  # for tests and tools too
            if here is not None and (there is None or there > here):
                complain(f"{path} includes {to}, which lies above it")
            check_family(path, to, "includes")


def check_circles(headers):
    done = set()

    def visit(path, way):
        if path in way:
            complain("a circle of headers: " + " -> ".join(way[way.index(path):] + [path]))
        elif path not in done and path.endswith(".h"):
            for to in includes_of(path):
                visit(to, way + [path])
            done.add(path)

    for path in sorted(headers):
        visit(path, [])


def check_kernels(files):
    place = {f: i for i, f in enumerate(files)}
    for path in files:
        for to in includes_of(path):
            if to not in place:
                complain(f"{path} includes {to}, which cl/meson.build does not list")
            elif place[to] >= place[path]:
                complain(f"{path} includes {to}, which is listed after it")
            check_family(path, to, "includes")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = sys.argv[1]
    lists, kernels = lists_of(build)
    objects = objects_of(build)
    headers = {top: headers_in(top) for top in ("include/ordo", "host", "cl/shared", "bench")}
    n_objects = sum(check_symbols(files, objects) for files in lists)
    check_includes(lists[0], headers["host"])
    check_includes(headers["include/ordo"], [])
    for files in lists[1:]:
        check_includes(files, headers["bench"])
    check_circles(headers["include/ordo"] + headers["host"] + headers["bench"])
    check_kernels(kernels)
    for text in dict.fromkeys(wrong):
        print(text)
    if not n_objects or not kernels:
        sys.exit("layers.py: nothing was looked at")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
