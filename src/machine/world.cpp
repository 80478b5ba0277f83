// Implements world.h.
#include "machine/world.h"

#include "base/check.h"
#include "base/outside.h"
#include "machine/grid.h"
#include "machine/monitor.h"
#include "machine/unawaited.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

namespace heddle::machine {

World::World(memory::AddressSpace& space, const DeviceModel& model, int devices)
    : space_(space),
      model_(model),
      devices_(devices) {}

World::~World() {
  driver_.reset(); // its threads use the rest
}

void World::set_driver(std::unique_ptr<Driver> driver) {
  driver_ = std::move(driver);
}

void World::follow_unawaited() {
  unawaited_ = std::make_unique<Unawaited>();
}

void World::set_monitor(std::unique_ptr<Monitor> monitor) {
  monitor_ = std::move(monitor);
}

// [DEP-WAIT]: a stream that waits for an event passes on what the event does not stand for.
std::vector<Overlap> World::overlaps_of(const Command& command) {
  std::vector<Overlap> result;
  for (const EarlyDependency& early : command.early) {
    result.push_back({early.grid, early.awaited});
  }
  if (command.kind == CommandKind::EventRecord) {
    return result;
  }
  for (const CommandPtr& before : command.after) {
    if (before != nullptr && before->kind != CommandKind::Kernel) {
      const bool is_event = before->kind == CommandKind::EventRecord;
      const bool joins = before->kind == CommandKind::Empty && !before->more;
      if (is_event || joins) {
        result.insert(result.end(), before->overlaps.begin(), before->overlaps.end());
      }
    }
  }
  return result;
}

void World::submit(const CommandPtr& command) {
  command->id = next_id_.fetch_add(1);
  command->overlaps = overlaps_of(*command);
  if (monitor_ != nullptr) {
    monitor_->submitted(*command);
  }
  if (unawaited_ != nullptr) {
    unawaited_->submitted(*command);
  }
  std::erase_if(command->overlaps, [](const Overlap& o) { return o.grid->done.load(); });
  std::erase_if(command->early, [](const EarlyDependency& e) { return e.grid->done.load(); });
  std::erase(command->after, nullptr);
  for (const CommandPtr& before : command->after) {
    command->behind.push_back(before->id);
  }
  std::erase_if(command->after, [](const CommandPtr& c) { return c->done.load(); });
  driver_->submitted(command);
}

Result<std::shared_ptr<Grid>> World::make_grid(
    std::shared_ptr<isa::Program> program,
    const isa::Kernel& kernel,
    const LaunchConfig& config,
    std::span<const std::byte> parameter_block,
    int device
) {
  const std::uint64_t threads = config.block.count();
  const auto refuse = [&](std::string why) {
    return input_error(fmt::format("launch of '{}': {}", demangle(kernel.name), why));
  };
  if (config.grid.count() == 0 || threads == 0) {
    return refuse("the grid or the block is empty");
  }
  if (threads > model_.max_threads_per_block || config.block.x > 1024 || config.block.y > 1024 ||
      config.block.z > 64) {
    return refuse(
        fmt::format(
            "block ({},{},{}) is larger than {} threads (1024 x 1024 x 64)",
            config.block.x,
            config.block.y,
            config.block.z,
            model_.max_threads_per_block
        )
    );
  }
  if (config.grid.x > 0x7fff'ffffU || config.grid.y > 65535 || config.grid.z > 65535) {
    return refuse("the grid is larger than 2^31-1 x 65535 x 65535");
  }
  const std::uint64_t max_threads = std::uint64_t{std::max(1U, kernel.function->max_ntid[0])} *
                                    std::max(1U, kernel.function->max_ntid[1]) *
                                    std::max(1U, kernel.function->max_ntid[2]);
  if (kernel.function->max_ntid[0] != 0 && threads > max_threads) {
    return refuse(
        fmt::format(
            "block of {} threads, but the kernel is compiled for at most {} (__launch_bounds__)",
            threads,
            max_threads
        )
    );
  }
  const std::uint64_t shared = std::uint64_t{kernel.dynamic_shared_offset} + config.dynamic_shared;
  if (shared > model_.shared_per_block_optin) {
    return refuse(
        fmt::format(
            "{} bytes of shared memory, the device has {}",
            shared,
            model_.shared_per_block_optin
        )
    );
  }
  const Dim3& c = config.cluster;
  if (c.count() == 0 || config.grid.x % c.x != 0 || config.grid.y % c.y != 0 ||
      config.grid.z % c.z != 0) {
    return refuse(
        fmt::format(
            "cluster ({},{},{}) does not divide grid ({},{},{})",
            c.x,
            c.y,
            c.z,
            config.grid.x,
            config.grid.y,
            config.grid.z
        )
    );
  }
  if (c.count() > std::max(1U, 2 * model_.max_cluster_blocks)) {
    return refuse(
        fmt::format(
            "clusters of {} blocks, the device allows {}",
            c.count(),
            2 * model_.max_cluster_blocks
        )
    );
  }
  if (config.cooperative) {
    const std::uint64_t fit =
        std::uint64_t{resident_blocks(model_, static_cast<std::uint32_t>(threads), shared)} *
        model_.multiprocessors;
    if (config.grid.count() > fit) {
      return refuse(
          fmt::format(
              "cooperative grid of {} blocks, only {} can be resident",
              config.grid.count(),
              fit
          )
      );
    }
  }
  if (monitor_ != nullptr) {
    monitor_->loaded(program, kernel);
  }
  return std::make_shared<Grid>(
      *this,
      std::move(program),
      kernel,
      config,
      std::vector<std::byte>(parameter_block.begin(), parameter_block.end()),
      device
  );
}

std::optional<FaultReport> World::fault() const {
  std::lock_guard lock(mutex_);
  return fault_;
}

void World::report_fault(FaultReport report) {
  std::function<void(const FaultReport&)> listener;
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(fault_claimed_, true)) {
      return;
    }
    listener = listener_;
  }
  flush_output();
  if (listener) {
    listener(report);
  }
  // Known only now: the program may end as soon as it sees the error, and the report must be out.
  std::lock_guard lock(mutex_);
  fault_ = std::move(report);
  has_fault_.store(true, std::memory_order_release);
}

