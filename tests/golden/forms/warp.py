"""Warp-wide instructions: PTX ISA 9.7.9.6 (shfl), 9.7.13 (vote, match, redux, activemask, elect).

Input kind `mask` has the same value in all 32 lanes of a warp and is never zero. Forms named
*_partial execute the instruction only in the lanes of that mask.
"""

SHFL = {"up": ("0", "0x1000", "0x1800"), "down": ("31", "0x101f", "0x181f", "15"),
        "bfly": ("31", "0x101f", "0x181f", "7"), "idx": ("31", "0x101f", "0x181f", "0x1c1f", "12")}
PARTIAL = ".reg .pred %in; .reg .b32 %m;"
ENTER = "shr.u32 %m, {m}, %l; and.b32 %m, %m, 1; setp.ne.u32 %in, %m, 0;"


def partial(body, mask):
    """body, executed only by the lanes of the register `mask`."""
    return ("mov.u32 %l, %laneid; " + ENTER.format(m=mask) + " @!%in bra SKIP; " + body + " SKIP:")


def forms(t):
    registers = ".reg .pred %in; .reg .b32 %m, %l;"
    for mode, clamps in SHFL.items():
        for c in clamps:
            t.add(f"shfl.sync.{mode}.b32 %d0|%d1, %a0, %a1, {c}, -1;", "i32 shift", "b32 pred",
                  name=f"shfl_{mode}_{c}")
        for n in (0, 1, 2, 5, 16, 31, 32):
            c = clamps[0]
            t.add(f"shfl.sync.{mode}.b32 %d0|%d1, %a0, {n}, {c}, -1;", "i32", "b32 pred",
                  name=f"shfl_{mode}_by_{n}")
        t.add(f"shfl.sync.{mode}.b32 %d0|%d1, %a0, %a1, %a2, -1;", "i32 shift i32", "b32 pred",
              name=f"shfl_{mode}_any")
        t.add(f"shfl.sync.{mode}.b32 %d0, %a0, 3, {clamps[0]}, -1;", "f32", "f32",
              name=f"shfl_{mode}_f32")
        # Only the lanes of the mask take part; reading from a lane that does not is undefined, so
        # the lane read is the lane's own where the source is not in the mask. The predicate says
        # only whether the source is in range.
        source = {"idx": "mov.u32 %s, %a1; and.b32 %s, %s, 31;", "bfly": "and.b32 %s, %a1, 31; xor.b32 %s, %s, %l;",
                  "up": "and.b32 %s, %a1, 31; sub.u32 %s, %l, %s; max.s32 %s, %s, 0;",
                  "down": "and.b32 %s, %a1, 31; add.u32 %s, %l, %s; min.u32 %s, %s, 31;"}[mode]
        own = {"idx": "mov.u32 %k, %l;", "bfly": "mov.u32 %k, 0;", "up": "mov.u32 %k, 0;",
               "down": "mov.u32 %k, 0;"}[mode]
        t.add("mov.u32 %d0, 0xabababab; setp.ne.u32 %d1, 0, 0; " + partial(
            source + " shr.u32 %s, %a2, %s; and.b32 %s, %s, 1; setp.ne.u32 %q, %s, 0; " + own +
            " @%q and.b32 %k, %a1, 31;"
            f" shfl.sync.{mode}.b32 %d0|%d1, %a0, %k, {clamps[0]}, %a2;", "%a2"),
            "i32 shift mask", "b32 pred", name=f"shfl_{mode}_partial",
            registers=registers + " .reg .b32 %s, %k; .reg .pred %q;")
    for mode in ("all", "any", "uni"):
        t.add(f"vote.sync.{mode}.pred %d0, %a0, -1;", "pred", "pred", name=f"vote_{mode}")
        t.add(f"vote.sync.{mode}.pred %d0, !%a0, -1;", "pred", "pred", name=f"vote_{mode}_negated")
        t.add(f"setp.ne.u32 %d0, 0, 0; " + partial(f"vote.sync.{mode}.pred %d0, %a0, %a1;", "%a1"),
              "pred mask", "pred", name=f"vote_{mode}_partial", registers=registers)
        # Warps that agree: everybody whose bit of a warp-wide value is set.
        t.add(f"setp.ge.u32 %q, %a0, 0x40000000; vote.sync.{mode}.pred %d0, %q, -1;", "mask", "pred",
              name=f"vote_{mode}_uniform", registers=".reg .pred %q;")
    t.add("vote.sync.ballot.b32 %d0, %a0, -1;", "pred", "b32", name="vote_ballot")
    t.add("mov.u32 %d0, 0; " + partial("vote.sync.ballot.b32 %d0, %a0, %a1;", "%a1"), "pred mask",
          "b32", name="vote_ballot_partial", registers=registers)
    for b, kind, mask in (("b32", "i32", "7"), ("b64", "i64", "3")):
        few = f"and.{b} %v, %a0, {mask}; "
        value = f" .reg .{b} %v;"
        t.add(few + f"match.any.sync.{b} %d0, %v, -1;", kind, "b32", name=f"match_any_{b}",
              registers=value)
        t.add(few + f"match.all.sync.{b} %d0|%d1, %v, -1;", kind, "b32 pred",
              name=f"match_all_{b}", registers=value)
        t.add(f"mov.u32 %d0, 0; {few}" + partial(f"match.any.sync.{b} %d0, %v, %a1;", "%a1"),
              f"{kind} mask", "b32", name=f"match_any_{b}_partial", registers=registers + value)
    t.add("and.b32 %v, %a0, 3; setp.lt.u32 %q, %v, 3; selp.b32 %v, 5, %a1, %q;"
          " match.all.sync.b32 %d0|%d1, %v, -1;", "mask i32", "b32 pred", name="match_all_uniform",
          registers=".reg .b32 %v; .reg .pred %q;")
    for op, types in (("add", ("u32", "s32")), ("min", ("u32", "s32")), ("max", ("u32", "s32")),
                      ("and", ("b32",)), ("or", ("b32",)), ("xor", ("b32",))):
        for ty in types:
            t.add(f"redux.sync.{op}.{ty} %d0, %a0, -1;", "i32", "b32", name=f"redux_{op}_{ty}")
            t.add("mov.u32 %d0, 0; " + partial(f"redux.sync.{op}.{ty} %d0, %a0, %a1;", "%a1"),
                  "i32 mask", "b32", name=f"redux_{op}_{ty}_partial", registers=registers)
    t.add("activemask.b32 %d0;", "i32", "b32", name="activemask")
    t.add("mov.u32 %l, %laneid; elect.sync %e|%d1, -1; mov.u32 %d0, %e;", "i32", "b32 pred",
          name="elect", registers=registers + " .reg .b32 %e;")
    t.add("mov.u32 %d0, 0; setp.ne.u32 %d1, 0, 0; " + partial("elect.sync %d0|%d1, %a1;", "%a1"),
          "i32 mask", "b32 pred", name="elect_partial", registers=registers)
    t.add("mov.u32 %s, window; mad.lo.u32 %s, %thread, 4, %s; st.shared.b32 [%s], %a0;"
          " bar.warp.sync -1; xor.b32 %s, %s, 4; ld.shared.b32 %d0, [%s];", "i32", "b32",
          name="bar_warp_sync", setup=".shared .align 4 .b8 window[1024];",
          registers=".reg .b32 %s;")
    matrices(t)


