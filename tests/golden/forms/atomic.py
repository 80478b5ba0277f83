"""atom and red on one location per thread: PTX ISA 9.7.13.

Result 0 is the memory afterwards, result 1 the value returned. Contention is not what is tested here.
"""

TYPES = {
    "and": ("b32", "b64"), "or": ("b32", "b64"), "xor": ("b32", "b64"),
    "add": ("u32", "s32", "u64", "f32", "f64"), "inc": ("u32",), "dec": ("u32",),
    "min": ("u32", "s32", "u64", "s64"), "max": ("u32", "s32", "u64", "s64"),
    "add.noftz": ("f16", "f16x2", "bf16", "bf16x2"),
}
KIND = {"f16": ("f16", "b16"), "f16x2": ("f16x2", "b32"), "bf16": ("bf16", "b16"),
        "bf16x2": ("bf16x2", "b32"), "f32": ("f32", "f32"), "f64": ("f64", "f64")}
SHARED = ".shared .align 16 .b8 window[8192];"
AT = "mov.u32 %s, window; mad.lo.u32 %s, %thread, 16, %s;"


def kind(ty):
    return KIND.get(ty) or (f"i{ty[1:]}", f"b{ty[1:]}")


def place(t, space, store, operation, ins, outs, name):
    """The operation on a location in global or shared memory or through a generic address."""
    store_type = outs.split()[0]
    if space == "shared":
        t.add(f"{AT} st.shared.{store_type} [%s], {store}; {operation.format(at='[%s]', space='.shared')}"
              f" ld.shared.{store_type} %d0, [%s];", ins, outs, name=name, setup=SHARED,
              registers=".reg .b32 %s;", tuples=4096)
    elif space == "generic":
        t.add(f"cvta.global.u64 %g, %po; st.{store_type} [%g], {store};"
              f" {operation.format(at='[%g]', space='')}", ins, outs, name=name, memory=(0,),
              registers=".reg .b64 %g;", tuples=4096)
    else:
        t.add(f"st.global.{store_type} [%po], {store}; {operation.format(at='[%po]', space='.global')}",
              ins, outs, name=name, memory=(0,), tuples=4096)


def forms(t):
    for space in ("global", "shared", "generic"):
        for op, types in TYPES.items():
            for ty in types:
                k, out = kind(ty)
                place(t, space, "%a0", f"atom{{space}}.{op}.{ty} %d1, {{at}}, %a1;", f"{k} {k}",
                      f"{out} {out}", f"atom_{space}_{op}_{ty}")
                place(t, space, "%a0", f"red{{space}}.{op}.{ty} {{at}}, %a1;", f"{k} {k}", out,
                      f"red_{space}_{op}_{ty}")
        for b in ("b32", "b64"):
            k, out = kind(b)
            place(t, space, "%a0", f"atom{{space}}.exch.{b} %d1, {{at}}, %a1;", f"{k} {k}",
                  f"{out} {out}", f"atom_{space}_exch_{b}")
        for b in ("b16", "b32", "b64"):
            k, out = kind(b)
            # Low bits only, so that about half of the exchanges succeed.
            place(t, space, "%x", f"atom{{space}}.cas.{b} %d1, {{at}}, %y, %a2;",
                  f"{k} {k} {k}", f"{out} {out}", f"atom_{space}_cas_{b}")
            form = t.forms[-1]
            form.asm = f"and.{b} %x, %a0, 1; and.{b} %y, %a1, 1; " + form.asm
            form.registers += f" .reg .{b} %x, %y;"
            place(t, space, "%a0", f"atom{{space}}.cas.{b} %d1, {{at}}, %a1, %a2;",
                  f"{k} {k} {k}", f"{out} {out}", f"atom_{space}_cas_any_{b}")
    wide(t)
    orders(t)
    vectors(t)


def wide(t):
    for op in ("exch", "cas"):
        compare = "%y, " if op == "cas" else ""
        t.add(f"{AT} mov.b128 %x, {{%a0, %a1}}; mov.b128 %y, {{%a2, %a1}}; mov.b128 %z, {{%a3, %a0}};"
              f" st.shared.b128 [%s], %x; atom.shared.{op}.b128 %q, [%s], {compare}%z;"
              " mov.b128 {%d0, %d1}, %q; ld.shared.v2.b64 {%d2, %d3}, [%s];",
              "i64 i64 i64 i64", "b64 b64 b64 b64", name=f"atom_{op}_b128", setup=SHARED,
              registers=".reg .b32 %s; .reg .b128 %x, %y, %z, %q;")


