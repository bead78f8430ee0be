#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the example of each public header: the lines that are indented by four spaces between "Example:" and the end of the
first comment.

    examples.py INCLUDE COMPILER...     INCLUDE: the directory above ordo/; COMPILER: a C compiler with its options

An example may use the names in WRAPPER. The test also removes and breaks each example, and checks that both are found.
"""
import os
import re
import subprocess
import sys

include, *compiler = sys.argv[1:]
WITHOUT = ("ordo.h", "status.h")

WRAPPER = """#include "ordo/{header}"
#include "ordo/ordo.h"
#include <stdio.h>
void example(ordo_device *dev, void *keys, void *values, void *queries, void *out, void *found, void *sorted_keys,
             void *sorted_values, void *keys_out, void *values_out, void *codes, void *bytes, size_t count, size_t n, size_t size);
void example(ordo_device *dev, void *keys, void *values, void *queries, void *out, void *found, void *sorted_keys,
             void *sorted_values, void *keys_out, void *values_out, void *codes, void *bytes, size_t count, size_t n, size_t size)
{{
    {{
#line {line} "{header}"
{code}
    }}
}}
"""


def fault_of(header, text):
    """The fault of the example in a header's text, or None."""
    comment = re.match(r".*?\*/\s*/\*(.*?)\*/", text, re.S)
    before, found, example = comment[1].partition(" Example:") if comment else ("", "", "")
    code = [line[6:] for line in example.split("\n") if line.startswith(" *     ")]
    if not found or not code:
        return f"{header}: there is no example"
    line = text[:comment.start(1)].count("\n") + before.count("\n") + 3
    source = WRAPPER.format(header=header, line=line, code="\n".join(code))
    got = subprocess.run(compiler + ["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-fsyntax-only",
                                     "-I", include, "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
    return f"{header}: the example does not compile:\n{got.stderr}" if got.returncode else None


headers = [name for name in sorted(os.listdir(os.path.join(include, "ordo"))) if name.endswith(".h") and name not in WITHOUT]
failures = []
for name in headers:
    with open(os.path.join(include, "ordo", name), encoding="utf-8") as file:
        content = file.read()
    failures += filter(None, [fault_of(name, content)])
    if not fault_of(name, content.replace(" Example:", " Sample:", 1)):
        failures.append(f"{name}: the missing example is not found")
    if not fault_of(name, re.sub(r"( Example:.*?ordo_\w+)\(", r"\1(no_such_name, ", content, count=1, flags=re.S)):
        failures.append(f"{name}: the broken example is not found")
print("\n".join(failures) or f"{len(headers)} examples compile")
sys.exit(1 if failures or not headers else 0)
