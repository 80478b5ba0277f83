// Implements nvcc_flags.h: nvcc's options as `nvcc --help` of CUDA 12 and 13 lists them.
#include "cli/compile/nvcc_flags.h"

#include "cli/compile/compile.h"
#include "cli/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heddle::cli {
namespace {

/// Options with nothing behind them.
constexpr auto alone = std::to_array<std::string_view>({
    "-G",
    "--device-debug",
    "-g",
    "--debug",
    "-lineinfo",
    "--generate-line-info",
    "-pg",
    "-w",
    "--disable-warnings",
    "-use_fast_math",
    "--use_fast_math",
    "-extended-lambda",
    "--extended-lambda",
    "-expt-extended-lambda",
    "--expt-extended-lambda",
    "-expt-relaxed-constexpr",
    "--expt-relaxed-constexpr",
    "-restrict",
    "--restrict",
    "-extra-device-vectorization",
    "--extra-device-vectorization",
    "-m64",
    "-no-exceptions",
    "--no-exceptions",
    "-Wno-deprecated-gpu-targets",
    "-Wreorder",
    "-Wext-lambda-captures-this",
    "-src-in-ptx",
    "--source-in-ptx",
});

/// Options with a value: "--name value" or "--name=value".
constexpr auto valued = std::to_array<std::string_view>({
    "-std",
    "--std",
    "-arch",
    "--gpu-architecture",
    "-code",
    "--gpu-code",
    "-gencode",
    "--generate-code",
    "-O",
    "--optimize",
    "-D",
    "--define-macro",
    "-U",
    "--undefine-macro",
    "-I",
    "--include-path",
    "-isystem",
    "--system-include",
    "-include",
    "--pre-include",
    "-l",
    "--library",
    "-L",
    "--library-path",
    "-rdc",
    "--relocatable-device-code",
    "-maxrregcount",
    "--maxrregcount",
    "-ftz",
    "--ftz",
    "-prec-div",
    "--prec-div",
    "-prec-sqrt",
    "--prec-sqrt",
    "-fmad",
    "--fmad",
    "-default-stream",
    "--default-stream",
    "-diag-suppress",
    "--diag-suppress",
    "-diag-warn",
    "--diag-warn",
    "-Werror",
    "--Werror",
    "-t",
    "--threads",
    "-m",
    "--machine",
});

/// Options whose value stands right behind them: -DNAME, -Ifolder, -lname, -Lfolder, -O2.
constexpr std::string_view joined = "DUILlO";
/// Other options of nvcc's that begin in the same way.
constexpr auto not_joined =
    std::to_array<std::string_view>({"-lib", "-ldir", "-link", "-libdevice", "-lto", "-ltoir"});

/// Words for the compiler of host code, and for ptxas: whole, or as they begin.
constexpr auto of_host_compiler = std::to_array<std::string_view>({
    "-fopenmp",
    "-fPIC",
    "-fPIE",
    "-fpermissive",
    "-fno-strict-aliasing",
    "-fexceptions",
    "-fno-exceptions",
    "-fvisibility=hidden",
    "-ffast-math",
    "-ffp-contract=*",
    "-pthread",
    "-O*",
    "-g",
    "-g0",
    "-g1",
    "-g2",
    "-g3",
    "-ggdb",
    "-rdynamic",
    "-std=*",
    "-march=*",
    "-mtune=*",
    "-mavx*",
    "-msse*",
    "-mfma",
    "-mf16c",
    "-pedantic",
    "-D*",
    "-U*",
    "-I*",
    "-w",
});
constexpr auto of_ptxas = std::to_array<std::string_view>(
    {"-O0", "-O1", "-O2", "-O3", "-v", "-w", "-warn-*", "--warn-*", "-dlcm=*", "-dscm=*", "-Werror"}
);
/// nvcc's own front end: which of its messages are shown.
constexpr auto of_front_end = std::to_array<std::string_view>(
    {"--diag_suppress=*", "--diag_warning=*", "--diag_error=*", "--display_error_number"}
);

bool is_among(std::string_view word, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view known) {
    return known.ends_with('*') ? word.starts_with(known.substr(0, known.size() - 1))
                                : word == known;
  });
}

/// -Wall and the like, not -Wl, -Wa and -Wp, which hand words on to a linker, an assembler, …
bool is_warning(std::string_view word) {
  return word.starts_with("-W") && word.size() > 3 && word.find(',') == std::string_view::npos &&
         word.substr(2).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-=+") ==
             std::string_view::npos;
}

