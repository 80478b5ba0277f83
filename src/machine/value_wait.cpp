// Implements value_wait.h.
#include "machine/value_wait.h"

#include <fmt/format.h>

namespace heddle::machine {

std::optional<std::uint64_t> ValueWait::value() const {
  const memory::Range range = space->find_range(address);
  if (range.size == 0) {
    return std::nullopt;
  }
  const auto place = address + static_cast<std::uint64_t>(range.delta);
  // Others may write it meanwhile.
  return bytes == sizeof(std::uint32_t)
             ? __atomic_load_n(reinterpret_cast<const std::uint32_t*>(place), __ATOMIC_ACQUIRE)
             : __atomic_load_n(reinterpret_cast<const std::uint64_t*>(place), __ATOMIC_ACQUIRE);
}

bool ValueWait::holds() const {
  const auto now = value();
  if (!now) {
    return false;
  }
  const std::uint64_t all = bytes == sizeof(std::uint32_t) ? ~std::uint32_t{0} : ~std::uint64_t{0};
  switch (condition) {
  case Condition::AtLeast:
    return ((*now - wanted) & (all ^ all >> 1)) == 0; // the sign
  case Condition::Equal:
    return ((*now ^ wanted) & all) == 0;
  case Condition::And:
    return (*now & wanted & all) != 0;
  case Condition::Nor:
    return (~(*now | wanted) & all) != 0;
  }
  return false;
}

std::string ValueWait::describe() const {
  const auto now = value();
  const std::string place = fmt::format("the {} bytes at {:#x}", bytes, address);
  const std::string what = condition == Condition::AtLeast ? fmt::format("are at least {}", wanted)
                           : condition == Condition::Equal ? fmt::format("are {}", wanted)
                           : condition == Condition::And
                               ? fmt::format("have a bit of {:#x}", wanted)
                               : fmt::format("lack a bit that {:#x} lacks", wanted);
  return fmt::format(
      "until {} {}; {}",
      place,
      what,
      now ? fmt::format("they hold {}", *now) : std::string("they have been freed")
  );
}

} // namespace heddle::machine
