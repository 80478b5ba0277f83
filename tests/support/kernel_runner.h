// KernelRunner: runs one kernel of a PTX text on the engine, for tests and benchmarks.
//
//   KernelRunner runner(ptx_text);
//   auto out = runner.buffer<std::uint32_t>(64);
//   runner.launch("kernel", {.block = {64}}, {out.address, 64ULL});
//   EXPECT_EQ(out[3], 9u);
//
// Every parameter is passed as 8 bytes and cut to the declared size.
#pragma once

#include "machine/engine.h"
#include "ptx/inline_calls.h"
#include "ptx/parse.h"

#include <cstring>
#include <initializer_list>
#include <stdexcept>

namespace heddle::test {

/// What `heddle run` does: ptx/inline_calls.h.
enum class Calls : std::uint8_t {
  AsWritten,
  Inlined
};

class KernelRunner {
public:
  explicit KernelRunner(
      std::string_view ptx,
      machine::EngineOptions options = {},
      Calls calls = Calls::AsWritten
  )
      : world_(space_, *machine::device_model("sm_90"), 1) {
    auto module = ptx::parse(ptx, "test.ptx");
    if (!module) {
      throw std::runtime_error(module.error().message);
    }
    if (calls == Calls::Inlined) {
      ptx::inline_calls(**module, /*alone=*/true);
    }
    auto program =
        isa::Program::link({std::shared_ptr<const ptx::Module>(std::move(*module))}, space_, 0);
    if (!program) {
      throw std::runtime_error(program.error().message);
    }
    program_ = *program;
    auto engine = std::make_unique<machine::Engine>(world_, options);
    engine_ = engine.get();
    world_.set_driver(std::move(engine));
  }

  template <class T> struct Buffer {
    memory::Address address = 0;
    T* data = nullptr;
    std::size_t count = 0;
    T& operator[](std::size_t i) const { return data[i]; }
  };
  /// Device memory of `count` elements, zero-filled; the host sees its bytes.
  template <class T> Buffer<T> buffer(std::size_t count) {
    const memory::Address a =
        *space_.allocate(count * sizeof(T), 256, memory::AllocationKind::Device, 0);
    return {a, static_cast<T*>(space_.host_pointer(a, count * sizeof(T))), count};
  }

  struct Outcome {
    std::optional<machine::FaultReport> fault;
    std::string error; // why the launch was refused
  };
  /// Launches and waits for the end.
  Outcome launch(
      std::string_view kernel,
      const machine::LaunchConfig& config,
      std::initializer_list<std::uint64_t> parameters
  ) {
    auto code = program_->kernel(kernel);
    if (!code) {
      return {{}, code.error().message};
    }
    std::vector<std::byte> block((*code)->parameter_bytes);
    auto value = parameters.begin();
    for (const isa::KernelParameter& p : (*code)->parameters) {
      std::memcpy(block.data() + p.offset, &*value++, std::min(p.bytes, 8U));
    }
    auto grid = world_.make_grid(program_, **code, config, block, 0);
    if (!grid) {
      return {{}, grid.error().message};
    }
    auto command = std::make_shared<machine::Command>();
    command->kind = machine::CommandKind::Kernel;
    command->grid = *grid;
    world_.submit(command);
    world_.driver().wait([&] { return command->done.load(); }, {&command, 1}, "test");
    auto fault = world_.fault();
    world_.clear_fault();
    return {std::move(fault), {}};
  }

  machine::World& world() { return world_; }
  isa::Program& program() { return *program_; }
  machine::Engine& engine() { return *engine_; }
  memory::AddressSpace& space() { return space_; }

private:
  memory::AddressSpace space_;
  machine::World world_;
  std::shared_ptr<isa::Program> program_;
  machine::Engine* engine_ = nullptr;
};

} // namespace heddle::test
