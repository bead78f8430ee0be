#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The off-line suite's own scripts, with made-up compilers and figures: that they fail when they must."""
import contextlib
import io
import os
import struct
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import budget  # noqa: E402
import compile as suite  # noqa: E402
import targets  # noqa: E402
import variants  # noqa: E402

AMD_NOTES = """\
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .name:           keys
        .size:           8
    .group_segment_fixed_size: 2048
    .kernarg_segment_size: 48
    .name:           sort_count
    .private_segment_fixed_size: 24
    .sgpr_count:     30
    .sgpr_spill_count: 0
    .symbol:         sort_count.kd
    .vgpr_count:     71
    .vgpr_spill_count: 5
"""
PTXAS_LOG = """\
ptxas info    : Compiling entry function 'merge_tiles' for 'sm_90'
ptxas info    : Function properties for merge_tiles
    16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 9232 bytes smem
ptxas info    : Compiling entry function 'merge_chunks' for 'sm_90'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers
"""
ZE_INFO = """\
kernels:
  - name:            run_find
    execution_env:
      grf_count:       128
      simd_size:       16
      slm_size:        32
    payload_arguments:
      - arg_type:        local_size
        size:            12
    per_thread_memory_buffers:
      - type:            scratch
        usage:           spill_fill_space
        size:            2048
  - name:            Intel_Symbol_Table_Void_Program
    execution_env:
      grf_count:       128
  - name:            run_seek
    execution_env:
      grf_count:       128
      simd_size:       16
kernels_misc_info:
  - name:            run_find
"""


def elf_with(name, content):
    """A 64-bit ELF file of two sections: names, and one with this content."""
    names = b"\0" + name.encode() + b"\0"
    start = 64 + len(names) + len(content)
    headers = struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 64, len(names), 0, 0, 0, 0)
    headers += struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, 64 + len(names), len(content), 0, 0, 0, 0)
    head = bytearray(64)
    struct.pack_into("<Q", head, 0x28, start)
    struct.pack_into("<HHH", head, 0x3a, 64, 2, 0)
    return bytes(head) + names + content + headers


class Figures(unittest.TestCase):
    def test_amd(self):
        self.assertEqual(targets.amd_figures(AMD_NOTES),
                         {"sort_count": dict(registers=71, scalar=30, local=2048, private=24, spills=5)})

    def test_nvidia(self):
        self.assertEqual(targets.ptxas_figures(PTXAS_LOG),
                         {"merge_tiles": dict(registers=48, local=9232, private=16, spills=12),
                          "merge_chunks": dict(registers=30, local=0, private=0, spills=0)})

    def test_groups_in_ptx(self):
        source = "__kernel __attribute__((reqd_work_group_size((2 * 64), 1, 1))) void k(__global int *p)"
        self.assertEqual(targets.groups_of(source), {"k": 128})
        ptx = ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n}\n.visible .entry l(\n)\n{\n}\n"
        self.assertEqual(targets.with_groups(ptx, {"k": 128}), ptx.replace(")\n{", ")\n.reqntid 128, 1, 1\n{", 1))

    def test_intel(self):
        info = targets.section(elf_with(".ze_info", ZE_INFO.encode()), ".ze_info").decode()
        self.assertEqual(targets.intel_figures(info, {"run_find": 9}),
                         {"run_find": dict(registers=128, lanes=16, local=32, private=2048, spills=9),
                          "run_seek": dict(registers=128, lanes=16, local=0, private=0, spills=0)})
        self.assertEqual(targets.section(elf_with(".text", b"x"), ".ze_info"), b"")


