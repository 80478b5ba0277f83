// The __tsan_* entry points for plain and volatile accesses.
//
// GCC and clang announce each load and store before they perform it. Plain accesses are no
// scheduling points (two threads that conflict on them race, which is another finding's business);
// the explorer notes those that meet work under way. Plain writes are remembered, because what the
// host has written is part of its state. May miss: accesses of code that was not compiled with
// -fsanitize=thread.
#include "hostwatch/hooks_internal.h"

namespace heddle::hostwatch {
const HeddleHostHooks* hooks = nullptr;
const HeddleAccessObserver* observer = nullptr;
std::uint64_t* operations = nullptr;
bool noting = false;

__attribute__((noinline)) void
note_plain(const volatile void* p, std::size_t bytes, const void* pc) {
  if (!noting && hooks->plain != nullptr) {
    noting = true;
    hooks->plain(const_cast<const void*>(p), bytes, pc);
    noting = false;
  }
}

__attribute__((noinline)) void
observe(const volatile void* p, std::size_t bytes, const void* pc, bool store) {
  static thread_local bool observing =
      false; // what the observer accesses itself is its own business
  if (!observing) {
    observing = true;
    observer->access(const_cast<const void*>(p), bytes, pc, store);
    observing = false;
  }
}
} // namespace heddle::hostwatch

using heddle::hostwatch::before;
using heddle::hostwatch::reads;
using heddle::hostwatch::writes;
using heddle::hostwatch::wrote;

HEDDLE_EXPORT void heddle_set_host_hooks(const HeddleHostHooks* hooks) {
  heddle::hostwatch::hooks = hooks;
}

HEDDLE_EXPORT void heddle_set_access_observer(const HeddleAccessObserver* observer) {
  heddle::hostwatch::observer = observer;
}

HEDDLE_EXPORT void heddle_count_operations(std::uint64_t* operations) {
  heddle::hostwatch::operations = operations;
}

HEDDLE_EXPORT void __tsan_init() {}
HEDDLE_EXPORT void __tsan_func_entry(void*) {}
HEDDLE_EXPORT void __tsan_func_exit() {}
HEDDLE_EXPORT void __tsan_ignore_thread_begin() {}
HEDDLE_EXPORT void __tsan_ignore_thread_end() {}
HEDDLE_EXPORT void __tsan_acquire(void*) {}
HEDDLE_EXPORT void __tsan_release(void*) {}

#define HEDDLE_PLAIN(bytes)                                                                        \
  HEDDLE_EXPORT void __tsan_read##bytes(void* p) {                                                 \
    reads(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_read##bytes##_pc(void* p, void* pc) {                                  \
    reads(p, bytes, pc);                                                                           \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_write##bytes(void* p) {                                                \
    writes(p, bytes, __builtin_return_address(0));                                                 \
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_write##bytes##_pc(void* p, void* pc) {                                 \
    writes(p, bytes, pc);                                                                          \
    wrote(p, bytes, pc);                                                                           \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_read_write##bytes(void* p) {                                           \
    writes(p, bytes, __builtin_return_address(0));                                                 \
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_volatile_read##bytes(void* p) {                                        \
    before(HeddleVolatileRead, p, bytes);                                                          \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_volatile_write##bytes(void* p) {                                       \
    before(HeddleVolatileWrite, p, bytes);                                                         \
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }
HEDDLE_PLAIN(1)
HEDDLE_PLAIN(2)
HEDDLE_PLAIN(4)
HEDDLE_PLAIN(8)
HEDDLE_PLAIN(16)

#define HEDDLE_UNALIGNED(bytes)                                                                    \
  HEDDLE_EXPORT void __tsan_unaligned_read##bytes(void* p) {                                       \
    reads(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_unaligned_write##bytes(void* p) {                                      \
    writes(p, bytes, __builtin_return_address(0));                                                 \
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_unaligned_read_write##bytes(void* p) {                                 \
    writes(p, bytes, __builtin_return_address(0));                                                 \
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_unaligned_volatile_read##bytes(void* p) {                              \
    before(HeddleVolatileRead, p, bytes);                                                          \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_unaligned_volatile_write##bytes(void* p) {                             \
    before(HeddleVolatileWrite, p, bytes);                                                         \
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }
HEDDLE_UNALIGNED(2)
HEDDLE_UNALIGNED(4)
HEDDLE_UNALIGNED(8)
HEDDLE_UNALIGNED(16)

HEDDLE_EXPORT void __tsan_read_range(void* p, std::size_t bytes) {
  reads(p, bytes, __builtin_return_address(0));
}
HEDDLE_EXPORT void __tsan_read_range_pc(void* p, std::size_t bytes, void* pc) {
  reads(p, bytes, pc);
}
HEDDLE_EXPORT void __tsan_write_range(void* p, std::size_t bytes) {
  writes(p, bytes, __builtin_return_address(0));
  wrote(p, bytes, __builtin_return_address(0));
}
HEDDLE_EXPORT void __tsan_write_range_pc(void* p, std::size_t bytes, void* pc) {
  writes(p, bytes, pc);
  wrote(p, bytes, pc);
}

// A constructor or destructor sets the pointer to the virtual function table.
HEDDLE_EXPORT void __tsan_vptr_read(void**) {}
HEDDLE_EXPORT void __tsan_vptr_update(void** p, void*) {
  writes(p, sizeof *p, __builtin_return_address(0));
  wrote(p, sizeof *p, __builtin_return_address(0));
}
