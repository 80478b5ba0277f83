// Functions of the C library that the explorer must know of. The library stands before libc in the
// link order, as libtsan does, so these definitions win.
//
// Copies and fills write memory without being announced; freed memory must leave the host's state.
// May miss: writes by other functions of the C library (read, sprintf into the heap), which are
// constant unless the program reads something that differs between executions.
#include "hostwatch/answers.h"
#include "hostwatch/hooks_internal.h"
#include "hostwatch/kept.h"

#include <dlfcn.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>

using heddle::hostwatch::hooks;
using heddle::hostwatch::observer;
using heddle::hostwatch::reads;
using heddle::hostwatch::writes;
using heddle::hostwatch::wrote;

void* heddle::hostwatch::next_definition(const char* name) {
  return ::dlsym(RTLD_NEXT, name);
}

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void __libc_free(void* p);
void* __libc_realloc(void* p, std::size_t bytes);
}

namespace {

// String instructions: the compiler must not turn these into calls of what they implement.
/// A value of type T, wherever it lies.
template <class T> struct __attribute__((packed, may_alias)) Anywhere {
  T value;
};
template <class T> void copy_ends(char* to, const char* from, std::size_t bytes) {
  const T first = reinterpret_cast<const Anywhere<T>*>(from)->value;
  const T last = reinterpret_cast<const Anywhere<T>*>(from + bytes - sizeof(T))->value;
  reinterpret_cast<Anywhere<T>*>(to)->value = first;
  reinterpret_cast<Anywhere<T>*>(to + bytes - sizeof(T))->value = last;
}

struct Sixteen { // bytes
  std::uint64_t low, high;
};

/// Up to 32 bytes, overlapping or not; string instructions are slow to start.
bool copy_few(void* to, const void* from, std::size_t bytes) {
  auto* t = static_cast<char*>(to);
  const auto* f = static_cast<const char*>(from);
  if (bytes > 2 * sizeof(Sixteen)) {
    return false;
  }
  if (bytes >= sizeof(Sixteen)) {
    copy_ends<Sixteen>(t, f, bytes);
  } else if (bytes >= 8) {
    copy_ends<std::uint64_t>(t, f, bytes);
  } else if (bytes >= 4) {
    copy_ends<std::uint32_t>(t, f, bytes);
  } else if (bytes >= 2) {
    copy_ends<std::uint16_t>(t, f, bytes);
  } else if (bytes == 1) {
    *t = *f;
  }
  return true;
}

void copy_up(void* to, const void* from, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

void copy_down(void* to, const void* from, std::size_t bytes) {
  auto* last_to = static_cast<char*>(to) + bytes - 1;
  const auto* last_from = static_cast<const char*>(from) + bytes - 1;
  asm volatile("std\n\trep movsb\n\tcld"
               : "+D"(last_to), "+S"(last_from), "+c"(bytes)
               :
               : "memory");
}

bool (*is_kept)(const void* p, std::size_t bytes) = nullptr;

/// False: the heap must not have it back.
bool forgets(void* p) {
  if (hooks != nullptr) {
    const std::size_t bytes = ::malloc_usable_size(p);
    if (is_kept != nullptr && is_kept(p, bytes)) {
      return false;
    }
    hooks->freed(p, bytes);
  } else if (observer != nullptr && observer->freed != nullptr) {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    if (at < __atomic_load_n(&observer->high, __ATOMIC_RELAXED) &&
        at >= __atomic_load_n(&observer->low, __ATOMIC_RELAXED)) {
      observer->freed(p, ::malloc_usable_size(p));
    }
  }
  return true;
}

void allocates() {
  if (hooks != nullptr && hooks->allocates != nullptr) {
    hooks->allocates();
  }
}

} // namespace

HEDDLE_EXPORT void heddle_set_kept(bool (*keeps)(const void* p, std::size_t bytes)) {
  is_kept = keeps;
}

HEDDLE_EXPORT void* memcpy(void* to, const void* from, std::size_t bytes) {
  reads(from, bytes, __builtin_return_address(0));
  writes(to, bytes, __builtin_return_address(0));
  wrote(to, bytes, __builtin_return_address(0));
  if (!copy_few(to, from, bytes)) {
    copy_up(to, from, bytes);
  }
  return to;
}

HEDDLE_EXPORT void* memmove(void* to, const void* from, std::size_t bytes) {
  reads(from, bytes, __builtin_return_address(0));
  writes(to, bytes, __builtin_return_address(0));
  wrote(to, bytes, __builtin_return_address(0));
  const auto distance =
      reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  if (copy_few(to, from, bytes)) {
    return to;
  }
  if (distance >= bytes) {
    copy_up(to, from, bytes);
  } else {
    copy_down(to, from, bytes);
  }
  return to;
}

HEDDLE_EXPORT void* memset(void* to, int value, std::size_t bytes) {
  writes(to, bytes, __builtin_return_address(0));
  wrote(to, bytes, __builtin_return_address(0));
  void* p = to;
  if (bytes >= sizeof(Sixteen) && bytes <= 2 * sizeof(Sixteen)) {
    const std::uint64_t all = 0x0101'0101'0101'0101ULL * static_cast<unsigned char>(value);
    const Sixteen both{all, all};
    reinterpret_cast<Anywhere<Sixteen>*>(to)->value = both;
    reinterpret_cast<Anywhere<Sixteen>*>(static_cast<char*>(to) + bytes - sizeof both)->value =
        both;
    return to;
  }
  asm volatile("rep stosb" : "+D"(p), "+c"(bytes) : "a"(value) : "memory");
  return to;
}

HEDDLE_EXPORT void* malloc(std::size_t bytes) {
  allocates();
  return heddle::hostwatch::fresh_memory(bytes, __builtin_return_address(0));
}

HEDDLE_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  allocates();
  return __libc_calloc(count, bytes);
}

