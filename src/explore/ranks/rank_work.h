// How ranks of one search hand work to each other, and how rank 0 notices that none is left
// ([RANK-END] in spec/ranks.md). Without messages, threads and clocks, so that the enumeration of
// small systems runs it.
//
//   WorkOfAll all(ranks);                         // rank 0
//   all.heard_piece(from, piece); all.heard_idle(from);
//   if (all.turn(around, serves, now)) …          // again and again; true: nobody has work
//   WorkOfRank own;                               // the others
//   own.take(piece); own.turn(around);
//
// All pieces go by way of rank 0, so it knows which ranks have work: those that it has given some
// and that have not said "idle" since. A piece is with its giver, on its way to rank 0, with rank
// 0, on its way to its taker, or with that; and a rank says "idle" behind the pieces that it has
// sent. So nobody has work when rank 0 has none and no piece, and all others have said "idle"
// (Dijkstra and Scholten's detection of termination, with a tree of depth one).
#pragma once

#include "explore/ranks/rank_mutant.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

/// What a turn looks at and does: the processes of this rank (rank_board.h), which go on meanwhile,
/// and messages, which arrive in their order.
class AroundWork {
public:
  AroundWork() = default;
  virtual ~AroundWork() = default;
  AroundWork(const AroundWork&) = delete;
  AroundWork& operator=(const AroundWork&) = delete;
  virtual bool is_idle() = 0;
  virtual std::optional<std::string> take_given() = 0;
  virtual void put(std::string_view piece) = 0;
  virtual void ask() = 0;
  virtual void ask_no_more() = 0;
  virtual void end() = 0;
  virtual void send_piece(int to, std::string_view piece) = 0;
  virtual void send_wish(int to) = 0; // for a piece
  virtual void send_idle() = 0;       // to rank 0
};

/// A rank other than 0.
class WorkOfRank {
public:
  explicit WorkOfRank(RankMutant mutant = RankMutant::None) : mutant_(mutant) {}
  void take(std::string piece) { pieces_.push_back(std::move(piece)); }
  void turn(AroundWork& around);

  const std::deque<std::string>& pieces() const {
    return pieces_;
  } // not given to its processes yet
  bool said_idle() const { return said_idle_; }

private:
  std::deque<std::string> pieces_;
  bool said_idle_ = false;
  RankMutant mutant_;
};

/// Rank 0, of itself and of the others.
class WorkOfAll {
public:
  enum class State : std::uint8_t {
    Starts, // it has not said anything, and has nothing
    Idle,
    Busy,
    Gone // it takes no work
  };
  explicit WorkOfAll(int ranks, RankMutant mutant = RankMutant::None)
      : ranks_(static_cast<std::size_t>(ranks)),
        mutant_(mutant) {
    ranks_[0].state = State::Busy;
  }
  void heard_piece(int from, std::string piece);
  void heard_idle(int from);
  /// Its processes have ended, or nobody hears of it.
  void gone(int rank) { ranks_[static_cast<std::size_t>(rank)].state = State::Gone; }
  State state(int rank) const { return ranks_[static_cast<std::size_t>(rank)].state; }

  using Clock = std::chrono::steady_clock;
  /// `serves`: the process that has begun the search has ended, and another one waits for work.
  /// True: nobody has work, and the processes of this rank have been told so.
  bool turn(AroundWork& around, bool serves, Clock::time_point now);

  const std::deque<std::string>& pieces() const { return pieces_; } // of nobody
  std::size_t next_asked() const { return next_asked_ % ranks_.size(); }

private:
  struct Rank {
    State state = State::Starts;
    bool is_asked = false;
    Clock::time_point asked{};
  };
  void take_own(AroundWork& around, bool serves);
  void hand_out(AroundWork& around);
  bool nobody_has_work() const;
  void ask_for_work(AroundWork& around, Clock::time_point now);

  std::vector<Rank> ranks_;
  std::deque<std::string> pieces_;
  std::size_t next_asked_ = 0;
  RankMutant mutant_;
};

} // namespace heddle::explore
