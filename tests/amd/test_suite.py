#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The suite's own scripts, driver and runner, given what is bad: they say so, and fail or are skipped; they never hang.

  test_suite.py                                      what needs no emulator, in the quick ring
  test_suite.py --emulator DIR --build BUILD         all of it, in the suite amd
"""
import argparse
import contextlib
import glob
import io
import os
import shutil
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--emulator", default="")
    parser.add_argument("--build", default="")
    asked, rest = parser.parse_known_args()
    EMULATOR, BUILD = asked.emulator, os.path.abspath(asked.build)
    unittest.main(argv=[sys.argv[0], *rest])
