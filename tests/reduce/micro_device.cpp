// Implements micro_device.h.
#include "reduce/micro_device.h"

#include "base/check.h"
#include "ptx/parse.h"
#include "simt/lockstep.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace heddle::enumeration {

using reduce::Stepper;

namespace {

/// Hands commands to the stepper; a search makes the moves.
class Passive final : public machine::Driver {
public:
  explicit Passive(Stepper& stepper) : stepper_(stepper) {}
  void submitted(const machine::CommandPtr& command) override { stepper_.submitted(command); }
  void
  wait(const std::function<bool()>&, std::span<const machine::CommandPtr>, const char*) override {}
  bool query(const std::function<bool()>& ready, std::span<const machine::CommandPtr>) override {
    return ready();
  }
  void api_call(const char*) override {}

private:
  Stepper& stepper_;
};

} // namespace

bool MicroDevice::asks_clocks() const {
  const auto names = [this](const char* what) {
    return micro_.text.find(what) != std::string::npos;
  };
  return names("%clock") || names("%globaltimer") ||
         std::ranges::any_of(micro_.codes, [](const Code& code) {
           return std::ranges::any_of(code.operations, [](const Operation& operation) {
             return operation.kind == Kind::WaitOrLate || operation.kind >= Kind::Begin;
           });
         });
}

void MicroDevice::load(const MicroProgram& program) {
  const std::string text = program.as_ptx();
  auto module = ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + text, "micro");
  HEDDLE_CHECK(module.has_value(), "{}", module ? "" : module.error().message);
  module_ = std::shared_ptr<const ptx::Module>(std::move(*module));
  // Who is called by an address may be malloc. The arguments of a child lie in memory, too.
  const auto names = [&text](const char* function) { return text.find(function) != text.npos; };
  with_heap_ = program.functions || names("call ") || names("malloc") || names("alloca") ||
               names("__cudaCDP2LaunchDeviceV2");
  launch_ = program.launch();
  micro_ = program;
  link();
}

/// As far as they can move: a cluster may start by its first thread ([RED-START]).
void MicroDevice::Run::end_other_lanes(const MicroDevice& device) {
  for (;;) {
    const std::vector<Stepper::Move> moves = stepper_->moves();
    const auto other = std::ranges::find_if(moves, [&device](const Stepper::Move& move) {
      return !device.is_of_actor(move);
    });
    if (other == moves.end()) {
      return;
    }
    if (!stepper_->step(*other)) { // what others do at once then is wrong
      failed_ = true;
      return;
    }
  }
}

void MicroDevice::link() {
  program_.reset();
  space_.reset(); // its addresses are used again
  space_ = std::make_unique<memory::AddressSpace>();
  memory_ = *space_->allocate(memory_bytes, 256, memory::AllocationKind::Device, 0);
  auto linked = isa::Program::link({module_}, *space_, 0);
  HEDDLE_CHECK(linked.has_value(), "{}", linked ? "" : linked.error().message);
  program_ = *linked;
}

MicroDevice::Run::Run(MicroDevice& device, const Stepper::Options& options) {
  if (device.with_heap_) {
    device.link();
  }
  world_ = std::make_unique<machine::World>(*device.space_, *machine::device_model("sm_90"), 1);
  Stepper::Options own = options;
  own.model.weak = device.micro_.weak;
  if (device.lockstep()) {
    own.model.warp_rules = simt::lockstep({});
  }
  stepper_ = std::make_unique<Stepper>(*world_, std::move(own));
  std::memset(device.space_->host_pointer(device.memory_, memory_bytes), 0, memory_bytes);
  world_->use_virtual_time();
  world_->set_heap_limit(heap_bytes);
  world_->set_driver(std::make_unique<Passive>(*stepper_));
  const auto make_kernel = [this, &device](HostKind kind) {
    const isa::Kernel* kernel = *device.program_->kernel("k");
    std::vector<std::byte> parameters(kernel->parameter_bytes);
    std::memcpy(parameters.data(), &device.memory_, sizeof device.memory_);
    auto command = std::make_shared<machine::Command>();
    command->kind = machine::CommandKind::Kernel;
    machine::LaunchConfig launch = device.launch_;
    if (kind == HostKind::LaunchOne) {
      launch.grid = {1};
    }
    launch.programmatic = kind == HostKind::LaunchEarly;
    command->grid = *world_->make_grid(device.program_, *kernel, launch, parameters, 0);
    command->label = "kernel 'k'";
    return command;
  };
  auto* const memory =
      static_cast<std::byte*>(device.space_->host_pointer(device.memory_, memory_bytes));
  host_ = std::make_unique<MicroHost>(
      device.micro_,
      MicroHost::Services{
          .kernel = make_kernel,
          .submit = [this](const machine::CommandPtr& command) { world_->submit(command); },
          .memory = memory,
          .address = device.memory_,
          .value_of_p =
              {.space = device.space_.get(),
               .address = device.memory_,
               .wanted = 1,
               .condition = machine::ValueWait::Condition::Equal},
          .word_by_word = !stepper_->assumed().takes_copies_for_one_move()
      },
      *stepper_
  );
  if (host_->none()) {
    world_->submit(make_kernel(HostKind::Launch));
  }
  failed_ = stepper_->failure().has_value(); // what blocks do that start at once
  if (!failed_) {
    end_other_lanes(device);
  }
}

} // namespace heddle::enumeration
