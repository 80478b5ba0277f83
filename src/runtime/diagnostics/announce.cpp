// Implements announce.h.
#include "runtime/diagnostics/announce.h"

#include "base/closed_libraries.h"
#include "explore/search/explorer.h"
#include "machine/fault_diagnostic.h"
#include "report/diagnostic_lines.h"
#include "report/render.h"
#include "report/suppression.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/memory_sites.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/diagnostics/unseen_error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

namespace heddle::runtime {

namespace {

/// Does the project live with it (HEDDLE_SUPPRESSIONS)? Then it is only written down: `heddle run`
/// counts it.
bool is_suppressed(report::Diagnostic diagnostic) {
  static std::mutex mutex;
  static auto* const suppressions = [] { // never destroyed: exit handlers use it
    std::stringstream text;
    if (const char* file = std::getenv("HEDDLE_SUPPRESSIONS")) {
      text << std::ifstream(file).rdbuf();
    }
    return new report::Suppressions(report::suppressions_from_lines(text.str()));
  }();
  const std::lock_guard lock(mutex);
  if (!suppressions->apply(diagnostic)) {
    return false;
  }
  write_down(diagnostic);
  return true;
}

report::TextStyle style() {
  return {.colour = report::use_colour(STDERR_FILENO), .whole_names = report::use_whole_names()};
}

void show(const std::string& text) {
  if (std::getenv("HEDDLE_REPORT_ONLY") == nullptr) {
    std::fflush(stdout); // so that the report stands where it happened
    std::fputs(text.c_str(), stderr);
  }
}

bool warnings_are_errors() {
  const char* strict = std::getenv("HEDDLE_WARNINGS_AS_ERRORS");
  return strict != nullptr && std::string_view(strict) == "1";
}

/// A finding without a line of its own is found by the first line that it names.
void place_at_first_label(report::Diagnostic& d) {
  const auto known = std::ranges::find_if(d.labels, [](const report::Label& label) {
    return label.place.known();
  });
  if (!d.place.known() && known != d.labels.end()) {
    d.place = known->place;
  }
}

void print(report::Diagnostic diagnostic) {
  place_at_first_label(diagnostic);
  write_down(diagnostic);
  report::SourceCache sources;
  show(render_text(diagnostic, sources, style()));
}

} // namespace

void write_down(const report::Diagnostic& diagnostic) {
  static std::mutex mutex;
  static auto* const written = new std::set<std::string>; // never destroyed: exit handlers use it
  const char* file = std::getenv("HEDDLE_REPORT_TO");
  if (file == nullptr) {
    return;
  }
  const std::lock_guard lock(mutex);
  if (std::string lines = report::to_lines(diagnostic); written->insert(lines).second) {
    std::ofstream(file, std::ios::app) << lines;
  }
}

void warn(report::Diagnostic diagnostic) {
  if (is_suppressed(diagnostic)) {
    return;
  }
  if (warnings_are_errors()) {
    diagnostic.severity = report::Severity::Error;
    record_outcome(Outcome::Defect);
  } else {
    diagnostic.severity = report::Severity::Warning;
  }
  print(diagnostic);
}

void announce(const report::Diagnostic& diagnostic) {
  if (explore::note_finding(diagnostic)) {
    return; // `heddle check` reports it once for all executions
  }
  if (is_suppressed(diagnostic)) {
    return;
  }
  record_outcome(
      diagnostic.finding == report::Finding::Unsupported ? Outcome::Unsupported : Outcome::Defect
  );
  print(diagnostic);
}

void announce_after_warning(const std::vector<report::Diagnostic>& diagnostics) {
  std::string told;
  std::string help;
  for (const report::Diagnostic& d : diagnostics) {
    if (explore::note_finding(d) || is_suppressed(d) || warnings_are_errors()) {
      continue;
    }
    record_outcome(Outcome::Defect);
    write_down(d);
    report::Diagnostic rest = d;
    rest.message = fmt::format(
        "{}, as warned of above: {}",
        rest.message.substr(0, rest.message.find(": ")),
        rest.notes.empty() ? "" : rest.notes.back()
    );
    told += render_headline(rest, style());
    help = rest.help.empty() ? "" : fmt::format("  = help: {}\n", rest.help.back());
  }
  if (!told.empty()) {
    show(told + help);
  }
}

void announce_or_write(const report::Diagnostic& diagnostic) {
  if (const char* file = std::getenv("HEDDLE_FOUND_TO")) {
    report::Diagnostic placed = diagnostic;
    place_at_first_label(placed);
    std::ofstream(file, std::ios::app) << report::to_lines(placed);
  } else if (diagnostic.severity == report::Severity::Warning) {
    warn(diagnostic);
  } else {
    announce(diagnostic);
  }
}

void announce_note(const report::Diagnostic& note) {
  if (const char* file = std::getenv("HEDDLE_FOUND_TO")) {
    std::ofstream(file, std::ios::app) << report::to_lines(note);
  } else {
    write_down(note);
  }
}

namespace {

/// Never destroyed: exit handlers ask for them.
struct Faults {
  std::mutex mutex;
  std::vector<report::Diagnostic> announced;
};
Faults& faults() {
  static auto* const instance = new Faults;
  return *instance;
}

} // namespace

std::vector<report::Diagnostic> announced_faults(report::Finding finding) {
  const std::lock_guard lock(faults().mutex);
  std::vector<report::Diagnostic> result = faults().announced;
  std::erase_if(result, [finding](const report::Diagnostic& d) { return d.finding != finding; });
  return result;
}

void announce_fault(const machine::FaultReport& fault) {
  report::Diagnostic d = machine::diagnose(fault);
  {
    const std::lock_guard lock(faults().mutex);
    faults().announced.push_back(d);
  }
  if (!explore::is_exploring()) {
    add_launches(d, fault.launches);
    const bool named = std::ranges::any_of(d.notes, [](const std::string& note) {
      return note.starts_with("the address is ");
    });
    add_memory_sites(d, named ? fault.nearest : std::nullopt);
  }
  announce(d);
}

void announce_remark(const machine::FaultReport& what) {
  report::Diagnostic d = machine::diagnose(what);
  if (!explore::is_exploring()) {
    add_launches(d, what.launches);
    warn(std::move(d));
  } else if (const char* file = std::getenv("HEDDLE_REMARKS_TO")) {
    d.severity = report::Severity::Warning;
    std::ofstream(file, std::ios::app) << report::to_lines(d);
  }
}

void announce_bad_free(const memory::AddressSpace& space, memory::Address p, const char* call) {
  const auto nearest = space.nearest(p);
  const bool twice = nearest && nearest->freed && nearest->base == p;
  report::Diagnostic d(
      twice ? report::Finding::DoubleFree : report::Finding::InvalidFree,
      twice ? fmt::format("{} of {:#x}, which has been freed before", call, p)
            : fmt::format("{} of {:#x}, which no call that belongs to it returned", call, p)
  );
  machine::note_if_near(d, nearest, p);
  d.notes.emplace_back("the call returns cudaErrorInvalidValue, as on a real device");
  add_call(d);
  add_memory_sites(d, nearest);
  note_told();
  announce(d);
}

void warn_of_free_after_reset(memory::Address p, const char* call) {
  report::Diagnostic d(
      report::Finding::InvalidFree,
      fmt::format("{} of {:#x}, which cudaDeviceReset has freed", call, p)
  );
  d.notes.emplace_back("the call returns cudaErrorInvalidValue, as on a real device");
  add_call(d);
  note_told();
  warn(std::move(d));
}

void warn_of_bad_range(
    const memory::AddressSpace& space,
    memory::Address at,
    std::uint64_t bytes,
    const char* call
) {
  const auto found = space.find(at);
  if (!memory::AddressSpace::in_device_range(at) || (found && found->contains(at, bytes))) {
    return;
  }
  const auto nearest = space.nearest(at);
  const bool freed = !found && nearest && nearest->freed && at - nearest->base < nearest->size;
  report::Diagnostic d(
      freed ? report::Finding::UseAfterFree : report::Finding::OutOfBounds,
      freed ? fmt::format("{} of {} bytes at {:#x}, which has been freed", call, bytes, at)
            : fmt::format("{} of {} bytes at {:#x} leaves its allocation", call, bytes, at)
  );
  machine::note_if_near(d, nearest, at);
  d.notes.emplace_back("the call returns cudaErrorInvalidValue and does nothing");
  add_call(d);
  add_memory_sites(d, nearest);
  warn(d);
  note_refusal(d);
}

void warn_of_refused_launch(
    const std::string& kernel,
    const std::string& why,
    const std::string& code
) {
  report::Diagnostic d(
      report::Finding::ApiMisuse,
      fmt::format("a launch of {} does not take place: {}", kernel, why)
  );
  d.notes.push_back(fmt::format("the launch returns {}", code));
  d.functions.push_back(kernel);
  add_call(d);
  warn(d);
  note_refusal(d);
}

void announce_stale_handle(const char* what) {
  report::Diagnostic d(
      report::Finding::ApiMisuse,
      fmt::format("{} is used after its destruction", what)
  );
  d.notes.emplace_back("the call returns an error here; NVIDIA's library may crash");
  add_call(d);
  note_told();
  announce(d);
}

void complain_library(const std::string& text, std::string_view what) {
  explore::stop_unsupported(what); // under `heddle check` the search ends here
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!said->insert(text).second) {
      return;
    }
  }
  report::Diagnostic d(report::Finding::Unsupported, text);
  d.notes.emplace_back("a gap of Heddle, not a defect of the program");
  add_call(d);
  announce(d);
}

void complain_closed(std::string_view library) {
  complain_library(
      is_closed_library(library)
          ? fmt::format(
                "{} brings machine code for NVIDIA's GPUs and a runtime of its own, so its calls "
                "that need a GPU fail",
                library
            )
          : fmt::format(
                "{} asks the driver for NVIDIA's private tables, as a runtime library does that is "
                "linked statically and whose symbol table was stripped. Do not strip it (strip -g "
                "keeps the names), or link with -cudart shared",
                library
            ),
      library
  );
}

} // namespace heddle::runtime
