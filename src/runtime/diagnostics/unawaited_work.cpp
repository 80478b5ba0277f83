// Implements unawaited_work.h.
#include "runtime/diagnostics/unawaited_work.h"

#include "machine/unawaited.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/forked_child.h"
#include "runtime/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace heddle::runtime {
namespace {

using machine::Unawaited;

/// Has it results that the program may want? Frees, for example, have none.
bool has_results(const Unawaited::Work& work) {
  return work.kind == machine::CommandKind::Kernel || work.kind == machine::CommandKind::Copy ||
         work.kind == machine::CommandKind::HostFunction;
}

void warn_of(const std::vector<Unawaited::Work>& left, bool ends) {
  const Unawaited::Work& last = left.back();
  const bool kernel = last.kind == machine::CommandKind::Kernel;
  report::Diagnostic d(
      report::Finding::Unawaited,
      fmt::format(
          "the program ends without waiting for {}{}",
          kernel ? fmt::format("kernel '{}'", last.label)
                 : fmt::format("{} in {}", last.label, last.stream),
          left.size() == 1 ? "" : fmt::format(", and {} more before it", left.size() - 1)
      )
  );
  d.notes.emplace_back(
      ends ? "nothing says whether a device carries out work that is left when a process ends"
           : "it did not end either; nothing says whether a device carries out work that is left "
             "when a process ends"
  );
  if (kernel) {
    d.functions.push_back(last.label);
    add_launches(d, {{std::pair(last.label, last.called_from)}});
  }
  d.help.emplace_back(
      "call cudaDeviceSynchronize() at the end, and look at the error code that it returns"
  );
  warn(std::move(d));
}

void finish_work_at_exit(int status, void* argument) {
  auto& rt = *static_cast<Runtime*>(argument);
  if (rt.world().has_fault() || is_forked_child()) { // that has none of the parent's work
    return;
  }
  std::vector<Unawaited::Work> left = rt.world().unawaited()->all();
  std::erase_if(left, [](const Unawaited::Work& work) { return !has_results(work); });
  const bool ends = rt.world().driver().complete_rest();
  const bool failed = (status & 0xff) != 0; // it says by itself that something went wrong
  // Through memory of its own the host may have learnt what devices have done.
  const bool unseen = !ends || !rt.memory().has_been_shared();
  if (!left.empty() && !failed && !rt.world().has_fault() && unseen) {
    warn_of(left, ends);
  }
}

} // namespace

void announce_unawaited_at_exit(Runtime& runtime) {
  ::on_exit(finish_work_at_exit, &runtime);
}

} // namespace heddle::runtime
