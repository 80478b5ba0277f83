// Which line of the user's source: for device code from the PTX's inlining information, for host
// code from return addresses by way of addr2line.
//
//   const SourcePlace& place = users_place(innermost_first);
//   HostSources sources("./app");
//   Site site = sources.resolve(table.site(id));      // "@4012ab,401300" becomes a file and a line
#pragma once

#include "explore/state_table.h"
#include "machine/world.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

/// Headers of the toolkit and the system: not where a user looks.
bool is_system_file(std::string_view path);

/// The innermost place in the user's own source; the innermost of all if there is none.
const machine::SourcePlace& users_place(const std::vector<machine::SourcePlace>& innermost_first);

/// Host sites are recorded as the addresses of calls in the executable, innermost first:
/// file = "@4012ab,401300".
class HostSources {
public:
  explicit HostSources(std::string executable) : executable_(std::move(executable)) {}
  /// Other sites keep their place. A site that cannot be resolved loses its file.
  Site resolve(const Site& site);

private:
  std::string executable_;
  std::map<std::string, machine::SourcePlace> known_;
};

} // namespace heddle::explore
