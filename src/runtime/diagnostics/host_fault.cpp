// Implements host_fault.h.
#include "runtime/diagnostics/host_fault.h"

#include "machine/fault_diagnostic.h"
#include "runtime/diagnostics/announce.h"
#include "runtime/diagnostics/outcome.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

namespace heddle::runtime {
namespace {

/// Signal handlers take no context, so this has to be process-wide.
const memory::AddressSpace* watched = nullptr;
struct sigaction previous;

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status),
      std::free
  );
  return status == 0 && text != nullptr ? text.get() : name;
}

/// "main+0x42 (./app+0x1a42)", or the nearest frame outside libc and this library.
std::string place_of(void* instruction) {
  constexpr int depth = 32;
  void* frames[depth];
  const int n = ::backtrace(frames, depth);
  Dl_info here{};
  ::dladdr(reinterpret_cast<const void*>(&place_of), &here);
  bool reached = false;
  for (int i = 0; i < n; ++i) {
    // Frames above the faulting instruction belong to the handler.
    reached = reached || frames[i] == instruction;
    Dl_info info{};
    if (!reached || ::dladdr(frames[i], &info) == 0 || info.dli_fname == nullptr ||
        info.dli_fbase == here.dli_fbase || std::strstr(info.dli_fname, "/libc.so") != nullptr ||
        std::strstr(info.dli_fname, "/libstdc++.so") != nullptr) {
      continue;
    }
    const auto offset = reinterpret_cast<std::uintptr_t>(frames[i]) -
                        reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    std::string text = fmt::format("{}+{:#x}", info.dli_fname, offset);
    if (info.dli_sname != nullptr) {
      text = fmt::format("{} ({})", demangled(info.dli_sname), text);
    }
    return text;
  }
  return "an unknown place";
}

void handle(int signal, siginfo_t* info, void* context) {
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
      d.notes.push_back(
          "in " + place_of(reinterpret_cast<void*>(state->uc_mcontext.gregs[REG_RIP]))
      );
      d.notes.push_back("the address is " + machine::place_in_memory(*nearest, at));
      announce(d);
      std::fflush(nullptr);
      ::_exit(exit_code_of(Outcome::Defect));
    }
  }
  if (watched != nullptr && memory::AddressSpace::in_device_range(at)) {
    const auto* state = static_cast<const ucontext_t*>(context);
    const bool write = (state->uc_mcontext.gregs[REG_ERR] & 2) != 0; // page fault error code, bit 1
    auto* instruction = reinterpret_cast<void*>(state->uc_mcontext.gregs[REG_RIP]);
    report::Diagnostic d(
        report::Finding::HostDereference,
        fmt::format("host code {} device memory at {:#x}", write ? "writes" : "reads", at)
    );
    d.notes.push_back("in " + place_of(instruction));
    if (const auto nearest = watched->nearest(at)) {
      d.notes.push_back("the address is " + machine::place_in_memory(*nearest, at));
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
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &previous);
}

} // namespace heddle::runtime
