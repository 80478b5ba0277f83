"""mov with packing, special registers, address conversion: PTX ISA 9.7.9."""

SPECIALS = ("tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z",
            "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "lanemask_eq", "lanemask_le",
            "lanemask_lt", "lanemask_ge", "lanemask_gt", "clusterid.x", "nclusterid.x",
            "cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank", "cluster_nctarank",
            "dynamic_smem_size", "total_smem_size", "aggr_smem_size")


def forms(t):
    t.op("mov.b16", "i16", "b16", tuples=4096)
    t.op("mov.b32", "i32", "b32")
    t.op("mov.b64", "i64", "b64")
    t.op("mov.u32", "i32", "b32")
    t.op("mov.s64", "i64", "b64")
    t.op("mov.f32", "f32", "f32")
    t.op("mov.f64", "f64", "f64")
    t.op("mov.pred", "pred", "pred")
    t.add("mov.b32 %d0, {%a0, %a1};", "i16 i16", "b32", name="pack_b32_2xb16")
    t.add("mov.b64 %d0, {%a0, %a1};", "i32 i32", "b64", name="pack_b64_2xb32")
    t.add("mov.b64 %d0, {%a0, %a1, %a2, %a3};", "i16 i16 i16 i16", "b64", name="pack_b64_4xb16")
    t.add("mov.b32 {%d0, %d1}, %a0;", "i32", "b16 b16", name="unpack_b32_2xb16")
    t.add("mov.b64 {%d0, %d1}, %a0;", "i64", "b32 b32", name="unpack_b64_2xb32")
    t.add("mov.b64 {%d0, %d1, %d2, %d3}, %a0;", "i64", "b16 b16 b16 b16", name="unpack_b64_4xb16")
    t.add("mov.b64 {_, %d0}, %a0; mov.b32 {%d1, _}, %d0;", "i64", "b32 b16", name="unpack_with_sink")
    bytes_ = ".reg .b8 %x, %y, %z, %w;"
    t.add("mov.b32 {%x, %y, %z, %w}, %a0; mov.b32 %d0, {%w, %z, %y, %x};", "i32", "b32",
          name="bytes_reversed", registers=bytes_)
    t.add("mov.b16 {%x, %y}, %a0; mov.b16 %d0, {%y, %x};", "i16", "b16", name="bytes_of_b16",
          registers=bytes_, tuples=4096)
    t.add("mov.b128 %q, {%a0, %a1}; mov.b128 {%d1, %d0}, %q;", "i64 i64", "b64 b64",
          name="b128_halves", registers=".reg .b128 %q;")
    t.add("mov.b32 %d0, %a0; mov.b32 %d1, %d0;", "f32", "b32 f32", name="mov_b32_between_types")
    t.add("mov.b64 %d0, %a0; mov.b64 %d1, %d0;", "f64", "b64 f64", name="mov_b64_between_types")
    t.add("mov.b64 {%d0, %d1}, %a0;", "f64", "b32 b32", name="unpack_f64")
    t.add("mov.b64 %d0, {%a0, %a1};", "f32 f32", "f64", name="pack_f64_of_f32")
    t.add("mov.u32 %d0, 0xdeadbeef; mov.s32 %d1, -1; mov.u64 %d2, 0x123456789abcdef0;"
          " mov.b16 %d3, 0xbeef; mov.f64 %d4, 0dFFF8000000000001;",
          "i32", "b32 b32 b64 b16 f64", name="mov_constants")
    t.add("@%a0 bra TAKEN; mov.u32 %d0, 1; bra END; TAKEN: mov.u32 %d0, 2; END:", "pred", "b32", name="branch_on_predicate")
    t.add("mov.u32 %d0, 7; @%a0 mov.u32 %d0, %a1; @!%a0 add.u32 %d0, %d0, %a1;", "pred i32", "b32",
          name="guarded_instructions")
    for special in SPECIALS:
        t.add(f"mov.u32 %d0, %{special};", "i32", "b32", name=f"special_{special}")
    addresses(t)


def addresses(t):
    shared = ".shared .align 16 .b8 window[2048];"
    t.add("mov.u32 %s, window; mad.lo.u32 %s, %thread, 8, %s; st.shared.b64 [%s], %a0; cvt.u64.u32 %l, %s;"
          " cvta.shared.u64 %l, %l; ld.b64 %d0, [%l]; cvta.to.shared.u64 %l, %l; cvt.u32.u64 %r, %l;"
          " sub.u32 %d1, %r, %s;", "i64", "b64 b32", name="cvta_shared", setup=shared,
          registers=".reg .b32 %s, %r; .reg .b64 %l;")
    t.add("mov.u64 %l, depot; cvta.local.u64 %g, %l; st.b64 [%g+8], %a0; ld.local.b64 %d0, [%l+8];"
          " cvta.to.local.u64 %g, %g; sub.u64 %d1, %g, %l;", "i64", "b64 b64", name="cvta_local",
          setup=".local .align 8 .b8 depot[16];", registers=".reg .b64 %l, %g;")
    t.add("cvta.global.u64 %g, %po; isspacep.global %d0, %g; isspacep.shared %d1, %g;"
          " isspacep.local %d2, %g; isspacep.const %d3, %g;", "i32", "pred pred pred pred",
          name="isspacep_of_global", registers=".reg .b64 %g;")
    t.add("mov.u64 %l, depot; cvta.local.u64 %g, %l; st.local.b32 [%l], %a0; isspacep.global %d0, %g;"
          " isspacep.shared %d1, %g; isspacep.local %d2, %g;", "i32", "pred pred pred",
          name="isspacep_of_local", setup=".local .align 8 .b8 depot[16];",
          registers=".reg .b64 %l, %g;")
    t.add("mov.u64 %l, window; cvta.shared.u64 %g, %l; isspacep.global %d0, %g; isspacep.shared %d1, %g;"
          " isspacep.local %d2, %g; isspacep.shared::cluster %d3, %g;", "i32", "pred pred pred pred",
          name="isspacep_of_shared", setup=shared, registers=".reg .b64 %l, %g;")
