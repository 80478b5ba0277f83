// HostCalls: how often the host has called, and for how long it has done nothing else. Thread safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::machine {

class HostCalls {
public:
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  void note() { count_.fetch_add(1, std::memory_order_relaxed); }
  /// It has submitted work, or waits for some.
  void note_work() {
    note();
    only_.store(0, std::memory_order_relaxed);
  }
  /// … or calls. True: it has done nothing but call for so long that it may wait for devices in a
  /// way that is not seen, for a value in mapped memory.
  bool note_call() {
    note();
    constexpr std::uint64_t most = 1000;
    return only_.fetch_add(1, std::memory_order_relaxed) >= most;
  }

private:
  std::atomic<std::uint64_t> count_{0}, only_{0};
};

} // namespace heddle::machine
