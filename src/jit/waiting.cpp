// Implements waiting.h. What is computed here is what RegionBuilder::emit_branch makes.
#include "jit/waiting.h"

#include "jit/uniformity.h"

namespace heddle::jit {

Waiting::Waiting(const isa::Code& code, const std::vector<PlannedOp>& ops)
    : code_(code),
      ops_(ops),
      number_(ops.size(), none),
      some_(ops.size()) {
  std::vector<bool> possible(ops.size());
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    if (ops[k].kind == Kind::Branch) {
      const std::uint32_t target = code.ops[k].target;
      possible[target <= k ? k + 1 : target] = true;
    }
  }
  for (std::uint32_t k = 0; k < ops.size(); ++k) {
    if (possible[k]) {
      number_[k] = static_cast<std::uint32_t>(places_.size());
      places_.push_back(k);
    }
  }
  used_.resize(places_.size());
  sets_.assign(ops.size(), ptx::BitVector(places_.size()));
}

/// Lanes come to `op` while others may wait at these places, or there.
bool Waiting::add(std::uint32_t op, const ptx::BitVector& waiting) {
  ptx::BitVector others = waiting;
  if (number_[op] != none && others.test(number_[op])) {
    others.reset(number_[op]);
  }
  const bool grown = sets_[op].unite(others);
  some_[op] = some_[op] || grown;
  return grown;
}

bool Waiting::jump(std::uint32_t from, std::uint32_t to) {
  const auto passed = [&](std::uint32_t place) { return place > from && place < to; };
  ptx::BitVector open = sets_[from];
  bool stops = false;
  for (std::uint32_t n = 0; n < places_.size(); ++n) {
    stops = stops || (open.test(n) && passed(places_[n]));
  }
  if (!stops) {
    return add(to, open);
  }
  used_[number_[to]] = true;
  open.set(number_[to]);
  bool grown = false;
  for (std::uint32_t n = 0; n < places_.size(); ++n) { // the lowest one where somebody waits
    if (open.test(n)) {
      open.reset(n);
      grown = add(places_[n], open) || grown;
    }
  }
  return grown;
}

bool Waiting::follow(const std::function<bool(std::uint32_t op)>& parts) {
  bool grown = false;
  for (std::uint32_t k = 0; k + 1 < ops_.size(); ++k) {
    if (ops_[k].kind == Kind::Leave) {
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
    const bool forward = op.target > k;
    ptx::BitVector more = sets_[k];
    if (guarded && parts(k)) {
      const std::uint32_t place = number_[forward ? op.target : k + 1];
      used_[place] = true;
      more.set(place);
      if (forward) {
        grown = add(k + 1, more) || grown;
      }
    }
    grown = (forward ? jump(k, op.target) : add(op.target, more)) || grown;
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
