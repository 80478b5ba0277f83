// Implements host_accesses.h.
#include "runtime/diagnostics/host_accesses.h"

#include "hostwatch/hooks.h"
#include "machine/monitor.h"
#include "runtime/runtime.h"

#include <dlfcn.h>

#include <algorithm>

namespace heddle::runtime {
namespace {

/// One per process, like the instrumented code that calls it.
Runtime* the_runtime = nullptr;

void access(const void* p, std::size_t bytes, const void* pc, bool store) {
  Runtime& rt = *the_runtime;
  const auto at = reinterpret_cast<memory::Address>(p);
  const memory::Range range = rt.space().find_range(at);
  if (range.size == 0 || rt.world().has_fault()) {
    return;
  }
  const std::uint64_t here = std::min<std::uint64_t>(bytes, range.base + range.size - at);
  rt.world().driver().alone([&] { rt.world().monitor()->host_access(at, here, store, pc); });
}

HeddleAccessObserver observer{~std::uintptr_t{0}, 0, access};

} // namespace

void watch_host_accesses(Runtime& runtime) {
  using Set = void(const HeddleAccessObserver*);
  auto* set = reinterpret_cast<Set*>(::dlsym(RTLD_DEFAULT, "heddle_set_access_observer"));
  if (set == nullptr) {
    return;
  }
  the_runtime = &runtime;
  runtime.space().on_host_memory([](memory::Address base, std::uint64_t bytes) {
    const std::uintptr_t low = std::min<std::uintptr_t>(observer.low, base);
    const std::uintptr_t high = std::max<std::uintptr_t>(observer.high, base + bytes);
    __atomic_store_n(&observer.low, low, __ATOMIC_RELAXED);
    __atomic_store_n(&observer.high, high, __ATOMIC_RELAXED);
  });
  set(&observer);
}

} // namespace heddle::runtime
