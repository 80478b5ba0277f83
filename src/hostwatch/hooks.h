// What instrumented host code tells the explorer.
//
// A program compiled with -fsanitize=thread calls __tsan_* functions on every access of its host
// code. For `heddle check` our own library of the name libtsan.so.2 provides them (tsan_*.cpp) and
// passes on what matters through these hooks, which the explorer inside libcudart sets when the
// process starts. Without hooks (heddle run, or no explorer) the library only performs the
// accesses.
#pragma once

#include <cstddef>

extern "C" {

/// What the host is about to do, visibly for others. Each is a scheduling point.
enum HeddleHostEvent : int {
  HeddleAtomicLoad,
  HeddleAtomicStore,
  HeddleAtomicUpdate, // read-modify-write
  HeddleVolatileRead,
  HeddleVolatileWrite,
  HeddleYield // sched_yield and the sleeping functions
};

struct HeddleHostHooks {
  /// Called before the access is performed; returns when the host thread may go on.
  void (*before_event)(HeddleHostEvent event, const void* address, std::size_t bytes);
  /// [p, p + bytes) was or is about to be written by code that returns to `pc`.
  void (*wrote)(const void* p, std::size_t bytes, const void* pc);
  /// [p, p + bytes) is being returned to the heap: its contents mean nothing any more.
  void (*freed)(const void* p, std::size_t bytes);
  /// The program does something that cannot be explored yet. Does not return.
  void (*unsupported)(const char* what);
};

/// nullptr: none. Looked up with dlsym by the explorer; absent in a program without
/// instrumentation.
void heddle_set_host_hooks(const HeddleHostHooks* hooks);

} // extern "C"
