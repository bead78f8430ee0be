#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every kernel variant of variants.py for devices that are not here, with the compilers of their makers.

usage: compile.py EXPAND CL-DIR OUT [WORD...]

  EXPAND   the program that prints a module's text (tests/offline/expand.c)
  CL-DIR   kernels that only tests have (tests/cl)
  OUT      receives report.txt: registers, local memory and spills of each kernel, where the compiler tells
  WORD...  only the targets and modules whose names contain one of them

Targets whose compilers are missing are skipped, and said to be. Fails on any error or warning, and if there was no
compiler at all. On Debian 12 these packages have them, and NVIDIA's ptxas comes with CUDA:
  clang-15 clang-19 lld-15 lld-19 llvm-15 rocm-device-libs libclc-19 libclc-19-dev intel-opencl-icd libigc-tools
  llvm-spirv-15 spirv-tools
"""
import concurrent.futures
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import variants  # noqa: E402

SHOWN_IN_FULL = 2  # failures of a target of which the compiler's output is shown; the rest are only named

ONE, KHR, NVIDIA, AMD = range(4)
LEGACY, C11, PTX = range(3)

# Clang takes a variable in local memory for one of the work-item's own and warns that only one work-item sets it.
CLANG = ["-x", "cl", "-Xclang", "-finclude-default-header", "-Wall", "-Wextra", "-Wno-unused-parameter",
         "-Wno-unused-but-set-parameter", "-Wno-sometimes-uninitialized", "-Werror"]
ROCM = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
LIBCLC_NVPTX = "/usr/lib/clc/nvptx64--nvidiacl.bc"
INT64_EXTENSIONS = "+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics"


class Failure(Exception):
    pass


def run(command, **kwargs):
    """The output of a command; Failure with it if the command fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, timeout=600, **kwargs)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def tool(name):
    """A compiler's path: on PATH, or where CUDA puts ptxas. None if it is not there."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


class Target:
    """One device's compiler. compile() returns {kernel: {figure: number}}, or {} if the compiler does not tell."""

    tools = ()
    files = ()

    def __init__(self, name, lanes, atomics, sub_group, cpu=0, progress=1, int64=1, **facts):
        self.name, self.lanes, self.sub_group, self.cpu, self.progress = name, lanes, sub_group, cpu, progress
        self.facts = dict(ORDO_LANES=lanes, ORDO_ATOMICS=atomics, ORDO_SUBGROUP=sub_group, ORDO_INT64_ATOMICS=int64,
                          ORDO_CPU=cpu, ORDO_PROGRESS=progress, **facts)

    def missing(self):
        return [t for t in self.tools if not tool(t)] + [f for f in self.files if not os.path.exists(f)]


class Amd(Target):
    """Clang with AMD's own device library, as ROCm's runtime does it."""

    files = (ROCM,)

    def __init__(self, processor, wave, clang="15", library=None):
        name = f"{processor}-wave{wave}" + ("" if clang == "15" else f"-clang{clang}")
        super().__init__(name, AMD, C11, wave)
        self.clang, self.tools = f"clang-{clang}", (f"clang-{clang}", f"ld.lld-{clang}", "llvm-readelf-15")
        self.options = ["-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={processor}", "-O3"]
        if processor.startswith("gfx1") and wave == 64:
            self.options.append("-mwavefrontsize64")
        if library:  # of another processor: this one is younger than the library
            self.options.append("-nogpulib")
            for part in ("opencl", "ocml", "ockl", "oclc_correctly_rounded_sqrt_on", "oclc_daz_opt_off",
                         "oclc_finite_only_off", "oclc_unsafe_math_off", f"oclc_isa_version_{library}",
                         f"oclc_wavefrontsize64_{'on' if wave == 64 else 'off'}"):
                self.options += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"{ROCM}/{part}.bc"]
        else:
            self.options.append(f"--rocm-device-lib-path={ROCM}")

    def compile(self, source, defines, folder):
        out = f"{folder}/out.co"
        run([self.clang, *CLANG, *self.options, *defines, source, "-o", out])
        return self.figures(run(["llvm-readelf-15", "--notes", out]))

    @staticmethod
    def figures(notes):
        names = {".vgpr_count": "registers", ".sgpr_count": "scalar", ".vgpr_spill_count": "spills",
                 ".group_segment_fixed_size": "local", ".private_segment_fixed_size": "private"}
        kernels = {}
        for part in re.split(r"^  - \.", notes, flags=re.M)[1:]:
            part = "." + part
            name = re.search(r"\.name:\s+(\S+)\n", part[part.rindex(".kernarg_segment_size"):])
            if name:
                kernels[name[1]] = {names[key]: int(value) for key, value in
                                    re.findall(r"(\.\w+):\s+(\d+)\n", part) if key in names}
        return kernels


