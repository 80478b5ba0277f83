// heddle check --explain-order: for each atomic of a program, the weakest memory order with which
// the verdict stays, each found by a search of its own.
//
//   Orders orders;                                  // a file in the temporary folder
//   orders.ask_for_list(request.environment);       // before the check
//   report.notes += orders.explain(request, report, line);
//
// One order is changed at a time, and all others stay as they are: two that may be weaker each need
// not both be.
#pragma once

#include "cli/temporary_file.h"
#include "explore/session.h"
#include "report/diagnostic.h"

#include <map>
#include <string>
#include <vector>

namespace heddle::cli {

class Orders {
public:
  void ask_for_list(std::map<std::string, std::string>& environment) const;
  /// What `report`, of the check that `request` asked for, says of the atomics in that line; 0: of
  /// all of them. A sentence each.
  std::vector<std::string>
  explain(explore::CheckRequest request, const report::Report& report, unsigned line) const;

private:
  TemporaryFile file_{"orders"};
};

} // namespace heddle::cli
