#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that manual pages and shell completions have all text of headers and --help.

    pages.py SHARE INCLUDE TOOL...     SHARE: pages of the build; INCLUDE: headers; TOOL: programs
"""
import os
import re
import shutil
import subprocess
import sys

share, include, *tools = sys.argv[1:]
failures = []


def must(good, what):
    if not good:
        failures.append(what)


def read(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        failures.append(f"{os.path.join(*path)} is missing")
        return ""


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def plain(page):
    """The text of a page, without its formatting."""
    lines = [line for line in page.split("\n") if not re.match(r"\.(PP|TP|nf|fi|ft|nh|ad)\b", line)]
    return re.sub(r"\\f[BIR]", "", "\n".join(lines)).replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def renders(name):
    """Checks that a page renders in 80 columns, without a warning."""
    if not shutil.which("groff"):
        return
    got = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", "-rLL=78n", "-P-c", os.path.join(share, name)],
                         capture_output=True, check=False)
    must(got.returncode == 0 and not got.stderr, f"{name}: groff says {got.stderr.decode()}")
    for line in re.sub(r".\x08", "", got.stdout.decode()).split("\n"):
        must(len(line) <= 80, f"{name}: a line of {len(line)} columns: {line}")


# ---- headers: each comment's words and each name are on the page, and each name has a page with its prototype and text
n_names = 0
for header in sorted(os.listdir(include)):
    text = read(include, header)
    stem = header.removesuffix(".h")
    name = "ordo.7" if stem == "ordo" else f"ordo_{stem}.3"
    page = plain(read(share, name))
    comments = re.findall(r"/\*(.*?)\*/", text, re.S)[1:]  # but for the licence
    comments = [c for c in comments if "Parameters made in place" not in c]
    missing = words(" ".join(comments)) - words(page)
    must(not missing, f"{name} lacks words of {header}: {sorted(missing)}")
    doc = os.path.join(os.path.dirname(include), "..", "share", "doc", f"{stem}.md")
    if os.path.exists(doc):
        missing = words(re.sub(r"\]\([^)]*\)", "]", read(doc))) - words(page)
        must(not missing, f"{name} lacks words of share/doc/{stem}.md: {sorted(missing)}")
    elif stem not in ("device", "ordo", "prepare", "status"):
        must(False, f"share/doc/{stem}.md is missing")
    must(stem in ("ordo", "status") or "\n.SH EXAMPLE" in page, f"{name} has an example")
    declared = re.findall(r"\b(ordo_\w+)\((?=[^;]*\)\s*;)", " ".join(re.findall(r"^ORDO_API.*?;", text, re.M | re.S)))
    for other in declared + re.findall(r"^#define (ordo_\w+)\(", text, re.M):
        n_names += 1
        must(other in page.split("SYNOPSIS")[0], f"{name} names {other}")
        if f"{other}.3" != name:
            own = plain(read(share, f"{other}.3"))
            must(other in own.split("SYNOPSIS")[0], f"{other}.3 has it as its name")
            must(re.search(rf"\b{other}\b", own.split("SYNOPSIS")[1].split("DESCRIPTION")[0]), f"{other}.3 has its prototype")
            must(name.rpartition(".")[0] in own.split("SEE ALSO")[1], f"{other}.3 refers to {name}")
        must(re.search(rf"^\.SS .*\b{other}\b", page, re.M), f"{name} has a heading for {other}")
    renders(name)
must(n_names > 80, f"only {n_names} names were looked for")
upsert = plain(read(share, "ordo_dict_upsert.3"))
must("ordo_dict_upsert_host" in upsert, "the page of upsert has both of its calls")
must(upsert.index("ordo_dict_upsert(") < upsert.index("DESCRIPTION"), "a page begins with the prototype")
renders("ordo_dict_upsert.3")
for page in ("ordo.7", "ordo_dict.3"):
    must("ordo_prepare" in read(share, page).split("SEE ALSO")[1], f"{page} refers to ordo_prepare")
must("./run" not in read(share, "ordo.7"), "ordo.7 names programs that are installed")
readme = read(share, "README.md")
for link in re.findall(r"\]\(([^)#]*)", readme):
    must(re.match(r"CHANGELOG.md|LICENSE|examples", link), f"the installed README leads to {link}")
must("examples/sort.c" in readme and "![" not in readme, "the installed README has links to examples, and no pictures")

# ---- tools: each option and each word of it
for tool in tools:
    name = os.path.basename(tool)
    text = subprocess.run([tool, "--help"], capture_output=True, check=True).stdout.decode()
    page = plain(read(share, f"{name}.1"))
    bash, zsh = read(share, name), read(share, f"_{name}")
    missing = words(text) - words(page) - {"usage"}
    must(not missing, f"{name}.1 has not what --help says: {sorted(missing)}")
    options = re.findall(r"(?:^ {2,6}|, )(--[a-z-]+)", text, re.M)
    must(len(options) > 5, f"{name} --help has options")
    for option in options:
        must(re.search(rf"(^|, )\S*{option}\b", page, re.M), f"{name}.1 has {option}")
        must(re.search(rf"[ \"]{option}[ \"]", bash), f"bash completes {option} of {name}")
        must(re.search(rf"\){option}[=\[]", zsh), f"zsh completes {option} of {name}")
    renders(f"{name}.1")
    for shell, path in (("bash", name), ("zsh", f"_{name}")):
        if shutil.which(shell):
            got = subprocess.run([shell, "-n", os.path.join(share, path)], capture_output=True, check=False)
            must(got.returncode == 0, f"{shell} reads {path}: {got.stderr.decode()}")


def completes(line, expected):
    """Checks that bash offers `expected` after the words of `line`."""
    script = ('compopt() { :; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
              '_${1//-/_}; echo "${COMPREPLY[*]}"')
    got = subprocess.run(["bash", "-c", script, os.path.join(share, line[0]), *line], capture_output=True, check=False)
    must(got.stdout.decode().split() == expected, f"bash completes {line}: {got.stdout.decode()} {got.stderr.decode()}")


if shutil.which("bash") and any(tool.endswith("ordo-bench") for tool in tools):
    completes(["ordo-bench", "--work"], ["--workload"])
    completes(["ordo-bench", "-w", "sort,concurrentf"], ["sort,concurrentfill"])
    completes(["ordo-bench", "--types", "=", "f"], ["f32", "f64"])
    completes(["ordo-bench", "--types", "="], ["u32", "u64", "i32", "i64", "f32", "f64", "u128", "bytes16"])
    completes(["ordo-bench", "--seed", "1"], [])

for failure in failures:
    print(f"not so: {failure}")
print(f"{n_names} names and {len(tools)} tools were looked for")
sys.exit(1 if failures else 0)
