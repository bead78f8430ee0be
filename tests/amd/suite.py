#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test programs on AMD's machine code: starts them with the driver for it as the only one, and the compilers behind it.

  suite.py --emulator DIR --build BUILD                         the suite: a line for each program and device; fails if one fails, or
                                                                if a kernel of the library never ran
  suite.py --emulator DIR --build BUILD --part short            what `./run ci` has time for: each kernel, but not each test
  suite.py --emulator DIR --build BUILD --soak MINUTES          random sequences and histories from new seeds
  suite.py --emulator DIR --build BUILD --devices gfx1100,gfx90a -- COMMAND     any program that uses OpenCL
"""
import argparse
import concurrent.futures
import ctypes
import io
import json
import os
import resource
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
EACH = "a device's own part of all"

# Test programs, which of their tests, and what makes them small: on the device as it is, without masks. Those that take longest
# come first. SHORT launches every kernel, and has of conformance's structures a part on each device.
SHORT = [
    ("conformance", "*", {"ORDO_TEST_SHARE": EACH}),
    ("kernels", "*", {"ORDO_TEST_PART": "primitives", "ORDO_MASK": "group=64"}),  # of several tiles
    ("group", "*", {}),
    ("kernels", "*", {"ORDO_TEST_PART": "-primitives"}),
]
FULL = [
    ("conformance", "*", {}),
    *SHORT[1:],
    ("planted", "*caught*", {"ORDO_TEST_PLANTS": "AMD's"}),
    ("sort", "*every_type*", {}),
    ("merge", "*every_type*", {}),
    ("blink_history", "*has_an_order_that*", {"ORDO_TEST_HISTORIES": "2"}),
    ("skiplist_history", "*has_an_order_that*", {"ORDO_TEST_HISTORIES": "2"}),
    ("blink_concurrent", "*do_not_meet*", {}),
    ("dict", "*many_updates*", {}),
    ("by_key", "*knows_every_operation*", {}),
    ("scan", "*knows_every*", {}),
    ("compact", "*every_size*", {}),
    ("reduce", "*knows_every*", {}),
]


class Suite:
    """The environment in which programs find the driver, while it is entered."""

    def __init__(self, emulator, build, devices, jobs=1):
        self.build, self.devices, self.jobs = os.path.abspath(build), devices, jobs
        cache = os.path.join(self.build, "tests", "amd", "cache")
        self.builds = os.path.join(cache, f"builds-{toolchain.stamp_of_builds()}")
        self.maps = os.path.join(cache, f"maps-{toolchain.stamp_of_maps(emulator)}")
        self.tools = toolchain.Tools(emulator, self.maps)
        self.print_lock = threading.Lock()

    def __enter__(self):
        os.makedirs(self.builds, exist_ok=True)
        os.makedirs(self.maps, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix="ordo-amd-")
        with open(self.path("amd.icd"), "w", encoding="ascii") as file:
            file.write(os.path.join(self.build, "tests", "amd", "libamd-driver.so") + "\n")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path("tools"))
        self.listener.listen(64)
        self.server = threading.Thread(target=self.tools.serve, args=(self.listener,))
        self.server.start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.server.join()
        self.listener.close()
        self.tools.close()
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, devices, **more):
        shown = [f"{key},{d.arch},{d.wave},{d.units},{d.name}" for key, d in toolchain.DEVICES.items() if key in devices]
        return dict(os.environ, OCL_ICD_VENDORS=self.path("amd.icd"), ORDO_AMD_CACHE=self.builds, ORDO_AMD_MAPS=self.maps,
                    ORDO_AMD_TOOLS=self.path("tools"), ORDO_AMD_DEVICES=" ".join(shown), XDG_CACHE_HOME=self.path("cache"),
                    ORDO_PROFILE="off", **more)

    def say(self, text):
        with self.print_lock:
            print(text, flush=True)


# ---- the suite -----------------------------------------------------------------------------------------------------

def run_program(suite, device, name, which, more):
    """Runs one test program; whether it passed."""
    start = time.monotonic()
    more = {"ORDO_MASK": "", **more}
    command = [os.path.join(suite.build, "tests", f"test-{name}"), "--jobs", "1", "--filter", which]
    watched = {"ORDO_AMD_LAUNCHES": suite.path(f"launches-{device}"), "ORDO_TEST_LANES": suite.path(f"lanes-{device}-{name}")}
    done = subprocess.run(command, env=suite.environment([device], **watched, **more), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace", check=False)
    summary = next((line for line in done.stdout.splitlines() if "Synthesis" in line), "no summary").split("Synthesis: ")[-1]
    good = done.returncode == 0 and "Passing: 0" not in summary and "Passing" in summary
    if not good:
        suite.say(f"{done.stdout}\nagain: {' '.join(f'{k}={v}' for k, v in more.items())} {' '.join(command)}")
    suite.say(f"{device}: {name} {which}{''.join(f' {k}={v}' for k, v in more.items() if v)}: {'good' if good else 'FAILED'}, "
              f"{summary.strip()}, {time.monotonic() - start:.0f} s")
    return good


def shared_out(devices, device, more):
    """A program's variables, with its device's own part where the devices share the work."""
    return {name: f"{devices.index(device)}/{len(devices)}" if value is EACH else value for name, value in more.items()}


def run_programs(suite, programs):
    """Runs programs on each device, so many at once as were asked for; whether all passed."""
    with concurrent.futures.ThreadPoolExecutor(suite.jobs) as pool:
        running = [pool.submit(run_program, suite, device, name, which, shared_out(suite.devices, device, more))
                   for name, which, more in programs for device in suite.devices]
        return all([one.result() for one in running])


def takes_it_whole(suite, device):
    """Whether the library used all that the device has: what fails its self-test would be replaced, and tests pass without it.
    (Tests of failures put some in: of these lines nothing is asked.)"""
    path = suite.path(f"lanes-{device}-conformance")
    with open(path, encoding="utf-8") if os.path.exists(path) else open(os.devnull, encoding="utf-8") as file:
        seen = {tuple(line.rstrip("\n").split("\t")) for line in file}
    if "ORDO_TEST_LANES" in os.environ:
        with open(os.environ["ORDO_TEST_LANES"], "a", encoding="utf-8") as file:
            file.writelines("\t".join(line) + "\n" for line in sorted(seen))
    d = toolchain.DEVICES[device]
    good = seen == {("AMD", str(d.wave), d.name, "")}
    suite.say(f"{device}: AMD's lanes, and nothing that the self-test replaced" if good else f"{device}: FAILED: it was opened as {seen}")
    return good


def kernels_of(suite, device):
    """The kernels that the library takes from its programs on such a device: what the off-line suite asks (tests/offline)."""
    asked = os.path.join(suite.build, "tests", "offline", "asked")
    folder = suite.path(f"asked-{device}")
    os.makedirs(folder)
    facts = toolchain.DEVICES[device].target.facts
    text = subprocess.run([asked, folder, os.path.join(toolchain.HERE, "..", "primitive", "cl"), "shipped",
                           *[f"{name}={value}" for name, value in facts.items()]], capture_output=True, text=True, check=True,
                          env=dict(os.environ, ORDO_PROFILE="off")).stdout
    return {kernel for line in text.splitlines() for kernel in line.split("\t")[2].split()}


def all_kernels_ran(suite, device):
    """Whether each kernel was launched, and ran to its end; says which was not."""
    path, launched = suite.path(f"launches-{device}"), set()
    if os.path.exists(path):
        with open(path, encoding="ascii") as file:
            launched = set(file.read().split())
    known = kernels_of(suite, device)
    missing = sorted(known - launched)
    suite.say(f"{device}: {len(known) - len(missing)} of {len(known)} kernels ran")
    for kernel in missing:
        suite.say(f"{device}: FAILED: kernel {kernel} never ran")
    return bool(known) and not missing


def run_suite(suite, asked):
    only = asked.only.split(",") if asked.only else []
    programs = [p for p in {"short": SHORT, "full": FULL}[asked.part] if not only or p[0] in only]
    good = run_programs(suite, programs)
    for device in suite.devices:
        if not only or "conformance" in only:
            good = takes_it_whole(suite, device) and good
        if not only:
            good = all_kernels_ran(suite, device) and good
    return good


# ---- for hours -----------------------------------------------------------------------------------------------------

TYPES = ("u32", "u64", "i32", "i64", "f32", "f64")


def soak(suite, minutes, seed):
    """Random sequences of operations on every structure against the model, histories, and bugs put in, from new seeds; another type
    of keys in each round, 10^5 operations of each device."""
    until = time.monotonic() + 60 * minutes
    operations = int(os.environ.get("ORDO_TEST_OPS", 100000))
    histories = os.environ.get("ORDO_TEST_HISTORIES", "50")
    while True:
        more = {"ORDO_TEST_SEED": str(seed), "ORDO_AMD_SEED": str(seed), "ORDO_TEST_WATCHDOG": "0"}
        if not run_programs(suite, [
                ("dict", f"dict/{TYPES[seed % 6]}*model", {"ORDO_TEST_OPS": str(6 * operations), "ORDO_TEST_TYPES": "all",
                                                             **more}),  # a sixth for each type
                ("blink_history", "*has_an_order_that*", {"ORDO_TEST_HISTORIES": histories, **more}),
                ("skiplist_history", "*has_an_order_that*", {"ORDO_TEST_HISTORIES": histories, **more}),
                ("blink_history", "*catches*", more)]):
            return False
        suite.say(f"seed {seed}: good")
        if time.monotonic() > until:
            return True
        seed += 1


# ---- what there is -------------------------------------------------------------------------------------------------

def why_not(emulator):
    """Why nothing can run here; "" if it can."""
    return "" if os.path.exists(os.path.join(emulator, "test", "mockgpu", "amd", "emu.py")) else HOW


def option_of(build, name):
    """What a build directory has for an option; "" if it is no build directory."""
    path = os.path.join(build, "meson-info", "intro-buildoptions.json")
    with open(path, encoding="utf-8") if os.path.exists(path) else io.StringIO("[]") as file:
        return next((option["value"] for option in json.load(file) if option["name"] == name), "")


def gone(device):
    """What a device needs that is not here; "" if it is all there."""
    return ", ".join(toolchain.DEVICES[device].target.missing() + ([] if shutil.which("clang") else ["clang"]))


def devices_of(names):
    """Those of the devices that there are compilers for; says why not the others."""
    found = []
    for device in names:
        lacks = gone(device)
        if lacks:
            print(f"skipped: {device} needs {lacks} (Debian: clang clang-15 lld-15 llvm-15 rocm-device-libs, clang-19 lld-19)")
        else:
            found.append(device)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--emulator", help="default: what the build directory was told")
    parser.add_argument("--build", required=True)
    parser.add_argument("--devices", default=",".join(toolchain.DEVICES))
    parser.add_argument("--part", default="full", choices=["short", "full"])
    parser.add_argument("--only", default="", help="programs of the part, with commas between")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="programs that run at once")
    parser.add_argument("--soak", type=float, help="minutes", default=-1)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the soak's first round")
    parser.add_argument("command", nargs="*")
    asked = parser.parse_args()
    asked.emulator = option_of(asked.build, "amd_emulator") if asked.emulator is None else asked.emulator
    reason = why_not(asked.emulator)
    if reason:
        print(reason)
        return SKIPPED
    devices = devices_of(asked.devices.split(","))
    if not devices:
        return SKIPPED
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what outlives its parent is counted
    start = time.monotonic()
    with Suite(os.path.abspath(asked.emulator), asked.build, devices, asked.jobs) as suite:
        if asked.command:
            return subprocess.run(asked.command, env=suite.environment(devices), check=False).returncode
        good = soak(suite, asked.soak, asked.seed) if asked.soak >= 0 else run_suite(suite, asked)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    print(f"{'good' if good else 'FAILED'} after {time.monotonic() - start:.0f} s, {sum(u.ru_utime + u.ru_stime for u in used):.0f} s of "
          "processors")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
