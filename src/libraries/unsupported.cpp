// The calls of a library that its stand-in does not have: each names itself (exit code 3) and
// returns the library's code for that. unsupported.def of the library has a row for each.
#include "libraries/link.h"

#include <cstddef>

#pragma GCC visibility push(default)
extern "C" {
#define HEDDLE_UNSUPPORTED(name)                                                                   \
  int name() {                                                                                     \
    heddle::libraries::cudart().unsupported(#name);                                                \
    return HEDDLE_NOT_SUPPORTED;                                                                   \
  }
// What is asked when a program starts, or whose failure a program expects: an answer and no word.
#define HEDDLE_ANSWER(type, name, value)                                                           \
  type name() {                                                                                    \
    return value;                                                                                  \
  }
#define HEDDLE_QUIET(name) HEDDLE_ANSWER(int, name, HEDDLE_NOT_SUPPORTED)
#include HEDDLE_UNSUPPORTED_CALLS
} // extern "C"
#pragma GCC visibility pop
