// Implements yaml_file.h.
#include "cli/config/yaml_file.h"

#include "cli/file.h"
#include "report/render.h"

#include <fmt/format.h>

namespace heddle::cli {

namespace fs = std::filesystem;

std::string find_upwards(fs::path folder, std::string_view name) {
  std::error_code failure;
  folder = fs::absolute(folder, failure).lexically_normal();
  if (failure) {
    return {};
  }
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (const fs::path candidate = folder / name; fs::exists(candidate, failure)) {
      return candidate.string();
    }
    if (folder == folder.root_path()) {
      break;
    }
  }
  return {};
}

YamlFile::YamlFile(const std::string& file, const std::string& text)
    : shown_(report::shown_path(file)),
      text_(text) {}

tl::unexpected<Error> YamlFile::problem(const YAML::Mark& at, const std::string& text) const {
  const std::string place =
      at.is_null() ? shown_ : fmt::format("{}:{}:{}", shown_, at.line + 1, at.column + 1);
  return input_error(printable(fmt::format("{}: {}", place, text))); // words of the file are in it
}

std::string YamlFile::written(const YAML::Mark& at) const {
  return fmt::format("{}:{}", shown_, at.line + 1);
}

Result<std::string> YamlFile::scalar(const std::string& key, const YAML::Node& value) const {
  constexpr std::string_view null = "null"; // a finding's code, and a word of YAML
  if (value.IsNull() && !value.Mark().is_null() &&
      std::string_view(text_)
          .substr(static_cast<std::size_t>(value.Mark().pos))
          .starts_with(null)) {
    return std::string(null);
  }
  if (!value.IsScalar() || value.Scalar().empty()) {
    return problem(value.Mark(), fmt::format("'{}' needs one word or text", key));
  }
  return value.Scalar();
}

} // namespace heddle::cli
