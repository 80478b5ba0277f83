// Is code of the C++ library? A stream opens its file there, and it asks for the number of
// processors. It counts as the program's own where others do not.
#pragma once

#include <dlfcn.h>

#include <cstring>

namespace heddle::hostwatch {

inline bool is_of_standard_library(const void* pc) {
  Dl_info info{};
  return ::dladdr(pc, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libstdc++") != nullptr;
}

} // namespace heddle::hostwatch
