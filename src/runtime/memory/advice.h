// Advice: what cudaMemAdvise and cudaMemPrefetchAsync were told about managed memory, so that
// cudaMemRangeGetAttribute can answer it. It has no other effect on a virtual device.
//
// Kept by byte; hardware keeps it by page, so a program that asks for a part of a page of which it
// has advised another part gets another answer there.
#pragma once

#include "runtime/cudart.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace heddle::runtime {

/// Of a stretch of memory.
struct Advised {
  bool read_mostly = false;
  std::optional<cudaMemLocation> preferred;
  std::optional<cudaMemLocation> prefetched;
  std::set<int> accessed_by; // devices; cudaCpuDeviceId
};

/// Thread safe. Allocations are named by their id, which is never used again.
class Advice {
public:
  /// Calls change(Advised&) for bytes [begin, end) of an allocation.
  void update(
      std::uint64_t allocation,
      std::uint64_t begin,
      std::uint64_t end,
      const std::function<void(Advised&)>& change
  );
  /// Writes the attribute of bytes [begin, end) to `data`; cudaErrorInvalidValue for attributes and
  /// sizes that there are not.
  cudaError_t answer(
      std::uint64_t allocation,
      std::uint64_t begin,
      std::uint64_t end,
      cudaMemRangeAttribute attribute,
      std::span<std::int32_t> data
  ) const;

private:
  /// From its key to the next key, of what lies between two keys without a note nothing is known.
  using Stretches = std::map<std::uint64_t, Advised>;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Stretches> allocations_;
};

} // namespace heddle::runtime
