#include "lint/uniformity.h"

#include "lint/arithmetic.h"
#include "lint/unreadable.h"
#include "lint/warp_facts.h"

#include <algorithm>
#include <ranges>

namespace heddle::lint {
namespace {

constexpr std::uint32_t none = UINT32_MAX;
constexpr int deepest = 24;
constexpr std::uint32_t warp_size = 32;

bool may_be_provable(const Instruction& code) {
  switch (code.arithmetic) {
  case Operator::Less:
  case Operator::LessEqual:
  case Operator::Greater:
  case Operator::GreaterEqual:
    return true;
  case Operator::Equal:
  case Operator::NotEqual:
  case Operator::Subtract:
  case Operator::And:
  case Operator::Xor:
  case Operator::Divide:
  case Operator::ShiftRight:
  case Operator::Select:
    return !code.is_float;
  default:
    return false;
  }
}

Agreement both(Level level) {
  return {level, level};
}

/// How far the result of a barrier of `group` certainly differs: its threads hold the same, groups
/// do not where the operands are one value for each of them.
Level at_least(const Agreement& operands, Level group) {
  return operands.definite <= group ? operands.definite : Level::Grid;
}

/// What threads of `group` make together of operands: it differs for certain only where those do.
Agreement at_most(const Agreement& operands, Level group) {
  return {std::min(operands.definite, group), group};
}

/// A product with zero, a mask of no bits.
bool is_zero(const Dataflow& flow, ValueId id) {
  const Instruction& code = flow.graph.code[id];
  if (code.is_float ||
      (code.arithmetic != Operator::Multiply && code.arithmetic != Operator::And)) {
    return false;
  }
  return std::ranges::any_of(flow.values[id].operands, [&](ValueId one) {
    const Instruction* operand = flow.instruction(flow.canonical(one));
    return operand != nullptr && operand->op == Op::Constant && operand->number == 0;
  });
}

/// What an instruction amounts to or reads, through any number of joins. Most of what meets at
/// joins is never read.
std::vector<char> used_values(const Dataflow& flow) {
  std::vector<char> used(flow.values.size(), 0);
  std::vector<ValueId> work;
  const auto use = [&](ValueId id) {
    if (used[id] == 0) {
      used[id] = 1;
      work.push_back(id);
    }
  };
  for (ValueId i = 0; i < flow.values.size(); ++i) {
    if (i < flow.graph.code.size()) {
      use(i);
      use(flow.resolve(i));
    } else if (flow.values[i].kind != Value::Kind::Phi) {
      use(i);
    }
  }
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    use(flow.canonical(id));
    for (const ValueId operand : flow.values[id].operands) {
      use(operand);
    }
  }
  return used;
}

} // namespace

bool is_memory_barrier(const Instruction& code) {
  if (code.op != Op::Known) {
    return false;
  }
  if (code.may_synchronise) {
    return true; // misses what it does not separate, rather than suspect what it does
  }
  switch (code.effect) {
  case Effect::BlockBarrier:
  case Effect::BlockWait:
  case Effect::NamedBarrier:
  case Effect::ClusterBarrier:
  case Effect::ClusterWait:
  case Effect::GridBarrier:
  case Effect::GroupBarrier:
  case Effect::ObjectBarrier:
    return true;
  default:
    return false;
  }
}

LaunchFacts launch_facts(const Unit& unit, std::uint32_t entry) {
  LaunchFacts facts;
  facts.max_threads = unit.functions[entry].max_threads;
  facts.cluster_x = unit.functions[entry].cluster_x.value_or(0);
  bool known = false;
  bool flat_y = true;
  bool flat_z = true;
  std::optional<std::int64_t> size = 0;
  for (const Launch& launch : unit.launches) {
    if (launch.kernel != entry) {
      continue;
    }
    facts.size_x =
        known && facts.size_x != launch.block_size[0] ? std::nullopt : launch.block_size[0];
    known = true;
    facts.has_depth = facts.has_depth || launch.block_size[1].value_or(1) != 1 ||
                      launch.block_size[2].value_or(1) != 1;
    flat_y = flat_y && launch.block_size[1] == 1;
    flat_z = flat_z && launch.block_size[2] == 1;
    size = size && launch.block_size[0] ? std::optional(std::max(*size, *launch.block_size[0]))
                                        : std::nullopt;
  }
  facts.flat_y = known && flat_y;
  facts.flat_z = known && flat_z;
  if (!facts.max_threads && known && flat_y && flat_z && size && *size > 0) {
    facts.max_threads = static_cast<std::uint32_t>(*size);
  }
  return facts;
}

