// A micro-program for the reference: its memory, its grid, and the system of both.
//
//   ReferenceDevice device(program);          // throws std::invalid_argument: it is no program
//   const auto outcome = reference::search(device.system(), 200'000);
#pragma once

#include "reduce/micro_program.h"
#include "reference/search.h"

#include <memory>

namespace heddle::differ {

class ReferenceDevice {
public:
  explicit ReferenceDevice(const enumeration::MicroProgram& program);
  reference::System& system() { return *system_; }

private:
  void end_other_lanes(const enumeration::MicroProgram& program);

  std::unique_ptr<memory::AddressSpace> space_;
  std::unique_ptr<machine::World> world_;
  std::shared_ptr<isa::Program> program_;
  std::unique_ptr<reference::System> system_;
};

} // namespace heddle::differ
