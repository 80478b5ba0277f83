// nvcc's command line, and what identifies a compilation before it is done: source path and bytes,
// flags, toolchain, the environment nvcc listens to.
#include "cli/compile/compile.h"

#include "base/hash.h"
#include "base/process.h"
#include "cli/compile/architecture.h"
#include "cli/compile/nvcc_flags.h"
#include "cli/compile/program_cache.h"
#include "cli/file.h"
#include "cli/run/launch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

/// Changes whenever the layout of the cache or the meaning of a key does.
constexpr std::string_view cache_version = "heddle programs 2";

/// What identifies a tool without running it: where it really is, its size and its time.
void add_tool(Hasher& hasher, const fs::path& path) {
  std::error_code failure;
  const fs::path real = fs::canonical(path, failure);
  struct stat status{};
  hasher.text(real.string());
  if (stat(real.c_str(), &status) == 0) {
    hasher.value(static_cast<std::int64_t>(status.st_size));
    hasher.value(static_cast<std::int64_t>(status.st_mtim.tv_sec));
    hasher.value(static_cast<std::int64_t>(status.st_mtim.tv_nsec));
  }
}

bool has_flag(
    const std::vector<std::string>& flags,
    std::initializer_list<std::string_view> names
) {
  return std::ranges::any_of(flags, [&](std::string_view flag) {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return flag == name || flag.starts_with(std::string(name) + "=");
    });
  });
}

Result<void> check_flags(const std::vector<std::string>& flags) {
  if (has_flag(
          flags,
          {"-o",
           "--output-file",
           "-c",
           "--compile",
           "-ptx",
           "--ptx",
           "-E",
           "-cubin",
           "-fatbin",
           "-lib",
           "-shared",
           "--shared"}
      )) {
    return input_error(
        "--nvcc: heddle names the output and wants a program; leave out -o, -c, -ptx, -shared and "
        "the like"
    );
  }
  if (has_flag(flags, {"-cudart", "--cudart"})) {
    return input_error("--nvcc: leave out -cudart; heddle needs -cudart shared and adds it");
  }
  return {};
}

/// Where NVIDIA's wheels lie if they were installed with a wheel of Heddle's.
std::vector<fs::path> wheel_toolkits() {
  std::vector<fs::path> result;
  std::error_code failure;
  const fs::path libraries = own_path().parent_path().parent_path() / "lib";
  for (const auto& entry : fs::directory_iterator(libraries, failure)) {
    if (!entry.path().filename().string().starts_with("python3")) {
      continue;
    }
    for (const char* packages : {"site-packages", "dist-packages"}) {
      result.push_back(entry.path() / packages / "nvidia" / "cu13");
    }
  }
  std::ranges::sort(result);
  return result;
}

/// The wheels have lib and no lib64, where nvcc looks, and no libcudart.so, for which ours serves.
std::vector<std::string> wheel_flags(const std::string& nvcc) {
  std::error_code failure;
  const fs::path toolkit = fs::path(nvcc).parent_path().parent_path();
  if (!fs::is_directory(toolkit / "lib", failure) || fs::exists(toolkit / "lib64", failure)) {
    return {};
  }
  std::vector<std::string> flags = {"-L" + (toolkit / "lib").string()};
  if (const auto own = library_folder()) {
    flags.push_back("-L" + *own + "/link");
    flags.push_back("-L" + *own);
  }
  return flags;
}

std::vector<std::string> command_line(const CompileRequest& request, const std::string& nvcc) {
  std::vector<std::string> command = {nvcc, "-cudart", "shared"};
  const auto& flags = request.nvcc_flags;
  if (!has_flag(flags, {"-arch", "--gpu-architecture", "-gencode", "--generate-code"})) {
    command.push_back("-arch=" + request.architecture);
  }
  if (!has_flag(flags, {"-G", "--device-debug", "-lineinfo", "--generate-line-info"})) {
    command.emplace_back("-lineinfo");
  }
  command.insert(command.end(), request.heddle_flags.begin(), request.heddle_flags.end());
  const auto of_wheels = wheel_flags(nvcc);
  command.insert(command.end(), of_wheels.begin(), of_wheels.end());
  const auto ptx = ptx_too(flags); // what a Makefile says may leave machine code only
  command.insert(command.end(), ptx.begin(), ptx.end());
  std::ranges::remove_copy_if(flags, std::back_inserter(command), asks_for_link_time_code);
  // As a word that is no option.
  command.push_back(request.source.starts_with('-') ? "./" + request.source : request.source);
  return command;
}

