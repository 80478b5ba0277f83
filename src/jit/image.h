// Images: what heddle-jit makes of one kernel, and libcudart maps.
//
//   ImageHeader | ImageFunction × functions | entries, u32 each | code (starts at a page)
//
// The code is position independent and refers to nothing outside of itself, so loading it is one
// mapping. An image belongs to one build of Heddle, because compiled code knows the layout of
// RegionContext and Op, and to Codes with certain hashes (code_hash.h): for any other it is
// refused.
#pragma once

#include "base/hash.h"

#include <cstdint>

namespace heddle::jit {

inline constexpr std::uint64_t image_magic = 0x39302074696a6448; // "Hdjit 09"

struct ImageHeader {
  std::uint64_t magic = image_magic;
  Hash128 build; // build_hash()
  std::uint32_t functions = 0;
  std::uint32_t entries = 0;
  std::uint64_t code_offset = 0; // in the file, a multiple of 4096
  std::uint64_t code_bytes = 0;
};

struct ImageFunction {
  Hash128 code;                  // hash_code()
  std::uint64_t offset = 0;      // of the region, in the code
  std::uint32_t first_entry = 0; // indices of ops where it may be entered
  std::uint32_t entries = 0;
};

} // namespace heddle::jit
