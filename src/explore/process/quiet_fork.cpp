// Implements quiet_fork.h.
//
// glibc has _Fork since 2.34. Its dynamic linker keeps its locks in _rtld_global: recursive
// mutexes, which know their owner by its thread's id, and that is another one in the child. If they
// are not found there (another C library), the child of a thread that is loading a library hangs.
#include "explore/process/quiet_fork.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <vector>

namespace heddle::explore {
namespace {

using Fork = pid_t (*)();

struct CLibrary {
  Fork fork = &::fork;
  std::span<std::byte> linker_state; // of the dynamic linker; empty: unknown
};

CLibrary find() {
  CLibrary library;
  if (void* const found = ::dlsym(RTLD_DEFAULT, "_Fork"); found != nullptr) {
    library.fork = reinterpret_cast<Fork>(found);
  }
  void* const state = ::dlsym(RTLD_DEFAULT, "_rtld_global");
  Dl_info object{};
  void* entry = nullptr;
  if (state != nullptr && ::dladdr1(state, &object, &entry, RTLD_DL_SYMENT) != 0 &&
      entry != nullptr && object.dli_saddr == state) {
    library.linker_state = {
        static_cast<std::byte*>(state),
        static_cast<const ElfW(Sym)*>(entry)->st_size
    };
  }
  return library;
}

/// Those of the dynamic linker that `thread` holds.
std::vector<pthread_mutex_t*> held_by(std::span<std::byte> linker_state, pid_t thread) {
  std::vector<pthread_mutex_t*> held;
  for (std::size_t at = 0; at + sizeof(pthread_mutex_t) <= linker_state.size();
       at += alignof(pthread_mutex_t)) {
    auto* const mutex = reinterpret_cast<pthread_mutex_t*>(linker_state.data() + at);
    const auto& fields = mutex->__data;
    if (fields.__owner == thread && fields.__kind == PTHREAD_MUTEX_RECURSIVE_NP &&
        fields.__lock != 0 && fields.__count > 0 && fields.__nusers > 0) {
      held.push_back(mutex);
    }
  }
  return held;
}

} // namespace

pid_t quiet_fork() {
  static const CLibrary library = find();
  const std::vector<pthread_mutex_t*> held = held_by(library.linker_state, ::gettid());
  const pid_t child = library.fork();
  if (child == 0) {
    for (pthread_mutex_t* const mutex : held) {
      mutex->__data.__owner = ::gettid();
    }
  }
  return child;
}

} // namespace heddle::explore
