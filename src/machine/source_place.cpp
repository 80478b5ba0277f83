// Implements source_place.h.
#include "machine/source_place.h"

#include <algorithm>
#include <array>
#include <string_view>

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

namespace {

/// A header that only gives an instruction its name in C++: to say "in a library" of __syncwarp(),
/// atomicAdd() or the store of a cuda::atomic would be no news. Waiting for one is more than that.
bool is_of_intrinsics(std::string_view path) {
  static constexpr std::array<std::string_view, 6> parts = {
      "_intrinsics.h",
      "_functions.h",
      "/include/crt/",
      "/cuda/std/__atomic/",
      "/cuda/__atomic/",
      "/cuda/std/atomic"
  };
  return path.find("/__atomic/wait/") == std::string_view::npos &&
         std::ranges::any_of(parts, [path](std::string_view part) {
           return path.find(part) != std::string_view::npos;
         });
}

} // namespace

const SourcePlace& users_place(const std::vector<SourcePlace>& innermost_first) {
  const auto own =
      std::find_if(innermost_first.begin(), innermost_first.end(), [](const SourcePlace& place) {
        return !is_system_file(place.file);
      });
  return own != innermost_first.end() ? *own : innermost_first.front();
}

Waiting as_user_sees(const FaultReport& where) {
  std::vector<SourcePlace> chain{where.source};
  chain.insert(chain.end(), where.inlined_at.begin(), where.inlined_at.end());
  const SourcePlace& own = users_place(chain);
  Waiting result{.place = own, .text = {}};
  for (const SourcePlace& call : chain) {
    if (&call > &own && call.line != 0) {
      result.inlined_at.push_back(call);
    }
  }
  const auto library = std::ranges::find_if(chain, [](const SourcePlace& place) {
    return place.line != 0 && !is_of_intrinsics(place.file);
  });
  if (library != chain.end() && &*library < &own) {
    result.library = *library;
  }
  return result;
}

} // namespace heddle::machine
