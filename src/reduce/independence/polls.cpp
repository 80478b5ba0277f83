#include "reduce/independence/polls.h"

#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "memory/access_value.h"
#include "ptx/effect.h"
#include "reduce/independence/any_value.h"

#include <algorithm>

namespace heddle::reduce {

using memory::AccessValue;
using ptx::Opcode;

std::optional<Polled> Polls::polled(const Lane& at) {
  isa::Warp& warp = warp_state(at).warp;
  isa::Frame& frame = *warp.frame[static_cast<std::size_t>(at.lane)];
  const isa::Op& op = *warp.pc[static_cast<std::size_t>(at.lane)];
  if (op.instruction >= frame.code->function->body.size()) {
    return std::nullopt;
  }
  const ptx::Instruction& i = frame.code->function->body[op.instruction];
  if (i.opcode != Opcode::Ld || !ptx::effect_of(i).is_strong() || i.guard || !i.type() ||
      i.one_of(ptx::Category::Vector) || trials_.rules.classify(at).kind != OperationKind::Access) {
    return std::nullopt;
  }
  const auto space = i.one_of(ptx::Category::Space);
  const auto bytes = static_cast<std::size_t>(std::max(ptx::type_bits(*i.type()), 8)) / 8;
  std::uint64_t addresses[isa::warp_size];
  Cluster& cluster = *at.work->clusters[at.cluster];
  trials_.exec.enter_block(cluster.block(at.block).exec_block());
  trials_.exec.select(warp, frame, isa::LaneMask{1} << at.lane);
  isa::addresses<isa::Space::Generic>(trials_.exec, op, addresses);
  const std::uint64_t address = addresses[at.lane];
  if ((space && *space != ptx::Mod::Global) ||
      address - memory::shared_window < memory::window_size) {
    if (space && *space != ptx::Mod::Shared && *space != ptx::Mod::SharedCta &&
        *space != ptx::Mod::SharedCluster) {
      return std::nullopt;
    }
    const auto place = shared_place(at, address, bytes);
    if (!place || cluster.block(place->first).ended()) {
      return std::nullopt; // it will fault
    }
    return Polled{cluster.block(place->first).shared() + place->second, bytes};
  }
  auto* const word = static_cast<std::byte*>(space_.host_pointer(address, bytes));
  return word != nullptr ? std::optional(Polled{word, bytes}) : std::nullopt;
}

/// The lane is about to read the word, which will not change: the state in which it comes to
/// something else; Hash128{} if it reads forever, nothing if that cannot be said. `places`: where
/// it reads.
std::optional<Hash128>
Polls::polls_until(Trial& trial, const Lane& at, const Polled& word, TrialPlaces& places) {
  for (ShortRecurrence circle; circle.size() < most_questions;) {
    if (!circle.is_new(trial.state())) {
      return Hash128{};
    }
    places.push_back(trial.here());
    if (!trial.go_on()) {
      return std::nullopt;
    }
    if (polled(at) != word) {
      return trial.state();
    }
  }
  return std::nullopt;
}

bool Polls::reads_in_vain(const Lane& at) {
  if (!tries_ || !Trial::possible(at)) {
    return false;
  }
  const std::optional<Polled> word = polled(at);
  if (!word) {
    return false;
  }
  const auto value = AccessValue::at(word->at, word->bytes);
  const Hash128 state = lane_by_itself(trials_.live, at);
  Hasher hasher;
  hasher.value(state);
  hasher.bytes(value.data(), value.bytes());
  hasher.value(reinterpret_cast<std::uintptr_t>(word->at));
  const std::uint64_t key = hasher.finish().low;
  if (const auto known = in_vain_.find(key); known != in_vain_.end()) {
    return known->second;
  }
  const auto try_out = [&] {
    Trial trial(trials_, at);
    const Trial::Here begin = trial.here();
    TrialPlaces places;
    if (polls_until(trial, at, *word, places) != Hash128{} || places.size() < 2) {
      return false;
    }
    for (Trial::Here& place : places) {
      place.notes = begin.notes;
    }
    return trials_.mutant == Mutant::PollsAnyEnd ||
           same_for_any_value(*this, trials_, trial, at, *word, places);
  };
  const bool result = try_out();
  in_vain_.emplace(key, result);
  return result;
}

} // namespace heddle::reduce
