// Implements scenes.h.
#include "reference/scenes.h"

#include "reduce/micro_launches.h"

#include <array>

namespace heddle::differ {

void Scenes::choose_scene() {
  using enum Scene;
  if (program_.weak) {
    scene_ = chance(50) ? Message : None;
  } else if (!program_.host.empty()) {
    scene_ = launches_twice(program_) && chance(70) ? Dependents : None;
  } else if (chance(35)) {
    static constexpr std::array scenes{HandBarrier, HandBarrier, Updates, Updates, Allocations, Peek, Peek, Slots, Tickets, Children};
    scene_ = scenes[pick(scenes.size())];
  }
  program_.aim = aim();
  if (scene_ == Peek && !in_block()) {
    program_.shape = Shape::Block;
  }
  if (scene_ == Tickets) {
    program_.shape = Shape::Blocks;
    program_.threads = 4 + pick(2);
    alike_ = true;
  }
  if (scene_ == Message && chance(30)) {
    program_.threads = 3;
  }
}

/// The rule that may leave something out of it.
std::optional<enumeration::Reduction> Scenes::aim() const {
  using enum enumeration::Reduction;
  switch (scene_) {
  case Scene::None:
    if (program_.host.empty()) {
      return std::nullopt;
    }
    return program_.seed % 2 == 0 ? HostFirst : Returns;
  case Scene::HandBarrier: return Movers;
  case Scene::Message: return program_.seed % 2 == 0 ? Settled : EarlyWrites;
  case Scene::Updates: return Retries;
  case Scene::Allocations: return Allocations;
  case Scene::Peek: return Peeks;
  case Scene::Slots: return Places;
  case Scene::Tickets: return Straight;
  case Scene::Dependents: return HostFirst;
  case Scene::Children: return Cone;
  }
  return std::nullopt;
}

void Scenes::play() {
  switch (scene_) {
  case Scene::None: return;
  case Scene::HandBarrier: return hand_barrier();
  case Scene::Message: return message();
  case Scene::Updates: return update();
  case Scene::Allocations: return allocate();
  case Scene::Peek: return peek_ahead();
  case Scene::Slots: return slots();
  case Scene::Tickets: return ticket();
  case Scene::Dependents: return depend();
  case Scene::Children: return launch_child();
  }
}

/// Who comes last begins the next generation. Wrong: read after the arrival, another number, not reset.
void Scenes::hand_barrier() {
  const unsigned before = fresh(), count = fresh(), p = fresh(), now = fresh();
  const std::string again = label(), over = label();
  const bool early = mostly(true, false);
  const auto read = [&](unsigned to) {
    say("{}.u32 %r{}, [%d1+72];", one_of({"ld.acquire.gpu", "ld.relaxed.gpu", "ld.volatile"}), to);
  };
  if (early) {
    read(before);
  }
  say("atom.add.u32 %r{}, [%d1+64], 1;", count);
  if (!early) {
    read(before);
  }
  say("setp.ne.u32 %p{}, %r{}, {};", p, count, mostly(program_.threads - 1, program_.threads - 2));
  say("@%p{} bra {};", p, again);
  if (mostly(true, false)) {
    say("st.relaxed.gpu.u32 [%d1+64], 0;");
  }
  say("{};", one_of({"red.add.u32 [%d1+72], 1", "st.release.gpu.u32 [%d1+72], 1"}));
  say("bra {};", over);
  place(again);
  read(now);
  say("setp.eq.u32 %p{}, %r{}, %r{};", p, now, before);
  say("@%p{} bra {};", p, again);
  place(over);
}

/// Thread 0 writes data and then a flag, others read the flag and then the data. Wrong: another order, writes twice.
void Scenes::message() {
  const unsigned data = fresh(), flag = fresh(), p = fresh();
  const std::string reads = label(), over = label();
  const bool in_order = mostly(true, false);
  const int at_first = in_order ? 64 : 72, at_last = in_order ? 72 : 64;
  say("mov.u32 %r{}, 0;", data);
  say("mov.u32 %r{}, 0;", flag);
  say("@!%p4 bra {};", reads);
  say("st.relaxed.gpu.u32 [%d1+{}], {};", at_first, 1 + pick(2));
  if (chance(15)) {
    say("{};", one_of({"fence.acq_rel.gpu", "fence.sc.gpu", "st.relaxed.gpu.u32 [%d1+64], 2"}));
  }
  say("{}.u32 [%d1+{}], 1;", one_of({"st.release.gpu", "st.release.gpu", "st.relaxed.gpu"}), at_last);
  say("bra {};", over);
  place(reads);
  say("{}.u32 %r{}, [%d1+72];", one_of({"ld.acquire.gpu", "ld.acquire.gpu", "ld.relaxed.gpu"}), flag);
  if (chance(50)) { // only if it is there
    say("setp.eq.u32 %p{}, %r{}, 0;", p, flag);
    say("@%p{} bra {};", p, over);
  }
  say("ld.relaxed.gpu.u32 %r{}, [%d1+64];", data);
  place(over);
  for (const unsigned found : {data, flag}) {
    depends_on_others(found);
  }
}

/// A sum or a maximum by compare-and-swap; seldom somebody asks for what it found.
void Scenes::update() {
  const unsigned p = fresh(), before = fresh(), next = fresh(), found = fresh();
  const std::string again = label();
  say("ld.relaxed.gpu.u32 %r{}, [%d1+64];", found);
  place(again);
  say("mov.u32 %r{}, %r{};", before, found);
  say("{}.u32 %r{}, %r{}, {};", one_of({"add", "max", "min"}), next, before, 1 + pick(2));
  say("atom.cas.b32 %r{}, [%d1+64], %r{}, %r{};", found, before, next);
  say("setp.ne.u32 %p{}, %r{}, %r{};", p, found, before);
  say("@%p{} bra {};", p, again);
  if (chance(15)) {
    depends_on_others(found);
  }
}

/// There is room for all; sometimes there is not.
void Scenes::allocate() {
  const unsigned heap = fresh(), p = fresh(), value = fresh();
  const std::string none = label();
  say("{{ .param .b64 a; .param .b64 r; st.param.b64 [a], {}; call.uni (r), malloc, (a); ld.param.b64 %d{}, [r]; }}", mostly(16, 640), heap);
  say("setp.eq.u64 %p{}, %d{}, 0;", p, heap);
  say("mov.u32 %r{}, 3;", value);
  say("@%p{} bra {};", p, none);
  say("st.u32 [%d{}], %r3;", heap);
  say("ld.u32 %r{}, [%d{}];", value, heap);
  if (chance(70)) {
    say("{{ .param .b64 a; st.param.b64 [a], %d{}; call.uni free, (a); }}", heap);
  }
  place(none);
  depends_on_others(value);
}

/// Everybody arrives; some ask whether the phase is over, do something else, and wait only if it was not. Wrong: nobody
/// waits, or what was told is used.
void Scenes::peek_ahead() {
  const unsigned p = fresh(), q = fresh(), sum = fresh();
  const std::string over = label(), again = label();
  const bool arrives_first = chance(60);
  const auto arrive = [&] { say("mbarrier.arrive.shared.b64 _, [phase];"); };
  if (arrives_first) {
    arrive();
  }
  say("mbarrier.{}.parity.shared.b64 %p{}, [phase], 0;", one_of({"try_wait", "test_wait"}), p);
  if (chance(40)) {
    say("add.u32 %r{}, %r3, {};", sum, pick(3));
  }
  if (!arrives_first) {
    arrive();
  }
  say("@%p{} bra {};", p, over);
  if (mostly(true, false)) {
    place(again);
    say("mbarrier.try_wait.parity.shared.b64 %p{}, [phase], 0;", q);
    say("@!%p{} bra {};", q, again);
  }
  place(over);
  if (!mostly(true, false)) {
    known_.predicates.push_back(p);
  }
}

/// A slot for each thread: all look at one at once, and somebody writes one.
void Scenes::slots() {
  const unsigned own = fresh(), found = fresh();
  say("mad.wide.u32 %d{}, %r0, 4, %d1;", own);
  if (chance(40)) {
    say("st.relaxed.gpu.u32 [%d{}+64], {};", own, 1 + pick(2));
  }
  say("@%p4 st.relaxed.gpu.u32 [%d1+{}], {};", 64 + 4 * pick(program_.threads), 1 + pick(2));
  say("ld.{}.u32 %r{}, [%d{}+64];", one_of({"relaxed.gpu", "acquire.gpu", "volatile"}), found, own);
  if (chance(40)) { // the next one's
    say("ld.relaxed.gpu.u32 %r{}, [%d{}+68];", found, own);
  }
  depends_on_others(found);
}

/// Only who comes last goes on.
void Scenes::ticket() {
  const unsigned taken = fresh(), p = fresh();
  const std::string last = label();
  say("atom.add.u32 %r{}, [%d1+64], 1;", taken);
  say("setp.eq.u32 %p{}, %r{}, {};", p, taken, mostly(program_.threads - 1, program_.threads - 2));
  say("@%p{} bra {};", p, last);
  say("exit;");
  place(last);
}

/// A grid that follows need not wait for the end of this one.
void Scenes::depend() {
  say("{};", one_of({"griddepcontrol.wait", "griddepcontrol.launch_dependents"}));
}

/// By one thread, or by all.
void Scenes::launch_child() {
  const bool by_all = chance(30);
  const unsigned kernel = fresh(), parameters = fresh();
  const std::string over = label();
  if (!by_all) {
    say("@!%p4 bra {};", over);
  }
  say("mov.u64 %d{}, child;", kernel);
  say("{{ .param .b64 a; .param .align 4 .b8 b[12]; .param .align 4 .b8 c[12]; .param .b32 d; .param .b64 r;"
      " st.param.b64 [a], %d{}; st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [c], 1;"
      " st.param.b32 [c+4], 1; st.param.b32 [c+8], 1; st.param.b32 [d], 0;"
      " call.uni (r), __cudaCDP2GetParameterBufferV2, (a, b, c, d); ld.param.b64 %d{}, [r]; }}",
      kernel,
      parameters);
  say("st.u64 [%d{}], %d1;", parameters);
  say("st.u32 [%d{}+8], {};", parameters, 1 + pick(2));
  // The stream of the block; cudaStreamTailLaunch; cudaStreamFireAndForget.
  say("{{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d{}; st.param.b64 [b], {};"
      " call.uni (r), __cudaCDP2LaunchDeviceV2, (a, b); }}",
      parameters,
      one_of({"0", "3", "4"}));
  place(over);
}

} // namespace heddle::differ
