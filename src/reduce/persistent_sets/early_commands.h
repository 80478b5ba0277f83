// EarlyCommands: which commands count as under way together in a search that carries out copies and
// grids in one order ([RED-STRAIGHT]).
//
//   EarlyCommands early;
//   const auto overlap = [&](std::uint64_t other) { sums.overlap(identity, other); };
//   early.submitted(command, identity, overlap);
//   early.host_waited(condition);        // the host has waited for that, so it is over
//   early.add_carried_out(under_way);
//
// A command that was carried out early could as well still be to come, unless the command that is
// submitted next has to wait for it in any case.
#pragma once

#include "machine/world.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace heddle::reduce {

using namespace machine;

class EarlyCommands {
public:
  using Identity = std::uint64_t;
  /// Calls `together` for each command that may still be to come then.
  void submitted(
      const CommandPtr& command,
      Identity identity,
      const std::function<void(Identity)>& together
  );
  /// The only host thread has waited for the condition. A command has been waited for if that would
  /// not hold without it, or if one has that it comes before.
  void host_waited(const std::function<bool()>& condition);
  /// Adds those that have been carried out.
  void add_carried_out(std::vector<Identity>& under_way) const;

private:
  struct Submitted {
    CommandPtr command;
    Identity identity = 0;
  };
  std::vector<Submitted> submitted_;                        // that nobody has waited for, in order
  std::map<std::uint64_t, std::set<std::uint64_t>> before_; // what each had to wait for, by id
};

} // namespace heddle::reduce
