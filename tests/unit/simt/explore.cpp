// Implements explore.h.
#include "explore.h"

#include <bit>
#include <map>

namespace heddle::simt {
namespace {

std::string key_of(const LanguageCore& core, const Warp& warp) {
  std::string key;
  const auto add = [&key](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const Token& token : warp.stack) {
    add(token.mask);
    add(token.activation);
    add(token.pc);
    add(token.reconvergence);
  }
  add(warp.waits);
  for (const LaneState& lane : core.lanes) {
    add(lane.r);
    add(lane.waiting);
    add(lane.decisions);
    for (const Call& call : lane.calls) {
      add(call.activation);
      add(call.pc);
    }
    add(lane.calls.size());
  }
  for (std::size_t i = 0; i < core.block.cell.size(); ++i) {
    add(core.block.cell[i]);
    add(core.block.cache[i]);
  }
  add(core.block.cached);
  return key;
}

/// Answers as a list says, and the first choice beyond its end; the list grows to all that was
/// asked, so that next() can count through them.
class Enumerated final : public Choices {
public:
  int side(int n) override { return choose(n); }
  LaneOrder order(LaneMask lanes) override {
    LaneOrder order;
    for (; lanes != 0; lanes &= lanes - 1) {
      order.lanes[static_cast<std::size_t>(order.count++)] =
          static_cast<std::uint8_t>(std::countr_zero(lanes));
    }
    for (int i = 0; i + 1 < order.count; ++i) {
      const int with = i + choose(order.count - i);
      std::swap(
          order.lanes[static_cast<std::size_t>(i)],
          order.lanes[static_cast<std::size_t>(with)]
      );
    }
    return order;
  }
  void rewind() { at_ = 0; }
  bool next() {
    while (!list_.empty() && list_.back().first + 1 == list_.back().second) {
      list_.pop_back();
    }
    if (list_.empty()) {
      return false;
    }
    ++list_.back().first;
    return true;
  }

private:
  int choose(int n) {
    if (at_ == list_.size()) {
      list_.emplace_back(0, n);
    }
    return list_[at_++].first;
  }
  std::vector<std::pair<int, int>> list_; // answer, of how many
  std::size_t at_ = 0;
};

class Explorer {
public:
  explicit Explorer(const std::function<void(const LanguageCore&)>& at_end) : at_end_(at_end) {}

  Explored run(const LanguageCore& core) {
    LanguageCore first = core;
    const Warp warp = first.start();
    visit(first, warp);
    result_.states = seen_.size();
    return result_;
  }

private:
  enum class Mark : std::uint8_t {
    OnPath,
    Done
  };

  void visit(const LanguageCore& core, const Warp& warp) {
    const auto [entry, fresh] = seen_.try_emplace(key_of(core, warp), Mark::OnPath);
    if (!fresh) {
      result_.may_hang = result_.may_hang || entry->second == Mark::OnPath; // a circle
      return;
    }
    Enumerated choices;
    do {
      choices.rewind();
      LanguageCore after = core;
      Warp moved = warp;
      switch (step(moved, after, choices)) {
      case Stepped::Moved:
        visit(after, moved);
        break;
      case Stepped::Ended:
        result_.may_end = true;
        if (at_end_) {
          at_end_(core);
        }
        break;
      case Stepped::Waits:
      case Stepped::Failed:
        result_.may_hang = true; // nobody else is there to open the barrier
        break;
      }
    } while (choices.next());
    entry->second = Mark::Done;
  }

