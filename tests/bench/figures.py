#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables and pictures of the READMEs are what the kept files make of them.

    figures.py SOURCE ORDO-BENCH    SOURCE: the repository's root
"""
import filecmp
import os
import re
import subprocess
import sys
import tempfile

source, bench = sys.argv[1:]
results = os.path.join(source, "bench", "results")
failures = []


def must(good, what):
    if not good:
        failures.append(what)


must(subprocess.run([os.path.join(results, "figures.py"), "--check"], check=False).returncode == 0, "the tables are up to date")

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
sys.exit(bool(failures))
