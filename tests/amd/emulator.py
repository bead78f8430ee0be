# SPDX-License-Identifier: Apache-2.0
"""The emulator as the translation sees it, and what is mended of it.

The emulator is tinygrad's (test/mockgpu/amd/emu.py): per instruction a handler that makes a graph of what AMD's pseudocode says,
and a renderer that makes C of it. Its own loop, which runs waves one after the other in Python, is not used.

Each mend says why it is the emulator that is wrong; AMD's manuals of the instruction sets are the judge. A checkout is never
changed: handlers are put before its own.
"""
import contextlib
import os
import re
import sys


class Translated(Exception):
    """An instruction that cannot be translated, of so many bytes."""

    def __init__(self, text, size):
        super().__init__(text)
        self.size = size


class NoCompiler:
    """The renderer's C is compiled with that of other instructions, later."""

    @staticmethod
    def compile_cached(_source):
        return b""


class Emulator:
    def __init__(self, checkout):
        os.environ["DEV"] = os.environ["CPU"] = "CPU"
        os.environ["CPU"] = "1"
        sys.path.insert(0, checkout)
        from test.mockgpu.amd import emu
        from tinygrad.codegen import to_program
        from tinygrad.device import Device
        from tinygrad.helpers import Context
        from tinygrad.renderer.amd import decode_inst
        from tinygrad.uop.ops import KernelInfo

        self.emu, self.to_program, self.context, self.decode_inst, self.info = emu, to_program, Context, decode_inst, KernelInfo
        self.renderer = Device["CPU"].renderer
        self.renderer.compiler = NoCompiler
        self.mends = Mends(emu, sys.modules["test.mockgpu.amd.pcode"])

    def decode(self, code, arch):
        """The instruction that some bytes begin with."""
        nothing = self.mends.does_nothing(code, arch)
        if nothing:
            return Nothing(nothing)
        code, unfused = self.mends.multiply_add(code) if arch == "cdna" else (code, None)
        inst = self.decode_inst(code, arch)
        size = inst.size()
        if self.mends.is_cache_control(inst):
            return Nothing(size)
        return Instruction(self, inst, arch, code[:size], unfused)

    def source_of(self, inst, arch, name, unfused):
        """The C text of an instruction as a function of the registers, its fixed bits and which these are."""
        emu = self.emu
        handler = self.mends.handler(inst)
        if handler is None:
            handler = next((emu._INST_HANDLERS[c] for c in type(inst).__mro__ if c in emu._INST_HANDLERS), None)
        if handler is None:
            raise Translated(f"the emulator has no {type(inst).__name__} {emu._op_name(inst)}", inst.size())
        ctx = emu._Ctx(inst.size(), emu._wave_size(arch))
        with self.mends.computing(unfused):
            sink = handler(inst, ctx)
        fixed, mask, _ = ctx.canonical_mask(inst.to_bytes())
        sink = sink.replace(arg=self.info(name=name)).rtag(1)
        with self.context(NOOPT=1, CHECK_OOB=0, TUPLE_ORDER=0, EMULATED_DTYPES="", CAPTURE_PROCESS_REPLAY=0, PROFILE=0):
            program = self.to_program(sink, self.renderer)
        body = next(u.arg for u in program.src if u.op.name == "SOURCE")
        given = ", ".join(f"r[{g}]" for g in program.arg.globals)
        head = f"void {name}("
        assert body.count(head) == 1, body
        body = body.replace(head, f"static inline __attribute__((always_inline)) void {name}_(")
        body = self.mends.place(body)
        return f"/* {emu._op_name(inst)} */\n{body}\nvoid {name}(void **r) {{ {name}_({given}); }}\n", fixed, mask


class Instruction:
    def __init__(self, emulator, inst, arch, code, unfused):
        self.emulator, self.inst, self.arch, self.code, self.unfused = emulator, inst, arch, code, unfused
        self.kind, self.size = type(inst).__name__ + ("_UNFUSED" if unfused else ""), len(code)

    @property
    def flags(self):
        name = self.emulator.emu._op_name(self.inst)
        return 1 if name in ("S_BARRIER", "S_BARRIER_WAIT") else 2 if name == "S_SLEEP" else 0

    def translate(self, name):
        try:
            text, _, mask = self.emulator.source_of(self.inst, self.arch, name, self.unfused)
            return text, int.from_bytes(self.code, "little") & mask, mask
        except Translated:
            raise
        except Exception as trouble:
            raise Translated(f"{self.emulator.emu._op_name(self.inst)}: {type(trouble).__name__}: {trouble}", self.size) \
                from trouble


