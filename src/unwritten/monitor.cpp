// Implements monitor.h: what is looked at, copies, what was found.
#include "unwritten/monitor.h"

#include "machine/fault_diagnostic.h"
#include "unwritten/block.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::unwritten {

Unwritten::Unwritten(memory::AddressSpace& space) : space_(space), memory_(space) {
  origin_reports_.emplace_back();
  found_.push_back(nullptr);
}

std::unique_ptr<machine::BlockMonitor> Unwritten::watch(machine::Block& block) {
  return std::make_unique<BlockUnwritten>(*this, block);
}

void Unwritten::loaded(const std::shared_ptr<isa::Program>& program, const isa::Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  programs_.insert(program);
  for (const auto& [address, code] : kernel.functions) {
    const auto [at, is_new] = tables_.try_emplace(code);
    if (!is_new) {
      continue;
    }
    // No thread runs it yet: this is the moment of its first launch.
    auto& ops = const_cast<isa::Code*>(code)->ops;
    at->second.resize(ops.size());
    for (std::size_t n = 0; n < ops.size(); ++n) {
      // Of an instruction that has become several ops, the first one sees what all of them read;
      // any of them may be the one that writes.
      const bool first = n == 0 || ops[n].instruction != ops[n - 1].instruction;
      auto use = use_of(*code, ops[n]);
      if (use && (first || use->kind == Kind::Writes)) {
        at->second[n] = std::make_unique<Use>(std::move(*use));
        ops[n].execute = BlockUnwritten::execute;
      }
    }
  }
}

void Report::lies_in(const memory::AddressSpace& space, memory::Address address) {
  allocation = space.find(address);
  if (allocation) {
    memory = machine::place_in_memory(*allocation, address);
  }
}

void Unwritten::mapped(memory::Address address, std::uint64_t bytes) {
  Area* const area = memory_.global(address);
  if (area != nullptr && area->contains(address - area->base(), bytes)) {
    area->written(address - area->base(), bytes);
  }
}

void Unwritten::host_side_access(
    const machine::Command& command,
    memory::Address address,
    std::uint64_t bytes,
    bool store
) {
  if (copying_ != &command || (!store && next_row_ != 0)) {
    copying_ = &command;
    rows_.clear();
    next_row_ = 0;
  }
  Area* area = memory_.global(address);
  if (!store) {
    rows_.emplace_back(address, bytes);
    if (area != nullptr && !area->touched() && bytes != 0 && copied_.insert(area->base()).second) {
      Report report;
      report.matter = Matter::Copied;
      report.who = fmt::format("{} in {}", command.label, command.stream);
      report.lies_in(space_, address);
      report.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~0U));
      report.count = 1;
      reports_.push_back(std::move(report));
    }
    return;
  }
  const bool of_row = next_row_ < rows_.size() && rows_[next_row_].second == bytes;
  const memory::Address from = of_row ? rows_[next_row_].first : 0;
  ++next_row_;
  Area* source = of_row ? memory_.global(from) : nullptr;
  if (area == nullptr && source != nullptr && source->contains(from - source->base(), bytes) &&
      source->touched() && space_.find_range(address).size == 0) {
    // To memory that no device writes.
    const HostCopies::Row row{
        .from = *source,
        .offset = from - source->base(),
        .values = static_cast<const std::byte*>(space_.host_pointer(from, bytes)),
        .to = address,
        .bytes = bytes
    };
    host_copies_.copied(row, [&] {
      const auto allocation = space_.find(from);
      return HostCopies::Copy{
          .by = fmt::format("{} in {}", command.label, command.stream),
          .memory = allocation ? machine::place_in_memory(*allocation, from) : "",
          .allocation = allocation
      };
    });
  } else if (area == nullptr) {
    host_copies_.written(address, bytes);
  }
  area = memory_.global(address); // another one may have been looked up
  if (area == nullptr || !area->contains(address - area->base(), bytes)) {
    return;
  }
  if (source != nullptr && source->contains(from - source->base(), bytes)) {
    area->copy(address - area->base(), *source, from - source->base(), bytes);
  } else {
    area->written(address - area->base(), bytes);
  }
}

void Unwritten::host_read(const HostCopies::Copy& copy, std::uint64_t bytes, const void* pc) {
  Report*& known = host_reads_[pc];
  if (known == nullptr) {
    Report report;
    report.matter = Matter::HostRead;
    report.who = copy.by;
    report.memory = copy.memory;
    report.allocation = copy.allocation;
    report.bytes = static_cast<std::uint32_t>(bytes);
    report.host_pc = pc;
    reports_.push_back(std::move(report));
    known = &reports_.back();
  }
  ++known->count;
}

Origin Unwritten::origin(const Use& use, const std::function<void(Report&)>& describe) {
  Origin& origin = origins_[use.op];
  if (origin == 0) {
    origin = static_cast<Origin>(origin_reports_.size());
    Report& report = origin_reports_.emplace_back();
    found_.push_back(nullptr);
    machine::describe_instruction(*use.code, *use.op, report.read);
    describe(report);
  }
  return origin;
}

void Unwritten::found(Matter matter, Origin origin, const Use& use) {
  origin &= ~computed;
  if (found_[origin] != nullptr) {
    ++found_[origin]->count;
    return;
  }
  Report report = origin_reports_[origin];
  report.matter = matter;
  report.count = 1;
  machine::describe_instruction(*use.code, *use.op, report.use);
  // An unrolled loop has many instructions on one line.
  const auto again = std::ranges::find_if(reports_, [&](const Report& other) {
    return other.read.source.line != 0 && other.matter == matter &&
           other.read.source.line == report.read.source.line &&
           other.read.source.file == report.read.source.file &&
           other.use.source.line == report.use.source.line &&
           other.use.source.file == report.use.source.file;
  });
  if (again != reports_.end()) {
    ++again->count;
    found_[origin] = &*again;
    return;
  }
  reports_.push_back(std::move(report));
  found_[origin] = &reports_.back();
}

} // namespace heddle::unwritten
