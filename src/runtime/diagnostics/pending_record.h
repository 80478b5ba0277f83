// PendingRecord: which bytes of host memory a kernel has accessed, and where in its code.
//
//   record.note(at, 4, /*store=*/true, [&] { return place; });   // false: it is full
//   if (const auto* access = record.meets(at, /*store=*/false)) …
//
// Bounded: what comes after so many accesses, pages or places is not noted (misses). Not thread
// safe.
#pragma once

#include "isa/exec.h"
#include "machine/world.h"
#include "memory/address_space.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace heddle::runtime {

/// The line of the instruction that is executed, or of one before it.
machine::FaultReport place_in_kernel(const isa::Exec& exec);

class PendingRecord {
public:
  struct Access {
    machine::FaultReport place;
    bool store = false;
  };

  /// `op` tells instructions apart; `describe` is asked once for each.
  bool note(
      memory::Address at,
      std::uint32_t bytes,
      bool store,
      const void* op,
      const std::function<machine::FaultReport()>& describe
  );
  /// What conflicts with an access of the host there: a store, or if that is one, any access.
  const Access* meets(memory::Address at, bool store) const;
  /// Is anything noted of the pages of these bytes?
  bool has_any(memory::Address begin, memory::Address end) const;

private:
  static constexpr std::size_t page_bytes = 4096;
  struct Page { // by byte: one more than the number of the access; 0: none
    std::array<std::uint8_t, page_bytes> writer{}, reader{};
  };

  std::uint64_t noted_ = 0;
  std::map<memory::Address, std::unique_ptr<Page>> pages_;
  std::unordered_map<const void*, std::uint8_t> numbers_; // by op
  std::vector<Access> accesses_;
};

} // namespace heddle::runtime
