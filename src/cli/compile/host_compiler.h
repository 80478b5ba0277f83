// Which compiler compiles host code, and what it is told so that the code can be explored.
//
//   const Compiler compiler = host_compiler(words_for_nvcc);
//   for (const std::string& flag : instrumentation_flags(compiler, "/usr/lib/heddle")) …
//   for_nvcc(flags)                      // the same as options of nvcc (-Xcompiler)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

enum class Compiler : std::uint8_t {
  Nvcc,
  Gcc,
  Clang
};
/// By the name of the program; what is unknown takes GCC's flags.
Compiler compiler_of(std::string_view path);

/// The one that nvcc calls if it is given these words.
Compiler host_compiler(std::span<const std::string> words);

/// `library_folder` has the macros of the assembler.
std::vector<std::string>
instrumentation_flags(Compiler compiler, const std::string& library_folder);

std::vector<std::string> for_nvcc(std::span<const std::string> flags);

} // namespace heddle::cli
