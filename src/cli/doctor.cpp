// heddle doctor: what this machine has of what Heddle needs, and what to install where it is
// missing. Looks at programs and files; starts only compilers, and those only for their version.
#include "base/process.h"
#include "cli/commands.h"
#include "cli/compile/compile.h"
#include "cli/file.h"
#include "report/diagnostic.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::cli {
namespace {

/// How bad it is that something is missing.
enum class Need {
  Always,  // nothing works
  Sources, // programs that are already compiled run
  Some     // one command, or speed
};

struct Answer {
  std::string name;
  Need need{};
  std::string found; // empty: missing
  std::string without;
  std::string remedy;
};

/// The line that a program prints about its version; empty if it cannot be started.
std::string version_of(const std::string& program, std::string_view with) {
  const auto output = run_and_read({program, "--version"}, Messages::Dropped);
  if (!output || output->status != 0) {
    return {};
  }
  const std::size_t at = output->text.find(with);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t begin = output->text.rfind('\n', at) + 1; // npos + 1 is 0
  return output->text.substr(begin, output->text.find('\n', at) - begin);
}

bool has_processor() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0 &&
         __builtin_cpu_supports("fma") != 0;
}

std::string compiler() {
  const std::string chosen = environment("NVCC_CCBIN");
  const auto found = find_in_path(chosen.empty() ? "g++" : chosen);
  return found ? version_of(found->string(), " ") : "";
}

std::string nvcc() {
  const auto found = find_nvcc();
  const std::string version = found ? version_of(*found, "release") : "";
  return version.empty() ? "" : fmt::format("{} ({})", version, *found);
}

/// A program that stands beside this one and needs LLVM: does it start?
std::string beside(const std::string& name) {
  const std::string program = (own_path().parent_path() / name).string();
  if (access(program.c_str(), X_OK) != 0) {
    return {};
  }
  const auto output = run_and_read({program, "--version"}, Messages::Dropped);
  constexpr int not_loaded = 127; // the loader did not find a library
  return output && output->status != not_loaded ? program : "";
}

/// Does it lie in the build folder of a clone?
bool is_clone() {
  std::error_code failure;
  const auto folder = own_path().parent_path().parent_path();
  return std::filesystem::exists(folder / "CMakeCache.txt", failure);
}

std::string remedy_for_llvm() {
  return is_clone() ? "apt install llvm-22-dev libclang-22-dev clang-22, then ./dev demo"
                    : "apt install ./heddle-llvm_*.deb, or pip install 'heddle-cuda[lint]'";
}

std::string remedy_for_mpi() {
  return is_clone() ? "apt install openmpi-bin libopenmpi-dev, then build Heddle (./dev build)"
                    : "apt install openmpi-bin ./heddle-mpi_*.deb, or use the tarball";
}

/// The command that starts jobs of an MPI library that is here; empty: none.
std::string mpi_launcher() {
  const auto found = find_in_path("mpirun");
  const auto library = library_folder();
  std::error_code failure;
  const bool built =
      library && (std::filesystem::exists(*library + "/libheddle_mpi.so", failure) ||
                  std::filesystem::exists(*library + "/libheddle_mpich.so", failure));
  return found && built ? found->string() : "";
}

std::vector<Answer> look() {
  const auto libraries = library_folder();
  const auto addr2line = find_in_path("addr2line");
  return {
      {"processor",
       Need::Always,
       has_processor() ? "x86-64-v3 (AVX2)" : "",
       "nothing works",
       "use a processor with AVX2 (Intel since 2013, AMD since 2015)"},
      {"libraries",
       Need::Always,
       libraries.value_or(""),
       "nothing works",
       libraries ? "" : libraries.error().message},
      {"C++ compiler",
       Need::Sources,
       compiler(),
       ".cu files cannot be compiled",
       "apt install g++"},
      {"nvcc",
       Need::Sources,
       nvcc(),
       ".cu files cannot be compiled",
       "pip install 'heddle-cuda[cuda]' beside a wheel of Heddle, or a CUDA toolkit on PATH, or "
       "HEDDLE_NVCC=FILE"},
      {"addr2line",
       Need::Some,
       addr2line ? addr2line->string() : "",
       "findings have no lines of host code",
       "apt install binutils"},
      {"heddle-lint",
       Need::Some,
       beside("heddle-lint"),
       "'heddle lint' does not work",
       remedy_for_llvm()},
      {"heddle-jit",
       Need::Some,
       beside("heddle-jit"),
       "'heddle run' interprets every kernel, 10 to 25 times slower",
       remedy_for_llvm()},
      {"MPI",
       Need::Some,
       mpi_launcher(),
       "'mpirun heddle check' does not work: one machine searches",
       remedy_for_mpi()},
  };
}

} // namespace

int doctor_command() {
  bool complete = true;
  for (const Answer& answer : look()) {
    if (!answer.found.empty()) {
      fmt::print("ok       {:<13} {}\n", answer.name, answer.found);
      continue;
    }
    complete = complete && answer.need == Need::Some;
    fmt::print(
        "{:<8} {:<13} {}\n{:22} install: {}\n",
        answer.need == Need::Some ? "without" : "MISSING",
        answer.name,
        answer.without,
        "",
        answer.remedy
    );
  }
  fmt::print(
      "{}\n",
      complete ? "Heddle can compile, run and check .cu files here."
               : "Something that Heddle needs is missing; see above."
  );
  return complete ? report::exit_code::clean : report::exit_code::unsupported;
}

} // namespace heddle::cli
