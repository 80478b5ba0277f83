// What the readers of YAML files share: where a file is found, and messages with places in it.
#pragma once

#include "base/result.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle::cli {

/// The nearest file `name` at or above `folder`; empty: there is none.
std::string find_upwards(std::filesystem::path folder, std::string_view name);

/// Everything that a reader of one file needs for its messages.
class YamlFile {
public:
  /// `text` is what is in the file, and lives longer.
  YamlFile(const std::string& file, const std::string& text);

  tl::unexpected<Error> problem(const YAML::Mark& at, const std::string& text) const;
  /// "file:line"
  std::string written(const YAML::Mark& at) const;
  Result<std::string> scalar(const std::string& key, const YAML::Node& value) const;

private:
  std::string shown_;
  const std::string& text_;
};

} // namespace heddle::cli
