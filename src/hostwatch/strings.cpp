// What functions of the C library read and write for their caller: strings, comparisons, and files.
//
// May miss: the functions that are not here (printf, strtol, qsort and many more).
#include "hostwatch/hooks_internal.h"

#include <cstddef>
#include <cstdint>

using namespace heddle::hostwatch;

// What a search for the C library's own function may call itself (dlsym compares names) is computed
// here: else it would come back to where it began. The compiler must not call what a loop looks
// like; gcc is told so for the whole library (CMakeLists.txt).
#ifdef __clang__
#define HEDDLE_AS_WRITTEN __attribute__((no_builtin))
#else
#define HEDDLE_AS_WRITTEN
#endif

namespace {

HEDDLE_AS_WRITTEN std::size_t length_of(const char* s, std::size_t most) {
  std::size_t n = 0;
  while (n < most && s[n] != 0) {
    ++n;
  }
  return n;
}
constexpr std::size_t any_length = ~std::size_t{0};

/// Of two strings, as far as a comparison reads them: to the first difference or their end.
HEDDLE_AS_WRITTEN std::size_t alike(const char* a, const char* b, std::size_t most) {
  std::size_t n = 0;
  while (n < most && a[n] == b[n] && a[n] != 0) {
    ++n;
  }
  return n < most ? n + 1 : most;
}
int order_of(char a, char b) {
  return static_cast<unsigned char>(a) - static_cast<unsigned char>(b);
}

} // namespace

HEDDLE_EXPORT std::size_t strlen(const char* s) {
  const std::size_t n = length_of(s, any_length);
  reads(s, n + 1, __builtin_return_address(0));
  return n;
}

HEDDLE_EXPORT std::size_t strnlen(const char* s, std::size_t most) {
  const std::size_t n = length_of(s, most);
  reads(s, n < most ? n + 1 : n, __builtin_return_address(0));
  return n;
}

HEDDLE_EXPORT char* strcpy(char* to, const char* from) {
  const std::size_t n = length_of(from, any_length) + 1;
  reads(from, n, __builtin_return_address(0));
  writes(to, n, __builtin_return_address(0));
  wrote(to, n, __builtin_return_address(0));
  static char* (*real)(char*, const char*) = nullptr;
  return real_function(real, "strcpy")(to, from);
}

HEDDLE_EXPORT char* strncpy(char* to, const char* from, std::size_t most) {
  const std::size_t n = length_of(from, most);
  reads(from, n < most ? n + 1 : n, __builtin_return_address(0));
  writes(to, most, __builtin_return_address(0));
  wrote(to, most, __builtin_return_address(0));
  static char* (*real)(char*, const char*, std::size_t) = nullptr;
  return real_function(real, "strncpy")(to, from, most);
}

HEDDLE_EXPORT int strcmp(const char* a, const char* b) {
  const std::size_t n = alike(a, b, any_length);
  reads(a, n, __builtin_return_address(0));
  reads(b, n, __builtin_return_address(0));
  return order_of(a[n - 1], b[n - 1]);
}

HEDDLE_EXPORT int strncmp(const char* a, const char* b, std::size_t most) {
  const std::size_t n = alike(a, b, most);
  reads(a, n, __builtin_return_address(0));
  reads(b, n, __builtin_return_address(0));
  return n == 0 ? 0 : order_of(a[n - 1], b[n - 1]);
}

/// It may read all of both.
HEDDLE_EXPORT HEDDLE_AS_WRITTEN int memcmp(const void* a, const void* b, std::size_t bytes) {
  reads(a, bytes, __builtin_return_address(0));
  reads(b, bytes, __builtin_return_address(0));
  const auto* const p = static_cast<const char*>(a);
  const auto* const q = static_cast<const char*>(b);
  std::size_t n = 0;
  for (std::uint64_t x = 0, y = 0; n + sizeof x <= bytes; n += sizeof x) {
    __builtin_memcpy(&x, p + n, sizeof x);
    __builtin_memcpy(&y, q + n, sizeof y);
    if (x != y) {
      break;
    }
  }
  while (n < bytes && p[n] == q[n]) {
    ++n;
  }
  return n == bytes ? 0 : order_of(p[n], q[n]);
}

HEDDLE_EXPORT std::size_t fwrite(const void* p, std::size_t size, std::size_t n, void* file) {
  reads(p, size * n, __builtin_return_address(0));
  static std::size_t (*real)(const void*, std::size_t, std::size_t, void*) = nullptr;
  return real_function(real, "fwrite")(p, size, n, file);
}
