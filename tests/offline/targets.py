# SPDX-License-Identifier: Apache-2.0
"""Compilers for devices that this machine lacks, and the figures that each reports.

A target's compile() returns {kernel: {figure: number}}, or {} if its compiler does not tell. The figures:
  registers  of a work-item (AMD, NVIDIA), or of a thread (Intel: 128 of 32 bytes; 64 bytes on pvc)
  scalar     of a wave (AMD)
  lanes      that Intel's compiler chose to run in a thread
  local      bytes of local memory that a work-group takes
  private    bytes of memory behind the registers: spills, and arrays that cannot be in registers. Of a work-item; of a
             thread on Intel
  spills     AMD: registers; NVIDIA: bytes stored; Intel: instructions, as its warning counts them
"""
import glob
import os
import re
import shutil
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES = ("registers", "scalar", "lanes", "local", "private", "spills")

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


# Meson lets malloc() and free() fill memory with a random byte. llvm-spirv 15 reads memory that it has freed, and ends
# by a signal for some bytes (3, for instance).
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}


def run(command, **kwargs):
    """The output of a command; Failure with it if the command fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, timeout=600, env=ENVIRONMENT, **kwargs)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def tool(name):
    """A compiler's path: on PATH, or where CUDA puts ptxas. None if it is not there."""
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def version_of(command):
    """The first number with a dot in what a compiler says of itself; "" if it is not there."""
    if not tool(command[0]):
        return ""
    found = re.search(r"\d+\.\d+(\.\d+)*", run([tool(command[0]), *command[1:]]))
    return found[0] if found else ""


class Target:
    """One device and its compiler. Targets of one group share the variants, and `maker` says whose the device is."""

    tools = ()
    files = ()
    group = "devices"
    maker = ""
    looks_at_form = False

    def __init__(self, name, lanes, atomics, sub_group, **more):
        self.name = name
        self.facts = dict(lanes=lanes, atomics=atomics, sub_group=sub_group, int64=1, cpu=0, progress=1)
        self.facts.update(more)

    def missing(self):
        return [t for t in self.tools if not tool(t)] + [f for f in self.files if not os.path.exists(f)]

    def compiler(self):
        """Name and version of what the figures depend on; "" if there are no figures."""
        return ""

    def compile(self, variant, folder):
        raise NotImplementedError

    def form(self, variant):
        """Fails on what is wrong with the text, without making code of it."""
        raise NotImplementedError


# ---- AMD -----------------------------------------------------------------------------------------------------------

class Amd(Target):
    """Clang with AMD's own device library, as ROCm's runtime does it, which lets groups have 256 work-items."""

    maker = "AMD"
    looks_at_form = True
    files = (ROCM,)

    def __init__(self, processor, wave, units, clang="15", library=None):
        super().__init__(f"{processor}-wave{wave}" + ("" if clang == "15" else f"-clang{clang}"), AMD, C11, wave,
                         local=65536, max_group=256, units=units)
        self.clang, self.tools = f"clang-{clang}", (f"clang-{clang}", f"ld.lld-{clang}", "llvm-readelf-15")
        self.flags = ["-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={processor}", "-O3"]
        if processor.startswith("gfx1") and wave == 64:
            self.flags.append("-mwavefrontsize64")
        self.flags += self.library_flags(wave, library, "500" if clang == "19" else "400")

    @staticmethod
    def library_flags(wave, library, abi):
        if not library:
            return [f"--rocm-device-lib-path={ROCM}"]
        flags = ["-nogpulib"]  # that of another processor: this one is younger than the library
        for part in ("opencl", "ocml", "ockl", "oclc_correctly_rounded_sqrt_on", "oclc_daz_opt_off",
                     "oclc_finite_only_off", "oclc_unsafe_math_off", f"oclc_isa_version_{library}",
                     f"oclc_wavefrontsize64_{'on' if wave == 64 else 'off'}", f"oclc_abi_version_{abi}"):
            flags += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"{ROCM}/{part}.bc"]
        return flags

    def compiler(self):
        return f"{self.clang} {version_of([self.clang, '--version'])}"

    def compile(self, variant, folder):
        out = f"{folder}/out.co"
        run([self.clang, *CLANG, *self.flags, *variant.options, variant.path, "-o", out])
        return amd_figures(run(["llvm-readelf-15", "--notes", out]))

    def form(self, variant):
        run([self.clang, *CLANG, *self.flags, *variant.options, "-fsyntax-only", variant.path])


AMD_NOTES = {".vgpr_count": "registers", ".sgpr_count": "scalar", ".vgpr_spill_count": "spills",
             ".group_segment_fixed_size": "local", ".private_segment_fixed_size": "private"}


