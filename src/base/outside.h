// What a program gets from outside in `heddle check`. A search gives one answer to each question.
// An execution is repeated with others, to find out whether the program decides by them
// (explore/witness/repetition.h, spec/answers.md).
//
// How much time has passed, and how much memory is free, has values from hardly anything to very
// much. Everything else has one other answer: addresses, numbers of processes, contents of memory.
//
//   const FromOutside outside = outside_of_process();   // Usual, unless the tool says otherwise
//   if (is_other(SystemAnswer::Reuse)) …                      // the same
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

/// What another conforming run of the same program may answer otherwise.
enum class SystemAnswer : std::uint8_t {
  DeviceAddresses, // where memory of devices lies, and in which order
  Reuse,           // whether an address is given again that was freed
  HostAddresses,   // in which order the heap gives out addresses
  HeapContents,    // what lies in memory of the heap that nobody has written
  Process,         // the numbers of the process and its threads
  Random,          // random numbers of the system
  Load             // free memory and space, what the process has used, its processor
};
inline constexpr auto all_answers = std::to_array<SystemAnswer>(
    {SystemAnswer::DeviceAddresses,
     SystemAnswer::Reuse,
     SystemAnswer::HostAddresses,
     SystemAnswer::HeapContents,
     SystemAnswer::Process,
     SystemAnswer::Random,
     SystemAnswer::Load}
);

inline constexpr const char* answers_variable = "HEDDLE_ANSWERS";

constexpr std::string_view word_of(SystemAnswer answer) {
  constexpr std::array<std::string_view, all_answers.size()>
      words{"device-addresses", "reuse", "host-addresses", "heap", "process", "random", "load"};
  return words[static_cast<std::size_t>(answer)];
}

/// `text`: words with a space behind each.
constexpr bool names(std::string_view text, SystemAnswer answer) {
  for (std::size_t end = 0; (end = text.find(' ')) != std::string_view::npos;) {
    if (text.substr(0, end) == word_of(answer)) {
      return true;
    }
    text.remove_prefix(end + 1);
  }
  return false;
}

/// Is this process told to give the other answer?
inline bool is_other(SystemAnswer answer) {
  static const std::uint32_t others = [] {
    const char* const text = std::getenv(answers_variable);
    std::uint32_t bits = 0;
    for (const SystemAnswer one : all_answers) {
      bits |= std::uint32_t{text != nullptr && names(text, one)} << static_cast<unsigned>(one);
    }
    return bits;
  }();
  return (others >> static_cast<unsigned>(answer) & 1) != 0;
}

} // namespace heddle
