// install_image(): maps the image of a kernel and lets the interpreter use it.
#pragma once

#include "base/result.h"
#include "isa/program.h"
#include "jit/image.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heddle::jit {

/// What an image says, checked: each function begins inside of the code, and its entries exist.
struct ReadImage {
  std::vector<ImageFunction> functions;
  std::vector<std::uint32_t> entries;
  std::span<const std::byte> code; // in the image
};
/// Input error: it is no image of this build.
Result<ReadImage> read_image(std::span<const std::byte> image);

/// Installs the regions of an image in the codes of `kernel` and returns how many. Input error: it
/// is no image of this build. Codes that the image does not know stay as they are. The mapping is
/// never undone: workers may execute it.
Result<int> install_image(const isa::Kernel& kernel, std::span<const std::byte> image);
/// The same with the image in a file, which only this user may have written: it is executed.
Result<int> load_image(const isa::Kernel& kernel, const std::string& file);

} // namespace heddle::jit
