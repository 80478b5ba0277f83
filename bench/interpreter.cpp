// How fast the interpreter is: PTX instructions of one thread per second and core, on kernels.ptx.
//
// An instruction counts once for each thread that executes it, as in a profiler of the real
// machine. `core` runs with one worker on one core, `all` with a worker on each, `lockstep` with
// one worker and lockstep warps, which assert their safety at every step.
#include "simt/lockstep.h"

#include "support/kernel_runner.h"
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

namespace {

using heddle::machine::LaunchConfig;
using heddle::test::KernelRunner;

std::string kernels() {
  std::ifstream in(HEDDLE_SOURCE_DIR "/bench/kernels/kernels.ptx");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// One launch per iteration; the counter is instructions per second.
template <class Launch>
void measure(benchmark::State& state, KernelRunner& runner, const Launch& launch) {
  const std::uint64_t before = runner.engine().executed();
  for (auto _ : state) {
    const auto outcome = launch();
    if (outcome.fault || !outcome.error.empty()) {
      state.SkipWithError(outcome.error.empty() ? "the kernel faulted" : outcome.error.c_str());
      return;
    }
  }
  state.counters["instructions"] = benchmark::Counter(
      static_cast<double>(runner.engine().executed() - before),
      benchmark::Counter::kIsRate
  );
}

heddle::machine::EngineOptions workers(const benchmark::State& state) {
  heddle::machine::EngineOptions options;
  options.workers = static_cast<unsigned>(state.range(0));
  if (state.range(1) != 0) {
    options.warp_rules = heddle::simt::lockstep({});
  }
  return options;
}

constexpr unsigned blocks = 64;
constexpr unsigned threads = 256;

void arithmetic(benchmark::State& state) {
  KernelRunner runner(kernels(), workers(state));
  const auto out = runner.buffer<float>(blocks * threads);
  measure(state, runner, [&] {
    return runner.launch("arithmetic", {.grid = {blocks}, .block = {threads}}, {out.address, 200});
  });
}

void stream(benchmark::State& state) {
  constexpr unsigned n = 1U << 20;
  KernelRunner runner(kernels(), workers(state));
  const auto a = runner.buffer<float>(n);
  const auto b = runner.buffer<float>(n);
  const auto c = runner.buffer<float>(n);
  measure(state, runner, [&] {
    return runner.launch(
        "stream",
        {.grid = {blocks}, .block = {threads}},
        {a.address, b.address, c.address, n}
    );
  });
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * n * 12);
}

void reduce(benchmark::State& state) {
  constexpr unsigned many = 1024;
  KernelRunner runner(kernels(), workers(state));
  const auto in = runner.buffer<float>(many * threads);
  const auto out = runner.buffer<float>(many);
  measure(state, runner, [&] {
    return runner.launch("reduce", {.grid = {many}, .block = {threads}}, {in.address, out.address});
  });
}

void diverge(benchmark::State& state) {
  KernelRunner runner(kernels(), workers(state));
  const auto out = runner.buffer<unsigned>(blocks * threads);
  measure(state, runner, [&] {
    return runner.launch("diverge", {.grid = {blocks}, .block = {threads}}, {out.address, 1});
  });
}

void contend(benchmark::State& state) {
  KernelRunner runner(kernels(), workers(state));
  const auto counters = runner.buffer<unsigned>(16);
  measure(state, runner, [&] {
    return runner.launch("contend", {.grid = {blocks}, .block = {threads}}, {counters.address, 50});
  });
}

/// Time for a baton to pass through all threads: items are hand-overs.
void relay(benchmark::State& state) {
  constexpr unsigned relay_blocks = 4;
  constexpr unsigned relay_threads = 64;
  KernelRunner runner(kernels(), workers(state));
  const auto baton = runner.buffer<unsigned>(1);
  measure(state, runner, [&] {
    baton[0] = 0;
    return runner.launch(
        "relay",
        {.grid = {relay_blocks}, .block = {relay_threads}, .cooperative = true},
        {baton.address}
    );
  });
  state.SetItemsProcessed(
      static_cast<std::int64_t>(state.iterations()) * relay_blocks * relay_threads
  );
}

/// Launch and wait for a kernel that does nothing much.
void launch(benchmark::State& state) {
  KernelRunner runner(kernels(), workers(state));
  const auto out = runner.buffer<float>(32);
  for (auto _ : state) {
    runner.launch("arithmetic", {.grid = {1}, .block = {32}}, {out.address, 0});
  }
}

#define HEDDLE_BENCHMARK(name)                                                                     \
  BENCHMARK(name)                                                                                  \
      ->Name(#name "/core")                                                                        \
      ->Args({1, 0})                                                                               \
      ->UseRealTime()                                                                              \
      ->Unit(benchmark::kMillisecond);                                                             \
  BENCHMARK(name)->Name(#name "/all")->Args({0, 0})->UseRealTime()->Unit(benchmark::kMillisecond)

HEDDLE_BENCHMARK(arithmetic);
HEDDLE_BENCHMARK(stream);
HEDDLE_BENCHMARK(reduce);
HEDDLE_BENCHMARK(diverge);
HEDDLE_BENCHMARK(contend);
HEDDLE_BENCHMARK(relay);
HEDDLE_BENCHMARK(launch);

#define HEDDLE_LOCKSTEP(name)                                                                      \
  BENCHMARK(name)                                                                                  \
      ->Name(#name "/lockstep")                                                                    \
      ->Args({1, 1})                                                                               \
      ->UseRealTime()                                                                              \
      ->Unit(benchmark::kMillisecond)

HEDDLE_LOCKSTEP(arithmetic);
HEDDLE_LOCKSTEP(stream);
HEDDLE_LOCKSTEP(reduce);
HEDDLE_LOCKSTEP(diverge);
HEDDLE_LOCKSTEP(contend);

} // namespace

BENCHMARK_MAIN();
