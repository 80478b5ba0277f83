// Implements the part of stepper.h that is about loops that wait by reading one word again and
// again ([RED-POLLS]), if not each of their rounds is the same: a compiler has unrolled some, or
// the first ones do not sleep yet. libcu++ waits so for an atomic, with sixteen reads before the
// loop that sleeps.
//
// A read that finds what it has found before is then made without going on: the thread stays where
// it is, as in a loop of one read. That is as good as going on if from each of the reads that
// follow, up to where the thread goes round forever, it comes to the same state when the word
// changes. A thread is tried out for that, with some values that the word could have. (One that may
// wait for a deadline comes to something else: what the clock shows is chosen.)
//
// May be wrong: another value may tell the reads apart, so that in which of them it is seen makes a
// difference (it misses that, and the verdict says so). Not where the same is shown for any value
// (stepper_any_value.cpp); not yet for the waits of libcu++.
#include "isa/lower_memory_address.h"
#include "isa/ops_address.h"
#include "memory/access_value.h"
#include "ptx/strength.h"

#include "reduce/stepper_trial.h"

#include <algorithm>

namespace heddle::reduce {

using memory::AccessValue;
using ptx::Opcode;

namespace {

/// Some values that the word could have instead: each of its parts differs, or all of them do.
std::vector<AccessValue> others_than(const AccessValue& value) {
  std::vector<AccessValue> result;
  const auto add = [&](std::size_t first, std::size_t end, const auto& change) {
    AccessValue other = value;
    for (std::size_t n = first; n < end; ++n) {
      other.set_part(n, change(value.part(n)));
    }
    result.push_back(other);
  };
  using Change = std::uint64_t (*)(std::uint64_t);
  constexpr Change changes[] = {
      [](std::uint64_t v) { return v + 1; },
      [](std::uint64_t v) { return v - 1; },
      [](std::uint64_t v) { return ~v; },
      [](std::uint64_t) { return std::uint64_t{0}; },
      [](std::uint64_t) { return std::uint64_t{1}; },
      [](std::uint64_t) { return std::uint64_t{2}; },
      [](std::uint64_t v) { return v << 1; },
      [](std::uint64_t v) { return v ^ 0x80; }
  };
  for (const Change change : changes) {
    for (std::size_t n = 0; n < value.parts(); ++n) {
      add(n, n + 1, change);
    }
    if (value.parts() > 1) {
      add(0, value.parts(), change);
    }
  }
  return result;
}

} // namespace

/// What the lane is about to read; none: that is no strong read, or nobody chooses when it happens.
std::optional<Stepper::Polled> Stepper::polled(const Lane& at) const {
  isa::Warp& warp = warp_state(at).warp;
  isa::Frame& frame = *warp.frame[static_cast<std::size_t>(at.lane)];
  const isa::Op& op = *warp.pc[static_cast<std::size_t>(at.lane)];
  if (op.instruction >= frame.code->function->body.size()) {
    return std::nullopt;
  }
  const ptx::Instruction& i = frame.code->function->body[op.instruction];
  if (i.opcode != Opcode::Ld || !ptx::is_strong(i) || i.guard || !i.type() ||
      i.one_of(ptx::Category::Vector) || classify(at).kind != OperationKind::Access) {
    return std::nullopt;
  }
  const auto space = i.one_of(ptx::Category::Space);
  const auto bytes = static_cast<std::size_t>(std::max(ptx::type_bits(*i.type()), 8)) / 8;
  std::uint64_t addresses[isa::warp_size];
  Cluster& cluster = *at.work->clusters[at.cluster];
  exec_.enter_block(cluster.block(at.block).exec_block());
  exec_.select(warp, frame, isa::LaneMask{1} << at.lane);
  isa::addresses<isa::Space::Generic>(exec_, op, addresses);
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
  auto* const word = static_cast<std::byte*>(world_.space().host_pointer(address, bytes));
  return word != nullptr ? std::optional(Polled{word, bytes}) : std::nullopt;
}

/// The lane is about to read the word, which will not change: the state in which it comes to
/// something else; Hash128{} if it reads forever, nothing if that cannot be said. `places`: where
/// it reads.
std::optional<Hash128>
Stepper::polls_until(Trial& trial, const Lane& at, const Polled& word, Places* places) const {
  for (ShortRecurrence circle; circle.size() < most_questions;) {
    if (!circle.is_new(trial.state())) {
      return Hash128{};
    }
    if (places != nullptr) {
      places->push_back(trial.here());
    }
    if (!trial.go_on()) {
      return std::nullopt;
    }
    if (polled(at) != word) {
      return trial.state();
    }
  }
  return std::nullopt;
}

/// Does the lane, by reading the word as it is, come to nothing but to reading it again, whenever
/// it changes?
Vain Stepper::reads_in_vain(const Lane& at) const {
  if (!options_.eager || by_warps() || !Trial::possible(at)) {
    return Vain::No;
  }
  const std::optional<Polled> word = polled(at);
  if (!word) {
    return Vain::No;
  }
  const auto value = AccessValue::at(word->at, word->bytes);
  const Hash128 state = mutant_is(Mutant::PollsOfOthers) ? lane_state(at) : lane_by_itself(at);
  Hasher hasher;
  hasher.value(state);
  hasher.bytes(value.data(), value.bytes());
  hasher.value(reinterpret_cast<std::uintptr_t>(word->at));
  const std::uint64_t key = hasher.finish().low;
  if (const auto known = tried_out_.reads_in_vain.find(key);
      known != tried_out_.reads_in_vain.end()) {
    return known->second;
  }
  const auto try_out = [&] {
    Trial trial(*this, at, {word->at, word->bytes});
    const Trial::Here begin = trial.here();
    Places places;
    if (polls_until(trial, at, *word, &places) != Hash128{} || places.size() < 2) {
      return Vain::No;
    }
    if (mutant_is(Mutant::PollsAnyEnd)) {
      return Vain::ForAny;
    }
    const auto same_end = [&](const AccessValue& found) {
      std::optional<Hash128> end;
      found.write_to(word->at);
      for (Trial::Here& place : places) {
        place.notes = begin.notes;
        trial.back_to(place);
        const std::optional<Hash128> comes_to = polls_until(trial, at, *word, nullptr);
        if (!comes_to || end.value_or(*comes_to) != *comes_to) {
          return std::optional<Hash128>();
        }
        end = comes_to;
      }
      return end;
    };
    const bool some = std::ranges::all_of(others_than(value), [&](const AccessValue& other) {
      return same_end(other).has_value();
    });
    value.write_to(word->at);
    return !some ? Vain::No : same_for_any_value(trial, at, places) ? Vain::ForAny : Vain::ForSome;
  };
  const Vain result = try_out();
  value.write_to(word->at);
  tried_out_.reads_in_vain.emplace(key, result);
  return result;
}

} // namespace heddle::reduce
