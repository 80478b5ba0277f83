// EarlyCommands: what a search in which copies and grids are carried out in one order has to count
// as under way together ([RED-STRAIGHT]).
//
//   EarlyCommands early;
//   early.submitted(command, identity, [&](std::uint64_t other) { sums.overlap(identity, other);
//   }); early.host_waited(condition);        // what the host has waited for is over
//   early.add_carried_out(under_way);
//
// What has been carried out early could as well still be to come, unless what is submitted next has
// to wait for it in any case.
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
