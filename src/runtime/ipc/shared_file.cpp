// Implements shared_file.h.
#include "runtime/ipc/shared_file.h"

#include <sys/mman.h>
#include <unistd.h>

namespace heddle::runtime {

int make_shared_file(std::uint64_t bytes) {
  const int file = ::memfd_create("heddle", MFD_CLOEXEC);
  if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    ::close(file);
    return -1;
  }
  return file;
}

void* map_shared_file(int file, std::uint64_t bytes, void* at) {
  const int flags = MAP_SHARED | (at != nullptr ? MAP_FIXED : 0);
  void* p = ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void map_own_pages(void* at, std::uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
}

} // namespace heddle::runtime