def matrices(t):
    """ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements, one 16-byte row per address."""
    setup = ".shared .align 128 .b8 window[16384];"
    # Each warp fills 512 bytes: lane l's row is its 16 bytes at 16 * l.
    fill = ("mov.u32 %s, window; mad.lo.u32 %r, %thread, 16, %s;"
            " st.shared.v2.b64 [%r], {%a0, %a1}; bar.warp.sync -1; ")
    registers = ".reg .b32 %s, %r;"
    for x, n in (("x1", 1), ("x2", 2), ("x4", 4)):
        for trans in ("", ".trans"):
            d = ", ".join(f"%d{i}" for i in range(n))
            t.add(fill + f"ldmatrix.sync.aligned.m8n8.{x}{trans}.shared.b16 {{{d}}}, [%r];",
                  "i64 i64", " ".join(["b32"] * n), name=f"ldmatrix_{x}{trans}", setup=setup,
                  registers=registers)
            a = ", ".join(f"%a{i + 2}" for i in range(n))
            t.add(fill + f"stmatrix.sync.aligned.m8n8.{x}{trans}.shared.b16 [%r], {{{a}}};"
                  " bar.warp.sync -1; ld.shared.v2.b64 {%d0, %d1}, [%r];",
                  "i64 i64" + " i32" * n, "b64 b64", name=f"stmatrix_{x}{trans}", setup=setup,
                  registers=registers)
    t.add("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;", "i32", "b32", name="movmatrix")
