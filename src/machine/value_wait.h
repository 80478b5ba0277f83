// ValueWait: what a stream waits for in memory (CUDA driver API, "Stream Memory Operations").
//
//   ValueWait wait{&space, address, 4, 1, ValueWait::Condition::AtLeast};
//   if (wait.holds()) …          // the stream may go on
//   wait.describe()              // "until the 4 bytes at 0x… are at least 1; they hold 0"
//
// The documents do not say how often hardware looks. Here a wait may see each value, and need not
// see one that is gone when it looks. Memory that has been freed fulfils nothing.
#pragma once

#include "memory/address_space.h"

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::machine {

struct ValueWait {
  enum class Condition : std::uint8_t {
    AtLeast, // the difference, as a signed number, is not negative
    Equal,
    And, // a bit is set in both
    Nor  // a bit is set in none
  };
  const memory::AddressSpace* space = nullptr;
  memory::Address address = 0;
  std::uint32_t bytes = 4; // or 8; the address is a multiple
  std::uint64_t wanted = 0;
  Condition condition = Condition::AtLeast;

  bool holds() const;
  std::string describe() const;

private:
  std::optional<std::uint64_t> value() const;
};

} // namespace heddle::machine
