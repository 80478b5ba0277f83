// Learnt: what commands come to know only when they are carried out, after they were submitted: a
// host function from the threads that it has waited for, a stream from the word that it has waited
// for. Whatever follows such a command knows that, too, and nothing else does.
//
//   learnt.add(function, {commands, clock});
//   if (command.follows(other, learnt.by(command).commands)) …
//
// Not thread safe.
#pragma once

#include "race/clock.h"
#include "race/command.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::race {

class Learnt {
public:
  struct Knowledge {
    CommandSet commands;
    Clock clock;
  };
  /// When `teacher` ends, which may be nullptr: not known.
  void add(const CommandInfoPtr& teacher, Knowledge knowledge);
  /// By everything that `command` follows: all of that has ended when `command` begins.
  const Knowledge& by(const CommandInfo& command);

private:
  std::vector<std::pair<std::uint64_t, Knowledge>> teachers_; // by number of command
  std::shared_ptr<const CommandSet> asked_;                   // `before` of the last question
  Knowledge answer_;                                          // to it
};

} // namespace heddle::race
