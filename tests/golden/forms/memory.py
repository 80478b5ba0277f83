"""ld and st: sign and zero extension, vectors, spaces, cache operators: PTX ISA 9.7.9.8 and on."""

from .table import TUPLES


def forms(t):
    for ty in ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"):
        bits = int(ty[1:])
        for out in ("b16", "b32", "b64"):
            if int(out[1:]) >= bits:
                t.add(f"ld.global.{ty} %d0, [%pi];", "i64", out, name=f"ld_{ty}_to_{out}")
    for out, ty in (("f32", "f32"), ("f64", "f64")):
        t.add(f"ld.global.{ty} %d0, [%pi];", ty, out, name=f"ld_{ty}")
    for byte in range(1, 8):
        t.add(f"ld.global.s8 %d0, [%pi+{byte}]; ld.global.u8 %d1, [%pi+{byte}];", "i64", "b32 b32",
              name=f"ld_byte_{byte}")
    # Narrow stores into a slot whose other bytes are zero.
    for ty, kind in (("b8", "i16"), ("u8", "i32"), ("s8", "i64"), ("b16", "i32"), ("u16", "i64"),
                     ("s16", "i16"), ("b32", "i64"), ("s32", "i32"), ("u64", "i64")):
        t.add(f"st.global.{ty} [%po], %a0;", kind, "b64", name=f"st_{ty}_{kind}", memory=(0,),
              tuples=TUPLES)
    t.add("st.global.b8 [%po+3], %a0; st.global.b16 [%po+6], %a1;", "i32 i32", "b64",
          name="st_parts", memory=(0,))
    t.add("st.global.b32 [%po], 0x12345678; st.global.f32 [%po+4], 0f3F800000;", "i32", "b64",
          name="st_immediate", memory=(0,))
    for v, ty, n in ((2, "b32", 2), (4, "b16", 4), (2, "b16", 2), (2, "b8", 2), (4, "b8", 4)):
        regs = ", ".join(f"%e{i}" for i in range(n))
        back = ", ".join(f"%e{i}" for i in reversed(range(n)))
        reg = "b16" if ty == "b8" else ty
        t.add(f"ld.global.v{v}.{ty} {{{regs}}}, [%pi]; st.global.v{v}.{ty} [%po], {{{back}}};",
              "i64", "b64", name=f"vector_v{v}_{ty}", memory=(0,),
              registers=f".reg .{reg} {regs};")
    t.add("ld.global.v2.u8 {%d0, %d1}, [%pi]; ld.global.v4.s8 {%d2, %d3, %d4, %d5}, [%pi+4];", "i64",
          "b16 b16 b32 b32 b32 b32", name="vector_extension")
    shared_vectors(t)
    for space in ("shared", "local"):
        for ty, kind, out in (("b8", "i16", "b16"), ("s16", "i16", "b32"), ("b32", "i32", "b32"),
                              ("b64", "i64", "b64"), ("f32", "f32", "f32"), ("f64", "f64", "f64")):
            setup = (".shared .align 16 .b8 window[2048];" if space == "shared"
                     else ".local .align 16 .b8 window[32];")
            at = "mad.lo.u32 %s, %thread, 8, %s;" if space == "shared" else "add.u32 %s, %s, 16;"
            t.add(f"mov.u32 %s, window; {at} st.{space}.{ty} [%s], %a0; ld.{space}.{ty} %d0, [%s];",
                  kind, out, name=f"{space}_{ty}", setup=setup, registers=".reg .b32 %s;",
                  tuples=TUPLES)
    for qualifier in (".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".volatile", ".relaxed.cta",
                      ".relaxed.gpu", ".relaxed.sys", ".acquire.cta", ".acquire.gpu", ".acquire.sys",
                      ".weak", ".mmio.relaxed.sys", ".relaxed.cluster", ".nc.L1::no_allocate",
                      ".L1::evict_last"):
        before = qualifier in (".volatile", ".weak") or "relaxed" in qualifier or "acquire" in qualifier
        name = f"ld{qualifier}.global" if before else f"ld.global{qualifier}"
        t.add(f"{name}.b32 %d0, [%pi];", "i32", "b32", name=name)
        t.add(f"{name}.s64 %d0, [%pi];", "i64", "b64", name=name + ".s64")
    for qualifier in (".wb", ".cg", ".cs", ".wt", ".volatile", ".relaxed.cta", ".relaxed.gpu",
                      ".relaxed.sys", ".release.cta", ".release.gpu", ".release.sys", ".weak",
                      ".mmio.relaxed.sys", ".L1::no_allocate"):
        before = qualifier in (".volatile", ".weak") or "relaxed" in qualifier or "release" in qualifier
        name = f"st{qualifier}.global" if before else f"st.global{qualifier}"
        t.add(f"{name}.b32 [%po], %a0;", "i32", "b32", name=name, memory=(0,))
    t.add("ldu.global.u32 %d0, [%pi];", "i32", "b32", name="ldu")
    t.add("cvta.global.u64 %g, %pi; ld.b32 %d0, [%g]; ld.volatile.b32 %d1, [%g];"
          " ld.acquire.gpu.b32 %d2, [%g];", "i32", "b32 b32 b32", name="ld_generic",
          registers=".reg .b64 %g;")
    t.add("and.b32 %k, %a0, 7; mul.wide.u32 %g, %k, 4; mov.u64 %h, lookup; add.u64 %g, %g, %h;"
          " ld.const.u32 %d0, [%g]; ld.const.u32 %d1, [lookup+12]; ld.const.s16 %d2, [%g+2];",
          "i32", "b32 b32 b32", name="ld_const", registers=".reg .b32 %k; .reg .b64 %g, %h;")
    t.add("and.b32 %k, %a0, 7; mul.wide.u32 %g, %k, 4; mov.u64 %h, cell; add.u64 %g, %g, %h;"
          " ld.global.f32 %d0, [%g]; ld.global.u8 %d1, [cell+31];",
          "i32", "f32 b32", name="ld_initialised_global", registers=".reg .b32 %k; .reg .b64 %g, %h;")
    t.add("prefetch.global.L2 [%pi]; ld.global.b32 %d0, [%pi]; prefetchu.L1 [%pi];", "i32", "b32",
          name="prefetch")
    wide_global(t)
    asynchronous(t)


