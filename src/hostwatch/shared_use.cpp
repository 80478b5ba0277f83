// Implements shared_use.h; and the random numbers of the C library.
//
// May miss: other functions of the C library that threads may call at the same time although they
// share a state (strerror, getenv and setenv, locales).
#include "hostwatch/shared_use.h"

#include "hostwatch/hooks_internal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace heddle::hostwatch {

bool is_explored(const void* pc) {
  return hooks != nullptr && hooks->explores != nullptr && hooks->explores(pc);
}

namespace {
std::uint64_t made[HeddleMaxThreads]; // how many threads had been made when this one had
std::uint64_t made_until_now = 0;
} // namespace

void thread_begins() {
  ++made_until_now;
}

void thread_began(unsigned thread) {
  made[thread] = made_until_now;
}

void SharedUse::next(const char* what, const void* pc, Order order) {
  if (threads() == nullptr || !is_explored(pc) || hooks->alone()) {
    return;
  }
  const unsigned self = threads()->self();
  const void* const held = held_by(self);
  mutex_ = !is_used_ || mutex_ == held ? held : nullptr;
  is_used_ = true;
  const bool quiet = mutex_ != nullptr || stops_[self] == most_stops;
  if (!quiet) {
    ++stops_[self];
    wrote(stops_, sizeof stops_, pc);
    const HeddleHostPoint point{what, this, 0, nullptr, true};
    threads()->stop(&point, pc);
  }
  for (unsigned other = 0; other < HeddleMaxThreads; ++other) {
    const std::uint64_t last = quiet ? used_[other] : quietly_[other];
    if (other != self && mutex_ == nullptr && order == Order::Matters && last > made[self]) {
      leave_out(HeddleOrderOfUses);
    }
  }
  used_[self] = made_until_now + 1;
  if (quiet) {
    quietly_[self] = used_[self];
  }
}

SharedUse& position_of(int descriptor) {
  constexpr unsigned count = 64; // files that have one of these in common only make it stricter
  static SharedUse positions[count];
  return positions[static_cast<unsigned>(descriptor) % count];
}

SharedUse& position_of(FILE* stream) {
  return position_of(::fileno(stream));
}

void reads_input(int descriptor, const void* pc) {
  if (descriptor != STDIN_FILENO || hooks == nullptr || hooks->input == nullptr) {
    return;
  }
  struct stat status;
  const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  char name[64] = {}; // "/memfd:… (deleted)"
  if (is_file && ::readlink("/proc/self/fd/0", name, sizeof name - 1) > 0 &&
      std::strstr(name, heddle_piped_input_file) != nullptr) {
    hooks->input(HeddleSystem, heddle_piped_input, pc);
    return;
  }
  hooks->input(HeddleSystem, is_file ? "standard input" : "an empty standard input", pc);
}

} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

namespace {
SharedUse random_numbers, numbers_of_48_bits;
} // namespace

#define HEDDLE_RANDOM(state, type, function, parameters, ...)                                      \
  HEDDLE_EXPORT type function parameters noexcept {                                                \
    static decltype(&::function) real = nullptr;                                                   \
    (state).next("takes a random number", __builtin_return_address(0));                            \
    return real_function(real, #function)(__VA_ARGS__);                                            \
  }
HEDDLE_RANDOM(random_numbers, int, rand, ())
HEDDLE_RANDOM(random_numbers, long, random, ())
HEDDLE_RANDOM(random_numbers, void, srand, (unsigned seed), seed)
HEDDLE_RANDOM(random_numbers, void, srandom, (unsigned seed), seed)
HEDDLE_RANDOM(numbers_of_48_bits, double, drand48, ())
HEDDLE_RANDOM(numbers_of_48_bits, long, lrand48, ())
HEDDLE_RANDOM(numbers_of_48_bits, long, mrand48, ())
HEDDLE_RANDOM(numbers_of_48_bits, void, srand48, (long seed), seed)
