// What a program gets from outside in `heddle check`: how much time has passed, and how much memory
// is free. A search shows one value each time. An execution is repeated with others, from hardly
// anything to very much, to find out whether the host decides by it
// (explore/witness/repetition.h).
//
//   const FromOutside outside = outside_of_process();   // Usual, unless the tool says otherwise
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace heddle {

enum class FromOutside : std::uint8_t {
  Usual,
  Less, // hardly any time passes between two looks, and hardly any memory is free
  Some, // some milliseconds, and less than half of the memory
  Much, // a second, and a few percent
  More, // minutes pass
};
/// All but the usual one.
inline constexpr std::array<FromOutside, 4>
    all_from_outside{FromOutside::Less, FromOutside::More, FromOutside::Some, FromOutside::Much};

inline constexpr const char* outside_variable = "HEDDLE_OUTSIDE";

constexpr std::string_view word_of(FromOutside outside) {
  constexpr std::array<std::string_view, 5> words{"", "less", "some", "much", "more"};
  return words[static_cast<std::size_t>(outside)];
}

inline FromOutside outside_of_process() {
  static const FromOutside outside = [] {
    const char* const text = std::getenv(outside_variable);
    const std::string_view word = text == nullptr ? "" : text;
    const auto* const known = std::ranges::find(all_from_outside, word, word_of);
    return known != all_from_outside.end() ? *known : FromOutside::Usual;
  }();
  return outside;
}

} // namespace heddle
