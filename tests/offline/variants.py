# SPDX-License-Identifier: Apache-2.0
"""The kernel variants that the library builds (asked.c), and the variants that each device compiles.

asked.c prints the variants for each target's facts. If variants differ only in the order, or in the type of key of one size,
one of them is kept, by turns of all types. A deterministic rule distributes the rest:
  - code that depends on hardware, to every device;
  - values as large as keys, or code without values, to one device of each maker;
  - other values, and code of tests, to one device of one maker.

With --pairs each maker's compilers get fewer variants of their share, with each kernel of each module and each size of its
keys; all makers together get each value of each macro of each module, and each shape of its data. One maker checks the form
of the rest.
"""
import collections
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zlib

# Code that meets the hardware, for every device.
EVERYWHERE = {"primitive/self_test_lanes.cl", "primitive/self_test_atomics.cl", "group.cl"}
# Tunables that the host goes by, and no kernel.
ON_THE_HOST = {"sort.method", "sort.merged", "sort.local", "search.local_keys", "links.finds"}

# Bytes of a key, by ordo_type.
KEY_BYTES = ["4", "8", "4", "8", "4", "8", "16", "16"]

FACTS = {"ORDO_LANES", "ORDO_ATOMICS", "ORDO_SUBGROUP", "ORDO_INT64_ATOMICS", "ORDO_CPU",
         "ORDO_KHR_BALLOT", "ORDO_KHR_SHUFFLE", "ORDO_INTEL_SUB_GROUPS"}


class Variant:
    """A program that the library builds: its module, options and kernels."""

    def __init__(self, path, choice, kernels, options):
        self.path, self.choice, self.kernels = path, choice, kernels.split()
        self.module = os.path.basename(path).replace("-", "/")
        self.options = options.split()
        self.defines = [tuple(o[2:].split("=")) for o in self.options if o.startswith("-D")]
        self.own = [(name, value) for name, value in self.defines if name not in FACTS]

    @property
    def title(self):
        return " ".join([self.module] + [f"{name}={value}" for name, value in self.own])

    @property
    def shape(self):
        """Bytes of key and value; None if it has none."""
        own = dict(self.own)
        key, value = own.get("COMPACT_KEY_BYTES"), own.get("ORDO_VALUE_BYTES", own.get("COMPACT_VALUE_BYTES"))
        if "ORDO_KEY" in own:
            key = KEY_BYTES[int(own["ORDO_KEY"])]
        return key, value

    @property
    def is_common(self):
        key, value = self.shape
        for_tests = {name: value for name, value in self.own if name in ("CONCURRENT_HISTORY", "CONCURRENT_FAULTS")}
        return value in (None, key) and not any(int(number) for number in for_tests.values())

    @property
    def kind(self):
        """Common words of variants that count as one."""
        own = [f"{name}={value}" for name, value in self.own if name not in ("ORDO_KEY", "ORDO_DESCENDING")]
        return " ".join([self.module, f"key={self.shape[0]}", *own])

    @property
    def text(self):
        """Its kind, without defines of one maker alone."""
        return " ".join(word for word in self.kind.split() if not word.startswith("ORDO_ADDRESS_ORDER"))

    @property
    def tuning(self):
        """Its kind, without the shape of data."""
        own = [f"{name}={value}" for name, value in self.own if "KEY" not in name and "VALUE" not in name
               and name != "ORDO_DESCENDING"]
        return " ".join([self.module, *own])


def parse(text):
    """(variants, {choice: programs that it asks for beside shipped ones}) of what asked.c prints."""
    variants, choices = [], {}
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[0] == "choice":
            choices[fields[1]] = int(fields[2])
        else:
            variants.append(Variant(*fields))
    return variants, choices


