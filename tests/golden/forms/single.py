"""f32 arithmetic with IEEE results: PTX ISA 9.7.3."""


def forms(t):
    rounding = "{.rn,.rz,.rm,.rp}"
    t.each("{add,sub,mul}{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32", "f32 f32", "f32")
    t.each(f"{{fma,mad}}{rounding}{{,.ftz}}{{,.sat}}.f32", "f32 f32 f32", "f32")
    t.each(f"div{rounding}{{,.ftz}}.f32", "f32 f32", "f32")
    t.each(f"{{rcp,sqrt}}{rounding}{{,.ftz}}.f32", "f32", "f32")
    t.each("{abs,neg}{,.ftz}.f32", "f32", "f32")
    t.each("{min,max}{,.ftz}{,.NaN}{,.xorsign.abs}.f32", "f32 f32", "f32")
    t.op("copysign.f32", "f32 f32", "f32")
    for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        t.op(f"testp.{what}.f32", "f32", "pred")
    cancellation(t)
    immediates(t)


def cancellation(t):
    """Inputs chosen so that the interesting cases of fma and add are hit often."""
    for rnd in ("rn", "rz", "rm", "rp"):
        for ftz in ("", ".ftz"):
            # a·b − round(a·b): the rounding error of a product, exact but for underflow.
            t.add(f"mul.rn.f32 %p, %a0, %a1; neg.f32 %p, %p; fma.{rnd}{ftz}.f32 %d0, %a0, %a1, %p;",
                  "f32 f32", "f32", name=f"product_error_{rnd}{ftz}", registers=".reg .f32 %p;")
            # (a + b) − a with a tiny third operand: sticky bits and double rounding.
            t.add(f"add.{rnd}{ftz}.f32 %s, %a0, %a1; sub.{rnd}{ftz}.f32 %d0, %s, %a0;"
                  f" sub.{rnd}{ftz}.f32 %d1, %s, %a1;",
                  "f32 f32", "f32 f32", name=f"sum_error_{rnd}{ftz}", registers=".reg .f32 %s;")
    # Results around the border of the subnormal range.
    for rnd in ("rn", "rz", "rm", "rp"):
        for ftz in ("", ".ftz"):
            t.add(f"mov.b32 %r, %a0; and.b32 %r, %r, 0x807fffff; or.b32 %r, %r, 0x1f800000; mov.b32 %x, %r;"
                  f" mul.{rnd}{ftz}.f32 %d0, %x, 0f20000000; fma.{rnd}{ftz}.f32 %d1, %x, %x, 0f00000001;"
                  f" div.{rnd}{ftz}.f32 %d2, %x, 0f5F800001;",
                  "f32", "f32 f32 f32", name=f"underflow_{rnd}{ftz}",
                  registers=".reg .f32 %x; .reg .b32 %r;")


def immediates(t):
    t.add("add.f32 %d0, %a0, 0f3F800000; mul.f32 %d1, %a0, 0f40490FDB; sub.f32 %d2, 0f00000000, %a0;",
          "f32", "f32 f32 f32", name="f32_immediates")
    t.add("fma.rn.f32 %d0, %a0, 0fBF800000, 0f3F800000; fma.rz.f32 %d1, 0f3DCCCCCD, %a0, 0f80000000;",
          "f32", "f32 f32", name="fma_f32_immediates")
    t.add("mov.f32 %d0, 0f7F800001; mov.f32 %d1, 0fFFC12345; add.f32 %d2, %a0, 0f7F812345;", "f32",
          "f32 f32 f32", name="nan_immediates")
    t.add("add.f32 %d0, %a0, 1.5; mul.f32 %d1, %a0, 0d3FB999999999999A;", "f32", "f32 f32",
          name="f32_double_literals")
