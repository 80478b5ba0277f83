// Implements private_folder.h. What is looked at is the open folder, not its name.
#include "base/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle {
namespace {

namespace fs = std::filesystem;

constexpr mode_t of_others = S_IWGRP | S_IWOTH;

class Descriptor {
public:
  Descriptor(const fs::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

/// A slash at the end would make the system follow a link.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::string cannot_look(const fs::path& folder, int error) {
  const bool other = error == ELOOP || error == ENOTDIR;
  return other ? fmt::format("'{}' is a symbolic link, or not a folder", folder.string())
               : fmt::format("'{}': {}", folder.string(), std::strerror(error));
}

/// The folder that holds a private one may be root's, and others may add files if it is sticky.
std::string why_not_safe_above(const fs::path& folder) {
  const Descriptor open(folder, O_RDONLY | O_DIRECTORY);
  struct stat about{};
  if (open.get() < 0 || ::fstat(open.get(), &about) != 0) {
    return cannot_look(folder, errno);
  }
  if (about.st_uid != ::geteuid() && about.st_uid != 0) {
    return fmt::format("'{}' belongs to another user ({})", folder.string(), about.st_uid);
  }
  if ((about.st_mode & of_others) != 0 && (about.st_mode & S_ISVTX) == 0) {
    return fmt::format("others may write to '{}'", folder.string());
  }
  return {};
}

/// False, and errno.
bool make_with_those_above(const fs::path& folder) {
  struct stat about{};
  if (::lstat(folder.c_str(), &about) == 0) {
    return true; // whatever it is: it is looked at afterwards
  }
  if (folder.has_relative_path() && folder.has_parent_path() &&
      !make_with_those_above(folder.parent_path())) {
    return false;
  }
  return ::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST;
}

} // namespace

std::string why_not_private(const fs::path& path) {
  const fs::path folder = without_slash(path);
  const Descriptor open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  struct stat about{};
  if (open.get() < 0 || ::fstat(open.get(), &about) != 0) {
    return cannot_look(folder, errno);
  }
  if (about.st_uid != ::geteuid()) {
    return fmt::format("'{}' belongs to another user ({})", folder.string(), about.st_uid);
  }
  if ((about.st_mode & of_others) != 0) {
    return fmt::format("others may write to '{}'", folder.string());
  }
  return why_not_safe_above(folder.has_parent_path() ? folder.parent_path() : fs::path("."));
}

PrivateFolder make_private_folder(const fs::path& path) {
  using State = PrivateFolder::State;
  const fs::path folder = without_slash(path);
  if (!make_with_those_above(folder)) {
    return {State::CannotBeMade, fmt::format("'{}': {}", folder.string(), std::strerror(errno))};
  }
  struct stat about{};
  if (::stat(folder.c_str(), &about) == 0 && !S_ISDIR(about.st_mode)) {
    return {State::CannotBeMade, fmt::format("'{}' is not a folder", folder.string())};
  }
  if (std::string reason = why_not_private(folder); !reason.empty()) {
    return {State::OfOthers, std::move(reason)};
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    return {State::CannotBeMade, fmt::format("'{}': {}", folder.string(), std::strerror(errno))};
  }
  return {};
}

bool is_private_file(int fd) {
  struct stat about{};
  return ::fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
         (about.st_mode & of_others) == 0;
}

TemporaryFolder::TemporaryFolder() : owner_(::getpid()) {
  std::error_code failure;
  std::string name = (fs::temp_directory_path(failure) / "heddle-XXXXXX").string();
  if (!failure && ::mkdtemp(name.data()) != nullptr) {
    path_ = name;
    if (!why_not_private(path_).empty()) { // $TMPDIR is a folder that others can change
      fs::remove(path_, failure);
      path_.clear();
    }
  }
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty() && ::getpid() == owner_) {
    std::error_code failure;
    fs::remove_all(path_, failure);
  }
}

} // namespace heddle
