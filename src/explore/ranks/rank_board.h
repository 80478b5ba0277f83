// RankBoard: what the processes of one rank's part of a search and the tool, which speaks with the
// other ranks, leave for each other, in memory that they share (a part of the StateTable).
//
//   board.is_elsewhere(claim)                     // a process: another rank makes these moves
//   board.announce(claim)                         // … else this one does: for the others
//   if (board.wants_work()) board.give(bytes)     // … some rank has no work
//   while (auto work = board.await()) …           // the first process, where it waits for work
//
//   for (const Hash128& claim : board.take_announced()) …      // the tool sends them …
//   board.note_elsewhere(claim);                               // … and notes what it receives
//
// A *claim* names moves of one state by 126 bits: claim_of_devices(), claim_of_way().
//
// May be wrong: what is announced may be lost (the ring is full), and so may what is noted (each
// bucket keeps four claims). Then two ranks make the same moves, which costs time. A claim that
// nobody has made is found only if two hashes of 126 bits are equal.
#pragma once

#include "base/hash.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heddle::explore {

/// All moves of devices in the state with this hash. No claim is zero: the lowest bit is set. The
/// next one tells kinds apart.
inline Hash128 claim_of_devices(const Hash128& state) {
  return {(state.low & ~std::uint64_t{2}) | 1, state.high};
}
inline bool is_claim_of_devices(const Hash128& claim) {
  return (claim.low & 2) == 0;
}
/// One way of a host thread to go on in it: the first one, or the others.
inline Hash128 claim_of_way(const Hash128& state, unsigned thread, bool first) {
  const std::uint64_t number = 2 * std::uint64_t{thread} + (first ? 1 : 2);
  return {
      (state.low + number * 0x9e37'79b9'7f4a'7c15ULL) | 3,
      state.high ^ number * 0xc2b2'ae3d'27d4'eb4fULL
  };
}

class RankBoard {
public:
  static constexpr std::size_t most_bytes = 1 << 20; // of one piece of work
  /// As many claims of others are kept as a table has states, or more.
  static std::size_t bytes(std::uint32_t max_states);
  /// `memory` is zero at first and aligned to 128 bytes.
  RankBoard(void* memory, std::uint32_t max_states);

  /// The tool, before the search begins: this rank, and how many there are. `does_errands`: begins
  /// nothing by itself.
  void divide(std::uint32_t rank, std::uint32_t ranks, bool does_errands);
  bool is_divided() const { return ranks() != 0; }
  bool does_errands() const;
  void set_errands();
  /// This rank, and how many there are.
  std::uint32_t rank() const;
  std::uint32_t ranks() const;

  // --- Processes ---------------------------------------------------------------------------------
  bool is_elsewhere(const Hash128& claim) const;
  /// It is going to be looked for soon.
  void fetch(const Hash128& claim) const;
  void announce(const Hash128& claim);
  bool wants_work() const;
  /// False: another process was quicker, or these are too many bytes.
  bool give(std::span<const std::byte> work);
  /// Waits. None: the search is over.
  std::optional<std::vector<std::byte>> await();
  /// What has just come is for another process of this rank, which will wait.
  void leave(std::span<const std::byte> work);

  // --- The tool ----------------------------------------------------------------------------------
  void note_elsewhere(const Hash128& claim);
  /// Many are noted faster if their places are fetched ahead (fetch()).
  std::vector<Hash128> take_announced();
  /// From now on the next process that looks gives work away.
  void ask();
  /// Nothing has been given, and nothing will be.
  void ask_no_more();
  std::optional<std::vector<std::byte>> take_given();
  /// The first process waits for work.
  bool is_idle() const;
  /// While it does.
  void put(std::span<const std::byte> work);
  void end();

private:
  struct Header;
  Header& header() const;
  std::uint64_t* bucket(const Hash128& claim) const;
  std::uint64_t* ring() const;
  std::byte* outbox() const;
  std::byte* inbox() const;

  std::byte* base_ = nullptr;
  std::uint64_t buckets_ = 0;
};

} // namespace heddle::explore
