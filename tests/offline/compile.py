#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernel variants for devices that this machine lacks, with their makers' compilers, and compares registers, memory
and spills with a budget. See README.md.

usage: compile.py [--renew | --everything | --pairs] [--json FILE] ASKED CL-DIR OUT [WORD...]

  ASKED         the program that prints the variants (asked.c)
  CL-DIR        kernels of tests (tests/primitive/cl)
  OUT           receives figures.txt: the figures of every kernel of every variant
  WORD...       only the targets and modules whose names contain one of them
  --renew       replaces budget.txt; with WORDs, the lines of compiled kernels
  --everything  compiles every variant for every device, in several times the time, without the budget
  --pairs       compiles fewer variants, with each kernel and each value of each macro, and checks the form of the rest:
                less than half of the time
  --json FILE   the figures once more

Targets whose compilers are missing are reported as skipped. Fails on any error or warning, on growth above the budget, on
kernels and tunables without a variant, and if all compilers are missing.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import budget  # noqa: E402
import targets  # noqa: E402
import variants  # noqa: E402

SHOWN_IN_FULL = 2  # failures of a target of which the compiler's output is shown; the rest are only named
BUDGET = os.path.join(HERE, "budget.txt")
CL = os.path.join(HERE, "..", "..", "cl")


class Figure:
    """What one kernel of one variant takes on one device."""

    def __init__(self, kernel, target, variant, numbers):
        self.kernel, self.device, self.numbers = kernel, target.name, numbers
        self.module, self.title = variant.module, variant.title

    @property
    def size(self):
        return self.numbers.get("spills", 0), self.numbers.get("private", 0), self.numbers.get("registers", 0)


# ---- variants --------------------------------------------------------------------------------------

def plan(options, pool):
    """({target: variants}, {target: those of which only the form is looked at}, whether a kernel is asked for, gaps in sentences)."""
    asking = {target: pool.submit(variants.ask, options.asked, os.path.join(options.out, "text", target.name),
                                  options.cl_dir, target.facts, "choices" if target is targets.CHOICES else "shipped")
              for target in [targets.CHOICES] + targets.TARGETS}
    lists, everything = {}, []
    for target in targets.TARGETS:
        asked, _ = asking[target].result()
        lists[target] = variants.one_of_each_kind(asked)
        everything += asked
    tuned, choices = asking[targets.CHOICES].result()
    lists[targets.CHOICES] = variants.one_of_each_kind(
        [v for v in tuned if v.choice != "shipped"], lambda variant: variant.tuning)
    gaps = variants.gaps(variants.modules_with_kernels(CL), everything + tuned, choices)
    shares = variants.deal(lists, options.everything)
    compiled, forms = variants.pairs(shares) if options.pairs else (shares, {target: [] for target in shares})
    return compiled, forms, variants.is_asked(everything + tuned), gaps


def kernels_of(words, shares):
    """The kernels of all modules with a word in their name."""
    return {kernel for share in shares.values() for v in share if any(word in v.module for word in words)
            for kernel in v.kernels}


def chosen_by(words, kernels, target, share):
    """The variants that `words` choose. Other modules can contain the same kernels, whose budgets are for all modules."""
    return [v for v in share if not words or kernels.intersection(v.kernels) or any(word in target.name for word in words)]


# ---- compiling -----------------------------------------------------------------------------------------------------

def compile_one(target, variant):
    with tempfile.TemporaryDirectory(prefix="ordo-offline-") as folder:
        return target.compile(variant, folder)


def look_at(target, variant):
    target.form(variant)
    return {}


def summary_of(figures):
    """One line: the largest figures, and how many kernels spill."""
    if not figures:
        return "compiled (no figures)"
    most = max(figures, key=lambda f: f.numbers.get("registers", 0))
    local = max(f.numbers.get("local", 0) for f in figures)
    spilling = sorted({f.kernel for f in figures if f.numbers.get("spills")})
    return ", ".join([f"{len(figures)} kernels", f"registers <= {most.numbers.get('registers', 0)} ({most.kernel})",
                      f"local <= {local}", f"spilling: {' '.join(spilling)}" if spilling else "no spills"])


