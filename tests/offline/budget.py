# SPDX-License-Identifier: Apache-2.0
"""Budgets of kernels on devices (budget.txt, a line for each kernel and figure), and their check.

Figures are the largest of the variants compiled for a device. They depend on the compiler, so they hold for the versions
named in the file. Figures of another version are only reported.
"""
import math
import string

BUDGETED = ("registers", "local", "private", "spills")
# How much more than its budget a kernel may take: compilers are not steady to the last register.
SLACK = dict(registers=lambda old: max(4, math.ceil(old / 16)), local=lambda old: 0,
             private=lambda old: max(16, old // 16) if old else 0, spills=lambda old: max(2, old // 8) if old else 0)

ABSENT = "-"
HEAD = """\
# The maximum that each kernel takes on each device: registers, bytes of local memory, bytes of private memory, spills.
# A column for each device. "-": the kernel does not run there. Lines of zeros are left out. README.md: renewal.
"""
WHAT_TO_DO = "Make it smaller, or, if it is worth what it takes, renew the budget: see tests/offline/README.md."


def worst(figures):
    """{(kernel, device): {figure: the largest}} of [(kernel, device, {figure: number})]."""
    most = {}
    for kernel, device, numbers in figures:
        line = most.setdefault((kernel, device), {})
        for figure in BUDGETED:
            if figure in numbers:
                line[figure] = max(line.get(figure, 0), numbers[figure])
    return most


# ---- the file ------------------------------------------------------------------------------------------------------

def read(text):
    """(compilers, lines): {device: compiler}, {(kernel, device): {figure: number}}."""
    compilers, lines = {}, {}
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if words[0] == "compiler":
            compilers[words[2]] = " ".join(words[3:])
            continue
        for device, number in zip(sorted(compilers), words[2:]):
            if number != ABSENT:
                lines.setdefault((words[1], device), {})[words[0]] = int(number)
    return compilers, with_zeros(lines)


def with_zeros(lines):
    """Adds the zeros that the file leaves out."""
    return {key: {figure: numbers.get(figure, 0) for figure in BUDGETED} for key, numbers in lines.items()}


def write(compilers, lines):
    devices, kernels = sorted(compilers), sorted({kernel for kernel, _ in lines})
    letters = string.ascii_uppercase[:len(devices)]
    text = [HEAD]
    text += [f"compiler {letter} {device:24} {compilers[device]}\n" for letter, device in zip(letters, devices)]
    for figure in BUDGETED:
        text.append(f"\n# {figure:7} {'kernel':24}" + "".join(f" {letter:>5}" for letter in letters) + "\n")
        text += [row(figure, kernel, [lines.get((kernel, device)) for device in devices]) for kernel in kernels]
    return "".join(text)


def row(figure, kernel, figures):
    """A line of the file; "" if all numbers are 0. Registers have every line, so they tell which kernels a device has."""
    numbers = [ABSENT if on_device is None else str(on_device.get(figure, 0)) for on_device in figures]
    if figure != BUDGETED[0] and set(numbers) <= {ABSENT, "0"}:
        return ""
    return f"{figure:9} {kernel:24}" + "".join(f" {number:>5}" for number in numbers) + "\n"


def renewed(old, compilers, lines, gone):
    """The file's text with what was compiled now in the place of what it said. `gone`: (kernel, device) that a whole
    run would have seen and did not."""
    old_compilers, old_lines = old
    kept = {key: numbers for key, numbers in old_lines.items() if key not in gone}
    return write({**old_compilers, **compilers}, {**kept, **lines})


# ---- comparing -----------------------------------------------------------------------------------------------------

def growth(kernel, device, now, budget):
    """Sentences about one kernel on one device."""
    sentences = []
    for figure in BUDGETED:
        number, allowed = now.get(figure, 0), budget.get(figure, 0)
        if number > allowed + SLACK[figure](allowed):
            verb = "spills" if figure == "spills" and allowed == 0 else "has grown"
            sentences.append(f"{kernel} on {device} {verb}: {figure} {number}, budget {allowed}")
    return sentences


def compare(budget, compilers, lines):
    """(failures, notes) of {(kernel, device): figures} against a file that was read."""
    known_compilers, known = budget
    failures, notes = [], []
    others = sorted(device for device, name in compilers.items() if known_compilers.get(device, name) != name)
    for device in others:
        notes.append(f"{device}: the budget is of {known_compilers[device]}, this is {compilers[device]}: not compared")
    for (kernel, device), now in sorted(lines.items()):
        if device in others:
            continue
        if (kernel, device) not in known:
            failures.append(f"{kernel} on {device} has no budget: " +
                            ", ".join(f"{figure} {number}" for figure, number in now.items()))
        else:
            failures += growth(kernel, device, now, known[kernel, device])
    return failures, notes


def gone(budget, lines, devices):
    """(kernel, device) in the budget that a whole run on these devices did not see."""
    return {key for key in budget[1] if key[1] in devices and key not in lines}
