// MonitorPair: two monitors of one execution, one of the order of accesses and one of values.
//
//   world.set_monitor(std::make_unique<MonitorPair>(std::move(races), std::move(unwritten)));
//
// Each gives an instruction a handler of its own, which calls the one before. The monitor of the
// order has the outer handler: where it gives others a turn before an access, the access has not
// been carried out, and nobody must have noted it.
#pragma once

#include "machine/monitor.h"

namespace heddle::machine {

class MonitorPair final : public Monitor {
public:
  MonitorPair(std::unique_ptr<Monitor> order, std::unique_ptr<Monitor> values)
      : order_(std::move(order)),
        values_(std::move(values)) {}

  std::unique_ptr<BlockMonitor> watch(Block& block) override;
  void loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) override;
  void submitted(const Command& command) override;
  void host_waited(const HostWait& wait) override;
  void runs_function(const Command& command, Moment moment) override;
  HostOrder* host_order() override { return order_->host_order(); }
  void value_seen(const Command& command) override;
  void host_side_access(
      const Command& command,
      memory::Address address,
      std::uint64_t bytes,
      bool store
  ) override;
  void
  host_access(memory::Address address, std::uint64_t bytes, bool store, const void* pc) override;
  void life_begins(const Command& command, memory::Address address, std::uint64_t bytes) override;
  void life_ends(const Command& command, memory::Address address, std::uint64_t bytes) override;
  void mapped(memory::Address address, std::uint64_t bytes) override;

private:
  /// Calls `member` of both, the monitor of the order first.
  template <class... Parameters, class... Arguments>
  void tell(void (Monitor::*member)(Parameters...), Arguments&&... arguments) {
    (order_.get()->*member)(arguments...);
    (values_.get()->*member)(arguments...);
  }

  std::unique_ptr<Monitor> order_, values_;
};

} // namespace heddle::machine
