// RankCut: on rank 0, what all other ranks had found at one moment, for a checkpoint.
//
// While the processes of rank 0 stand still, the tool asks for it:
//
//   cut.begin();
//   while (!cut.is_over()) …
//   if (const auto copies = cut.copies()) …
//   cut.end(); // all go on
//
// The link passes that on to the other ranks, and hands in what it hears from them:
//
//   if (cut.wanted() != …) …
//   cut.add(from, number, bytes);
//   cut.finish(from, number, good);
//
// All stand still until the last copy is here. So what one has done because of another one is in a
// copy only if what it was done for is in the other one's: a consistent cut (Chandy and Lamport).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heddle::explore {

class RankCut {
public:
  explicit RankCut(int ranks) : copies_(static_cast<std::size_t>(ranks)) {}
  ~RankCut();
  RankCut(const RankCut&) = delete;
  RankCut& operator=(const RankCut&) = delete;

  void begin();
  /// All copies are here, or one rank has said that there will be none.
  bool is_over() const;
  /// Files of StateTable::save(), by rank, until end(); -1 for rank 0. None: one rank has none.
  std::optional<std::vector<int>> copies() const;
  void end();

  /// The number of the one that is under way; 0: none is.
  std::uint32_t wanted() const;
  /// What a rank says of another one than that is dropped.
  void add(int from, std::uint32_t number, std::string_view bytes);
  void finish(int from, std::uint32_t number, bool good);

private:
  struct Copy {
    int file = -1;
    bool ended = false, good = false;
  };
  void close_all();

  mutable std::mutex mutex_;
  std::uint32_t number_ = 0, begun_ = 0;
  std::vector<Copy> copies_; // by rank; 0 is not used
};

} // namespace heddle::explore
