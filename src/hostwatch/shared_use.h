// What the C library or the system keeps for all host threads together: how far an open file has
// been read, the state of rand(). Who comes first decides what each gets, so to use it is a
// scheduling point.
//
//   static SharedUse use;
//   use.next("takes a random number", __builtin_return_address(0));
//
// While every use is made with one mutex held, its own scheduling points are enough. Otherwise a
// thread stops before its first uses only: threads that read much, each from a file of its own,
// would have too many states. If others use it besides, the verdict says that orders are left out.
#pragma once

#include "hostwatch/hooks.h"

#include <cstdint>
#include <cstdio>

namespace heddle::hostwatch {

class SharedUse {
public:
  enum class Order : std::uint8_t {
    Matters,
    HardlyMatters
  }; // the verdict need not name it
  /// The running thread is about to use it, in code that returns to `pc`.
  void next(const char* what, const void* pc, Order order = Order::Matters);
  /// It is another one from now on.
  void forget() { *this = {}; }

private:
  static constexpr unsigned most_stops = 8;

  std::uint8_t stops_[HeddleMaxThreads]{};
  // For each thread how many threads had been made when it used it last, and 1; and when it did so
  // without a stop. 0: never.
  std::uint64_t used_[HeddleMaxThreads]{}, quietly_[HeddleMaxThreads]{};
  bool is_used_ = false;
  const void* mutex_ = nullptr; // held in all uses
};

/// A thread is about to be made, and has been made: it could not have used anything before. Of
/// others it is assumed that they could.
void thread_begins();
void thread_began(unsigned thread);

/// How far the file is read or written, which `descriptor` leads to.
SharedUse& position_of(int descriptor);
SharedUse& position_of(FILE* stream);
/// The program's own code, or a library's that is not Heddle's, under the explorer.
bool is_explored(const void* pc);
/// The program reads what is its input, if that is what `descriptor` leads to.
void reads_input(int descriptor, const void* pc);

} // namespace heddle::hostwatch
