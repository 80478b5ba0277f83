// OneKernel: a PTX kernel `k` from a body, run once; its results are words in a buffer.
//
//   OneKernel k("mov.u32 %r2, 7;  st.global.u32 [%rd4], %r2;");
//   k.in = {1, 2, 3};                       // words at %rd3 (copied before the launch)
//   ASSERT_EQ(k.run({.block = {32}}), "");  // the text of the fault or error; "" if none
//   EXPECT_EQ(k.out[5], 7U);
//
// The body finds %r0 = %tid.x, %rd2 = out, %rd3 = in, %rd4 = out + 4·tid, %rd5 = out + 8·tid and
// registers %p0-9, %h0-9, %r0-39, %rd0-29, %f0-9, %fd0-9, %q0-3 (128 bits).
#pragma once

#include "support/kernel_runner.h"
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heddle::test {

class OneKernel {
public:
  explicit OneKernel(
      std::string_view body,
      std::string_view variables = "",
      machine::EngineOptions options = {},
      Calls calls = Calls::AsWritten
  )
      : runner_(
            std::string(".version 9.0\n.target sm_100a\n.address_size 64\n") +
                std::string(variables) +
                "\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
                ".reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<40>; .reg .b64 %rd<30>;\n"
                ".reg .f32 %f<10>; .reg .f64 %fd<10>; .reg .b128 %q<4>;\n"
                "mov.u32 %r0, %tid.x; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [in];\n"
                "mul.wide.u32 %rd4, %r0, 4; add.s64 %rd4, %rd4, %rd2;\n"
                "mul.wide.u32 %rd5, %r0, 8; add.s64 %rd5, %rd5, %rd2;\n" +
                std::string(body) + "\nret;\n}\n",
            std::move(options),
            calls
        ) {}

  std::vector<std::uint32_t> in;
  std::vector<std::uint32_t> out; // 1024 words, zero before the launch
  std::optional<machine::FaultReport> fault;

  std::string run(const machine::LaunchConfig& config) {
    const auto to = runner_.buffer<std::uint32_t>(1024);
    const auto from = runner_.buffer<std::uint32_t>(std::max<std::size_t>(in.size(), 64));
    std::copy(in.begin(), in.end(), from.data);
    const auto outcome = runner_.launch("k", config, {to.address, from.address});
    out.assign(to.data, to.data + to.count);
    fault = outcome.fault;
    if (!outcome.error.empty()) {
      return outcome.error;
    }
    if (!fault) {
      return "";
    }
    return fault->fault.text.empty() ? "fault" : fault->fault.text;
  }
  std::uint64_t wide(std::size_t i) const {
    return std::uint64_t{out[2 * i]} | std::uint64_t{out[2 * i + 1]} << 32;
  }

  KernelRunner& runner() { return runner_; }

private:
  KernelRunner runner_;
};

/// One warp.
inline machine::LaunchConfig warp(std::uint32_t lanes = 32) {
  machine::LaunchConfig config;
  config.block = {lanes, 1, 1};
  return config;
}

} // namespace heddle::test
