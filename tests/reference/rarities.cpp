// Implements the part of features.h about instructions that no other statement has.
#include "reference/features.h"

namespace heddle::differ {

void Features::rare() {
  switch (pick(8)) {
  case 0: return by_table();
  case 1: { // where an address points
    const unsigned address = 1 + 3 * pick(2); // global or local memory
    const unsigned p = new_predicate();
    return say("isspacep.{} %p{}, %d{};", one_of({"shared", "local", "global"}), p, address);
  }
  case 2: {
    const unsigned address = fresh();
    say("cvta.to.global.u64 %d{}, %d1;", address);
    return say("atom.global.{}.u32 %r{}, [%d{}+{}], 1;", one_of({"add", "max"}), new_hot(), address, 8 * pick(2));
  }
  case 3: {
    if (depth_ != 0 || !program_.host.empty()) { // as with malloc
      return say("nanosleep.u32 20;");
    }
    const unsigned at = fresh();
    say("alloca.u64 %d{}, 16;", at);
    say("st.local.u32 [%d{}+{}], %r{};", at, 8, word());
    return say("ld.local.u32 %r{}, [%d{}+{}];", new_hot(), at, 8);
  }
  case 4: return say("nanosleep.u32 20;");
  case 5: {
    const unsigned one = fresh(), bits = fresh();
    say("mov.b32 %r{}, 0x3f800000;", one); // 1.0
    say("atom.add.f32 %r{}, [%d1+{}], %r{};", bits, 8 * pick(2), one);
    return say("shr.u32 %r{}, %r{}, 23;", new_hot(), bits);
  }
  case 6: return wide_exchange();
  default: return say("{};", one_of({"fence.proxy.async", "fence.acq_rel.cluster", "fence.mbarrier_init.release.cluster", "fence.acquire.gpu", "fence.release.gpu"}));
  }
}

/// A jump by a table.
void Features::by_table() {
  const unsigned which = fresh(), made = fresh();
  const std::string first = label(), second = label(), end = label(), table = label();
  say("mov.u32 %r{}, 0;", made);
  say("and.b32 %r{}, %r{}, 1;", which, word());
  place(fmt::format("{}: .branchtargets {}, {}; // ", table, first, second));
  say("brx.idx %r{}, {};", which, table);
  place(first);
  say("atom.{}.u32 %r{}, [%d1], 1;", one_of({"add", "max"}), made);
  say("bra {};", end);
  place(second);
  say("{};", chance(50) ? "st.relaxed.gpu.u32 [%d1], 1" : "red.add.u32 [%d1+8], 1");
  place(end);
  depends_on_others(made);
}

/// Sixteen bytes.
void Features::wide_exchange() {
  const unsigned low = fresh(), high = fresh(), found = fresh(), other = fresh();
  say("mov.u64 %d{}, {};", low, pick(3));
  say("mov.u64 %d{}, {};", high, pick(3));
  const std::string what = chance(50) ? fmt::format("atom.exch.b128 q1, [%d1+{}], q0", 16 * pick(2))
                                      : fmt::format("atom.cas.b128 q1, [%d1+{}], q2, q0", 16 * pick(2));
  say("{{ .reg .b128 q0, q1, q2; mov.b128 q0, {{%d{}, %d{}}}; mov.b128 q2, {{%d{}, %d{}}}; {}; mov.b128 {{%d{}, %d{}}}, q1; }}",
      low, high, high, low, what, found, other);
  say("cvt.u32.u64 %r{}, %d{};", new_hot(), chance(50) ? found : other);
}

/// Operations on mbarriers that few programs have.
void Features::rare_phase() {
  switch (pick(5)) {
  case 0: return say("mbarrier.arrive_drop.shared.b64 _, [phase];");
  case 1: return say("mbarrier.arrive.shared.b64 _, [phase], {};", 1 + pick(2));
  case 2:
    say("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [phase], 8;");
    return say("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [phase], 8;");
  case 3: {
    const unsigned token = fresh();
    say("mbarrier.arrive.shared.b64 %d{}, [phase];", token);
    return say("mbarrier.pending_count.b64 %r{}, %d{};", new_hot(), token);
  }
  default: return say("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [phase], 0;");
  }
}

/// The mbarrier of another block: an arrival, or bytes.
void Features::neighbours_phase() {
  const std::string at = of_block("phase");
  switch (pick(4)) {
  case 0:
  case 1: return say("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{}];", at);
  case 2: return say("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [{}], 0;", at);
  default: {
    const unsigned own = fresh(), to = fresh();
    say("mov.u32 %r{}, board;", own);
    say("mov.u32 %r{}, copied;", to);
    const unsigned block = pick(program_.threads);
    say("mapa.shared::cluster.u32 %r{0}, %r{0}, {1};", to, block);
    const unsigned phase = fresh();
    say("mov.u32 %r{}, phase;", phase);
    say("mapa.shared::cluster.u32 %r{0}, %r{0}, {1};", phase, block);
    return say("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r{}], [%r{}], 16, [%r{}];", to, own, phase);
  }
  }
}

} // namespace heddle::differ
