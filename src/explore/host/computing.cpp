// Implements computing.h.
#include "explore/host/computing.h"

#include <algorithm>

namespace heddle::explore {

namespace {

constexpr greg_t trap_flag =
    0x100; // SIGTRAP comes after the next instruction (Intel SDM, 18.3.1.4)

/// Not where the program handles that signal, or blocks it. Both of ours have one handler.
bool may_step(const ucontext_t& context) {
  struct sigaction steps{}, looks{};
  return ::sigaction(SIGTRAP, nullptr, &steps) == 0 &&
         ::sigaction(SIGVTALRM, nullptr, &looks) == 0 && (steps.sa_flags & SA_SIGINFO) != 0 &&
         steps.sa_sigaction == looks.sa_sigaction &&
         ::sigismember(&context.uc_sigmask, SIGTRAP) == 0;
}

} // namespace

/// False: it has been there.
bool Computing::remember(const Hash128& here) {
  const auto end = known_.begin() + std::min<std::size_t>(looks_, known_.size());
  if (std::find(known_.begin(), end, here) != end) {
    return false;
  }
  known_[looks_++ % known_.size()] = here;
  return true;
}

/// One instruction later: has it come to the lowest address? The state is only asked for where it
/// may be that, or the first one again.
bool Computing::is_at_place(std::uintptr_t pc, const std::function<Hash128()>& state) {
  if (++count_ >= most_steps) {
    return pc != 0;
  }
  if (pc == 0 || (pc > lowest_.first && (is_round_ || pc != first_.first))) {
    return false;
  }
  const Hash128 hash = state();
  const At here{pc, {hash.low, hash.high}};
  is_round_ = is_round_ || here == first_;
  if (!is_round_) {
    lowest_ = std::min(lowest_, here);
  }
  return is_round_ && here == lowest_;
}

std::optional<long> Computing::interrupted(
    int signal,
    ucontext_t& context,
    std::uintptr_t pc,
    const std::function<Hash128()>& state
) {
  if (signal == SIGTRAP) {
    if (!steps_) { // it is the program's
      ::signal(SIGTRAP, SIG_DFL);
      ::raise(SIGTRAP);
    } else if (is_at_place(pc, state)) {
      left(context);
      return std::nullopt;
    }
    return 0;
  }
  if (pc == 0) {
    return between_looks_us / 10;
  }
  const Hash128 here = state();
  if (remember(here)) { // the time doubles with each eighth look, five times
    return between_looks_us << std::min(looks_ / 8, 5U);
  }
  if (!may_step(context)) {
    return std::nullopt;
  }
  first_ = lowest_ = {pc, {here.low, here.high}};
  count_ = 0;
  is_round_ = false;
  steps_ = true;
  context.uc_mcontext.gregs[REG_EFL] |= trap_flag;
  return 0;
}

long Computing::left(ucontext_t& context) {
  steps_ = false;
  context.uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
  return between_looks_us;
}

} // namespace heddle::explore
