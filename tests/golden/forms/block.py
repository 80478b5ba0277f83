"""Blocks of 256 threads: barriers, mbarriers, bulk copies, contended atomics: PTX ISA 9.7.13, 9.7.9.25.

Every result is the same under any schedule.
"""

SHARED = ".shared .align 128 .b8 window[2048]; .shared .align 8 .b64 phase;"
# Each thread's 8-byte cell at %s; %o is the cell of thread (t + 37) mod 256.
CELLS = ("mov.u32 %s, window; mad.lo.u32 %o, %thread, 8, 296; and.b32 %o, %o, 2047; add.u32 %o, %o, %s;"
         " mad.lo.u32 %s, %thread, 8, %s; ")
R = ".reg .b32 %s, %o, %k; .reg .pred %p, %q; .reg .b64 %l;"


def forms(t):
    def add(asm, ins, outs, name, **options):
        t.add(asm, ins, outs, name=name, setup=SHARED, registers=R + options.pop("registers", ""),
              tuples=4096, **options)

    for barrier in ("bar.sync 0", "barrier.sync 0", "barrier.sync.aligned 3", "bar.sync 5, 256",
                    "barrier.cta.sync 0", "bar.cta.sync 0, 256"):
        add(CELLS + f"st.shared.b64 [%s], %a0; {barrier}; ld.shared.b64 %d0, [%o];", "i64", "b64",
            f"exchange_{barrier}")
    for prefix in ("bar", "barrier", "barrier.cta"):
        add(f"{prefix}.red.popc.u32 %d0, 0, %a0;", "pred", "b32", f"{prefix}_red_popc")
        add(f"{prefix}.red.and.pred %d0, 0, %a0; {prefix}.red.or.pred %d1, 0, %a0;", "pred",
            "pred pred", f"{prefix}_red_and_or")
    add("bar.red.popc.u32 %d0, 1, 256, !%a0;", "pred", "b32", "bar_red_popc_negated")
    add("shr.u32 %k, %thread, 7; add.u32 %k, %k, 1; bar.red.popc.u32 %d0, %k, 128, %a0;"
        " bar.red.and.pred %d1, %k, 128, %a1; bar.red.or.pred %d2, %k, 128, %a1;", "pred pred",
        "b32 pred pred", "bar_red_halves")
    # Agreement of some blocks: a value that most blocks share.
    add("shr.u32 %k, %block, 1; and.b32 %k, %k, 1; setp.eq.u32 %p, %k, 0; or.pred %p, %p, %a0;"
        " bar.red.and.pred %d0, 0, %p; not.pred %p, %p; bar.red.or.pred %d1, 0, %p;", "pred",
        "pred pred", "bar_red_uniform")
    # The lower half gives, the upper half takes.
    for arrive, sync in (("bar.arrive 2, 256", "bar.sync 2, 256"),
                         ("barrier.arrive 4, 256", "barrier.sync 4, 256")):
        add(CELLS + f"st.shared.b64 [%s], %a0; setp.lt.u32 %p, %thread, 128; mov.u64 %d0, 0;"
            f" @%p bra GIVE; {sync}; ld.shared.b64 %d0, [%s+-1024]; bra END; GIVE: {arrive}; END:",
            "i64", "b64", f"exchange_{arrive}")
    for op, ty in (("add", "u32"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"),
                   ("xor", "b32"), ("add", "u64"), ("max", "s64")):
        b = f"b{ty[1:]}"
        start = "0" if op not in ("and", "min") else "-1"
        kind = f"i{ty[1:]}"
        add(f"mov.u32 %s, window; st.shared.{b} [%s], {start}; bar.sync 0;"
            f" red.shared.{op}.{ty} [%s], %a0; bar.sync 0; ld.shared.{b} %d0, [%s];", kind, b,
            f"contended_{op}_{ty}")
    add("mov.u32 %s, window; st.shared.u32 [%s], 0; bar.sync 0; atom.shared.inc.u32 %k, [%s], 99;"
        " bar.sync 0; ld.shared.u32 %d0, [%s];", "i32", "b32", "contended_inc")
    mbarriers(add)
    bulk(add)


ARRIVE = "setp.eq.u32 %q, %thread, 0; @%q mbarrier.init.shared.b64 [phase], {n}; bar.sync 0; "


def mbarriers(add):
    add(CELLS + ARRIVE.format(n=256) + "st.shared.b64 [%s], %a0;"
        " mbarrier.arrive.shared.b64 %l, [phase]; WAIT: mbarrier.test_wait.shared.b64 %p, [phase], %l;"
        " @!%p bra WAIT; ld.shared.b64 %d0, [%o];", "i64", "b64", "mbarrier_test_wait")
    add(CELLS + ARRIVE.format(n=256) + "st.shared.b64 [%s], %a0;"
        " mbarrier.arrive.release.cta.shared::cta.b64 _, [phase];"
        " WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p, [phase], 0;"
        " @!%p bra WAIT; ld.shared.b64 %d0, [%o]; bar.sync 0; st.shared.b64 [%s], %a1;"
        " mbarrier.arrive.shared.b64 %l, [phase];"
        " AGAIN: mbarrier.try_wait.parity.shared.b64 %p, [phase], 1; @!%p bra AGAIN;"
        " ld.shared.b64 %d1, [%o];", "i64 i64", "b64 b64", "mbarrier_two_phases")
    add(CELLS + ARRIVE.format(n=128) + "mbarrier.test_wait.parity.shared.b64 %d0, [phase], 0;"
        " mbarrier.test_wait.parity.shared.b64 %d1, [phase], 1; bar.sync 0;"
        " setp.lt.u32 %p, %thread, 64; @%p mbarrier.arrive.shared.b64 %l, [phase], 2; bar.sync 0;"
        " mbarrier.test_wait.parity.shared.b64 %d2, [phase], 0;"
        " mbarrier.test_wait.parity.shared.b64 %d3, [phase], 1;", "i64", "pred pred pred pred",
        "mbarrier_parity")
    add(ARRIVE.format(n=300) + "bar.sync 0; mov.u64 %l, 0;"
        " @%q mbarrier.arrive.shared.b64 %l, [phase]; mov.u32 %d0, 0;"
        " @%q mbarrier.pending_count.b64 %d0, %l; bar.sync 0; setp.eq.u32 %p, %thread, 77;"
        " @%p mbarrier.arrive_drop.shared.b64 %l, [phase]; mov.u32 %d1, 0;"
        " @%p mbarrier.pending_count.b64 %d1, %l;", "i32", "b32 b32", "mbarrier_pending_count")
    add(CELLS + ARRIVE.format(n=256) + "cp.async.ca.shared.global [%s], [%pi], 8;"
        " cp.async.mbarrier.arrive.noinc.shared.b64 [phase];"
        " WAIT: mbarrier.try_wait.parity.shared.b64 %p, [phase], 0; @!%p bra WAIT;"
        " ld.shared.b64 %d0, [%o];", "i64", "b64", "cp_async_mbarrier_noinc")


def bulk(add):
    # %l: the block's part of the input.
    base = "mul.wide.u32 %l, %thread, 8; sub.u64 %l, %pi, %l; "
    add(CELLS + base + ARRIVE.format(n=1) + "mov.u32 %k, window; @!%q bra WAIT;"
        " fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared.b64 _, [phase], 2048;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%k], [%l], 2048, [phase];"
        " WAIT: mbarrier.try_wait.parity.shared.b64 %p, [phase], 0; @!%p bra WAIT;"
        " ld.shared.b64 %d0, [%o];", "i64", "b64", "bulk_to_shared")
    add(CELLS + "st.shared.b64 [%s], %a0; fence.proxy.async.shared::cta; bar.sync 0;"
        " setp.ne.u32 %q, %thread, 0; @%q bra END; mov.u32 %k, window;"
        " cp.async.bulk.global.shared::cta.bulk_group [%po], [%k], 2048; cp.async.bulk.commit_group;"
        " cp.async.bulk.wait_group 0; END:", "i64", "b64", "bulk_to_global", memory=(0,))
