// Linux system calls and the few functions on memory that the audit library needs.
//
// The audit library is linked with nothing: the dynamic linker gives an audit library a name space
// of its own, and with a C library it would load a second one into every process. x86-64 only.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

namespace heddle::loader {

inline long
system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline long address(const void* p) {
  return reinterpret_cast<long>(p);
}

/// The kernel answers errors as small negative numbers.
inline bool failed(long result) {
  return static_cast<unsigned long>(result) > -4096UL;
}

inline int open_file(const char* path) {
  return static_cast<int>(system_call(SYS_openat, AT_FDCWD, address(path), O_RDONLY | O_CLOEXEC));
}

/// nullptr: there is no memory. `file`: -1 for memory without a file.
inline void* map(std::size_t bytes, int protection, int file = -1) {
  const long flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
  const long result =
      system_call(SYS_mmap, 0, static_cast<long>(bytes), protection, flags, file, 0);
  return failed(result) ? nullptr : reinterpret_cast<void*>(result);
}

inline bool protect(void* start, std::size_t bytes, int protection) {
  return !failed(system_call(SYS_mprotect, address(start), static_cast<long>(bytes), protection));
}

inline std::size_t length(const char* text) {
  std::size_t n = 0;
  while (text[n] != '\0') {
    ++n;
  }
  return n;
}

/// Less than, equal to or greater than 0, like strcmp.
inline int compare(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}

inline bool begins_with(const char* text, const char* prefix) {
  while (*prefix != '\0' && *text == *prefix) {
    ++text;
    ++prefix;
  }
  return *prefix == '\0';
}

inline void copy(void* to, const void* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    static_cast<volatile unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
  }
}

inline void say(const char* text) {
  system_call(SYS_write, 2, address(text), static_cast<long>(length(text)));
}

} // namespace heddle::loader
