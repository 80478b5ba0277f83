// Implements pending_pairs.h.
#include "runtime/diagnostics/pending_pairs.h"

#include "base/hash.h"
#include "machine/grid.h"
#include "ptx/effect.h"
#include "runtime/diagnostics/host_place.h"

#include <algorithm>
#include <cstring>

namespace heddle::runtime {
namespace {

constexpr std::uint64_t most_launches = 16;                     // of each place
constexpr std::uint64_t most_accesses = std::uint64_t{1} << 21; // half a second
constexpr std::uint64_t most_starts = std::uint64_t{1} << 16;   // of rows

std::atomic<bool> with_streams{false};
std::atomic<std::size_t> kept_back{0};

using Region = PairedWork::Region;
using Address = memory::Address;

/// Where rows begin, from `from` on, as far as that is before `end`.
void add_starts(const Region& region, Address from, Address end, std::vector<Address>& to) {
  const Rows& rows = region.rows;
  if (rows.pitch == 0) {
    return;
  }
  const std::uint64_t first = (from - region.begin) / rows.pitch * rows.pitch;
  for (Address at = region.begin + first; at < end && to.size() < most_starts; at += rows.pitch) {
    if (at >= from) {
      to.push_back(at);
    }
  }
  if (rows.slice != 0) {
    const std::uint64_t slice = (from - region.begin) / rows.slice * rows.slice;
    for (Address at = region.begin + slice; at < end && to.size() < most_starts; at += rows.slice) {
      if (at >= from) {
        to.push_back(at);
      }
    }
  }
}

/// The first of the bytes [from, end) that both access. Where two sets of rows meet, a row of one
/// of them begins.
std::optional<Address> common(const Region& a, const Region& b) {
  const Address from = std::max(a.begin, b.begin);
  const Address end = std::min(a.end, b.end);
  if (from >= end) {
    return std::nullopt;
  }
  std::vector<Address> starts{from};
  add_starts(a, from, end, starts);
  add_starts(b, from, end, starts);
  const auto both = std::ranges::find_if(starts, [&](Address at) {
    return a.rows.hold(at - a.begin) && b.rows.hold(at - b.begin);
  });
  return both == starts.end() ? std::nullopt : std::optional(*both);
}

bool is_overlapped(const machine::Command& command) {
  return !command.early.empty() || !command.overlaps.empty();
}

} // namespace

void PendingPairs::has_streams() {
  with_streams = true;
}

bool PendingPairs::has_some() {
  return kept_back != 0;
}

std::vector<Region> PendingPairs::regions_of(const machine::Command& command) {
  std::vector<Region> regions;
  if (command.grid == nullptr) {
    const std::vector<Rows> rows = rows_of(command);
    const auto touched = command.touches.value_or(std::vector<machine::Command::Region>());
    for (std::size_t n = 0; n < std::min(rows.size(), touched.size()); ++n) {
      const machine::Command::Region& one = touched[n];
      regions.push_back({one.begin, one.begin + one.bytes, one.write, rows[n]});
    }
    return regions;
  }
  machine::Grid& grid = *command.grid;
  const KernelReach& reach = reaches_.of(*grid.program(), grid.kernel());
  if (reach.waits) {
    return regions;
  }
  for (const KernelReach::Pointer& pointer : reach.pointers) {
    Address at = 0;
    std::memcpy(&at, grid.parameters() + pointer.offset, sizeof at);
    if (const auto allocation = space_.find(at)) {
      regions.push_back({allocation->base, allocation->end(), pointer.written});
    }
  }
  for (const auto& variables : {reach.variables, reach.others}) {
    for (const KernelReach::Variable& v : variables) {
      regions.push_back({v.address, v.address + v.bytes, v.written});
    }
  }
  return regions;
}

bool PendingPairs::is_worth(const machine::Command& command) {
  Hasher hasher;
  hasher.value(command.kind);
  if (command.grid != nullptr) {
    const auto& from = command.grid->config().called_from;
    hasher.value(&command.grid->kernel());
    hasher.value(from.empty() ? nullptr : from.front());
  } else {
    const std::vector<const void*> from = callers_in_call();
    hasher.value(from.empty() ? nullptr : from.front());
  }
  return launches_[hasher.finish().low]++ < most_launches;
}

/// A stream that waits for a value comes behind whoever writes it, and functions of the host may
/// wait for each other.
bool PendingPairs::is_order_unseen(const machine::CommandPtr& command) {
  waits_for_value_ = waits_for_value_ || command->kind == machine::CommandKind::ValueWait;
  std::erase_if(functions_, [](const machine::CommandPtr& c) { return c->done.load(); });
  if (command->kind == machine::CommandKind::HostFunction) {
    functions_.push_back(command);
  }
  return waits_for_value_ || !functions_.empty();
}

bool PendingPairs::holds(
    const machine::CommandPtr& command,
    const std::set<std::uint64_t>& before
) {
  if (!with_streams) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (is_order_unseen(command)) {
    return false;
  }
  const bool is_work = command->kind == machine::CommandKind::Kernel ||
                       command->kind == machine::CommandKind::Copy ||
                       command->kind == machine::CommandKind::Set;
  if (!is_work || is_overlapped(*command)) {
    return false;
  }
  drop_what_is_over();
  if (accesses_ > most_accesses || !is_worth(*command)) {
    return false;
  }
  auto work = std::make_shared<PairedWork>();
  work->command = command;
  work->regions = regions_of(*command);
  if (work->regions.empty()) {
    return false;
  }
  work->called_from = work->is_kernel() ? command->grid->config().called_from : callers_in_call();
  for (const PairedWorkPtr& other : held_) {
    if (!before.contains(other->command->id)) {
      meet(other, work);
    }
  }
  held_.push_back(std::move(work));
  kept_back = held_.size();
  return true;
}

void PendingPairs::meet(const PairedWorkPtr& earlier, const PairedWorkPtr& later) {
  for (const Region& a : earlier->regions) {
    for (const Region& b : later->regions) {
      const auto at = a.write || b.write ? common(a, b) : std::nullopt;
      if (!at) {
        continue;
      }
      if (earlier->is_kernel() || later->is_kernel()) {
        if (earlier->is_kernel()) {
          earlier->rivals.push_back(later);
        }
        if (later->is_kernel()) {
          later->rivals.push_back(earlier);
        }
      } else {
        add_race(*earlier, a.write, {later->command, b.write, later->called_from, {}}, *at);
      }
      return;
    }
  }
}

PairedWorkPtr PendingPairs::begins(const machine::Command& command) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find_if(held_, [&](const PairedWorkPtr& work) {
    return work->command.get() == &command;
  });
  if (it == held_.end()) {
    return nullptr;
  }
  const PairedWorkPtr work = *it;
  held_.erase(it);
  kept_back = held_.size();
  if (work->rivals.empty()) {
    return nullptr;
  }
  told_.push_back(work);
  return work;
}