/// Sources, objects and libraries named among the flags.
std::vector<std::string> files_among(const std::vector<std::string>& flags) {
  std::vector<std::string> files;
  std::error_code failure;
  std::ranges::copy_if(flags, std::back_inserter(files), [&](const std::string& flag) {
    return !flag.starts_with('-') && fs::is_regular_file(flag, failure);
  });
  return files;
}

bool is_compiled(const std::string& file) {
  const std::string suffix = fs::path(file).extension();
  return suffix == ".cu" || suffix == ".cpp" || suffix == ".cc" || suffix == ".cxx" ||
         suffix == ".c";
}

Result<std::string> make_key(
    const CompileRequest& request,
    const std::string& nvcc,
    const std::vector<std::string>& command
) {
  Hasher hasher;
  hasher.text(cache_version);
  std::error_code failure;
  hasher.text(fs::current_path(failure).string()); // relative names in flags, paths in line tables
  for (const std::string& word : command) {
    hasher.text(word);
  }
  add_tool(hasher, nvcc);
  for (const char* tool : {"../nvvm/bin/cicc", "ptxas"}) {
    add_tool(hasher, fs::path(nvcc).parent_path() / tool);
  }
  add_tool(hasher, find_in_path("g++").value_or("g++"));
  for (const char* name :
       {"NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
        "NVCC_CCBIN",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
        "C_INCLUDE_PATH",
        "LIBRARY_PATH"}) {
    hasher.text(environment(name));
  }
  TRY(const std::string source, read_named_file(request.source));
  hasher.text(source);
  return hex(hasher.finish());
}

/// Every file the compilation read: from nvcc's dependency file, or asked for where there are
/// several sources (nvcc writes the dependencies of one only).
Result<std::vector<std::string>> dependencies(
    const std::vector<std::string>& command,
    const std::vector<std::string>& others,
    const fs::path& rule_file
) {
  std::vector<std::string> files;
  if (auto rule = read_file(rule_file)) {
    files = parse_dependencies(*rule);
  }
  for (const std::string& file : others) {
    files.push_back(file);
    if (!is_compiled(file)) {
      continue;
    }
    std::vector<std::string> ask;
    std::ranges::copy_if(command, std::back_inserter(ask), [&](const std::string& word) {
      return std::ranges::find(others, word) == others.end();
    });
    ask.back() = file; // in place of the main source
    ask.emplace_back("-M");
    TRY(const Output rule, run_and_read(ask));
    if (rule.status != 0) {
      return input_error(fmt::format("nvcc -M failed for '{}'", file));
    }
    const auto more = parse_dependencies(rule.text);
    files.insert(files.end(), more.begin(), more.end());
  }
  std::ranges::sort(files);
  const auto duplicates = std::ranges::unique(files);
  files.erase(duplicates.begin(), duplicates.end());
  return files;
}

} // namespace

Result<std::string> find_nvcc() {
  std::vector<fs::path> candidates;
  if (const std::string chosen = environment("HEDDLE_NVCC"); !chosen.empty()) {
    if (access(chosen.c_str(), X_OK) != 0) {
      return input_error(fmt::format("HEDDLE_NVCC is '{}', which is not a program", chosen));
    }
    return chosen;
  }
  if (auto found = find_in_path("nvcc")) {
    return found->string();
  }
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string folder = environment(home); !folder.empty()) {
      candidates.push_back(fs::path(folder) / "bin/nvcc");
    }
  }
  candidates.emplace_back("/usr/local/cuda/bin/nvcc");
  for (const fs::path& folder : wheel_toolkits()) {
    candidates.push_back(folder / "bin/nvcc");
  }
  candidates.emplace_back(HEDDLE_BUILT_WITH_NVCC);
  for (const fs::path& candidate : candidates) {
    if (access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
  }
  return input_error(
      "nvcc was not found, and a .cu file needs it\n"
      "  put the bin folder of a CUDA toolkit on PATH, or set HEDDLE_NVCC; beside a wheel of "
      "Heddle:\n"
      "  pip install 'heddle-cuda[cuda]'\n"
      "  ('./dev setup' in Heddle's repository fetches one; a program that is already compiled "
      "needs none)"
  );
}

