// Implements waiting.h. What is computed here is what RegionBuilder::emit_branch makes.
#include "jit/waiting.h"

#include "jit/uniformity.h"

namespace heddle::jit {

Waiting::Waiting(const isa::Code& code, const std::vector<PlannedOp>& ops, const analysis::Cfg& cfg)
    : code_(code),
      ops_(ops),
      cfg_(cfg),
      number_(ops.size(), none),
      some_(ops.size()),
      join_(ops.size(), none) {
  std::vector<bool> possible(ops.size());
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    if (ops[k].kind == Kind::Branch) {
      const std::uint32_t target = ops[k].target;
      possible[target] = true;
      possible[k + 1] = possible[k + 1] || target <= k;
    }
  }
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    if (possible[k]) {
      number_[k] = static_cast<std::uint32_t>(places_.size());
      places_.push_back(k);
    }
  }
  used_.resize(places_.size());
  sets_.assign(ops.size(), analysis::BitVector(places_.size()));
}

/// Lanes come to `op` while others may wait at these places, or there.
bool Waiting::add(std::uint32_t op, const analysis::BitVector& waiting) {
  analysis::BitVector others = waiting;
  if (number_[op] != none && others.test(number_[op])) {
    others.reset(number_[op]);
  }
  const bool grown = sets_[op].unite(others);
  some_[op] = some_[op] || grown;
  return grown;
}

bool Waiting::taken_waits(std::uint32_t branch) const {
  const std::uint32_t target = ops_[branch].target;
  return target > branch || join_[branch] == target;
}

std::vector<std::uint32_t> Waiting::before(std::uint32_t from, std::uint32_t to) const {
  const auto late = between_.find(to);
  const std::vector<bool>* between =
      to <= from && late != between_.end() && late->second[from] ? &late->second : nullptr;
  std::vector<std::uint32_t> result;
  for (std::uint32_t n = 0; n < places_.size(); ++n) {
    const std::uint32_t place = places_[n];
    const bool passed = to > from ? place > from && place < to
                                  : between != nullptr && place != to && (*between)[place];
    if (passed && sets_[from].test(n)) {
      result.push_back(place);
    }
  }
  return result;
}

bool Waiting::jump(std::uint32_t from, std::uint32_t to) {
  const std::vector<std::uint32_t> first = before(from, to);
  analysis::BitVector open = sets_[from];
  if (first.empty()) {
    return add(to, open);
  }
  used_[number_[to]] = true;
  open.set(number_[to]);
  bool grown = false;
  for (const std::uint32_t place : first) { // the first one where somebody waits
    open.reset(number_[place]);
    grown = add(place, open) || grown;
  }
  return add(to, open) || grown;
}

/// For a branch on which lanes part.
void Waiting::find_late_join(std::uint32_t branch) {
  if (join_[branch] != none) {
    return;
  }
  const auto& blocks = cfg_.blocks();
  const std::uint32_t from = cfg_.block_of(code_.ops[branch].instruction);
  const std::optional<std::uint32_t> meet = cfg_.immediate_post_dominator(from);
  if (!meet || *meet == cfg_.exit() || blocks[*meet].first > code_.ops[branch].instruction) {
    return;
  }
  std::vector<bool> inside(blocks.size() + 1);
  std::vector<std::uint32_t> open = blocks[from].successors;
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (block != *meet && block != cfg_.exit() && !inside[block]) {
      inside[block] = true;
      open.insert(open.end(), blocks[block].successors.begin(), blocks[block].successors.end());
    }
  }
  std::uint32_t join = none;
  for (std::uint32_t k = branch + 1; k-- > 0;) {
    if (code_.ops[k].instruction == blocks[*meet].first) {
      join = k; // the first op of that instruction
    }
  }
  if (join == none || number_[join] == none) {
    return; // nobody jumps there
  }
  join_[branch] = join;
  std::vector<bool>& between = between_[join];
  between.resize(ops_.size());
  between[branch] = true;
  for (std::uint32_t k = 0; k < ops_.size(); ++k) {
    const std::uint32_t instruction = code_.ops[k].instruction;
    if (instruction < code_.function->body.size() && inside[cfg_.block_of(instruction)]) {
      between[k] = true;
    }
  }
}

bool Waiting::follow(const std::function<bool(std::uint32_t op)>& parts) {
  bool grown = false;
  for (std::uint32_t k = 0; k + 1 < ops_.size(); ++k) {
    if (ops_[k].kind == Kind::Leave || ops_[k].kind == Kind::Return) {
      continue;
    }
    if (ops_[k].kind != Kind::Branch) {
      grown = add(k + 1, sets_[k]) || grown;
      continue;
    }
    const isa::Op& op = code_.ops[k];
    const bool guarded = (op.flags & isa::Guarded) != 0;
    if (guarded) {
      grown = add(k + 1, sets_[k]) || grown;
    }
    analysis::BitVector more = sets_[k];
    if (guarded && parts(k)) {
      find_late_join(k);
      const bool waits = taken_waits(k);
      const std::uint32_t place = number_[waits ? ops_[k].target : k + 1];
      used_[place] = true;
      more.set(place);
      if (waits) {
        grown = add(k + 1, more) || grown;
      } else {
        grown = add(ops_[k].target, more) || grown;
      }
    }
    grown = jump(k, ops_[k].target) || grown;
  }
  return grown;
}

std::vector<std::uint32_t> Waiting::at(std::uint32_t op) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t n = 0; n < places_.size(); ++n) {
    if (sets_[op].test(n)) {
      result.push_back(places_[n]);
    }
  }
  return result;
}

} // namespace heddle::jit
