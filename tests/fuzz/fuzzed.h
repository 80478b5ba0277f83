// What targets have in common: the bytes of an input as a file, and broken invariants as crashes.
#pragma once

#include "base/check.h"
#include "base/new_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace heddle {

/// In the place of the one that ends the process without a word to libFuzzer. (Each target is one
/// file.)
void internal_error(const char* condition, const std::string& message, std::source_location where) {
  std::fprintf(
      stderr,
      "%s:%u: %s: %s\n",
      where.file_name(),
      where.line(),
      condition,
      message.c_str()
  );
  std::abort();
}

namespace fuzz {

inline void expect(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  }
}

inline std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A file in memory with these bytes, which can be opened by a path.
class File {
public:
  explicit File(std::string_view bytes) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    expect(fd_ >= 0 && write_to(fd_, bytes.data(), bytes.size()), "no file in memory");
    ::lseek(fd_, 0, SEEK_SET);
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }

private:
  int fd_;
};

} // namespace fuzz
} // namespace heddle
