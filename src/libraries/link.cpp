// Implements link.h.
#include "libraries/link.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace heddle::libraries {
namespace {

constexpr const char* runtime_name = "libcudart.so." HEDDLE_CUDA_MAJOR;

/// One library may serve programs of either version (libcurand.so.10).
void* open_runtime() {
  for (const char* name : {runtime_name, "libcudart.so.13", "libcudart.so.12"}) {
    if (void* const loaded = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
      return loaded;
    }
  }
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&cudart), &info) == 0) {
    return nullptr;
  }
  const std::string own = info.dli_fname;
  return ::dlopen((own.substr(0, own.rfind('/') + 1) + runtime_name).c_str(), RTLD_NOW);
}

template <class Function> bool find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Cudart find_all() {
  Cudart found;
  void* const library = open_runtime();
  if (library == nullptr || !find(library, found.work, "heddle_library_work") ||
      !find(library, found.reach, "heddle_library_reach") ||
      !find(library, found.unsupported, "heddle_library_unsupported") ||
      !find(library, found.synchronize, "cudaStreamSynchronize") ||
      !find(library, found.copy_2d, "cudaMemcpy2DAsync")) {
    std::fprintf(
        stderr,
        "heddle: error: Heddle's stand-in for a library of NVIDIA's needs Heddle's %s: start the "
        "program with 'heddle run'\n",
        runtime_name
    );
    std::_Exit(2);
  }
  return found;
}

} // namespace

const Cudart& cudart() {
  static const Cudart found = find_all();
  return found;
}

} // namespace heddle::libraries
