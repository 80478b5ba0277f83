// Folders that only this user can change, and files that were not there before.
#include "base/new_file.h"
#include "base/private_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heddle {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using State = PrivateFolder::State;

class PrivateFolders : public testing::Test {
protected:
  const fs::path& root() const { return folder_.path(); }
  static mode_t mode_of(const fs::path& path) {
    struct stat about{};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 07777U : 0;
  }
  static std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

private:
  TemporaryFolder folder_;
};

TEST_F(PrivateFolders, ANewOneIsForThisUserWhateverTheUmaskIs) {
  const mode_t before = ::umask(0);
  EXPECT_EQ(make_private_folder(root() / "a/b/c/").state, State::Ready);
  ::umask(before);
  for (const char* name : {"a", "a/b", "a/b/c"}) {
    EXPECT_EQ(mode_of(root() / name), 0700U) << name;
    EXPECT_EQ(why_not_private(root() / name), "") << name;
  }
}

TEST_F(PrivateFolders, OthersMayReadWhatIsThere) {
  fs::create_directory(root() / "a");
  ::chmod((root() / "a").c_str(), 0755);
  EXPECT_EQ(make_private_folder(root() / "a").state, State::Ready);
}

TEST_F(PrivateFolders, OneThatOthersMayWriteToIsRefused) {
  fs::create_directory(root() / "a");
  for (const mode_t mode : {0777U, 0770U, 0702U, 01777U}) {
    ::chmod((root() / "a").c_str(), mode);
    const PrivateFolder made = make_private_folder(root() / "a");
    EXPECT_EQ(made.state, State::OfOthers) << mode;
    EXPECT_THAT(made.reason, HasSubstr("others may write to")) << mode;
    // What is in it could be taken away, unless it is sticky.
    EXPECT_EQ(
        make_private_folder(root() / "a/b").state,
        mode == 01777 ? State::Ready : State::OfOthers
    ) << mode;
  }
}

TEST_F(PrivateFolders, ALinkIsRefusedAlsoWithASlashBehindIt) {
  fs::create_directory(root() / "target");
  fs::create_directory_symlink(root() / "target", root() / "link");
  for (const fs::path& name : {root() / "link", root() / "link/"}) {
    const PrivateFolder made = make_private_folder(name);
    EXPECT_EQ(made.state, State::OfOthers);
    EXPECT_THAT(made.reason, HasSubstr("symbolic link"));
  }
  // Above it a link is where the user wants it to be.
  EXPECT_EQ(make_private_folder(root() / "link/inside").state, State::Ready);
}

TEST_F(PrivateFolders, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  fs::create_directories(root() / "a/b");
  ASSERT_EQ(::chown((root() / "a").c_str(), 12345, 12345), 0);
  EXPECT_THAT(
      make_private_folder(root() / "a").reason,
      HasSubstr("belongs to another user (12345)")
  );
  EXPECT_THAT(
      make_private_folder(root() / "a/b").reason,
      HasSubstr("belongs to another user (12345)")
  );
}

TEST_F(PrivateFolders, WhatIsNoFolderCannotBeMade) {
  std::ofstream(root() / "file") << "x";
  EXPECT_EQ(make_private_folder(root() / "file").state, State::CannotBeMade);
  EXPECT_EQ(make_private_folder(root() / "file/a").state, State::CannotBeMade);
}

TEST_F(PrivateFolders, ATemporaryOneIsGoneWithItsObject) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    EXPECT_EQ(mode_of(path), 0700U);
    std::ofstream(path / "file") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PrivateFolders, ANewFileReplacesALinkAndLeavesItsTarget) {
  std::ofstream(root() / "victim") << "precious";
  fs::create_symlink(root() / "victim", root() / "new");
  const int fd = open_new_file(root() / "new", 0600);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(write_to(fd, "text", 4));
  ::close(fd);
  EXPECT_EQ(text_of(root() / "victim"), "precious");
  EXPECT_EQ(text_of(root() / "new"), "text");
  EXPECT_FALSE(fs::is_symlink(root() / "new"));
}

TEST_F(PrivateFolders, ALinkThatThisUserHasMadeIsFollowed) {
  std::ofstream(root() / "target") << "before";
  fs::create_symlink(root() / "target", root() / "link");
  const int fd = open_named_file(root() / "link", O_TRUNC);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(write_to(fd, "after", 5));
  ::close(fd);
  EXPECT_EQ(text_of(root() / "target"), "after");
  if (::geteuid() == 0) {
    ASSERT_EQ(::lchown((root() / "link").c_str(), 12345, 12345), 0);
    EXPECT_LT(open_named_file(root() / "link", O_TRUNC), 0);
    EXPECT_EQ(errno, ELOOP);
    EXPECT_EQ(text_of(root() / "target"), "after");
  }
}

TEST_F(PrivateFolders, AFileThatOthersMayWriteToIsNotPrivate) {
  const fs::path file = root() / "file";
  const int fd = open_new_file(file, 0600);
  EXPECT_TRUE(is_private_file(fd));
  ::fchmod(fd, 0644);
  EXPECT_TRUE(is_private_file(fd));
  ::fchmod(fd, 0664);
  EXPECT_FALSE(is_private_file(fd));
  ::close(fd);
  EXPECT_FALSE(is_private_file(-1));
}

} // namespace
} // namespace heddle
