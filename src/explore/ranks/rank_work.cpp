// Implements rank_work.h.
#include "explore/ranks/rank_work.h"

#include <algorithm>
#include <utility>

namespace heddle::explore {

namespace {

// One that has been asked for work may have none: then another one is.
constexpr auto time_to_give = std::chrono::milliseconds(5);

} // namespace

// --- A rank other than 0 -------------------------------------------------------------------------

void WorkOfRank::turn(AroundWork& around) {
  // In this order: who is idle has given all that he gives. What is sent first arrives first.
  bool is_idle = mutant_ != RankMutant::EndLooksLate && around.is_idle();
  if (is_idle) {
    around.ask_no_more();
  }
  if (mutant_ == RankMutant::EndSaysIdleFirst && is_idle && pieces_.empty() &&
      !std::exchange(said_idle_, true)) {
    around.send_idle();
  }
  if (const auto given = around.take_given()) {
    around.send_piece(0, *given);
  }
  is_idle = is_idle || (mutant_ == RankMutant::EndLooksLate && around.is_idle());
  if (!is_idle) {
    return;
  }
  if (!pieces_.empty()) {
    around.put(pieces_.front());
    pieces_.pop_front();
    said_idle_ = false;
  } else if (!std::exchange(said_idle_, true)) {
    around.send_idle();
  }
}

// --- Rank 0 --------------------------------------------------------------------------------------

void WorkOfAll::heard_piece(int from, std::string piece) {
  pieces_.push_back(std::move(piece));
  ranks_[static_cast<std::size_t>(from)].is_asked = false;
}

void WorkOfAll::heard_idle(int from) {
  Rank& rank = ranks_[static_cast<std::size_t>(from)];
  rank.state = State::Idle;
  rank.is_asked = false;
}

bool WorkOfAll::turn(AroundWork& around, bool serves, Clock::time_point now) {
  take_own(around, serves);
  hand_out(around);
  if (nobody_has_work()) {
    around.end();
    return true;
  }
  ask_for_work(around, now);
  return false;
}

void WorkOfAll::take_own(AroundWork& around, bool serves) {
  Rank& own = ranks_[0];
  // In this order, as above.
  const auto look = [&] { own.state = serves && around.is_idle() ? State::Idle : State::Busy; };
  if (mutant_ != RankMutant::EndLooksLateAtAll) {
    look();
  }
  if (auto given = around.take_given()) {
    pieces_.push_back(*std::move(given));
    own.is_asked = false;
  }
  if (mutant_ == RankMutant::EndLooksLateAtAll) {
    look();
  }
}

void WorkOfAll::hand_out(AroundWork& around) {
  for (std::size_t rank = 1; rank < ranks_.size() && !pieces_.empty(); ++rank) {
    Rank& other = ranks_[rank];
    if (other.state == State::Idle) {
      around.send_piece(static_cast<int>(rank), pieces_.front());
      pieces_.pop_front();
      other.state = mutant_ == RankMutant::EndForgetsTakers ? State::Idle : State::Busy;
    }
  }
  if (!pieces_.empty() && ranks_[0].state == State::Idle) {
    around.put(pieces_.front());
    pieces_.pop_front();
    ranks_[0].state = State::Busy;
  }
}

bool WorkOfAll::nobody_has_work() const {
  return pieces_.empty() &&
         std::ranges::none_of(ranks_, [](const Rank& rank) { return rank.state == State::Busy; });
}

void WorkOfAll::ask_for_work(AroundWork& around, Clock::time_point now) {
  std::size_t wanted = 0, asked = pieces_.size();
  for (Rank& rank : ranks_) {
    wanted += rank.state == State::Idle ? 1 : 0;
    rank.is_asked = rank.is_asked && rank.state == State::Busy && now - rank.asked < time_to_give;
    asked += rank.is_asked ? 1 : 0;
  }
  for (std::size_t tried = 0; tried < ranks_.size() && asked < wanted; ++tried) {
    const std::size_t number = next_asked_++ % ranks_.size();
    Rank& rank = ranks_[number];
    if (rank.state != State::Busy || rank.is_asked) {
      continue;
    }
    rank.is_asked = true;
    rank.asked = now;
    ++asked;
    if (number == 0) {
      around.ask();
    } else {
      around.send_wish(static_cast<int>(number));
    }
  }
}

} // namespace heddle::explore
