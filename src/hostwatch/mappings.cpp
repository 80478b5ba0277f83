// Memory that a program shares with other processes: under the explorer, with those of its search,
// each of which would see what happens in all the others. A program that is explored is one process
// (fork() is refused), so private memory is the same to it. Only who maps a file twice, or reads
// what was written through a mapping, can tell: the former is unsupported.
//
// May miss: mappings made by system calls that do not pass through here.
#include "hostwatch/hooks_internal.h"
#include "hostwatch/shared_use.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

using namespace heddle::hostwatch;

namespace {

struct Mapped {
  dev_t device;
  ino_t node;
};

/// Is a file mapped to be written to that is mapped so already?
bool is_mapped_again(int file) {
  constexpr unsigned most = 64;
  static Mapped known[most];
  static unsigned count = 0;
  struct stat status;
  if (::fstat(file, &status) != 0) {
    return false;
  }
  for (unsigned n = 0; n < count; ++n) {
    if (known[n].device == status.st_dev && known[n].node == status.st_ino) {
      return true;
    }
  }
  if (count == most) {
    return true;
  }
  known[count++] = {status.st_dev, status.st_ino};
  return false;
}

/// The flags that are right for one process.
int private_flags(int protection, int flags, int file) {
  const int type = flags & MAP_TYPE;
  if ((type != MAP_SHARED && type != MAP_SHARED_VALIDATE) || (protection & PROT_WRITE) == 0) {
    return flags;
  }
  if ((flags & MAP_ANONYMOUS) == 0 && is_mapped_again(file)) {
    hooks->unsupported("mmap() of a file that is mapped already, shared and to be written to");
  }
  return (flags & ~(MAP_TYPE | MAP_SYNC)) | MAP_PRIVATE;
}

} // namespace

#define HEDDLE_MAP(name)                                                                           \
  HEDDLE_EXPORT void*                                                                              \
  name(void* at, std::size_t bytes, int protection, int flags, int file, off_t from) noexcept {    \
    static decltype(&::name) real = nullptr;                                                       \
    if (is_explored(__builtin_return_address(0))) {                                                \
      flags = private_flags(protection, flags, file);                                              \
    }                                                                                              \
    return real_function(real, #name)(at, bytes, protection, flags, file, from);                   \
  }
HEDDLE_MAP(mmap)
HEDDLE_MAP(mmap64)

HEDDLE_EXPORT int shm_open(const char* name, int flags, mode_t mode) {
  static decltype(&::shm_open) real = nullptr;
  if (hooks != nullptr) {
    hooks->unsupported("shm_open(), as what the kernel keeps is the same for all schedules");
  }
  return real_function(real, "shm_open")(name, flags, mode);
}

HEDDLE_EXPORT int shmget(key_t key, std::size_t bytes, int flags) noexcept {
  static decltype(&::shmget) real = nullptr;
  if (hooks != nullptr) {
    hooks->unsupported("shmget(), as what the kernel keeps is the same for all schedules");
  }
  return real_function(real, "shmget")(key, bytes, flags);
}