Uniformity::Uniformity(const Dataflow& dataflow, const LaunchFacts& launch)
    : flow(dataflow),
      facts(launch),
      alike_(*this),
      races_(*this),
      asserted_(dataflow) {
  const Graph& graph = flow.graph;
  levels_.resize(flow.values.size());
  causes_.resize(flow.values.size());
  branches_.resize(graph.blocks.size());
  conditions_.assign(graph.blocks.size(), no_value);
  joins_.resize(graph.blocks.size());
  join_causes_.assign(graph.blocks.size(), none);
  loops_.resize(graph.loops.size());
  loop_causes_.assign(graph.loops.size(), none);
  for (const std::uint32_t block : graph.sequence) {
    const GraphBlock& at = graph.blocks[block];
    if (at.end.kind == Terminator::Kind::Branch && at.end.condition != no_value) {
      conditions_[block] = flow.resolve(at.end.condition);
    }
  }
  swept_ = values_to_sweep();
  run();
}

// --- Fixpoint

void Uniformity::run() {
  do {
    do {
      sweep();
      changed_ = false; // values are settled; only branches bring something new
      update_branches();
    } while (changed_);
  } while (refute_assumptions());
}

void Uniformity::sweep() {
  for (bool again = true; again;) {
    again = false;
    for (const ValueId id : swept_) {
      again = update(id) || again;
    }
  }
}

