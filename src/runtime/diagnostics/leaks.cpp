// Implements leaks.h. Registered memory is the program's own and does not count; arrays, streams
// and events do not count either (misses).
#include "runtime/diagnostics/leaks.h"

#include "report/render.h"
#include "runtime/diagnostics/announce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace heddle::runtime {
namespace {

constexpr std::size_t most_named = 8;

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

void at_exit(int /*status*/, void* argument) {
  std::vector<Owned> left = static_cast<const MemoryTable*>(argument)->all();
  std::erase_if(left, [](const Owned& one) {
    return one.kind == memory::AllocationKind::Registered;
  });
  if (left.empty()) {
    return;
  }
  std::ranges::sort(left, {}, &Owned::base);
  std::uint64_t bytes = 0;
  for (const Owned& one : left) {
    bytes += one.bytes;
  }
  report::Diagnostic d(
      report::Finding::Leak,
      fmt::format(
          "{} bytes in {} allocation{} were not freed before the program ended",
          report::with_thousands(bytes),
          left.size(),
          left.size() == 1 ? "" : "s"
      )
  );
  for (std::size_t i = 0; i < std::min(left.size(), most_named); ++i) {
    d.notes.push_back(
        fmt::format(
            "{} bytes of {} memory at {:#x}",
            report::with_thousands(left[i].bytes),
            kind_name(left[i].kind),
            left[i].base
        )
    );
  }
  if (left.size() > most_named) {
    d.notes.push_back(fmt::format("and {} more", left.size() - most_named));
  }
  announce(d);
}

} // namespace

void announce_leaks_at_exit(const MemoryTable& memory) {
  ::on_exit(at_exit, const_cast<MemoryTable*>(&memory));
}

} // namespace heddle::runtime
