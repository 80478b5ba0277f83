#include "lint/alike.h"

#include "lint/uniformity.h"
#include "lint/warp_facts.h"

#include <algorithm>
#include <set>

namespace heddle::lint {

Alike::Alike(const Uniformity& uniformity)
    : uniformity_(uniformity),
      flow_(uniformity.flow),
      values_(flow_.values.size()),
      branches_(flow_.graph.blocks.size()),
      joins_(flow_.graph.blocks.size()),
      loops_(flow_.graph.loops.size()) {}

bool Alike::update(ValueId id) {
  if (values_[id] != 0 || !differs(id)) {
    return false;
  }
  values_[id] = 1;
  return true;
}

bool Alike::update_branch(std::uint32_t block) {
  if (branches_[block] != 0 || !seen_differs(uniformity_.condition(block), block)) {
    return false;
  }
  branches_[block] = 1;
  return true;
}

bool Alike::has_like_operands(ValueId id) const {
  return !any_operand_differs(id) && !has_other_lanes(flow_.values[id].block);
}

bool Alike::differs(ValueId id) const {
  const Value& value = flow_.values[id];
  if (uniformity_.is_uniform(id)) {
    return false;
  }
  switch (value.kind) {
  case Value::Kind::Initial:
    return true;
  case Value::Kind::Part:
    return any_operand_differs(id);
  case Value::Kind::Phi:
    return joins_[value.block] != 0 || any_operand_differs(id);
  case Value::Kind::Code:
    break;
  }
  return code_differs(id, flow_.graph.code[value.source]);
}

bool Alike::code_differs(ValueId id, const Instruction& code) const {
  switch (code.op) {
  case Op::Symbol:
    return code.symbol != Symbol::LaneIndex;
  case Op::Arithmetic:
    return !keeps_lane(uniformity_, id) && any_operand_differs(id);
  case Op::Load:
  case Op::CopyObject:
  case Op::Element:
  case Op::Field:
    return any_operand_differs(id);
  case Op::Known:
    break;
  default:
    return true;
  }
  switch (code.effect) {
  case Effect::Pure:
    return any_operand_differs(id);
  case Effect::WarpVote:
  case Effect::WarpReduce:
  case Effect::WarpShuffle:
  case Effect::WarpScan:
    return !has_like_operands(id);
  default:
    return true;
  }
}

bool Alike::any_operand_differs(ValueId id) const {
  const Value& value = flow_.values[id];
  return std::ranges::any_of(value.operands, [&](ValueId one) {
    return seen_differs(one, value.block);
  });
}

bool Alike::seen_differs(ValueId operand, std::uint32_t user) const {
  const Graph& graph = flow_.graph;
  operand = flow_.canonical(operand);
  if (values_[operand] != 0) {
    return true;
  }
  for (std::uint32_t loop = graph.blocks[flow_.values[operand].block].loop; loop != UINT32_MAX;
       loop = graph.loops[loop].parent) {
    if (graph.in_loop(user, loop)) {
      return false;
    }
    if (loops_[loop] != 0 && varies_in(flow_, operand, loop)) {
      return true;
    }
  }
  return false;
}

/// Do other lanes come here in one warp than in another? Not where whole warps stay away.
bool Alike::has_other_lanes(std::uint32_t block) const {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> work = flow_.graph.blocks[block].controllers;
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    if (!seen.insert(at).second) {
      continue;
    }
    if (branches_[at] != 0 && uniformity_.branch(at).possible > Level::Warp) {
      return true;
    }
    const auto& more = flow_.graph.blocks[at].controllers;
    work.insert(work.end(), more.begin(), more.end());
  }
  return false;
}

} // namespace heddle::lint
