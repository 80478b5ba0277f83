"""setp, set, selp, slct: PTX ISA 9.7.6 and 9.7.7 (half precision)."""

SIGNED = ("eq", "ne", "lt", "le", "gt", "ge")
UNSIGNED = ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs")
FLOAT = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def types():
    """(type, kind, comparisons, ftz choices)."""
    for bits in ("16", "32", "64"):
        yield f"b{bits}", f"i{bits}", ("eq", "ne"), ("",)
        yield f"u{bits}", f"i{bits}", UNSIGNED, ("",)
        yield f"s{bits}", f"i{bits}", SIGNED, ("",)
    yield "f32", "f32", FLOAT, ("", ".ftz")
    yield "f64", "f64", FLOAT, ("",)
    yield "f16", "f16", FLOAT, ("", ".ftz")
    yield "bf16", "bf16", FLOAT, ("",)


def forms(t):
    for ty, kind, comparisons, ftzs in types():
        for cmp in comparisons:
            for ftz in ftzs:
                t.op(f"setp.{cmp}{ftz}.{ty}", f"{kind} {kind}", "pred")
        if ty in ("f16", "bf16"):  # no second destination
            for bool_op in ("and", "or", "xor"):
                t.op(f"setp.lt.{bool_op}.{ty}", f"{kind} {kind} pred", "pred")
            continue
        for bool_op in ("and", "or", "xor"):
            for cmp in comparisons[:4]:
                t.add(f"setp.{cmp}.{bool_op}.{ty} %d0|%d1, %a0, %a1, %a2;", f"{kind} {kind} pred",
                      "pred pred", name=f"setp_{cmp}_{bool_op}_{ty}")
        cmp = comparisons[-1]
        t.add(f"setp.{cmp}.and.{ty} %d0|%d1, %a0, %a1, !%a2;", f"{kind} {kind} pred", "pred pred",
              name=f"setp_{cmp}_and_{ty}_negated")
        t.add(f"setp.{cmp}.{ty} %d0|%d1, %a0, %a1;", f"{kind} {kind}", "pred pred",
              name=f"setp_{cmp}_{ty}_pair")
    for cmp in FLOAT:
        t.add(f"setp.{cmp}.f16x2 %d0|%d1, %a0, %a1;", "f16x2 f16x2", "pred pred",
              name=f"setp_{cmp}_f16x2")
        t.add(f"setp.{cmp}.ftz.f16x2 %d0|%d1, %a0, %a1;", "f16x2 f16x2", "pred pred",
              name=f"setp_{cmp}_ftz_f16x2")
        t.add(f"setp.{cmp}.bf16x2 %d0|%d1, %a0, %a1;", "bf16x2 bf16x2", "pred pred",
              name=f"setp_{cmp}_bf16x2")
    for ty, kind in (("f16x2", "f16x2"), ("bf16x2", "bf16x2")):
        t.add(f"setp.lt.and.{ty} %d0|%d1, %a0, %a1, %a2;", f"{kind} {kind} pred", "pred pred",
              name=f"setp_lt_and_{ty}")
    sets(t)
    selects(t)


def sets(t):
    for ty, kind, comparisons, ftzs in types():
        if ty.startswith("bf") or ty == "f16":
            continue
        picks = comparisons if ty == "f32" else comparisons[:2] + comparisons[-1:]
        for cmp in picks:
            for dtype in ("u32", "s32", "f32"):
                for ftz in ftzs:
                    out = "f32" if dtype == "f32" else "b32"
                    t.op(f"set.{cmp}{ftz}.{dtype}.{ty}", f"{kind} {kind}", out)
        t.op(f"set.{comparisons[-1]}.or.u32.{ty}", f"{kind} {kind} pred", "b32")
    for cmp in ("eq", "neu", "lt", "geu", "nan"):
        for dtype, out in (("f16", "b16"), ("u16", "b16"), ("s16", "b16"), ("u32", "b32"),
                           ("s32", "b32")):
            t.op(f"set.{cmp}.{dtype}.f16", "f16 f16", out)
            if dtype != "f16":
                t.op(f"set.{cmp}.{dtype}.bf16", "bf16 bf16", out)
        t.op(f"set.{cmp}.ftz.f16.f16", "f16 f16", "b16")
        t.op(f"set.{cmp}.bf16.bf16", "bf16 bf16", "b16")
        t.op(f"set.{cmp}.f16x2.f16x2", "f16x2 f16x2", "b32")
        t.op(f"set.{cmp}.ftz.f16x2.f16x2", "f16x2 f16x2", "b32")
        t.op(f"set.{cmp}.bf16x2.bf16x2", "bf16x2 bf16x2", "b32")
    for dtype, ty, kind in (("f16", "u32", "i32"), ("f16", "s16", "i16"), ("bf16", "u32", "i32")):
        t.op(f"set.lt.{dtype}.{ty}", f"{kind} {kind}", "b16")
    t.op("set.lt.xor.f16.f16", "f16 f16 pred", "b16")


def selects(t):
    for bits in ("16", "32", "64"):
        for ty in ("b", "u", "s"):
            t.op(f"selp.{ty}{bits}", f"i{bits} i{bits} pred", f"b{bits}")
    t.op("selp.f32", "f32 f32 pred", "f32")
    t.op("selp.f64", "f64 f64 pred", "f64")
    t.add("selp.b32 %d0, %a0, -1, %a1; selp.f32 %d1, 0f7FC12345, 0f80000000, %a1;", "i32 pred",
          "b32 f32", name="selp_immediate")
    for ctype, kind, ftzs in (("s32", "i32", ("",)), ("f32", "f32", ("", ".ftz"))):
        for ftz in ftzs:
            for bits in ("16", "32", "64"):
                for ty in ("b", "u", "s"):
                    t.op(f"slct{ftz}.{ty}{bits}.{ctype}", f"i{bits} i{bits} {kind}", f"b{bits}")
            t.op(f"slct{ftz}.f32.{ctype}", f"f32 f32 {kind}", "f32")
            t.op(f"slct{ftz}.f64.{ctype}", f"f64 f64 {kind}", "f64")
