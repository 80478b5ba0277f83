// What targets have in common: the bytes of an input as a file, and broken invariants as crashes.
#pragma once

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

namespace heddle::fuzz {

/// The targets: 1: the input was accepted, 0: it was refused. What is wrong ends the process.
int ptx_parse(const std::uint8_t* data, std::size_t size);
int schedule(const std::uint8_t* data, std::size_t size);
int checkpoint(const std::uint8_t* data, std::size_t size);
int jit_image(const std::uint8_t* data, std::size_t size);
int fatbin(const std::uint8_t* data, std::size_t size);
int elf(const std::uint8_t* data, std::size_t size);
int yaml(const std::uint8_t* data, std::size_t size);
int suite(const std::uint8_t* data, std::size_t size);

inline void expect(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "%s\n", what);
    std::abort();
  }
}

inline std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A message for people: something is said, and no character that a terminal would obey.
inline void expect_words(std::string_view message) {
  expect(!message.empty(), "refused without a word");
  for (const char c : message) {
    expect(
        static_cast<unsigned char>(c) >= ' ' && c != '\x7f',
        "a message with control characters"
    );
  }
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

} // namespace heddle::fuzz
