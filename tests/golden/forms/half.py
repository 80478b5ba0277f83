"""f16, bf16 and their packed forms: PTX ISA 9.7.4."""


def forms(t):
    for ty, out in (("f16", "b16"), ("f16x2", "b32")):
        t.each(f"{{add,sub,mul}}{{,.rn}}{{,.ftz}}{{,.sat}}.{ty}", f"{ty} {ty}", out)
        t.each(f"fma.rn{{,.ftz}}{{,.sat,.relu}}.{ty}", f"{ty} {ty} {ty}", out)
        t.each(f"fma.rn.oob{{,.relu}}.{ty}", f"{ty} {ty} {ty}", out)
        t.each(f"{{abs,neg}}{{,.ftz}}.{ty}", ty, out)
        t.each(f"{{min,max}}{{,.ftz}}{{,.NaN}}{{,.xorsign.abs}}.{ty}", f"{ty} {ty}", out)
    for ty, out in (("bf16", "b16"), ("bf16x2", "b32")):
        t.each(f"{{add,sub,mul}}{{,.rn}}.{ty}", f"{ty} {ty}", out)
        t.each(f"fma.rn{{,.relu}}.{ty}", f"{ty} {ty} {ty}", out)
        t.each(f"fma.rn.oob{{,.relu}}.{ty}", f"{ty} {ty} {ty}", out)
        t.each(f"{{abs,neg}}.{ty}", ty, out)
        t.each(f"{{min,max}}{{,.NaN}}{{,.xorsign.abs}}.{ty}", f"{ty} {ty}", out)
    # Constants.
    t.add("mov.b16 %c, 0x3e00; add.f16 %d0, %a0, %c; mul.f16 %d1, %a0, %c;", "f16", "b16 b16",
          name="f16_constant", registers=".reg .b16 %c;")
    t.add("mov.b32 %c, 0x3f803f80; fma.rn.bf16x2 %d0, %a0, %c, %c;", "bf16x2", "b32",
          name="bf16x2_constant", registers=".reg .b32 %c;")
