// A device whose machine goes one move at a time, with one buffer: for tests of the Stepper.
//
//   Device device(kernel("k", "atom.add.u32 %r2, [%rd1], 1;"));
//   device.launch("k", shape(1, 2));
//   device.step();                          // the first move that there is
#pragma once

#include "base/check.h"
#include "ptx/parse.h"
#include "reduce/stepper.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace heddle::test {

using namespace machine;
using namespace model;
using namespace reduce;

/// Hands commands to the stepper; the test makes the moves.
class Passive final : public Driver {
public:
  explicit Passive(Stepper& stepper) : stepper_(stepper) {}
  void submitted(const CommandPtr& command) override { stepper_.submitted(command); }
  void
  wait(const std::function<bool()>&, std::span<const machine::CommandPtr>, const char*) override {}
  bool query(const std::function<bool()>& ready, std::span<const machine::CommandPtr>) override {
    return ready();
  }
  void api_call(const char*) override {}

private:
  Stepper& stepper_;
};

/// Every atomic update is a move.
inline Stepper::Options without_sums() {
  Stepper::Options options;
  options.independence.sums = false;
  return options;
}

/// A device with one buffer, zero-filled; kernels take its address: `.param .u64 p`, in %rd1.
class Device {
public:
  explicit Device(const std::string& kernels, Stepper::Options options = without_sums())
      : world_(space_, *device_model("sm_90"), 1),
        stepper_(world_, options) {
    world_.use_virtual_time();
    world_.set_driver(std::make_unique<Passive>(stepper_));
    auto module = ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + kernels, "test");
    HEDDLE_CHECK(module.has_value(), "{}", module ? "" : module.error().message);
    auto program =
        isa::Program::link({std::shared_ptr<const ptx::Module>(std::move(*module))}, space_, 0);
    HEDDLE_CHECK(program.has_value(), "{}", program ? "" : program.error().message);
    program_ = *program;
    buffer_ = *space_.allocate(256, 256, memory::AllocationKind::Device, 0);
  }

  CommandPtr launch(const char* name, LaunchConfig config, std::vector<CommandPtr> after = {}) {
    const isa::Kernel* kernel = *program_->kernel(name);
    std::vector<std::byte> parameters(kernel->parameter_bytes);
    std::memcpy(parameters.data(), &buffer_, sizeof buffer_);
    auto command = std::make_shared<Command>();
    command->kind = CommandKind::Kernel;
    command->grid = *world_.make_grid(program_, *kernel, config, parameters, 0);
    command->label = name;
    command->after = std::move(after);
    world_.submit(command);
    return command;
  }

  Stepper& stepper() { return stepper_; }
  std::vector<Stepper::Move> moves() { return stepper_.moves(); }
  /// Makes the move of the n-th thread (or command) that can move.
  StepKind step(std::size_t n = 0) {
    EXPECT_TRUE(stepper_.step(moves().at(n)));
    return stepper_.taken();
  }
  machine::World& world() { return world_; }
  Hash128 fingerprint() { return stepper_.fingerprint(); }
  std::uint32_t word(int n) {
    std::uint32_t value = 0;
    std::memcpy(&value, space_.host_pointer(buffer_ + 4 * static_cast<unsigned>(n), 4), 4);
    return value;
  }

private:
  memory::AddressSpace space_;
  World world_;
  Stepper stepper_;
  std::shared_ptr<isa::Program> program_;
  memory::Address buffer_ = 0;
};

inline std::string kernel(const char* name, const char* body) {
  return fmt::format(
      ".visible .entry {}(.param .u64 p) {{\n.reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 "
      "%rd<10>;\n.local .align 4 .b8 mine[4];\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"
      "{}\nret;\n}}\n",
      name,
      body
  );
}

inline LaunchConfig shape(unsigned blocks, unsigned threads) {
  LaunchConfig config;
  config.grid = {blocks};
  config.block = {threads};
  return config;
}

} // namespace heddle::test
