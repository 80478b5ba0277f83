// TemporaryFile: a file of this process in the folder for temporary ones, removed with the object.
//
//   const TemporaryFile found("run");
//   environment["HEDDLE_REPORT_TO"] = found.path();
//
// Its name has one length whatever the number of the process: it stands in the environment, so the
// place of a program's stack depends on it, and by that the order in which states with addresses
// are numbered.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle::cli {

class TemporaryFile {
public:
  explicit TemporaryFile(std::string_view purpose)
      : path_(
            std::filesystem::temp_directory_path() /
            fmt::format("heddle-{}-{:010}", purpose, ::getpid())
        ) {
    std::filesystem::remove(path_);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

} // namespace heddle::cli
