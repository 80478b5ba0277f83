// Implements unwritten_diagnostic.h.
#include "runtime/diagnostics/unwritten_diagnostic.h"

#include "explore/verdict/source_places.h"
#include "machine/fault_diagnostic.h"
#include "report/names.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/memory_sites.h"

#include <fmt/format.h>

#include <cstdlib>

namespace heddle::runtime {
namespace {

using unwritten::Matter;

report::Place place_of(const machine::SourcePlace& place) {
  return report::Place{place.file, place.line, place.column, 0};
}

report::Place users_place(const machine::FaultReport& where) {
  std::vector<machine::SourcePlace> places{where.source};
  places.insert(places.end(), where.inlined_at.begin(), where.inlined_at.end());
  return place_of(explore::users_place(places));
}

/// What a shuffle gives for a lane that is not there.
const char* what_happened_without_lane(Matter matter) {
  switch (matter) {
  case Matter::Branch:
    return "a branch depends on what a shuffle gives for a lane that has ended";
  case Matter::Guard:
    return "whether something is executed depends on what a shuffle gives for a lane that has "
           "ended";
  case Matter::Address:
    return "an address depends on what a shuffle gives for a lane that has ended";
  case Matter::Update:
    return "an atomic operation uses what a shuffle gives for a lane that has ended";
  case Matter::Result:
  case Matter::Nothing:
  case Matter::Copied:
  case Matter::HostRead:
    break;
  }
  return "a result in global memory was computed from what a shuffle gives for a lane that has "
         "ended";
}

const char* what_happened(Matter matter) {
  switch (matter) {
  case Matter::Branch:
    return "a branch depends on uninitialised memory";
  case Matter::Guard:
    return "whether something is executed depends on uninitialised memory";
  case Matter::Address:
    return "an address depends on uninitialised memory";
  case Matter::Update:
    return "an atomic operation uses uninitialised memory";
  case Matter::Result:
    return "a result in global memory was computed from uninitialised memory";
  case Matter::Nothing:
    return "read of memory that was never written";
  case Matter::Copied:
    return "copy of memory that was never written";
  case Matter::HostRead:
    return "host code uses a copy of uninitialised device memory";
  }
  return "";
}

void at_exit(int /*status*/, void* argument) {
  for (const auto& found : static_cast<const unwritten::Unwritten*>(argument)->reports()) {
    announce_or_write(diagnose(found));
  }
}

} // namespace

report::Diagnostic diagnose(const unwritten::Report& found) {
  const bool ended = found.ended_lane >= 0;
  report::Diagnostic d(
      report::Finding::Uninitialised,
      ended ? what_happened_without_lane(found.matter) : what_happened(found.matter)
  );
  d.threads.push_back(found.who);
  const std::string read =
      fmt::format("{} byte{} read by {}", found.bytes, found.bytes == 1 ? "" : "s", found.who);
  if (found.who.find("kernel '") != std::string::npos) {
    d.functions.push_back(report::kernel_in(found.who));
  }
  if (found.matter == Matter::HostRead) {
    add_host_place(
        d,
        {{found.host_pc}},
        fmt::format("{} byte{} read here", found.bytes, found.bytes == 1 ? "" : "s")
    );
    d.notes.push_back("copied by " + found.who);
  } else if (found.matter == Matter::Copied) {
    d.notes.push_back(read);
  } else {
    const bool same = found.read.source.line == found.use.source.line &&
                      found.read.source.file == found.use.source.file &&
                      found.read.source.line != 0;
    d.place = users_place(found.read);
    machine::add_place(d, found.read, read, "(1) ");
    if (!same) {
      machine::add_place(d, found.use, "it matters here", "(2) ");
    }
  }
  if (!found.memory.empty()) {
    d.notes.push_back("the memory: " + found.memory);
  }
  if (found.count > 1) {
    d.notes.push_back(fmt::format("{} times in this execution", found.count));
  }
  if (found.matter != Matter::Copied && found.matter != Matter::HostRead &&
      found.read.source.line == 0) {
    d.notes.emplace_back("compile with -lineinfo to see the lines");
  }
  add_launches(d, found.read.launches);
  add_allocation_site(d, found.allocation);
  if (ended) {
    d.notes.push_back(
        fmt::format(
            "lane {} of its warp has ended, or the block has no such thread: PTX does not say what "
            "is read from it, and it is 0 here",
            found.ended_lane
        )
    );
    d.help.emplace_back(
        "let all lanes of the warp reach the shuffle, with a neutral value where they have none"
    );
    return d;
  }
  if (found.matter == Matter::HostRead) {
    d.help.emplace_back(
        "launch enough threads that every element is written, or copy and read only what is"
    );
    return d;
  }
  d.help.emplace_back(
      found.memory.starts_with("shared memory")
          ? "set all of it first, each thread its part or one thread "
            "all, and then __syncthreads()"
      : found.memory.starts_with("local memory")
          ? "give the variable a value where it is declared"
          : "write it first: cudaMemset, cudaMemcpy, or a store that comes before in every schedule"
  );
  return d;
}

void announce_unwritten_at_exit(const unwritten::Unwritten& unwritten) {
  ::on_exit(at_exit, const_cast<unwritten::Unwritten*>(&unwritten)); // as long-lived as the runtime
}

} // namespace heddle::runtime
