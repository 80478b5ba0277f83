// Implements test_findings.h.
#include "cli/test/test_findings.h"

#include "cli/run/same_race.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace heddle::cli {
namespace {

using report::Diagnostic;
using report::Finding;
using report::FindingGroup;
using report::Severity;

FindingGroup group_of(const Diagnostic& d) {
  return report::describe(d.finding).group;
}

/// "cudaMalloc fails, and the program drops its error code": the pointer is what it was.
bool is_failed_allocation(const Diagnostic& d) {
  const std::string_view call = std::string_view(d.message).substr(0, d.message.find(' '));
  return d.finding == Finding::ApiMisuse && d.message.find(" fails, ") != std::string::npos &&
         (call.find("Alloc") != std::string_view::npos ||
          call.find("alloc") != std::string_view::npos);
}

/// The surest and worst first.
int weight(const Diagnostic& d) {
  if (d.severity != Severity::Error) {
    return d.severity == Severity::Warning ? 10 : 11;
  }
  if (is_failed_allocation(d)) {
    return -1; // what uses the memory goes wrong because of it
  }
  switch (d.finding) {
  case Finding::ApiMisuse: // what a call has not done is missed by others
    return 1;
  case Finding::DataRace:
  case Finding::UnorderedAccess:
    return 2;
  case Finding::Uninitialised:
    return 3;
  case Finding::Leak:
  case Finding::ExitStatus:
    return 6;
  default:
    break;
  }
  switch (group_of(d)) {
  case FindingGroup::Fault:
    return 0;
  case FindingGroup::Hang:
  case FindingGroup::Barrier:
    return 1;
  case FindingGroup::Host:
    return 4;
  case FindingGroup::Gap:
    break;
  }
  return 9;
}

bool is_about_same_bytes(const Diagnostic& d, const Diagnostic& cause) {
  return std::ranges::any_of(d.notes, [&](const std::string& note) {
    return note.starts_with("the address is ") && std::ranges::count(cause.notes, note) != 0;
  });
}

/// Does the rule name another barrier behind the branch at which threads have left the one of `d`?
bool is_other_barrier(const report::StaticFinding& one, const Diagnostic& d) {
  return one.key == "thread_synchronization_in_divergent_region" &&
         d.finding == Finding::BarrierDivergence &&
         std::ranges::any_of(one.steps, [&](const auto& step) {
           return std::ranges::any_of(d.labels, [&](const report::Label& label) {
             return label.text.starts_with("(2)") && same_line(label.place, step.where.place());
           });
         });
}

/// `d` is what `cause` does, or the same.
bool follows_from(const Diagnostic& d, const Diagnostic& cause) {
  if (cause.severity == Severity::Note || cause.severity > d.severity) {
    return false;
  }
  if (d.finding == Finding::ExitStatus) {
    return cause.severity == Severity::Error && cause.finding != Finding::Leak &&
           group_of(cause) != FindingGroup::Gap;
  }
  if (d.finding == Finding::Uninitialised && is_race(cause)) {
    return names_line(cause, d.place);
  }
  // What a call that failed has not done, nobody has written, nor has it waited for anything.
  if ((d.finding == Finding::Uninitialised || d.finding == Finding::Unawaited) &&
      cause.finding == Finding::ApiMisuse) {
    return true;
  }
  if (d.finding == Finding::Null && is_failed_allocation(cause)) {
    return true;
  }
  // A wrong address meets what is right of others, and at one that is wrong all threads meet.
  if (is_race(d) && group_of(cause) == FindingGroup::Fault && !is_race(cause) &&
      cause.finding != Finding::Uninitialised) {
    return same_line(d.place, cause.place);
  }
  if (d.finding == Finding::WarpMask && cause.finding == Finding::Uninitialised) {
    return same_line(d.place, cause.place); // of a shuffle that reads from a lane that has ended
  }
  if (is_turned_round(d, cause) || is_named_besides(d, cause)) {
    return true;
  }
  const bool same_kind = d.finding == cause.finding || (group_of(d) == FindingGroup::Hang &&
                                                        group_of(cause) == FindingGroup::Hang);
  if (same_kind && !d.place.known()) { // what a command of a stream does has no line in a search
    return (!cause.place.known() && d.message == cause.message) || is_about_same_bytes(d, cause);
  }
  return same_kind && same_line(d.place, cause.place);
}

} // namespace

bool TestFindings::knows(const Diagnostic& d) const {
  return std::ranges::any_of(all_, [&](const Diagnostic& known) { return follows_from(d, known); });
}

bool TestFindings::has_fault() const {
  return std::ranges::any_of(all_, [](const Diagnostic& d) {
    const bool fault =
        group_of(d) == FindingGroup::Fault && !is_race(d) && d.finding != Finding::Uninitialised;
    return d.severity == Severity::Error && (fault || group_of(d) == FindingGroup::Hang);
  });
}

std::vector<Diagnostic> TestFindings::take(std::vector<Diagnostic> found) {
  std::vector<std::pair<int, std::size_t>> order; // of one weight as they were found
  for (std::size_t i = 0; i < found.size(); ++i) {
    order.emplace_back(weight(found[i]), i);
  }
  std::ranges::sort(order);
  std::vector<Diagnostic> result;
  for (const auto& [unused, i] : order) {
    if (!knows(found[i])) {
      all_.push_back(found[i]);
      result.push_back(std::move(found[i]));
    }
  }
  return result;
}

void TestFindings::drop_known(std::vector<report::StaticFinding>& found) const {
  std::erase_if(found, [&](const report::StaticFinding& one) {
    return std::ranges::any_of(all_, [&](const Diagnostic& d) {
      return names_line(d, one.place.place()) || is_other_barrier(one, d);
    });
  });
}

} // namespace heddle::cli
