// The image that stands for what a linker of device code has made: its inputs one after the other.
// Nothing is linked before a module is loaded from it.
//
//   linked_magic   u64 number of inputs   (u64 bytes, the input as it was given) for each
//
// Header only, because the library that is preloaded beside NVIDIA's compilers makes such images,
// too. Wrong only where a program looks into the image itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::runtime {

constexpr std::string_view linked_magic = "heddle: linked PTX\n";

inline std::string join_inputs(const std::vector<std::string>& inputs) {
  std::string image(linked_magic);
  const auto put = [&image](std::uint64_t number) {
    image.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  put(inputs.size());
  for (const std::string& input : inputs) {
    put(input.size());
    image += input;
  }
  return image;
}

} // namespace heddle::runtime
