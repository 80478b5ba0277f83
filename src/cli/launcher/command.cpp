// Command lines of nvcc, GCC and Clang as far as they decide what is compiled into what.
#include "cli/launcher/command.h"

#include "cli/compile/architecture.h"
#include "cli/compile/host_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

namespace heddle::cli {
namespace {

using Words = std::span<const std::string>;

bool is_one_of(std::string_view word, std::span<const std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

constexpr auto to_object =
    std::to_array<std::string_view>({"-c", "--compile", "-dc", "--device-c", "-dw", "--device-w"});

/// Neither an object nor a program comes out, or nothing is compiled.
constexpr auto something_else =
    std::to_array<std::string_view>({"-E",        "--preprocess",
                                     "-M",        "--generate-dependencies",
                                     "-MM",       "--generate-nonsystem-dependencies",
                                     "-S",        "-fsyntax-only",
                                     "-ptx",      "--ptx",
                                     "-cubin",    "--cubin",
                                     "-fatbin",   "--fatbin",
                                     "-optix-ir", "--optix-ir",
                                     "-cuda",     "--cuda",
                                     "-dlink",    "--device-link",
                                     "-lib",      "--lib",
                                     "-dryrun",   "--dryrun",
                                     "--version", "-V",
                                     "--help",    "-h"});

/// Options whose value is a word of its own that looks like a file.
constexpr auto with_file = std::to_array<std::string_view>(
    {"-o",
     "--output-file",
     "-MF",
     "--dependency-output",
     "-MT",
     "-MQ",
     "-include",
     "-isystem",
     "-I",
     "-L",
     "-x"}
);

bool is_source(std::string_view word) {
  const std::string suffix = std::filesystem::path(word).extension();
  return suffix == ".cu" || suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx" ||
         suffix == ".c" || suffix == ".C";
}

std::vector<std::string> sources_among(Words words) {
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_one_of(words[i], with_file)) {
      ++i;
    } else if (!words[i].starts_with('-') && is_source(words[i])) {
      sources.push_back(words[i]);
    }
  }
  return sources;
}

bool has_any(Words words, std::span<const std::string_view> list) {
  return std::ranges::any_of(words, [&](const std::string& word) { return is_one_of(word, list); });
}

/// The value of "-o x", "-ox", "--output-file x" or "--output-file=x".
std::optional<std::string> output_of(Words words) {
  constexpr std::string_view equals = "--output-file=";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if ((word == "-o" || word == "--output-file") && i + 1 < words.size()) {
      return words[i + 1];
    }
    if (word.starts_with(equals)) {
      return word.substr(equals.size());
    }
    if (word.starts_with("-o") && word.size() > 2 && !word.starts_with("-op")) {
      return word.substr(2); // not -optf, -optix-ir
    }
  }
  return std::nullopt;
}

/// In front of the user's own flags, so that these win.
std::vector<std::string>
instrumentation(Compiler compiler, Words words, const std::string& library_folder) {
  if (compiler != Compiler::Nvcc) {
    return instrumentation_flags(compiler, library_folder);
  }
  std::vector<std::string> flags;
  constexpr auto lines = std::to_array<std::string_view>(
      {"-G", "--device-debug", "-lineinfo", "--generate-line-info"}
  );
  if (!has_any(words, lines)) {
    flags.emplace_back("-lineinfo");
  }
  const auto of_host = for_nvcc(instrumentation_flags(host_compiler(words), library_folder));
  flags.insert(flags.end(), of_host.begin(), of_host.end());
  const auto ptx = ptx_too(words);
  flags.insert(flags.end(), ptx.begin(), ptx.end());
  return flags;
}

} // namespace

Rewritten rewrite(const std::vector<std::string>& command, const std::string& library_folder) {
  const Compiler compiler = compiler_of(command.front());
  Rewritten result{command, ""};
  if (compiler == Compiler::Nvcc) {
    std::erase_if(result.command, asks_for_link_time_code);
  }
  const Words words = Words(command).subspan(1);
  const std::vector<std::string> sources = sources_among(words);
  if (sources.empty() || has_any(words, something_else)) {
    return result;
  }
  std::vector<std::string> flags = instrumentation(compiler, words, library_folder);
  if (has_any(words, to_object)) {
    const std::string usual = std::filesystem::path(sources.front()).stem().string() + ".o";
    result.object = output_of(words).value_or(usual);
  } else {
    flags.push_back("-L" + library_folder);
    if ((compiler == Compiler::Nvcc ? host_compiler(words) : compiler) == Compiler::Clang) {
      flags.emplace_back("-ltsan"); // GCC names it on its own account
    }
    if (compiler == Compiler::Nvcc) {
      flags.insert(flags.end(), {"-cudart", "shared"});
    }
  }
  result.command.insert(result.command.begin() + 1, flags.begin(), flags.end());
  return result;
}

} // namespace heddle::cli
