// Implements changed_files.h; unlink() and remove(). A file that must be new (O_EXCL: a lock file)
// lies in memory, and only the execution that has made it finds it, by its path. To remove a file
// that this execution has written succeeds, although another one may have removed it before.
//
// May invent: what a program does that asks whether it could make a folder, rename a file, or
// remove one that was there before: the first execution finds it as it was, others as it is then.
#include "hostwatch/changed_files.h"

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
