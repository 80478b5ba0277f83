// Implements shared_file.h.
#include "runtime/ipc/shared_file.h"

#include "base/check.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::runtime {

int make_shared_file(std::uint64_t bytes) {
  const int file = ::memfd_create("heddle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file >= 0 && (::ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
                    ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
    ::close(file);
    return -1;
  }
  return file;
}

bool is_shared_file(int file, std::uint64_t bytes) {
  constexpr int sealed = F_SEAL_SHRINK | F_SEAL_SEAL; // no file on a disk has seals
  struct stat about{};
  const int seals = ::fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & sealed) == sealed && ::fstat(file, &about) == 0 &&
         about.st_uid == ::geteuid() && static_cast<std::uint64_t>(about.st_size) >= bytes;
}

void* map_shared_file(int file, std::uint64_t bytes, void* at) {
  const int flags = MAP_SHARED | (at != nullptr ? MAP_FIXED : 0);
  void* p = ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void map_own_pages(void* at, std::uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  // Else the addresses would still be the file's.
  HEDDLE_CHECK(
      ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED,
      "pages cannot be put back"
  );
}

} // namespace heddle::runtime
