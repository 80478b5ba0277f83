"""Scalar and SIMD video instructions: PTX ISA 9.7.17."""

# The scalar video instructions are not machine instructions of sm_90; what ptxas 13.0 writes for them
# does not do what the manual says in these forms: sums above 32 bits are not saturated to an unsigned
# result, negative intermediate results are saturated to the wrong end where the result is merged, min
# and max as a second operation compare with the wrong sign, vmad drops the product's upper bits before
# it saturates or shifts. Heddle follows the manual, so these are not recorded.
AGAINST_THE_MANUAL = set("""
    vadd_u32_u32_u32_sat vadd_u32_u32_s32_sat vadd_u32_s32_u32_sat vadd_merge_b0 vadd_merge_h1
    vadd_u32_sat_second_add vadd_u32_second_min vadd_u32_sat_second_min vadd_u32_second_max
    vadd_u32_sat_second_max vsub_u32_u32_s32_sat vsub_merge_b0 vsub_merge_h1 vsub_u32_second_min
    vsub_u32_sat_second_min vsub_u32_second_max vsub_u32_sat_second_max vabsdiff_u32_u32_s32_sat
    vabsdiff_u32_s32_u32_sat vabsdiff_merge_h1 vmin_merge_b0 vmin_merge_h1 vmin_u32_second_min
    vmin_u32_second_max vmax_merge_b0 vmax_merge_h1 vmad_u32_u32_u32_sat vmad_u32_u32_u32_shr7
    vmad_u32_u32_u32_sat_shr7 vmad_u32_u32_u32_shr15 vmad_u32_u32_u32_sat_shr15
    vmad_s32_u32_s32_sat vmad_s32_u32_s32_shr7 vmad_s32_u32_s32_sat_shr7 vmad_s32_u32_s32_shr15
    vmad_s32_u32_s32_sat_shr15 vmad_s32_s32_u32_sat vmad_s32_s32_u32_shr7
    vmad_s32_s32_u32_sat_shr7 vmad_s32_s32_u32_shr15 vmad_s32_s32_u32_sat_shr15
""".split())


def forms(t):
    scalar(t)
    simd(t)
    t.forms = [form for form in t.forms if form.name not in AGAINST_THE_MANUAL]


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
