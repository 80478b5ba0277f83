// Preparing a program and its environment.
#include "cli/run/launch.h"

#include "cli/compile/architecture.h"
#include "cli/compile/compile.h"
#include "cli/compile/host_compiler.h"
#include "cli/compile/program_cache.h"
#include "cli/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view library_name = "libcudart.so.13";
constexpr std::string_view driver_name = "libcuda.so.1";
constexpr std::string_view compiler_shim_name = "libheddle_nvrtc.so";
constexpr std::string_view audit_name = "libheddle_audit.so";
constexpr std::string_view bind_name = "libheddle_bind.so";
constexpr std::string_view ptxas_name = "heddle-ptxas";
constexpr std::string_view instrumentation_name = "libtsan.so.2";

std::string prepend(const std::string& first, const char* variable, char separator) {
  const std::string rest = environment(variable);
  return rest.empty() ? first : first + separator + rest;
}

/// Does a source with this text include this header itself?
bool includes(std::string_view text, std::string_view header) {
  return text.find(fmt::format("<{}>", header)) != std::string_view::npos ||
         text.find(fmt::format("\"{}\"", header)) != std::string_view::npos;
}

/// What a source is linked with besides the runtime library. Where there is no driver the toolkit's
/// libcuda.so may be missing too; ours serves.
Result<std::vector<std::string>> library_flags(const std::string& source) {
  std::vector<std::string> flags;
  const std::string text = read_named_file(source).value_or("");
  if (includes(text, "cuda.h")) {
    TRY(const std::string folder, library_folder());
    flags.insert(flags.end(), {"-L" + folder, "-lcuda"});
  }
  if (includes(text, "nvrtc.h")) {
    flags.emplace_back("-lnvrtc");
  }
  if (includes(text, "nvJitLink.h")) {
    flags.emplace_back("-lnvJitLink");
  }
  return flags;
}

/// The folder of the toolkit's libraries, for libnvrtc and libnvJitLink; empty: no toolkit.
std::string toolkit_folder() {
  const auto nvcc = find_nvcc();
  if (!nvcc) {
    return {};
  }
  std::error_code failure;
  return (fs::canonical(*nvcc, failure).parent_path().parent_path() / "lib64").string();
}

} // namespace

