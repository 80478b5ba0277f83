// What a resident device thread costs: peak memory of a process in which N threads are alive at
// once, against one in which none is, divided by N.
#include "support/kernel_runner.h"
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace {

using heddle::test::KernelRunner;

constexpr std::uint64_t threads_per_block = 1024;

/// Peak resident bytes of a child process that holds `blocks` blocks (0: only sets up).
std::uint64_t peak_bytes(std::uint64_t blocks) {
  const pid_t child = fork();
  if (child == 0) {
    std::ifstream in(HEDDLE_SOURCE_DIR "/bench/kernels/kernels.ptx");
    std::ostringstream text;
    text << in.rdbuf();
    KernelRunner runner(text.str());
    const auto arrived = runner.buffer<unsigned>(1);
    const auto run = [&](std::uint64_t count) {
      return runner.launch(
          "hold",
          {.grid = {static_cast<std::uint32_t>(count)},
           .block = {threads_per_block},
           .cooperative = true},
          {arrived.address, count}
      );
    };
    const auto outcome = blocks == 0 ? KernelRunner::Outcome{} : run(blocks);
    _exit(outcome.fault || !outcome.error.empty() ? 1 : 0);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0) {
    fmt::print(stderr, "holding {} blocks failed\n", blocks);
    std::exit(1);
  }
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

} // namespace

int main() {
  const std::uint64_t base = peak_bytes(0);
  fmt::print("{:>10} {:>14} {:>18}\n", "threads", "peak MiB", "bytes per thread");
  for (const std::uint64_t blocks : {16, 64, 256}) {
    const std::uint64_t threads = blocks * threads_per_block;
    const std::uint64_t peak = peak_bytes(blocks);
    fmt::print(
        "{:>10} {:>14.1f} {:>18}\n",
        threads,
        static_cast<double>(peak) / (1 << 20),
        (peak - base) / threads
    );
  }
  return 0;
}
