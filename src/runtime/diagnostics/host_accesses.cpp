// Implements host_accesses.h.
#include "runtime/diagnostics/host_accesses.h"

#include "hostwatch/hooks.h"
#include "machine/monitor.h"
#include "runtime/diagnostics/code_origin.h"
#include "runtime/diagnostics/pageable_results.h"
#include "runtime/runtime.h"

#include <dlfcn.h>

#include <algorithm>

namespace heddle::runtime {
namespace {

/// One per process, like the instrumented code that calls it.
Runtime* the_runtime = nullptr;
unwritten::Unwritten* the_unwritten = nullptr;
race::Races* the_races = nullptr;
PageableResults the_results;

/// Ordinary memory of the host, which may hold what nobody has written.
void access_copy(memory::Address at, std::size_t bytes, const void* pc, bool store) {
  if (store) {
    the_unwritten->host_copies().written(at, bytes);
  } else if (const auto copy = the_unwritten->host_copies().read(at, bytes)) {
    the_runtime->world().driver().alone([&] { the_unwritten->host_read(*copy, bytes, pc); });
  }
}

void access(const void* p, std::size_t bytes, const void* pc, bool store) {
  Runtime& rt = *the_runtime;
  const auto at = reinterpret_cast<memory::Address>(p);
  const memory::Range range = rt.space().find_range(at);
  if (range.size == 0) {
    if (the_results.contain(at) && !rt.world().has_fault()) {
      rt.world().driver().alone([&] { rt.world().monitor()->host_access(at, bytes, store, pc); });
    }
    if (the_unwritten != nullptr) {
      access_copy(at, bytes, pc, store);
    }
    return;
  }
  if (!rt.config().races || rt.world().has_fault()) {
    return;
  }
  const std::uint64_t here = std::min<std::uint64_t>(bytes, range.base + range.size - at);
  rt.world().driver().alone([&] { rt.world().monitor()->host_access(at, here, store, pc); });
}

machine::HostOrder& order() {
  return *the_runtime->world().monitor()->host_order();
}

// Heddle's own locks order nothing of the program.

void released(const void* object, const void* pc) {
  if (origin_of(pc) != CodeOrigin::Heddle) {
    order().released(object);
  }
}

void acquired(const void* object, const void* pc) {
  if (origin_of(pc) != CodeOrigin::Heddle) {
    order().acquired(object);
  }
}

void performed(const void* object, int how, bool loads, bool stores, const void* pc) {
  if (origin_of(pc) != CodeOrigin::Heddle) {
    order().atomic(object, how, loads, stores);
  }
}

// How the threads of a library that is not instrumented synchronise cannot be seen.
void* creates(bool by_openmp, const void* pc) {
  return order().creates(by_openmp || origin_of(pc) != CodeOrigin::Instrumented);
}

void freed(const void* p, std::size_t bytes) {
  the_results.drop(reinterpret_cast<memory::Address>(p), bytes);
  if (the_unwritten != nullptr) {
    the_unwritten->host_copies().written(reinterpret_cast<memory::Address>(p), bytes);
  }
}

HeddleAccessObserver
    observer{.low = ~std::uintptr_t{0}, .high = 0, .access = access, .freed = freed};

void observe_order() {
  order().tell_apart();
  observer.acquired = acquired;
  observer.atomic = performed;
  observer.fence = [](int how) { order().fence(how); };
  observer.reads_volatile = [](const void* object, const void*) { order().about_to_read(object); };
  observer.creates = creates;
  observer.begins = [](void* thread, pthread_t self) { order().begins(thread, self); };
  observer.joined = [](pthread_t thread, const void*) { order().joined(thread); };
  observer.released = released;
}

void observe_memory(memory::Address base, std::uint64_t bytes) {
  const std::uintptr_t low = std::min<std::uintptr_t>(observer.low, base);
  const std::uintptr_t high = std::max<std::uintptr_t>(observer.high, base + bytes);
  __atomic_store_n(&observer.low, low, __ATOMIC_RELAXED);
  __atomic_store_n(&observer.high, high, __ATOMIC_RELAXED);
}

} // namespace

void watch_host_accesses(Runtime& runtime, unwritten::Unwritten* unwritten) {
  using Set = void(const HeddleAccessObserver*);
  auto* set = reinterpret_cast<Set*>(::dlsym(RTLD_DEFAULT, "heddle_set_access_observer"));
  if (set == nullptr) {
    return;
  }
  the_runtime = &runtime;
  the_unwritten = unwritten;
  if (runtime.config().races) {
    observe_order();
    runtime.space().on_host_memory(observe_memory);
  }
  if (unwritten != nullptr) {
    unwritten->host_copies().on_memory(observe_memory);
  }
  set(&observer);
}

void note_result_of_host(memory::Address at, std::uint64_t bytes) {
  if (the_runtime != nullptr && the_runtime->config().races) {
    observe_memory(at, bytes);
    the_results.add(at, bytes);
  }
}

void set_races_of_host(race::Races& races) {
  the_races = &races;
}

void note_argument_of_function(const void* data) {
  // How large it is nobody says. Neighbours are looked at as exactly as what it points at.
  constexpr std::uint64_t bytes = 64;
  const auto at = reinterpret_cast<memory::Address>(data);
  if (the_runtime == nullptr || the_races == nullptr || at == 0 || the_results.contain(at) ||
      the_runtime->space().find_range(at).size != 0) {
    return;
  }
  // What was accessed there before may have been something else.
  the_runtime->world().driver().alone([&] { the_races->global().forget(at, bytes); });
  note_result_of_host(at, bytes);
}

void forget_results_of_host() {
  the_results.clear();
}

void note_copy_to_host(const machine::Command& command, memory::Address at, std::uint64_t bytes) {
  if (the_results.contain(at)) {
    the_runtime->world().monitor()->host_side_access(command, at, bytes, /*store=*/true);
  }
  if (the_unwritten != nullptr) {
    the_unwritten->host_side_access(command, at, bytes, /*store=*/true);
  }
}

} // namespace heddle::runtime
