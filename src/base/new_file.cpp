// Implements new_file.h.
#include "base/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace heddle {

int open_new_file(const std::string& path, mode_t mode) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::open(path.c_str(), flags, mode);
  if (fd >= 0 || errno != EEXIST || ::unlink(path.c_str()) != 0) {
    return fd;
  }
  return ::open(path.c_str(), flags, mode);
}

int open_named_file(const std::string& path, int more) {
  constexpr mode_t mode = 0666; // less the user's umask
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | more;
  const int fd = ::open(path.c_str(), flags | O_NOFOLLOW, mode);
  if (fd >= 0 || errno != ELOOP) {
    return fd;
  }
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0 || (about.st_uid != ::geteuid() && about.st_uid != 0)) {
    errno = ELOOP;
    return -1;
  }
  return ::open(path.c_str(), flags, mode);
}

bool write_to(int fd, const void* bytes, std::size_t count) {
  for (const auto* at = static_cast<const char*>(bytes); count != 0;) {
    const ssize_t some = ::write(fd, at, count);
    if (some < 0 && errno != EINTR) {
      return false;
    }
    at += some > 0 ? some : 0;
    count -= some > 0 ? static_cast<std::size_t>(some) : 0;
  }
  return true;
}

} // namespace heddle
