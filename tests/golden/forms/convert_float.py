"""cvt between floating-point types: PTX ISA 9.7.9.21."""

OUT = {"f16": "b16", "bf16": "b16", "f32": "f32", "f64": "f64"}
ORDER = {"f16": 0, "bf16": 0, "f32": 1, "f64": 2}


def forms(t):
    for d in OUT:
        for a in OUT:
            sat = "" if "bf16" in (d, a) else "{,.sat}"
            if d == a:
                t.each(f"cvt{{.rni,.rzi,.rmi,.rpi}}.{d}.{a}", a, OUT[d])
                t.op(f"cvt.{d}.{a}", a, OUT[d])
                if sat:
                    t.each(f"cvt{{,.rni,.rzi,.rmi,.rpi}}.sat.{d}.{a}", a, OUT[d])
            elif ORDER[d] > ORDER[a]:
                t.each(f"cvt{sat}.{d}.{a}", a, OUT[d])
            else:
                t.each(f"cvt{{.rn,.rz,.rm,.rp}}{sat}.{d}.{a}", a, OUT[d])
    t.each("cvt{,.rni,.rzi,.rmi,.rpi}.ftz{,.sat}.f32.f32", "f32", "f32")
    t.each("cvt{.rn,.rz,.rm,.rp}.ftz{,.sat}.f32.f64", "f64", "f32")
    t.each("cvt.ftz{,.sat}.f64.f32", "f32", "f64")
    t.each("cvt.ftz{,.sat}.f32.f16", "f16", "f32")
    t.each("cvt.ftz.f32.bf16", "bf16", "f32")
    t.each("cvt{.rn,.rz,.rm,.rp}.ftz{,.sat}.f16.f32", "f32", "b16")
    t.each("cvt{.rn,.rz}.satfinite{,.relu}.{f16,bf16}.f32", "f32", "b16")
    t.each("cvt{.rn,.rz}.relu.{f16,bf16}.f32", "f32", "b16")
    t.each("cvt{.rn,.rz}{,.relu}.tf32.f32", "f32", "b32")
    t.each("cvt.rna{,.satfinite}.tf32.f32", "f32", "b32")
