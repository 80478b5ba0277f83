// Numbers of processes and threads that the program knows, for the files that define what is given
// them (processes.cpp).
#pragma once

#include <cstddef>

namespace heddle::hostwatch {

/// syscall() that returns to `pc`. True: *result is the answer; false: it is to be made, with
/// `arguments` as they are now.
bool answers_call(long number, long* arguments, long* result, const void* pc);

/// Under which name the system knows `path`, which may name a process (/proc/4194561/maps).
///
///   real(RealPath(path), mode)
class RealPath {
public:
  explicit RealPath(const char* path);
  RealPath(const RealPath&) = delete;
  RealPath& operator=(const RealPath&) = delete;
  operator const char*() const { return path_; } // an argument of a call

private:
  static constexpr std::size_t most = 256;
  char room_[most];
  const char* path_;
};

} // namespace heddle::hostwatch
