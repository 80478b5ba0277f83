// Implements processors.h.
#include "base/processors.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace heddle {
namespace {

std::string first_line(const std::filesystem::path& file, std::string_view begins = {}) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(begins)) {
      return line.substr(begins.size());
    }
  }
  return {};
}

} // namespace

std::uint32_t processors_of_quota(const std::string& cpu_max) {
  std::istringstream in(cpu_max);
  std::uint64_t quota = 0;
  std::uint64_t period = 0;
  if (!(in >> quota >> period) || quota == 0 || period == 0) {
    return 0;
  }
  return static_cast<std::uint32_t>((quota + period - 1) / period);
}

std::uint32_t usable_processors() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::uint32_t count = ::sched_getaffinity(0, sizeof cores, &cores) == 0
                            ? static_cast<std::uint32_t>(CPU_COUNT(&cores))
                            : 1;
  const std::filesystem::path root = "/sys/fs/cgroup";
  std::filesystem::path group = first_line("/proc/self/cgroup", "0::/");
  for (bool more = true; more; group = group.parent_path()) { // those around it limit it, too
    more = !group.empty();
    if (const auto most = processors_of_quota(first_line(root / group / "cpu.max")); most != 0) {
      count = std::min(count, most);
    }
  }
  return std::max<std::uint32_t>(1, count);
}

} // namespace heddle
