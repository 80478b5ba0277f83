// Schedule: one execution of one program, as a string that a user can paste.
//
//   std::string text = encode({.program = "app.cu", .choices = {0, 2, 1}, …});   // "v1:KLUv_…"
//   TRY(const Schedule schedule, decode(text));
//
// The string says which choices were made, what the search assumed, and which program it was (a
// hash of its text). A replay compares step by step whether the program still does the same. A
// string can come from anybody, so it never decides what a compiler or a shell is given: it holds
// no flags for nvcc (older versions of Heddle wrote them, and decode() returns them, for a
// message), and cli/check/replay.cpp judges what else it names. "v1:", then base64url without
// padding of a zstd frame of lines "key value" (base64 -d | zstd -d shows them). v1 changes when
// the meaning of the lines or of a choice does. May be wrong: an older string whose hash still fits
// is accepted, although another version of Heddle may number the moves of a state differently; a
// replay with another outcome says so.
#pragma once

#include "base/hash.h"
#include "base/result.h"
#include "explore/options.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

/// A choice in a schedule: the number of a move among those of its state, and a few bits of the
/// machine's fingerprint afterwards. (Not of the host's: that depends on the size of the
/// environment.)
struct PackedChoice {
  std::uint32_t number = 0, check = 0;
};
inline constexpr std::uint32_t unchecked = 0;
inline constexpr unsigned choice_bits = 12;
/// From choice_bits on numbers are cut; the check says then which move it was.
constexpr std::uint32_t pack_choice(std::uint32_t number, std::uint32_t check) {
  constexpr std::uint32_t most = (1U << choice_bits) - 1;
  return (number < most ? number : most) | check << choice_bits;
}
constexpr PackedChoice unpack_choice(std::uint32_t packed) {
  return {packed & ((1U << choice_bits) - 1), packed >> choice_bits};
}
constexpr std::uint32_t check_of(const Hash128& machine) {
  return static_cast<std::uint32_t>(machine.high) >> choice_bits;
}

struct Schedule {
  std::string program; // as on the command line: a .cu file or a program
  std::vector<std::string> arguments;
  std::string nvcc; // flags, as on the command line: not written; of older strings, for a message
  std::string device;
  int devices = 1;
  std::string kernel;                 // at whose launch the search begins; empty: at the start
  std::string content;                // hash of the program's source or file; empty: not known
  std::string digest;                 // hash of what happened in each step; empty: not known
  Options options;                    // without limits
  std::vector<std::uint32_t> choices; // packed, one for each step
  std::uint32_t loop_from = 0; // the last choice leads back to the state before this one; if there
                               // is no such choice, nobody can move any more at the end
  bool operator==(const Schedule&) const = default;
};

std::string encode(const Schedule& schedule);
/// Input error: says in which way `text` is no schedule (another version, cut off, …). The limits
/// of the options are the usual ones, whatever the text says: it may not ask for memory or time.
Result<Schedule> decode(std::string_view text);

/// A file in memory with `choices`, for Handover::replay. Input error: the system has none.
Result<int> write_choices(std::span<const std::uint32_t> choices);
Result<std::vector<std::uint32_t>> read_choices(int fd);

} // namespace heddle::explore
