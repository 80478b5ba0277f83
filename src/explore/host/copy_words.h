// Copies of a few words. The words of a copy come in any order, as weak writes do; nobody can tell
// unless somebody looks, by an atomic or volatile access, while the copy is under way. So a search
// takes a copy for one move, until it has learned that somebody looks (Assumption::Copies): the
// next search moves each word of such copies by itself, in every order.
//
//   if (explore::copies_word_by_word()) …      // the runtime makes a command of each word
//
// Copies of more words stay one move. That is a bound of the verdict (docs/limits/check.md).
#pragma once

#include <cstdint>

namespace heddle::explore {

inline constexpr std::uint64_t bytes_of_copied_word = 4;
inline constexpr std::uint64_t most_copied_words =
    8; // one by one: 2^8 sets of those that are there

constexpr bool has_few_words(std::uint64_t bytes) {
  return bytes > bytes_of_copied_word && bytes <= bytes_of_copied_word * most_copied_words;
}

/// False outside of a search.
bool copies_word_by_word();

} // namespace heddle::explore
