// HostCopies: what the host has copied from devices although nobody has written it.
//
//   copies.copied(to, area, offset, bytes, "cudaMemcpy in the default stream");
//   if (const HostCopies::Copy* copy = copies.read(address, 4)) …      // host code uses it
//
// A copy is no defect: the end of a buffer is often copied with the rest. Host code that reads such
// a value uses it. What host code writes, and memory that it frees, is forgotten, as is what no
// longer has the value that was copied: code that is not instrumented writes, too. Thread-safe.
//
// May be wrong in this direction: a read that touches a written byte as well is left alone (padding
// of a structure that is copied), as are reads of more than 16 bytes (copies); host code that is
// not instrumented is not seen (misses). A loop that copies element by element counts as a use.
#pragma once

#include "unwritten/memory.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace heddle::unwritten {

class HostCopies {
public:
  struct Copy {
    std::string by;     // "cudaMemcpy in the default stream"
    std::string memory; // what it read: "allocation …"
    std::optional<memory::Allocation> allocation = {};
  };
  /// Called with each piece of memory that is of interest from now on.
  void on_memory(std::function<void(memory::Address, std::uint64_t)> call) {
    on_memory_ = std::move(call);
  }
  /// Where bytes of an area go, and their values.
  struct Row {
    const Area& from;
    std::uint64_t offset = 0;
    const std::byte* values = nullptr;
    memory::Address to = 0;
    std::uint64_t bytes = 0;
  };
  /// `describe` is called if somebody has not written all of them.
  void copied(const Row& row, const std::function<Copy()>& describe);
  void written(memory::Address at, std::uint64_t bytes);
  /// Nothing: somebody has written some of the bytes, or they do not come from a device.
  std::optional<Copy> read(memory::Address at, std::uint64_t bytes) const;

private:
  struct Kept {
    Copy copy;
    memory::Address to = 0;
    std::vector<std::byte> values;
  };
  struct Piece {
    memory::Address end = 0;
    std::size_t copy = 0;
  };
  void forget(memory::Address begin, memory::Address end);

  mutable std::mutex mutex_;
  std::function<void(memory::Address, std::uint64_t)> on_memory_;
  std::vector<Kept> copies_;
  std::map<memory::Address, Piece> pieces_; // by their beginning; apart
};

} // namespace heddle::unwritten
