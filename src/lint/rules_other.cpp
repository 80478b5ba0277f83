// Rules about progress and about how threads talk to each other: cuda-progress-loop,
// cuda-progress-host-spin, cuda-volatile-sync, cuda-legacy-atomic, cuda-naive-spin.
#include "lint/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace heddle::lint {
namespace {

class OtherRules {
public:
  OtherRules(const Entry& entry, std::vector<Found>& out)
      : entry_(entry),
        graph_(entry.graph),
        waits_(entry),
        out_(out) {}

  void run() {
    const Function& function = entry_.unit.functions[entry_.function];
    for (std::uint32_t loop = 0; loop < graph_.loops.size(); ++loop) {
      if (function.is_device && (function.is_kernel || !function.is_host)) {
        device_loop(loop);
      } else if (!function.is_device) {
        host_loop(loop);
      }
    }
    if (function.is_device) {
      for (const std::uint32_t block : graph_.sequence) {
        for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
          legacy_atomic(i);
        }
      }
    }
  }

private:
  /// Something that [STEP.1] … [STEP.4] count.
  bool is_step(ValueId id) const {
    const Instruction& code = graph_.code[id];
    if (code.op == Op::Load || code.op == Op::Store) {
      return waits_.is_volatile(id) && !waits_.is_private(code.operands[0]);
    }
    if (code.op != Op::Known) {
      return false;
    }
    switch (code.effect) {
    case Effect::AtomicUpdate:
    case Effect::AtomicLoad:
    case Effect::AtomicWait:
      return code.operands.empty() || !waits_.is_private(code.operands[0]);
    case Effect::AtomicStore:
    case Effect::Fence:
    case Effect::Sleep:
    case Effect::Yield:
    case Effect::Pure:
    case Effect::Copy:
      return false;
    default:
      return true; // barriers, I/O, traps, and what is not known
    }
  }

  void add(const char* key, const Spot& place, std::string message, std::string help = "") {
    if (place.line == 0 || place.in_system) {
      return;
    }
    Found found;
    found.key = key;
    found.place = place;
    found.message = std::move(message);
    found.function = entry_.unit.functions[entry_.function].name;
    if (!help.empty()) {
      found.help.push_back(std::move(help));
    }
    out_.push_back(std::move(found));
  }

  void device_loop(std::uint32_t loop) {
    // In a template that nothing instantiates, what a dependent call does is not known.
    const std::uint32_t frame = graph_.blocks[graph_.loops[loop].header].frame;
    if (entry_.unit.functions[graph_.frames[frame].function].is_pattern ||
        !waits_.may_never_end(loop)) {
      return;
    }
    bool step = false;
    bool works = false;
    bool waits_volatile = false;
    bool sleeps = false;
    ValueId polled = no_value;
    waits_.each_in(loop, [&](ValueId id) {
      const Instruction& code = graph_.code[id];
      step = step || is_step(id) || code.may_synchronise; // a call that was not followed
      works = works || std::ranges::find(entry_.flow.writes, id) != entry_.flow.writes.end();
      if (code.op == Op::Load && waits_.is_volatile(id) && !waits_.is_private(code.operands[0])) {
        waits_volatile = true;
        polled = id;
      }
      if (code.op == Op::Known && code.effect == Effect::AtomicLoad) {
        polled = id;
      }
      sleeps = sleeps || (code.op == Op::Known &&
                          (code.effect == Effect::Sleep || code.effect == Effect::AtomicWait));
    });
    const Spot place = waits_.loop_spot(loop);
    if (!step) {
      // Where Clang could not read the step of a for statement, it drops it.
      const bool is_for = std::ranges::any_of(graph_.loops[loop].exits, [&](std::uint32_t exit) {
        return graph_.blocks[exit].end.construct == Construct::For;
      });
      if (is_for && entry_.unit.errors != 0) {
        return;
      }
      add("cuda_progress_loop",
          place,
          "this loop may run forever and takes no step that obliges the thread to make progress "
          "[STEP.4]",
          "read what it waits for with an atomic load of an object that is not on the thread's own "
          "stack");
      return;
    }
    if (waits_volatile && !works) {
      add("cuda_volatile_sync",
          graph_.code[polled].spot,
          "threads wait for each other through a volatile object: it orders nothing else",
          "use cuda::atomic_ref<T, scope>(object).load(cuda::memory_order_acquire)");
    } else if (polled != no_value && !works && !sleeps) {
      add("cuda_naive_spin",
          graph_.code[polled].spot,
          "this loop polls an atomic object without a pause",
          "offer the hardware a pause: cuda::atomic's wait(old), with notify_one or notify_all by "
          "the writer");
    }
  }