class Budget(unittest.TestCase):
    known = ({"gpu": "cc 1.0"}, {("sort", "gpu"): dict(registers=64, local=1024, private=0, spills=0)})

    def failures(self, compiler="cc 1.0", kernel="sort", **changed):
        now = {**self.known[1]["sort", "gpu"], **changed}
        return budget.compare(self.known, {"gpu": compiler}, {(kernel, "gpu"): now})

    def test_what_fits_passes(self):
        for changed in {}, dict(registers=68), dict(registers=10, local=0):
            self.assertEqual(self.failures(**changed), ([], []))

    def test_growth_fails(self):
        for changed in dict(registers=69), dict(local=1025), dict(private=4):
            self.assertEqual(len(self.failures(**changed)[0]), 1, changed)

    def test_a_first_spill_fails(self):
        self.assertIn("sort on gpu spills: spills 1, budget 0", self.failures(spills=1)[0])

    def test_a_kernel_without_budget_fails(self):
        self.assertIn("merge on gpu has no budget", self.failures(kernel="merge")[0][0])

    def test_another_compiler_is_not_compared(self):
        failures, notes = self.failures(compiler="cc 2.0", registers=200)
        self.assertEqual(failures, [])
        self.assertIn("budget is of cc 1.0, this is cc 2.0", notes[0])

    def test_the_file_says_what_was_written(self):
        self.assertEqual(budget.read(budget.write(*self.known)), self.known)

    def test_the_worst_variant_counts(self):
        most = budget.worst([("k", "gpu", dict(registers=3, local=9)), ("k", "gpu", dict(registers=7, local=1))])
        self.assertEqual(most, {("k", "gpu"): dict(registers=7, local=9)})

    def test_renewal_keeps_what_was_not_compiled(self):
        nothing = dict(registers=0, local=0, private=0, spills=0)
        known = ({"gpu": "cc 1.0", "other": "cc 1.1"},
                 {**self.known[1], ("old", "gpu"): dict(nothing, spills=1), ("k", "other"): dict(nothing, spills=2)})
        text = budget.renewed(known, {"gpu": "cc 3.0"}, {("sort", "gpu"): dict(registers=1)}, {("old", "gpu")})
        compilers, lines = budget.read(text)
        self.assertEqual(compilers, {"gpu": "cc 3.0", "other": "cc 1.1"})
        self.assertEqual(lines, {("sort", "gpu"): dict(nothing, registers=1), ("k", "other"): dict(nothing, spills=2)})


# What asked.c would print.
ASKED = """\
/t/a-one.cl\tshipped\tone\t-DORDO_LANES=0 -DORDO_KEY=0 -DSIZE=4
/t/a-one.cl\tshipped\tone\t-DORDO_LANES=0 -DORDO_KEY=2 -DSIZE=4
/t/a-one.cl\tshipped\tone\t-DORDO_LANES=0 -DORDO_KEY=1 -DSIZE=4
/t/group.cl\tshipped\ttwo\t-DORDO_LANES=0
choice\tsort.k4v0.items=3\t0
choice\tsort.k4v4.items=3\t1
choice\tscan.k4.group=9\t0
"""


