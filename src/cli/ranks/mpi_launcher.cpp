// Implements mpi_launcher.h.
#include "cli/ranks/mpi_launcher.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::cli {
namespace {

constexpr const char* choice_of_networks = "OMPI_MCA_pml";

bool is_in_environment(const char* name) {
  return std::getenv(name) != nullptr;
}

int number_in_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? std::atoi(value) : 0;
}

/// What launchers say: all ranks, those of this machine, this one.
struct VariablesOfLauncher {
  const char *size, *size_here, *rank;
};
constexpr std::array variables_of_launchers{
    VariablesOfLauncher{
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "OMPI_COMM_WORLD_RANK"
    },
    VariablesOfLauncher{"PMI_SIZE", "MPI_LOCALNRANKS", "PMI_RANK"}, // Hydra
};
constexpr std::array variables_of_rank{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};

} // namespace

const char* mpi_library_name() {
  if (is_in_environment("OMPI_COMM_WORLD_SIZE")) {
    return "libheddle_mpi.so";
  }
  if (is_in_environment("PMI_SIZE") && !is_in_environment("PMIX_RANK")) {
    return "libheddle_mpich.so"; // Hydra, and Slurm's PMI-2
  }
  return is_in_environment("PMIX_RANK") ? "libheddle_mpi.so" : nullptr;
}

std::optional<int> told_rank() {
  for (const char* const name : variables_of_rank) {
    if (is_in_environment(name)) {
      return number_in_environment(name);
    }
  }
  return std::nullopt;
}

std::optional<int> told_rank_of(pid_t process) {
  std::ifstream in(fmt::format("/proc/{}/environ", process), std::ios::binary);
  for (std::string entry; std::getline(in, entry, '\0');) {
    for (const std::string_view name : variables_of_rank) {
      if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
        return std::atoi(entry.c_str() + name.size() + 1);
      }
    }
  }
  return std::nullopt;
}

std::optional<ToldRank> told_on_one_machine() {
  for (const VariablesOfLauncher& names : variables_of_launchers) {
    const int size = number_in_environment(names.size);
    if (size > 0 && is_in_environment(names.rank) &&
        number_in_environment(names.size_here) == size) {
      return ToldRank{.rank = number_in_environment(names.rank), .size = size};
    }
  }
  return std::nullopt;
}

WithoutNetworks::WithoutNetworks()
    : set_(told_on_one_machine() && !is_in_environment(choice_of_networks)) {
  if (set_) {
    ::setenv(choice_of_networks, "ob1", /*overwrite=*/1);
  }
}

WithoutNetworks::~WithoutNetworks() {
  if (set_) {
    ::unsetenv(choice_of_networks);
  }
}

} // namespace heddle::cli
