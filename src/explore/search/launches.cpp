// Implements launches.h.
#include "explore/search/launches.h"

#include "explore/verdict/source_places.h"
#include "machine/fault_diagnostic.h"

#include <fmt/format.h>

namespace heddle::explore {

std::string addresses(const HostState& host, const HostPosition& position) {
  std::string text = "@";
  for (const std::uintptr_t a : position.return_addresses) {
    if (const std::uintptr_t link = host.link_address(a); link != 0) {
      text += fmt::format("{}{:x}", text.size() == 1 ? "" : ",", link - 1);
    }
  }
  return text;
}

void Launches::submitted(machine::Command& command) {
  if (command.value) {
    value_waits_[command.id] = addresses(host_, host_.capture());
  }
  const std::string kernel = command.grid ? command.grid->describe() : "";
  if (command.grid && command.part_of == 0) {
    launches_[command.id] = last_launches_[kernel] = addresses(host_, host_.capture());
  }
  const unsigned thread = threads_.current();
  command.which = numbers_.submitted(command, kernel, thread, threads_.name(thread));
}

std::string Launches::launch_of(std::uint64_t command) const {
  const auto known = launches_.find(command);
  return known != launches_.end() ? known->second : "";
}

std::string Launches::call_of_value_wait(std::uint64_t command) const {
  const auto known = value_waits_.find(command);
  return known != value_waits_.end() ? known->second : "";
}

report::Diagnostic Launches::diagnose(const machine::FaultReport& report) const {
  report::Diagnostic d = machine::diagnose(report);
  const auto launch = last_launches_.find(report.kernel);
  if (d.place.known() && is_system_file(d.place.file) && launch != last_launches_.end()) {
    d.place = {};
    d.place.file = launch->second;
    d.labels.insert(d.labels.begin(), {d.place, "the kernel of a library is launched here"});
  } else if (launch != last_launches_.end() && launch->second.size() > 1) {
    d.labels.push_back({{launch->second, 0, 0}, "launched from here"});
  }
  return d;
}

} // namespace heddle::explore
