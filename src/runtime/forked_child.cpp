// Implements forked_child.h.
#include "runtime/forked_child.h"

#include "runtime/runtime.h"

#include <pthread.h>

#include <atomic>

namespace heddle::runtime {
namespace {

std::atomic<bool> forked{false};

} // namespace

void watch_forks() {
  ::pthread_atfork(nullptr, nullptr, [] {
    const Runtime* runtime = Runtime::existing();
    if (runtime != nullptr && runtime->driver_initialised()) {
      forked = true;
    }
  });
}

bool is_forked_child() {
  return forked;
}

} // namespace heddle::runtime
