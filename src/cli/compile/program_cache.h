// The user's cache of compiled programs.
//
//   const auto cache = ProgramCache::open();            // $XDG_CACHE_HOME/heddle/programs
//   if (auto program = cache->find(key)) …              // what was made from the same files
//   cache->keep(key, files, begun, temporary)
//
// What lies there is executed, so the folders must be private (base/private_folder.h): one that
// others can change is refused with a warning, and a temporary folder takes its place, as it does
// where there is no XDG_CACHE_HOME, and no HOME that can be written. So must be a program that is
// found.
//
//   <key>.manifest   lines "<hash> <state> <path>" for each file read, then "program <name>"
//   <name>           the program
//
// <key> hashes what is known before compiling; <name> hashes the key and the contents of all files.
// <state> is inode, size and times of the file when it had those contents: as long as they are the
// same it is not read again (an owner can set the time of a change back, but not the inode's own).
// A file whose inode changed less than two seconds before it was looked at has "-": another write
// may leave the same time.
#pragma once

#include "base/result.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {

class ProgramCache {
public:
  using Time = std::chrono::system_clock::time_point;

  /// Input error: the folder that XDG_CACHE_HOME names cannot be written.
  static Result<ProgramCache> open();

  /// It is gone when this process ends: a program in it must be a child of this process.
  bool is_temporary() const { return temporary_; }
  /// Why nothing is kept for the next command, if the user should know: what compiles says so.
  const std::string& why_not_kept() const { return why_not_kept_; }

  /// The program, if all files it was made from still have the same contents.
  std::optional<std::filesystem::path> find(const std::string& key) const;

  /// Where a compiler may put its output: a name that nobody else uses.
  std::filesystem::path temporary(const std::string& key) const;

  /// Moves a program, compiled since `begun` from these files, to its place and returns it. If one
  /// of them has been changed or removed meanwhile, the program stays where it is and is not found
  /// again. Removes entries unused for a month. Input error: it cannot be written.
  Result<std::filesystem::path> keep(
      const std::string& key,
      const std::vector<std::string>& files,
      Time begun,
      const std::filesystem::path& program
  ) const;

  /// Where compiled code of kernels is kept: jit/tiers.h.
  std::filesystem::path kernels() const { return folder_.parent_path() / "kernels"; }
  /// What Triton compiles under Heddle.
  std::filesystem::path triton() const { return folder_.parent_path() / "triton"; }
  /// What FlashInfer compiles under Heddle.
  std::filesystem::path flashinfer() const { return folder_.parent_path() / "flashinfer"; }
  /// The module for each version of PyTorch.
  std::filesystem::path torch() const { return folder_.parent_path() / "torch"; }
  /// What is known of schedules: schedule_record.h.
  std::filesystem::path schedules() const { return folder_.parent_path() / "schedules"; }

  /// What `heddle lint` has found in files.
  ProgramCache findings() const { return {folder_.parent_path() / "lint", temporary_}; }

private:
  ProgramCache(std::filesystem::path folder, bool temporary)
      : folder_(std::move(folder)),
        temporary_(temporary) {}
  std::filesystem::path manifest(const std::string& key) const;

  std::filesystem::path folder_;
  bool temporary_;
  std::string why_not_kept_;
};

/// Removes files of the folder that nobody has used during a month. Failures do not matter.
void remove_unused(const std::filesystem::path& folder);

} // namespace heddle::cli
