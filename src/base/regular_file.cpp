// Implements regular_file.h.
#include "base/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace heddle {

int open_regular_file(const std::string& path) {
  // O_NONBLOCK: opening a pipe waits for a writer otherwise. Reading a regular file is the same.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat about{};
  if (fd < 0) {
    return -1;
  }
  const bool is_known = ::fstat(fd, &about) == 0;
  if (is_known && S_ISREG(about.st_mode)) {
    return fd;
  }
  const int error = is_known ? EINVAL : errno;
  ::close(fd);
  errno = error;
  return -1;
}

std::optional<std::string> read_to_end(int fd) {
  struct stat about{};
  if (::fstat(fd, &about) != 0) {
    return std::nullopt;
  }
  // In one piece: hundreds of headers are read before each check. Some files do not know their
  // size, and others grow.
  std::string contents(static_cast<std::size_t>(std::max<off_t>(about.st_size, 0)) + 1, '\0');
  std::size_t size = 0;
  ssize_t count = 0;
  while ((count = ::read(fd, contents.data() + size, contents.size() - size)) > 0 ||
         (count < 0 && errno == EINTR)) {
    size += count > 0 ? static_cast<std::size_t>(count) : 0;
    if (size == contents.size()) {
      contents.resize(2 * size);
    }
  }
  if (count < 0) {
    return std::nullopt;
  }
  contents.resize(size);
  return contents;
}

std::optional<std::string> read_regular_file(const std::string& path) {
  const int fd = open_regular_file(path);
  if (fd < 0) {
    return std::nullopt;
  }
  auto contents = read_to_end(fd);
  ::close(fd);
  return contents;
}

} // namespace heddle
