// Implements pending_diagnostic.h.
#include "runtime/diagnostics/pending_diagnostic.h"

#include "machine/fault_diagnostic.h"
#include "report/names.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/race_diagnostic.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>

namespace heddle::runtime {
namespace {

std::string name_of_command(const machine::Command& command) {
  return command.grid != nullptr ? fmt::format("kernel '{}'", command.grid->describe())
                                 : fmt::format("{} in {}", command.label, command.stream);
}

std::string stands_between(const char* call) {
  return fmt::format(
      "only {} stands between the two: it waits with today's drivers, and nothing promises that",
      call
  );
}

void add_shared_byte(report::Diagnostic& d, memory::Address at, const memory::AddressSpace& space) {
  if (auto nearest = space.nearest(at)) {
    nearest->freed = false;
    d.notes.push_back(
        fmt::format("they share the byte at {:#x}, {}", at, machine::place_in_memory(*nearest, at))
    );
  }
}

void add_side(report::Diagnostic& d, const PairedSide& side, const char* mark) {
  const std::string who = name_of_command(*side.command);
  const std::string text = fmt::format("{} by {}", side.store ? "write" : "read", who);
  d.threads.push_back(who);
  if (side.command->grid != nullptr) {
    d.functions.push_back(report::kernel_in(who));
  }
  if (side.place) {
    machine::add_place(d, *side.place, text, mark);
    return;
  }
  const std::size_t told = d.labels.size() + d.notes.size();
  add_host_place(d, side.called_from, mark + text);
  if (d.labels.size() + d.notes.size() == told) {
    d.notes.push_back(mark + text);
  }
}

} // namespace

report::Diagnostic diagnose(const PairedRace& race, const memory::AddressSpace& space) {
  const std::string first = name_of_command(*race.first.command);
  const std::string second = name_of_command(*race.second.command);
  report::Diagnostic d(
      report::Finding::DataRace,
      fmt::format(
          "{} by {} races with a {} by {}",
          race.first.store ? "write" : "read",
          first,
          race.second.store ? "write" : "read",
          second
      )
  );
  d.rule = "RACE-COMMAND";
  add_side(d, race.first, "(1) ");
  add_side(d, race.second, "(2) ");
  for (const PairedSide* side : {&race.first, &race.second}) {
    if (side->command->grid != nullptr) {
      const machine::Grid& grid = *side->command->grid;
      add_launches(d, {{std::pair(grid.describe(), grid.config().called_from)}});
    }
  }
  const bool second_waits = second.starts_with("cudaMemcpy in ");
  MissingOrder order = second_waits ? missing_order(second, first) : missing_order(first, second);
  d.notes.push_back(std::move(order.why));
  add_shared_byte(d, race.at, space);
  d.help.emplace_back(order.help);
  return d;
}

report::Diagnostic diagnose(const PendingFree& free) {
  const std::string who = name_of_command(*free.command);
  report::Diagnostic d(
      report::Finding::UseAfterFree,
      fmt::format("{} uses memory that may have been freed by then", who)
  );
  d.severity = report::Severity::Warning;
  d.rule = "API-WAIT";
  d.threads = {"host code", who};
  add_host_place(d, free.frames, "(1) freed here");
  if (free.command->grid != nullptr) {
    const machine::Grid& grid = *free.command->grid;
    d.functions.push_back(report::kernel_in(who));
    add_launches(d, {{std::pair(grid.describe(), grid.config().called_from)}});
  } else {
    add_host_place(d, free.called_from, "(2) used by " + who);
  }
  d.notes.push_back(stands_between(free.call));
  d.help.emplace_back(
      "wait for the stream that uses it, or for an event behind that, before the free"
  );
  return d;
}

report::Diagnostic diagnose(const PendingRace& race, const memory::AddressSpace& space) {
  const char* const host = race.claim.store ? "write" : "read";
  const char* const device = race.store ? "write" : "read";
  report::Diagnostic d(
      report::Finding::DataRace,
      fmt::format(
          "{} by host code races with a {} by {}",
          host,
          device,
          name_of_command(*race.command)
      )
  );
  d.rule = "RACE-HOST";
  std::vector<const void*> frames = race.claim.frames;
  if (race.claim.script != nullptr) {
    frames = {race.claim.script};
  } else if (!frames.empty()) {
    frames.front() = static_cast<const std::byte*>(frames.front()) + 1; // it returns nowhere
  }
  d.threads = {"host code", name_of_command(*race.command)};
  add_host_place(d, frames, fmt::format("(1) {} by host code", host));
  const std::string text = fmt::format("{} by {}", device, name_of_command(*race.command));
  if (race.place) {
    d.functions.push_back(report::kernel_in(name_of_command(*race.command)));
    machine::add_place(d, *race.place, text, "(2) ");
    const machine::Grid& grid = *race.command->grid;
    add_launches(d, {{std::pair(grid.describe(), grid.config().called_from)}});
  } else {
    const std::size_t told = d.labels.size() + d.notes.size();
    add_host_place(d, race.called_from, "(2) " + text);
    if (d.labels.size() + d.notes.size() == told) {
      d.notes.push_back("(2) " + text);
    }
  }
  if (race.unpromised != nullptr) {
    d.severity = report::Severity::Warning;
    d.rule = "API-WAIT";
    d.notes.push_back(stands_between(race.unpromised));
  } else {
    d.notes.emplace_back("the host has not waited for the device, so nothing orders the two");
  }
  add_shared_byte(d, race.claim.at, space);
  d.help.emplace_back(
      "call cudaDeviceSynchronize(), or wait for the stream or an event, before host code touches "
      "this memory"
  );
  return d;
}

} // namespace heddle::runtime
