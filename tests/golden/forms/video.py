"""Scalar and SIMD video instructions: PTX ISA 9.7.17."""


def forms(t):
    scalar(t)
    simd(t)


def scalar(t):
    for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for d in ("u32", "s32"):
            for a, b in (("u32", "u32"), ("s32", "s32"), ("u32", "s32"), ("s32", "u32")):
                for sat in ("", ".sat"):
                    t.op(f"{op}.{d}.{a}.{b}{sat}", "i32 i32", "b32")
        # Byte and half selectors, merges and secondary operations.
        t.add(f"{op}.u32.u32.u32 %d0, %a0.b1, %a1.b3;", "i32 i32", "b32", name=f"{op}_bytes")
        t.add(f"{op}.s32.s32.s32 %d0, %a0.b2, %a1.b0;", "i32 i32", "b32", name=f"{op}_signed_bytes")
        t.add(f"{op}.s32.s32.u32.sat %d0, %a0.h0, %a1.h1;", "i32 i32", "b32", name=f"{op}_halves")
        t.add(f"{op}.s32.s32.s32.sat %d0.b0, %a0.b2, %a1.h0, %a2;", "i32 i32 i32", "b32",
              name=f"{op}_merge_b0")
        t.add(f"{op}.u32.u32.s32.sat %d0.h1, %a0.h0, %a1, %a2;", "i32 i32 i32", "b32",
              name=f"{op}_merge_h1")
        t.add(f"{op}.s32.s32.s32 %d0.b3, %a0, %a1, %a2;", "i32 i32 i32", "b32",
              name=f"{op}_merge_b3")
        for second in ("add", "min", "max"):
            for d in ("u32", "s32"):
                t.add(f"{op}.{d}.s32.u32.{second} %d0, %a0.h1, %a1.b2, %a2;", "i32 i32 i32", "b32",
                      name=f"{op}_{d}_second_{second}")
                t.add(f"{op}.{d}.u32.u32.sat.{second} %d0, %a0, %a1, %a2;", "i32 i32 i32", "b32",
                      name=f"{op}_{d}_sat_second_{second}")
    for op in ("vshl", "vshr"):
        for d in ("u32", "s32"):
            for mode in ("clamp", "wrap"):
                for sat in ("", ".sat"):
                    t.op(f"{op}.{d}.{d}.u32{sat}.{mode}", "i32 shift", "b32")
                    t.add(f"{op}.{d}.s32.u32{sat}.{mode} %d0, %a0.h1, %a1.b0;", "i32 shift", "b32",
                          name=f"{op}_{d}{sat}_{mode}_part")
                t.op(f"{op}.{d}.u32.u32.{mode}.add", "i32 shift i32", "b32")
    for a, b in (("u32", "u32"), ("s32", "s32"), ("u32", "s32"), ("s32", "u32")):
        for scale in ("", ".shr7", ".shr15"):
            for sat in ("", ".sat"):
                d = "u32" if a == b == "u32" else "s32"
                t.op(f"vmad.{d}.{a}.{b}{sat}{scale}", "i32 i32 i32", "b32")
    t.add("vmad.s32.s32.s32 %d0, %a0.h0, %a1.h1, -%a2;", "i32 i32 i32", "b32", name="vmad_minus_c")
    t.add("vmad.s32.s32.s32 %d0, -%a0, %a1, %a2;", "i32 i32 i32", "b32", name="vmad_minus_a")
    t.add("vmad.u32.u32.u32.po %d0, %a0.b0, %a1.b1, %a2;", "i32 i32 i32", "b32", name="vmad_po")
    for cmp in ("eq", "ne", "lt", "le", "gt", "ge"):
        for a, b in (("u32", "u32"), ("s32", "s32"), ("u32", "s32")):
            t.op(f"vset.{a}.{b}.{cmp}", "i32 i32", "b32")
        t.add(f"vset.s32.s32.{cmp}.add %d0, %a0.b1, %a1.h0, %a2;", "i32 i32 i32", "b32",
              name=f"vset_{cmp}_second_add")


def simd(t):
    for n, masks in (("2", ("", ".h0", ".h1", ".h10")), ("4", ("", ".b0", ".b20", ".b321"))):
        for op in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"):
            for ty in ("u32", "s32"):
                for sat in ("", ".sat"):
                    if op == "vavrg" and sat:
                        continue
                    t.op(f"{op}{n}.{ty}.{ty}.{ty}{sat}", "i32 i32 i32", "b32")
                for mask in masks[1:]:
                    t.add(f"{op}{n}.{ty}.{ty}.{ty} %d0{mask}, %a0, %a1, %a2;", "i32 i32 i32",
                          "b32", name=f"{op}{n}_{ty}{mask}")
                t.op(f"{op}{n}.{ty}.{ty}.{ty}.add", "i32 i32 i32", "b32")
            t.op(f"{op}{n}.s32.u32.s32", "i32 i32 i32", "b32")
        select = "%a0.h21, %a1.h30" if n == "2" else "%a0.b7250, %a1.b3614"
        t.add(f"vadd{n}.s32.s32.s32 %d0, {select}, %a2;", "i32 i32 i32", "b32",
              name=f"vadd{n}_selected")
        for cmp in ("eq", "ne", "lt", "le", "gt", "ge"):
            for ty in ("u32", "s32"):
                t.op(f"vset{n}.{ty}.{ty}.{cmp}", "i32 i32 i32", "b32")
            t.op(f"vset{n}.u32.u32.{cmp}.add", "i32 i32 i32", "b32")
