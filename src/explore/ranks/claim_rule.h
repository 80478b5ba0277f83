// The rule by which a rank leaves moves to others ([RANK-CLAIMS] in spec/ranks.md). Templates, so
// that the enumeration of small systems runs the rule itself, around a board and a table of its
// own.
//
//   granted = keep_ours(board, table, hash, state, threads, granted);      // after table.claim()
//   if (auto to = done_somewhere(board, table, hash)) …                    // no need to go there
#pragma once

#include "explore/ranks/rank_board.h"
#include "explore/ranks/rank_mutant.h"
#include "explore/table/state_table.h"

#include <cstdint>
#include <optional>

namespace heddle::explore {

/// Of what this rank's table has granted of a state: what no other rank is known to have claimed.
/// The others are told of it. `threads`: host threads that there are; others may be asked for, too.
template <class Board, class Table>
Choices keep_ours(
    Board& board,
    Table& table,
    const Hash128& hash,
    StateId state,
    unsigned threads,
    Choices granted,
    RankMutant mutant = RankMutant::None
) {
  const auto is_ours = [&](const Hash128& claim) {
    if (mutant == RankMutant::ClaimsToldFirst) {
      board.announce(claim);
    }
    if (board.is_elsewhere(claim)) {
      return false;
    }
    board.announce(claim);
    return true;
  };
  const auto name_of_way = [&](unsigned thread, bool first) {
    return mutant == RankMutant::ClaimsHaveNoKind ? claim_of_devices(hash)
                                                  : claim_of_way(hash, thread, first);
  };
  if (granted.device && !is_ours(claim_of_devices(hash))) {
    granted.device = false;
    table.leave_elsewhere(state);
  }
  const auto keep_ways = [&](std::uint64_t& ways, bool first) {
    std::uint64_t kept = 0;
    for (unsigned t = 0; t < threads; ++t) {
      if ((ways >> t & 1) != 0 && is_ours(name_of_way(t, first))) {
        kept |= std::uint64_t{1} << t;
      }
    }
    const std::uint64_t present = (std::uint64_t{2} << (threads - 1)) - 1;
    if ((ways & present) != kept) {
      table.leave_ways_elsewhere(state);
    }
    ways = kept;
  };
  keep_ways(granted.first_ways, /*first=*/true);
  keep_ways(granted.other_ways, /*first=*/false);
  return granted;
}

/// The number of a state that a move of a device has led to, if its moves of devices have been
/// claimed here or elsewhere: whoever has claimed them goes there, and the move asks for no more.
template <class Board, class Table>
std::optional<StateId> done_somewhere(
    Board& board,
    Table& table,
    const Hash128& hash,
    RankMutant mutant = RankMutant::None
) {
  std::optional<StateId> state = table.find_done(hash);
  const bool is_elsewhere =
      !state && (board.is_elsewhere(claim_of_devices(hash)) ||
                 (mutant == RankMutant::ClaimsTakeAny &&
                  board.is_elsewhere(claim_of_way(hash, /*thread=*/0, /*first=*/true))));
  if (is_elsewhere) {
    state = table.know(hash);
    if (state) {
      table.note_elsewhere(*state);
    }
  }
  return state;
}

} // namespace heddle::explore