def ask(asked, out, cl_dir, facts, what="shipped"):
    """parse() of what the library builds on a device with these facts."""
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    words = [f"{name}={value}" for name, value in facts.items()]
    done = subprocess.run([asked, out, cl_dir, what, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{asked} {what} {' '.join(words)}: {done.stderr or done.returncode}")
    return parse(done.stdout)


def turn_of(kind, n):
    return zlib.crc32(kind.encode()) % n


def chosen_of(kind, names):
    """One of the names, whose turn it is of this kind. Another name takes the place of the chosen one, or changes nothing."""
    return max(names, key=lambda name: hashlib.sha256(f"{kind} {name}".encode()).digest())


def one_of_each_kind(variants, kind_of=lambda variant: variant.kind):
    """One of those that are alike, with the kernels of all."""
    kinds = collections.defaultdict(list)
    for variant in variants:
        kinds[kind_of(variant)].append(variant)
    kept = []
    for kind, alike in kinds.items():
        named = {v.title: v for v in alike}
        chosen = named[chosen_of(kind, named)]
        chosen.kernels = sorted({kernel for v in alike for kernel in v.kernels})
        kept.append(chosen)
    return kept


def takers(kind, able):
    """Who of [(target, variant)] compiles this kind."""
    if able[0][1].module in EVERYWHERE:
        return able
    makers = collections.defaultdict(list)
    for target, variant in able:
        makers[target.maker].append((target, variant))
    chosen = [pairs[turn_of(kind, len(pairs))] for pairs in makers.values()]
    return chosen if able[0][1].is_common else [chosen[turn_of(kind + "maker", len(chosen))]]


def deal(lists, everything=False):
    """{target: its share} of {target: what it could compile}. Targets of one group share."""
    shares = {target: [] for target in lists}
    able = collections.defaultdict(list)
    for target, variants in lists.items():
        for variant in variants:
            able[target.group, variant.kind].append((target, variant))
    for (_, kind), pairs in able.items():
        for target, variant in pairs if everything else takers(kind, pairs):
            shares[target].append(variant)
    return shares


def features(variant):
    """What of a variant one other may stand for at the same maker: its module with each kernel, and with each size of key."""
    return {(variant.module, "kernel", kernel) for kernel in variant.kernels} | {(variant.module, "key", variant.shape[0])}


def details(variant):
    """What of a variant one other may stand for at any maker: its module with each macro's value, and with each shape of data."""
    macros = {(variant.module, name, value) for name, value in variant.own if name != "ORDO_KEY"}
    return macros | {(variant.module, "bytes", *variant.shape)}


def cover(work, of, met=frozenset()):
    """Of [(target, variant)] as many as it takes for all that `of` tells of them, and is not in `met`, to be among them; those with
    most that is new come first."""
    left = set().union(*(of(variant) for _, variant in work)) - met
    order = sorted(work, key=lambda pair: (pair[1].title, pair[0].name))
    chosen = []
    while left:
        best = max(order, key=lambda pair: len(of(pair[1]) & left))
        chosen.append(best)
        left -= of(best[1])
    return chosen


def pairs(shares):
    """({target: what it compiles}, {target: what it looks at the form of}) of what deal() gave: each maker covers the features of its
    share, all makers together the details; of what no maker compiles, that differs in more than the maker, one looks at the form."""
    work = collections.defaultdict(list)
    for target, share in shares.items():
        work[target.group, target.maker].extend((target, variant) for variant in share)
    compiled, forms = {target: [] for target in shares}, {target: [] for target in shares}
    met = collections.defaultdict(set)

    def take(group, chosen):
        for target, variant in chosen:
            if variant not in compiled[target]:
                compiled[target].append(variant)
            met[group] |= details(variant)

    for (group, _), part in work.items():
        take(group, [pair for pair in part if pair[1].module in EVERYWHERE] + cover(part, features))
    for group in sorted({group for group, _ in work}):
        of_group = [pair for (its_group, _), part in work.items() if its_group == group for pair in part]
        take(group, cover(of_group, details, met[group]))
    seen = {(target.group, variant.text) for target, share in compiled.items() for variant in share}
    for target, share in shares.items():
        for variant in share:
            if target.looks_at_form and (target.group, variant.text) not in seen:
                seen.add((target.group, variant.text))
                forms[target].append(variant)
    return compiled, forms


def is_asked(variants):
    """Whether a kernel of a variant's module is one that the library takes from this variant. (One that it never takes,
    because only a kernel's answer would make it, counts everywhere.)"""
    taken = collections.defaultdict(set)
    for variant in variants:
        taken[variant.module].update(variant.kernels)
    return lambda variant, kernel: kernel in variant.kernels or kernel not in taken[variant.module]


# ---- whether all is there ------------------------------------------------------------------------------------------

def modules_with_kernels(cl_folder):
    """The files under cl/ in which a kernel begins, except files that others include: these are built with them."""
    found, included = set(), set()
    for folder, _, names in os.walk(cl_folder):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), cl_folder)
            if name.endswith(".cl") and not path.startswith("device") and has_kernel(os.path.join(folder, name)):
                found.add(path)
            if name.endswith(".cl"):
                with open(os.path.join(folder, name), encoding="ascii") as file:
                    included.update(re.findall(r'^#include "(.*)"', file.read(), re.M))
    return found - included


def has_kernel(path):
    with open(path, encoding="ascii") as file:
        lines = [line for line in file if not line.lstrip().startswith(("*", "/*", "#"))]
    return any(word in line for line in lines for word in ("_KERNEL(", "__kernel", "_KERNEL void"))


def gaps(modules, variants, choices):
    """What the library has and asked does not bring it to build, in sentences."""
    built = {variant.module for variant in variants}
    sentences = [f"no call in ask_*.c makes the library build {module}: let one do so" for module in
                 sorted(modules - built)]
    asked_for = collections.Counter()
    for choice, n in choices.items():
        section, rest = choice.split("=")[0].split(".", 1)
        asked_for[f"{section}.{rest.split('.')[-1]}"] += n
    sentences += [f"tunable {name}: none of its choices makes the library build anything else. Let ask_*.c call what "
                  "it is for; if it is for the host alone, name it in ON_THE_HOST of variants.py"
                  for name, n in sorted(asked_for.items()) if n == 0 and name not in ON_THE_HOST]
    return sentences
