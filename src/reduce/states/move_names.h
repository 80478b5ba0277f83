// MoveNames: what reports call those who make moves.
#pragma once

#include "model/move.h"
#include "reduce/states/works.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::reduce {

class MoveNames {
public:
  MoveNames(const Works& works, bool by_warps) : works_(works), by_warps_(by_warps) {}

  /// "kernel 'add<<<1,32>>>'", or the command's, and Command::which, which begins with
  /// launch_number.
  std::string kernel(const Move& move) const;
  static constexpr std::string_view launch_number = " (launch ";
  std::string cluster(const Move& move) const; // what is obliged to progress together
  std::string thread(const Move& move) const;  // "thread (0,0,0) of block (0,0,0)"
  std::string actor(const Move& move) const;   // the same, or "warp 0 of block (0,0,0)"
  /// The command, and the thread's number in its grid: names the actor of a move.
  std::pair<std::uint64_t, std::uint64_t> id(const Move& move) const;

private:
  const Works& works_;
  bool by_warps_;
};

} // namespace heddle::reduce