def amd_figures(notes):
    kernels = {}
    for part in re.split(r"^  - \.", notes, flags=re.M)[1:]:
        part = "." + part
        name = re.search(r"\.name:\s+(\S+)\n", part[part.rindex(".kernarg_segment_size"):])
        if name:
            kernels[name[1]] = {AMD_NOTES[key]: int(value) for key, value in
                                re.findall(r"(\.\w+):\s+(\d+)\n", part) if key in AMD_NOTES}
    return kernels


# ---- NVIDIA --------------------------------------------------------------------------------------------------------

class Nvidia(Target):
    """Clang to PTX, then NVIDIA's assembler where it is. (The front end of NVIDIA's own driver is not to be had off
    line.)"""

    maker = "NVIDIA"
    looks_at_form = True
    tools = ("clang-19",)
    files = (LIBCLC_NVPTX,)

    def __init__(self, processor, units):
        super().__init__(processor, NVIDIA, PTX, 32, local=49152, max_group=1024, units=units, nvidia_options=1)
        self.flags = ["-cl-std=CL1.2", "-target", "nvptx64--nvidiacl", "-O3", "-Xclang", "-target-cpu", "-Xclang",
                      processor, "-Xclang", "-target-feature", "-Xclang", "+ptx78", "-Xclang",
                      f"-cl-ext={INT64_EXTENSIONS}", "-include", f"{HERE}/nvptx.h"]
        self.link = ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", LIBCLC_NVPTX]

    def compiler(self):
        return f"ptxas {version_of(['ptxas', '--version'])}" if tool("ptxas") else ""

    def compile(self, variant, folder):
        ptx = f"{folder}/out.ptx"
        limits = [o.split("=")[1] for o in variant.options if o.startswith("-cl-nv-maxrregcount=")]
        defines = [o for o in variant.options if o.startswith("-D")]
        run(["clang-19", *CLANG, *self.flags, *self.link, *defines, "-S", variant.path, "-o", ptx])
        if not tool("ptxas"):
            return {}
        self.fix_groups(ptx, run(["clang-19", "-x", "cl", *self.flags, *defines, "-E", "-P", variant.path]))
        return ptxas_figures(run([tool("ptxas"), "-v", *[f"--maxrregcount={n}" for n in limits],
                                  f"-arch={self.name}", ptx, "-o", f"{folder}/out.cubin"]))

    def form(self, variant):
        defines = [o for o in variant.options if o.startswith("-D")]
        run(["clang-19", *CLANG, *self.flags, *defines, "-fsyntax-only", variant.path])

    @staticmethod
    def fix_groups(path, source):
        """Gives kernels in PTX the sizes of group that they have in the source: Clang leaves them out, and NVIDIA's own
        front end does not. They limit the registers."""
        with open(path, encoding="ascii") as file:
            ptx = with_groups(file.read(), groups_of(source))
        with open(path, "w", encoding="ascii") as file:
            file.write(ptx)


def groups_of(source):
    """{kernel: work-items of its groups} of a text without macros."""
    found = re.findall(r"reqd_work_group_size\(([\d\s*+/()-]+),\s*1,\s*1\)\s*\)\)\s*void\s+(\w+)", source)
    return {kernel: eval(size.replace("/", "//")) for size, kernel in found}  # digits and operators


def with_groups(ptx, groups):
    def entry(match):
        size = groups.get(match[2])
        return match[1] + (f".reqntid {size}, 1, 1\n" if size else "")

    return re.sub(r"(\.entry (\w+)\([^)]*\)\n)", entry, ptx)


class NvidiaForm(Nvidia):
    """Only whether the text is right. For what no shipped profile asks for, but a tuned one may."""

    group = "choices"
    looks_at_form = False  # but of what it compiles

    def compile(self, variant, folder):
        self.form(variant)
        return {}

    def compiler(self):
        return ""


def ptxas_figures(log):
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


# ---- Intel ---------------------------------------------------------------------------------------------------------

