// What the host thread is doing: where it called us from, and everything that decides how it goes
// on.
//
//   HostState host;                       // once, early
//   const HostPosition at = host.capture();   // on the program's stack, inside a call from it
//   Hasher h; host.hash(at, h);           // equal fingerprints: the host goes on in the same way
//
// The state of a host thread is its position (return addresses, stack pointer, callee-saved
// registers of the innermost frame that is not Heddle's), its stack from there to main's caller,
// the writable data of the executable, and the heap bytes that it has written (told by the
// instrumentation). Addresses must not differ between executions: address space randomisation has
// to be off. May be wrong: memory written by code that is not instrumented (libraries) and the C
// library's own state are not seen, so two states that differ only there are taken for one.
#pragma once

#include "base/hash.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace heddle::explore {

struct HostPosition {
  std::vector<std::uintptr_t> return_addresses; // in the program, innermost first, at most 16
  std::uintptr_t stack_pointer = 0;
  std::array<std::uintptr_t, 6> registers{}; // rbx rbp r12 r13 r14 r15
};

class HostState {
public:
  HostState();

  HostPosition capture() const;
  void hash(const HostPosition& position, Hasher& hasher) const;

  /// The program wrote these bytes (code of our own is recognised by `pc` and ignored).
  void wrote(const void* p, std::size_t bytes, const void* pc);
  void freed(const void* p, std::size_t bytes);

  /// Where `address` of the executable lies in its file, for addr2line; 0 if it lies elsewhere.
  std::uintptr_t link_address(std::uintptr_t address) const;

private:
  struct Range {
    std::uintptr_t begin = 0, end = 0;
    bool contains(std::uintptr_t a) const { return a - begin < end - begin; }
  };
  bool ours(std::uintptr_t pc) const;

  static constexpr std::size_t granule = 8, page = 4096;
  using Written = std::bitset<page / granule>;

  std::vector<Range> own_code_;
  std::vector<Range> data_; // writable segments of the executable
  Range program_;           // the whole executable
  std::uintptr_t load_bias_ = 0;
  std::uintptr_t stack_end_ = 0;
  std::map<std::uintptr_t, Written> heap_; // by page number
};

/// Calls f(argument) on another stack, so that what we leave behind on the program's own stack does
/// not depend on the exploration.
void call_on_stack(void* top, void (*f)(void*), void* argument);

/// Clears the stack below the caller's frame.
void scrub_stack();

} // namespace heddle::explore
