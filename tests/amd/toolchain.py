# SPDX-License-Identifier: Apache-2.0
"""The two compilers behind the driver for tests (README.md): OpenCL C to AMD's machine code, by clang with the command lines of
tests/offline/targets.py; and each instruction of that code to a function of this machine, by the emulator.

The emulator is not here: a checkout is given (README.md says of what). It turns an instruction into C, of which the registers'
numbers are read from the instruction when it runs, so that a few hundred functions are all that a device's kernels need. What
it gets wrong or lacks is mended in emulator.py, from outside.

Two kinds of files come out of the second:
  KEY.map           of a code object: for each word of its code the function that does it, struct map_* of code_map.h
  ARCH-N.so         functions of instructions, each void NAME(void **registers)
"""
import concurrent.futures
import hashlib
import multiprocessing
import os
import re
import signal
import struct
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "offline"))

import targets  # noqa: E402
from targets import version_of  # noqa: E402

MAP_MAGIC = b"ORDOMAP1"
BARRIER, YIELD, TROUBLE = 1, 2, 4  # MAP_... of code_map.h
NAME_BYTES, TEXT_BYTES = 64, 160


class Device:
    """A device that the driver shows: the target that compiles for it, and how the emulator calls its instructions."""

    def __init__(self, target, arch, name):
        self.target, self.arch, self.name = target, arch, name

    @property
    def wave(self):
        return self.target.facts["sub_group"]

    @property
    def units(self):
        """Fewer than there are: what the self-test gives each of them to do takes long here."""
        return min(32, self.target.facts["units"])


# RDNA 4 is younger than AMD's library in Debian too, and younger than clang 15.
DEVICES = {
    "gfx1100": Device(targets.Amd("gfx1100", 32, units=48, library="1036"), "rdna3", "gfx1100"),
    "gfx90a": Device(targets.Amd("gfx90a", 64, units=104), "cdna", "gfx90a:sramecc+:xnack-"),
    "gfx1200": Device(targets.Amd("gfx1200", 32, units=32, clang="19", library="1036"), "rdna4", "gfx1200"),
}

# ---- OpenCL C to machine code --------------------------------------------------------------------------------------

# As ROCm's runtime: OpenCL C up to 2.0, 1.2 unless asked.
STANDARDS = {"CL1.0", "CL1.1", "CL1.2", "CL2.0"}
OPTIONS = re.compile(r"-D\w+(=\S+)?|-w|-Werror|-cl-(std=CL\d\.\d|mad-enable|opt-disable|denorms-are-zero|no-signed-zeros"
                     r"|unsafe-math-optimizations|finite-math-only|fast-relaxed-math|kernel-arg-info"
                     r"|single-precision-constant|fp32-correctly-rounded-divide-sqrt)")


def build(device, source, options, out):
    """Compiles a file; the log. Failure with the log if it does not compile."""
    words, standard = [], "CL1.2"
    for word in options.split():
        if not OPTIONS.fullmatch(word):
            raise targets.Failure(f"unknown option {word}")
        if word.startswith("-cl-std="):
            standard = word[8:]
        elif word != "-cl-kernel-arg-info":
            words.append(word)
    if standard not in STANDARDS:
        raise targets.Failure(f"-cl-std={standard} is not supported")
    target = device.target
    flags = [f for f in target.flags if not f.startswith("-cl-std=")]
    fresh = f"{out}.{os.getpid()}"
    log = targets.run([target.clang, "-x", "cl", "-Xclang", "-finclude-default-header", f"-cl-std={standard}", *flags, *words,
                       source, "-o", fresh])
    os.rename(fresh, out)
    return log


# ---- machine code to functions of this machine ---------------------------------------------------------------------

