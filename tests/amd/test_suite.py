#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The suite's own scripts, driver and runner, given what is bad: they say so, and fail or are skipped; they never hang.

  test_suite.py                                      what needs no emulator, in the quick ring
  test_suite.py --emulator DIR --build BUILD         all of it, in the suite amd
"""
import argparse
import contextlib
import ctypes
import glob
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import suite  # noqa: E402
import toolchain  # noqa: E402

EMULATOR = BUILD = ""


def said_by(function, *arguments):
    """What a function gives back, and what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        got = function(*arguments)
    return got, out.getvalue()


class Nothing(unittest.TestCase):
    """Where something is not there: skipped, with a word on how to get it."""

    def main(self, *arguments):
        with mock.patch.object(sys, "argv", ["suite.py", *arguments]):
            return said_by(suite.main)

    def test_no_emulator(self):
        for emulator in ("", "/nonexistent", HERE):
            status, text = self.main("--emulator", emulator, "--build", "build")
            self.assertEqual(status, suite.SKIPPED)
            self.assertIn("git clone", text)

    def test_no_compilers(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "test/mockgpu/amd"))
            with open(os.path.join(folder, "test/mockgpu/amd/emu.py"), "w", encoding="ascii"):
                pass
            with mock.patch.dict(os.environ, PATH="/nonexistent"):
                status, text = self.main("--emulator", folder, "--build", folder)
        self.assertEqual(status, suite.SKIPPED)
        for device in toolchain.DEVICES:
            self.assertIn(f"{device} needs clang-", text)


class Stand:
    """What functions of the suite need of a Suite."""

    def __init__(self, folder):
        self.folder, self.build, self.devices, self.lines = folder, folder, ["gfx1100"], []

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, _devices, **more):
        return dict(os.environ, **more)

    def say(self, text):
        self.lines.append(text)

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(self.path(name), mode)


