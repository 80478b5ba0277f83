// What a program gets from outside in `heddle check`: how much time has passed, and how much memory
// is free. A search shows one value each time. An execution is repeated with less and with more of
// it, to find out whether the host decides by it (explore/witness/repetition.h).
//
//   const FromOutside outside = outside_of_process();   // Usual, unless the tool says otherwise
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace heddle {

enum class FromOutside : std::uint8_t {
  Usual,
  Less, // hardly any time passes between two looks, and hardly any memory is free
  More  // minutes pass
};

inline constexpr const char* outside_variable = "HEDDLE_OUTSIDE";

constexpr std::string_view word_of(FromOutside outside) {
  return outside == FromOutside::Less ? "less" : outside == FromOutside::More ? "more" : "";
}

inline FromOutside outside_of_process() {
  static const FromOutside outside = [] {
    const char* const text = std::getenv(outside_variable);
    const std::string_view word = text == nullptr ? "" : text;
    return word == word_of(FromOutside::Less)   ? FromOutside::Less
           : word == word_of(FromOutside::More) ? FromOutside::More
                                                : FromOutside::Usual;
  }();
  return outside;
}

} // namespace heddle
