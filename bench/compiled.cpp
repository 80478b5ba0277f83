// What compiled code gains, and what its checks of accesses cost: the four kernels of peers.cu on
// one worker, interpreted, compiled, and compiled without checks, by turns in one process.
//
//   bench_compiled [ROUNDS [KERNEL [alone]]]   prints the best processor time of each, in ms, the
//   ratio of the first two, and what part of the second the checks are; alone: only one round is
//   interpreted or without checks, for profiles
//
// The results of all must be the same bytes, else it fails.
#include "support/compiled.h"

#include "support/kernel_runner.h"
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using heddle::test::KernelRunner;

double processor_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

struct Case {
  std::string name;
  heddle::machine::LaunchConfig config;
  std::size_t inputs, outputs; // floats
  std::uint64_t n;
  bool two_inputs;
};

/// peers.ptx, and every kernel again under a name of its own for each of these ways to run it.
constexpr std::string_view interpreted = "_interpreted";
constexpr std::string_view unchecked = "_unchecked";

std::string kernels(const std::vector<Case>& cases) {
  std::ifstream in(HEDDLE_SOURCE_DIR "/bench/kernels/peers.ptx");
  std::ostringstream file;
  file << in.rdbuf();
  const std::string once = file.str();
  std::string all = once;
  for (const std::string_view way : {interpreted, unchecked}) {
    std::string again = once.substr(once.find(".visible"));
    for (const Case& c : cases) {
      const std::string renamed = c.name + std::string(way);
      for (std::size_t at = 0; (at = again.find(c.name, at)) != std::string::npos;
           at += renamed.size()) {
        again.replace(at, c.name.size(), renamed);
      }
    }
    all += again;
  }
  return all;
}

/// Runs any case, and keeps its buffers.
class Device {
public:
  Device(heddle::machine::EngineOptions options, const std::vector<Case>& cases)
      : runner_(kernels(cases), std::move(options)) {}

  struct Buffers {
    KernelRunner::Buffer<float> in, out;
  };
  Buffers buffers(const Case& c) {
    Buffers b{runner_.buffer<float>(c.inputs), runner_.buffer<float>(c.outputs)};
    for (std::size_t i = 0; i < c.inputs; ++i) {
      b.in[i] = static_cast<float>(i % 1013) * 0.125F;
    }
    return b;
  }
  double run(const Case& c, const std::string& name, const Buffers& b) {
    const double before = processor_ms();
    const auto outcome =
        c.two_inputs
            ? runner_.launch(name, c.config, {b.in.address, b.in.address, b.out.address, c.n})
            : runner_.launch(name, c.config, {b.in.address, b.out.address, c.n});
    if (outcome.fault || !outcome.error.empty()) {
      fmt::print(stderr, "{}: {}\n", name, outcome.error.empty() ? "fault" : outcome.error);
      std::exit(1);
    }
    return processor_ms() - before;
  }
  std::uint64_t executed() { return runner_.engine().executed(); }

private:
  KernelRunner runner_;
};

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  const std::vector<Case> cases = {
      {"vecadd", {.grid = {65536}, .block = {256}}, 1U << 24, 1U << 24, 1U << 24, true},
      {"reduce", {.grid = {16384}, .block = {256}}, 1U << 24, 16384, 1U << 24, false},
      {"matmul", {.grid = {32, 32}, .block = {16, 16}}, 512 * 512, 512 * 512, 512, true},
      {"nbody", {.grid = {16}, .block = {256}}, 4096 * 4, 4096 * 4, 4096, false},
  };
  const auto compiler = std::make_shared<heddle::test::CompiledKernels>();
  const auto without_checks = std::make_shared<heddle::test::CompiledKernels>();
  without_checks->checks = false;
  heddle::machine::EngineOptions options;
  options.workers = 1;
  options.worked = [=](const heddle::machine::Grid& grid, const heddle::machine::Worked&) {
    const std::string& name = grid.kernel().name;
    if (!name.ends_with(interpreted)) {
      (name.ends_with(unchecked) ? without_checks : compiler)
          ->worked(grid.kernel(), grid.config().block.x);
    }
  };
  Device device(std::move(options), cases);
  fmt::print(
      "{:8} {:>12} {:>12} {:>7} {:>14} {:>7} {:>22}\n",
      "kernel",
      "interpreted",
      "compiled",
      "ratio",
      "without checks",
      "checks",
      "instructions per ns"
  );
  for (const Case& c : cases) {
    if (argc > 2 && c.name != argv[2]) {
      continue;
    }
    struct Way {
      std::string name;
      Device::Buffers buffers;
      double best;
    };
    constexpr double never = std::numeric_limits<double>::max();
    Way ways[] = {
        {c.name, device.buffers(c), never},
        {c.name + std::string(interpreted), device.buffers(c), never},
        {c.name + std::string(unchecked), device.buffers(c), never},
    };
    std::uint64_t executed = 0;
    for (const Way& way : ways) {
      device.run(c, way.name, way.buffers); // compiles
    }
    for (int round = 0; round < rounds; ++round) {
      for (Way& way : ways) {
        if (round != 0 && argc > 3 && &way != &ways[0]) {
          continue;
        }
        const std::uint64_t before = device.executed();
        way.best = std::min(way.best, device.run(c, way.name, way.buffers));
        executed = device.executed() - before;
      }
    }
    for (const Way& way : ways) {
      const std::size_t bytes = c.outputs * sizeof(float);
      if (std::memcmp(ways[0].buffers.out.data, way.buffers.out.data, bytes) != 0) {
        fmt::print(stderr, "{}: other results\n", way.name);
        return 1;
      }
    }
    const double compiled = ways[0].best;
    fmt::print(
        "{:8} {:9.1f} ms {:9.1f} ms {:7.2f} {:11.1f} ms {:5.0f} % {:10.2f} -> {:8.2f}\n",
        c.name,
        ways[1].best,
        compiled,
        ways[1].best / compiled,
        ways[2].best,
        100 * (1 - ways[2].best / compiled),
        static_cast<double>(executed) / ways[1].best / 1e6,
        static_cast<double>(executed) / compiled / 1e6
    );
  }
  return 0;
}
