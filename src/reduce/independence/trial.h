// Trials: what a thread would do, for those who have to know it beforehand.
//
//   Trial trial(trials, lane);           // the destructor brings the lane back
//   trial.go_on() && trial.state() == …  // it has come to what others may see next
#pragma once

#include "machine/recurrence.h"
#include "model/image_bytes.h"
#include "model/memory_journal.h"
#include "reduce/mutant.h"
#include "reduce/states/lane.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace heddle::reduce {

/// Backward branches that a thread takes in one go.
inline constexpr std::int64_t trial_fuel = 1 << 14;
inline constexpr std::size_t most_questions = 64; // until a loop comes back to where it was

/// What a trial asks of the search whose threads it tries out.
class TrialRules {
public:
  virtual ~TrialRules() = default;
  /// The lane is about to execute an instruction: a clock shows what it shows if no time passes.
  virtual void show_time(const Lane& at) = 0;
  /// What is the operation at which it stands, which others can see, to the search?
  virtual Operation classify(const Lane& at) = 0;
  /// … and can others tell that the lane has done it?
  virtual bool concerns_others(const Lane& at) = 0;
};

/// What all trials use.
struct Trials {
  isa::Exec& exec;
  MemoryJournal& journal;
  LiveState& live;
  TrialRules& rules;
  Mutant mutant = Mutant::None;
  std::uint64_t instructions = 0; // that were only tried out
};

struct TrialPlace {
  decltype(isa::Frame::registers) registers;
  std::vector<std::byte> local; // memory of its frame …
  std::vector<std::byte> stack; // … and what it has allocated
  const isa::Op* pc = nullptr;
  MemoryJournal::NotesMark notes;
};

/// Lets a lane run ahead of what it stands at, and brings it back in the end.
class Trial {
public:
  /// `own`: memory that it may write, and that the caller puts right.
  Trial(Trials& trials, const Lane& at, MemoryJournal::Bytes own = {})
      : trials_(trials),
        at_(at),
        own_(own),
        warp_(warp_state(at).warp),
        index_(static_cast<std::size_t>(at.lane)),
        frame_(warp_.frame[index_]),
        live_(warp_.live),
        blocked_(warp_.blocked),
        visited_(progress().visited),
        visited_late_(progress().visited_late),
        executed_(trials.exec.executed()),
        begin_(here()) {}
  ~Trial() {
    while (warp_.frame[index_] != frame_) { // it has called another function
      isa::Frame* const inner = warp_.frame[index_];
      warp_.frame[index_] = inner->caller;
      warp_.pop_lanes(inner, bit());
    }
    warp_.live = live_;
    warp_.blocked = blocked_;
    progress().visited = visited_;
    progress().visited_late = visited_late_;
    back_to(begin_);
    trials_.instructions += trials_.exec.executed() - executed_;
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Could it return to a caller? Then there is no way back.
  static bool possible(const Lane& at) {
    return warp_state(at).warp.frame[static_cast<std::size_t>(at.lane)]->caller == nullptr;
  }
  using Here = TrialPlace; // where it is
  Here here() const {
    const std::byte* const local = this->local();
    const std::span<const std::byte> stack = warp_.stack_of(at_.lane);
    return {
        frame_->registers,
        {local, local + model::local_bytes(*frame_, warp_)},
        {stack.begin(), stack.end()},
        warp_.pc[index_],
        trials_.journal.mark_notes()
    };
  }
  void back_to(const Here& place) {
    frame_->registers = place.registers;
    std::ranges::copy(place.local, local());
    warp_.grow_stack(
        *frame_,
        at_.lane,
        static_cast<std::int64_t>(place.stack.size()) -
            static_cast<std::int64_t>(warp_.stack[index_])
    );
    std::ranges::copy(place.stack, warp_.stack_of(at_.lane).begin());
    warp_.pc[index_] = place.pc;
    trials_.journal.undo_notes(place.notes);
  }
  Hash128 state() const { return lane_state(trials_.live, at_); }

  /// Is it neither ended nor blocked nor in another function, and has it written nothing of others?
  bool is_there() const {
    const Block& block = at_.work->clusters[at_.cluster]->block(at_.block);
    return warp_.live == live_ && warp_.blocked == blocked_ && warp_.frame[index_] == frame_ &&
           trials_.journal
               .only_wrote_in(begin_.notes, {block.local().data(), block.local().size()}, own_);
  }

  /// Does what it stands at and goes on to something else that others see; false: it does more than
  /// that.
  bool go_on() {
    constexpr int most_stops = 1 << 12;
    Block& block = at_.work->clusters[at_.cluster]->block(at_.block);
    std::optional<machine::Recurrence> circle; // of what it computes without end
    for (int stops = 0; stops < most_stops; ++stops) {
      trials_.rules.show_time(at_);
      trials_.exec.enter_block(block.exec_block());
      isa::Exec::Turn turn;
      turn.fuel = trial_fuel;
      turn.stop_at_visible = true;
      const isa::Stop stop = trials_.exec.run(warp_, bit(), turn);
      if (stop == isa::Stop::Fault || stop == isa::Stop::Unsupported || !is_there()) {
        return false;
      }
      if (stands_at_visible(at_) && (opcode() == ptx::Opcode::Mbarrier || does_to_its_block() ||
                                     trials_.rules.concerns_others(at_))) {
        return true;
      }
      const Hash128 now = state();
      if (!circle) {
        circle.emplace(now);
      } else if (circle->is_back(now)) {
        return false;
      } else {
        circle->go_on(now);
      }
    }
    return false;
  }

private:
  std::byte* local() const { return warp_.local + index_ * warp_.local_stride; }
  Work::Progress& progress() const { return at_.work->progress[at_.cluster]; }
  isa::LaneMask bit() const { return isa::LaneMask{1} << at_.lane; }
  /// What griddepcontrol does to the block would stay.
  bool does_to_its_block() const {
    return opcode() == ptx::Opcode::Griddepcontrol && trials_.mutant != Mutant::TrialsTrigger;
  }
  ptx::Opcode opcode() const {
    return frame_->code->function->body[warp_.pc[index_]->instruction].opcode;
  }

  Trials& trials_;
  const Lane at_;
  const MemoryJournal::Bytes own_;
  isa::Warp& warp_;
  std::size_t index_;
  isa::Frame* frame_;
  isa::LaneMask live_, blocked_;
  std::uint64_t visited_, visited_late_; // what it has done to other blocks, for [RED-NEIGHBOURS]
  std::uint64_t executed_;
  Here begin_;
};

} // namespace heddle::reduce
