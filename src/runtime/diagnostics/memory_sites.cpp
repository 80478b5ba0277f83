// Implements memory_sites.h.
#include "runtime/diagnostics/memory_sites.h"

#include "runtime/diagnostics/host_place.h"
#include "runtime/runtime.h"

namespace heddle::runtime {

void add_memory_sites(report::Diagnostic& d, const std::optional<memory::Allocation>& nearest) {
  Runtime* const runtime = Runtime::existing();
  if (!nearest || runtime == nullptr || runtime->config().mode != Mode::Run) {
    return;
  }
  const MemorySites sites = runtime->memory().sites(nearest->base, nearest->freed);
  report::Diagnostic places(d.finding, ""); // none of them is the place of the finding
  add_host_place(places, sites.allocated_from, "allocated here");
  add_host_place(places, sites.freed_from, "freed here");
  d.labels.insert(d.labels.end(), places.labels.begin(), places.labels.end());
  d.notes.insert(d.notes.end(), places.notes.begin(), places.notes.end());
}

} // namespace heddle::runtime
