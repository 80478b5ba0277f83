// MicroDevice: what micro-programs run on, once for all searches of a process.
//
//   MicroDevice device;
//   device.load(program);                      // parses and links
//   MicroDevice::Run run(device, options);     // memory is zero, the kernel has been launched
//                                              // unless the host does that
//   run.stepper().moves() …
#pragma once

#include "reduce/micro_host.h"
#include "reduce/micro_program.h"
#include "reduce/stepper.h"

#include <memory>

namespace heddle::enumeration {

class MicroDevice {
public:
  void load(const MicroProgram& program);
  /// Under the memory model of PTX.
  bool weak() const { return micro_.weak; }
  bool lockstep() const { return micro_.lockstep; }
  /// Does an actor decide by what its clock shows?
  bool asks_clocks() const;
  model::ProgressModel progress() const { return micro_.progress; }
  /// Or of a lane that is there only because a warp has 32 of them?
  bool is_of_actor(const reduce::Stepper::Move& move) const {
    return !move.thread || !micro_.some_lanes() || micro_.lockstep ||
           micro_.has_lane(move.warp, move.lane);
  }

  /// One search from the launch on.
  class Run {
  public:
    Run(MicroDevice& device, const reduce::Stepper::Options& options);
    reduce::Stepper& stepper() { return *stepper_; }
    const reduce::Stepper& stepper() const { return *stepper_; }
    MicroHost& host() { return *host_; }
    /// Before anybody has chosen anything: see Stepper::failure.
    bool failed() const { return failed_; }
    const MicroHost& host() const { return *host_; }

  private:
    void end_other_lanes(const MicroDevice& device);

    std::unique_ptr<machine::World> world_;
    std::unique_ptr<reduce::Stepper> stepper_;
    std::unique_ptr<MicroHost> host_;
    bool failed_ = false;
  };

private:
  void link();

  std::unique_ptr<memory::AddressSpace> space_; // of one program: it only grows
  std::shared_ptr<const ptx::Module> module_;
  bool with_heap_ = false; // that of a run stays in memory, and would be part of states
  memory::Address memory_ = 0;
  std::shared_ptr<isa::Program> program_;
  machine::LaunchConfig launch_;
  MicroProgram micro_;
};

} // namespace heddle::enumeration
