// One libFuzzer program with all targets; the first argument says which:
//
//   heddle_fuzz TARGET [CORPUS…] [-FLAG=VALUE…]      libFuzzer's own flags; heddle_fuzz alone lists
//   the targets
//
// HEDDLE_FUZZ_TARGET says it, too: so do the processes that libFuzzer itself starts (-jobs, -fork)
// learn it. HEDDLE_FUZZ_ACCEPT=1: each input must be accepted by its reader. Inputs that are meant
// to be good are tried so, since a target whose seeds are all refused at their first byte tests
// nothing.
#include "base/check.h"

#include "fuzzed.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace heddle {

/// In the place of the one of base/check.cpp, which ends the process without libFuzzer's knowledge:
/// then the input would not be kept.
void internal_error(const char* condition, const std::string& message, std::source_location where) {
  std::fprintf(
      stderr,
      "%s:%u: %s: %s\n",
      where.file_name(),
      static_cast<unsigned>(where.line()),
      condition,
      message.c_str()
  );
  std::abort();
}

} // namespace heddle

namespace {

using namespace heddle::fuzz;

struct Target {
  const char* name;
  int (*read)(const std::uint8_t* data, std::size_t size);
  const char* reads;
};
constexpr std::array targets{
    Target{"ptx_parse", ptx_parse, "PTX"},
    Target{"schedule", schedule, "replay strings, and the lines that are compressed in them"},
    Target{"checkpoint", checkpoint, "checkpoints of searches and of suites"},
    Target{"jit_image", jit_image, "images of compiled code"},
    Target{"fatbin", fatbin, "fat binaries, alone, in objects and in archives"},
    Target{"elf", elf, "ELF files"},
    Target{"yaml", yaml, ".heddle.yaml, baselines, options of lint"},
    Target{"suite", suite, "suites"},
};
constexpr const char* variable = "HEDDLE_FUZZ_TARGET";

const Target* find_target(const char* name) {
  const auto* const found = std::ranges::find_if(targets, [&](const Target& one) {
    return name != nullptr && std::strcmp(one.name, name) == 0;
  });
  return found == targets.end() ? nullptr : found;
}

const Target* chosen = nullptr;
bool must_accept = false;

} // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  chosen = *argc > 1 ? find_target((*argv)[1]) : nullptr;
  if (chosen != nullptr) {
    ::setenv(variable, chosen->name, /*overwrite=*/1);
    std::copy(*argv + 2, *argv + *argc, *argv + 1);
    (*argv)[--*argc] = nullptr;
  } else {
    chosen = find_target(std::getenv(variable));
  }
  if (chosen == nullptr) {
    std::fputs("usage: heddle_fuzz TARGET [CORPUS…] [-FLAG=VALUE…]\n", stderr);
    for (const Target& one : targets) {
      std::fprintf(stderr, "  %-10s  %s\n", one.name, one.reads);
    }
    std::exit(2);
  }
  must_accept = std::getenv("HEDDLE_FUZZ_ACCEPT") != nullptr;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bool is_accepted = chosen->read(data, size) != 0;
  expect(is_accepted || !must_accept || size == 0, "this input was to be accepted");
  return 0; // what is refused is of interest, too
}
