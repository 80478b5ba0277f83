// The calls of a library that its stand-in does not have: each names itself (exit code 3) and
// returns the library's code for that. unsupported.def of the library has a row for each.
#include "libraries/link.h"

#pragma GCC visibility push(default)
extern "C" {
#define HEDDLE_UNSUPPORTED(name)                                                                   \
  int name() {                                                                                     \
    heddle::libraries::cudart().unsupported(#name);                                                \
    return HEDDLE_NOT_SUPPORTED;                                                                   \
  }
#include HEDDLE_UNSUPPORTED_CALLS
} // extern "C"
#pragma GCC visibility pop