/// An option that hands words, with commas between them, on to another program.
struct HandsOn {
  std::string_view name, other_name;
  std::span<const std::string_view> words;
  bool warnings;
};
constexpr auto hands_on = std::to_array<HandsOn>({
    {"-Xcompiler", "--compiler-options", of_host_compiler, true},
    {"-Xptxas", "--ptxas-options", of_ptxas, false},
    {"-Xcudafe", "--cudafe-options", of_front_end, false},
});

bool are_allowed(std::string_view words, const HandsOn& to) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    if (!is_among(word, to.words) && !(to.warnings && is_warning(word))) {
      return false;
    }
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return true;
}

/// Nothing for a shell: as it is, or, for macros, in double quotes in which nvcc escapes quotes.
bool is_plain(std::string_view word, bool is_macro) {
  // Brackets stand in code=[sm_90a,compute_90a]: to a shell a pattern for names of files, no
  // command.
  constexpr std::string_view signs = "_-./=+:,%@~^[]", more_in_quotes = " ()<>*\"'";
  return std::ranges::all_of(word, [&](char c) {
    const bool is_letter =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_letter || static_cast<unsigned char>(c) >= 0x80 ||
           signs.find(c) != std::string_view::npos ||
           (is_macro && more_in_quotes.find(c) != std::string_view::npos);
  });
}

/// A value in a word of its own: nvcc might take one that begins with a hyphen for an option.
bool is_value(std::string_view word) {
  return !word.empty() && !word.starts_with('-') && !word.starts_with('@');
}

bool is_joined(std::string_view word) {
  if (word.size() < 3 || word[0] != '-' || joined.find(word[1]) == std::string_view::npos) {
    return false;
  }
  const std::string_view value = word.substr(2);
  const bool is_other = std::ranges::any_of(not_joined, [&](std::string_view other) {
    return word == other || word.starts_with(std::string(other) + "=") ||
           (other == "-libdevice" && word.starts_with(other));
  });
  const bool is_level = value.size() == 1 && value[0] >= '0' && value[0] <= '3';
  return !is_other && (word[1] != 'O' || is_level);
}

/// How many words the option at the front takes, itself included; 0: it is not on the list.
std::size_t words_of_option(std::span<const std::string> flags) {
  const std::string_view word = flags.front();
  const std::string_view name = word.substr(0, word.find('='));
  const bool has_value = name.size() != word.size();
  const std::string_view value = has_value          ? word.substr(name.size() + 1)
                                 : flags.size() > 1 ? std::string_view(flags[1])
                                                    : std::string_view();
  const std::size_t count = has_value ? 1 : 2;
  if (is_among(word, alone)) {
    return 1;
  }
  for (const HandsOn& to : hands_on) {
    if (name == to.name || name == to.other_name) {
      return !value.empty() && are_allowed(value, to) ? count : 0;
    }
  }
  if (is_among(name, valued)) {
    return has_value ? (value.empty() ? 0 : 1) : (is_value(value) ? 2 : 0);
  }
  return is_joined(word) ? 1 : 0;
}

tl::unexpected<Error> refuse(const std::string& flag, std::string_view why) {
  return input_error(
      fmt::format(
          "'{}' is not a flag that heddle replay gives to nvcc: {}; compile the program yourself, "
          "and name it with --program=FILE (docs/security.md lists the flags)",
          printable(flag),
          why
      )
  );
}

} // namespace

bool is_for_shell(std::string_view file) {
  return std::ranges::any_of(file, [](char c) {
    return c == '$' || c == '`' || c == '"' || c == '\\' || c == '\n' || c == '\r';
  });
}

Result<void> check_replay_flags(std::span<const std::string> flags) {
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string_view before = i > 0 ? std::string_view(flags[i - 1]) : std::string_view();
    const bool is_handed_on = std::ranges::any_of(hands_on, [&](const HandsOn& to) {
      return before == to.name || before == to.other_name;
    });
    const bool is_macro =
        !is_handed_on && (flags[i].starts_with("-D") || flags[i].starts_with("--define-macro=") ||
                          before == "-D" || before == "--define-macro");
    if (!is_plain(flags[i], is_macro)) {
      return refuse(flags[i], "nvcc gives it to a shell, to which a part of it is a command");
    }
  }
  while (!flags.empty()) {
    const std::string& flag = flags.front();
    std::size_t words = 1;
    if (flag.starts_with('-')) {
      words = words_of_option(flags);
    } else if (!is_for_nvcc(flag)) {
      words = 0;
    }
    if (words == 0) {
      return refuse(
          flag,
          "only those that say what is compiled are on its list, because others start programs"
      );
    }
    flags = flags.subspan(words);
  }
  return {};
}

} // namespace heddle::cli
