// Implements reference_device.h.
#include "reference/reference_device.h"

#include "ptx/parse.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace heddle::differ {

ReferenceDevice::ReferenceDevice(const enumeration::MicroProgram& program)
    : space_(std::make_unique<memory::AddressSpace>()) {
  using enumeration::memory_bytes;
  const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + program.as_ptx();
  auto module = ptx::parse(text, "program");
  if (!module) {
    throw std::invalid_argument(module.error().message);
  }
  const memory::Address memory =
      *space_->allocate(memory_bytes, 256, memory::AllocationKind::Device, 0);
  auto linked = isa::Program::link({std::shared_ptr<const ptx::Module>(std::move(*module))}, *space_, 0);
  if (!linked) {
    throw std::invalid_argument(linked.error().message);
  }
  program_ = *linked;
  world_ = std::make_unique<machine::World>(*space_, *machine::device_model("sm_90"), 1);
  world_->use_virtual_time();
  const isa::Kernel* kernel = *program_->kernel("k");
  if (!kernel->code->cleared.empty()) {
    throw std::invalid_argument("a register is read before it is written");
  }
  std::vector<std::byte> parameters(kernel->parameter_bytes);
  std::memcpy(parameters.data(), &memory, sizeof memory);
  auto* const bytes = static_cast<std::byte*>(space_->host_pointer(memory, memory_bytes));
  std::memset(bytes, 0, memory_bytes);
  std::vector<reference::Launched> grids;
  grids.push_back({*world_->make_grid(program_, *kernel, program.launch(), parameters, 0), {}});
  system_ = std::make_unique<reference::System>(
      std::move(grids),
      std::vector<std::span<std::byte>>{{bytes, memory_bytes}},
      *space_
  );
  if (program.some_lanes()) {
    end_other_lanes(program);
  }
}

/// Lanes that are there only because a warp has 32 of them: before anybody else begins.
void ReferenceDevice::end_other_lanes(const enumeration::MicroProgram& program) {
  for (;;) {
    const std::vector<reference::Move> moves = system_->enabled();
    const auto other = std::ranges::find_if(moves, [&](const reference::Move& move) {
      return !program.has_lane(move.warp, move.lane);
    });
    if (other == moves.end()) {
      return;
    }
    system_->apply(*other);
  }
}

} // namespace heddle::differ
