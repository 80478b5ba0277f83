// What nvcc's flags say about the GPUs that code is generated for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// The architectures that -arch, -gencode and their long names ask for: "sm_90", "compute_80",
/// "all-major", in the order of the command line.
std::vector<std::string> architectures_among(std::span<const std::string> words);

/// For each code generation (-gencode, -code) that leaves only machine code, one that leaves PTX.
std::vector<std::string> ptx_too(std::span<const std::string> words);

/// -dlto: code is left in a form that only nvlink optimises, without PTX. It says how fast a
/// program is to be, not what it does, and is left out.
bool asks_for_link_time_code(std::string_view word);

} // namespace heddle::cli
