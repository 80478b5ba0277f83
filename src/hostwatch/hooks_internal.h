// Shared by the files of the instrumentation library; nobody else includes it.
#pragma once

#include "hostwatch/hooks.h"

#define HEDDLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace heddle::hostwatch {

extern const HeddleHostHooks* hooks;

inline void before(HeddleHostEvent event, const volatile void* address, std::size_t bytes) {
  if (hooks != nullptr) [[likely]] {
    hooks->before_event(event, const_cast<const void*>(address), bytes);
  }
}

inline void wrote(const volatile void* p, std::size_t bytes, const void* pc) {
  if (hooks != nullptr) [[likely]] {
    hooks->wrote(const_cast<const void*>(p), bytes, pc);
  }
}

} // namespace heddle::hostwatch
