// Contexts of the driver API, and which one each host thread uses.
//
// A context is a device and a name for it: memory, streams and modules belong to the device, as
// seen by the runtime API of the same process, which uses its device's primary context. So a
// pointer of one context works in another one of the same device (misses that mistake), and what a
// destroyed context leaves behind stays, but for its modules' handles.
#pragma once

#include "runtime/driver/virtual_memory.h"
#include "runtime/runtime.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace heddle::runtime {

struct Context {
  std::uint64_t id = 0;
  int device = 0;
  bool primary = false;
  std::atomic<unsigned> flags{0};
  std::atomic<int> retained{0}; // primary
  std::atomic<bool> alive{true};
};

/// Thread safe.
class Contexts {
public:
  explicit Contexts(int devices);

  VirtualMemory& virtual_memory() { return virtual_memory_; }

  Context& primary(int device) { return *all_[static_cast<std::size_t>(device)]; }
  Context& create(int device, unsigned flags);
  /// nullptr: no such context, or it was destroyed.
  Context* find(const void* handle) const;

  /// The calling thread's; nullptr: none.
  Context* current(ThreadState& thread);
  void push(ThreadState& thread, Context& context);
  Context* pop(ThreadState& thread);
  /// In place of the current one; nullptr: none from now on.
  void set_current(ThreadState& thread, Context* context);

private:
  VirtualMemory virtual_memory_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> all_; // the devices' primary ones first; never shrinks
};

} // namespace heddle::runtime
