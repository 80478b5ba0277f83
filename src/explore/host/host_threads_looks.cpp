// Implements host_threads.h: when a host thread comes back to where it was, what a state of all of
// them consists of, and what clocks show them.
#include "base/outside.h"
#include "explore/host/host_threads.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::explore {

bool HostThreads::worth_stopping_to_read(
    const void* address,
    std::size_t bytes,
    HostPosition& position
) {
  if (!eager_) {
    return true;
  }
  Thread& self = threads_[current_];
  inside_ = true; // what this allocates is nobody's business
  position = state_.capture();
  inside_ = false;
  complete(position);
  self.computing.begin();
  Hasher place;
  place.value(reinterpret_cast<std::uintptr_t>(address));
  place.value(position.stack_pointer);
  for (const std::uintptr_t pc : position.return_addresses) {
    place.value(pc);
  }
  Poll poll;
  poll.place = place.finish();
  poll.thread = state_.hash_alone(position, clock_, false);
  const Poll before = std::exchange(self.poll, poll);
  if (before.place != poll.place || before.thread == poll.thread) {
    return true;
  }
  // What the last read has found: nobody else has gone on since.
  poll.value = memory::AccessValue::at(address, bytes);
  poll.count = before.count > 1 && before.value != poll.value ? 1 : before.count + 1;
  self.poll = poll;
  self.stopped_since_yield = true;
  return poll.count < Poll::stops || poll.count % Poll::period == 0;
}

bool HostThreads::worth_stopping_to_yield() {
  const bool other = std::exchange(threads_[current_].stopped_since_yield, false);
  return !inside_ && !other;
}

void HostThreads::hash(Hasher& all) const {
  hash_with_times(clock_, all, [this](TimeNames& times, Hasher& hasher) {
    const auto number = [&](const auto* pointer) {
      hasher.value(reinterpret_cast<std::uintptr_t>(pointer));
    };
    for (unsigned id = 0; id < count_; ++id) {
      const Thread& thread = threads_[id];
      hasher.value(thread.state);
      hasher.value(thread.detached);
      if (thread.state == State::Ended) {
        number(thread.result);
      }
      if (thread.state != State::Live || thread.point == nullptr) {
        continue;
      }
      const HostPoint& point = *thread.point;
      hasher.value(point.kind);
      hasher.text(point.what);
      hasher.value(point.operands);
      hasher.value(thread.held);
      if (point.kind == HostPoint::Kind::Start) {
        hasher.value(reinterpret_cast<std::uintptr_t>(thread.start));
        number(thread.argument);
      }
      if (point.condition != nullptr) {
        hasher.value(ways(id));
      }
      if (point.sync != nullptr) {
        number(point.sync->object);
        hasher.value(point.sync->argument);
      }
      number(thread.waiter.object);
      hasher.value(thread.waiter.group);
      hasher.value(thread.waiter.woken);
      thread.looks.hash(hasher, clock_.now());
      hasher.value(thread.poll.count);
      const memory::AccessValue last =
          thread.poll.count > 1 ? thread.poll.value : memory::AccessValue();
      hasher.bytes(last.data(), last.bytes());
      state_.hash_thread(point.position, times, hasher);
    }
    clock_.hash(hasher);
    state_.hash_memory(times, hasher);
  });
}

// --- Origins ------------------------------------------------------------------------------------

/// Where the running thread goes on, with what it is given there.
std::uint64_t HostThreads::origin_at(const HostPosition& position, std::uint64_t given) const {
  return combined(state_.hash_alone(position, clock_, true).low, given);
}

void HostThreads::reads(const void* address, std::size_t bytes) {
  if (!inside_ && address != nullptr) {
    std::uint64_t& origin = threads_[current_].origin;
    origin = combined(origin, XXH3_64bits(address, bytes));
  }
}

void HostThreads::reads_on(HostPosition position, const void* address, std::size_t bytes) {
  goes_on_from(std::move(position), XXH3_64bits(address, bytes));
}

void HostThreads::came_back(std::uint64_t code) {
  goes_on_from({}, code);
}

/// The running thread goes on from there, if it is known where that is, with what it is given.
void HostThreads::goes_on_from(HostPosition position, std::uint64_t given) {
  if (inside_) {
    return;
  }
  inside_ = true; // what it takes to find out is no move
  if (position.stack_pointer == 0) {
    position = state_.capture();
  }
  complete(position);
  threads_[current_].origin = origin_at(position, given);
  scrub_stack();
  inside_ = false;
}

// --- Time ----------------------------------------------------------------------------------------

namespace {

/// So many times the time, and a part of that which is another one for each time: the low bits of a
/// time of the search are zero.
std::uint64_t stretched(std::uint64_t time, int bits) {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15;
  const std::uint64_t most = ~std::uint64_t{0} >> (bits + 2);
  return std::min(time, most) << bits | time * odd >> (64 - bits);
}

/// What a program is shown of a virtual time, where that is asked for otherwise. There are 63 us
/// between the first two looks of a search.
std::uint64_t seen_from_outside(std::uint64_t time) {
  constexpr int less = 16, some = 8, much = 14, more = 24; // 1 ns, 16 ms, 1 s, 18 minutes
  switch (outside_of_process()) {
  case FromOutside::Usual:
    break;
  case FromOutside::Less:
    return time >> less;
  case FromOutside::Some:
    return stretched(time, some);
  case FromOutside::Much:
    return stretched(time, much);
  case FromOutside::More:
    return stretched(time, more);
  }
  return time;
}

} // namespace

/// The running thread looks at a clock.
std::uint64_t HostThreads::look() {
  const HostPosition position = state_.capture();
  Hasher place;
  for (const std::uintptr_t address : position.return_addresses) {
    place.value(address);
  }
  place.value(position.stack_pointer);
  Thread& self = threads_[current_];
  const std::uint64_t shown = clock_.look_from(place.finish().low, self.looks);
  if (!self.looks.stand_still()) {
    self.poll = {}; // it does not only read
  }
  return HeddleMonotonicStart + seen_from_outside(shown);
}

/// It has waited until then.
void HostThreads::pass(std::uint64_t until) {
  if (!threads_[current_].looks.stand_still()) {
    clock_.pass(std::max(until, HeddleMonotonicStart) - HeddleMonotonicStart);
  }
}

} // namespace heddle::explore
