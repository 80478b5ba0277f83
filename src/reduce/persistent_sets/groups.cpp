// Implements groups.h.
#include "reduce/persistent_sets/groups.h"

#include "reduce/states/stepper_work.h"

#include <algorithm>

namespace heddle::reduce {

using Kind = ptx::Effect::Kind;

/// May others notice more of the instruction than that its thread arrives somewhere, or ends?
static bool is_noticed(const ptx::Effect& effect) {
  switch (effect.kind) {
  case Kind::Call:
  case Kind::Object:
  case Kind::WarpWide:
  case Kind::ActiveLanes: // which lanes it names depends on what these have done
  case Kind::Mbarrier:
  case Kind::Copy:
  case Kind::Other:
    return true;
  default:
    return effect.reads() || effect.writes();
  }
}

Groups::Target Groups::target_of(const Move& move) const {
  if (!move.thread || move.through || move.endless) {
    return {};
  }
  const Work& work = *parts_.machine.works[move.work];
  const Operation& operation = work.images[move.cluster]->ready[move.ready].operation;
  const auto& body = move.code->function->body;
  if (move.op->instruction >= body.size()) {
    return {}; // the end of the text
  }
  const ptx::Effect& effect = ptx::effect_of(body[move.op->instruction]);
  if (operation.kind == OperationKind::Clock) {
    return {};
  }
  if (move.heap || move.lanes != 0 ||
      (effect.is_access() ? operation.bytes == 0 : is_noticed(effect))) {
    return {.is_known = false, .places = {}};
  }
  if (!effect.is_access()) {
    return {};
  }
  constexpr std::uint64_t granule = 4;
  Target target;
  for (std::uint64_t g = operation.place / granule;
       g <= (operation.place + operation.bytes - 1) / granule;
       ++g) {
    target.places.push_back(
        operation.is_shared ? combine(work.identity, move.cluster, g).low | 1 : g << 1
    );
  }
  return target;
}

Meetings::Who Groups::maker_of(const Move& move) const {
  const Work& work = *parts_.machine.works[move.work];
  return {
      work.identity,
      static_cast<std::uint32_t>(move.cluster),
      static_cast<std::uint32_t>(thread_of(work, move))
  };
}

void Groups::note(std::span<const Move> moves) {
  for (const Move& move : moves) {
    const Target target = target_of(move);
    if (!target.is_known) {
      meetings_.comes_anywhere();
    }
    for (const Meetings::Place place : target.places) {
      meetings_.comes(place, maker_of(move));
    }
  }
}

/// The grid that is under way, if whatever else is not complete begins after its end. Then no host
/// thread goes on before that end, unless it asks for values in memory.
const Work* Groups::only_grid() const {
  const Work* only = nullptr;
  for (const auto& work : parts_.machine.works) {
    if (work->done) {
      continue;
    }
    if (work->ready && (only != nullptr || !work->kernel())) {
      return nullptr;
    }
    only = work->ready ? work.get() : only;
  }
  const auto is_after = [&](const auto& work) {
    return work->done || work.get() == only ||
           Works::before(work->command).contains(only->command.get());
  };
  return only != nullptr && std::ranges::all_of(parts_.machine.works, is_after) ? only : nullptr;
}

/// Has the thread ended? Those of other grids have, or come after this one.
bool Groups::is_over(const Work& work, const Meetings::Who& who) const {
  return who.grid != work.identity || who.cluster >= work.images.size() ||
         who.thread >= work.images[who.cluster]->threads.size() ||
         work.images[who.cluster]->threads[who.thread] == 0;
}

/// The move, those of all whom its thread may meet where it stands, and so on. None: one of them
/// stands nowhere.
std::vector<std::size_t> Groups::group_of(std::size_t seed) const {
  std::vector<std::size_t> group{seed};
  for (std::size_t n = 0; n < group.size(); ++n) {
    for (const Meetings::Place place : targets_[group[n]].places) {
      for (const Meetings::Who& who : meetings_.those_at(place)) {
        if (is_over(*work_, who)) {
          continue;
        }
        const auto move = move_of_.find({who.cluster, who.thread});
        if (move == move_of_.end()) {
          if (parts_.mutant_is(Mutant::GroupsForgetWaiting)) {
            continue;
          }
          return {};
        }
        if (std::ranges::find(group, move->second) == group.end() &&
            (!parts_.mutant_is(Mutant::GroupsOfOnePlace) || n == 0)) {
          group.push_back(move->second);
        }
      }
    }
  }
  return group;
}

std::vector<std::size_t>
Groups::one_group(std::span<const Move> moves, std::optional<std::size_t> with) {
  if (meetings_.all_may_come()) {
    return {};
  }
  work_ = only_grid();
  if (work_ == nullptr) {
    return {};
  }
  targets_.clear();
  move_of_.clear();
  for (std::size_t m = 0; m < moves.size(); ++m) {
    targets_.push_back(target_of(moves[m]));
    if (moves[m].thread && !targets_[m].places.empty()) {
      const Meetings::Who who = maker_of(moves[m]);
      if (!move_of_.emplace(std::pair(who.cluster, who.thread), m).second) {
        return {}; // there are two ways to make its access
      }
    }
  }
  std::vector<std::size_t> best;
  for (std::size_t m = with.value_or(0); m < moves.size() && best.size() != 1; ++m) {
    if (!targets_[m].places.empty()) {
      std::vector<std::size_t> group = group_of(m);
      // A small one first: what is left of a group goes before others begin.
      best =
          !group.empty() && (best.empty() || group.size() < best.size()) ? std::move(group) : best;
    }
    if (with) {
      break;
    }
  }
  if (best.size() == moves.size()) {
    return {};
  }
  for (const std::size_t member : best) {
    for (const Meetings::Place place : targets_[member].places) {
      meetings_.rely_on(place);
    }
  }
  return best;
}

} // namespace heddle::reduce
