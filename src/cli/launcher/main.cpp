// heddle-cc: a compiler launcher. Put it in front of the compiler
// (CMAKE_CUDA_COMPILER_LAUNCHER=heddle-cc, or NVCC="heddle-cc nvcc" in a Makefile), build as usual,
// and give the program to heddle run or heddle check.
#include "base/check.h"
#include "base/process.h"
#include "cli/compile/host_compiler.h"
#include "cli/file.h"
#include "cli/launcher/command.h"
#include "cli/run/launch.h"
#include "report/diagnostic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace heddle::cli {
namespace {

namespace fs = std::filesystem;

/// Links the stub into the object that a compiler has just written.
Result<int> add_stub(const std::string& object, const std::string& library_folder, long cuda) {
  const fs::path stub =
      fs::path(library_folder) / (cuda == 12 ? "heddle_cc_stub_12.o" : "heddle_cc_stub.o");
  const std::string merged = object + fmt::format(".{}.heddle", getpid());
  auto status = run({"ld", "-r", object, stub.string(), "-o", merged});
  std::error_code failure;
  if (status && *status == 0) {
    fs::rename(merged, object, failure);
    if (failure) {
      return input_error(fmt::format("cannot write '{}': {}", object, failure.message()));
    }
  } else {
    fs::remove(merged, failure);
    fs::remove(object, failure); // else the next build would take it for good
  }
  return status;
}

/// The major version of CUDA. Objects of another one call other functions by the same names.
Result<long> version_of_toolkit(const std::string& nvcc) {
  const auto found = find_in_path(nvcc);
  std::error_code failure;
  const fs::path real = found ? fs::canonical(*found, failure) : fs::path(nvcc);
  const auto header = read_file(real.parent_path().parent_path() / "include/cuda_runtime_api.h");
  constexpr std::string_view key = "#define CUDART_VERSION";
  const std::size_t at = header ? header->find(key) : std::string::npos;
  if (at == std::string::npos) {
    return 13; // an unusual place; most likely a wrapper of the usual version
  }
  const long version = std::strtol(header->c_str() + at + key.size(), nullptr, 10);
  if (version / 1000 != 12 && version / 1000 != 13) {
    return unsupported(
        fmt::format(
            "heddle-cc works with CUDA 12 and 13, and '{}' is {}.{}",
            nvcc,
            version / 1000,
            version % 1000 / 10
        )
    );
  }
  return version / 1000;
}

Result<int> launch(const std::vector<std::string>& command) {
  TRY(const std::string libraries, library_folder());
  const Rewritten rewritten = rewrite(command, libraries);
  long cuda = 13;
  if (rewritten.command != command && compiler_of(command.front()) == Compiler::Nvcc) {
    TRY(cuda, version_of_toolkit(command.front()));
  }
  if (rewritten.object.empty()) {
    return unexpected(become(rewritten.command, {}));
  }
  TRY(const int status, run(rewritten.command));
  if (status != 0) {
    return status;
  }
  return add_stub(rewritten.object, libraries, cuda);
}

} // namespace
} // namespace heddle::cli

int main(int count, char** values) {
  using namespace heddle;
  if (count < 2 || values[1][0] == '-') {
    fmt::print(
        stderr,
        "usage: heddle-cc COMPILER [ARGUMENTS…]\n"
        "Compiles as COMPILER would, so that heddle check can observe the program. Set\n"
        "CMAKE_CUDA_COMPILER_LAUNCHER (and CMAKE_CXX_COMPILER_LAUNCHER) to heddle-cc.\n"
    );
    return report::exit_code::usage;
  }
  const auto status = cli::launch({values + 1, values + count});
  if (!status) {
    fmt::print(stderr, "heddle-cc: error: {}\n", status.error().message);
    return report::exit_code::usage;
  }
  return *status;
}
