// Functions that read from streams, or ask or set how far these are: threads share that. To write
// is no use of it: who writes is not told anything.
//
// May miss: getc_unlocked() and the like, fgetpos(), and streams of wide characters.
#include "hostwatch/hooks_internal.h"
#include "hostwatch/shared_use.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

using namespace heddle::hostwatch;

namespace {

void reads_from(FILE* stream, const void* pc) {
  if (hooks != nullptr) {
    reads_input(::fileno(stream), pc);
    position_of(stream).next("reads from a file", pc);
  }
}

void looks_at_position(FILE* stream, const void* pc) {
  if (hooks != nullptr) {
    position_of(stream).next("asks or sets the position in a file", pc);
  }
}

} // namespace

#define HEDDLE_STREAM(uses, type, function, parameters, ...)                                       \
  HEDDLE_EXPORT type function parameters {                                                         \
    using Function = type parameters;                                                              \
    static Function* real = nullptr;                                                               \
    uses(stream, __builtin_return_address(0));                                                     \
    return real_function(real, #function)(__VA_ARGS__);                                            \
  }
HEDDLE_STREAM(reads_from, int, fgetc, (FILE * stream), stream)
HEDDLE_STREAM(reads_from, int, getc, (FILE * stream), stream)
HEDDLE_STREAM(reads_from, int, ungetc, (int c, FILE* stream), c, stream)
HEDDLE_STREAM(looks_at_position, long, ftell, (FILE * stream), stream)
HEDDLE_STREAM(looks_at_position, off_t, ftello, (FILE * stream), stream)
HEDDLE_STREAM(looks_at_position, off_t, ftello64, (FILE * stream), stream)
HEDDLE_STREAM(looks_at_position, void, rewind, (FILE * stream), stream)
HEDDLE_STREAM(looks_at_position, int, fseek, (FILE * stream, long by, int from), stream, by, from)
HEDDLE_STREAM(looks_at_position, int, fseeko, (FILE * stream, off_t by, int from), stream, by, from)

// <stdio.h> may define these two itself.
HEDDLE_EXPORT int get_character() __asm__("getchar");
int get_character() {
  static decltype(&get_character) real = nullptr;
  reads_from(stdin, __builtin_return_address(0));
  return real_function(real, "getchar")();
}

HEDDLE_EXPORT std::size_t fread(void* p, std::size_t size, std::size_t n, FILE* stream) {
  static decltype(&::fread) real = nullptr;
  writes(p, size * n, __builtin_return_address(0));
  wrote(p, size * n, __builtin_return_address(0));
  reads_from(stream, __builtin_return_address(0));
  return real_function(real, "fread")(p, size, n, stream);
}

HEDDLE_EXPORT char* fgets(char* to, int bytes, FILE* stream) {
  static decltype(&::fgets) real = nullptr;
  reads_from(stream, __builtin_return_address(0));
  char* const line = real_function(real, "fgets")(to, bytes, stream);
  if (line != nullptr) {
    writes(to, std::strlen(to) + 1, __builtin_return_address(0));
    wrote(to, std::strlen(to) + 1, __builtin_return_address(0));
  }
  return line;
}

#define HEDDLE_LINE(function, name, parameters, ...)                                               \
  HEDDLE_EXPORT ssize_t function parameters __asm__(name);                                         \
  ssize_t function parameters {                                                                    \
    static decltype(&function) real = nullptr;                                                     \
    reads_from(stream, __builtin_return_address(0));                                               \
    const ssize_t bytes = real_function(real, name)(__VA_ARGS__);                                  \
    if (bytes > 0) {                                                                               \
      wrote(*line, static_cast<std::size_t>(bytes) + 1, __builtin_return_address(0));              \
    }                                                                                              \
    return bytes;                                                                                  \
  }
HEDDLE_LINE(get_line, "getline", (char** line, std::size_t* room, FILE* stream), line, room, stream)
HEDDLE_LINE(
    get_delimited,
    "getdelim",
    (char** line, std::size_t* room, int end, FILE* stream),
    line,
    room,
    end,
    stream
)

namespace {
int scan(FILE* stream, const char* format, std::va_list arguments, const void* pc) {
  using Scan = int(FILE*, const char*, std::va_list);
  static Scan* real = nullptr;
  reads_from(stream, pc);
  return real_function(real, "__isoc99_vfscanf")(stream, format, arguments);
}
} // namespace

#define HEDDLE_SCAN(function)                                                                      \
  HEDDLE_EXPORT int function(FILE* stream, const char* format, ...) {                              \
    std::va_list arguments;                                                                        \
    va_start(arguments, format);                                                                   \
    const int result = scan(stream, format, arguments, __builtin_return_address(0));               \
    va_end(arguments);                                                                             \
    return result;                                                                                 \
  }
HEDDLE_SCAN(__isoc99_fscanf)
HEDDLE_SCAN(__isoc23_fscanf)

#define HEDDLE_SCAN_INPUT(function)                                                                \
  HEDDLE_EXPORT int function(const char* format, ...) {                                            \
    std::va_list arguments;                                                                        \
    va_start(arguments, format);                                                                   \
    const int result = scan(stdin, format, arguments, __builtin_return_address(0));                \
    va_end(arguments);                                                                             \
    return result;                                                                                 \
  }
HEDDLE_SCAN_INPUT(__isoc99_scanf)
HEDDLE_SCAN_INPUT(__isoc23_scanf)
