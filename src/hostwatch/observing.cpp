// Implements observing.h.
#include "hostwatch/observing.h"

#include <cstdlib>

namespace heddle::hostwatch {

thread_local bool Observing::under_way = false;

__attribute__((noinline)) void tell_released(const volatile void* object, const void* pc) {
  if (const Observing observing; observing.first()) {
    observer->released(const_cast<const void*>(object), pc);
  }
}

__attribute__((noinline)) void tell_acquired(const volatile void* object, const void* pc) {
  if (const Observing observing; observing.first()) {
    observer->acquired(const_cast<const void*>(object), pc);
  }
}

// --- Atomic operations ---------------------------------------------------------------------------

namespace {

constexpr unsigned turn_count = 64;
bool turns[turn_count]; // taken; by address

bool& turn_of(const void* object) {
  const auto at = reinterpret_cast<std::uintptr_t>(object);
  return turns[at / sizeof(std::uint64_t) % turn_count];
}

} // namespace

AtomicTurn::AtomicTurn(const volatile void* object, int order, const void* pc)
    : object_(const_cast<const void*>(object)),
      pc_(pc),
      order_(order & 0xff), // what is above are hints
      observed_(observes_order()) {
  if (observed_) {
    while (__atomic_test_and_set(&turn_of(object_), __ATOMIC_ACQUIRE)) {
      __builtin_ia32_pause();
    }
  }
}

void AtomicTurn::may_store() {
  const auto at = reinterpret_cast<std::uintptr_t>(object_);
  if (!observed_ || told_ || at >= __atomic_load_n(&observer->high, __ATOMIC_RELAXED) ||
      at < __atomic_load_n(&observer->low, __ATOMIC_RELAXED)) {
    return;
  }
  told_ = true;
  if (const Observing observing; observing.first()) {
    observer->atomic(object_, order_, /*loads=*/false, /*stores=*/true, pc_);
  }
}

AtomicTurn::~AtomicTurn() {
  if (observed_) {
    if (const Observing observing; observing.first()) {
      observer->atomic(object_, order_, loads_, stores_, pc_);
    }
    __atomic_clear(&turn_of(object_), __ATOMIC_RELEASE);
  }
}

void tell_fence(int order) {
  if (observes_order()) {
    if (const Observing observing; observing.first()) {
      observer->fence(order);
    }
  }
}

// --- Threads -------------------------------------------------------------------------------------

Beginning* observe_creation(void* (*start)(void*), void* argument, bool by_openmp, const void* pc) {
  if (!observes_order()) {
    return nullptr;
  }
  const Observing observing;
  auto* beginning =
      observing.first() ? static_cast<Beginning*>(std::malloc(sizeof(Beginning))) : nullptr;
  if (beginning != nullptr) {
    *beginning = {start, argument, observer->creates(by_openmp, pc)};
  }
  return beginning;
}

void* begin_observed(void* place) {
  const Beginning beginning = *static_cast<Beginning*>(place);
  std::free(place);
  if (const Observing observing; observing.first()) {
    observer->begins(beginning.thread, ::pthread_self());
  }
  return beginning.start(beginning.argument);
}

void tell_joined(pthread_t thread, const void* pc) {
  if (observes_order()) {
    if (const Observing observing; observing.first()) {
      observer->joined(thread, pc);
    }
  }
}

} // namespace heddle::hostwatch
