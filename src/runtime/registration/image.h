// Images: device code that a program hands over while it runs (cuModuleLoadData,
// cudaLibraryLoadData, cuLinkAddData), rather than having it registered before main.
//
//   TRY(const auto texts, read_image(data, std::nullopt, /*arch=*/90));
//
// An image is PTX text ending in a NUL, a fat binary, a wrapper of fat binaries, or what
// link_image() made of several of them. A cubin is machine code, which nothing here can run.
// Wrong only in refusing.
#pragma once

#include "base/result.h"
#include "runtime/cudart.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::runtime {

/// The PTX texts in an image, chosen for a device of architecture `arch`. `bytes`: how long the
/// image is, where the caller knows. Unsupported error: it holds machine code only.
Result<std::vector<std::string>>
read_image(const void* data, std::optional<std::size_t> bytes, int arch);
/// The same for what a linker takes, which besides images is an object of a host compiler
/// (`nvcc -dc`) or a static library of such.
Result<std::vector<std::string>> read_link_input(const void* data, std::size_t bytes, int arch);

enum class ImageUse {
  Load,
  Link
};
Result<std::vector<std::string>>
read_image_file(const char* path, int arch, ImageUse use = ImageUse::Load);

/// Texts that are to be linked with each other, as one image.
std::vector<std::byte> link_image(const std::vector<std::string>& texts);

/// The options of a load call that have a meaning here: where its messages go. All others only
/// tune what a compiler of PTX does.
struct LoadLog {
  char* errors = nullptr;
  char* info = nullptr;
  std::size_t error_bytes = 0, info_bytes = 0;
  void** error_bytes_used = nullptr; // of the option that gave the size
  void** info_bytes_used = nullptr;

  /// `options` are numbers of cudaJitOption and CUjit_option, which are the same.
  LoadLog(const int* options, void** values, unsigned count);
  void finish(const std::string& error_text) const;
};

} // namespace heddle::runtime
