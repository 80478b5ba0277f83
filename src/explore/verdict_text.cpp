// Implements verdict_text.h.
#include "explore/verdict_text.h"

#include "report/render.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::explore {

std::string bounds(const StateTable& table, bool ptx_memory, const std::set<std::string>& kernels) {
  std::string text = "1 input";
  for (const std::string& kernel : kernels) {
    text += ", " + kernel;
  }
  if (kernels.empty()) {
    text += ", no kernel ran";
  }
  if (table.saw(Fact::HostUnseen)) {
    text += ", host code seen only at API calls (not compiled with -fsanitize=thread)";
  }
  if (ptx_memory) {
    text += ", memory as in PTX without load buffering, the host's accesses seen at once";
    if (table.saw(Fact::OldValues)) {
      text += ", not every older value of a place";
    }
    if (table.saw(Fact::FenceOrder)) {
      text += ", fence.sc in the order in which they are executed";
    }
  } else if (table.saw(Fact::Choice)) {
    text += ", memory sequentially consistent";
  }
  if (table.saw(Fact::PlainAccess) && !ptx_memory) {
    text += ", if free of data races";
  }
  if (table.saw(Fact::ActiveSets)) {
    text += ", not every answer of activemask";
  }
  if (table.saw(Fact::Reads)) {
    text += ", not every number of reads of a loop that waits";
  }
  if (table.saw(Fact::FloatSum)) {
    text += ", sums of floating-point numbers in one order";
  }
  if (table.saw(Fact::DataOrder)) {
    text += ", atomic accesses on which only data depends in one order";
  }
  return text;
}

void add_calls(report::Diagnostic& diagnostic, const Site& site, int number) {
  for (const Site::Call& call : site.calls) {
    const auto known = std::ranges::find_if(diagnostic.labels, [&](const report::Label& other) {
      return other.place.file == call.file && other.place.line == call.line &&
             other.text.ends_with(call.how);
    });
    if (known == diagnostic.labels.end()) {
      diagnostic.labels.push_back(
          {{call.file, call.line, call.column, 0}, fmt::format("({}) {}", number, call.how)}
      );
    } else {
      known->text.insert(known->text.find(')'), fmt::format(", {}", number));
    }
  }
}

std::string searched(const report::Report& report) {
  return fmt::format(
      "{} states, {} executions",
      report::with_thousands(report.states),
      report::with_thousands(report.executions)
  );
}

} // namespace heddle::explore
