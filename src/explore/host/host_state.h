// What the host threads are doing: where they called us from, and everything that decides how they
// go on.
//
//   HostState host;                       // once, early
//   const HostPosition at = host.capture();   // on the program's stack, inside a call from it
//   Hasher h; host.hash_thread(at, times, h); host.hash_memory(times, h);
//                                         // equal fingerprints: the host goes on in the same way
//
// The state of a host thread is its position (return addresses, stack pointer, callee-saved
// registers of the innermost frame that is not Heddle's) and its stack from there to the outermost
// frame. Host threads share the writable data of the executable, and the heap bytes that they have
// written (told by the instrumentation), among them what is thread-local. Addresses must not differ
// between executions: address space randomisation has to be off. May be wrong: memory written by
// code that is not instrumented (libraries) and the C library's own state are not seen, so two
// states that differ only there are taken for one.
#pragma once

#include "base/hash.h"
#include "explore/host/time_names.h"

#include <ucontext.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace heddle::explore {

struct HostPosition {
  std::vector<std::uintptr_t> return_addresses; // in the program, innermost first, at most 16
  std::uintptr_t stack_pointer = 0;
  std::array<std::uintptr_t, 6> registers{}; // rbx rbp r12 r13 r14 r15
  std::array<std::uintptr_t, 9> others{};    // only of a thread that was interrupted
  std::uint64_t vectors = 0;    // the same: a hash of floating-point and vector registers
  std::uintptr_t stack_end = 0; // 0: the main thread's
};

class HostState {
public:
  HostState();

  /// Of the thread that runs.
  HostPosition capture() const;
  /// Of the thread that a signal has interrupted; nothing if it was not in the executable's code.
  std::optional<HostPosition> interrupted(const ucontext_t& context) const;
  // What goes through `times` is looked at twice where there are times (time_names.h).
  void hash_thread(const HostPosition& position, TimeNames& times, Hasher& hasher) const;
  void hash_memory(TimeNames& times, Hasher& hasher) const;
  /// A thread, and the memory that it shares, where it does not matter what the others are doing.
  Hash128 hash_alone(const HostPosition& position, const HostClock& clock, bool memory) const;

  /// Code of our own, which is not explored.
  bool ours(std::uintptr_t pc) const;

  /// Equal stacks of `bytes` each from `begin` on, `period` apart: writes there are no writes to
  /// the heap.
  void add_stacks(const void* begin, std::size_t count, std::size_t period, std::size_t bytes);

  /// Is what code at `pc` writes at `p` a matter of wrote()? Not what is looked at anyway, nor what
  /// code of our own does.
  bool remembers(const void* p, const void* pc) const;
  /// The program wrote these bytes.
  void wrote(const void* p, std::size_t bytes);
  void freed(const void* p, std::size_t bytes);

  /// Where `address` of the executable lies in its file, for addr2line; 0 if it lies elsewhere.
  std::uintptr_t link_address(std::uintptr_t address) const;

private:
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool contains(std::uintptr_t a) const { return a - begin < end - begin; }
  };
  bool on_stack(std::uintptr_t address) const;

  static constexpr std::size_t granule = 8, page = 4096;
  using Written = std::bitset<page / granule>;

  std::vector<Range> own_code_;
  std::vector<Range> data_; // writable segments of the executable
  Range program_;           // the whole executable
  std::uintptr_t load_bias_ = 0;
  Range stack_; // of the main thread
  Range other_stacks_;
  std::size_t stack_period_ = 1, stack_bytes_ = 0;
  std::map<std::uintptr_t, Written> heap_; // by page number
};

/// Clears the stack below the caller's frame.
void scrub_stack();

} // namespace heddle::explore
