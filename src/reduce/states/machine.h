// Machine: what a search moves, without any reduction: threads and commands, memory whose changes
// can be taken back, and what is known of code before it runs.
#pragma once

#include "isa/exec.h"
#include "machine/live_state.h"
#include "machine/world.h"
#include "model/memory_journal.h"
#include "model/warp_choices.h"
#include "reduce/states/works.h"

namespace heddle::reduce {

using namespace machine;
using namespace model;

struct Machine {
  Machine(
      World& of,
      analysis::Liveness::Of liveness,
      const LiveState::Options& asked,
      const Works::Options& assumed
  )
      : world(of),
        exec(of.space()),
        journal(of.space(), exec),
        watching(exec, journal.watch()),
        live(liveness, asked),
        warp_choices(exec, live),
        works(assumed) {}

  World& world;
  isa::Exec exec;
  MemoryJournal journal;
  isa::Watching watching; // by the journal
  LiveState live;         // of code: worked out when it is first asked for
  WarpChoices warp_choices;
  Works works; // the commands that are not complete
};

} // namespace heddle::reduce
