#include "lint/selection.h"

#include <algorithm>

namespace heddle::lint {
namespace {

constexpr std::size_t most_alike = 4;
constexpr std::size_t most_alike_of_large = 2;
constexpr std::size_t large = 5'000; // instructions, of an entry and all that it leads to

bool says_something(const Unit& unit, const Instruction& code) {
  if (code.op == Op::GlobalAddress) {
    return unit.globals[static_cast<std::size_t>(code.number)].space == Space::Shared;
  }
  if (code.op != Op::Known) {
    return false;
  }
  switch (code.effect) {
  case Effect::LibraryIo:
  case Effect::Trap:
  case Effect::ThreadExit:
  case Effect::Sleep:
  case Effect::Yield:
  case Effect::Copy:
  case Effect::Allocate:
  case Effect::Pure:
  case Effect::HostApi:
  case Effect::Unknown:
    return false;
  default:
    return true;
  }
}

/// Does some block lead back to one that led to it?
bool has_loop(const Function& function) {
  enum Mark : char {
    Unseen,
    Open,
    Closed
  };
  std::vector<Mark> marks(function.blocks.size(), Unseen);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}};
  marks[0] = Open;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const auto& successors = function.blocks[block].end.successors;
    if (next == successors.size()) {
      marks[block] = Closed;
      stack.pop_back();
      continue;
    }
    const std::uint32_t to = successors[next++];
    if (marks[to] == Open) {
      return true;
    }
    if (marks[to] == Unseen) {
      marks[to] = Open;
      stack.emplace_back(to, 0);
    }
  }
  return false;
}

} // namespace

Selection::Selection(const Unit& unit) : unit_(unit), bodies_(unit.functions.size()) {
  // What a function leads to, through any number of calls.
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
    const Function& function = unit.functions[i];
    bodies_[i].loops = !function.is_pattern && !function.blocks.empty() && has_loop(function);
    bodies_[i].synchronizes = std::ranges::any_of(function.code, [&](const Instruction& code) {
      return says_something(unit, code);
    });
  }
  std::vector<std::vector<std::uint32_t>> callers(bodies_.size());
  std::vector<std::uint32_t> work;
  for (std::uint32_t i = 0; i < bodies_.size(); ++i) {
    for (const Instruction& code : unit.functions[i].code) {
      if (code.op == Op::Call) {
        callers[static_cast<std::size_t>(code.number)].push_back(i);
      }
    }
    work.push_back(i);
  }
  while (!work.empty()) {
    const Body& at = bodies_[work.back()];
    const auto& above = callers[work.back()];
    work.pop_back();
    for (const std::uint32_t caller : above) {
      Body& one = bodies_[caller];
      const Body before = one;
      one.loops = one.loops || at.loops;
      one.synchronizes = one.synchronizes || at.synchronizes;
      if (one.loops != before.loops || one.synchronizes != before.synchronizes) {
        work.push_back(caller);
      }
    }
  }
}

bool Selection::is_worth(std::uint32_t entry) const {
  const Function& function = unit_.functions[entry];
  // Loops of functions for both sides are judged where a kernel calls them.
  return function.is_kernel || !function.is_device || bodies_[entry].synchronizes ||
         (bodies_[entry].loops && !function.is_host);
}

bool Selection::is_new(std::uint32_t entry) {
  const Function& function = unit_.functions[entry];
  if (!function.is_instantiation) {
    return true;
  }
  Alike& seen = alike_[{function.spot.file, function.spot.begin}];
  const std::size_t before = seen.statements.size();
  std::size_t size = 0;
  std::vector<std::uint32_t> leads_to = {entry};
  std::unordered_set<std::uint32_t> known = {entry};
  for (std::size_t i = 0; i < leads_to.size(); ++i) {
    const Function& one = unit_.functions[leads_to[i]];
    size += one.code.size();
    for (const Instruction& code : one.code) {
      seen.statements.insert(std::uint64_t{code.spot.file} << 32U | code.spot.begin);
      const auto called = static_cast<std::uint32_t>(code.number);
      if (code.op == Op::Call && known.insert(called).second) {
        leads_to.push_back(called);
      }
    }
  }
  const std::size_t most = size > large ? most_alike_of_large : most_alike;
  const bool analyse = seen.analysed < most || seen.statements.size() != before;
  seen.analysed += analyse ? 1 : 0;
  return analyse;
}

} // namespace heddle::lint
