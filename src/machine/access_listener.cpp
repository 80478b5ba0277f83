// Implements access_listener.h.
#include "machine/access_listener.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace heddle::machine {
namespace {

std::mutex listeners_mutex;
std::map<const Grid*, std::shared_ptr<AccessListener>> listeners;
std::atomic<std::size_t> listener_count{0};

} // namespace

void tell_accesses(const Grid& grid, std::shared_ptr<AccessListener> listener) {
  const std::lock_guard lock(listeners_mutex);
  listeners.insert_or_assign(&grid, std::move(listener));
  listener_count = listeners.size();
}

void stop_telling(const Grid& grid) {
  if (listener_count.load(std::memory_order_acquire) != 0) {
    const std::lock_guard lock(listeners_mutex);
    listeners.erase(&grid);
    listener_count = listeners.size();
  }
}

std::shared_ptr<AccessListener> listener_of(const Grid& grid) {
  if (listener_count.load(std::memory_order_acquire) == 0) {
    return nullptr;
  }
  const std::lock_guard lock(listeners_mutex);
  const auto it = listeners.find(&grid);
  return it == listeners.end() ? nullptr : it->second;
}

} // namespace heddle::machine
