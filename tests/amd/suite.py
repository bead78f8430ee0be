#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test programs on AMD's machine code: starts them with the driver for it as the only one, and the compilers behind it.

  suite.py --emulator DIR --build BUILD --devices gfx1100                     the suite: a line for each program; fails if one does,
                                                                              or if a kernel of the library never ran
  suite.py --emulator DIR --build BUILD --devices gfx1100 --long              whole programs, for hours
  suite.py --emulator DIR --build BUILD --devices gfx1100,gfx90a -- COMMAND   any program that uses OpenCL
"""
import argparse
import concurrent.futures
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import toolchain  # noqa: E402

HOW = """skipped: AMD's machine code is run by the emulator of tinygrad. Once for each build directory:
  git clone https://github.com/tinygrad/tinygrad DIR && git -C DIR checkout a9069c177a9da9cca18593edf55acd2e6073cca6
  meson configure BUILD -Damd_emulator=DIR"""
SKIPPED = 77

# Test programs, which of their tests, and what makes them small: on the device as it is, without masks.
PARTS = ("primitives", "sequences", "batches", "rounds", "concurrent", "cleanup")  # of kernels.c
PROGRAMS = [
    ("conformance", "*", {}),
    *[("kernels", "*", {"ORDO_TEST_PART": part}) for part in PARTS],
    ("planted", "*caught*", {"ORDO_TEST_PLANTS": "AMD's"}),
    ("group", "*", {}),
    ("dict", "*many_updates*", {}),
    ("scan", "*knows_every*", {}),
    ("compact", "*every_size*", {}),
    ("reduce", "*knows_every*", {}),
    ("sort", "*every_type*", {}),
    ("merge", "*every_type*", {}),
    ("blink_concurrent", "*do_not_meet*", {}),
    ("blink_history", "*has_an_order*", {"ORDO_TEST_HISTORIES": "2"}),
]
# More than there is time for in the full ring: --long, or --only of them.
LONG = [(name, "*", {}) for name in ("order", "device_lanes", "search", "scan", "compact", "reduce", "sort", "merge",
                                     "blink_concurrent", "blink_history", "dict_check", "dict_order", "dict")]


class Suite:
    """The environment in which programs find the driver, while it is entered."""

    def __init__(self, emulator, build, devices):
        self.build, self.devices = os.path.abspath(build), devices
        cache = os.path.join(self.build, "tests", "amd", "cache")
        self.builds = os.path.join(cache, f"builds-{toolchain.stamp_of_builds()}")
        self.maps = os.path.join(cache, f"maps-{toolchain.stamp_of_maps(emulator)}")
        self.tools = toolchain.Tools(emulator, self.maps)
        self.ended = threading.Event()

    def __enter__(self):
        os.makedirs(self.builds, exist_ok=True)
        os.makedirs(self.maps, exist_ok=True)
        sys.pycache_prefix = os.path.join(self.builds, "python")  # of the checkout, which stays as it is
        sys.dont_write_bytecode = False
        self.folder = tempfile.mkdtemp(prefix="ordo-amd-")
        with open(os.path.join(self.folder, "amd.icd"), "w", encoding="ascii") as file:
            file.write(os.path.join(self.build, "tests", "amd", "libamd-driver.so") + "\n")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(os.path.join(self.folder, "tools"))
        self.listener.listen(64)
        self.server = threading.Thread(target=toolchain.serve, args=(self.tools, self.listener, self.ended.is_set))
        self.server.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.server.join()
        self.listener.close()
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, **more):
        shown = [f"{key},{d.arch},{d.wave},{d.units},{d.name}" for key, d in toolchain.DEVICES.items() if key in self.devices]
        return dict(os.environ, OCL_ICD_VENDORS=self.path("amd.icd"), ORDO_AMD_CACHE=self.builds, ORDO_AMD_MAPS=self.maps, ORDO_AMD_TOOLS=self.path("tools"),
                    ORDO_AMD_DEVICES=" ".join(shown), XDG_CACHE_HOME=self.path("cache"), ORDO_PROFILE="off", **more)


# ---- the suite -----------------------------------------------------------------------------------------------------

def kernels_of(suite, device):
    """The kernels that the library takes from its programs on such a device: what the off-line suite asks (tests/offline)."""
    asked = os.path.join(suite.build, "tests", "offline", "asked")
    folder = suite.path("asked")
    os.makedirs(folder, exist_ok=True)
    facts = toolchain.DEVICES[device].target.facts
    text = subprocess.run([asked, folder, os.path.join(toolchain.HERE, "..", "primitive", "cl"), "shipped",
                           *[f"{name}={value}" for name, value in facts.items()]], capture_output=True, text=True, check=True,
                          env=dict(os.environ, ORDO_PROFILE="off")).stdout
    return {kernel for line in text.splitlines() for kernel in line.split("\t")[2].split()}


def run_program(suite, name, which, more):
    """Runs one test program; whether it passed."""
    start = time.monotonic()
    more = {"ORDO_MASK": "", **more}
    command = [os.path.join(suite.build, "tests", f"test-{name}"), "--jobs", "1", "--filter", which]
    done = subprocess.run(command, env=suite.environment(ORDO_AMD_LAUNCHES=suite.path("launches"), **more), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    summary = next((line for line in done.stdout.splitlines() if "Synthesis" in line), "no summary").split("Synthesis: ")[-1]
    good = done.returncode == 0 and "Passing: 0" not in summary and "Passing" in summary
    if not good:
        print(done.stdout)
        print("again:", " ".join(f"{k}={v}" for k, v in more.items()), " ".join(command))
    print(f"{name} {which}{''.join(f' {k}={v}' for k, v in more.items() if v)}: {'good' if good else 'FAILED'}, {summary}, "
          f"{time.monotonic() - start:.0f} s", flush=True)
    return good


def missing_kernels(suite, device):
    launched = set()
    if os.path.exists(suite.path("launches")):
        with open(suite.path("launches"), encoding="ascii") as file:
            launched = set(file.read().split())
    known = kernels_of(suite, device)
    print(f"{len(known & launched)} of {len(known)} kernels ran on {device}")
    return sorted(known - launched)


def takes_it_whole(suite, device):
    """Whether the library uses all that the device has: what fails its self-test would be replaced, and tests pass without it."""
    said = subprocess.run([os.path.join(suite.build, "bench", "ordo-info")], env=suite.environment(ORDO_CACHE="off"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
    good = "AMD compiler builtins" in said and "self-test  passed" in said and "replaced by" not in said
    if not good:
        print(said)
    print(f"ordo-info: {'the self-test passes' if good else 'FAILED'} on {device}", flush=True)
    return good


def run_suite(suite, device, asked):
    good = takes_it_whole(suite, device)
    only = asked.only.split(",") if asked.only else []
    for name, which, more in LONG if asked.long else PROGRAMS:
        if not only or name in only:
            good = run_program(suite, name, which, more) and good
    if only or asked.long:
        return good
    for kernel in missing_kernels(suite, device):
        print(f"{kernel} never ran on {device}")
        good = False
    return good


def why_not(emulator, devices):
    """Why nothing can run here; "" if it can."""
    if not os.path.exists(os.path.join(emulator, "test", "mockgpu", "amd", "emu.py")):
        return HOW
    for device in devices:
        gone = toolchain.DEVICES[device].target.missing() + ([] if shutil.which("clang") else ["clang"])
        if gone:
            return f"skipped: {device} needs {', '.join(gone)} (Debian: clang clang-15 lld-15 llvm-15 rocm-device-libs, clang-19 lld-19)"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--emulator", default="")
    parser.add_argument("--build", required=True)
    parser.add_argument("--devices", default="gfx1100")
    parser.add_argument("--long", action="store_true", help="whole programs, for hours")
    parser.add_argument("--only", default="", help="programs of the suite, with commas between")
    parser.add_argument("command", nargs="*")
    asked = parser.parse_args()
    devices = asked.devices.split(",")
    reason = why_not(asked.emulator, devices)
    if reason:
        print(reason)
        return SKIPPED
    with Suite(os.path.abspath(asked.emulator), asked.build, devices) as suite:
        if asked.command:
            return subprocess.run(asked.command, env=suite.environment(), check=False).returncode
        return 0 if all([run_suite(suite, device, asked) for device in devices]) else 1


if __name__ == "__main__":
    sys.exit(main())
