// LaunchNumbers: tells launches of the same kernel apart that may be under way together, for
// reports.
//
//   command.which = numbers.submitted(command, kernel, host_thread, …);   // "", " (launch 2)", …
//
// A number depends on the calls of one host thread only, and not on what devices have done by then.
// So a launch has the same one in all executions, whoever has searched where. A launch gets the
// lowest number that no launch has which could still be under way: the last launch of that number
// comes before it by streams and events ([DEP]).
//
// May be wrong: launches by kernels, and by bodies of conditional nodes, are numbered in the order
// in which an execution comes to them.
#pragma once

#include "machine/world.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle::explore {

class LaunchNumbers {
public:
  /// Every command, in the order of their ids. `kernel`: empty if it is none. `thread`: of the
  /// host, 0 for the first one, which needs no `name`.
  std::string submitted(
      const machine::Command& command,
      const std::string& kernel,
      unsigned thread,
      const std::string& name
  );

private:
  struct Known {
    std::vector<std::uint64_t> behind;
    std::uint64_t part_of = 0; // 0: of none
  };
  std::vector<std::uint64_t> lineage(std::uint64_t command) const;
  bool follows(std::uint64_t command, std::uint64_t before) const;
  const Known* known(std::uint64_t command) const;

  std::map<std::uint64_t, Known> known_; // by id
  // By host thread and kernel: the last launch of each number.
  std::map<std::pair<unsigned, std::string>, std::vector<std::uint64_t>> last_;
};

} // namespace heddle::explore