/// Block by block what is joined there and what is computed there, then parts and initial values.
std::vector<ValueId> Uniformity::values_to_sweep() const {
  const Graph& graph = flow.graph;
  const std::vector<char> used = used_values(flow);
  std::vector<std::vector<ValueId>> phis(graph.blocks.size());
  std::vector<ValueId> result, others;
  for (ValueId i = 0; i < flow.values.size(); ++i) {
    if (flow.values[i].kind == Value::Kind::Phi && used[i] != 0) {
      phis[flow.values[i].block].push_back(i);
    } else if (flow.values[i].kind == Value::Kind::Part) {
      others.push_back(i);
    }
  }
  for (const std::uint32_t block : graph.sequence) {
    result.insert(result.end(), phis[block].begin(), phis[block].end());
    for (ValueId i = graph.blocks[block].first; i < graph.blocks[block].last; ++i) {
      const Op op = graph.code[i].op;
      const bool is_source = op == Op::Symbol || op == Op::Known;
      if (flow.resolve(i) == i && (is_source || !flow.values[i].operands.empty())) {
        result.push_back(i);
      }
    }
  }
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

bool Uniformity::refute_assumptions() {
  const Arithmetic arithmetic(*this);
  std::vector<ValueId> wrong;
  for (const ValueId id : assumed_) {
    if (!arithmetic.is_uniform(id)) {
      wrong.push_back(id);
    }
  }
  for (const ValueId id : wrong) {
    assumed_.erase(id);
    refuted_.insert(id);
  }
  return !wrong.empty();
}

bool Uniformity::update(ValueId id) {
  if (levels_[id] == both(Level::Thread)) { // nothing is above it, and its first cause stays
    return alike_.update(id);
  }
  Cause cause;
  Agreement now = evaluate(id, cause);
  const Instruction* code = flow.instruction(id);
  if (now.possible > Level::Block && code != nullptr && code->op == Op::Arithmetic &&
      may_be_provable(*code) && !refuted_.contains(id)) {
    assumed_.insert(id);
    now = both(Level::Block);
  }
  Agreement joined = levels_[id];
  joined.join(now);
  if (joined == levels_[id]) {
    return alike_.update(id);
  }
  // The first cause stays unless a definite one replaces a possible one.
  if (causes_[id].kind == Cause::Kind::None || joined.definite > levels_[id].definite ||
      levels_[id].possible <= Level::Block) {
    causes_[id] = cause;
  }
  levels_[id] = joined;
  alike_.update(id);
  return true;
}

bool varies_in(const Dataflow& flow, ValueId id, std::uint32_t loop, int depth) {
  const Value& value = flow.values[id];
  if (!flow.graph.in_loop(value.block, loop) || value.kind == Value::Kind::Initial) {
    return false;
  }
  if (depth > deepest) {
    return true;
  }
  if (value.kind == Value::Kind::Phi) {
    const ValueId only = flow.canonical(id);
    return only == id || varies_in(flow, only, loop, depth + 1);
  }
  const auto operands_vary = [&] {
    return std::ranges::any_of(value.operands, [&](ValueId one) {
      return varies_in(flow, one, loop, depth + 1);
    });
  };
  if (value.kind == Value::Kind::Part) {
    return operands_vary();
  }
  const Instruction& code = flow.graph.code[value.source];
  switch (code.op) {
  case Op::Constant:
  case Op::Undefined:
  case Op::Parameter:
  case Op::LocalAddress:
  case Op::GlobalAddress:
    return false;
  case Op::Symbol:
    return code.symbol == Symbol::Clock;
  case Op::Field:
  case Op::Element:
  case Op::Arithmetic:
    return operands_vary();
  case Op::Known:
    return code.effect != Effect::Pure || operands_vary();
  default:
    return true;
  }
}

/// The agreement about `operand` where it is used in block `from`: outside of the loop that made
/// it, threads that left at different trips hold different values.
Agreement Uniformity::seen(ValueId operand, std::uint32_t from, Cause& cause) const {
  // Explanations want this occurrence, not the first of several equal ones.
  const ValueId here = flow.instruction(operand) != nullptr ? operand : flow.canonical(operand);
  operand = flow.canonical(operand);
  Agreement result = levels_[operand];
  cause = {Cause::Kind::Operand, here, none};
  const Graph& graph = flow.graph;
  for (std::uint32_t loop = graph.blocks[flow.values[operand].block].loop; loop != none;
       loop = graph.loops[loop].parent) {
    if (graph.in_loop(from, loop)) {
      break;
    }
    if (loops_[loop].possible > result.possible || loops_[loop].definite > result.definite) {
      if (varies_in(flow, operand, loop)) {
        if (result.possible <= Level::Block ||
            (result.definite <= Level::Block && loops_[loop].definite > Level::Block)) {
          cause = {Cause::Kind::Loop, operand, loop};
        }
        result.join(loops_[loop]);
      }
    }
  }
  return result;
}

bool Uniformity::escapes_divergently(ValueId id, std::uint32_t user) const {
  const Graph& graph = flow.graph;
  for (std::uint32_t loop = graph.blocks[flow.values[id].block].loop; loop != none;
       loop = graph.loops[loop].parent) {
    if (graph.in_loop(user, loop)) {
      return false;
    }
    if (loops_[loop].possible > Level::Block && varies_in(flow, id, loop)) {
      return true;
    }
  }
  return false;
}

Agreement Uniformity::all_operands(ValueId id, Cause& cause) const {
  Agreement result;
  for (const ValueId operand : flow.values[id].operands) {
    Cause one;
    const Agreement agreement = seen(operand, flow.values[id].block, one);
    if (agreement.definite > result.definite ||
        (agreement.possible > result.possible && result.definite <= Level::Block)) {
      cause = one;
    }
    result.join(agreement);
  }
  return result;
}

Agreement Uniformity::evaluate(ValueId id, Cause& cause) {
  switch (flow.values[id].kind) {
  case Value::Kind::Initial:
    return {};
  case Value::Kind::Part:
    return part(id, cause);
  case Value::Kind::Phi:
    return phi(id, cause);
  case Value::Kind::Code:
    break;
  }
  return code(id, cause);
}

Agreement Uniformity::phi(ValueId id, Cause& cause) {
  const ValueId only = flow.canonical(id);
  if (only != id) {
    return seen(only, flow.values[id].block, cause);
  }
  const std::uint32_t block = flow.values[id].block;
  Agreement result = all_operands(id, cause);
  if (result.definite > Level::Warp && // an exchange, after all steps
      std::ranges::any_of(flow.values[id].operands, [&](ValueId one) {
        return exchanged_by_xor(flow, one) == id;
      })) {
    result = alike_.has_like_operands(id) ? at_most(result, Level::Block)
                                          : Agreement{Level::Warp, result.possible};
  }
  if (joins_[block].possible > result.possible || joins_[block].definite > result.definite) {
    // Threads meet here that came different ways; the same value on all ways is no difference.
    if (result.possible <= Level::Block ||
        (result.definite <= Level::Block && joins_[block].definite > Level::Block)) {
      cause = {Cause::Kind::Branch, no_value, join_causes_[block]};
    }
    result.join(joins_[block]);
  }
  if (result.definite > Level::Warp && exchanged_by_xor(flow, id) != no_value) {
    result.definite = Level::Warp; // if (other > x) x = other;
  }
  return result;
}

Agreement Uniformity::code(ValueId id, Cause& cause) {
  const Instruction& code = flow.graph.code[id];
  switch (code.op) {
  case Op::Symbol: {
    Level own = level(code.symbol);
    if ((code.symbol == Symbol::ThreadIndexY && facts.flat_y) ||
        (code.symbol == Symbol::ThreadIndexZ && facts.flat_z)) {
      own = Level::Grid;
    }
    // Clusters are taken to lie along x.
    if (code.symbol == Symbol::BlockIndexY || code.symbol == Symbol::BlockIndexZ) {
      own = Level::Cluster;
    }
    if (own == Level::Warp && facts.max_threads && *facts.max_threads <= warp_size) {
      own = Level::Block;
    }
    cause = {Cause::Kind::Source, no_value, none};
    return both(numbers_row(facts, code.symbol) ? std::min(own, Level::Warp) : own);
  }
  case Op::Known:
    return known(id, code, cause);
  case Op::Load:
  case Op::CopyObject:
    return flow.is_shared_load(id) ? shared_load(id, {}, cause) : all_operands(id, cause);
  case Op::Arithmetic: {
    if (is_zero(flow, id)) {
      return {};
    }
    Agreement result = all_operands(id, cause);
    if (result.definite > Level::Warp &&
        (drops_lane(*this, id) || compares_whole_warps(*this, id) ||
         exchanged_by_xor(flow, id) != no_value)) {
      result.definite = Level::Warp;
    }
    if (result.possible == Level::Block && numbers_cluster(flow, facts, id)) {
      result = both(Level::Cluster);
    }
    return result;
  }
  default:
    return all_operands(id, cause);
  }
}

Agreement Uniformity::known(ValueId id, const Instruction& code, Cause& cause) {
  const Agreement operands = all_operands(id, cause);
  const auto source = [&](Agreement agreement) {
    cause = {Cause::Kind::Source, no_value, none};
    return agreement;
  };
  const bool is_one_warp = facts.max_threads && *facts.max_threads <= warp_size;
  const auto of_warp = [&] {
    return is_one_warp || alike_.has_like_operands(id) ? Level::Block : Level::Warp;
  };
  switch (code.effect) {
  case Effect::BlockBarrier:
  case Effect::NamedBarrier:
    return source({at_least(operands, Level::Block), Level::Block});
  case Effect::ClusterBarrier:
    return source({at_least(operands, Level::Cluster), Level::Cluster});
  case Effect::WarpVote:
  case Effect::WarpReduce:
    return source(at_most(operands, of_warp()));
  case Effect::WarpShuffle:
  case Effect::WarpScan: {
    const auto& inputs = flow.values[id].operands;
    Cause ignored;
    if (inputs.size() >= 2 && code.name.find("shfl") != std::string::npos) {
      const Agreement moved = seen(inputs[1], flow.values[id].block, ignored);
      if (moved.possible <= Level::Block) {
        return moved;
      }
    }
    if (code.effect == Effect::WarpShuffle && inputs.size() >= 3) {
      const Agreement lane = seen(inputs[2], flow.values[id].block, ignored);
      return source(at_most(operands, lane.possible <= Level::Warp ? of_warp() : Level::Thread));
    }
    return source(at_most(operands, Level::Thread));
  }
  case Effect::AtomicUpdate:
  case Effect::Allocate:
    return source(both(Level::Thread));
  case Effect::AtomicLoad:
    return source({operands.definite, Level::Thread});
  case Effect::Unknown:
    // Code that Clang could not read is as uniform as its operands.
    return code.name == unreadable_expression ? operands : source({Level::Grid, Level::Thread});
  case Effect::ObjectBarrier:
  case Effect::HostApi:
  case Effect::GridBarrier:
  case Effect::BlockArrive:
  case Effect::ClusterArrive:
    return {};
  default:
    return operands;
  }
}

// --- Memory that threads share

/// Of an object that is copied as a whole each member is looked at by itself.
Agreement Uniformity::part(ValueId id, Cause& cause) {
  const Value& value = flow.values[id];
  const ValueId whole = value.operands[0];
  if (!flow.is_shared_load(whole) || levels_[whole].definite > Level::Block) {
    return all_operands(id, cause);
  }
  std::vector<LocationId> member;
  for (LocationId at = value.source; at != value.from[0]; at = flow.locations[at].parent) {
    member.push_back(at);
  }
  std::ranges::reverse(member);
  return shared_load(whole, member, cause);
}

Agreement Uniformity::shared_load(ValueId id, const std::vector<LocationId>& member, Cause& cause) {
  Agreement result = all_operands(id, cause);
  const Instruction& code = flow.graph.code[id];
  const ValueId address = flow.resolve(code.operands.back());
  Space space = Space::Global;
  bool is_volatile = code.is_volatile;
  for (const Target& target : flow.targets(address)) {
    space = flow.locations[target.location].space;
    is_volatile = is_volatile || flow.locations[target.location].is_volatile;
  }
  if (space == Space::Shared) {
    result.join({Level::Grid, Level::Block}); // each block has its own
  }
  if (result.possible > Level::Block || space == Space::Constant ||
      (member.empty() && levels_[id].possible > Level::Block)) { // it stays so
    return result;
  }
  if (is_volatile && space != Space::Shared) {
    cause = {Cause::Kind::Source, no_value, none};
    result.possible = Level::Thread;
    return result;
  }
  if (const auto write = races_.racing_write(id, member)) {
    cause = {Cause::Kind::Race, *write, none};
    result.possible = Level::Thread;
  }
  return result;
}

// --- Control

/// Blocks where threads that parted at `branch` meet on different ways.
const std::vector<std::uint32_t>& Uniformity::joins_of(std::uint32_t branch) {
  const auto [entry, is_new] = joins_of_.try_emplace(branch);
  if (!is_new) {
    return entry->second;
  }
  const Graph& graph = flow.graph;
  const std::uint32_t end = graph.blocks[branch].post_dominator;
  std::map<std::uint32_t, std::uint32_t> labels;
  std::set<std::pair<std::uint32_t, std::uint32_t>> work; // by order
  std::set<std::uint32_t> joins;
  const auto arrive = [&](std::uint32_t block, std::uint32_t label) {
    const auto [known, fresh] = labels.try_emplace(block, label);
    if (fresh) {
      work.insert({graph.blocks[block].order, block});
    } else if (known->second != label && known->second != block) {
      known->second = block; // from here on one way again, but another one
      joins.insert(block);
      work.insert({graph.blocks[block].order, block});
    }
  };
  std::uint32_t way = 0x8000'0000; // no block
  for (const std::uint32_t to : graph.blocks[branch].end.successors) {
    arrive(to, way++);
  }
  while (!work.empty()) {
    const std::uint32_t block = work.begin()->second;
    work.erase(work.begin());
    if (block == end || block == branch) {
      continue;
    }
    const std::uint32_t label = labels.at(block);
    for (const std::uint32_t to : graph.blocks[block].end.successors) {
      arrive(to, label);
    }
  }
  entry->second.assign(joins.begin(), joins.end());
  return entry->second;
}

void Uniformity::update_branches() {
  const Graph& graph = flow.graph;
  for (const std::uint32_t block : graph.sequence) {
    if (conditions_[block] == no_value) {
      continue;
    }
    Cause ignored;
    Agreement now = branches_[block];
    now.join(seen(conditions_[block], block, ignored));
    const bool lanes_differ = alike_.update_branch(block);
    if (now == branches_[block] && !lanes_differ) {
      continue;
    }
    branches_[block] = now;
    changed_ = true;
    for (const std::uint32_t join : joins_of(block)) {
      if (lanes_differ) {
        alike_.mark_join(join);
      }
      if (now.definite > joins_[join].definite ||
          (now.possible > joins_[join].possible && joins_[join].definite <= Level::Block)) {
        join_causes_[join] = block;
      }
      joins_[join].join(now);
    }
    for (std::uint32_t loop = graph.blocks[block].loop; loop != none;
         loop = graph.loops[loop].parent) {
      // Threads leave at different trips if some leave here and others stay.
      const bool decides = graph.leaves(block, loop) ||
                           std::ranges::any_of(graph.loops[loop].exits, [&](std::uint32_t exit) {
                             const auto& controllers = graph.blocks[exit].controllers;
                             return graph.blocks[exit].end.kind != Terminator::Kind::Branch &&
                                    graph.leaves(exit, loop) &&
                                    std::ranges::find(controllers, block) != controllers.end();
                           });
      if (decides) {
        if (now.definite > loops_[loop].definite || loops_[loop].possible <= Level::Block) {
          loop_causes_[loop] = block;
        }
        loops_[loop].join(now);
        if (lanes_differ) {
          alike_.mark_loop(loop);
        }
      }
    }
  }
}

bool Uniformity::is_control_uniform(std::uint32_t block, Level scope) const {
  std::set<std::uint32_t> seen_blocks;
  std::vector<std::uint32_t> work = flow.graph.blocks[block].controllers;
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    if (!seen_blocks.insert(at).second) {
      continue;
    }
    if (branches_[at].possible > scope) {
      return false;
    }
    const auto& more = flow.graph.blocks[at].controllers;
    work.insert(work.end(), more.begin(), more.end());
  }
  return true;
}

} // namespace heddle::lint
