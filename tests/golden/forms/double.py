"""f64 arithmetic: PTX ISA 9.7.3."""


def forms(t):
    t.each("{add,sub,mul}{,.rn,.rz,.rm,.rp}.f64", "f64 f64", "f64")
    t.each("{fma,mad}{.rn,.rz,.rm,.rp}.f64", "f64 f64 f64", "f64")
    t.each("div{.rn,.rz,.rm,.rp}.f64", "f64 f64", "f64")
    t.each("{rcp,sqrt}{.rn,.rz,.rm,.rp}.f64", "f64", "f64")
    t.each("{abs,neg}.f64", "f64", "f64")
    t.each("{min,max}.f64", "f64 f64", "f64")
    t.op("copysign.f64", "f64 f64", "f64")
    for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        t.op(f"testp.{what}.f64", "f64", "pred")
    for rnd in ("rn", "rz", "rm", "rp"):
        t.add(f"mul.rn.f64 %p, %a0, %a1; neg.f64 %p, %p; fma.{rnd}.f64 %d0, %a0, %a1, %p;",
              "f64 f64", "f64", name=f"product_error_{rnd}", registers=".reg .f64 %p;")
        # NaN inputs become infinities: which of two NaNs survives an f64 operation depends on the order
        # in which ptxas gives the operands to the machine.
        infinity = "0d7FF0000000000000"
        t.add(f"min.f64 %x, %a0, {infinity}; min.f64 %y, %a1, {infinity}; add.{rnd}.f64 %s, %x, %y;"
              f" sub.{rnd}.f64 %d0, %s, %x; sub.{rnd}.f64 %d1, %s, %y;", "f64 f64", "f64 f64",
              name=f"sum_error_{rnd}", registers=".reg .f64 %s, %x, %y;")
        t.add("mov.b64 %r, %a0; and.b64 %r, %r, 0x800fffffffffffff; or.b64 %r, %r, 0x1ff0000000000000;"
              f" mov.b64 %x, %r; mul.{rnd}.f64 %d0, %x, 0d2000000000000000;"
              f" fma.{rnd}.f64 %d1, %x, %x, 0d0000000000000001; div.{rnd}.f64 %d2, %x, 0d5FF0000000000001;",
              "f64", "f64 f64 f64", name=f"underflow_{rnd}", registers=".reg .f64 %x; .reg .b64 %r;")
    t.add("add.f64 %d0, %a0, 0d3FF0000000000000; mul.f64 %d1, %a0, 0dC00921FB54442D18;"
          " sub.f64 %d2, 0d0000000000000000, %a0; add.f64 %d3, %a0, 1.5;", "f64", "f64 f64 f64 f64",
          name="f64_immediates")
