"""cvt to and from packed types, fp8 included, and cvt.pack: PTX ISA 9.7.9.21 and 9.7.9.22."""


def forms(t):
    t.each("cvt{.rn,.rz}{,.relu}{,.satfinite}.{f16x2,bf16x2}.f32", "f32 f32", "b32")
    for fp8 in ("e4m3x2", "e5m2x2"):
        t.each(f"cvt.rn.satfinite{{,.relu}}.{fp8}.f32", "f32 f32", "b16")
        t.each(f"cvt.rn.satfinite{{,.relu}}.{fp8}.f16x2", "f16x2", "b16", tuples=16640)
        t.each(f"cvt.rn{{,.relu}}.f16x2.{fp8}", "fp8x2", "b32")
    t.each("cvt.pack.sat.{u16,s16}.s32", "i32 i32", "b32")
    t.each("cvt.pack.sat.{u8,s8}.s32.b32", "i32 i32 i32", "b32")
    t.each("cvt.pack.sat.{u4,s4,u2,s2}.s32.b32", "i32 i32 i32", "b32")