  void host_loop(std::uint32_t loop) {
    bool launched = false;
    bool calls = false;
    bool steps = false;
    ValueId polled = no_value;
    if (!waits_.may_never_end(loop)) {
      return;
    }
    waits_.each_in(loop, [&](ValueId id) {
      const Instruction& code = graph_.code[id];
      calls = calls || (code.op == Op::Known && code.effect == Effect::HostApi);
      // ++it: a function of the library, whose body is not read, may change the object.
      steps = steps || (code.op == Op::Known && code.effect == Effect::Pure &&
                        !code.operands.empty() && is_local_object(code.operands[0]));
      if ((code.op == Op::Known && code.effect == Effect::AtomicLoad) ||
          (code.op == Op::Load && entry_.flow.is_shared_load(id))) {
        polled = id;
      }
    });
    for (const std::uint32_t block : graph_.sequence) {
      for (ValueId i = graph_.blocks[block].first; i < graph_.blocks[block].last; ++i) {
        launched = launched || graph_.code[i].name == "<<<>>>" ||
                   graph_.code[i].name.starts_with("cudaLaunch");
      }
    }
    if (!launched || calls || steps || polled == no_value) {
      return;
    }
    add("cuda_progress_host_spin",
        waits_.loop_spot(loop),
        "the host waits for device memory without an API call in the loop: nothing obliges the "
        "kernel to start [API]",
        "call cudaStreamQuery in the loop, or synchronize before it");
  }

  bool is_local_object(ValueId address) const {
    const Instruction* code = entry_.flow.instruction(entry_.flow.resolve(address));
    return code != nullptr && code->op == Op::LocalAddress;
  }

  void legacy_atomic(ValueId id) {
    const Instruction& code = graph_.code[id];
    if (code.op != Op::Known || code.effect != Effect::AtomicUpdate || code.operands.size() < 2 ||
        code.spot.in_macro) {
      return;
    }
    const Instruction* operand = entry_.flow.instruction(entry_.flow.resolve(code.operands[1]));
    const bool zero = operand != nullptr && operand->op == Op::Constant && operand->number == 0;
    if (zero && (code.name == "atomicAdd" || code.name == "atomicOr" || code.name == "atomicXor")) {
      add("cuda_legacy_atomic",
          code.spot,
          fmt::format("'{}' with 0 is an atomic load in disguise, without an order", code.name),
          "write cuda::atomic_ref<T, cuda::thread_scope_device>(object).load(order)");
    }
    if (code.name == "atomicExch" && is_unused(id)) {
      add("cuda_legacy_atomic",
          code.spot,
          "'atomicExch' whose result nobody reads is an atomic store in disguise, without an order",
          "write cuda::atomic_ref<T, cuda::thread_scope_device>(object).store(value, order)");
    }
  }

  bool is_unused(ValueId id) const {
    for (const Value& value : entry_.flow.values) {
      if (std::ranges::find(value.operands, id) != value.operands.end()) {
        return false;
      }
    }
    return !is_returned(id) && std::ranges::none_of(graph_.sequence, [&](std::uint32_t block) {
      return entry_.uniformity.condition(block) == id;
    });
  }

  /// Its function hands it to whoever calls: what one caller does with it says nothing of others.
  bool is_returned(ValueId id) const {
    const ValueId result = entry_.flow.resolve(id);
    return std::ranges::any_of(graph_.code, [&](const Instruction& code) {
      if (code.op != Op::Store || code.operands.size() < 2 ||
          entry_.flow.resolve(code.operands[1]) != result) {
        return false;
      }
      const Instruction& place = graph_.code[code.operands[0]];
      return place.op == Op::LocalAddress &&
             std::ranges::any_of(graph_.frames, [&](const Frame& frame) {
               return place.number == frame.first_local;
             });
    });
  }

  const Entry& entry_;
  const Graph& graph_;
  const Waits waits_;
  std::vector<Found>& out_;
};

} // namespace

void check_other_rules(const Entry& entry, std::vector<Found>& out) {
  OtherRules(entry, out).run();
}

} // namespace heddle::lint
