"""Integer arithmetic: PTX ISA 9.7.1 and 9.7.2 (extended precision)."""

from .table import expand

KIND = {"16": "i16", "32": "i32", "64": "i64"}
REGISTER = {"16": "b16", "32": "b32", "64": "b64"}


def forms(t):
    for bits in ("16", "32", "64"):
        i, r = KIND[bits], REGISTER[bits]
        for s in ("u", "s"):
            ty = f"{s}{bits}"
            for name in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
                t.op(f"{name}.{ty}", f"{i} {i}", r)
            t.op(f"sad.{ty}", f"{i} {i} {i}", r)
            t.op(f"mad.lo.{ty}", f"{i} {i} {i}", r)
            t.op(f"mad.hi.{ty}", f"{i} {i} {i}", r)
            if bits != "64":
                wide = {"16": "32", "32": "64"}[bits]
                t.op(f"mul.wide.{ty}", f"{i} {i}", REGISTER[wide])
                t.op(f"mad.wide.{ty}", f"{i} {i} {KIND[wide]}", REGISTER[wide])
        t.op(f"abs.s{bits}", i, r)
        t.op(f"neg.s{bits}", i, r)
    t.each("{add,sub}.sat.s32", "i32 i32", "b32")
    t.op("mad.hi.sat.s32", "i32 i32 i32", "b32")
    t.each("{min,max}.relu.s32", "i32 i32", "b32")
    t.each("{add,min,max}.{u16x2,s16x2}", "i32 i32", "b32")
    t.each("{min,max}.relu.s16x2", "i32 i32", "b32")
    t.each("mul24.{lo,hi}.{u32,s32}", "i32 i32", "b32")
    t.each("mad24.{lo,hi}.{u32,s32}", "i32 i32 i32", "b32")
    t.op("mad24.hi.sat.s32", "i32 i32 i32", "b32")
    t.each("dp4a.{u32,s32}.{u32,s32}", "i32 i32 i32", "b32")
    t.each("dp2a.{lo,hi}.{u32,s32}.{u32,s32}", "i32 i32 i32", "b32")
    division(t)
    extended(t)
    immediates(t)


def division(t):
    """Divisors that matter: zero and -1 (INT_MIN / -1), for every lane."""
    for bits in ("16", "32", "64"):
        i, r = KIND[bits], REGISTER[bits]
        for op in ("div", "rem"):
            for s in ("u", "s"):
                for what, divisor in (("zero", "0"), ("ones", "-1"), ("seven", "7")):
                    move = f"mov.b{bits} %c, {divisor};"
                    if what == "zero":  # kept out of the compiler's sight: %ctaid.y is 0
                        move = f"mov.u32 %z, %ctaid.y; cvt.u{bits}.u32 %c, %z;"
                    t.add(f"{move} {op}.{s}{bits} %d0, %a0, %c;", i, r, tuples=4096,
                          name=f"{op}_{s}{bits}_by_{what}",
                          registers=f".reg .b{bits} %c; .reg .b32 %z;")


