// TemporaryFile: a file of this process that others can open by a path.
//
//   const TemporaryFile found("run");
//   environment["HEDDLE_REPORT_TO"] = found.path();
//
// It lies in memory and is gone with the object, or with the process, however that ends. The path
// has one length whatever the number of the process: it stands in the environment, so the place of
// a program's stack depends on it, and by that the order in which states with addresses are
// numbered.
//
// May be wrong: a process of another user cannot open it.
#pragma once

#include "base/check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace heddle::cli {

class TemporaryFile {
public:
  explicit TemporaryFile(const std::string& purpose)
      : descriptor_(::memfd_create(("heddle-" + purpose).c_str(), MFD_CLOEXEC)) {
    HEDDLE_CHECK(descriptor_ >= 0, "no file in memory: {}", std::strerror(errno));
  }
  ~TemporaryFile() { ::close(descriptor_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const {
    constexpr int length = 40; // more slashes at its beginning mean the same
    return fmt::format("{:/>{}}", fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor_), length);
  }

private:
  int descriptor_;
};

} // namespace heddle::cli
