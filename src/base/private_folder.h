// Folders for what will be executed: only this user can change what is in them.
//
//   const PrivateFolder made = make_private_folder(base / "heddle");
//   if (made.state != PrivateFolder::State::Ready) … made.reason
//
//   const TemporaryFolder folder;                 // /tmp/heddle-Xy12Ab, gone with the object
//
// A folder is *private* if this user owns it, neither its group nor others may write to it, it is
// not a symbolic link, and nobody else can put another one in its place: the folder above belongs
// to this user or to root, and others cannot write to it, or it is sticky as /tmp is. Folders
// further up are not looked at, nor are access control lists. May be wrong: refuses a folder that
// only a group with one member can write to.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace heddle {

struct PrivateFolder {
  enum class State {
    Ready,
    CannotBeMade, // or cannot be written
    OfOthers      // somebody else could change what is in it
  } state = State::Ready;
  std::string reason; // one line, if it is not ready: what is wrong with which folder
};

/// Makes the folder (mode 0700), and those above it, and looks at it and at the one above.
PrivateFolder make_private_folder(const std::filesystem::path& folder);

/// Why the folder is not private; empty: it is.
std::string why_not_private(const std::filesystem::path& folder);

/// Is the open file a regular one of this user that nobody else may write to?
bool is_private_file(int fd);

/// A folder in $TMPDIR or /tmp, with a name that nobody can guess. The process that has made it
/// removes it when the object ends, and so leaves it behind if it is killed. Empty path: it cannot
/// be made.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
  pid_t owner_ = 0;
};

} // namespace heddle
