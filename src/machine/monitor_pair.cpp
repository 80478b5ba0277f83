// Implements monitor_pair.h.
#include "machine/monitor_pair.h"

#include "isa/region.h"
#include "machine/block.h"

#include <algorithm>

namespace heddle::machine {
namespace {

class BlockMonitorPair final : public BlockMonitor {
public:
  BlockMonitorPair(std::unique_ptr<BlockMonitor> order, std::unique_ptr<BlockMonitor> values)
      : order_(std::move(order)),
        values_(std::move(values)),
        order_watch_(order_->region_watch()),
        values_watch_(values_->region_watch()),
        watch_{
            .access = accessed,
            .may_call = may_call,
            .may_enter = may_enter,
            .enough_ops = order_watch_ == nullptr || values_watch_ == nullptr
                              ? 0
                              : std::max(order_watch_->enough_ops, values_watch_->enough_ops)
        } {}

  BlockMonitor& of(Subject subject) override {
    return subject == Subject::Order ? *order_ : *values_;
  }
  void started() override { tell(&BlockMonitor::started); }
  void
  arriving(std::size_t id, std::size_t w, isa::LaneMask lanes, const Arrival& arrival) override {
    tell(&BlockMonitor::arriving, id, w, lanes, arrival);
  }
  void arrived(std::size_t id, std::size_t w, isa::LaneMask lanes) override {
    tell(&BlockMonitor::arrived, id, w, lanes);
  }
  void opened(std::size_t id, std::span<const isa::LaneMask> waiting, bool counted) override {
    tell(&BlockMonitor::opened, id, waiting, counted);
  }
  void cluster_arrived(std::size_t w, isa::LaneMask lanes, bool release) override {
    tell(&BlockMonitor::cluster_arrived, w, lanes, release);
  }
  void cluster_opened() override { tell(&BlockMonitor::cluster_opened); }
  void neighbour_accessed(std::uint32_t rank) override {
    tell(&BlockMonitor::neighbour_accessed, rank);
  }
  void cluster_passed(std::size_t w, isa::LaneMask lanes) override {
    tell(&BlockMonitor::cluster_passed, w, lanes);
  }
  void warp_synced(std::size_t w, isa::LaneMask lanes) override {
    tell(&BlockMonitor::warp_synced, w, lanes);
  }
  void dependency_waited() override { tell(&BlockMonitor::dependency_waited); }
  void launched(std::size_t thread, const Command& command) override {
    tell(&BlockMonitor::launched, thread, command);
  }
  const isa::RegionWatch* region_watch() const override {
    return order_watch_ != nullptr && values_watch_ != nullptr ? &watch_ : nullptr;
  }

private:
  template <class... Parameters, class... Arguments>
  void tell(void (BlockMonitor::*member)(Parameters...), Arguments&&... arguments) {
    (order_.get()->*member)(arguments...);
    (values_.get()->*member)(arguments...);
  }

  static BlockMonitorPair& of(isa::Exec& exec) {
    return static_cast<BlockMonitorPair&>(*static_cast<Block&>(exec.environment()).monitor());
  }

  /// Values first: what is refused must not have been noted as an access, while a store may be
  /// noted as written twice.
  static std::uint64_t accessed(
      isa::RegionContext& context,
      const isa::Op& op,
      isa::LaneMask lanes,
      const std::uint64_t* each,
      std::uint64_t base,
      std::int64_t stride
  ) {
    const BlockMonitorPair& pair = of(*context.exec);
    return pair.values_watch_->access(context, op, lanes, each, base, stride) != 0
               ? pair.order_watch_->access(context, op, lanes, each, base, stride)
               : 0;
  }
  static bool may_call(isa::Exec& exec, const isa::Op& op) {
    const BlockMonitorPair& pair = of(exec);
    return pair.order_watch_->may_call(exec, op) && pair.values_watch_->may_call(exec, op);
  }
  static bool may_enter(isa::Exec& exec) {
    const BlockMonitorPair& pair = of(exec);
    return pair.order_watch_->may_enter(exec) && pair.values_watch_->may_enter(exec);
  }

  std::unique_ptr<BlockMonitor> order_, values_;
  const isa::RegionWatch *order_watch_, *values_watch_;
  isa::RegionWatch watch_;
};

} // namespace

std::unique_ptr<BlockMonitor> MonitorPair::watch(Block& block) {
  return std::make_unique<BlockMonitorPair>(order_->watch(block), values_->watch(block));
}

void MonitorPair::loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) {
  values_->loaded(program, kernel); // its handlers are the inner ones
  order_->loaded(program, kernel);
}

void MonitorPair::submitted(const Command& command) {
  tell(&Monitor::submitted, command);
}

void MonitorPair::host_waited(const HostWait& wait) {
  tell(&Monitor::host_waited, wait);
}

void MonitorPair::runs_function(const Command& command, Moment moment) {
  tell(&Monitor::runs_function, command, moment);
}

void MonitorPair::value_seen(const Command& command) {
  tell(&Monitor::value_seen, command);
}

void MonitorPair::host_side_access(
    const Command& command,
    memory::Address address,
    std::uint64_t bytes,
    bool store
) {
  tell(&Monitor::host_side_access, command, address, bytes, store);
}

void MonitorPair::host_access(
    memory::Address address,
    std::uint64_t bytes,
    bool store,
    const void* pc
) {
  tell(&Monitor::host_access, address, bytes, store, pc);
}

void MonitorPair::life_begins(
    const Command& command,
    memory::Address address,
    std::uint64_t bytes
) {
  tell(&Monitor::life_begins, command, address, bytes);
}

void MonitorPair::life_ends(const Command& command, memory::Address address, std::uint64_t bytes) {
  tell(&Monitor::life_ends, command, address, bytes);
}

void MonitorPair::mapped(memory::Address address, std::uint64_t bytes) {
  tell(&Monitor::mapped, address, bytes);
}

} // namespace heddle::machine
