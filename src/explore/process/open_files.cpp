// Implements open_files.h. Needs /proc.
#include "explore/process/open_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

extern "C" FILE* _IO_list_all; // glibc's streams: all that are open

namespace heddle::explore {
namespace {

// Numbers that the program gets are lower (fork_server.cpp).
constexpr int first_own = 512;

std::string path_of(int descriptor) {
  return fmt::format("/proc/self/fd/{}", descriptor);
}

/// What Heddle has open are files in memory.
bool is_own(int descriptor) {
  constexpr std::string_view begins = "/memfd:heddle-";
  std::array<char, begins.size()> name{};
  const ssize_t bytes = ::readlink(path_of(descriptor).c_str(), name.data(), name.size());
  return bytes > 0 && std::string_view(name.data(), static_cast<std::size_t>(bytes)) == begins;
}

/// The numbers of all descriptors of this process, in no order.
std::vector<int> descriptors() {
  std::vector<int> result;
  const int folder = ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return result;
  }
  alignas(dirent64) std::array<char, 4096> entries;
  for (;;) {
    const ssize_t bytes = ::getdents64(folder, entries.data(), entries.size());
    if (bytes <= 0) {
      break;
    }
    for (ssize_t at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      char* end = nullptr;
      const long number = std::strtol(entry->d_name, &end, 10);
      if (end != entry->d_name && *end == '\0' && number != folder) {
        result.push_back(static_cast<int>(number));
      }
      at += entry->d_reclen;
    }
  }
  ::close(folder);
  return result;
}

} // namespace

void OpenFiles::add(int number) {
  if (number == STDOUT_FILENO || number == STDERR_FILENO) {
    return; // nobody asks how far these are
  }
  if (std::ranges::find(own_, number) != own_.end()) {
    return;
  }
  struct stat status;
  if (::fstat(number, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
    return;
  }
  const off_t position = ::lseek(number, 0, SEEK_CUR);
  if (position < 0) {
    return;
  }
  if (is_own(number)) {
    if (number >= first_own) {
      own_.push_back(number);
    }
    return;
  }
  File file{
      .number = number,
      .device = status.st_dev,
      .node = status.st_ino,
      .is_folder = S_ISDIR(status.st_mode),
      .position = position
  };
  file.same_as = descriptor_of_the_same(file);
  files_.push_back(file);
}

/// If one moves, both do.
int OpenFiles::descriptor_of_the_same(const File& file) const {
  for (const File& other : files_) {
    if (file.is_folder || other.same_as >= 0 || other.device != file.device ||
        other.node != file.node || other.position != file.position) {
      continue;
    }
    ::lseek(other.number, 1, SEEK_CUR);
    const bool same = ::lseek(file.number, 0, SEEK_CUR) != file.position;
    ::lseek(other.number, other.position, SEEK_SET);
    if (same) {
      return other.number;
    }
  }
  return -1;
}

void OpenFiles::look() {
  files_.clear();
  std::vector<int> numbers = descriptors();
  std::ranges::sort(numbers);
  for (const int number : numbers) {
    add(number);
  }
}

bool OpenFiles::make_own() const {
  constexpr int kept = O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DSYNC | O_DIRECT | O_NOATIME;
  bool all = true;
  for (const File& file : files_) {
    const int closes = ::fcntl(file.number, F_GETFD) & FD_CLOEXEC;
    const int on_exec = closes != 0 ? O_CLOEXEC : 0;
    if (file.same_as >= 0) {
      ::dup3(file.same_as, file.number, on_exec);
      continue;
    }
    const int flags = (::fcntl(file.number, F_GETFL) & kept) | O_CLOEXEC | O_NOCTTY;
    const int own = ::open(path_of(file.number).c_str(), flags);
    if (own < 0 || ::lseek(own, file.position, SEEK_SET) != file.position) {
      all = false;
    } else {
      ::dup3(own, file.number, on_exec);
    }
    if (own >= 0) {
      ::close(own);
    }
  }
  return all;
}

/// What a stream has read and not given to the program yet belongs to its position.
void OpenFiles::hash(Hasher& hasher) {
  look();
  for (const File& file : files_) {
    hasher.value(file.number);
    hasher.value(file.position);
  }
  std::vector<std::pair<int, std::ptrdiff_t>> unread;
  for (const FILE* stream = _IO_list_all; stream != nullptr; stream = stream->_chain) {
    if (stream->_IO_read_ptr < stream->_IO_read_end) {
      unread.emplace_back(stream->_fileno, stream->_IO_read_end - stream->_IO_read_ptr);
    }
  }
  std::ranges::sort(unread);
  for (const auto& [number, bytes] : unread) {
    hasher.value(number);
    hasher.value(bytes);
  }
}

} // namespace heddle::explore