HEDDLE_EXPORT void* memalign(std::size_t alignment, std::size_t bytes) {
  allocates();
  return heddle::hostwatch::fresh_memory(alignment, bytes);
}

HEDDLE_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}

HEDDLE_EXPORT int posix_memalign(void** p, std::size_t alignment, std::size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  void* const place = memalign(alignment, bytes);
  if (place == nullptr) {
    return ENOMEM;
  }
  *p = place;
  return 0;
}

HEDDLE_EXPORT void free(void* p) {
  if (p == nullptr || forgets(p)) {
    __libc_free(p);
  }
}

HEDDLE_EXPORT void* realloc(void* p, std::size_t bytes) {
  allocates();
  const bool goes = p == nullptr || forgets(p);
  void* q = goes ? __libc_realloc(p, bytes) : __libc_malloc(bytes);
  if (!goes && q != nullptr) {
    const std::size_t old = ::malloc_usable_size(p);
    copy_up(q, p, old < bytes ? old : bytes);
  }
  if (q != nullptr) {
    wrote(q, bytes, __builtin_return_address(0));
  }
  return q;
}

// clang calls these in instrumented code where GCC calls memcpy & co.
HEDDLE_EXPORT void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  reads(from, bytes, __builtin_return_address(0));
  writes(to, bytes, __builtin_return_address(0));
  wrote(to, bytes, __builtin_return_address(0));
  if (!copy_few(to, from, bytes)) {
    copy_up(to, from, bytes);
  }
  return to;
}

HEDDLE_EXPORT void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  wrote(to, bytes, __builtin_return_address(0));
  return memmove(to, from, bytes);
}

HEDDLE_EXPORT void* __tsan_memset(void* to, int value, std::size_t bytes) {
  writes(to, bytes, __builtin_return_address(0));
  wrote(to, bytes, __builtin_return_address(0));
  return memset(to, value, bytes);
}
