// Implements search.h.
#include "search.h"

#include <map>

namespace heddle::simt {
namespace {

using reduce::Stepper;

class Search {
public:
  Search(
      test::Device& device,
      const machine::CommandPtr& command,
      const std::function<void()>& at_end
  )
      : device_(device),
        command_(command),
        at_end_(at_end) {}

  Explored run() {
    visit();
    result_.states = seen_.size();
    return result_;
  }

private:
  void visit() {
    const Hash128 hash = device_.fingerprint();
    const auto [entry, fresh] = seen_.try_emplace({hash.low, hash.high}, true);
    if (!fresh) {
      result_.may_hang = result_.may_hang || entry->second; // a circle
      return;
    }
    Stepper& stepper = device_.stepper();
    const Stepper::Mark mark = stepper.mark();
    const std::vector<Stepper::Move> moves = stepper.moves();
    if (moves.empty()) {
      (command_->done.load() ? result_.may_end : result_.may_hang) = true;
      if (at_end_ && command_->done.load()) {
        at_end_();
      }
    }
    for (const Stepper::Move& move : moves) {
      EXPECT_TRUE(stepper.step(move)) << stepper.failure()->report.fault.text;
      visit();
      stepper.undo_to(mark);
      EXPECT_EQ(stepper.fingerprint(), hash) << "it does not come back";
    }
    entry->second = false;
  }

  test::Device& device_;
  machine::CommandPtr command_;
  const std::function<void()>& at_end_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, bool> seen_; // true: on the path
  Explored result_;
};

} // namespace

Explored search(
    test::Device& device,
    const machine::CommandPtr& command,
    const std::function<void()>& at_end
) {
  return Search(device, command, at_end).run();
}

std::string as_ptx(const Program& program, const char* name) {
  const auto& body = program.functions.at(0).body;
  std::string text;
  int lists = 0;
  for (std::size_t n = 0; n < body.size(); ++n) {
    const Instruction& i = body[n];
    text += fmt::format("L{}: ", n);
    const auto cell = [&] { return fmt::format("[%rd1+{}]", 4 * i.value); };
    switch (i.operation) {
    case Operation::Assign:
      text += fmt::format("mov.u32 %r{}, {};\n", i.a, i.value);
      break;
    case Operation::LaneId:
      text += fmt::format("mov.u32 %r{}, %tid.x;\n", i.a);
      break;
    case Operation::BranchIf:
      text += fmt::format("setp.eq.s32 %p1, %r{}, {}; @%p1 bra L{};\n", i.a, i.value, i.target);
      break;
    case Operation::Switch: {
      std::string targets;
      for (const std::uint32_t target : i.targets) {
        targets += fmt::format("{}L{}", targets.empty() ? "" : ", ", target);
      }
      text += fmt::format("T{}: .branchtargets {};\n", lists, targets);
      text += fmt::format("brx.idx %r{}, T{};\n", i.a, lists++);
      break;
    }
    case Operation::Jump:
      text += fmt::format("bra L{};\n", i.target);
      break;
    case Operation::Exit:
      text += "exit;\n";
      break;
    case Operation::LoadStrong:
      text += fmt::format("ld.relaxed.gpu.s32 %r{}, {};\n", i.a, cell());
      break;
    case Operation::Store:
      text += fmt::format("st.relaxed.gpu.s32 {}, %r{};\n", cell(), i.a);
      break;
    case Operation::Exchange:
      text += fmt::format("atom.relaxed.gpu.exch.b32 %r{0}, {1}, %r{0};\n", i.a, cell());
      break;
    default:
      ADD_FAILURE() << "not in PTX";
    }
  }
  return fmt::format(
      ".visible .entry {}(.param .u64 p) {{\n.reg .pred %p<4>; .reg .b32 %r<{}>; .reg .b64 "
      "%rd<4>;\nld.param.u64 %rd1, [p];\n{}ret;\n}}\n",
      name,
      LaneState::registers,
      text
  );
}

} // namespace heddle::simt