def wide_global(t):
    """16-byte accesses: both threads of a pair load the pair's two slots, the even one stores."""
    registers = ".reg .b64 %g;"
    at = "and.b64 %g, %pi, -16; "
    for v, ty, kind in ((4, "b32", "i32"), (4, "f32", "f32"), (4, "s32", "i32"), (2, "b64", "i64"),
                        (2, "f64", "f64"), (2, "u64", "i64")):
        out = ty if ty in ("f32", "f64") else "b" + ty[1:]
        d = ", ".join(f"%d{i}" for i in range(v))
        for nc in ("", ".nc"):
            t.add(at + f"ld.global{nc}.v{v}.{ty} {{{d}}}, [%g];", "i64", " ".join([out] * v),
                  name=f"ld_global{nc}_v{v}_{ty}", registers=registers)
    t.add(at + "ld.global.b128 %q, [%g]; mov.b128 {%d0, %d1}, %q;", "i64", "b64 b64",
          name="ld_global_b128", registers=registers + " .reg .b128 %q;")
    even = "and.b32 %e, %thread, 1; setp.eq.u32 %even, %e, 0; "
    registers = ".reg .b32 %e; .reg .pred %even;"
    t.add(even + "@%even st.global.v4.b32 [%po], {%a0, %a1, %a2, %a3};", "i32 i32 i32 i32", "b64",
          name="st_global_v4_b32", registers=registers, memory=(0,))
    t.add(even + "@%even st.global.v2.f64 [%po], {%a0, %a1};", "f64 f64", "b64",
          name="st_global_v2_f64", registers=registers, memory=(0,))
    t.add(even + "mov.b128 %q, {%a0, %a1}; @%even st.global.b128 [%po], %q;", "i64 i64", "b64",
          name="st_global_b128", registers=registers + " .reg .b128 %q;", memory=(0,))


def asynchronous(t):
    """cp.async, seen by the thread that asked for it, after waiting: PTX ISA 9.7.9.25."""
    setup = ".shared .align 16 .b8 window[4096];"
    registers = ".reg .b32 %s; .reg .b64 %g;"
    at = ("mov.u32 %s, window; mad.lo.u32 %s, %thread, 16, %s; and.b64 %g, %pi, -16;"
          " st.shared.v2.b64 [%s], {-1, -1}; ")
    wait = " cp.async.wait_all; ld.shared.v2.b64 {%d0, %d1}, [%s];"
    for size in (4, 8, 16):
        for source in ("", *(f", {n}" for n in (0, 1, 3, size))):
            t.add(at + f"cp.async.ca.shared.global [%s], [%g], {size}{source};" + wait, "i64",
                  "b64 b64", name=f"cp_async_ca_{size}{source}", setup=setup, registers=registers)
    t.add(at + "cp.async.cg.shared.global [%s], [%g], 16; cp.async.commit_group;"
          " cp.async.wait_group 0; ld.shared.v2.b64 {%d0, %d1}, [%s];", "i64", "b64 b64",
          name="cp_async_cg_group", setup=setup, registers=registers)
    t.add(at + "cp.async.cg.shared.global [%s], [%g], 16, 5;" + wait, "i64", "b64 b64",
          name="cp_async_cg_16_5", setup=setup, registers=registers)


def shared_vectors(t):
    setup = ".shared .align 16 .b8 window[8192];"
    registers = ".reg .b32 %s; .reg .b64 %g;"
    at = "mov.u32 %s, window; mad.lo.u32 %s, %thread, 32, %s; "
    t.add(at + "st.shared.v4.b32 [%s], {%a0, %a1, %a2, %a3}; ld.shared.v2.b64 {%d0, %d1}, [%s];",
          "i32 i32 i32 i32", "b64 b64", name="shared_v4_b32", setup=setup, registers=registers)
    t.add(at + "st.shared.v2.b64 [%s+16], {%a0, %a1}; ld.shared.v4.u32 {%d0, %d1, %d2, %d3}, [%s+16];",
          "i64 i64", "b32 b32 b32 b32", name="shared_v2_b64", setup=setup, registers=registers)
    t.add(at + "st.shared.v2.f64 [%s], {%a0, %a1}; ld.shared.v2.f64 {%d0, %d1}, [%s];", "f64 f64",
          "f64 f64", name="shared_v2_f64", setup=setup, registers=registers)
    t.add(at + "mov.b128 %q, {%a0, %a1}; st.shared.b128 [%s], %q; ld.shared.b128 %q, [%s];"
          " mov.b128 {%d0, %d1}, %q;", "i64 i64", "b64 b64", name="shared_b128", setup=setup,
          registers=registers + " .reg .b128 %q;")
