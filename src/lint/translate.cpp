// nvcc's command line to clang's.
#include "lint/database.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heddle::lint {
namespace {

constexpr std::size_t deepest = 8; // options files in options files

/// Flags of nvcc with a value of their own that mean nothing to the parser.
constexpr std::array with_value = {
    "-o",
    "--output-file",
    "-ccbin",
    "--compiler-bindir",
    "-maxrregcount",
    "--maxrregcount",
    "-Xptxas",
    "--ptxas-options",
    "-Xlinker",
    "--linker-options",
    "-Xnvlink",
    "--nvlink-options",
    "-Xfatbin",
    "--fatbin-options",
    "-Xarchive",
    "-Xcudafe",
    "--cudafe-options",
    "-MF",
    "-MT",
    "-MQ",
    "-odir",
    "--output-directory",
    "-t",
    "--threads",
    "-diag-suppress",
    "--diag-suppress",
    "-diag-error",
    "-diag-warn",
    "-cudart",
    "--cudart",
    "-cudadevrt",
    "-Werror",
    "-L",
    "-l",
    "-split-compile",
    "-default-stream",
    "--default-stream",
    "-m",
    "--machine",
    "-relocatable-device-code",
    "-code",
    "--gpu-code",
    "-x",
    "-Xclang",
    "-use_fast_math-value",
    "-ftz",
    "-prec-div",
    "-prec-sqrt",
    "-fmad",
    "-res-usage-value",
    "-O",
    "--optimize",
    "-keep-dir",
    "--keep-dir",
    "-ltoir-value",
    "-brief-diagnostics",
};

std::string architecture_of(const std::string& value) {
  const std::size_t at = std::min(value.find("sm_"), value.find("compute_"));
  if (at == std::string::npos) {
    return "";
  }
  const std::size_t digits = value.find('_', at) + 1;
  std::size_t end = digits;
  while (end < value.size() && std::isdigit(static_cast<unsigned char>(value[end])) != 0) {
    ++end;
  }
  // sm_90a and sm_100f have instructions and macros of their own.
  const bool special =
      end > digits && end < value.size() && (value[end] == 'a' || value[end] == 'f');
  return end == digits ? "" : "sm_" + value.substr(digits, end - digits + (special ? 1 : 0));
}

/// The newer one, or of two that are equally new the one that can do more.
bool is_better(const std::string& one, const std::string& other) {
  const int left = std::stoi(one.substr(3));
  const int right = std::stoi(other.substr(3));
  return left != right ? left > right : one.size() > other.size();
}

class Translation {
public:
  explicit Translation(std::string folder) : folder_(std::move(folder)) {}

  void words(const std::vector<std::string>& all, std::size_t depth) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& word = all[i];
      const bool has_next = i + 1 < all.size();
      if (is_any(word, {"--options-file", "-optf"}) && has_next) {
        options_file(all[++i], depth);
      } else if (word.starts_with("--options-file=")) {
        options_file(word.substr(15), depth);
      } else if (word.starts_with("@") && word.size() > 1) { // Bazel's wrappers of nvcc
        options_file(word.substr(1), depth);
      } else if (
          is_any(
              word,
              {"-I",
               "--include-path",
               "-isystem",
               "--system-include",
               "-D",
               "--define-macro",
               "-U",
               "--undefine-macro",
               "-include",
               "--pre-include",
               "-iquote",
               "-idirafter"}
          ) &&
          has_next
      ) {
        pass(word, all[++i]);
      } else if (
          const std::size_t equals = word.find('=');
          equals != std::string::npos && is_any(
                                             word.substr(0, equals),
                                             {"--include-path",
                                              "--system-include",
                                              "--define-macro",
                                              "--undefine-macro",
                                              "--pre-include",
                                              "-isystem",
                                              "-include"}
                                         )
      ) {
        pass(word.substr(0, equals), word.substr(equals + 1));
      } else if (
          is_any(
              word,
              {"-gencode", "--generate-code", "-arch", "--gpu-architecture", "-gpu-architecture"}
          ) &&
          has_next
      ) {
        name_architecture(all[++i]);
      } else if (
          word.starts_with("-gencode") || word.starts_with("--generate-code") ||
          word.starts_with("-arch") || word.starts_with("--gpu-architecture") ||
          word.starts_with("--cuda-gpu-arch=") || word.starts_with("--offload-arch=")
      ) {
        name_architecture(word);
      } else if (is_any(word, {"-std", "--std"}) && has_next) {
        result.flags.push_back("-std=" + all[++i]);
      } else if (word.starts_with("-std=") || word.starts_with("--std=")) {
        result.flags.push_back("-std=" + word.substr(word.find('=') + 1));
      } else if (is_any(word, {"-Xcompiler", "--compiler-options"}) && has_next) {
        host_options(all[++i], depth);
      } else if (word.starts_with("-Xcompiler=") || word.starts_with("--compiler-options=")) {
        host_options(word.substr(word.find('=') + 1), depth);
      } else if (word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-U")) {
        pass(word.substr(0, 2), word.substr(2));
      } else if (
          is_any(
              word,
              {"-extended-lambda",
               "--extended-lambda",
               "-expt-extended-lambda",
               "--expt-extended-lambda"}
          )
      ) {
        // What cuda_runtime.h includes then, and programs rely on; the lambdas are Clang's anyway.
        pass("-D", "__CUDACC_EXTENDED_LAMBDA__");
        pass("-include", "functional");
        pass("-include", "utility");
      } else if (
          is_any(word, {"-rdc=true", "--relocatable-device-code=true", "-dc", "--device-c"})
      ) {
        pass("-D", "__CUDACC_RDC__");
        result.flags.emplace_back("-fgpu-rdc"); // kernels may launch kernels
      } else if (is_any(word, {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr"})) {
        pass("-D", "__CUDACC_RELAXED_CONSTEXPR__");
      } else if (std::ranges::find(with_value, word) != with_value.end() && has_next) {
        ++i;
      }
      // Everything else changes code, not its meaning to a reader.
    }
  }

