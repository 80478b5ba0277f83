// What compiled code gains: the four kernels of peers.cu on one worker, interpreted and compiled by
// turns in one process.
//
//   bench_compiled [ROUNDS [KERNEL [alone]]]   prints the best processor time of each, in ms, and
//   their ratio; alone: only one round is interpreted, for profiles
//
// The results of both must be the same bytes, else it fails.
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

/// peers.ptx, and every kernel a second time under a name of its own, which is interpreted.
constexpr const char* twin = "_interpreted";
std::string kernels(const std::vector<Case>& cases) {
  std::ifstream in(HEDDLE_SOURCE_DIR "/bench/kernels/peers.ptx");
  std::ostringstream text;
  text << in.rdbuf();
  std::string twins = text.str();
  twins.erase(0, twins.find(".visible"));
  for (const Case& c : cases) {
    const std::string renamed = c.name + twin;
    for (std::size_t at = 0; (at = twins.find(c.name, at)) != std::string::npos;
         at += renamed.size()) {
      twins.replace(at, c.name.size(), renamed);
    }
  }
  return text.str() + twins;
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
  heddle::machine::EngineOptions options;
  options.workers = 1;
  options.worked = [compiler](const heddle::machine::Grid& grid, const heddle::machine::Worked&) {
    if (!grid.kernel().name.ends_with(twin)) {
      compiler->worked(grid.kernel(), grid.config().block.x);
    }
  };
  Device device(std::move(options), cases);
  fmt::print(
      "{:8} {:>12} {:>12} {:>7} {:>22}\n",
      "kernel",
      "interpreted",
      "compiled",
      "ratio",
      "instructions per ns"
  );
  for (const Case& c : cases) {
    if (argc > 2 && c.name != argv[2]) {
      continue;
    }
    const Device::Buffers interpreted = device.buffers(c);
    const Device::Buffers compiled = device.buffers(c);
    double best[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
    std::uint64_t executed = 0;
    device.run(c, c.name, compiled); // compiles
    for (int round = 0; round < rounds; ++round) {
      if (round == 0 || argc < 4) {
        best[0] = std::min(best[0], device.run(c, c.name + twin, interpreted));
      }
      const std::uint64_t before = device.executed();
      best[1] = std::min(best[1], device.run(c, c.name, compiled));
      executed = device.executed() - before;
    }
    if (std::memcmp(interpreted.out.data, compiled.out.data, c.outputs * sizeof(float)) != 0) {
      fmt::print(stderr, "{}: other results\n", c.name);
      return 1;
    }
    fmt::print(
        "{:8} {:9.1f} ms {:9.1f} ms {:7.2f} {:10.2f} -> {:8.2f}\n",
        c.name,
        best[0],
        best[1],
        best[0] / best[1],
        static_cast<double>(executed) / best[0] / 1e6,
        static_cast<double>(executed) / best[1] / 1e6
    );
  }
  return 0;
}