class Variants(unittest.TestCase):
    def test_types_of_one_size_are_one_kind(self):
        asked, _ = variants.parse(ASKED)
        self.assertEqual(sorted(v.kind for v in variants.one_of_each_kind(asked)),
                         ["a/one.cl key=4 SIZE=4", "a/one.cl key=8 SIZE=4", "group.cl key=None"])

    def test_each_kind_goes_to_one_device_of_each_maker(self):
        lists = {made_up(f"{maker}{i}", maker): variants.one_of_each_kind(variants.parse(ASKED)[0])
                 for maker in "ab" for i in range(3)}
        shares = variants.deal(lists)
        for maker in "ab":
            kinds = [v.kind for target, share in shares.items() if target.maker == maker for v in share]
            self.assertEqual(sorted(kinds), ["a/one.cl key=4 SIZE=4", "a/one.cl key=8 SIZE=4"] +
                             3 * ["group.cl key=None"])

    def test_other_values_go_to_one_device(self):
        line = "/t/a-one.cl\tshipped\tone\t-DORDO_KEY=0 -DORDO_VALUE_BYTES={}\n"
        for values, times in (4, 2), (8, 1):
            lists = {made_up(f"{maker}{i}", maker): variants.parse(line.format(values))[0]
                     for maker in "ab" for i in range(3)}
            self.assertEqual(sum(len(share) for share in variants.deal(lists).values()), times)

    def test_another_type_of_key_changes_no_other_choice(self):
        line = "/t/a-one.cl\tshipped\tone\t-DORDO_KEY={} -DSIZE={}\n"

        def chosen(types):
            text = "".join(line.format(key, size) for key in types for size in range(40))
            return {v.kind: v.title for v in variants.one_of_each_kind(variants.parse(text)[0])}
        few, more = chosen((0, 2)), chosen((0, 2, 4))
        moved = [more[kind] for kind in few if more[kind] != few[kind]]
        self.assertTrue(all("ORDO_KEY=4" in title for title in moved))
        self.assertTrue(0 < len(moved) < len(few) // 2)

    def test_pairs_cover_every_kernel_of_each_maker_and_every_macro_of_one(self):
        line = "/t/a-one.cl\tshipped\tk{0}\t-DORDO_KEY={1} -DORDO_VALUE_BYTES={2} -DSIZE={3}\n"
        text = "".join(line.format(k, key, value, size) for k in range(3) for key in (0, 1) for value in (4, 8) for size in range(4))
        shares = {made_up(f"{maker}{i}", maker): variants.parse(text)[0][i::2] for maker in "ab" for i in range(2)}
        compiled, forms = variants.pairs(shares)

        def of_maker(maker, of):
            return [v for target, share in of.items() if target.maker in maker for v in share]
        for maker, what in ("a", variants.features), ("b", variants.features), ("ab", variants.details):
            met, all_ = (set().union(*map(what, of_maker(maker, of))) for of in (compiled, shares))
            self.assertEqual(met, all_)
        self.assertTrue({("a/one.cl", "kernel", "k2"), ("a/one.cl", "key", "8")} <= set().union(*map(variants.features, of_maker("b", compiled))))
        met = set().union(*map(variants.details, of_maker("ab", compiled)))
        self.assertTrue({("a/one.cl", "SIZE", "3"), ("a/one.cl", "bytes", "8", "4")} <= met)
        self.assertLess(len(of_maker("ab", compiled)), len(of_maker("ab", shares)) // 3)
        looked_at = sorted(v.text for of in (compiled, forms) for share in of.values() for v in share)
        self.assertEqual(sorted(set(looked_at)), sorted({v.text for share in shares.values() for v in share}))

    def test_what_has_a_maker_in_its_text_alone_is_looked_at_once(self):
        line = "/t/a-one.cl\tshipped\tone\t-DORDO_ADDRESS_ORDER={} -DSIZE={}\n"
        one, other = ([variants.parse(line.format(order, size))[0][0] for size in range(2)] for order in range(2))
        self.assertEqual([v.text for v in one], [v.text for v in other])
        self.assertNotEqual([v.kind for v in one], [v.kind for v in other])

    def test_a_module_that_nothing_builds_is_a_gap(self):
        asked, choices = variants.parse(ASKED)
        sentences = variants.gaps({"a/one.cl", "a/new.cl"}, asked, {})
        self.assertEqual(len(sentences), 1)
        self.assertIn("a/new.cl", sentences[0])

    def test_a_tunable_that_changes_nothing_is_a_gap(self):
        sentences = variants.gaps(set(), *variants.parse(ASKED))
        self.assertEqual(len(sentences), 1)
        self.assertIn("scan.group", sentences[0])

    def test_modules_are_found_by_their_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ("k.cl", "ORDO_KERNEL(64) void k()\n"), ("l.cl", "/* __kernel */\nint l;\n"):
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write(text)
            self.assertEqual(variants.modules_with_kernels(folder), {"k.cl"})


# ---- the whole script, with a made-up device -----------------------------------------------------------------------

def made_up(name, maker="AMD", registers=10, missing=(), broken=False, bad_form=False):
    class MadeUp(targets.Target):
        looks_at_form = True

        def missing(self):
            return list(missing)

        def compiler(self):
            return "cc 1.0"

        def compile(self, variant, folder):
            if broken:
                raise targets.Failure("cc: error")
            return {kernel: dict(registers=registers, local=0, private=0, spills=0) for kernel in variant.kernels}

        def form(self, variant):
            if bad_form:
                raise targets.Failure("cc: bad form")

    target = MadeUp(name, 0, 0, 1)
    target.maker = maker
    return target


class WholeRun(unittest.TestCase):
    def run_with(self, folder, *words, **device):
        """(exit status, output) of the script, with one device."""
        asked, _ = variants.parse(ASKED)
        out = io.StringIO()
        patches = [mock.patch.object(targets, "TARGETS", [made_up("gpu", **device)]),
                   mock.patch.object(targets, "CHOICES", made_up("choices", maker="choices")),
                   mock.patch.object(variants, "ask", lambda *_: (list(asked), {})),
                   mock.patch.object(suite, "CL", folder), mock.patch.object(suite, "BUDGET", f"{folder}/budget.txt"),
                   mock.patch.object(sys, "argv", ["compile.py", *words, "asked", "cl", f"{folder}/out"])]
        with contextlib.ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            stack.enter_context(contextlib.redirect_stdout(out))
            with self.assertRaises(SystemExit) as ended:
                suite.main()
        return ended.exception.code, out.getvalue()

    def test_a_planted_growth_fails_until_it_is_renewed(self):
        with tempfile.TemporaryDirectory() as folder:
            status, text = self.run_with(folder)
            self.assertEqual(status, 1)
            self.assertIn("one on gpu has no budget", text)
            self.assertEqual(self.run_with(folder, "--renew")[0], 0)
            self.assertEqual(self.run_with(folder)[0], 0)
            status, text = self.run_with(folder, registers=20)
            self.assertEqual(status, 1)
            self.assertIn("one on gpu has grown: registers 20, budget 10", text)
            self.assertIn("README", text)
            self.assertEqual(self.run_with(folder, "--renew", registers=20)[0], 0)
            self.assertEqual(self.run_with(folder, registers=20)[0], 0)

    def test_a_compiler_that_fails_or_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_with(folder, "--renew")
            status, text = self.run_with(folder, "--renew", broken=True)
            self.assertEqual(status, 1)
            self.assertEqual(self.run_with(folder)[0], 0, "what did not compile keeps its budget")
            self.assertIn("FAILED gpu: ", text)
            status, text = self.run_with(folder, missing=["cc"])
            self.assertIn("skip   gpu", text)
            self.assertNotEqual(status, 0)

    def test_pairs_fail_as_the_whole_does(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_with(folder, "--pairs")[0], 1, "no budget")
            self.run_with(folder, "--renew")
            status, text = self.run_with(folder, "--pairs")
            self.assertEqual((status, "was not compiled" in text), (0, False))
            for bad in dict(registers=20), dict(broken=True):
                self.assertEqual(self.run_with(folder, "--pairs", **bad)[0], 1, bad)
            with mock.patch.object(variants, "cover", lambda work, *_: [pair for pair in work if pair[1].shape[0] != "8"]):
                self.assertEqual(self.run_with(folder, "--pairs")[0], 0)
                self.assertEqual(self.run_with(folder, "--pairs", bad_form=True)[0], 1)

    def test_a_new_kernel_file_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_with(folder, "--renew")
            with open(f"{folder}/new.cl", "w", encoding="ascii") as file:
                file.write("ORDO_KERNEL(64) void fresh()\n")
            status, text = self.run_with(folder)
            self.assertEqual(status, 1)
            self.assertIn("new.cl", text)


if __name__ == "__main__":
    unittest.main()
