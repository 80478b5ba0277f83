// Implements progress_file.h.
#include "explore/process/progress_file.h"

#include "base/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle::explore {

Result<std::shared_ptr<ProgressFile>> ProgressFile::create(const std::string& path) {
  const int fd = open_named_file(path, O_TRUNC | O_APPEND);
  if (fd < 0) {
    return input_error(
        fmt::format("--progress-file: cannot write '{}': {}", path, std::strerror(errno))
    );
  }
  return std::shared_ptr<ProgressFile>(new ProgressFile(path, fd));
}

ProgressFile::~ProgressFile() {
  ::close(fd_);
}

void ProgressFile::add(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  if (!write_to(fd_, text.data(), text.size()) && problem_.empty()) {
    problem_ = fmt::format(
        "not all of the progress could be written to '{}': {}",
        path_,
        std::strerror(errno)
    );
  }
}

} // namespace heddle::explore