class CodeObject:
    """What of an ELF file the translation needs: the code, where it will lie, and its functions."""

    def __init__(self, path):
        with open(path, "rb") as file:
            elf = file.read()
        at, = struct.unpack_from("<Q", elf, 0x28)
        size, count, _ = struct.unpack_from("<HHH", elf, 0x3a)
        headers = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]
        names = headers[struct.unpack_from("<H", elf, 0x3e)[0]][4]

        def text_at(where):
            return elf[where:elf.index(b"\0", where)].decode()

        self.functions = []
        self.text, self.address = b"", 0
        for name, _, _, address, offset, length, link, _, _, _ in headers:
            kind = text_at(names + name)
            if kind == ".text":
                self.text, self.address = elf[offset:offset + length], address
            if kind == ".symtab":
                strings = headers[link][4]
                for i in range(offset, offset + length, 24):
                    symbol, info, _, _, value, bytes_ = struct.unpack_from("<IBBHQQ", elf, i)
                    if info & 15 == 2:
                        self.functions.append((text_at(strings + symbol), value, bytes_))


class Translator:
    """Of one architecture. What it has translated before is in the cache."""

    def __init__(self, emulator, arch, cache):
        self.emulator, self.arch, self.cache = emulator, arch, cache
        self.known = {}  # (class, bytes, mask): {fixed bits: function}
        self.index = os.path.join(cache, f"{arch}.index")
        self.parts = 0
        if os.path.exists(self.index):
            with open(self.index, encoding="ascii") as file:
                for line in file:
                    kind, size, mask, fixed, function = line.split()
                    self.known.setdefault((kind, int(size), int(mask, 16)), {})[int(fixed, 16)] = function
                    self.parts = max(self.parts, int(function.split(":")[0].split("-")[1].split(".")[0]) + 1)

    def find(self, kind, code):
        for (k, size, mask), functions in self.known.items():
            if k == kind:
                function = functions.get(int.from_bytes(code[:size], "little") & mask)
                if function:
                    return function
        return None

    def translate(self, path, out):
        """Writes the map of a code object."""
        co = CodeObject(path)
        slots = [0] * (len(co.text) // 4)
        functions, troubles, sources = {}, [], []
        pending = []  # lines of the index
        library = f"{self.arch}-{self.parts}.so"
        for _, start, length in co.functions:
            at = start - co.address
            end = at + length
            while at < end:
                code = co.text[at:at + 20].ljust(20, b"\0")
                try:
                    inst = self.emulator.decode(code, self.arch)
                    kind, size, flags = inst.kind, inst.size, inst.flags
                    function = self.find(kind, code)
                    if not function:
                        text, fixed, mask = inst.translate(f"i{self.parts}_{len(sources)}")
                        function = f"{library}:i{self.parts}_{len(sources)}"
                        sources.append(text)
                        pending.append(f"{kind} {size} {mask:x} {fixed:x} {function}\n")
                        self.known.setdefault((kind, size, mask), {})[fixed] = function
                    slots[at // 4] = flags << 24 | functions.setdefault(function, len(functions)) + 1
                except Exception as trouble:  # of the emulator, of any kind: it matters only if the instruction is run
                    size = max(4, getattr(trouble, "size", 4))
                    slots[at // 4] = TROUBLE << 24 | len(troubles) + 1
                    troubles.append(f"{code[:8].hex()}: {type(trouble).__name__}: {trouble}".replace("\n", " "))
                at += size
        if sources:
            self.compile(sources, os.path.join(self.cache, library))
            with open(self.index, "a", encoding="ascii") as file:
                file.writelines(pending)
            self.parts += 1
        self.write(out, slots, list(functions), troubles)

    @staticmethod
    def compile(sources, out):
        fresh = f"{out}.c"
        with open(fresh, "w", encoding="ascii") as file:
            file.write("\n".join(sources))
        # The base of memory is address 0, from which the compiler must not conclude anything.
        targets.run(["clang", "-O2", "-march=native", "-fPIC", "-shared", "-ffreestanding", "-fno-math-errno", "-ffp-contract=off", "-w",
                     "-fno-delete-null-pointer-checks", "-fno-strict-aliasing", fresh, "-lm", "-o", out])

    @staticmethod
    def write(out, slots, functions, troubles):
        fresh = f"{out}.{os.getpid()}"
        with open(fresh, "wb") as file:
            file.write(MAP_MAGIC + struct.pack("<4I", len(slots), len(functions), len(troubles), 0))
            file.write(struct.pack(f"<{len(slots)}I", *slots))
            for text, room in [(f, NAME_BYTES) for f in functions] + [(t, TEXT_BYTES) for t in troubles]:
                file.write(text.encode("ascii", "replace")[:room - 1].ljust(room, b"\0"))
        os.rename(fresh, out)


# ---- the server ----------------------------------------------------------------------------------------------------

TRANSLATOR = None  # of a process for one architecture


def load_translator(checkout, arch, cache):
    """Loads the emulator, which takes a second or two."""
    global TRANSLATOR
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.pycache_prefix, sys.dont_write_bytecode = os.path.join(cache, "python"), False  # the checkout stays as it is
    from emulator import Emulator  # beside this file
    TRANSLATOR = Translator(Emulator(checkout), arch, cache)


def translate(path, out):
    if not os.path.exists(out):
        TRANSLATOR.translate(path, out)


class Tools:
    """Does what the driver asks for, many things at once: clang is a process each time, and so is the translator of each
    architecture, started when it is first needed."""

    def __init__(self, checkout, cache):
        self.checkout, self.cache, self.lock = checkout, cache, threading.Lock()
        self.translators, self.building = {}, {}

    def translator(self, arch):
        with self.lock:
            if arch not in self.translators:
                self.translators[arch] = concurrent.futures.ProcessPoolExecutor(
                    1, multiprocessing.get_context("spawn"), load_translator, (self.checkout, arch, self.cache))
            return self.translators[arch]

    def build(self, device, source, options, out):
        """Builds once what several programs ask for at the same time."""
        with self.lock:
            turn = self.building.setdefault(out, threading.Lock())
        with turn:
            return "" if os.path.exists(out) else build(DEVICES[device], source, options, out)

    def translate(self, device, path, out):
        self.translator(DEVICES[device].arch).submit(translate, path, out).result(timeout=600)
        return ""

    def answer(self, request):
        """The answer to a request, both lists of texts."""
        try:
            return ["ok", {"build": self.build, "translate": self.translate}[request[0]](*request[1:])]
        except targets.Failure as failure:
            return ["failed", str(failure)]
        except Exception as trouble:
            return ["broken", f"{type(trouble).__name__}: {trouble}"]

    def serve(self, listener):
        """Answers requests on connections to a socket, each the length of the rest and texts that end with a zero byte, until
        the socket is shut down."""
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.serve_one, args=(connection,), daemon=True).start()

    def serve_one(self, connection):
        with connection:
            while (request := receive(connection)) is not None:
                body = b"".join(t.encode("utf-8", "replace") + b"\0" for t in self.answer(request))
                try:
                    connection.sendall(struct.pack("<I", len(body)) + body)
                except OSError:
                    return  # it went away

    def close(self):
        for translator in self.translators.values():
            translator.shutdown(cancel_futures=True)


def receive(connection):
    def exactly(n):
        found = b""
        while len(found) < n:
            more = connection.recv(n - len(found))
            if not more:
                raise EOFError
            found += more
        return found
    try:
        return exactly(struct.unpack("<I", exactly(4))[0]).decode("utf-8", "replace").split("\0")[:-1]
    except (EOFError, OSError):
        return None


def digest(paths, texts):
    hash_ = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            hash_.update(file.read())
    for text in texts:
        hash_.update(text.encode())
    return hash_.hexdigest()[:16]


def stamp_of_builds():
    """Stands for all that code objects depend on, beside their source."""
    return digest([targets.__file__], [version_of(["clang-15", "--version"]), version_of(["clang-19", "--version"])])


def stamp_of_maps(checkout):
    """Stands for all that translations depend on, beside the code object. They are made for this processor."""
    files = [os.path.join(HERE, f) for f in ("toolchain.py", "emulator.py")]
    for folder in ("test/mockgpu/amd", "tinygrad/renderer/amd", "tinygrad/runtime/autogen/amd", "tinygrad/codegen"):
        for where, _, names in sorted(os.walk(os.path.join(checkout, folder))):
            files += [os.path.join(where, n) for n in sorted(names) if n.endswith(".py")]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = next((line for line in file if line.startswith("flags")), "")
    return digest(files, [version_of(["clang", "--version"]), processor])
