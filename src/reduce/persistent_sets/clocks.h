// Clocks: what the clocks of device threads show ([CLOCK], spec/clocks.md).
//
// Each thread has a clock of its own. A look at it gives one of two answers: *soon*, no time has
// passed since the look before, or *late*, so much that every time limit is over. Which of the two
// is chosen, like everything that the rules leave open, so that both are looked at. No choice is a
// look
// - whose answer decides nothing, for data only: it shows a time that depends on the instruction;
// - of a thread that remembers no time, if two answers stand for all: these are alike;
// - that comes back to itself if it is soon, without anything else: time goes on, so it is late.
//
// So that a state can come back, the clock stands still, and instead the time that the thread
// remembers changes: analysis/clock_flow.h says which register that is, and what it holds for each
// answer. Where that is not known, the thread's clock goes forward, and how often it has done so is
// part of the thread's state as long as it remembers a time.
//
// May be wrong: a time limit of more than 2^62 cycles or nanoseconds is never over; a moment that
// some other clock has shown or that the program was given may be past 2^61 and is then never over.
// Where the search says that it is incomplete: readings that two answers do not stand for; more
// than `most_late` late looks of a clock that goes forward; more than `most_soon` soon ones of a
// loop that only counts them.
#pragma once

#include "memory/address_space.h"
#include "model/move.h"
#include "reduce/independence/trial.h"
#include "reduce/mutant.h"
#include "reduce/persistent_sets/clock_data.h"
#include "reduce/states/lane.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heddle::reduce {

class Clocks {
public:
  struct Options {
    std::uint64_t step = 0; // ModelOptions::clock_step
    bool tries = true;      // a look that is soon, and without which nothing changes, is none
    bool first = true;      // [RED-LOOKS]
    Mutant mutant = Mutant::None;
  };
  Clocks(Trials& trials, const memory::AddressSpace& space, const Options& options)
      : trials_(trials),
        options_(options),
        data_(trials.exec, space, options.mutant) {}

  /// What the lane is about to read; nullptr: that is no clock.
  const LiveState::At* reading(const Lane& at) const;
  /// What that is to the search.
  Operation classify(const Lane& at) const;
  /// Would the lane, if no time passes, come back to where it is now without having done anything?
  bool asks_only_the_time(const Lane& at);
  /// Of a clock that goes forward by steps: is there no further one?
  bool is_last_step(const Lane& at) const;
  /// If the lane is about to look at a clock, it shows what it shows if no time passes.
  void show(const Lane& at) const;

  /// The lane's next look() is in a move, for which `time` has been chosen.
  void begin_look(const Lane& at, Time time);
  Time take_time() { return std::exchange(time_, Time::None); }
  /// Sets the clock if the lanes are about to look at one. `time`: as was chosen; None: by nobody.
  /// False: there is no later time left, and gap() says so.
  bool look(const Lane& first, isa::LaneMask lanes, Time time);
  const std::string& gap() const { return gap_; }
  /// The move is over. Was it a look, and is its thread at the same one again, in another state?
  void end_look(Work& work, const Move& move);

  /// [RED-LOOKS] Of all moves of a state those that are made.
  void looks_first(std::vector<Move>& moves) const;

  /// What has been shown, where no time limit asks for it.
  ClockData& data() { return data_; }
  const ClockData& data() const { return data_; }

private:
  bool remembers_times(const Lane& at) const;
  std::uint64_t shown(const Lane& at) const;
  static bool relate(const Lane& at, const LiveState::At& reading, Time time);

  Trials& trials_;
  Options options_;
  ClockData data_;
  bool in_use_ = false;
  Time time_{};        // of the move that is being made
  Hash128 looks_from_; // the state of its lane before that
  std::string gap_;
  std::unordered_map<std::uint64_t, bool> only_the_time_; // tried out, by state of a lane
};

} // namespace heddle::reduce
