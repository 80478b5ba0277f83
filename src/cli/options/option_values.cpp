// Implements option_values.h.
#include "cli/options/option_values.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

/// An executable of this system, or a source that is compiled.
bool is_program(const std::string& file) {
  constexpr std::string_view magic = "\x7f"
                                     "ELF";
  char head[magic.size()] = {};
  std::ifstream(file, std::ios::binary).read(head, sizeof head);
  return std::string_view(head, sizeof head) == magic || file.ends_with(".cu");
}

/// Empty: nothing is wrong with it. CLI11 puts the option's name before it.
std::string problem_with(const std::string& file) {
  std::error_code failure;
  if (fs::is_directory(file, failure)) {
    return fmt::format("'{}' is a folder", file);
  }
  // A device has no beginning that could be looked at: it may be a terminal.
  if (fs::is_regular_file(file, failure) && is_program(file)) {
    return fmt::format("'{}' is a program: the option needs a FILE before it", file);
  }
  return {};
}

std::string problem_with_writing(const std::string& file) {
  if (file == "-") {
    return {};
  }
  if (std::string text = problem_with(file); !text.empty()) {
    return text;
  }
  std::error_code failure;
  const fs::path folder = fs::path(file).parent_path();
  const fs::path needed = fs::exists(file, failure) ? fs::path(file)
                          : folder.empty()          ? fs::path(".")
                                                    : folder;
  return ::access(needed.c_str(), W_OK) == 0
             ? std::string()
             : fmt::format("cannot write '{}': {}", file, std::strerror(errno));
}

} // namespace

CLI::Validator seconds() {
  return {
      [](std::string& word) {
        double value = 0;
        return CLI::detail::lexical_cast(word, value) && std::isfinite(value) && value > 0
                   ? std::string()
                   : fmt::format("'{}' is not a number of seconds above 0", word);
      },
      ""
  };
}

CLI::Validator file_to_read() {
  return {[](std::string& file) { return problem_with(file); }, ""};
}

CLI::Validator file_to_write() {
  return {[](std::string& file) { return problem_with_writing(file); }, ""};
}

CLI::Validator file_to_replace() {
  return {
      [](std::string& file) {
        std::error_code failure;
        return file == "-" || (fs::exists(file, failure) && !fs::is_regular_file(file, failure))
                   ? fmt::format("'{}' is not a file", file)
                   : problem_with_writing(file);
      },
      ""
  };
}

} // namespace heddle::cli