class Intel(Target):
    """Intel's own off-line compiler. Its warnings of spills are figures, all others are failures."""

    maker = "Intel"
    tools = ("ocloc",)

    def __init__(self, device, units, sub_group=16, ballot=1):
        super().__init__(f"{device}-simd{sub_group}" + ("" if ballot else "-no-ballot"), KHR, C11, sub_group,
                         ballot=ballot, intel=1, local=65536, max_group=512, units=units)
        self.device = device
        # The compiler of 2022 has no OpenCL C 3.0 for this one.
        self.standard = "CL2.0" if device == "pvc" else "CL3.0"

    def compiler(self):
        found = run(["dpkg-query", "-W", "-f", "${Version}", "intel-opencl-icd"]) if shutil.which("dpkg-query") else ""
        return f"ocloc {found}"

    def compile(self, variant, folder):
        options = " ".join([f"-cl-std={self.standard}", *variant.options])
        log = run(["ocloc", "compile", "-file", variant.path, "-device", self.device, "-out_dir", folder,
                   "-exclude_ir", "-internal_options", "-cl-intel-allow-zebin", "-options", options], cwd=folder)
        spills = {kernel: int(n) for kernel, n in re.findall(r"kernel (\w+)\s.*spilled around (\d+)", log)}
        rest = re.sub(r"^warning: kernel .* spilled around \d+$", "", log, flags=re.M)
        if re.search(r"\berror\b|\bwarning\b", rest) or "Build succeeded" not in log:
            raise Failure(f"ocloc -device {self.device} -options '{options}'\n{log}")
        with open(glob.glob(f"{folder}/*.bin")[0], "rb") as file:
            return intel_figures(section(file.read(), ".ze_info").decode(), spills)


def section(elf, wanted):
    """The content of a section of a 64-bit ELF file; b"" if there is none."""
    at, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3a)
    headers = [struct.unpack_from("<IIQQQQ", elf, at + i * size) for i in range(count)]
    names = headers[names_index][4]
    for name, _, _, _, offset, length in headers:
        start = names + name
        if elf[start:elf.index(b"\0", start)] == wanted.encode():
            return elf[offset:offset + length]
    return b""


INTEL_NAMES = {"grf_count": "registers", "simd_size": "lanes", "slm_size": "local"}


def intel_figures(info, spills):
    """Of the text of .ze_info, which is YAML that always looks alike."""
    kernels = {}
    kernels_part = info.split("kernels_misc_info:")[0]
    for part in re.split(r"^  - name: +", kernels_part, flags=re.M)[1:]:
        name = part.split("\n", 1)[0].strip()
        if name.startswith("Intel_Symbol_Table"):
            continue
        figures = dict(local=0)
        figures.update({INTEL_NAMES[key]: int(value) for key, value in
                        re.findall(r"^      (\w+): +(\d+)$", part, flags=re.M) if key in INTEL_NAMES})
        behind = part.split("per_thread_memory_buffers:")[1] if "per_thread_memory_buffers:" in part else ""
        figures["private"] = sum(int(n) for n in re.findall(r"^        size: +(\d+)$", behind, flags=re.M))
        figures["spills"] = spills.get(name, 0)
        kernels[name] = figures
    return kernels


# ---- no device -----------------------------------------------------------------------------------------------------

class Spirv(Target):
    """The text as plain OpenCL C, and as SPIR-V that the validator accepts."""

    tools = ("clang-15", "llvm-spirv-15", "spirv-val")

    def __init__(self, name, standard, atomics, lanes=ONE, sub_group=1, group="SPIR-V", **more):
        super().__init__(name, lanes, atomics, sub_group, local=32768, max_group=256, units=16, **more)
        self.standard, self.group = standard, group

    def compile(self, variant, folder):
        bitcode, spirv = f"{folder}/out.bc", f"{folder}/out.spv"
        run(["clang-15", *CLANG, f"-cl-std={self.standard}", "-target", "spir64", "-O0", "-emit-llvm", "-c",
             *variant.options, variant.path, "-o", bitcode])
        run(["llvm-spirv-15", bitcode, "--spirv-max-version=1.3", "-o", spirv])
        run(["spirv-val", "--target-env", "spv1.3", spirv])
        return {}


TARGETS = [
    Amd("gfx906", 64, units=60),
    Amd("gfx90a", 64, units=104),
    Amd("gfx1030", 32, units=40),
    Amd("gfx1030", 64, units=40),
    Amd("gfx1030", 32, units=40, clang="19"),
    Amd("gfx1100", 32, units=48, clang="15", library="1036"),
    Amd("gfx1100", 64, units=48, clang="15", library="1036"),
    Intel("tgllp", units=96),
    Intel("tgllp", units=96, ballot=0),
    Intel("dg2", units=512),
    Intel("pvc", units=1024),
    Nvidia("sm_80", units=108),
    Nvidia("sm_90", units=132),
    Spirv("spirv-cpu", "CL3.0", C11, group="CPU", cpu=1, progress=0),
    Spirv("spirv-legacy", "CL1.2", LEGACY, int64=0, progress=0),
    Spirv("spirv-one", "CL2.0", C11),
    Spirv("spirv-khr", "CL3.0", C11, lanes=KHR, sub_group=32, ballot=1, progress=0),
]
CHOICES = NvidiaForm("sm_90", units=132)
CHOICES.name = "choices"
