// Implements host_compiler.h.
#include "cli/compile/host_compiler.h"

#include <cstdlib>
#include <filesystem>

namespace heddle::cli {

Compiler compiler_of(std::string_view path) {
  const std::string name = std::filesystem::path(path).filename();
  if (name == "nvcc") {
    return Compiler::Nvcc;
  }
  return name.find("clang") != std::string::npos ? Compiler::Clang : Compiler::Gcc;
}

Compiler host_compiler(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view option : {"-ccbin", "--compiler-bindir"}) {
      if (words[i] == option && i + 1 < words.size()) {
        return compiler_of(words[i + 1]);
      }
      if (words[i].starts_with(std::string(option) + "=")) {
        return compiler_of(words[i].substr(option.size() + 1));
      }
    }
  }
  const char* const usual = std::getenv("NVCC_CCBIN");
  return usual != nullptr ? compiler_of(usual) : Compiler::Gcc;
}

std::vector<std::string>
instrumentation_flags(Compiler compiler, const std::string& library_folder) {
  std::vector<std::string> flags{"-fsanitize=thread", "-g"};
  if (compiler == Compiler::Clang) {
    // Clang's own assembler reads no second file, and its runtime would take the place of ours.
    flags.insert(
        flags.end(),
        {"-mllvm",
         "-tsan-distinguish-volatile=1",
         "-fno-integrated-as",
         "-fno-sanitize-link-runtime",
         "-Wno-unused-command-line-argument"}
    );
  } else {
    flags.emplace_back("--param=tsan-distinguish-volatile=1");
  }
  // What a built-in function reads, the instrumentation does not see (hostwatch/strings.cpp).
  for (const char* const name : {"memcmp", "strlen", "strnlen", "strcmp", "strncmp"}) {
    flags.push_back(std::string("-fno-builtin-") + name);
  }
  // Calls in the place of rdtsc and the like (hostwatch/instructions.s).
  flags.insert(
      flags.end(),
      {"-mno-red-zone", "-Xassembler", library_folder + "/heddle_instructions.s"}
  );
  return flags;
}

std::vector<std::string> for_nvcc(std::span<const std::string> flags) {
  std::vector<std::string> words;
  for (const std::string& flag : flags) {
    std::string word; // a comma ends an option of the host compiler
    for (const char character : flag) {
      word += character == ',' ? std::string("\\,") : std::string(1, character);
    }
    words.insert(words.end(), {"-Xcompiler", word});
  }
  return words;
}

} // namespace heddle::cli
