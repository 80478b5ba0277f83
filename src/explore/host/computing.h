// Computing: a host thread that computes for long, and where it stands once that is an endless
// loop.
//
//   set_timer(thread.computing.first_look_us());         // whenever it goes on
//   … at SIGVTALRM, and at SIGTRAP: interrupted(signal, context, pc, state) …
//
// A timer interrupts it now and then. When its state is one that it has been in, it goes round
// forever. The timer may have come at any instruction of the loop, and nothing of the search must
// depend on which. So it goes on, one instruction at a time, to the one at the lowest address.
//
// A loop of more than `most_steps` instructions, and that of a program which handles or blocks
// SIGTRAP itself, is left where it is: its place depends on when it was interrupted.
#pragma once

#include "base/hash.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace heddle::explore {

class Computing {
public:
  /// It has stopped by itself.
  void begin() { looks_ = 0; }
  /// Time of the processor until the first signal.
  long first_look_us() const { return looks_ != 0 ? between_looks_us : patience_us; }

  /// At a signal: the time until the next one; 0: none has to be asked for; nothing: it stands
  /// here. `pc` is 0 outside the code of the program. `state` names where it stands, with its
  /// memory.
  std::optional<long> interrupted(
      int signal,
      ucontext_t& context,
      std::uintptr_t pc,
      const std::function<Hash128()>& state
  );
  /// The same in code of our own, as a part of which it has come to SIGTRAP: it is in no loop.
  long left(ucontext_t& context);

private:
  using At = std::pair<std::uintptr_t, std::pair<std::uint64_t, std::uint64_t>>;

  static constexpr long patience_us = 500'000, between_looks_us = 10'000;
  static constexpr std::uint32_t most_steps = 50'000; // a tenth of a second

  bool remember(const Hash128& here);
  bool is_at_place(std::uintptr_t pc, const std::function<Hash128()>& state);

  // Its states when it was interrupted, since it last stopped by itself: the last ones of `looks_`.
  // No memory of the heap, where the program's would come to lie elsewhere.
  std::array<Hash128, 40> known_{};
  unsigned looks_ = 0;
  // While it steps.
  bool steps_ = false, is_round_ = false; // it has been everywhere in its loop
  std::uint32_t count_ = 0;
  At first_, lowest_;
};

} // namespace heddle::explore
