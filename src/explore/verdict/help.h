// What to do about a hang: the line "= help: …".
#pragma once

#include "report/finding.h"

#include <string>

namespace heddle::explore {

struct HangInShort {
  report::Finding finding{};
  std::string rule;            // that permits it
  std::string kernel;          // whose threads move, if any
  bool host_alone = false;     // nobody but host threads moves
  bool waits_for_host = false; // a host thread could go on and need not
};

/// Empty: there is nothing that fits all such programs.
std::string help_for(const HangInShort& hang);

} // namespace heddle::explore
