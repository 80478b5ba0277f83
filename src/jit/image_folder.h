// The folder with images of compiled code: bounded in size.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace heddle::jit {

/// All images of it together: 5,000 kernels of some size.
inline constexpr std::uintmax_t largest_image_folder = 256U << 20U;
/// Nobody writes for so long: such a file has been left behind by somebody who was ended.
inline constexpr std::chrono::hours longest_write{1};

/// Removes images, those first that have not been used for the longest time, until the rest has at
/// most `most` bytes; and files that somebody has left behind half-written. What another process
/// removes at the same time does not matter, nor does a failure.
void bound_image_folder(
    const std::filesystem::path& folder,
    std::uintmax_t most = largest_image_folder
);

/// The image has been used now.
void note_image_used(const std::filesystem::path& image);

} // namespace heddle::jit
