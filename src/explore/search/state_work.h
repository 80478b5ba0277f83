// What a state is worth (StateTable::work): where many threads can move one takes as long as
// several of the usual ones.
//
//   table.add_work(work_of(moves.size()));
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::explore {

inline std::uint32_t work_of(std::size_t moves) {
  constexpr std::size_t moves_for_one = 16;
  return static_cast<std::uint32_t>(1 + moves / moves_for_one);
}

} // namespace heddle::explore