class Nvidia(Target):
    """Clang to PTX, then NVIDIA's assembler. (The front end of NVIDIA's own driver is not to be had off line.)"""

    tools = ("clang-19", "ptxas")
    files = (LIBCLC_NVPTX,)

    def __init__(self, processor):
        super().__init__(processor, NVIDIA, PTX, 32)
        self.processor = processor

    def compile(self, source, defines, folder):
        ptx = f"{folder}/out.ptx"
        run(["clang-19", *CLANG, "-cl-std=CL1.2", "-target", "nvptx64--nvidiacl", "-O3",
             "-Xclang", "-target-cpu", "-Xclang", self.processor, "-Xclang", "-target-feature", "-Xclang", "+ptx78",
             "-Xclang", f"-cl-ext={INT64_EXTENSIONS}", "-include", f"{HERE}/nvptx.h",
             "-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBCLC_NVPTX, *defines, "-S", source, "-o", ptx])
        return self.figures(run([tool("ptxas"), "-v", f"-arch={self.processor}", ptx, "-o", f"{folder}/out.cubin"]))

    @staticmethod
    def figures(log):
        kernels, kernel = {}, None
        for line in log.splitlines():
            if found := re.search(r"Compiling entry function '(\w+)'", line):
                kernel = kernels.setdefault(found[1], {})
            elif found := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line):
                kernel.update(private=int(found[1]), spills=int(found[2]))
            elif found := re.search(r"Used (\d+) registers", line):
                smem = re.search(r"(\d+) bytes smem", line)
                kernel.update(registers=int(found[1]), local=int(smem[1]) if smem else 0)
        return kernels


class Intel(Target):
    """Intel's own off-line compiler. It tells nothing of registers."""

    tools = ("ocloc",)

    def __init__(self, device, sub_group=16, ballot=1):
        super().__init__(f"{device}-simd{sub_group}" + ("" if ballot else "-no-ballot"), KHR, C11, sub_group,
                         ORDO_KHR_BALLOT=ballot, ORDO_KHR_SHUFFLE=1, ORDO_INTEL_SUB_GROUPS=1)
        self.device = device
        # The compiler of 2022 has no OpenCL C 3.0 for this one.
        self.standard = "CL2.0" if device == "pvc" else "CL3.0"

    def compile(self, source, defines, folder):
        options = " ".join([f"-cl-std={self.standard}", *defines])
        log = run(["ocloc", "compile", "-file", source, "-device", self.device, "-out_dir", folder, "-options", options],
                  cwd=folder)
        if re.search(r"\berror\b", log) or "Build succeeded" not in log:
            raise Failure(f"ocloc -device {self.device} -options '{options}'\n{log}")
        if "warning" in log:
            raise Failure(f"ocloc -device {self.device} -options '{options}'\n{log}")
        return {}


class Spirv(Target):
    """No device: the text as plain OpenCL C, and as SPIR-V that the validator accepts."""

    tools = ("clang-15", "llvm-spirv-15", "spirv-val")

    def __init__(self, name, standard, atomics, **facts):
        super().__init__(name, facts.pop("lanes", ONE), atomics, facts.pop("sub_group", 1), **facts)
        self.standard = standard

    def compile(self, source, defines, folder):
        bitcode, spirv = f"{folder}/out.bc", f"{folder}/out.spv"
        run(["clang-15", *CLANG, f"-cl-std={self.standard}", "-target", "spir64", "-O0", "-emit-llvm", "-c", *defines,
             source, "-o", bitcode])
        run(["llvm-spirv-15", bitcode, "--spirv-max-version=1.3", "-o", spirv])
        run(["spirv-val", "--target-env", "spv1.3", spirv])
        return {}


# Every row of variants.py is for these, which differ in language, lanes, width and order ...
MAIN = [
    Amd("gfx906", 64),
    Amd("gfx1030", 32),
    Intel("dg2"),
    Nvidia("sm_90"),
    Spirv("spirv-cpu", "CL3.0", C11, cpu=1, progress=0),
    Spirv("spirv-legacy", "CL1.2", LEGACY, int64=0, progress=0),
]
# ... and rows with everywhere=True for these too.
OTHERS = [
    Amd("gfx90a", 64),
    Amd("gfx1030", 64),
    Amd("gfx1030", 32, clang="19"),
    Amd("gfx1100", 32, library="1036"),
    Intel("tgllp"),
    Intel("tgllp", ballot=0),
    Intel("pvc"),
    Nvidia("sm_80"),
    Spirv("spirv-one", "CL2.0", C11),
    Spirv("spirv-khr", "CL3.0", C11, lanes=KHR, sub_group=32, ORDO_KHR_BALLOT=1, ORDO_KHR_SHUFFLE=1),
]


def value_of(word, target):
    return {"sub": target.sub_group, "narrow": min(4, target.sub_group)}.get(word, word)


def variants_for(target):
    """(module, {define: value}) of every row that this target compiles."""
    for module, only, everywhere, defines in variants.VARIANTS:
        if not everywhere and target not in MAIN:
            continue
        choices = [value if isinstance(value, list) else [value] for value in defines.values()]
        done = []
        for values in itertools.product(*choices):
            chosen = {name: value_of(value, target) for name, value in zip(defines, values)}
            if chosen in done or chosen.get("TEAM_WIDTH", 1) > target.sub_group or not only(target, chosen):
                continue
            done.append(chosen)
            yield module, chosen


def compile_one(target, module, chosen, source):
    defines = [f"-D{name}={value}" for name, value in {**target.facts, **chosen}.items()]
    with tempfile.TemporaryDirectory(prefix="ordo-offline-") as folder:
        return target.compile(source, defines, folder)


def expand_all(expand, cl_dir, modules, out):
    """{module: path of its whole text}."""
    sources = {}
    for module in modules:
        sources[module] = os.path.join(out, module.replace("/", "_"))
        text = run([expand, module, cl_dir])
        with open(sources[module], "w", encoding="ascii") as file:
            file.write(text)
    return sources


def title_of(module, chosen):
    return f"{module} " + " ".join(f"{name}={value}" for name, value in chosen.items())


def summary_of(kernels):
    """One line: the largest of each figure, and what spills."""
    if not kernels:
        return "compiled (no figures)"
    most = [f"{figure} <= {max(k[figure] for _, _, k in kernels)}" for figure in ("registers", "local")
            if figure in kernels[0][2]]
    spilling = sorted({name for name, _, k in kernels if k.get("spills") or k.get("private")})
    return ", ".join([f"{len(kernels)} kernels", *most, f"spilling: {' '.join(spilling)}" if spilling else "no spills"])


def check(target, sources, words, report, pool):
    """The number of failed variants of one target; None if there was nothing to do."""
    work = [(module, chosen) for module, chosen in variants_for(target)
            if not words or any(word in module or word in target.name for word in words)]
    if not work:
        return None
    jobs = [pool.submit(compile_one, target, module, chosen, sources[module]) for module, chosen in work]
    failed, kernels = 0, []
    for (module, chosen), job in zip(work, jobs):
        try:
            for name, figures in job.result().items():
                kernels.append((name, title_of(module, chosen), figures))
        except (Failure, subprocess.TimeoutExpired) as failure:
            failed += 1
            text = f"\n{failure}" if failed <= SHOWN_IN_FULL else ""
            print(f"FAILED {target.name}: {title_of(module, chosen)}{text}", flush=True)
    for name, title, figures in kernels:
        report.write(f"{target.name:22} {name:28} {title:70} "
                     + " ".join(f"{figure} {number}" for figure, number in figures.items()) + "\n")
    print(f"{'FAILED' if failed else 'ok    '} {target.name:22} {len(work) - failed} of {len(work)} variants, "
          f"{summary_of(kernels)}", flush=True)
    return failed


def main(expand, cl_dir, out, *words):
    os.makedirs(out, exist_ok=True)
    wanted = {module for module, *_ in variants.VARIANTS}
    sources = expand_all(expand, cl_dir, sorted(wanted), out)
    failed, tried = 0, 0
    workers = int(os.environ.get("ORDO_OFFLINE_JOBS", os.cpu_count() or 1))
    with open(os.path.join(out, "report.txt"), "w", encoding="ascii") as report, \
            concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for target in MAIN + OTHERS:
            missing = target.missing()
            if missing:
                print(f"skip   {target.name:22} not here: {', '.join(missing)}", flush=True)
                continue
            outcome = check(target, sources, words, report, pool)
            tried += outcome is not None
            failed += outcome or 0
    print(f"figures of each kernel: {out}/report.txt")
    if not tried:
        sys.exit("nothing was compiled: no compiler is here (see the head of compile.py), or no name was right")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
