#include "lint/apart.h"

#include "lint/evaluate.h"
#include "lint/polynomial.h"

#include <algorithm>
#include <map>
#include <set>

namespace heddle::lint {
namespace {

constexpr int deepest = 16;
constexpr std::int64_t samples = 100;

} // namespace

/// Is this the addition of 0 to a pointer that an addition gives?
bool Apart::adds_nothing(ValueId id) const {
  const auto& operands = flow_.values[id].operands;
  const auto is_sum = [&](ValueId one) {
    const Instruction* code = flow_.instruction(one);
    return code != nullptr && code->op == Op::Element && !code->is_object;
  };
  const Instruction* index = flow_.instruction(flow_.canonical(operands[1]));
  return is_sum(id) && is_sum(operands[0]) && index != nullptr && index->op == Op::Constant &&
         index->number == 0;
}

Apart::Path Apart::path_of(ValueId address) const {
  Path path;
  ValueId id = address;
  for (int depth = 0; depth < deepest; ++depth) {
    const Instruction* code = flow_.instruction(id);
    const bool is_initial = flow_.values[id].kind == Value::Kind::Initial;
    if (code == nullptr && !is_initial) {
      return {};
    }
    // `mine = rows + threadIdx.x * 4` is a place within the section that begins at `rows`.
    if (path.section == no_value && flow_.names.contains(id) && uniform_(flow_.canonical(id))) {
      path.section = flow_.canonical(id);
    }
    if (is_initial || code->op == Op::GlobalAddress || code->op == Op::Parameter) {
      path.root = flow_.canonical(id);
      std::ranges::reverse(path.indices);
      return path;
    }
    if (code->op == Op::Element && adds_nothing(id)) {
      // *(p + i + 0): one index
    } else if (code->op == Op::Element) {
      path.indices.push_back(flow_.canonical(flow_.values[id].operands[1]));
    } else if (code->op == Op::Field) {
      path.indices.push_back(no_value);
    } else {
      return {};
    }
    id = flow_.values[id].operands[0];
  }
  return {};
}

bool Apart::never_meet(ValueId first, ValueId a, ValueId second, ValueId b) const {
  const Path one = path_of(a);
  const Path other = path_of(b);
  if (one.root == no_value || one.root != other.root) {
    return false;
  }
  if (one.section != no_value && other.section != no_value && one.section != other.section) {
    return true;
  }
  if (one.indices.size() != other.indices.size()) {
    return one.indices.size() < other.indices.size() ? lies_behind(one, other)
                                                     : lies_behind(other, one);
  }
  for (std::size_t i = 0; i < one.indices.size(); ++i) {
    if (one.indices[i] == no_value || other.indices[i] == no_value) {
      if (one.indices[i] != other.indices[i]) {
        return false;
      }
    } else if (
        indices_differ(first, one.indices[i], second, other.indices[i]) ||
        are_apart(first, one.indices[i], second, other.indices[i]) ||
        stays_below(first, one.indices[i], other.indices[i]) ||
        stays_below(second, other.indices[i], one.indices[i])
    ) {
      return true;
    }
  }
  return false;
}

/// `p[0]`, whose index adds nothing, and `p[1]`: the same place but for constants behind it.
bool Apart::lies_behind(const Path& at, const Path& behind) const {
  const auto constant = [&](ValueId id) {
    const Instruction* code = id == no_value ? nullptr : flow_.instruction(id);
    return code != nullptr && code->op == Op::Constant ? std::optional(code->number) : std::nullopt;
  };
  for (std::size_t i = 0; i < at.indices.size(); ++i) {
    const ValueId index = at.indices[i];
    if (index != behind.indices[i] ||
        (index != no_value && !constant(index) && !(uniform_(index) && is_given(flow_, index)))) {
      return false;
    }
  }
  std::int64_t sum = 0;
  for (std::size_t i = at.indices.size(); i < behind.indices.size(); ++i) {
    const auto number = constant(behind.indices[i]);
    if (!number || *number < 0) {
      return false;
    }
    sum += *number;
  }
  return sum > 0;
}

/// if (i < 128) table[i] = 0;   and   table[130]
bool Apart::stays_below(ValueId access, ValueId index, ValueId other) const {
  const auto constant = [&](ValueId id) -> std::optional<std::int64_t> {
    const Instruction* code = flow_.instruction(flow_.canonical(id));
    return code != nullptr && code->op == Op::Constant ? std::optional(code->number) : std::nullopt;
  };
  const auto limit = constant(other);
  if (!limit) {
    return false;
  }
  const auto& blocks = flow_.graph.blocks;
  std::uint32_t at = flow_.graph.block_of[access];
  for (std::uint32_t above = blocks[at].dominator; above != at && above != UINT32_MAX;
       at = above, above = blocks[at].dominator) {
    const Terminator& end = blocks[above].end;
    if (end.kind != Terminator::Kind::Branch || end.condition == no_value ||
        end.successors.size() != 2 || end.successors[0] != at || end.successors[1] == at ||
        blocks[at].predecessors.size() != 1) {
      continue;
    }
    const ValueId condition = flow_.canonical(flow_.resolve(end.condition));
    const Instruction* code = flow_.instruction(condition);
    const auto& operands = flow_.values[condition].operands;
    if (code != nullptr && code->op == Op::Arithmetic && code->arithmetic == Operator::Less &&
        operands.size() == 2 && flow_.canonical(operands[0]) == index &&
        constant(operands[1]).value_or(*limit + 1) <= *limit) {
      return true;
    }
  }
  return false;
}

bool Apart::indices_differ(ValueId first, ValueId a, ValueId second, ValueId b) const {
  std::vector<ValueId> leaves;
  if (!leaves_of(flow_, a, leaves) || !leaves_of(flow_, b, leaves) || leaves.size() != 1) {
    return false;
  }
  const ValueId leaf = leaves.front();
  const Value& source = flow_.values[leaf];
  if (!uniform_(leaf)) {
    return false;
  }
  // The values that the leaf may have at the second access, when it is x at the first.
  std::vector<ValueId> next;
  const unsigned trips = trips_(first, second, source.block);
  if ((trips & 4U) != 0) {
    return false;
  }
  if ((trips & 2U) != 0) {
    if (source.kind != Value::Kind::Phi) {
      return false;
    }
    next = source.operands;
  }
  std::vector<std::int64_t> tried = {1 << 10, (1 << 10) + 1, (1 << 20) + 1, (1 << 20) + 2};
  for (std::int64_t x = 0; x < samples; ++x) {
    tried.push_back(x);
  }
  return std::ranges::all_of(tried, [&](std::int64_t x) {
    const auto with = [&](ValueId id, std::int64_t number) {
      return evaluate(flow_, id, [&](ValueId one) {
        return one == leaf ? std::optional(number) : std::nullopt;
      });
    };
    const auto here = with(a, x);
    const auto differs = [&](std::optional<std::int64_t> later) {
      const auto there = later ? with(b, *later) : std::nullopt;
      return here && there && *here != *there;
    };
    return ((trips & 1U) == 0 || differs(x)) && std::ranges::all_of(next, [&](ValueId one) {
             // The value from before the loop does not come by the next trip.
             const Instruction* code = flow_.instruction(flow_.canonical(one));
             const bool from_outside =
                 code != nullptr && code->op == Op::Constant && next.size() > 1;
             return from_outside || differs(with(one, x));
           });
  });
}

/// The address from which memory gives the value, the same for all threads; no_value: it does not.
ValueId Apart::given_by_memory(ValueId leaf) const {
  for (int depth = 0; depth < deepest; ++depth) {
    leaf = flow_.canonical(leaf);
    const auto& operands = flow_.values[leaf].operands;
    if (flow_.values[leaf].kind == Value::Kind::Phi) { // int k = 0; if (t == 0) k = next[j];
      ValueId only = no_value;
      for (const ValueId one : operands) {
        const Instruction* code = flow_.instruction(flow_.canonical(one));
        if (code != nullptr && (code->op == Op::Constant || code->op == Op::Undefined)) {
          continue;
        }
        if (only != no_value && only != flow_.canonical(one)) {
          return no_value;
        }
        only = flow_.canonical(one);
      }
      if (only == no_value) {
        return no_value;
      }
      leaf = only;
      continue;
    }
    const Instruction* code = flow_.instruction(leaf);
    if (code == nullptr || code->op != Op::Load || !flow_.is_shared_load(leaf)) {
      return no_value;
    }
    const ValueId address = flow_.canonical(operands.back());
    return uniform_(address) ? address : no_value;
  }
  return no_value;
}

/// ids[last] and ids[last + 1], of what all threads of the block have alike
bool Apart::are_apart(ValueId first, ValueId a, ValueId second, ValueId b) const {
  Polynomial one(flow_, a);
  Polynomial other(flow_, b);
  std::set<ValueId> places[2];
  std::map<ValueId, ValueId> leaf_of; // the first leaf that each place gives
  std::map<ValueId, ValueId> names;
  bool settled = true; // the same in both threads, at both times
  for (const std::size_t i : {0, 1}) {
    for (const ValueId leaf : (i == 0 ? one : other).leaves()) {
      if (const ValueId place = given_by_memory(leaf); place != no_value) {
        places[i].insert(place);
        names[leaf] = leaf_of.try_emplace(place, leaf).first->second;
      } else {
        settled =
            settled && uniform_(leaf) &&
            (is_given(flow_, leaf) || (trips_(first, second, flow_.values[leaf].block) & ~1U) == 0);
      }
    }
  }
  return settled && (places[0] != places[1] ||
                     (one.renamed(names) - other.renamed(names)).is_never_zero(flow_));
}

} // namespace heddle::lint
