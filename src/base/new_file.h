// Opening files for writing where others may have put something of that name.
//
//   const int fd = open_new_file(file + ".new", 0600);     // then rename() it to its place
//   const int fd = open_named_file(file, O_TRUNC);         // a file that the user has named
//
// Both close the descriptor in programs that are started, and answer -1 and errno.
#pragma once

#include <sys/types.h>

#include <string>

namespace heddle {

/// A file that was not there before, for writing. What bears the name, a link, too, is removed
/// first. EEXIST: it cannot be removed, because it is somebody else's.
int open_new_file(const std::string& path, mode_t mode);

/// The file, made if need be, for writing, with more flags of open(2). A symbolic link is followed
/// only if this user or root has made it: ELOOP else.
int open_named_file(const std::string& path, int flags);

/// All of it; false, and errno, if there is no room.
bool write_to(int fd, const void* bytes, std::size_t count);

} // namespace heddle
