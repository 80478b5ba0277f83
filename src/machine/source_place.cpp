// Implements source_place.h.
#include "machine/source_place.h"

#include <algorithm>
#include <array>

namespace heddle::machine {

bool is_system_file(std::string_view path) {
  if (path.starts_with("/usr/") || path == "??" || path.empty()) {
    return true;
  }
  // nvcc's own folders, wherever the toolkit lies, and the C++ library in GCC's spelling.
  static constexpr std::array<std::string_view, 5> parts =
      {"/cccl/", "/targets/x86_64-linux/include/", "/nvidia/cu13/", "/c++/", "tmpxft_"};
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return path.find(part) != std::string_view::npos;
  });
}

const SourcePlace& users_place(const std::vector<SourcePlace>& innermost_first) {
  const auto own =
      std::find_if(innermost_first.begin(), innermost_first.end(), [](const SourcePlace& place) {
        return !is_system_file(place.file);
      });
  return own != innermost_first.end() ? *own : innermost_first.front();
}

} // namespace heddle::machine