def collect(target, work, jobs, is_asked):
    """(figures, how many failed) of one target, as its jobs end."""
    figures, failed = [], 0
    for variant, job in zip(work, jobs):
        try:
            for kernel, numbers in job.result().items():
                if is_asked(variant, kernel):
                    figures.append(Figure(kernel, target, variant, numbers))
        except (targets.Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            text = f"\n{failure}" if failed <= SHOWN_IN_FULL else ""
            print(f"FAILED {target.name}: {variant.title}{text}", flush=True)
    return figures, failed


def start(shares, forms, words, kernels, pool):
    """[(target, variants, jobs)] of the targets whose compilers are here; the forms at the end of their variants."""
    started = []
    for target, share in shares.items():
        missing = target.missing()
        if missing:
            print(f"skip   {target.name:20} not here: {', '.join(missing)}", flush=True)
            continue
        work, looks = (chosen_by(words, kernels, target, v) for v in (share, forms[target]))
        jobs = [pool.submit(compile_one, target, v) for v in work] + [pool.submit(look_at, target, v) for v in looks]
        started.append((target, work + looks, jobs))
    return started


def compile_all(started, is_asked):
    """(figures, number of failed variants, targets of which none failed)."""
    figures, failed, good = [], 0, []
    for target, work, jobs in started:
        if not work:
            continue
        got, bad = collect(target, work, jobs, is_asked)
        print(f"{'FAILED' if bad else 'ok    '} {target.name:20} {len(work) - bad:3} of {len(work):3} variants: "
              f"{summary_of(got)}", flush=True)
        figures += got
        failed += bad
        good += [] if bad else [target]
    if not any(work for _, work, _ in started):
        sys.exit("nothing was compiled: no compiler is here (see README.md), or no name was right")
    return figures, failed, good


# ---- telling -------------------------------------------------------------------------------------------------------

def write_figures(figures, path):
    with open(path, "w", encoding="ascii") as file:
        columns = " ".join(f"{name:>9}" for name in targets.FIGURES)
        file.write(f"{'kernel':24} {'device':20} {columns}  variant\n")
        for f in sorted(figures, key=lambda f: (f.kernel, f.device, f.title)):
            numbers = " ".join(f"{f.numbers.get(name, '-'):>9}" for name in targets.FIGURES)
            file.write(f"{f.kernel:24} {f.device:20} {numbers}  {f.title}\n")


def write_json(figures, path):
    rows = [dict(kernel=f.kernel, device=f.device, variant=f.title, **f.numbers) for f in figures]
    with open(path, "w", encoding="ascii") as file:
        json.dump(rows, file, indent=1)


def print_worst(figures, count=3):
    """Of each maker the kernels that take most."""
    for maker in "AMD", "Intel", "NVIDIA":
        names = {t.name for t in targets.TARGETS if t.maker == maker}
        seen = set()
        for f in sorted((f for f in figures if f.device in names), key=lambda f: f.size, reverse=True):
            if f.kernel in seen or len(seen) == count:
                continue
            seen.add(f.kernel)
            numbers = ", ".join(f"{name} {f.numbers[name]}" for name in targets.FIGURES if name in f.numbers)
            print(f"most   {f.device:20} {f.kernel}: {numbers}   {f.title}")


# ---- the budget ----------------------------------------------------------------------------------------------------

def read_budget():
    if not os.path.exists(BUDGET):
        return {}, {}
    with open(BUDGET, encoding="ascii") as file:
        return budget.read(file.read())


def judge(figures, whole, renew):
    """Compares with the budget, or writes it; the number of failures. Kernels of tests have none."""
    lines = budget.worst([(f.kernel, f.device, f.numbers) for f in figures if f.module not in variants.EVERYWHERE])
    seen = {device for _, device in lines}
    compilers = {t.name: t.compiler() for t in targets.TARGETS if t.name in seen}
    known = read_budget()
    gone = budget.gone(known, lines, {t.name for t in whole if t.name in seen})
    if renew:
        with open(BUDGET, "w", encoding="ascii") as file:
            file.write(budget.renewed(known, compilers, lines, gone))
        print(f"written: {BUDGET}, {len(lines)} lines of it now, {len(gone)} dropped")
        return 0
    failures, notes = budget.compare(known, compilers, lines)
    notes += [f"{kernel} on {device} is in the budget, and was not compiled" for kernel, device in sorted(gone)]
    for note in notes:
        print(f"note   {note}")
    for failure in failures:
        print(f"FAILED {failure}")
    if failures:
        print(budget.WHAT_TO_DO)
    return len(failures)


# ---- the program ---------------------------------------------------------------------------------------------------

def read_options():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    how_much = parser.add_mutually_exclusive_group()
    for name in "--renew", "--everything", "--pairs":
        how_much.add_argument(name, action="store_true")
    parser.add_argument("--json")
    for name in "asked", "cl_dir", "out":
        parser.add_argument(name)
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


def main():
    options = read_options()
    os.makedirs(options.out, exist_ok=True)
    workers = int(os.environ.get("ORDO_OFFLINE_JOBS", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        shares, forms, is_asked, gaps = plan(options, pool)
        for sentence in gaps:
            print(f"FAILED {sentence}")
        kernels = kernels_of(options.words, shares)
        figures, failed, good = compile_all(start(shares, forms, options.words, kernels, pool), is_asked)
    write_figures(figures, os.path.join(options.out, "figures.txt"))
    if options.json:
        write_json(figures, options.json)
    print_worst(figures)
    if kernels:
        figures = [f for f in figures if f.kernel in kernels]
    if not options.everything:
        failed += judge(figures, [] if options.words or options.pairs else good, options.renew)
    print(f"every kernel of every variant: {options.out}/figures.txt")
    sys.exit(1 if failed or gaps else 0)


if __name__ == "__main__":
    main()