class Nothing:
    """An instruction that only takes room: there are no caches."""

    flags = 0

    def __init__(self, size):
        self.size, self.kind = size, f"Nothing{size}"

    def translate(self, name):
        # Words 256 and 257 of the scalar registers are the program counter.
        return (f"void {name}(void **r) {{ *(unsigned long *) ((unsigned *) r[0] + 256) += {self.size}; }}\n", 0, 0)


class Mends:
    def __init__(self, emu, pcode):
        self.emu = emu
        self.patch_returns()
        self.reach_any_address(pcode)
        self.round_once(pcode)
        self.find_lanes()

    # ---- caches ----
    # The emulator has no caches, so what empties them or writes them back does nothing. Those in the MUBUF format it does not
    # know: buffer_gl0_inv and buffer_gl1_inv of RDNA 3; buffer_wbl2, buffer_invl2, buffer_wbinvl1 and buffer_wbinvl1_vol of
    # CDNA 2 (ISA manuals, "Memory Buffer Instructions": they have no operands).
    CACHES = {"rdna3": (0xff, (43, 44)), "cdna": (0x7f, (40, 41, 62, 63))}

    def does_nothing(self, code, arch):
        """The bytes of an instruction of the MUBUF format that controls a cache, else 0."""
        mask, opcodes = self.CACHES.get(arch, (0, ()))
        word = int.from_bytes(code[:4], "little")
        return 8 if word >> 26 == 0x38 and word >> 18 & mask in opcodes else 0

    def is_cache_control(self, inst):
        name = self.emu._op_name(inst)
        return name.startswith(("BUFFER_WBINVL1", "BUFFER_WBL2", "BUFFER_INV", "GLOBAL_INV", "GLOBAL_WB", "S_DCACHE_",
                                "S_ICACHE_INV", "S_GL1_INV"))

    # ---- atomics ----
    # An atomic gives back the old value where the bit says so that is named glc on RDNA 3 and before, sc0 on gfx940, and is the
    # lowest of "th" on RDNA 4. The emulator looks at glc alone, and on CDNA its field of this name is another one's.

    def patch_returns(self):
        ask = self.emu._iattr

        def with_all_names(inst, name, default=0):
            if name != "glc":
                return ask(inst, name, default)
            return ask(inst, "glc") or ask(inst, "sc0") or ask(inst, "th") & 1 or default

        self.emu._iattr = with_all_names

    # ---- addresses ----
    # Addresses of 32 bits and more need not be multiples of 4: ROCm runs kernels in the mode that lets them be anything (LLVM's
    # AMDGPU guide, feature unaligned-access-mode), and clang stores three neighbours of 16 bits and more at once where they lie.
    # The emulator drops the lowest two bits of all addresses that it stores to, and of those of 64 bits that it loads from; of those
    # of 16 bits the lowest one, so that such a load is one of two bytes.
    # Here such an access is one at a byte's address: the parameters 6 and 7 stand for the memory of 2 and 3, by bytes.
    #
    # Behind the end of a group's local memory, loads give 0 and stores do nothing (ISA manuals, "LDS": out of range). The
    # emulator's code loads at the addresses of all lanes, also of those that do not take part, whose registers hold anything,
    # and would read memory that is not there. Each access goes through a function; the word before the memory is its size.

    PLACE = re.compile(r"\((data([367])_\d+)\+")
    PLACES = """
#ifndef PLACES
#define PLACES
typedef unsigned any_unsigned __attribute__((aligned(1), may_alias));
static unsigned local_none[8];
static inline any_unsigned *place7(void *memory, unsigned i)
{
    if (i < ((unsigned *) memory)[-1] * 4u)
        return (any_unsigned *) ((char *) memory + i);
    local_none[0] = 0;
    return local_none;
}
static inline any_unsigned *place3(void *memory, unsigned i)
{
    return place7(memory, i < 1u << 30 ? 4 * i : ~0u);
}
static inline any_unsigned *place6(void *memory, unsigned long i)
{
    return (any_unsigned *) ((char *) memory + i);
}
#endif
"""

    def reach_any_address(self, pcode):
        emu = self.emu
        wide = (emu.dtypes.uint64, emu.dtypes.int64, emu.dtypes.float64)
        narrow = (emu.dtypes.uint8, emu.dtypes.int8, emu.dtypes.uint16, emu.dtypes.int16)
        halves = (emu.dtypes.uint16, emu.dtypes.int16)
        memory = emu.UOp.param(6, emu.dtypes.uint32, (1 << 48,))
        local = emu.UOp.param(7, emu.dtypes.uint32, (1 << 16,))
        parser = next(c for c in vars(pcode).values() if isinstance(c, type) and hasattr(c, "_handle_mem_load"))
        load, store, write = parser._handle_mem_load, emu._mem_store, emu._write_val

        def load_any(self, address, kind):
            given = self.vars.get("_vmem", self.vars.get("_lds"))
            if kind in halves and given.dtype != emu.dtypes.uint8:
                low, high = (load(self, at, emu.dtypes.uint8) for at in (address, address + emu.UOp.const(1, address.dtype)))
                return pcode._cast_to(low | high << pcode._u32(8), kind)
            if given.dtype == emu.dtypes.uint8 or kind in narrow:
                return load(self, address, kind)
            active = self.vars.get("_active")
            words = []
            for i in range(2 if kind in wide else 1):
                at = address + emu.UOp.const(4 * i, address.dtype)
                at = at.cast(emu.dtypes.int64) if given is emu._Ctx.vmem else at
                at = at.valid(active) if active is not None else at
                words.append((memory if given is emu._Ctx.vmem else local).index(at).load())
            return pcode._cast_to(emu._u64(*words) if kind in wide else words[0], kind)

        def store_any(given, address, value, active, addr_bits=32, data_bits=32):
            if data_bits != 32 or given is not emu._Ctx.vmem:
                return store(given, address, value, active, addr_bits, data_bits)
            return [memory.index(address.cast(emu.dtypes.int64).valid(active)).store(emu._to_u32(value))]

        def write_local(address, value, active, *_):
            return local.index(address.valid(active)).store(emu._to_u32(value))

        def write_any(bits, value, function, where, *rest, is_mem=False):
            in_local = is_mem and isinstance(where, emu.UOp) and where.dtype == emu.dtypes.uint32
            return write(bits, value, write_local if in_local else function, where, *rest, is_mem=is_mem)

        parser._handle_mem_load, emu._mem_store, emu._write_val = load_any, store_any, write_any

    def place(self, body):
        """Memory is reached through several parameters, which the renderer says never to overlap."""
        return self.PLACES + self.PLACE.sub(r"place\2(\1, ", re.sub(r"\* restrict (data[2367]_)", r"* \1", body))

    # ---- multiply-add that rounds once ----
    # What the pseudocode calls fma is fused: the product is not rounded (ISA manuals, V_FMA_F32). The emulator rounds it.
    # (With numbers of 16 bits no kernel of the library computes; they are left as they are.)

    @staticmethod
    def round_once(pcode):
        ops, ask = pcode.Ops, pcode._FUNCS["fma"]
        names = {pcode.dtypes.float32: "__builtin_fmaf", pcode.dtypes.float64: "__builtin_fma"}

        def fused(a, b, c):
            if a.dtype not in names:
                return ask(a, b, c)
            return pcode.UOp(ops.CUSTOMI, a.dtype, (a, b, c), names[a.dtype] + "({0}, {1}, {2})")

        pcode._FUNCS["fma"] = fused

    # ---- multiply-add that rounds twice ----
    # CDNA 2 has v_mac_f32 and v_mad_f32, which later ones have no more, and v_madmk_f32 and v_madak_f32 where these have v_fmamk_f32 and
    # v_fmaak_f32 (ISA manuals of both: VOP2, opcodes 22 to 24; VOP3, 0x116 and 0x1c1). The emulator has the later ones alone.
    # Each is done as the fused one with operands in the same places, but that the product is rounded.
    # Opcodes: that of the fused one, and the sum.
    UNFUSED_VOP2 = {22: (59, "S0.f32 * S1.f32 + D0.f32"), 23: (23, "S0.f32 * SIMM32.f32 + S1.f32"),
                    24: (24, "S0.f32 * S1.f32 + SIMM32.f32")}
    UNFUSED_VOP3 = {0x116: (0x13b, "S0.f32 * S1.f32 + D0.f32"), 0x1c1: (0x1cb, "S0.f32 * S1.f32 + S2.f32")}

    def multiply_add(self, code):
        """The bytes of the fused instruction for those of such a one, and what it computes; else the bytes as they are, and None."""
        word = int.from_bytes(code[:4], "little")
        if word >> 25 in self.UNFUSED_VOP2:
            fused, total = self.UNFUSED_VOP2[word >> 25]
            word = word & 0x1ffffff | fused << 25
        elif word >> 26 == 0x34 and word >> 16 & 0x3ff in self.UNFUSED_VOP3:
            fused, total = self.UNFUSED_VOP3[word >> 16 & 0x3ff]
            word = word & ~(0x3ff << 16) | fused << 16
        else:
            return code, None
        return word.to_bytes(4, "little") + code[4:], f"D0.f32 = {total}"

    @contextlib.contextmanager
    def computing(self, what):
        """Within it an instruction does `what`, unless that is None."""
        ask = self.emu.get_pcode
        if what:
            self.emu.get_pcode = lambda op: what
        try:
            yield
        finally:
            self.emu.get_pcode = ask

    # ---- private memory ----
    # Of each lane in one piece here, lane after lane, as the emulator has it for the SCRATCH format; the hardware interleaves the
    # lanes, which code cannot see. Two more ways lead there:
    #
    # CDNA 2 reaches it through the MUBUF format, with a buffer resource that spreads it over the lanes (ISA manual, "Buffer
    # addressing", swizzled, with the lane's number added), and a scalar offset in bytes of the whole wave. The emulator takes the
    # resource's addresses as they stand, so that all lanes would share their memory. Kernels of OpenCL C use the format for
    # nothing else.
    #
    # A FLAT access whose address lies in the private aperture (ISA manuals, "Flat address space") is one to the lane's own memory.
    # The emulator takes it for a global one. Where the aperture lies, src_private_base says (runner.c), or s_getreg_b32 of
    # SH_MEM_BASES, which the emulator finds where it keeps another number.
    PRIVATE_APERTURE, LOCAL_APERTURE = 0x20000000, 0x10000000  # the upper words of addresses (PRIVATE_APERTURE of runner.c)
    PRIVATE, STRIDE, SH_MEM_BASES = 220, 259, 15  # words of the scalar registers that are none: runner.c

    def private_of(self, ctx, lane):
        """Where the private memory of a lane begins."""
        c, wide = self.emu._c, self.emu.dtypes.uint64
        base = self.emu._u64(ctx.rsgpr_dyn(c(self.PRIVATE)), ctx.rsgpr_dyn(c(self.PRIVATE + 1)))
        return base + lane.cast(wide) * ctx.rsgpr_dyn(c(self.STRIDE)).cast(wide)

    def private(self, inst, ctx):
        emu, c, wide = self.emu, self.emu._c, self.emu.dtypes.uint64
        name, kind = emu._op_name(inst), type(inst)
        words = {"DWORD": 1, "DWORDX2": 2, "DWORDX3": 3, "DWORDX4": 4}[name.rsplit("_", 1)[1]]
        registers, by_wave = ctx.inst_field(kind.vdata), ctx.rsgpr_dyn(ctx.inst_field(kind.soffset))
        fixed, by_lane = ctx.inst_field(kind.offset), ctx.inst_field(kind.offen)
        address, execs, lane = ctx.inst_field(kind.vaddr), ctx.rexec(), ctx.range()
        active = emu._lane_active(execs, lane)
        offset = (by_wave >> c(6)) + fixed + by_lane.ne(c(0)).where(ctx.rvgpr_dyn(address, lane), c(0))
        read, write = (ctx.raccvgpr_dyn, ctx.waccvgpr_dyn) if emu._iattr(inst, "acc") else (ctx.rvgpr_dyn, ctx.wvgpr_dyn)
        stores = []
        for i in range(words):
            at = self.private_of(ctx, lane) + (offset + c(4 * i)).cast(wide)
            place = ctx.vmem.index((at >> emu.UOp.const(2, wide)).cast(emu.dtypes.int64).valid(active))
            if "_STORE_" in name:
                stores.append(place.store(read(registers + c(i), lane)))
            else:
                stores.append(write(registers + c(i), lane, active.where(place.load(), c(0)), execs))
        return emu.UOp.sink(emu.UOp.group(*stores).end(lane), *ctx.inc_pc())

    def flat(self, inst, ctx):
        emu, c, kind, mends = self.emu, self.emu._c, type(inst), self
        low_register = ctx.inst_field(kind.vaddr if hasattr(kind, "vaddr") else kind.addr)
        high_register = low_register + c(1)
        ask = emu._Ctx.rvgpr_dyn

        def with_aperture(self, register, lane, *rest):
            if register is not low_register and register is not high_register:
                return ask(self, register, lane, *rest)
            low, high = ask(self, low_register, lane), ask(self, high_register, lane)
            own = mends.private_of(self, lane) + low.cast(emu.dtypes.uint64)
            words = emu._split64(high.eq(c(mends.PRIVATE_APERTURE)).where(own, emu._u64(low, high)))
            return words[0 if register is low_register else 1]

        ctx.__class__ = type("Flat", (emu._Ctx,), {"__slots__": (), "rvgpr_dyn": with_aperture})
        return emu._compile_mem_op(inst, ctx)

    def bases(self, inst, ctx):
        """s_getreg_b32 of SH_MEM_BASES."""
        first, bits = inst.simm16 >> 6 & 31, (inst.simm16 >> 11 & 31) + 1
        value = (self.LOCAL_APERTURE | self.PRIVATE_APERTURE >> 16) >> first & (1 << bits) - 1
        return self.emu.UOp.sink(ctx.wsgpr_dyn(ctx.inst_field(type(inst).sdst), self.emu._c(value)), *ctx.inc_pc())

    # ---- compare and swap of 64 bits ----
    # It has 128 bits of data, the new value and then the expected one; the emulator gives the pseudocode the first 32 of them.

    def swap64(self, inst, ctx):
        emu, c, kind = self.emu, self.emu._c, type(inst)
        wide, signed = emu.dtypes.uint64, emu.dtypes.int64
        names = ("vaddr", "vsrc", "ioffset") if hasattr(kind, "vaddr") else ("addr", "data", "offset")
        address, data = (ctx.inst_field(getattr(kind, n)) for n in names[:2])
        offset, base = ctx.inst_field_signed(getattr(kind, names[2])), ctx.inst_field(kind.saddr)
        to, execs, lane = ctx.inst_field(kind.vdst), ctx.rexec(), ctx.range()
        active = emu._lane_active(execs, lane)

        def pair(register):
            return emu._u64(ctx.rvgpr_dyn(register, lane), ctx.rvgpr_dyn(register + c(1), lane))

        scalar = emu._u64(ctx.rsgpr_dyn(base), ctx.rsgpr_dyn(base + c(1))) + ctx.rvgpr_dyn(address, lane).cast(wide)
        at = (base < c(124)).where(scalar, pair(address)) + offset.cast(signed).cast(wide)
        places = [ctx.vmem.index(((at + emu.UOp.const(4 * i, wide)) >> emu.UOp.const(2, wide)).cast(signed).valid(active))
                  for i in range(2)]
        old = emu._u64(*[p.load() for p in places])
        new = emu._split64(old.eq(pair(data + c(2))).where(pair(data), old))
        stores = [p.store(n) for p, n in zip(places, new)]
        if emu._iattr(inst, "glc"):
            stores += [ctx.wvgpr_dyn(to + c(i), lane, half, execs) for i, half in enumerate(emu._split64(old))]
        return emu.UOp.sink(emu.UOp.group(*stores).end(lane), *ctx.inc_pc())

    # ---- lanes by address ----
    # Of the address that ds_bpermute_b32 and ds_permute_b32 find a lane by, the upper bits are ignored (so the manuals, also where
    # their pseudocode divides it as a number with a sign). The emulator loses the remainder, and reads or writes registers of
    # other numbers.

    #
    # Lanes that are not active keep their register (the pseudocode writes it where EXEC is set alone). The emulator writes 0 there.

    LANE = re.compile(r"(\w+_lane) = .*VGPR\[i\]\[ADDR\].*;")
    KEPT = re.compile(r"if EXEC\[i\]\.u1 then\nVGPR\[i\]\[VDST\] = tmp\[i\]\nendif")

    def find_lanes(self):
        emu, ask = self.emu, self.emu.get_pcode

        def by_mask(op):
            if "PERMUTE_B32" not in op.name:
                return ask(op)
            lanes = 64 if "cdna" in type(op).__module__ else 32
            text, n = self.LANE.subn(rf"\1 = ((VGPR[i][ADDR].u32 + OFFSET.u32) >> 2U) & {lanes - 1}U;", ask(op))
            text, kept = self.KEPT.subn("VGPR[i][VDST] = EXEC[i].u1 ? tmp[i] : VGPR[i][VDST]", text)
            assert n == 1 and kept == 1, text
            return text

        emu.get_pcode = by_mask

    # ---- vector registers by M0 ----
    # v_movrels_b32 reads, and v_movreld_b32 writes, the register whose number is that of the operand and M0's value: arrays that
    # clang keeps in registers. The emulator gives the pseudocode no SRC0 and no VDST that it could add to.

    def move_by_m0(self, inst, ctx):
        c, kind = self.emu._c, type(inst)
        by, execs, lane = ctx.rsgpr_dyn(c(125)), ctx.rexec(), ctx.range()
        source, to = ctx.inst_field(kind.src0), ctx.inst_field(kind.vdst)
        if "MOVRELS_" in self.emu._op_name(inst):
            value = ctx.rvgpr_dyn(source - c(256) + by, lane)
        else:
            value, to = ctx.rsrc_dyn(source, lane), to + by
        return self.emu.UOp.sink(ctx.wvgpr_dyn(to, lane, value, execs).end(lane), *ctx.inc_pc())

    # ---- the program counter ----

    def handler(self, inst):
        name = self.emu._op_name(inst)
        if name.startswith(("V_MOVRELS_B32", "V_MOVRELD_B32")):
            return self.move_by_m0
        if name in ("GLOBAL_ATOMIC_CMPSWAP_B64", "GLOBAL_ATOMIC_CMPSWAP_X2"):
            return self.swap64
        if name in ("S_GETPC_B64", "S_SETPC_B64", "S_SWAPPC_B64"):
            return self.jump
        if name.startswith(("BUFFER_LOAD_DWORD", "BUFFER_STORE_DWORD")) and type(inst).__name__ == "MUBUF":
            return self.private
        if type(inst).__name__ in ("FLAT", "VFLAT"):
            return self.flat
        if name == "S_GETREG_B32" and inst.simm16 & 63 == self.SH_MEM_BASES:
            return self.bases
        return None

    def jump(self, inst, ctx):
        """s_getpc_b64, s_setpc_b64, s_swappc_b64: the emulator's pseudocode names a variable PC that it does not give."""
        emu, name = self.emu, self.emu._op_name(inst)
        after = ctx.rpc() + emu.UOp.const(inst.size(), emu.dtypes.uint64)
        to = after if name == "S_GETPC_B64" else \
            ctx.rsrc_dyn(ctx.inst_field(type(inst).ssrc0), None, 64).cast(emu.dtypes.uint64)
        stores = []
        if name != "S_SETPC_B64":
            where = ctx.inst_field(type(inst).sdst)
            low, high = emu._split64(after)
            stores += [ctx.wsgpr_dyn(where, low), ctx.wsgpr_dyn(where + emu._c(1), high)]
        low, high = emu._split64(to)
        return emu.UOp.sink(*stores, ctx.wsgpr_dyn(emu._c(emu.PC_LO_IDX), low), ctx.wsgpr_dyn(emu._c(emu.PC_HI_IDX), high))
