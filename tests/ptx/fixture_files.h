// The PTX fixtures in the build tree (compile_fixtures.py).
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace heddle::ptx {

struct FixtureFile {
  std::string name;
  std::string text;
};

/// In order of their names; empty where nvcc is missing.
inline std::vector<FixtureFile> fixture_files() {
  std::vector<FixtureFile> result;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_FIXTURES, missing)) {
    if (entry.path().extension() == ".ptx") {
      std::ifstream in(entry.path(), std::ios::binary);
      result.push_back(
          {entry.path().filename().string(),
           std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>())}
      );
    }
  }
  std::sort(result.begin(), result.end(), [](const FixtureFile& a, const FixtureFile& b) {
    return a.name < b.name;
  });
  return result;
}

} // namespace heddle::ptx
