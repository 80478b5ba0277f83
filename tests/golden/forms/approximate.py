"""Approximate functions: PTX ISA 9.7.3 and 9.7.4.

`compare` is `approximate FUNCTION`; reference.cpp knows the documented bound of each.
"""


def forms(t):
    for ftz in ("", ".ftz"):
        for f in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
            t.op(f"{f}.approx{ftz}.f32", "f32", "f32", compare=f"approximate {f}{ftz}.f32",
                 tuples=16640)
        t.op(f"div.approx{ftz}.f32", "f32 f32", "f32", compare=f"approximate div{ftz}.f32")
        t.op(f"div.full{ftz}.f32", "f32 f32", "f32", compare=f"approximate divfull{ftz}.f32")
    t.op("tanh.approx.f32", "f32", "f32", compare="approximate tanh.f32", tuples=16640)
    t.op("rcp.approx.ftz.f64", "f64", "f64", compare="approximate rcp.ftz.f64")
    t.op("rsqrt.approx.ftz.f64", "f64", "f64", compare="approximate rsqrt.ftz.f64")
    t.op("rsqrt.approx.f64", "f64", "f64", compare="approximate rsqrt.f64")
    for ty, out in (("f16", "b16"), ("f16x2", "b32"), ("bf16", "b16"), ("bf16x2", "b32")):
        t.op(f"tanh.approx.{ty}", ty, out, compare=f"approximate tanh.{ty}")
        ex2 = "ex2.approx.ftz" if ty.startswith("b") else "ex2.approx"
        t.op(f"{ex2}.{ty}", ty, out, compare=f"approximate ex2.{ty}")