std::string device_for(const std::string& device, const std::vector<std::string>& nvcc_flags) {
  const auto number = [](std::string_view architecture) {
    int value = 0;
    const auto digits = architecture.substr(architecture.find('_') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  };
  std::optional<int> oldest;
  for (const std::string& architecture : architectures_among(nvcc_flags)) {
    // With "all" nvcc leaves PTX for the newest only.
    const bool all = architecture == "all" || architecture == "all-major";
    const int value = number(all ? *std::rbegin(device_names) : architecture);
    if (value != 0) {
      oldest = std::min(oldest.value_or(value), value);
    }
  }
  if (!oldest || *oldest <= number(device)) {
    return device;
  }
  const auto* const found = std::ranges::find_if(device_names, [&](std::string_view name) {
    return number(name) >= *oldest;
  });
  return found != std::end(device_names) ? std::string(*found) : device;
}

bool is_source(std::string_view program) {
  return program.ends_with(".cu") || program.ends_with(".py");
}

std::string shown_command(const Target& target, std::string_view words) {
  return fmt::format("heddle {} {}", words, target.shown);
}

namespace {

/// As it would be typed.
std::string shown_program(
    const std::string& program,
    const std::vector<std::string>& arguments,
    const DeviceOptions& options,
    const std::vector<std::string>& nvcc_flags
) {
  std::string text;
  if (options.device != DeviceOptions().device) {
    text += fmt::format("--device={} ", options.device);
  }
  if (!nvcc_flags.empty()) {
    std::string flags;
    for (const std::string& flag : nvcc_flags) {
      flags += (flags.empty() ? "" : " ") + as_word(flag);
    }
    text += "--nvcc=" + as_shell_word(flags) + " ";
  }
  text += as_shell_word(program);
  if (program.ends_with(".cu") && !arguments.empty()) {
    text += " --";
  }
  for (const std::string& argument : arguments) {
    text += " " + as_shell_word(argument);
  }
  return text;
}

} // namespace

Result<Target> prepare(
    const std::string& program,
    const std::vector<std::string>& arguments,
    const DeviceOptions& options,
    const std::vector<std::string>& nvcc_flags,
    const std::vector<std::string>& heddle_flags
) {
  Target target{
      program,
      arguments,
      {},
      options.device,
      {},
      shown_program(program, arguments, options, nvcc_flags)
  };
  std::error_code failure;
  if (program.ends_with(".cu")) {
    TRY(std::vector<std::string> flags, library_flags(program));
    flags.insert(flags.begin(), heddle_flags.begin(), heddle_flags.end());
    target.device = device_for(options.device, nvcc_flags);
    if (target.device != options.device) {
      fmt::print(
          stderr,
          "heddle: the flags ask for code that {0} cannot run: the virtual device is {1}\n",
          options.device,
          target.device
      );
    }
    TRY(target.path, compile({program, target.device, nvcc_flags, flags}));
  } else {
    if (!nvcc_flags.empty()) {
      return input_error(
          fmt::format("--nvcc: '{}' is not compiled by heddle (it does not end in .cu)", program)
      );
    }
    if (program.ends_with(".py")) {
      if (!fs::is_regular_file(program, failure)) {
        return input_error(fmt::format("there is no program '{}'", program));
      }
      target.path = "python3";
      target.arguments.insert(target.arguments.begin(), program);
    }
    if (target.path.find('/') == std::string::npos) {
      // A file here wins over PATH: `heddle run app` means the app one has just built.
      if (target.path == program && fs::is_regular_file(program, failure)) {
        target.path = "./" + program;
      } else if (const auto found = find_in_path(target.path)) {
        target.path = found->string();
      }
    }
    if (!fs::exists(target.path, failure)) {
      return input_error(fmt::format("there is no program '{}'", target.path));
    }
  }
  TRY(target.inspection, inspect(target.path));
  if (program.ends_with(".cu") && !target.inspection.starts_programs) {
    target.called_as = "./" + fs::path(program).stem().string();
  }
  for (const std::string& warning : target.inspection.warnings) {
    fmt::print(stderr, "heddle: warning: {}\n", warning);
  }
  return target;
}

Result<Target> prepare_check(
    const std::string& program,
    const std::vector<std::string>& arguments,
    const DeviceOptions& options,
    const std::vector<std::string>& nvcc_flags
) {
  TRY(const std::string libraries, library_folder());
  // GCC's libtsan knows no volatile accesses; ours does, and is found first.
  const Compiler compiler = host_compiler(nvcc_flags);
  std::vector<std::string> flags = for_nvcc(instrumentation_flags(compiler, libraries));
  flags.push_back("-L" + libraries);
  if (compiler == Compiler::Clang) {
    flags.emplace_back("-ltsan");
  }
  return prepare(program, arguments, options, nvcc_flags, flags);
}

Result<std::string> library_folder() {
  const fs::path prefix = own_path().parent_path().parent_path();
  for (const char* folder : {"lib/heddle", "lib"}) {
    const fs::path candidate = prefix / folder;
    if (access((candidate / library_name).c_str(), R_OK) == 0) {
      return candidate.string();
    }
  }
  return input_error(
      fmt::format(
          "this installation is incomplete: {} is neither in '{}' nor in its folder heddle",
          library_name,
          (prefix / "lib").string()
      )
  );
}

namespace {

/// Triton calls ptxas as a program, and keeps what it has made. That must not be found by a Triton
/// that has a GPU.
void add_triton(std::map<std::string, std::string>& variables, const fs::path& folder) {
  variables["TRITON_PTXAS_PATH"] = folder / ptxas_name;
  variables["TRITON_PTXAS_BLACKWELL_PATH"] = folder / ptxas_name;
  variables["TRITON_LIBCUDA_PATH"] = folder;
  if (const auto cache = ProgramCache::open(); cache && environment("TRITON_CACHE_DIR").empty()) {
    variables["TRITON_CACHE_DIR"] = cache->triton().string();
  }
}

/// FlashInfer has nvcc compile its kernels when they are called, to machine code alone unless it is
/// told otherwise. What it makes with PTX lies in a folder of its own.
void add_flashinfer(std::map<std::string, std::string>& variables, const std::string& device) {
  constexpr std::string_view prefix = "sm_";
  constexpr int first_with_own_features = 90; // sm_90a
  const std::string number = device.substr(prefix.size());
  const bool own = std::atoi(number.c_str()) >= first_with_own_features;
  const std::string generation = fmt::format("compute_{}{}", number, own ? "a" : "");
  variables["FLASHINFER_EXTRA_CUDAFLAGS"] = prepend(
      fmt::format("-gencode=arch={0},code={0} -lineinfo", generation),
      "FLASHINFER_EXTRA_CUDAFLAGS",
      ' '
  );
  if (const auto cache = ProgramCache::open();
      cache && environment("FLASHINFER_WORKSPACE_BASE").empty()) {
    variables["FLASHINFER_WORKSPACE_BASE"] = cache->flashinfer().string();
  }
}

/// Where heddle-jit is, and where its images are kept. Without them everything is interpreted: the
/// runtime says so in a run that takes long.
Result<void> add_compiler(std::map<std::string, std::string>& variables, const std::string& which) {
  const std::string compiler = own_path().parent_path() / "heddle-jit";
  const auto cache = ProgramCache::open();
  if (access(compiler.c_str(), X_OK) == 0 && cache) {
    variables["HEDDLE_JIT"] = which;
    variables["HEDDLE_JIT_COMPILER"] = compiler;
    variables["HEDDLE_JIT_CACHE"] = cache->kernels().string();
    return {};
  }
  if (which == "always") {
    return input_error(
        cache ? "--jit=always needs heddle-jit, which is not installed (heddle doctor)"
              : "--jit=always needs a folder for compiled kernels: " + cache.error().message
    );
  }
  if (cache) {
    variables["HEDDLE_JIT_MISSING"] = "1";
  }
  return {};
}

/// Python's start imports sitecustomize from there, which waits for PyTorch (python).
void add_python(std::map<std::string, std::string>& variables, const fs::path& folder) {
  variables["PYTHONPATH"] = prepend((folder / "python").string(), "PYTHONPATH", ':');
  if (const auto cache = ProgramCache::open()) {
    variables["HEDDLE_TORCH_CACHE"] = cache->torch().string();
  }
  if (variables["HEDDLE_MODE"] == "check") { // a fork keeps one thread
    variables["OMP_NUM_THREADS"] = "1";
    variables["MKL_NUM_THREADS"] = "1";
    variables["OPENBLAS_NUM_THREADS"] = "1";
  }
}

} // namespace

Result<std::map<std::string, std::string>>
launch_environment(const Target& target, const DeviceOptions& options, const std::string& mode) {
  TRY(const std::string folder, library_folder());
  std::map<std::string, std::string> variables = {
      {"HEDDLE_MODE", mode},
      {"HEDDLE_DEVICE", target.device},
      {"HEDDLE_DEVICES", std::to_string(options.devices)},
      {"LD_LIBRARY_PATH", prepend(folder, "LD_LIBRARY_PATH", ':')},
  };
  if (mode == "run") { // what a search finds it says itself, and each start must be the same
    variables["HEDDLE_PROGRAM"] = target.shown;
  }
  if (!target.called_as.empty()) {
    variables["HEDDLE_CALLED_AS"] = target.called_as + "\n" + target.path;
  }
  if (target.inspection.may_compile) {
    if (const std::string toolkit = toolkit_folder(); !toolkit.empty()) { // else: this folder
      variables["LD_LIBRARY_PATH"] += ":" + toolkit;
    }
  }
  if (options.seed) {
    variables["HEDDLE_SEED"] = std::to_string(*options.seed);
  }
  if ((options.seed || mode == "check") && environment("PYTHONHASHSEED").empty()) {
    variables["PYTHONHASHSEED"] = "0"; // Python's sets have the same order in each process
  }
  if (!options.kernel.empty() && mode == "check") {
    variables["HEDDLE_KERNEL"] = options.kernel;
  }
  if (options.races) {
    variables["HEDDLE_RACES"] = "1";
  }
  if (options.library_races) {
    variables["HEDDLE_LIBRARY_RACES"] = "1";
  }
  variables["HEDDLE_SAME_VALUE"] = options.same_value;
  variables["HEDDLE_BARRIERS"] = options.barriers;
  if (options.uninitialised) {
    variables["HEDDLE_UNINITIALISED"] = "1";
  }
  variables["HEDDLE_JIT"] = "never"; // `check` does not compile, whatever the environment says
  if (options.jit != "never" && mode == "run") {
    TRY_VOID(add_compiler(variables, options.jit));
  }
  if (options.warps == "lockstep") {
    variables["HEDDLE_WARPS"] = options.warps;
  }
  if (options.warp_trace != 0) {
    variables["HEDDLE_WARP_TRACE"] = std::to_string(options.warp_trace);
  }
  if (options.max_seconds) {
    variables["HEDDLE_MAX_TIME"] = fmt::format("{}", *options.max_seconds);
  }
  if (options.leaks) {
    variables["HEDDLE_LEAKS"] = "1";
  }
  if (options.error_exit_code) {
    variables["HEDDLE_ERROR_EXITCODE"] = std::to_string(*options.error_exit_code);
  }
  if (options.warnings_as_errors) {
    variables["HEDDLE_WARNINGS_AS_ERRORS"] = "1";
  }
  if (options.stale_reads) {
    variables["HEDDLE_STALE_READS"] = "1";
  }
  if (options.reconvergence != "early-ends") {
    variables["HEDDLE_RECONVERGENCE"] = options.reconvergence;
  }
  std::string preload = HEDDLE_SANITIZER_RUNTIME;
  const auto add_preload = [&](std::string_view library) {
    preload += (preload.empty() ? "" : " ") + (fs::path(folder) / library).string();
  };
  if (target.inspection.launched) {
    add_preload(instrumentation_name);
  }
  if (target.inspection.static_runtime != 0) {
    add_preload(fmt::format("libcudart.so.{}", target.inspection.static_runtime));
  } else if (target.inspection.launched || target.inspection.rpath_wins) {
    add_preload(target.inspection.launched_12 ? "libcudart.so.12" : library_name);
  }
  if (target.inspection.driver && target.inspection.rpath_wins) {
    add_preload(driver_name);
  }
  if (target.inspection.may_compile) {
    add_triton(variables, folder);
    add_flashinfer(variables, target.device);
    add_python(variables, folder);
    add_preload(compiler_shim_name);
  }
  // What is loaded later may have a runtime library inside, too.
  if (target.inspection.static_runtime != 0 || target.inspection.may_compile) {
    add_preload(bind_name);
    variables["LD_AUDIT"] = prepend((fs::path(folder) / audit_name).string(), "LD_AUDIT", ':');
  }
  if (!preload.empty()) {
    variables["LD_PRELOAD"] = prepend(preload, "LD_PRELOAD", ' ');
  }
  return variables;
}

} // namespace heddle::cli
