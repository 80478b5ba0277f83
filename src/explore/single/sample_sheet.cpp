// A page of a file in memory.
#include "explore/single/sample_sheet.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle::explore {

Result<SharedSheet> SharedSheet::create(const SampleSheet& asked) {
  const int fd = ::memfd_create("heddle-samples", 0); // inherited by the explored process
  if (fd < 0 || ::write(fd, &asked, sizeof asked) != static_cast<ssize_t>(sizeof asked)) {
    return input_error(
        fmt::format("cannot create the sheet of schedules: {}", std::strerror(errno))
    );
  }
  return open(fd);
}

Result<SharedSheet> SharedSheet::open(int fd) {
  struct stat status{};
  void* p = MAP_FAILED;
  if (::fstat(fd, &status) == 0 && status.st_size == static_cast<off_t>(sizeof(SampleSheet))) {
    // Where nothing else lies, so that no other address depends on whether there is a sheet.
    auto* const away = reinterpret_cast<void*>(0x5e00'0000'0000ULL);
    p = ::mmap(away, sizeof(SampleSheet), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (p == MAP_FAILED) {
    return input_error(fmt::format("file descriptor {} is no sheet of schedules", fd));
  }
  return SharedSheet(fd, static_cast<SampleSheet*>(p));
}

SharedSheet::~SharedSheet() {
  if (sheet_ != nullptr) {
    ::munmap(sheet_, sizeof *sheet_);
  }
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

} // namespace heddle::explore
