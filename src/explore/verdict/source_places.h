// Which line of the user's source: for device code from the PTX's inlining information, for host
// code from return addresses by way of addr2line.
//
//   const SourcePlace& place = users_place(innermost_first);
//   HostSources sources("./app");
//   Site site = sources.resolve(table.site(id));      // "@4012ab,401300" becomes a file and a line
#pragma once

#include "explore/table/state_table.h"
#include "machine/source_place.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::explore {

using machine::is_system_file;
using machine::users_place;

/// Host sites are recorded as the addresses of calls in the executable, innermost first:
/// file = "@4012ab,401300".
class HostSources {
public:
  explicit HostSources(std::string executable) : executable_(std::move(executable)) {}
  /// Other sites keep their place; calls by host code get theirs. A site that cannot be resolved
  /// loses its file.
  Site resolve(const Site& site);

private:
  struct Host {
    machine::SourcePlace own; // innermost in the user's source; the caller of a launch's stub
    std::vector<Site::Call> callers;
    bool in_stub = false;
    bool in_library_wait = false;
    bool in_library_retry = false;
  };
  const Host& find(const std::string& list);

  std::string executable_;
  std::map<std::string, Host> known_;
};

} // namespace heddle::explore
