#include "lint/groups.h"

#include <optional>
#include <set>

namespace heddle::lint {
namespace {

std::optional<Effect> barrier_of(const std::string& maker) {
  return maker == "cooperative_groups::this_thread_block" ? std::optional(Effect::BlockBarrier)
         : maker == "cooperative_groups::this_cluster"    ? std::optional(Effect::ClusterBarrier)
         : maker == "cooperative_groups::this_grid"       ? std::optional(Effect::GridBarrier)
                                                          : std::nullopt;
}

/// The barrier of all groups that the value may be; GroupBarrier: of none, or of different ones.
Effect kind_of(const Dataflow& flow, ValueId content) {
  std::optional<Effect> found;
  std::set<ValueId> seen;
  std::vector<ValueId> work = {content};
  while (!work.empty()) {
    const ValueId id = flow.canonical(work.back());
    work.pop_back();
    if (!seen.insert(id).second) {
      continue;
    }
    const Value& value = flow.values[id];
    const Instruction* code = flow.instruction(id);
    if (value.kind == Value::Kind::Phi || value.kind == Value::Kind::Part ||
        (code != nullptr && (code->op == Op::Load || code->op == Op::CopyObject))) {
      work.insert(work.end(), value.operands.begin(), value.operands.end());
      continue;
    }
    if (code != nullptr && code->op == Op::Undefined) {
      continue; // before its initialisation
    }
    const auto one =
        code != nullptr && code->op == Op::Known ? barrier_of(code->name) : std::nullopt;
    if (!one || (found && found != one)) {
      return Effect::GroupBarrier;
    }
    found = one;
  }
  return found.value_or(Effect::GroupBarrier);
}

} // namespace

void resolve_groups(Graph& graph, const Dataflow& flow) {
  for (Instruction& code : graph.code) {
    if (code.op == Op::Known && code.effect == Effect::GroupBarrier && code.operands.size() >= 2) {
      code.effect = kind_of(flow, flow.resolve(code.operands.back()));
    }
  }
}

} // namespace heddle::lint
