#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every relative link in pages (*.md) leads to a file and, if it names one, a heading."""
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(__file__), "..", ".."))


def headings(path):
    """A page's anchors: headings in lower case, with dashes for spaces, without other signs."""
    with open(path, encoding="utf-8") as file:
        titles = re.findall(r"^#+ (.*)$", file.read(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


bad, n = [], 0
pages = subprocess.run(["find", ".", "-name", "*.md", "-not", "-path", "./build*", "-not", "-path", "./.*/*"],
                       capture_output=True, check=True, text=True).stdout.split()
for page in pages:
    with open(page, encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    for path, _, heading in (link.partition("#") for link in re.findall(r"\]\(([^)\s]+)\)", text)):
        if re.match(r"\w+:", path):
            continue
        n += 1
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(target):
            bad.append(f"{page}: {path} is not there")
        elif heading and heading not in headings(target):
            bad.append(f"{page}: {path} has no heading {heading}")
print("\n".join(bad + [f"{n} links in {len(pages)} pages"]))
sys.exit(1 if bad or not n else 0)
