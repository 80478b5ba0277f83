// Implements progress_file.h.
#include "explore/progress_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace heddle::explore {

Result<std::shared_ptr<ProgressFile>> ProgressFile::create(const std::string& path) {
  if (!std::ofstream(path, std::ios::trunc)) {
    return input_error(
        fmt::format("--progress-file: cannot write '{}': {}", path, std::strerror(errno))
    );
  }
  return std::shared_ptr<ProgressFile>(new ProgressFile(path));
}

void ProgressFile::add(std::string_view line) {
  std::ofstream out(path_, std::ios::app);
  out << line << '\n' << std::flush;
  if (!out && problem_.empty()) {
    problem_ = fmt::format(
        "not all of the progress could be written to '{}': {}",
        path_,
        std::strerror(errno)
    );
  }
}

} // namespace heddle::explore