bool is_for_nvcc(const std::string& word) {
  const std::string suffix = fs::path(word).extension();
  return !word.starts_with('-') && (is_compiled(word) || suffix == ".o" || suffix == ".a");
}

std::vector<std::string> parse_dependencies(std::string_view rule) {
  std::vector<std::string> files;
  const std::size_t colon = rule.find(": ");
  if (colon == std::string_view::npos) {
    return files;
  }
  std::string file;
  auto end_file = [&] {
    if (!file.empty()) {
      files.push_back(std::move(file));
      file.clear();
    }
  };
  for (std::size_t i = colon + 1; i < rule.size(); ++i) {
    const char c = rule[i];
    if (c == '\\' && i + 1 < rule.size()) {
      const char escaped = rule[++i];
      if (escaped == ' ' || escaped == '\\' || escaped == '#') {
        file += escaped;
      } else if (escaped != '\n') {
        file += c;
        file += escaped;
      }
    } else if (c == ' ' || c == '\t' || c == '\n') {
      end_file();
    } else {
      file += c;
    }
  }
  end_file();
  return files;
}

Result<std::string> compile(const CompileRequest& request) {
  TRY_VOID(check_flags(request.nvcc_flags));
  if (is_for_shell(request.source)) {
    return input_error(
        fmt::format(
            "'{}': nvcc gives the name of a file to a shell, which would execute a part of this "
            "one; "
            "give it another name",
            printable(request.source)
        )
    );
  }
  TRY(const std::string nvcc, find_nvcc());
  std::vector<std::string> command = command_line(request, nvcc);
  TRY(const std::string key, make_key(request, nvcc, command));
  TRY(const ProgramCache cache, ProgramCache::open());
  if (auto program = cache.find(key)) {
    return program->string();
  }

  if (!request.quiet && isatty(STDERR_FILENO) != 0) {
    fmt::print(stderr, "heddle: compiling {}\n", request.source);
  }
  if (!request.quiet && !cache.why_not_kept().empty()) {
    fmt::print(
        stderr,
        "heddle: note: {}, so the compiled program is not kept for the next command; "
        "XDG_CACHE_HOME=FOLDER keeps it\n",
        cache.why_not_kept()
    );
  }
  const fs::path temporary = cache.temporary(key);
  const fs::path rule_file = temporary.string() + ".d";
  const std::vector<std::string> others = files_among(request.nvcc_flags);
  std::vector<std::string> compilation = command;
  compilation.insert(compilation.end(), {"-o", temporary.string()});
  if (std::ranges::none_of(others, is_compiled)) {
    compilation.insert(compilation.end(), {"-MD", "-MF", rule_file.string()});
  }
  const auto begun = std::chrono::system_clock::now();
  TRY(const int status, run(compilation));
  std::error_code failure;
  if (status != 0) {
    fs::remove(temporary, failure);
    fs::remove(rule_file, failure);
    const bool several =
        std::ranges::any_of(others, [](const std::string& file) { return file.ends_with(".cu"); });
    const bool alone =
        !has_flag(request.nvcc_flags, {"-rdc", "--relocatable-device-code", "-dc", "-dlto"});
    return input_error(
        fmt::format(
            "nvcc could not compile '{}' (its exit code: {}){}",
            request.source,
            status,
            several && alone ? "; device code that uses functions or variables of another file "
                               "needs --nvcc=-rdc=true"
                             : ""
        )
    );
  }
  auto files = dependencies(command, others, rule_file);
  fs::remove(rule_file, failure);
  if (!files) {
    fs::remove(temporary, failure);
    return unexpected(files.error());
  }
  TRY(const fs::path program, cache.keep(key, *files, begun, temporary));
  return program.string();
}

} // namespace heddle::cli
