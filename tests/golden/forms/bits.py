"""Logic, shifts, bit fields and permutes: PTX ISA 9.7.1 and 9.7.8."""

KIND = {"16": "i16", "32": "i32", "64": "i64"}
LUTS = (0x00, 0xff, 0xf0, 0xcc, 0xaa, 0x80, 0xfe, 0x96, 0xe8, 0xca, 0xd8, 0x1a, 0x78, 0xf8, 0xea,
        0x0f, 0x3c, 0x69, 0x17, 0x7f, 0xb2, 0x40, 0x2d, 0x01)


def forms(t):
    for bits in ("16", "32", "64"):
        i, b = KIND[bits], f"b{bits}"
        t.each(f"{{and,or,xor}}.{b}", f"{i} {i}", b)
        t.each(f"{{not,cnot}}.{b}", i, b)
        t.op(f"shl.{b}", f"{i} shift", b)
        for ty in ("b", "u", "s"):
            t.op(f"shr.{ty}{bits}", f"{i} shift", b)
        for count in (0, 1, 15, 16, 31, 32, 63, 64, 65):
            t.add(f"shl.{b} %d0, %a0, {count}; shr.u{bits} %d1, %a0, {count};"
                  f" shr.s{bits} %d2, %a0, {count};", i, f"{b} {b} {b}",
                  name=f"shift_{b}_by_{count}")
        t.add(f"and.{b} %d0, %a0, 0x0f0f; or.{b} %d1, %a0, 0x1234; xor.{b} %d2, %a0, -1;", i,
              f"{b} {b} {b}", name=f"logic_{b}_immediate")
    t.each("{and,or,xor}.pred", "pred pred", "pred")
    t.op("not.pred", "pred", "pred")
    t.add("and.pred %d0, %a0, !%a1;", "pred pred", "pred",
          name="and_pred_negated")
    for bits in ("32", "64"):
        i, b = KIND[bits], f"b{bits}"
        t.op(f"popc.{b}", i, "b32")
        t.op(f"clz.{b}", i, "b32")
        t.op(f"brev.{b}", i, b)
        t.each(f"bfind{{,.shiftamt}}.{{u,s}}{bits}", i, "b32")
        t.each(f"bfe.{{u,s}}{bits}", f"{i} shift shift", b)
        t.op(f"bfi.{b}", f"{i} {i} shift shift", b)
        for pos, length in ((0, 0), (0, 8), (5, 13), (31, 1), (16, 32), (255, 255), (40, 30)):
            if bits == "32" and pos > 31:
                continue  # ptxas 13.0 folds bfe.s32 with such a constant to -1, against the manual
            t.add(f"bfe.u{bits} %d0, %a0, {pos}, {length}; bfe.s{bits} %d1, %a0, {pos}, {length};"
                  f" bfi.{b} %d2, %a1, %a0, {pos}, {length};", f"{i} {i}", f"{b} {b} {b}",
                  name=f"field_{b}_{pos}_{length}")
    t.each("bmsk.{clamp,wrap}.b32", "shift shift", "b32")
    t.each("szext.{clamp,wrap}.{u,s}32", "i32 shift", "b32")
    t.op("fns.b32", "i32 small32 small32", "b32")
    t.add("and.b32 %b, %a1, 31; fns.b32 %d0, %a0, %b, %a2;", "i32 shift i32", "b32",
          name="fns_any_offset", registers=".reg .b32 %b;")
    t.each("shf.{l,r}.{clamp,wrap}.b32", "i32 i32 shift", "b32")
    for count in (0, 1, 8, 31, 32, 33, 64):
        t.add(f"shf.l.clamp.b32 %d0, %a0, %a1, {count}; shf.l.wrap.b32 %d1, %a0, %a1, {count};"
              f" shf.r.clamp.b32 %d2, %a0, %a1, {count}; shf.r.wrap.b32 %d3, %a0, %a1, {count};",
              "i32 i32", "b32 b32 b32 b32", name=f"shf_by_{count}")
    t.each("prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "i32 i32 i32", "b32")
    for selector in (0x3210, 0x7654, 0x0123, 0x5410, 0x7632, 0x8888, 0xba98, 0xfedc, 0x1032, 0x4040):
        t.add(f"prmt.b32 %d0, %a0, %a1, {selector:#x};", "i32 i32", "b32",
              name=f"prmt_selector_{selector:04x}")
    for lut in LUTS:
        t.add(f"lop3.b32 %d0, %a0, %a1, %a2, {lut:#x};", "i32 i32 i32", "b32",
              name=f"lop3_{lut:02x}")
    for bool_op in ("or", "and"):
        for lut in (0x80, 0x96, 0xca):
            t.add(f"lop3.{bool_op}.b32 %d0|%d1, %a0, %a1, %a2, {lut:#x}, %a3;",
                  "i32 i32 i32 pred", "b32 pred", name=f"lop3_{bool_op}_{lut:02x}")
            t.add(f"lop3.{bool_op}.b32 _|%d0, %a0, %a1, %a2, {lut:#x}, %a3;",
                  "i32 i32 i32 pred", "pred", name=f"lop3_{bool_op}_{lut:02x}_sink")
