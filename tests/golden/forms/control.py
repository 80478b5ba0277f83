"""Branches, calls and returns: PTX ISA 9.7.12. Functions: PRELUDE in generate.py."""


def call(function, results, *arguments):
    """A call through .param space of 32-bit arguments; %r is the result."""
    lines = ["{ .param .b32 r0;"]
    for i, a in enumerate(arguments):
        lines.append(f".param .b32 p{i}; st.param.b32 [p{i}], {a};")
    names = ", ".join(f"p{i}" for i in range(len(arguments)))
    lines.append(f"call.uni (r0), {function}, ({names}); ld.param.b32 {results}, [r0]; }}")
    return " ".join(lines)


def forms(t):
    t.add(call("three_minus", "%d0", "%a0", "%a1"), "i32 i32", "b32", name="call_parameters")
    t.add("{ .param .align 16 .b8 p[16]; .param .b64 r; st.param.v2.b64 [p], {%a0, %a1};"
          " call.uni (r), sum_of, (p); ld.param.b64 %d0, [r]; }", "i64 i64", "b64",
          name="call_structure")
    t.add("mov.b32 %d0, 0; { .param .b32 r0; .param .b32 p0; .param .b32 p1; st.param.b32 [p0], %a0;"
          " st.param.b32 [p1], %a1; @%a2 call (r0), three_minus, (p0, p1);"
          " ld.param.b32 %r, [r0]; @%a2 mov.b32 %d0, %r; }", "i32 i32 pred", "b32", name="call_guarded",
          registers=".reg .b32 %r;")
    t.add("mov.b32 %d0, 0; @!%a2 bra SKIP; " + call("three_minus", "%d0", "%a0", "%a1") + " SKIP:",
          "i32 i32 pred", "b32", name="call_divergent")
    t.add("and.b32 %n, %a0, 255; " + call("collatz", "%d0", "%n", "0"), "i32", "b32",
          name="recursion", registers=".reg .b32 %n;")
    t.add("and.b32 %n, %a1, 1; mul.wide.u32 %f, %n, 8; mov.u64 %g, functions; add.u64 %f, %f, %g;"
          " ld.global.u64 %f, [%f]; { .param .b32 r0; .param .b32 p0; .param .b32 p1;"
          " st.param.b32 [p0], %a0; st.param.b32 [p1], %a1;"
          " PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);"
          " call (r0), %f, (p0, p1), PROTOTYPE; ld.param.b32 %d0, [r0]; }",
          "i32 i32", "b32", name="call_indirect", registers=".reg .b32 %n; .reg .b64 %f, %g;")
    t.add("and.b32 %n, %a0, 3; TARGETS: .branchtargets A, B, C, D; brx.idx %n, TARGETS;"
          " A: mov.u32 %d0, 10; bra END; B: mov.u32 %d0, %a1; bra END;"
          " C: add.u32 %d0, %a1, 1; D: mov.u32 %d0, 13; END:", "i32 i32", "b32", name="brx_idx",
          registers=".reg .b32 %n;")
    t.add("and.b32 %n, %a0, 31; mov.u32 %d0, 0; mov.u32 %i, 0; AGAIN: setp.ge.u32 %p, %i, %n;"
          " @%p bra END; mad.lo.u32 %d0, %d0, 3, %a1; add.u32 %i, %i, 1; bra AGAIN; END:",
          "i32 i32", "b32", name="loop", registers=".reg .b32 %n, %i; .reg .pred %p;")
    t.add("and.b32 %n, %a0, 15; mov.u32 %d0, 0; OUTER: mov.u32 %i, %n; INNER: add.u32 %d0, %d0, %i;"
          " setp.eq.u32 %p, %i, 0; @%p bra DONE; sub.u32 %i, %i, 1; and.b32 %k, %i, 5;"
          " setp.eq.u32 %q, %k, 5; @%q bra DONE; bra INNER; DONE: setp.eq.u32 %p, %n, 0;"
          " @%p bra END; sub.u32 %n, %n, 1; bra OUTER; END:", "i32", "b32", name="loop_nested",
          registers=".reg .b32 %n, %i, %k; .reg .pred %p, %q;")
    t.add("setp.lt.s32 %p, %a0, 0; @%p bra NEGATIVE; and.b32 %k, %a1, 1; setp.ne.u32 %q, %k, 0;"
          " @%q bra ODD; mov.u32 %d0, 1; bra JOIN; ODD: mov.u32 %d0, 2; JOIN: add.u32 %d0, %d0, %a1;"
          " bra END; NEGATIVE: mov.u32 %d0, 3; END: vote.sync.ballot.b32 %d1, %p, -1;",
          "i32 i32", "b32 b32", name="branches_nested", registers=".reg .b32 %k; .reg .pred %p, %q;")
    # Lanes that end early leave their result slots at 0.
    t.add("st.global.b32 [%po], %a0; @%a1 exit; st.global.b32 [%po], 77;", "i32 pred", "b32",
          name="exit_guarded", memory=(0,))
    t.add("@%a1 bra STAY; ret; STAY: st.global.b32 [%po], %a0;", "i32 pred", "b32", name="ret_early",
          memory=(0,))
    t.add("bra.uni OVER; mov.u32 %d0, 1; OVER: mov.u32 %d0, %a0;", "i32", "b32", name="bra_uni")
