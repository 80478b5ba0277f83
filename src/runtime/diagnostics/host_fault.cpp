// Implements host_fault.h.
#include "runtime/diagnostics/host_fault.h"

#include "explore/search/explorer.h"
#include "machine/fault_diagnostic.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/host_place.h"
#include "runtime/diagnostics/memory_sites.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/diagnostics/page_fault.h"
#include "runtime/diagnostics/pending_memory.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <vector>

namespace heddle::runtime {
namespace {

/// Signal handlers take no context, so this has to be process-wide.
const memory::AddressSpace* watched = nullptr;
struct sigaction previous;

/// By which a program ends that goes on with what a failed call did not give it.
constexpr int deaths[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL};

/// What was reported before explains why the program ends like this. Uses no memory: the signal may
/// have come from malloc.
void end_with_outcome() {
  PendingMemory::settle();
  if (outcome() == Outcome::Clean) {
    return;
  }
  std::fflush(nullptr);
  constexpr std::string_view text = "heddle: the program crashed after what is reported above\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_code_of(outcome()));
}

void handle_death(int signal) {
  ::signal(signal, SIG_DFL); // first: what follows may end the same way
  end_with_outcome();
  ::raise(signal); // when this handler has returned
}

/// Where the instruction is and how it got there.
void add_place_of(report::Diagnostic& d, const void* instruction) {
  std::vector<const void*> frames = callers();
  // Frames above the faulting instruction belong to the handler.
  const auto at = std::ranges::find(frames, instruction);
  frames.erase(frames.begin(), at == frames.end() ? frames.begin() : at);
  if (!frames.empty() && frames.front() == instruction) {
    frames.front() = static_cast<const std::byte*>(instruction) + 1; // it returns nowhere
  }
  if (!explore::is_exploring()) { // a search has its own way, and must start no addr2line
    add_host_place(d, frames, "host code is here");
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  if (take_page_fault(info, context)) {
    return;
  }
  const auto at = reinterpret_cast<memory::Address>(info->si_addr);
  if (watched != nullptr && !memory::AddressSpace::in_device_range(at)) {
    // Managed and pinned memory is unmapped when it is freed.
    const auto nearest = watched->nearest(at);
    if (nearest && nearest->freed && at - nearest->base < nearest->size) {
      const auto* state = static_cast<const ucontext_t*>(context);
      const bool write = (state->uc_mcontext.gregs[REG_ERR] & 2) != 0;
      report::Diagnostic d(
          report::Finding::UseAfterFree,
          fmt::format("host code {} at {:#x}", write ? "writes" : "reads", at)
      );
      add_place_of(d, reinterpret_cast<const void*>(state->uc_mcontext.gregs[REG_RIP]));
      d.notes.push_back("the address is " + machine::place_in_memory(*nearest, at));
      add_memory_sites(d, nearest);
      announce(d);
      std::fflush(nullptr);
      ::_exit(exit_code_of(Outcome::Defect));
    }
  }
  if (watched != nullptr && memory::AddressSpace::in_device_range(at)) {
    const auto* state = static_cast<const ucontext_t*>(context);
    const bool write = (state->uc_mcontext.gregs[REG_ERR] & 2) != 0; // page fault error code, bit 1
    const auto* instruction = reinterpret_cast<const void*>(state->uc_mcontext.gregs[REG_RIP]);
    report::Diagnostic d(
        report::Finding::HostDereference,
        fmt::format("host code {} device memory at {:#x}", write ? "writes" : "reads", at)
    );
    add_place_of(d, instruction);
    if (const auto nearest = watched->nearest(at)) {
      d.notes.push_back("the address is " + machine::place_in_memory(*nearest, at));
      add_memory_sites(d, nearest);
    }
    d.help.emplace_back(
        "copy it with cudaMemcpy, or allocate it with cudaMallocManaged or cudaMallocHost"
    );
    announce(d);
    std::fflush(nullptr);
    ::_exit(exit_code_of(Outcome::Defect));
  }
  // Not ours: as if we had never been there.
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    end_with_outcome();
    ::sigaction(
        signal,
        &previous,
        nullptr
    ); // the instruction faults again, with the default action
  }
}

} // namespace

void install_host_fault_handler(const memory::AddressSpace& space) {
  if (watched != nullptr) {
    watched = &space;
    return;
  }
  watched = &space;
  void* warm_up[1];
  ::backtrace(warm_up, 1); // loads libgcc now, not inside the handler
  struct sigaction action{};
  action.sa_sigaction = handle;
  set_fault_handler(handle);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &previous);
  for (const int signal : deaths) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) {
      struct sigaction own{};
      own.sa_handler = handle_death;
      own.sa_flags = SA_ONSTACK;
      sigemptyset(&own.sa_mask);
      ::sigaction(signal, &own, nullptr);
    }
  }
}

} // namespace heddle::runtime
