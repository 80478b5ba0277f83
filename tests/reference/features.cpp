// Implements features.h.
#include "reference/features.h"

#include <array>

namespace heddle::differ {

void Features::choose_feature() {
  const unsigned what = pick(100);
  if (program_.shape == Shape::Cluster) {
    feature_ = what < 65 ? Feature::Neighbours : what < 75 && own_words() ? Feature::Copies : what < 90 ? Feature::Rare : Feature::None;
  } else if (what < 8) {
    feature_ = Feature::Clocks;
  } else if (what < 16 && own_words()) {
    feature_ = Feature::Copies;
  } else if (what < 22 && in_block() && program_.shape != Shape::Warps) {
    feature_ = Feature::Lanes;
  } else if (what < 25 && program_.host.empty()) { // walks with a host begin anew, with other addresses
    feature_ = Feature::Heap;
  } else if (what < 40) {
    feature_ = Feature::Rare;
  }
}

void Features::use_feature() {
  guard_.clear(); // all registers are written on every way
  switch (feature_) {
  case Feature::None: return;
  case Feature::Clocks: return clock();
  case Feature::Lanes: return lanes();
  case Feature::Copies: return copy();
  case Feature::Neighbours: return neighbour();
  case Feature::Heap: return heap();
  case Feature::Rare: return rare();
  }
}

// --- Clocks

unsigned Features::time() {
  if (!known_.times.empty() && chance(60)) {
    return one_of(known_.times);
  }
  const unsigned made = fresh();
  say("mov.u64 %d{}, {};", made, one_of({"%clock64", "%clock64", "%globaltimer"}));
  known_.times.push_back(made);
  return made;
}

void Features::clock() {
  switch (pick(8)) {
  case 0:
    time();
    return;
  case 1:
    return until_late();
  case 2: { // a value like any other
    const unsigned t = time(), bit = fresh();
    say("shr.u64 %d{}, %d{}, {};", bit, t, pick(2) * pick(12));
    say("and.b64 %d{}, %d{}, {};", bit, bit, 1 + 2 * pick(2));
    return say("cvt.u32.u64 %r{}, %d{};", new_hot(), bit);
  }
  case 3: { // by halves
    const unsigned low = fresh(), later = fresh(), p = fresh();
    say("mov.u32 %r{}, {};", low, one_of({"%clock", "%clock", "%globaltimer_lo"}));
    say("mov.u32 %r{}, {};", later, one_of({"%clock", "%clock", "%clock_hi", "%globaltimer_lo"}));
    say("sub.u32 %r{}, %r{}, %r{};", later, later, low);
    say("setp.{}.{} %p{}, %r{}, {};", one_of({"gt", "lt", "eq"}), one_of({"u32", "s32"}), p, later, pick(4));
    return say("selp.u32 %r{}, 1, 0, %p{};", new_hot(), p);
  }
  case 4: { // through memory
    const unsigned t = time(), again = fresh();
    const Where at = own_place(8);
    say("st{}.u64 [{}], %d{};", at.space, at.address, t);
    say("ld{}.u64 %d{}, [{}];", at.space, again, at.address);
    known_.times.push_back(again);
    return;
  }
  case 5: { // scaled
    const unsigned t = time(), scaled = fresh();
    say("{} %d{}, %d{}, {};", one_of({"shr.u64", "mul.lo.u64", "div.u64"}), scaled, t, 1 + pick(3));
    known_.times.push_back(scaled);
    return;
  }
  default:
    return compare_times();
  }
}

void Features::compare_times() {
  const unsigned before = time(), now = fresh(), p = fresh();
  static constexpr std::array<std::uint64_t, 5> limits{0, 1, 3, 1000, 1ULL << 40};
  if (chance(70)) {
    say("mov.u64 %d{}, {};", now, one_of({"%clock64", "%clock64", "%globaltimer"}));
  } else {
    say("mov.u64 %d{}, %d{};", now, time());
  }
  if (chance(80)) {
    say("sub.u64 %d{}, %d{}, %d{};", now, now, before);
    if (chance(25)) {
      const unsigned cut = fresh();
      say("cvt.u32.u64 %r{}, %d{};", cut, now);
      say("cvt.u64.u32 %d{}, %r{};", now, cut);
    }
    say("setp.{}.{} %p{}, %d{}, {};", one_of({"gt", "lt", "ge", "le", "eq"}), one_of({"u64", "s64"}), p, now, limits[pick(limits.size())]);
  } else {
    say("setp.{}.u64 %p{}, %d{}, %d{};", one_of({"gt", "lt", "ge", "eq"}), p, now, before);
  }
  say("selp.u32 %r{}, 1, 0, %p{};", new_hot(), p);
}

/// A loop until some time has passed, or a word of others has a value.
void Features::until_late() {
  const unsigned begin = time(), now = fresh(), p = fresh(), found = fresh();
  const std::string again = label(), over = label();
  say("mov.u32 %r{}, 0;", found);
  place(again);
  if (chance(60)) {
    const Where at = shared_place();
    say("{}{}.u32 %r{}, [{}];", one_of({"ld.relaxed.gpu", "ld.acquire.gpu", "ld.volatile"}), at.space, found, at.address);
    say("setp.eq.u32 %p{}, %r{}, {};", p, found, 1 + pick(2));
    say("@%p{} bra {};", p, over);
  }
  say("mov.u64 %d{}, %clock64;", now);
  say("sub.u64 %d{}, %d{}, %d{};", now, now, begin);
  say("setp.{}.u64 %p{}, %d{}, {};", one_of({"lt", "le"}), p, now, 1 + 2 * pick(3));
  say("@%p{} bra {};", p, again);
  place(over);
  depends_on_others(found);
}

// --- Lanes

void Features::lanes() {
  const unsigned mask = fresh(), p = fresh();
  const std::string all = fmt::format("{}", (1U << here()) - 1);
  const unsigned from = word();
  say("activemask.b32 %r{};", mask);
  switch (pick(6)) {
  case 0:
  case 1: return say("popc.b32 %r{}, %r{};", new_hot(), mask);
  case 2: return say("vote.sync.ballot.b32 %r{}, %p{}, %r{};", new_hot(), predicate(), mask);
  case 3: return say("redux.sync.{}.u32 %r{}, %r{}, %r{};", one_of({"add", "max"}), new_hot(), from, mask);
  case 4:
    say("elect.sync _|%p{}, {};", p, chance(50) ? all : fmt::format("%r{}", mask));
    return say("selp.u32 %r{}, 1, 0, %p{};", new_hot(), p);
  default: return say("shfl.sync.idx.b32 %r{}, %r{}, {}, 31, %r{};", new_hot(), from, pick(2), mask);
  }
}

// --- Copies

/// The address of sixteen bytes in shared memory that the thread alone uses.
std::string Features::own_copy() {
  const unsigned at = fresh();
  say("mov.u32 %r{}, copied;", at);
  say("mad.lo.u32 %r{0}, %r{1}, 16, %r{0};", at, 0);
  return fmt::format("%r{}", at);
}

void Features::copy() {
  if (chance(50)) {
    return copy_in_bulk();
  }
  const std::string to = own_copy();
  say("st.global.u32 [%d2+304], %r{};", word());
  say("cp.async.ca.shared.global [{}], [%d2+304], {};", to, one_of({"4", "4", "8", "16"}));
  if (mbarrier_ && chance(40)) {
    return say("cp.async.mbarrier.arrive{}.shared.b64 [phase];", one_of({".noinc", ""}));
  }
  if (chance(50)) {
    say("cp.async.commit_group;");
    if (chance(30)) {
      say("st.relaxed.gpu.global.u32 [%d1], {};", pick(3));
    }
    say("cp.async.wait_group 0;");
  } else {
    say("cp.async.wait_all;");
  }
  say("ld.shared.u32 %r{}, [{}];", new_hot(), to);
}

void Features::copy_in_bulk() {
  const std::string own = own_copy();
  switch (mbarrier_ ? pick(6) : 3 + pick(2)) {
  case 0:
    say("mbarrier.arrive.expect_tx.shared.b64 _, [phase], 16;");
    return say("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [%d1+128], 16, [phase];", own);
  case 1:
    say("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [phase], 16;");
    return say("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [%d1+128], 16, [phase];", own);
  case 2:
    say("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [phase], 4;");
    return say("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [{}], %r{}, [phase];", own, word());
  case 3: // to one's own words
    say("st.shared.u32 [{}], %r{};", own, word());
    say("fence.proxy.async;");
    say("cp.async.bulk.global.shared::cta.bulk_group [%d2+304], [{}], 16;", own);
    say("cp.async.bulk.commit_group;");
    say("cp.async.bulk.wait_group 0;");
    return say("ld.global.u32 %r{}, [%d2+304];", new_hot());
  case 4: // to those that all access
    say("st.shared.v4.u32 [{}], {{%r{}, %r3, %r3, %r3}};", own, word());
    say("fence.proxy.async;");
    say("cp.reduce.async.bulk.global.shared::cta.bulk_group.{}.u32 [%d1], [{}], 16;", one_of({"add", "max"}), own);
    say("cp.async.bulk.commit_group;");
    return say("cp.async.bulk.wait_group{} 0;", one_of({"", ".read"}));
  default:
    say("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [phase], 4;");
    return say("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [{}], %r{}, [phase];", own, word());
  }
}

// --- Other blocks of a cluster

std::string Features::of_block(std::string_view variable) {
  const unsigned at = fresh();
  say("mov.u32 %r{}, {};", at, variable);
  say("mapa.shared::cluster.u32 %r{0}, %r{0}, {1};", at, pick(program_.threads));
  return fmt::format("%r{}", at);
}

void Features::neighbour() {
  const std::string at = of_block("board");
  switch (pick(5)) {
  case 0: return say("ld.relaxed.cluster.shared::cluster.u32 %r{}, [{}];", new_hot(), at);
  case 1: return say("st.relaxed.cluster.shared::cluster.u32 [{}], %r{};", at, word());
  case 2: {
    const std::string operand = value();
    return say("atom.relaxed.cluster.shared::cluster.{} %r{}, [{}], {};", one_of({"add.u32", "exch.b32", "max.u32"}), new_hot(), at, operand);
  }
  case 3: return say("red.relaxed.cluster.shared::cluster.add.u32 [{}], 1;", at);
  default:
    say("barrier.cluster.arrive;");
    return say("barrier.cluster.wait;");
  }
}

// --- The heap

/// More than half of what there is.
void Features::heap() {
  if (!known_.allocations.empty() && depth_ == 0 && chance(40)) {
    const unsigned heap = known_.allocations.back();
    known_.allocations.pop_back();
    return say("{{ .param .b64 a; st.param.b64 [a], %d{}; call.uni free, (a); }}", heap);
  }
  const unsigned heap = fresh(), p = fresh();
  say("{{ .param .b64 a; .param .b64 r; st.param.b64 [a], 640; call.uni (r), malloc, (a); ld.param.b64 %d{}, [r]; }}", heap);
  say("setp.ne.u64 %p{}, %d{}, 0;", p, heap);
  say("selp.u32 %r{}, 1, 0, %p{};", new_hot(), p);
  if (depth_ == 0) {
    known_.allocations.push_back(heap);
  }
}

} // namespace heddle::differ
