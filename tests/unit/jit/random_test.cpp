// Random kernels (random_kernels.h), interpreted and compiled: the same words come out, whatever
// the shape of the blocks. HEDDLE_RANDOM_KERNELS=N: how many (default 12), from
// HEDDLE_RANDOM_SEED=N on.
#include "support/compiled.h"
#include "unit/isa/one_kernel.h"
#include "unit/jit/random_kernels.h"
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace heddle::test {
namespace {

struct Outcome {
  std::string error;
  std::vector<std::uint32_t> out;
};
Outcome execute(
    const std::string& body,
    const machine::LaunchConfig& config,
    machine::EngineOptions options,
    Calls calls = Calls::AsWritten
) {
  options.workers = 1;
  OneKernel kernel(
      ".local .align 4 .b8 l[16];\n" + body,
      random_kernel_variables,
      std::move(options),
      calls
  );
  for (std::uint32_t i = 0; i < 64; ++i) {
    kernel.in.push_back(i * 0x9e37'79b9U);
  }
  Outcome run;
  run.error = kernel.run(config);
  run.out = kernel.out;
  return run;
}

void compare(unsigned seed) {
  const machine::LaunchConfig shapes[] = {
      {.block = {64}},
      {.block = {16, 4}},
      {.block = {8, 6}},
      {.block = {5, 7}},
      {.block = {96}},
      {.block = {40}}
  };
  const std::string body = RandomKernel(seed).body();
  const machine::LaunchConfig& shape = shapes[seed % std::size(shapes)];
  const auto kernels = std::make_shared<CompiledKernels>();
  kernels->guesses = seed % 4 != 0;
  const Outcome interpreted = execute(body, shape, {});
  const Calls calls = seed % 3 != 0 ? Calls::Inlined : Calls::AsWritten;
  const Outcome inlined = execute(body, shape, {}, Calls::Inlined);
  ASSERT_EQ(interpreted.error, inlined.error) << "seed " << seed;
  ASSERT_EQ(interpreted.out, inlined.out) << "seed " << seed << '\n' << body;
  const Outcome machine_code = execute(body, shape, compiled(kernels), calls);
  ASSERT_EQ(kernels->compiled, 1) << "seed " << seed << ": " << interpreted.error;
  ASSERT_EQ(interpreted.error, machine_code.error) << "seed " << seed;
  ASSERT_EQ(interpreted.out, machine_code.out) << "seed " << seed << '\n' << body;
}

TEST(RandomKernels, AreTheSameCompiled) {
  const char* wanted = std::getenv("HEDDLE_RANDOM_KERNELS");
  const char* from = std::getenv("HEDDLE_RANDOM_SEED");
  const unsigned count = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 6;
  const unsigned first = from != nullptr ? static_cast<unsigned>(std::atoi(from)) : 1;
  for (unsigned seed = first; seed < first + count; ++seed) {
    ASSERT_NO_FATAL_FAILURE(compare(seed));
  }
}

// Compiling takes so long that a Probe gives turns first: in those, no block may come back to
// compiled code, which would go on where its threads have been.
TEST(RandomKernels, ABlockComesBackInItsOwnTurnsOnly) {
  compare(1376);
}

} // namespace
} // namespace heddle::test
