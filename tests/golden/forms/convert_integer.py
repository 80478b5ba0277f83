"""cvt between integers, from integers to floats and from floats to integers: PTX ISA 9.7.9.21."""

TYPES = tuple(f"{s}{bits}" for bits in (8, 16, 32, 64) for s in "us")
SOURCE = {"8": "i16", "16": "i16", "32": "i32", "64": "i64"}


def register(ty):
    return f"b{max(16, int(ty[1:]))}"


def contains(d, a):
    """Every value of a is one of d: .sat is refused."""
    if a[0] == "s" and d[0] == "u":
        return False
    return int(d[1:]) > int(a[1:]) or d == a or (d[0] == "s") < (a[0] == "s")


def forms(t):
    for d in TYPES:
        for a in TYPES:
            for sat in ("",) if contains(d, a) else ("", ".sat"):
                t.op(f"cvt{sat}.{d}.{a}", SOURCE[a[1:]], register(d), tuples=4096)
    wide(t)
    for a in TYPES:
        for rnd in ("rn", "rz", "rm", "rp"):
            for d, out in (("f16", "b16"), ("bf16", "b16"), ("f32", "f32"), ("f64", "f64")):
                if d == "bf16" and a[1:] == "8":
                    continue
                t.op(f"cvt.{rnd}.{d}.{a}", SOURCE[a[1:]], out, tuples=4096)
        t.op(f"cvt.rn.sat.f32.{a}", SOURCE[a[1:]], "f32", tuples=4096)
        t.op(f"cvt.rn.sat.f16.{a}", SOURCE[a[1:]], "b16", tuples=4096)
    for d in TYPES:
        for rnd in ("rni", "rzi", "rmi", "rpi"):
            for a in ("f16", "bf16", "f32", "f64"):
                if a == "bf16" and d[1:] == "8":
                    continue
                t.op(f"cvt.{rnd}.{d}.{a}", a, register(d))
            t.op(f"cvt.{rnd}.ftz.{d}.f32", "f32", register(d))
        t.op(f"cvt.rzi.sat.{d}.f32", "f32", register(d))
        t.op(f"cvt.rni.sat.{d}.f64", "f64", register(d))
        t.op(f"cvt.rzi.sat.{d}.f16", "f16", register(d))


def wide(t):
    """Registers wider than the instruction's types: what lands in the upper bits."""
    for d in ("u8", "s8", "u16", "s16"):
        for a, kind in (("u32", "i32"), ("s32", "i32"), ("s64", "i64")):
            t.add(f"cvt.{d}.{a} %d0, %a0; cvt.sat.{d}.{a} %d1, %a0;", kind, "b32 b32",
                  name=f"cvt_{d}_{a}_to_b32")
            t.add(f"cvt.{d}.{a} %d0, %a0;", kind, "b64", name=f"cvt_{d}_{a}_to_b64")
    for a in ("u8", "s8", "u16", "s16"):
        for d, out in (("u32", "b32"), ("s32", "b32"), ("u64", "b64"), ("s64", "b64"),
                       ("u16", "b16")):
            t.add(f"cvt.{d}.{a} %d0, %a0;", "i32", out, name=f"cvt_{d}_{a}_from_b32")
            t.add(f"cvt.{d}.{a} %d0, %a0;", "i64", out, name=f"cvt_{d}_{a}_from_b64")
        t.add(f"cvt.rn.f32.{a} %d0, %a0;", "i32", "f32", name=f"cvt_f32_{a}_from_b32")
    for d in ("u8", "s8", "u16", "s16"):
        t.add(f"cvt.rzi.{d}.f32 %d0, %a0;", "f32", "b32", name=f"cvt_{d}_f32_to_b32")
        t.add(f"cvt.rni.{d}.f64 %d0, %a0;", "f64", "b64", name=f"cvt_{d}_f64_to_b64")
