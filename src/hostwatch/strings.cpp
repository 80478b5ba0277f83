// What functions of the C library read and write for their caller: strings, comparisons, and files.
//
// May miss: the functions that are not here (printf, strtol, qsort and many more).
#include "hostwatch/hooks_internal.h"

#include <cstddef>

using namespace heddle::hostwatch;

namespace {

/// The C library's own, whatever this file defines.
std::size_t real_strlen(const char* s) {
  static std::size_t (*real)(const char*) = nullptr;
  return real_function(real, "strlen")(s);
}
std::size_t real_strnlen(const char* s, std::size_t most) {
  static std::size_t (*real)(const char*, std::size_t) = nullptr;
  return real_function(real, "strnlen")(s, most);
}
/// A comparison of strings reads no further than to the first difference.
std::size_t alike(const char* a, const char* b, std::size_t most) {
  std::size_t n = 0;
  while (n < most && a[n] == b[n] && a[n] != 0) {
    ++n;
  }
  return n < most ? n + 1 : most;
}
bool somebody_looks() {
  return hooks != nullptr || observer != nullptr;
}

} // namespace

HEDDLE_EXPORT std::size_t strlen(const char* s) {
  const std::size_t n = real_strlen(s);
  reads(s, n + 1, __builtin_return_address(0));
  return n;
}

HEDDLE_EXPORT std::size_t strnlen(const char* s, std::size_t most) {
  const std::size_t n = real_strnlen(s, most);
  reads(s, n < most ? n + 1 : n, __builtin_return_address(0));
  return n;
}

HEDDLE_EXPORT char* strcpy(char* to, const char* from) {
  const std::size_t n = real_strlen(from) + 1;
  reads(from, n, __builtin_return_address(0));
  writes(to, n, __builtin_return_address(0));
  wrote(to, n, __builtin_return_address(0));
  static char* (*real)(char*, const char*) = nullptr;
  return real_function(real, "strcpy")(to, from);
}

HEDDLE_EXPORT char* strncpy(char* to, const char* from, std::size_t most) {
  const std::size_t n = real_strnlen(from, most);
  reads(from, n < most ? n + 1 : n, __builtin_return_address(0));
  writes(to, most, __builtin_return_address(0));
  wrote(to, most, __builtin_return_address(0));
  static char* (*real)(char*, const char*, std::size_t) = nullptr;
  return real_function(real, "strncpy")(to, from, most);
}

HEDDLE_EXPORT int strcmp(const char* a, const char* b) {
  if (somebody_looks()) {
    const std::size_t n = alike(a, b, ~std::size_t{0});
    reads(a, n, __builtin_return_address(0));
    reads(b, n, __builtin_return_address(0));
  }
  static int (*real)(const char*, const char*) = nullptr;
  return real_function(real, "strcmp")(a, b);
}

HEDDLE_EXPORT int strncmp(const char* a, const char* b, std::size_t most) {
  if (somebody_looks()) {
    const std::size_t n = alike(a, b, most);
    reads(a, n, __builtin_return_address(0));
    reads(b, n, __builtin_return_address(0));
  }
  static int (*real)(const char*, const char*, std::size_t) = nullptr;
  return real_function(real, "strncmp")(a, b, most);
}

/// It may read all of both.
HEDDLE_EXPORT int memcmp(const void* a, const void* b, std::size_t bytes) {
  reads(a, bytes, __builtin_return_address(0));
  reads(b, bytes, __builtin_return_address(0));
  static int (*real)(const void*, const void*, std::size_t) = nullptr;
  return real_function(real, "memcmp")(a, b, bytes);
}

HEDDLE_EXPORT std::size_t fwrite(const void* p, std::size_t size, std::size_t n, void* file) {
  reads(p, size * n, __builtin_return_address(0));
  static std::size_t (*real)(const void*, std::size_t, std::size_t, void*) = nullptr;
  return real_function(real, "fwrite")(p, size, n, file);
}

HEDDLE_EXPORT std::size_t fread(void* p, std::size_t size, std::size_t n, void* file) {
  static std::size_t (*real)(void*, std::size_t, std::size_t, void*) = nullptr;
  writes(p, size * n, __builtin_return_address(0));
  wrote(p, size * n, __builtin_return_address(0));
  return real_function(real, "fread")(p, size, n, file);
}
