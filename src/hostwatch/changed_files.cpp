// Implements changed_files.h; unlink(), remove(), rename(), mkdir(), rmdir(), link() and symlink().
// A file that must be new (O_EXCL: a lock file) lies in memory, and only the execution that has
// made it finds it, by its path. To remove or rename a file that this execution has written
// succeeds, although another one may have done so before. The rest is told, and bounds the verdict:
// the first execution finds the folder as it was, others as it is then.
//
// May invent: what a program does that asks whether it could remove a file that was there before.
#include "hostwatch/changed_files.h"

#include "hostwatch/answers.h"
#include "hostwatch/hooks_internal.h"
#include "hostwatch/processes.h"
#include "hostwatch/shared_use.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace heddle::hostwatch {
namespace {

struct Changed {
  static constexpr unsigned most_bytes = 256;
  char path[most_bytes]; // as the program calls it; empty: free
  int own;               // the descriptor of a file of its own; -1: it is an ordinary one
};
constexpr unsigned most_changed = 128;
Changed changed[most_changed];

Changed* find(const char* path) {
  for (Changed& one : changed) {
    if (one.path[0] != '\0' && std::strcmp(one.path, path) == 0) {
      return &one;
    }
  }
  return nullptr;
}

/// nullptr: it is not remembered.
Changed* add(const char* path) {
  for (Changed& one : changed) {
    if (one.path[0] == '\0' && std::strlen(path) < Changed::most_bytes) {
      std::strcpy(one.path, path);
      one.own = -1;
      return &one;
    }
  }
  return nullptr;
}

} // namespace

void note_written(const char* path) {
  if (path != nullptr && find(path) == nullptr) {
    add(path);
  }
}

int own_file(const char* path) {
  const Changed* const known = hooks != nullptr ? find(path) : nullptr;
  return known != nullptr ? known->own : -1;
}

int make_own_file(const char* path, int flags) {
  struct stat status;
  if (own_file(path) >= 0 || ::lstat(path, &status) == 0) {
    errno = EEXIST;
    return -1;
  }
  Changed* known = find(path);
  if (known == nullptr && (known = add(path)) == nullptr) {
    hooks->unsupported("more than 128 files that the program makes or changes");
  }
  constexpr int above = 512; // what the program has open gets low numbers
  const int made = ::memfd_create("file", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  known->own = ::fcntl(made, F_DUPFD_CLOEXEC, above);
  return made;
}

namespace {

using Remove = int(const char*);

int remove_file(Remove* real, const char* path, const void* pc) {
  Changed* const known = is_explored(pc) ? find(path) : nullptr;
  if (known == nullptr) {
    return real(RealPath(path));
  }
  known->path[0] = '\0';
  if (known->own >= 0) {
    ::close(known->own);
    return 0;
  }
  const int error = real(path);
  return error != 0 && errno == ENOENT ? 0 : error;
}

/// The program goes by whether `path` is there, and has changed that if `error` is 0.
int tell_change(int error, const char* path, const void* pc) {
  const int code = errno;
  if (is_explored(pc)) {
    tell(HeddleFileLookedAt, path, pc);
    if (error == 0) {
      tell(HeddleFileWritten, path, pc);
    }
  }
  errno = code;
  return error;
}

/// When this program was loaded: executions of a search go on from there.
timespec loaded_at{};
[[gnu::constructor]] void note_load() {
  ::clock_gettime(CLOCK_REALTIME_COARSE, &loaded_at); // the clock of file systems
}

/// False, too, where a file system does not know.
bool was_made_since(const char* path) {
  struct statx status{};
  if (::statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0) {
    return false;
  }
  return status.stx_btime.tv_sec > loaded_at.tv_sec ||
         (status.stx_btime.tv_sec == loaded_at.tv_sec &&
          status.stx_btime.tv_nsec >= loaded_at.tv_nsec);
}

using MakeFolder = int(const char*, mode_t);

/// One that another execution has made does not count.
int make_folder(MakeFolder* real, const char* path, mode_t mode, const void* pc) {
  int error = real(path, mode);
  if (is_explored(pc)) {
    if (error != 0 && errno == EEXIST && find(path) == nullptr && was_made_since(path)) {
      error = 0;
    }
    if (error == 0) {
      note_written(path);
    }
  }
  return tell_change(error, path, pc);
}

int remove_folder(Remove* real, const char* path, const void* pc) {
  Changed* const known = is_explored(pc) ? find(path) : nullptr;
  int error = real(path);
  if (known != nullptr && (error == 0 || errno == ENOENT)) {
    known->path[0] = '\0';
    error = 0;
  }
  return tell_change(error, path, pc);
}

using Rename = int(const char*, const char*);

int rename_file(Rename* real, const char* from, const char* to, const void* pc) {
  Changed* const known = is_explored(pc) ? find(from) : nullptr;
  if (known == nullptr || std::strlen(to) >= Changed::most_bytes) {
    const int error = tell_change(real(RealPath(from), to), from, pc);
    return error == 0 ? tell_change(error, to, pc) : error;
  }
  if (Changed* const there = find(to); there != nullptr && there != known) {
    there->path[0] = '\0';
    if (there->own >= 0) {
      ::close(there->own);
    }
  }
  const int error = known->own >= 0 ? 0 : real(from, to);
  if (error != 0 && errno != ENOENT) {
    return error;
  }
  std::strcpy(known->path, to);
  tell(HeddleFileWritten, to, pc);
  return 0;
}

} // namespace
} // namespace heddle::hostwatch

using namespace heddle::hostwatch;

HEDDLE_EXPORT int unlink(const char* path) noexcept {
  static Remove* real = nullptr;
  return remove_file(real_function(real, "unlink"), path, __builtin_return_address(0));
}

HEDDLE_EXPORT int remove(const char* path) noexcept {
  static Remove* real = nullptr;
  return remove_file(real_function(real, "remove"), path, __builtin_return_address(0));
}

HEDDLE_EXPORT int rename(const char* from, const char* to) noexcept {
  static Rename* real = nullptr;
  return rename_file(real_function(real, "rename"), from, to, __builtin_return_address(0));
}

HEDDLE_EXPORT int mkdir(const char* path, mode_t mode) noexcept {
  static MakeFolder* real = nullptr;
  return make_folder(real_function(real, "mkdir"), path, mode, __builtin_return_address(0));
}

HEDDLE_EXPORT int rmdir(const char* path) noexcept {
  static Remove* real = nullptr;
  return remove_folder(real_function(real, "rmdir"), path, __builtin_return_address(0));
}

HEDDLE_EXPORT int link(const char* from, const char* to) noexcept {
  static Rename* real = nullptr;
  return tell_change(
      real_function(real, "link")(RealPath(from), to),
      to,
      __builtin_return_address(0)
  );
}

HEDDLE_EXPORT int symlink(const char* from, const char* to) noexcept {
  static Rename* real = nullptr;
  return tell_change(real_function(real, "symlink")(from, to), to, __builtin_return_address(0));
}
