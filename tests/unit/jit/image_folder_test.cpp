// The folder of images is bounded: what has not been used for the longest time goes first.
#include "jit/image_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heddle::jit {
namespace {

namespace fs = std::filesystem;

class ImageFolder : public testing::Test {
protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void file(const std::string& name, std::size_t bytes, std::chrono::minutes age) {
    std::ofstream(folder_ / name) << std::string(bytes, 'x');
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - age);
  }
  bool has(const std::string& name) const { return fs::exists(folder_ / name); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("heddle-images-" + std::to_string(::getpid()));
};

TEST_F(ImageFolder, TheOldestGoFirst) {
  using std::chrono::minutes;
  file("old.image", 400, minutes(30));
  file("older.image", 400, minutes(40));
  file("new.image", 400, minutes(1));
  bound_image_folder(folder_, 1200);
  EXPECT_TRUE(has("older.image"));
  note_image_used(folder_ / "older.image");
  bound_image_folder(folder_, 800);
  EXPECT_TRUE(has("older.image"));
  EXPECT_FALSE(has("old.image"));
  EXPECT_TRUE(has("new.image"));
}

TEST_F(ImageFolder, WhatHasBeenLeftBehindGoes) {
  using std::chrono::minutes;
  file("a.image.77.4.ptx", 10, minutes(120));
  file("b.image.78", 10, minutes(1));
  bound_image_folder(folder_);
  EXPECT_FALSE(has("a.image.77.4.ptx"));
  EXPECT_TRUE(has("b.image.78"));
}

TEST_F(ImageFolder, ThereMayBeNone) {
  bound_image_folder(folder_ / "nowhere");
}

} // namespace
} // namespace heddle::jit
