// Functions of the C library that read memory which devices may write, for the same reason as in
// interpose.cpp: a comparison of mapped memory is a plain access like any other. An instrumented
// program calls them, since it is compiled without built-in versions of them
// (explore/session.h: instrumentation_flags).
//
// May miss: reads by other functions of libraries (printf, write, std::string made from it), and by
// assembly.
#include "hostwatch/hooks_internal.h"

#include <cstring>

using heddle::hostwatch::reads;
using heddle::hostwatch::real_function;

HEDDLE_EXPORT int memcmp(const void* a, const void* b, std::size_t bytes) {
  static decltype(&memcmp) real = nullptr;
  reads(a, bytes, __builtin_return_address(0));
  reads(b, bytes, __builtin_return_address(0));
  return real_function(real, "memcmp")(a, b, bytes);
}

HEDDLE_EXPORT std::size_t strlen(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') {
    ++length;
  }
  reads(text, length + 1, __builtin_return_address(0));
  return length;
}

HEDDLE_EXPORT std::size_t strnlen(const char* text, std::size_t most) {
  std::size_t length = 0;
  while (length < most && text[length] != '\0') {
    ++length;
  }
  reads(text, length < most ? length + 1 : most, __builtin_return_address(0));
  return length;
}

HEDDLE_EXPORT int strcmp(const char* a, const char* b) {
  std::size_t at = 0;
  while (a[at] == b[at] && a[at] != '\0') {
    ++at;
  }
  reads(a, at + 1, __builtin_return_address(0));
  reads(b, at + 1, __builtin_return_address(0));
  return static_cast<unsigned char>(a[at]) - static_cast<unsigned char>(b[at]);
}

HEDDLE_EXPORT int strncmp(const char* a, const char* b, std::size_t most) {
  std::size_t at = 0;
  while (at < most && a[at] == b[at] && a[at] != '\0') {
    ++at;
  }
  const std::size_t read = at < most ? at + 1 : most;
  reads(a, read, __builtin_return_address(0));
  reads(b, read, __builtin_return_address(0));
  return at == most ? 0 : static_cast<unsigned char>(a[at]) - static_cast<unsigned char>(b[at]);
}