def extended(t):
    """Carry chains; the carry out is made visible by a following addc/subc of constants."""
    for bits in ("32", "64"):
        i, r = KIND[bits], REGISTER[bits]
        for s in ("u", "s"):
            ty = f"{s}{bits}"
            t.add(f"add.cc.{ty} %d0, %a0, %a1; addc.{ty} %d1, 0, 0;", f"{i} {i}", f"{r} {r}",
                  name=f"add_cc_{ty}")
            t.add(f"add.cc.{ty} %d0, %a0, %a2; addc.{ty} %d1, %a1, %a3;", f"{i} {i} {i} {i}",
                  f"{r} {r}", name=f"addc_{ty}")
            t.add(f"add.cc.{ty} %d0, %a0, %a2; addc.cc.{ty} %d1, %a1, %a3; addc.{ty} %d2, 0, 0;",
                  f"{i} {i} {i} {i}", f"{r} {r} {r}", name=f"addc_cc_{ty}")
            t.add(f"sub.cc.{ty} %d0, %a0, %a1; subc.{ty} %d1, 0, 0;", f"{i} {i}", f"{r} {r}",
                  name=f"sub_cc_{ty}")
            t.add(f"sub.cc.{ty} %d0, %a0, %a2; subc.{ty} %d1, %a1, %a3;", f"{i} {i} {i} {i}",
                  f"{r} {r}", name=f"subc_{ty}")
            t.add(f"sub.cc.{ty} %d0, %a0, %a2; subc.cc.{ty} %d1, %a1, %a3; subc.{ty} %d2, 0, 0;",
                  f"{i} {i} {i} {i}", f"{r} {r} {r}", name=f"subc_cc_{ty}")
            # Mixing them: what does an addc make of the borrow of a sub.cc, and the reverse?
            t.add(f"sub.cc.{ty} %d0, %a0, %a1; addc.{ty} %d1, %a0, 0;", f"{i} {i}", f"{r} {r}",
                  name=f"sub_cc_addc_{ty}")
            t.add(f"add.cc.{ty} %d0, %a0, %a1; subc.{ty} %d1, %a0, 0;", f"{i} {i}", f"{r} {r}",
                  name=f"add_cc_subc_{ty}")
            for part in ("lo", "hi"):
                t.add(f"mad.{part}.cc.{ty} %d0, %a0, %a1, %a2; addc.{ty} %d1, 0, 0;",
                      f"{i} {i} {i}", f"{r} {r}", name=f"mad_{part}_cc_{ty}")
                t.add(f"add.cc.{ty} %d0, %a3, %a2; madc.{part}.{ty} %d1, %a0, %a1, %a2;",
                      f"{i} {i} {i} {i}", f"{r} {r}", name=f"madc_{part}_{ty}")
                t.add(f"add.cc.{ty} %d0, %a3, %a2; madc.{part}.cc.{ty} %d1, %a0, %a1, %a2;"
                      f" addc.{ty} %d2, 0, 0;",
                      f"{i} {i} {i} {i}", f"{r} {r} {r}", name=f"madc_{part}_cc_{ty}")
    t.add("mad.lo.cc.u32 %d0, %a0, %a2, %a4; madc.hi.u32 %d1, %a0, %a2, %a5;"
          " mad.lo.cc.u32 %d1, %a1, %a2, %d1; madc.hi.u32 %d2, %a1, %a2, 0;"
          " mad.lo.cc.u32 %d1, %a0, %a3, %d1; madc.hi.cc.u32 %d2, %a0, %a3, %d2;"
          " madc.lo.u32 %d2, %a1, %a3, %d2;",
          "i32 i32 i32 i32 i32 i32", "b32 b32 b32", name="wide_multiply_chain")


def immediates(t):
    """Constants as operands, so that lowering them is covered too."""
    for bits in ("16", "32", "64"):
        i, r = KIND[bits], REGISTER[bits]
        for mnemonic, constant in (("add", "-5"), ("sub", "77"), ("mul.lo", "10"), ("min", "-2"),
                                   ("max", "1000"), ("div", "10"), ("rem", "-3")):
            for s in ("u", "s"):
                if s == "u" and constant.startswith("-"):
                    continue
                t.add(f"{mnemonic}.{s}{bits} %d0, %a0, {constant};", i, r,
                      name=f"{mnemonic}_{s}{bits}_immediate")
        t.add(f"sub.s{bits} %d0, 100, %a0;", i, r, name=f"sub_s{bits}_immediate_first")
    t.add("mad.lo.s32 %d0, %a0, 3, 0x7fffffff;", "i32", "b32", name="mad_immediate")
    t.add("mul.wide.s32 %d0, %a0, -4;", "i32", "b64", name="mul_wide_immediate")
    t.add("mul.wide.u16 %d0, %a0, 0xffff;", "i16", "b32", name="mul_wide_u16_immediate")
    t.add("add.u64 %d0, %a0, 0x8000000000000001;", "i64", "b64", name="add_u64_big_immediate")