def orders(t):
    for sem in ("relaxed", "acquire", "release", "acq_rel"):
        for scope in ("cta", "cluster", "gpu", "sys"):
            place(t, "global", "%a0", f"atom.{sem}.{scope}{{space}}.add.u32 %d1, {{at}}, %a1;",
                  "i32 i32", "b32 b32", f"atom_{sem}_{scope}")
            if sem in ("relaxed", "release"):
                place(t, "global", "%a0", f"red.{sem}.{scope}{{space}}.add.u32 {{at}}, %a1;",
                      "i32 i32", "b32", f"red_{sem}_{scope}")
    for f in ("fence.sc.cta", "fence.acq_rel.gpu", "fence.sc.sys", "membar.gl", "membar.cta",
              "membar.sys", "fence.acq_rel.cluster", "fence.proxy.alias", "fence.acquire.gpu",
              "fence.release.cta"):
        t.add(f"st.global.b32 [%po], %a0; {f}; ld.volatile.global.b32 %d1, [%po];", "i32", "b32 b32",
              name=f, memory=(0,))


def vectors(t):
    """Vector atomics (sm_90): results are the elements."""
    for v, ty, kind_, out in ((2, "f32", "f32", "f32"), (2, "f16", "f16", "b16"),
                              (2, "bf16", "bf16", "b16")):
        noftz = "" if ty == "f32" else ".noftz"
        t.add(f"st.global.v2.{out} [%po], {{%a0, %a1}};"
              f" atom.global.v{v}.{ty}.add{noftz} {{%d1, %d2}}, [%po], {{%a2, %a3}};",
              f"{kind_} {kind_} {kind_} {kind_}", f"b64 {out} {out}", name=f"atom_v{v}_{ty}",
              memory=(0,))
    t.add("st.global.v2.b32 [%po], {%a0, %a1}; atom.global.v2.f16x2.add.noftz {%d1, %d2}, [%po], {%a2, %a3};",
          "f16x2 f16x2 f16x2 f16x2", "b64 b32 b32", name="atom_v2_f16x2", memory=(0,))
    for op in ("min", "max"):
        t.add(f"st.global.v2.b16 [%po], {{%a0, %a1}};"
              f" atom.global.v2.f16.{op}.noftz {{%d1, %d2}}, [%po], {{%a2, %a3}};",
              "f16 f16 f16 f16", "b64 b16 b16", name=f"atom_v2_f16_{op}", memory=(0,))
        t.add(f"st.global.v2.b16 [%po], {{%a0, %a1}};"
              f" atom.global.v2.bf16.{op}.noftz {{%d1, %d2}}, [%po], {{%a2, %a3}};",
              "bf16 bf16 bf16 bf16", "b64 b16 b16", name=f"atom_v2_bf16_{op}", memory=(0,))
    t.add("st.global.v2.f32 [%po], {%a0, %a1}; red.global.v2.f32.add [%po], {%a2, %a3};",
          "f32 f32 f32 f32", "b64", name="red_v2_f32", memory=(0,))
    even = "and.b32 %e, %thread, 1; setp.eq.u32 %even, %e, 0; "
    registers = ".reg .b32 %e; .reg .pred %even;"
    for v, ty, kind_, out, store in ((4, "f32", "f32", "f32", "v4.f32"),
                                     (4, "f16x2", "f16x2", "b32", "v4.b32"),
                                     (4, "bf16x2", "bf16x2", "b32", "v4.b32")):
        noftz = "" if ty == "f32" else ".noftz"
        zero = " ".join(f"mov.b32 %d{i}, 0;" for i in range(1, 5))
        d, a, b = (", ".join(f"%{x}{i}" for i in range(n, n + 4))
                   for x, n in (("d", 1), ("a", 0), ("a", 4)))
        t.add(f"{zero} {even} @%even st.global.{store} [%po], {{{a}}};"
              f" @%even atom.global.v{v}.{ty}.add{noftz} {{{d}}}, [%po], {{{b}}};",
              " ".join([kind_] * 8), "b64 " + " ".join([out] * 4), name=f"atom_v{v}_{ty}",
              registers=registers, memory=(0,))
    for op in ("exch", "cas"):
        compare = "%y, " if op == "cas" else ""
        t.add(f"{even} mov.b64 %d1, 0; mov.b64 %d2, 0; mov.b128 %x, {{%a0, %a1}};"
              " mov.b128 %y, {%a2, %a1}; mov.b128 %z, {%a3, %a0};"
              f" @%even st.global.b128 [%po], %x; @%even atom.global.{op}.b128 %q, [%po], {compare}%z;"
              " @%even mov.b128 {%d1, %d2}, %q;",
              "i64 i64 i64 i64", "b64 b64 b64", name=f"atom_global_{op}_b128", memory=(0,),
              registers=registers + " .reg .b128 %x, %y, %z, %q;")