  Translated result;

private:
  static bool is_any(const std::string& word, std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return word == name; });
  }

  void pass(const std::string& flag, const std::string& value) {
    const std::string name = flag == "--include-path"     ? "-I"
                             : flag == "--system-include" ? "-isystem"
                             : flag == "--define-macro"   ? "-D"
                             : flag == "--undefine-macro" ? "-U"
                             : flag == "--pre-include"    ? "-include"
                                                          : flag;
    // nvcc takes several paths or macros separated by commas.
    std::istringstream in(value);
    const bool several =
        (name == "-I" || name == "-isystem") && value.find(',') != std::string::npos;
    for (std::string one; several && std::getline(in, one, ',');) {
      result.flags.insert(result.flags.end(), {name, one});
    }
    if (!several) {
      result.flags.insert(result.flags.end(), {name, value});
    }
  }

  /// Options of the host's compiler. One of them may come in two pieces, each behind -Xcompiler.
  void host_options(const std::string& value, std::size_t depth) {
    std::istringstream in(value);
    for (std::string one; std::getline(in, one, ',');) {
      if (!waiting_.empty()) {
        words({waiting_, one}, depth);
        waiting_.clear();
      } else if (is_any(one, {"-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include"})) {
        waiting_ = one;
      } else if (one == "-fopenmp") {
        pass("-D", "_OPENMP=201511"); // pragmas are for the host, and skipped
      } else if (
          one.starts_with("-I") || one.starts_with("-D") || one.starts_with("-U") ||
          one.starts_with("-isystem")
      ) {
        words({one}, depth);
      }
    }
  }

  void name_architecture(const std::string& value) {
    const std::string found = architecture_of(value);
    // The newest of several: it sees the most code.
    if (!found.empty() && (result.architecture.empty() || is_better(found, result.architecture))) {
      result.architecture = found;
    }
  }

  void options_file(const std::string& name, std::size_t depth) {
    if (depth >= deepest) {
      return;
    }
    const std::filesystem::path path(name);
    std::ifstream in(path.is_absolute() ? path : std::filesystem::path(folder_) / path);
    std::stringstream text;
    text << in.rdbuf();
    words(split_command(text.str()), depth + 1);
  }

  std::string folder_;
  std::string waiting_; // half of an option of the host's compiler
};

} // namespace

std::vector<std::string> split_command(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (open) {
        words.push_back(std::move(word));
        word.clear();
        open = false;
      }
    } else {
      word += c;
      open = true;
    }
  }
  if (open) {
    words.push_back(std::move(word));
  }
  return words;
}

Translated translate_flags(const std::vector<std::string>& words, const std::string& folder) {
  Translation translation(folder);
  translation.words(words, 0);
  return std::move(translation.result);
}

} // namespace heddle::lint
