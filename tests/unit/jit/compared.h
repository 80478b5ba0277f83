// A body of OneKernel, interpreted and compiled: the same words, and the same fault.
//
//   both("mov.u32 %r4, %tid.x; st.global.u32 [%rd4], %r4;");
#pragma once

#include "support/compiled.h"
#include "unit/isa/one_kernel.h"
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

struct Ran {
  std::string error;
  std::vector<std::uint32_t> out;
  std::optional<machine::FaultReport> fault;
};

inline Ran run_body(
    std::string_view body,
    const machine::LaunchConfig& config,
    machine::EngineOptions options,
    std::string_view variables
) {
  OneKernel kernel(body, variables, std::move(options));
  for (std::uint32_t i = 0; i < 64; ++i) {
    kernel.in.push_back(i * 0x9e37'79b9U ^ (i << 3));
  }
  Ran result;
  result.error = kernel.run(config);
  result.out = kernel.out;
  result.fault = kernel.fault;
  return result;
}

/// Runs `body` both ways and expects the same; answers what came out.
inline Ran both(
    std::string_view body,
    const machine::LaunchConfig& config = {.block = {64}},
    std::string_view variables = ""
) {
  const auto kernels = std::make_shared<CompiledKernels>();
  const Ran interpreted = run_body(body, config, {}, variables);
  Ran machine_code = run_body(body, config, compiled(kernels), variables);
  EXPECT_EQ(kernels->compiled, 1) << body;
  EXPECT_EQ(machine_code.error, interpreted.error) << body;
  EXPECT_EQ(machine_code.out, interpreted.out) << body;
  return machine_code;
}

/// Groups of 32, 16 and 8 lanes, and warps that are not full: the same words and the same fault.
inline void same_faults(
    const std::string& text,
    std::string_view variables = "",
    const std::vector<machine::LaunchConfig>& shapes =
        {{.block = {64}}, {.block = {16, 4}}, {.block = {8, 7}}, {.block = {50}}}
) {
  for (const machine::LaunchConfig& shape : shapes) {
    const Ran interpreted = run_body(text, shape, {}, variables);
    const Ran machine_code = run_body(text, shape, compiled(), variables);
    ASSERT_EQ(machine_code.error, interpreted.error) << text;
    ASSERT_EQ(machine_code.fault.has_value(), interpreted.fault.has_value()) << text;
    if (!interpreted.fault) {
      ASSERT_EQ(machine_code.out, interpreted.out) << text;
      continue;
    }
    EXPECT_EQ(machine_code.fault->fault.kind, interpreted.fault->fault.kind) << text;
    EXPECT_EQ(machine_code.fault->fault.lane, interpreted.fault->fault.lane) << text;
    EXPECT_EQ(machine_code.fault->fault.bytes, interpreted.fault->fault.bytes) << text;
    EXPECT_EQ(machine_code.fault->fault.address, interpreted.fault->fault.address) << text;
    EXPECT_EQ(machine_code.fault->instruction, interpreted.fault->instruction) << text;
    EXPECT_EQ(machine_code.fault->thread.x, interpreted.fault->thread.x) << text;
    EXPECT_EQ(machine_code.fault->thread.y, interpreted.fault->thread.y) << text;
    EXPECT_EQ(machine_code.fault->lanes, interpreted.fault->lanes) << text;
  }
}

} // namespace heddle::test
