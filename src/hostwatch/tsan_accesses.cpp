// The __tsan_* entry points for plain and volatile accesses.
//
// GCC and clang announce each load and store before they perform it. Plain accesses are no
// scheduling points (two threads that conflict on them race, which is another finding's business);
// plain writes are remembered, because what the host has written is part of its state. Plain reads
// only tell that the host does not wait for work that may write there. May miss: accesses of code that was not compiled with -fsanitize=thread.
#include "hostwatch/hooks_internal.h"

namespace heddle::hostwatch {
const HeddleHostHooks* hooks = nullptr;
bool noting = false;
} // namespace heddle::hostwatch

using heddle::hostwatch::before;
using heddle::hostwatch::reads;
using heddle::hostwatch::wrote;

HEDDLE_EXPORT void heddle_set_host_hooks(const HeddleHostHooks* hooks) {
  heddle::hostwatch::hooks = hooks;
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
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_write##bytes##_pc(void* p, void* pc) {                                 \
    wrote(p, bytes, pc);                                                                           \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_read_write##bytes(void* p) {                                           \
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
    wrote(p, bytes, __builtin_return_address(0));                                                  \
  }                                                                                                \
  HEDDLE_EXPORT void __tsan_unaligned_read_write##bytes(void* p) {                                 \
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
  wrote(p, bytes, __builtin_return_address(0));
}
HEDDLE_EXPORT void __tsan_write_range_pc(void* p, std::size_t bytes, void* pc) {
  wrote(p, bytes, pc);
}

// A constructor or destructor sets the pointer to the virtual function table.
HEDDLE_EXPORT void __tsan_vptr_read(void**) {}
HEDDLE_EXPORT void __tsan_vptr_update(void** p, void*) {
  wrote(p, sizeof *p, __builtin_return_address(0));
}
