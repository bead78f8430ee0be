#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the kernel sources as a C file: the table that host/runtime/cl_files.h declares.

usage: embed.py OUTPUT ROOT SOURCE...     (paths in the table are relative to ROOT)

Comments "/* Built together: NAME... */" name kernels. A call of one of them builds all.
"""
import os
import re
import sys


def c_array(data):
    """The bytes as rows of numbers: a string literal may hold only 4095 characters in C11."""
    return ",\n".join(",".join(str(byte) for byte in data[at : at + 32]) for at in range(0, len(data), 32))


def together(source, text, every_text):
    """The sets of kernels that are built together, a line each, a space before and after each name. A file's kernels are also those
    of the files that it includes."""
    sets = [names.replace("\n *", " ").split() for names in re.findall(r"^/\* Built together: (.*?) \*/$", text, re.M | re.S)]
    names = [name for names in sets for name in names]
    for name in names:
        if names.count(name) > 1 or not re.search(rf"\b(void|\w+)\b[ (]{name}\b", every_text):
            sys.exit(f"{source}: built together: {name}: no kernel, or one of several sets")
    return "".join(" " + " ".join(names) + " \\n" for names in sets)


def main(output, root, sources):
    arrays, rows = [], []
    every_text = "".join(open(source, encoding="latin-1").read() for source in sources)
    for i, source in enumerate(sources):
        path = os.path.relpath(source, root).replace(os.sep, "/")
        with open(source, "rb") as file:
            data = file.read()
        for at, byte in enumerate(data):
            if byte == 0 or byte > 126:
                line = data.count(b"\n", 0, at) + 1
                sys.exit(f"{source}:{line}: byte {byte:#04x}: kernel sources are plain ASCII")
        kernels = together(source, data.decode(), every_text)
        arrays.append(f"static const char text_{i}[] = {{ /* {path} */\n{c_array(data + bytes(1))}\n}};\n")
        rows.append(f'    {{ "{path}", text_{i}, sizeof(text_{i}) - 1, "{kernels}" }},\n')
    with open(output, "w", encoding="ascii") as file:
        file.write('/* Made by cl/embed.py. */\n#include "runtime/cl_files.h"\n\n')
        file.writelines(arrays)
        file.write("\nconst struct ordo_cl_file ordo_cl_files[] = {\n")
        file.writelines(rows)
        file.write("};\nconst size_t ordo_n_cl_files = sizeof(ordo_cl_files) / sizeof(ordo_cl_files[0]);\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
