// Implements pending_choice.h.
#include "runtime/diagnostics/pending_choice.h"

#include "base/hash.h"

#include <algorithm>
#include <cstring>

namespace heddle::runtime {
namespace {

constexpr memory::Address protected_unit = 4096;
constexpr std::uint64_t flag_bytes = 16;       // what is no larger may be a flag, which hosts poll
constexpr std::uint64_t first_launches = 16;   // of each place, that are kept back; and then …
constexpr std::uint64_t each_of_launches = 64; // … one of so many

} // namespace

PendingChoice::PendingChoice(memory::AddressSpace& space) : space_(space) {
  space.on_host_memory([this](memory::Address base, std::uint64_t bytes) {
    low_ = std::min(low_.load(), base);
    high_ = std::max(high_.load(), base + bytes);
  });
}

void PendingChoice::add_part(
    std::vector<PendingPart>& parts,
    memory::Address begin,
    memory::Address end,
    bool write
) const {
  PendingPart part{.begin = begin, .end = end, .write = write};
  const auto allocation = space_.find(begin);
  if (!allocation) {
    return;
  }
  using Kind = memory::AllocationKind;
  if (allocation->kind == Kind::Registered) { // neighbours on its first and last page are others'
    part.first_page = (begin + protected_unit - 1) / protected_unit * protected_unit;
    part.end_page = end / protected_unit * protected_unit;
  } else if (allocation->kind == Kind::Managed || allocation->kind == Kind::Pinned) {
    if (allocation->base % protected_unit != 0 || allocation->delta != 0) {
      return;
    }
    part.first_page = begin / protected_unit * protected_unit;
    part.end_page = (end + protected_unit - 1) / protected_unit * protected_unit;
  }
  if (part.first_page < part.end_page) {
    parts.push_back(part);
  }
}

std::vector<PendingPart> PendingChoice::parts_of(const machine::Command& command) {
  std::vector<PendingPart> parts;
  if (command.grid == nullptr) {
    const std::vector<Rows> rows = rows_of(command);
    std::size_t number = 0;
    for (const machine::Command::Region& region :
         command.touches.value_or(std::vector<machine::Command::Region>())) {
      const Rows these = number < rows.size() ? rows[number] : Rows();
      ++number;
      if (region.bytes > flag_bytes && region.begin < high_ && region.begin + region.bytes > low_) {
        const std::size_t before = parts.size();
        add_part(parts, region.begin, region.begin + region.bytes, region.write);
        if (parts.size() > before) {
          parts.back().rows = these;
        }
      }
    }
    return parts;
  }
  machine::Grid& grid = *command.grid;
  const KernelReach& reach = reaches_.of(*grid.program(), grid.kernel());
  for (const KernelReach::Pointer& pointer : reach.pointers) {
    memory::Address at = 0;
    std::memcpy(&at, grid.parameters() + pointer.offset, sizeof at);
    if (at < low_ || at >= high_) {
      continue;
    }
    if (const auto allocation = space_.find(at)) {
      add_part(parts, allocation->base, allocation->end(), pointer.written);
    }
  }
  for (const KernelReach::Variable& variable : reach.variables) {
    add_part(parts, variable.address, variable.address + variable.bytes, /*write=*/true);
  }
  return parts;
}

/// Is it pending and may tell the host something, or be told?
bool PendingChoice::is_order_unseen(const machine::Command& command) {
  return command.kind == machine::CommandKind::HostFunction ||
         command.kind == machine::CommandKind::ValueWait ||
         (command.grid != nullptr &&
          reaches_.of(*command.grid->program(), command.grid->kernel()).talks);
}

/// Of what is launched again and again the first times, and then some.
bool PendingChoice::is_worth(const machine::Command& command) {
  Hasher hasher;
  hasher.value(command.kind);
  if (command.grid != nullptr) {
    hasher.value(&command.grid->kernel());
    const auto& from = command.grid->config().called_from;
    hasher.value(from.empty() ? nullptr : from.front());
  } else {
    hasher.value(command.content);
  }
  const std::uint64_t before = launches_[hasher.finish().low]++;
  return before < first_launches || before % each_of_launches == 0;
}

std::vector<PendingPart> PendingChoice::parts_to_watch(const machine::CommandPtr& command) {
  std::erase_if(unseen_, [](const machine::CommandPtr& c) { return c->done.load(); });
  if (is_order_unseen(*command)) {
    unseen_.push_back(command);
  }
  if (!unseen_.empty()) {
    return {};
  }
  std::vector<PendingPart> parts = parts_of(*command);
  if (!parts.empty() && !is_worth(*command)) {
    parts.clear();
  }
  return parts;
}

} // namespace heddle::runtime
