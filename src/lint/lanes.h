// lanes.h: what single threads of a block compute and where they go, as far as it follows from
// their index alone. For rules about warps, where "differs between threads" is not enough.
//
//   Lanes lanes(entry);
//   lanes.takes_part(block, 17) == Lanes::Part::Out        // thread 17 never gets there
//   lanes.value(mask, 17)                                   // what it computes, if that is known
//
// Values are those of constants and of the thread's index; what depends on memory, parameters and
// trips of loops is not known. Integer widths are not modelled: where they could matter (negative
// differences, right shifts of negative values) the value is not known either.
#pragma once

#include "lint/check.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace heddle::lint {

class Lanes {
public:
  static constexpr unsigned warp_size = 32;

  explicit Lanes(const Entry& entry);

  enum class Part : std::uint8_t {
    Out,
    Maybe,
    In
  };
  /// How many threads are looked at; 0: their lanes do not follow from threadIdx.x.
  unsigned threads() const { return threads_; }
  std::optional<std::int64_t> value(ValueId id, unsigned thread);
  Part takes_part(std::uint32_t block, unsigned thread);
  /// The root of an address and the indices below it.
  struct Address {
    LocationId root = no_location;
    std::vector<std::int64_t> path;
    auto operator<=>(const Address&) const = default;
  };
  std::optional<Address> address(ValueId id, unsigned thread);

private:
  std::optional<std::int64_t> compute(ValueId id, unsigned thread, int depth);
  std::optional<std::int64_t> known(ValueId id, unsigned thread, int depth);
  std::optional<std::int64_t> join(const Value& phi, unsigned thread, int depth);
  const std::vector<Part>& parts(unsigned thread);

  const Entry& entry_;
  unsigned threads_ = 0;
  bool is_linear_ = true; // lanes follow threadIdx.x
  std::vector<std::unordered_map<ValueId, std::optional<std::int64_t>>> values_; // by thread
  // Blocks of which each hands over to the next are one chain: a thread comes to all or to none.
  std::vector<std::uint32_t> chain_of_;  // by block
  std::vector<std::uint32_t> chain_end_; // by chain: its last block
  std::vector<std::vector<Part>> parts_; // by thread, by chain
};

} // namespace heddle::lint