  const std::function<void(const LanguageCore&)>& at_end_;
  std::map<std::string, Mark> seen_;
  Explored result_;
};

Instruction make(Operation operation, int a, int value, std::uint32_t target = 0) {
  Instruction i;
  i.operation = operation;
  i.a = a;
  i.value = value;
  i.target = target;
  return i;
}

/// The access of one step of a progress test; the value seen is in register 1.
void append_access(std::vector<Instruction>& body, const ProgressTest::Step& step) {
  if (step.operation == 'l') {
    body.push_back(make(Operation::LoadStrong, 1, step.cell));
    return;
  }
  body.push_back(make(Operation::Assign, 1, step.write));
  body.push_back(
      make(step.operation == 's' ? Operation::Store : Operation::Exchange, 1, step.cell)
  );
}

} // namespace

Explored explore_lockstep(
    const LanguageCore& start,
    const std::function<void(const LanguageCore&)>& at_end
) {
  return Explorer(at_end).run(start);
}

std::size_t count_independent(const LanguageCore& start) {
  std::map<std::string, LanguageCore> seen;
  std::vector<const LanguageCore*> todo;
  const auto add = [&](const LanguageCore& core) {
    const auto [entry, fresh] = seen.try_emplace(key_of(core, {}), core);
    if (fresh) {
      todo.push_back(&entry->second);
    }
  };
  add(start);
  while (!todo.empty()) {
    const LanguageCore* core = todo.back();
    todo.pop_back();
    for (std::size_t lane = 0; lane < core->lanes.size(); ++lane) {
      LanguageCore after = *core;
      if (after.step_alone(static_cast<int>(lane))) {
        add(after);
      }
    }
  }
  return seen.size();
}

Program own_code(const ProgressTest& test) {
  Program program;
  program.cells = 4;
  auto& body = program.functions.emplace_back().body;
  body.push_back(make(Operation::LaneId, 0, 0));
  body.push_back(make(Operation::Switch, 0, 0));
  std::vector<std::uint32_t> entries;
  for (const auto& thread : test.threads) {
    std::vector<std::uint32_t> places;
    std::vector<std::pair<std::size_t, std::uint32_t>> branches;
    for (const ProgressTest::Step& step : thread) {
      places.push_back(static_cast<std::uint32_t>(body.size()));
      append_access(body, step);
      if (step.operation != 's') {
        branches.emplace_back(body.size(), step.to);
        body.push_back(make(Operation::BranchIf, 1, step.branch_if));
      }
    }
    places.push_back(static_cast<std::uint32_t>(body.size()));
    body.push_back(make(Operation::Exit, 0, 0));
    for (const auto& [at, to] : branches) {
      body[at].target = places[to];
    }
    entries.push_back(places.front());
  }
  body[1].targets = entries;
  program.finish();
  return program;
}

Program shared_loop(const ProgressTest& test) {
  Program program;
  program.cells = 4;
  auto& body = program.functions.emplace_back().body;
  // Register 2: which instruction of which thread comes next.
  constexpr int head = 3;
  std::vector<int> first;
  int count = 0;
  for (const auto& thread : test.threads) {
    first.push_back(count);
    count += static_cast<int>(thread.size()) + 1;
  }
  body.push_back(make(Operation::LaneId, 0, 0));
  body.push_back(make(Operation::Switch, 0, 0)); // to the start of each thread
  body.push_back(make(Operation::Jump, 0, 0, head));
  body.push_back(make(Operation::Switch, 2, 0)); // the loop's head
  std::vector<std::uint32_t> cases;
  const auto go_to = [&body](int next) {
    body.push_back(make(Operation::Assign, 2, next));
    body.push_back(make(Operation::Jump, 0, 0, head));
  };
  for (std::size_t t = 0; t < test.threads.size(); ++t) {
    for (std::size_t n = 0; n < test.threads[t].size(); ++n) {
      const ProgressTest::Step& step = test.threads[t][n];
      cases.push_back(static_cast<std::uint32_t>(body.size()));
      append_access(body, step);
      if (step.operation != 's') {
        const auto taken = static_cast<std::uint32_t>(body.size() + 3);
        body.push_back(make(Operation::BranchIf, 1, step.branch_if, taken));
      }
      go_to(first[t] + static_cast<int>(n) + 1);
      if (step.operation != 's') {
        go_to(first[t] + static_cast<int>(step.to));
      }
    }
    cases.push_back(static_cast<std::uint32_t>(body.size()));
    body.push_back(make(Operation::Exit, 0, 0));
  }
  std::vector<std::uint32_t> starts;
  for (std::size_t t = 0; t < test.threads.size(); ++t) {
    starts.push_back(static_cast<std::uint32_t>(body.size()));
    go_to(first[t]);
  }
  body[1].targets = starts;
  body[head].targets = cases;
  program.finish();
  return program;
}

} // namespace heddle::simt
