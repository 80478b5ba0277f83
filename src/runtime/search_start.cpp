// Implements search_start.h.
#include "runtime/search_start.h"

#include "explore/search/explorer.h"
#include "machine/grid.h"
#include "runtime/diagnostics/outcome.h"
#include "runtime/runtime.h"
#include "simt/lockstep.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace heddle::runtime {
namespace {

std::atomic<bool> search_has_begun{false};
std::atomic<bool> search_is_asked_for{false};

std::ptrdiff_t threads_of_this_process() {
  std::error_code failure;
  return std::distance(
      std::filesystem::directory_iterator("/proc/self/task", failure),
      std::filesystem::directory_iterator()
  );
}

/// Empty: at the first call.
const std::string& kernel_to_begin_at() {
  static const std::string name = [] {
    const char* text = std::getenv("HEDDLE_KERNEL");
    return std::string(text == nullptr ? "" : text);
  }();
  return name;
}

[[noreturn]] void refuse_to_search(const std::string& why) {
  fmt::print(stderr, "heddle: error: {}\n", why);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(Outcome::Usage));
}

} // namespace

std::unique_ptr<machine::Driver>
make_searching_driver(machine::World& world, const Config& config) {
  auto explorer = explore::make_explorer(world, config.explore, [](const explore::Options& o) {
    simt::LockstepOptions lockstep;
    lockstep.stale_reads = o.stale_reads;
    lockstep.common_exit = o.common_exit;
    return o.lockstep ? simt::lockstep(std::move(lockstep)) : machine::MakeWarpRules();
  });
  if (!explorer) {
    refuse_to_search(explorer.error().message);
  }
  return std::move(*explorer);
}

bool begins_at_a_kernel() {
  return !kernel_to_begin_at().empty();
}

bool names_kernel(std::string_view wanted, std::string_view mangled, std::string_view demangled) {
  const auto plain = [](std::string_view name) {
    name = name.substr(0, name.find_first_of("<("));
    return name.substr(name.rfind(' ') + 1); // a template's comes with the type it returns
  };
  const std::string_view name = plain(demangled);
  const std::size_t scope = name.rfind("::");
  return wanted == mangled || wanted == demangled || wanted == name ||
         (scope != std::string_view::npos && wanted == name.substr(scope + 2));
}

void begin_search_at(Runtime& rt, const std::string& mangled_name) {
  const std::string& wanted = kernel_to_begin_at();
  if (wanted.empty() || rt.config().mode != Mode::Check || search_has_begun) {
    return;
  }
  const bool here = wanted == search_on_request
                        ? search_is_asked_for.load()
                        : names_kernel(wanted, mangled_name, machine::demangle(mangled_name));
  if (!here || search_has_begun.exchange(true)) {
    return;
  }
  for (int device = 0; device < rt.config().devices; ++device) {
    if (rt.wait(rt.streams().pending_on_device(device), device, "the search") != cudaSuccess) {
      refuse_to_search(
          fmt::format("a device failed before kernel '{}' was launched: see 'heddle run'", wanted)
      );
    }
  }
  rt.world().set_driver(nullptr); // the engine's threads end
  if (const auto threads = threads_of_this_process(); threads > 1) {
    refuse_to_search(
        fmt::format(
            "--kernel: the program has {} threads where kernel '{}' is launched, and a search that "
            "begins there keeps one",
            threads,
            wanted
        )
    );
  }
  rt.world().set_driver(make_searching_driver(rt.world(), rt.config()));
}

} // namespace heddle::runtime

#pragma GCC visibility push(default)
extern "C" void heddle_search_begins() {
  heddle::runtime::search_is_asked_for = true;
}
#pragma GCC visibility pop
