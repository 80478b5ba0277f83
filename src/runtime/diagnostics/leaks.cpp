// Implements leaks.h. Registered memory is the program's own and does not count.
#include "runtime/diagnostics/leaks.h"

#include "report/render.h"
#include "runtime/arrays/array.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/runtime.h"
#include "runtime/streams/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::runtime {
namespace {

std::string_view kind_name(memory::AllocationKind kind) {
  switch (kind) {
  case memory::AllocationKind::Managed:
    return "managed";
  case memory::AllocationKind::Pinned:
    return "pinned";
  default:
    return "device";
  }
}

std::string counted(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", report::with_thousands(n), what, n == 1 ? "" : "s");
}

/// What one place of the program has allocated; not empty.
report::Diagnostic describe(const std::vector<Owned>& left) {
  std::uint64_t bytes = 0;
  std::map<std::string_view, std::uint64_t> kinds;
  for (const Owned& one : left) {
    bytes += one.bytes;
    kinds[kind_name(one.kind)] += one.bytes;
  }
  report::Diagnostic d(
      report::Finding::Leak,
      fmt::format(
          "{} bytes in {} were not freed before the program ended",
          report::with_thousands(bytes),
          counted(left.size(), "allocation")
      )
  );
  std::vector<std::string> of_kind;
  for (const auto& [kind, sum] : kinds) {
    of_kind.push_back(
        kinds.size() == 1 ? fmt::format("{} memory", kind)
                          : fmt::format("{} bytes of {} memory", report::with_thousands(sum), kind)
    );
  }
  const std::string what = fmt::format("{}", fmt::join(of_kind, ", "));
  add_host_place(d, left.front().called_from, what + " is allocated here");
  if (!d.place.known()) {
    d.notes.push_back(what);
  }
  return d;
}

void tell_of_memory(const MemoryTable& memory) {
  std::vector<Owned> left = memory.all();
  std::erase_if(left, [](const Owned& one) {
    return one.kind == memory::AllocationKind::Registered;
  });
  std::ranges::sort(left, {}, &Owned::number);
  std::map<std::vector<const void*>, std::size_t> places;
  std::vector<std::vector<Owned>> groups; // those of one place
  for (Owned& one : left) {
    const auto [group, is_new] = places.try_emplace(one.called_from, groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    groups[group->second].push_back(std::move(one));
  }
  for (const std::vector<Owned>& group : groups) {
    announce(describe(group));
  }
}

void tell_of_handles(Runtime& rt) {
  const auto lock = rt.graphs().lock();
  std::vector<std::string> left;
  const auto add = [&left](std::size_t n, std::string_view what) {
    if (n != 0) {
      left.push_back(counted(n, what));
    }
  };
  add(rt.streams().created_streams(), "stream");
  add(rt.streams().created_events(), "event");
  add(rt.graphs().created_graphs(), "graph");
  add(rt.graphs().created_execs(), "executable graph");
  add(rt.arrays().created_objects(), "texture or surface object");
  if (!left.empty()) {
    warn(
        {report::Finding::Leak,
         fmt::format("not destroyed before the program ended: {}", fmt::join(left, ", "))}
    );
  }
}

void at_exit(int /*status*/, void* argument) {
  auto& rt = *static_cast<Runtime*>(argument);
  if (rt.world().has_fault()) {
    return; // no call frees anything after a kernel has failed
  }
  tell_of_memory(rt.memory());
  tell_of_handles(rt);
}

} // namespace

void announce_leaks_at_exit(Runtime& runtime) {
  runtime.memory().remember_callers();
  ::on_exit(at_exit, &runtime);
}

} // namespace heddle::runtime