class Verdicts(unittest.TestCase):
    """What the suite makes of what programs did."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.stand = Stand(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def verdict_on(self, script):
        self.stand.write("tests/test-it", f"#!/bin/sh\n{script}\n", 0o755)
        return suite.run_program(self.stand, "gfx1100", "it", "*", {})

    def test_programs(self):
        summary = "echo '[====] Synthesis: Tested: %d | Passing: %d | Failing: 0 | Crashing: 0'"
        self.assertTrue(self.verdict_on(summary % (2, 2)))
        self.assertFalse(self.verdict_on(summary % (0, 0)))
        self.assertFalse(self.verdict_on(summary % (2, 2) + "; exit 1"))
        self.assertFalse(self.verdict_on("exit 0"))
        self.assertFalse(self.verdict_on("kill -KILL $$"))
        self.assertIn("again: ", "".join(self.stand.lines))

    def test_lists_of_kernels(self):
        self.stand.write("tests/offline/asked", "#!/bin/sh\nprintf 'a.cl\\tshipped\\tscan_one sort_two\\t-DA\\n'\n", 0o755)
        self.assertFalse(suite.all_kernels_ran(self.stand, "gfx1100"))
        os.rmdir(self.stand.path("asked-gfx1100"))
        self.stand.write("launches-gfx1100", "scan_one\n")
        self.assertFalse(suite.all_kernels_ran(self.stand, "gfx1100"))
        self.assertIn("sort_two never ran", self.stand.lines[-1])
        os.rmdir(self.stand.path("asked-gfx1100"))
        self.stand.write("launches-gfx1100", "scan_one\nsort_two\n")
        self.assertTrue(suite.all_kernels_ran(self.stand, "gfx1100"))

    def test_variants(self):
        whole = "AMD\t32\tgfx1100\t\n"
        for lines, good in (("", False), (whole, True), (whole * 2, True), ("one\t1\tgfx1100\t\n", False),
                            (whole + "AMD\t32\tgfx1100\tlook-back: replaced\n", False)):
            self.stand.write("lanes-gfx1100-conformance", lines)
            self.assertEqual(suite.takes_it_whole(self.stand, "gfx1100"), good, lines)


class Failures(unittest.TestCase):
    """Of kernels, processes and files, on a device: the program amd-misuse goes on where the driver has failed."""

    def run_case(self, case, emulator=None, maps=None, said="", **environment):
        made = suite.Suite(emulator or EMULATOR, BUILD, [self.device])
        if maps:
            made.maps = made.tools.cache = maps
        with made:
            given = dict(made.environment([self.device]), **environment)
            done = subprocess.run([os.path.join(BUILD, "tests", "amd", "amd-misuse"), case], env=given, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(said, done.stdout)

    def setUp(self):
        usable = EMULATOR and not suite.why_not(EMULATOR) and [d for d in toolchain.DEVICES if not suite.gone(d)]
        if not usable:
            self.skipTest("there is no emulator, or no compiler")
        self.device = usable[0]

    def test_nothing(self):
        self.run_case("works")

    def test_kernels(self):
        self.run_case("wild", said="access to memory at")
        self.run_case("trap", said="kernel trap, group")
        self.run_case("endless", said="more instructions than a wave is granted", ORDO_AMD_BUDGET="100000")

    def test_processes(self):
        self.run_case("endless", said="took too long", ORDO_AMD_SECONDS="2")
        self.run_case("killed", said="ended by itself")
        self.run_case("refused", ORDO_AMD_TOOLS="/nonexistent", ORDO_AMD_EXPECTED="suite.py) is not there",
                      ORDO_AMD_CACHE=self.empty())

    def empty(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_compilers(self):
        with mock.patch.object(toolchain.DEVICES[self.device].target, "clang", "/bin/false"):
            self.run_case("refused", ORDO_AMD_EXPECTED="/bin/false", ORDO_AMD_CACHE=self.empty())

    def test_emulators(self):
        folder = self.empty()
        os.makedirs(os.path.join(folder, "test/mockgpu/amd"))
        with open(os.path.join(folder, "test/mockgpu/amd/emu.py"), "w", encoding="ascii") as file:
            file.write("raise ImportError('an emulator that is none')\n")
        self.run_case("wrong", emulator=folder, said="translating the program of works")

    def test_files(self):
        self.run_case("binary")
        whole = self.empty()
        self.run_case("works", maps=whole)
        for ending, text in ((".map", "damaged"), (".so", "no function"), (".co", "")):
            folder = os.path.join(self.empty(), "maps")
            shutil.copytree(whole, folder)
            paths = glob.glob(os.path.join(folder, "*" + ending))
            self.assertTrue(paths)
            for path in paths:
                os.truncate(path, 100)
            self.run_case("wrong", maps=folder, said=text)


class Instructions(unittest.TestCase):
    """Instructions that are mended (emulator.py), each by itself, in lane 3 of a wave."""

    LANE, SCALARS, VECTORS, COUNTER, EXEC = 3, 272, 256, 256, 126

    def setUp(self):
        if not EMULATOR or suite.why_not(EMULATOR) or not shutil.which("clang"):
            self.skipTest("there is no emulator, or no compiler")
        from emulator import Emulator
        self.emulator = Emulator(EMULATOR)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def after(self, arch, words, given):
        """What is in v1 after an instruction, as a number of 32 bits with a point; given: what is in registers before."""
        lanes = 64 if arch == "cdna" else 32
        code = struct.pack(f"<{len(words)}I", *words)
        kept = ctypes.create_string_buffer(code, 32)  # the function reads the registers' numbers from it
        library = os.path.join(self.folder.name, f"{arch}-{code.hex()}.so")
        toolchain.Translator.compile([self.emulator.decode(code.ljust(20, b"\0"), arch).translate("step")[0]], library)
        scalars, vectors = (ctypes.c_uint32 * self.SCALARS)(), (ctypes.c_float * (self.VECTORS * lanes))()
        at = ctypes.addressof(kept)
        scalars[self.COUNTER], scalars[self.COUNTER + 1] = at & 0xffffffff, at >> 32
        scalars[self.EXEC] = 1 << self.LANE
        for register, value in given.items():
            vectors[register * lanes + self.LANE] = value
        ctypes.CDLL(library).step((ctypes.c_void_p * 8)(ctypes.addressof(scalars), ctypes.addressof(vectors)))
        self.assertEqual(scalars[self.COUNTER], at + len(code) & 0xffffffff)
        return vectors[lanes + self.LANE]

    def test_sums_of_products(self):
        x, less = 1 + 2.0**-12, -1 - 2.0**-11  # x * x is 1 + 2^-11 + 2^-24, of which the last is lost if it is rounded
        bits = [struct.unpack("<I", struct.pack("<f", value))[0] for value in (x, less)]
        sources = 258 | 259 << 9 | 260 << 18  # v2, v3, v4

        def short(opcode):
            return opcode << 25 | 1 << 17 | 3 << 9 | 258

        for arch, words, given, fused in (
                ("cdna", [0xd1c10001, sources], {4: less}, False),  # v_mad_f32
                ("cdna", [0xd1160001, sources & 0x3ffff], {1: less}, False),  # v_mac_f32
                ("cdna", [short(22)], {1: less}, False),
                ("cdna", [short(23), bits[0]], {3: less}, False),  # v_madmk_f32
                ("cdna", [short(24), bits[1]], {}, False),  # v_madak_f32
                ("cdna", [0xd1cb0001, sources], {4: less}, True),  # v_fma_f32
                ("cdna", [short(59)], {1: less}, True),  # v_fmac_f32
                ("rdna3", [0xd6130001, sources], {4: less}, True),
                ("rdna4", [0xd6130001, sources], {4: less}, True)):
            with self.subTest(arch=arch, words=words):
                self.assertEqual(self.after(arch, words, {2: x, 3: x, **given}), 2.0**-24 if fused else 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--emulator", default="")
    parser.add_argument("--build", default="")
    asked, rest = parser.parse_known_args()
    EMULATOR, BUILD = asked.emulator, os.path.abspath(asked.build)
    unittest.main(argv=[sys.argv[0], *rest])
