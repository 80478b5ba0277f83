// Implements memory_sites.h.
#include "runtime/diagnostics/memory_sites.h"

#include "runtime/diagnostics/host_place.h"
#include "runtime/runtime.h"

namespace heddle::runtime {
namespace {

/// None of them becomes the place of the finding.
void add_sites(report::Diagnostic& d, const report::Diagnostic& places) {
  d.labels.insert(d.labels.end(), places.labels.begin(), places.labels.end());
  d.notes.insert(d.notes.end(), places.notes.begin(), places.notes.end());
}

Runtime* of_a_run() {
  Runtime* const runtime = Runtime::existing();
  return runtime != nullptr && runtime->config().mode == Mode::Run ? runtime : nullptr;
}

} // namespace

void add_memory_sites(report::Diagnostic& d, const std::optional<memory::Allocation>& nearest) {
  Runtime* const runtime = of_a_run();
  if (!nearest || runtime == nullptr) {
    return;
  }
  const MemorySites sites = runtime->memory().sites(nearest->base, nearest->freed);
  report::Diagnostic places(d.finding, "");
  add_host_place(places, sites.allocated_from, "allocated here");
  add_host_place(places, sites.freed_from, "freed here");
  add_sites(d, places);
}

void add_allocation_site(report::Diagnostic& d, const std::optional<memory::Allocation>& one) {
  Runtime* const runtime = of_a_run();
  if (!one || runtime == nullptr) {
    return;
  }
  report::Diagnostic places(d.finding, "");
  add_host_place(places, runtime->memory().allocated_from(*one), "allocated here");
  add_sites(d, places);
}

void add_free_site(report::Diagnostic& d, const std::optional<memory::Allocation>& one) {
  Runtime* const runtime = of_a_run();
  if (!one || runtime == nullptr) {
    return;
  }
  if (const MemorySites known = runtime->memory().sites(one->base, /*freed=*/true);
      known.id == one->id && one->id != 0) {
    add_host_place(d, known.freed_from, "freed here");
  }
}

} // namespace heddle::runtime
