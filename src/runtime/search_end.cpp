// While a program ends its exit handlers are executed, and where one host thread ends it the others
// may still go on meanwhile: the search does, too. So nothing of this library that was made in an
// explored process is destroyed at its exit. Such a process ends by _exit() anyway.
//
// The compiler registers each destructor with __cxa_atexit(). This definition is hidden, so that it
// is for this library alone.
#include "explore/search/explorer.h"

#include <dlfcn.h>

#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) int
__cxa_atexit(void (*destroy)(void*), void* object, void* library) {
  if (heddle::explore::is_exploring()) {
    return 0;
  }
  static auto* const real = reinterpret_cast<decltype(&__cxa_atexit)>(
      ::dlsym(RTLD_DEFAULT, "__cxa_atexit")
  ); // the C library may come before us
  if (real == nullptr) {
    std::abort();
  }
  return real(destroy, object, library);
}
