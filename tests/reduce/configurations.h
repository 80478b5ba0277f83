// Which reductions a search has: each alone, every pair, all together, and all but those that
// replace the search by another one.
//
//   for (const Configuration& c : configurations_for(program)) … reduced_search(device, c.manner())
//
// Some rest on others (explore/search/stepper_options.cpp): these come with them. What a program
// has no use for is left out, so that several sets become one.
#pragma once

#include "reduce/micro_program.h"
#include "reduce/reduced_search.h"

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::enumeration {

enum class Reduction : std::uint8_t {
  Symmetry,
  Eager,
  Sums,
  Orderly,
  Places,
  Movers,
  EarlyWrites,
  Settled,
  DataOrder,
  Retries,
  Phases,
  Peeks,
  Allocations,
  Neighbours,
  Cone,
  Straight,
  Groups,
  LookAhead,
  HostFirst,
  Returns,
  Copies,
  CheckedLookAhead // no reduction: what is said of moves is compared with what they do
};
inline constexpr std::size_t reductions = 22;
std::string_view name_of(Reduction reduction);

class Configuration {
public:
  Configuration() = default;
  /// With what it rests on.
  Configuration with(Reduction reduction) const;
  /// Without it, and without what rests on it.
  Configuration without(Reduction reduction) const;
  bool has(Reduction reduction) const { return set_[static_cast<std::size_t>(reduction)]; }
  bool has(std::string_view name) const;
  bool none() const { return set_.none(); }
  Manner manner() const;
  std::string as_words() const; // "symmetry eager"
  /// Exactly these, as as_words() has them; words that name none count for nothing.
  static Configuration of(std::string_view words);
  auto operator<=>(const Configuration& other) const {
    return set_.to_ulong() <=> other.set_.to_ulong();
  }
  bool operator==(const Configuration&) const = default;

private:
  std::bitset<reductions> set_;
};

std::vector<Configuration> configurations_for(const MicroProgram& program);

} // namespace heddle::enumeration