void World::on_fault(std::function<void(const FaultReport&)> listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void World::on_remark(std::function<void(const FaultReport&)> listener) {
  std::lock_guard lock(mutex_);
  remarks_ = std::move(listener);
}

void World::remark(const FaultReport& what) {
  std::lock_guard lock(mutex_);
  const std::string place = fmt::format(
      "{} {}:{} {}",
      what.kernel.substr(0, what.kernel.find("<<<")),
      what.source.file,
      what.source.line,
      what.instruction
  );
  if (remarks_ && remarked_.insert(place).second) {
    remarks_(what);
  }
}

void World::clear_fault() {
  std::lock_guard lock(mutex_);
  fault_.reset();
  fault_claimed_ = false;
  has_fault_.store(false, std::memory_order_release);
}

bool World::interrupt() noexcept {
  interrupted_.store(true, std::memory_order_relaxed);
  return listening_.load(std::memory_order_relaxed);
}

void World::on_interrupt(std::function<void(const std::vector<std::string>&)> listener) {
  interrupt_listener_ = std::move(listener);
}

void World::report_interrupt(const std::vector<std::string>& lines) {
  if (interrupt_listener_) {
    interrupt_listener_(lines);
  }
}

std::uint64_t World::now() const {
  if (virtual_now_.load(std::memory_order_relaxed) != 0) {
    // By FromOutside, in nanoseconds: 1 us, 1 ns, 8 ms, 1 s, 18 minutes from one
    // command to the next.
    constexpr std::array<std::uint64_t, 5>
        passes{1000, 1, 8'000'123, 1'000'000'457, std::uint64_t{1} << 40};
    return virtual_now_.fetch_add(
        passes[static_cast<std::size_t>(outside_of_process())],
        std::memory_order_relaxed
    );
  }
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch()
  )
                                        .count());
}

std::size_t World::output_bytes() const {
  const std::scoped_lock lock(mutex_);
  return output_.size();
}

void World::drop_output_from(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  output_.resize(std::min(bytes, output_.size()));
}

void World::print(std::string text) {
  constexpr std::size_t buffer_bytes = 1 << 20; // the default of cudaLimitPrintfFifoSize
  bool full = false;
  {
    std::lock_guard lock(mutex_);
    output_ += text;
    full = output_.size() > buffer_bytes;
  }
  if (full) {
    flush_output(); // a real device would overwrite the oldest output; losing it helps nobody
  }
}

void World::flush_output() {
  std::string text;
  {
    std::lock_guard lock(mutex_);
    text.swap(output_);
  }
  if (!text.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
}

memory::Address World::heap_allocate(int device, std::uint64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    if (bytes > heap_limit_ - heap_used_) {
      return 0;
    }
    heap_used_ += bytes;
  }
  const auto place = space_.allocate_heap(bytes, device);
  return place ? *place : 0;
}

bool World::heap_free(memory::Address p) {
  const std::optional<std::uint64_t> bytes = space_.release_heap(p);
  if (!bytes) {
    return false;
  }
  std::lock_guard lock(mutex_);
  heap_used_ -= *bytes;
  return true;
}

} // namespace heddle::machine
