// Trying out what a thread does, for those parts of the stepper that have to know it beforehand.
#pragma once

#include "machine/recurrence.h"
#include "model/image_bytes.h"
#include "reduce/stepper_work.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace heddle::reduce {

inline constexpr std::size_t most_questions = 64; // until a loop comes back to where it was

struct Stepper::TrialPlace {
  decltype(isa::Frame::registers) registers;
  std::vector<std::byte> local; // memory
  const isa::Op* pc = nullptr;
  MemoryJournal::NotesMark notes;
};

/// Lets a lane run ahead of what it stands at, and brings it back in the end.
class Stepper::Trial {
public:
  /// `own`: memory that it may write, and that the caller puts right.
  Trial(const Stepper& stepper, const Lane& at, MemoryJournal::Bytes own = {})
      : stepper_(stepper),
        at_(at),
        own_(own),
        warp_(warp_state(at).warp),
        index_(static_cast<std::size_t>(at.lane)),
        frame_(warp_.frame[index_]),
        live_(warp_.live),
        blocked_(warp_.blocked),
        executed_(stepper.exec_.executed()),
        begin_(here()) {}
  ~Trial() {
    while (warp_.frame[index_] != frame_) { // it has called another function
      isa::Frame* const inner = warp_.frame[index_];
      warp_.frame[index_] = inner->caller;
      warp_.pop_lanes(inner, bit());
    }
    warp_.live = live_;
    warp_.blocked = blocked_;
    back_to(begin_);
    stepper_.tried_out_.instructions += stepper_.exec_.executed() - executed_;
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
    return {
        frame_->registers,
        {local, local + model::local_bytes(*frame_, warp_)},
        warp_.pc[index_],
        stepper_.journal_.mark_notes()
    };
  }
  void back_to(const Here& place) {
    frame_->registers = place.registers;
    std::ranges::copy(place.local, local());
    warp_.pc[index_] = place.pc;
    stepper_.journal_.undo_notes(place.notes);
  }
  Hash128 state() const { return stepper_.lane_state(at_); }

  /// Is it neither ended nor blocked nor in another function, and has it written nothing of others?
  bool is_there() const {
    const Block& block = at_.work->clusters[at_.cluster]->block(at_.block);
    return warp_.live == live_ && warp_.blocked == blocked_ && warp_.frame[index_] == frame_ &&
           stepper_.journal_
               .only_wrote_in(begin_.notes, {block.local().data(), block.local().size()}, own_);
  }

  /// Does what it stands at and goes on to something else that others see; false: it does more than
  /// that.
  bool go_on() {
    constexpr int most_stops = 1 << 12;
    Block& block = at_.work->clusters[at_.cluster]->block(at_.block);
    std::optional<machine::Recurrence> circle; // of what it computes without end
    for (int stops = 0; stops < most_stops; ++stops) {
      if (stepper_.clock_reading(at_) != nullptr) {
        const std::uint64_t shown = stepper_.time_shown(at_);
        block.stop_time_at(shown, shown);
      }
      stepper_.exec_.enter_block(block.exec_block());
      isa::Exec::Turn turn;
      turn.fuel = plain_fuel;
      turn.stop_at_visible = true;
      const isa::Stop stop = stepper_.exec_.run(warp_, bit(), turn);
      if (stop == isa::Stop::Fault || stop == isa::Stop::Unsupported || !is_there()) {
        return false;
      }
      if (stepper_.stands_at_visible(at_) &&
          (stepper_.polls_library_word(at_) || opcode() == ptx::Opcode::Mbarrier ||
           does_to_its_block() || stepper_.classify(at_).kind != OperationKind::Silent)) {
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
  isa::LaneMask bit() const { return isa::LaneMask{1} << at_.lane; }
  /// What griddepcontrol does to the block would stay.
  bool does_to_its_block() const {
    return opcode() == ptx::Opcode::Griddepcontrol && !stepper_.mutant_is(Mutant::TrialsTrigger);
  }
  ptx::Opcode opcode() const {
    return frame_->code->function->body[warp_.pc[index_]->instruction].opcode;
  }

  const Stepper& stepper_;
  const Lane at_;
  const MemoryJournal::Bytes own_;
  isa::Warp& warp_;
  std::size_t index_;
  isa::Frame* frame_;
  isa::LaneMask live_, blocked_;
  std::uint64_t executed_;
  Here begin_;
};

} // namespace heddle::reduce