void PendingPairs::add_race(
    const PairedWork& other,
    bool other_stores,
    const PairedSide& here,
    memory::Address at
) {
  PairedSide there{other.command, other_stores, other.called_from, {}};
  const PendingRecord::Access* const access =
      other.is_kernel() ? other.record.meets(at, here.store) : nullptr;
  if (access != nullptr) {
    there.place = access->place;
  }
  const bool is_first = other.command->id < here.command->id;
  found_.push_back({is_first ? there : here, is_first ? here : there, at});
}

void PendingPairs::accessed(
    PairedWork& work,
    const isa::Exec& exec,
    memory::Address at,
    std::uint32_t bytes,
    bool store
) {
  const isa::Code& code = exec.code();
  if (ptx::effect_of(code.function->body[exec.current()->instruction]).is_strong()) {
    return;
  }
  const Address address = memory::AddressSpace::device_address(reinterpret_cast<const void*>(at));
  const Region here{address, address + bytes, store};
  const std::lock_guard lock(mutex_);
  if (work.rivals.empty()) {
    return;
  }
  if (++accesses_ > most_accesses) {
    work.rivals.clear();
    machine::stop_telling(*work.command->grid);
    return;
  }
  const auto place = [&] { return place_in_kernel(exec); };
  const auto meets = [&](const PairedWorkPtr& rival) {
    if (rival->is_kernel()) {
      const PendingRecord::Access* const access = rival->record.meets(address, store);
      if (access != nullptr) {
        add_race(*rival, access->store, {work.command, store, work.called_from, place()}, address);
      }
      return access != nullptr;
    }
    for (const Region& region : rival->regions) {
      const auto both = store || region.write ? common(region, here) : std::nullopt;
      if (both) {
        add_race(*rival, region.write, {work.command, store, work.called_from, place()}, *both);
        return true;
      }
    }
    return false;
  };
  std::erase_if(work.rivals, meets);
  if (std::ranges::any_of(work.rivals, [](const PairedWorkPtr& r) { return r->is_kernel(); })) {
    work.record.note(address, bytes, store, exec.current(), place);
  }
}

/// With the lock. Rivals that are not over yet have this one's record.
void PendingPairs::drop_what_is_over() {
  std::erase_if(told_, [](const PairedWorkPtr& work) {
    const bool over = work->command->done.load();
    if (over) {
      machine::stop_telling(*work->command->grid);
      work->rivals.clear();
    }
    return over;
  });
}

std::vector<PairedRace> PendingPairs::take_found() {
  const std::lock_guard lock(mutex_);
  drop_what_is_over();
  return std::exchange(found_, {});
}

} // namespace heddle::runtime
