// NVIDIA's libraries whose kernels exist only as machine code of its GPUs, and those of them that
// Heddle has a stand-in for.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace heddle {

/// Has src/libraries one of this name?
inline bool has_stand_in(std::string_view file) {
  return file.starts_with("libcublas.so.") || file == "libcurand.so.10";
}

/// `file`: a name without a folder, "libcudnn.so.9".
inline bool is_closed_library(std::string_view file) {
  constexpr auto names = std::to_array<std::string_view>(
      {"libcublas",
       "libcudnn",
       "libcufft",
       "libcusolver",
       "libcusparse",
       "libcurand",
       "libnccl",
       "libnpp",
       "libnvjpeg"}
  );
  return std::ranges::any_of(names, [&](std::string_view name) { return file.starts_with(name); });
}

} // namespace heddle
