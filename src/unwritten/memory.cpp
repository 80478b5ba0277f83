// Implements memory.h.
#include "unwritten/memory.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>

namespace heddle::unwritten {

Area::Area(memory::Address base, std::uint64_t size, std::uint64_t id)
    : base_(base),
      size_(size),
      id_(id),
      known_(static_cast<std::uint8_t*>(std::calloc(size + 8, 1))),
      origins_(static_cast<Origin*>(std::calloc(size / 4 + 2, sizeof(Origin)))) {
  HEDDLE_CHECK(known_ != nullptr && origins_ != nullptr, "no memory for what has been written");
}

Bits Area::bits(std::uint64_t offset, unsigned bytes) const {
  HEDDLE_CHECK(bytes <= sizeof(Bits), "{} bytes at once", bytes);
  Bits known = 0;
  std::memcpy(&known, known_.get() + offset, bytes);
  return ~known & ones(bytes * 8);
}

bool Area::all_written(std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint8_t* at = known_.get() + offset;
  std::uint64_t known = ~0ULL;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, sizeof eight);
    known &= eight;
  }
  std::uint64_t rest = ~0ULL;
  std::memcpy(&rest, at, bytes);
  return (known & rest) == ~0ULL;
}

void Area::written(std::uint64_t offset, std::uint64_t bytes) {
  std::memset(known_.get() + offset, 0xff, bytes);
  touched_ = true;
}

void Area::write(std::uint64_t offset, unsigned bytes, Bits unwritten, Origin origin) {
  HEDDLE_CHECK(bytes <= sizeof(Bits), "{} bytes at once", bytes);
  const Bits known = ~unwritten;
  std::memcpy(known_.get() + offset, &known, bytes);
  touched_ = true;
  if (unwritten != 0) {
    std::fill_n(origins_.get() + offset / 4, (offset + bytes - 1) / 4 - offset / 4 + 1, origin);
  }
}

void Area::forget(std::uint64_t offset, std::uint64_t bytes) {
  std::memset(known_.get() + offset, 0, bytes);
  std::fill_n(origins_.get() + offset / 4, (bytes + 3) / 4, 0);
}

void Area::copy(
    std::uint64_t offset,
    const Area& from,
    std::uint64_t from_offset,
    std::uint64_t bytes
) {
  std::memmove(known_.get() + offset, from.known_.get() + from_offset, bytes);
  for (std::uint64_t i = 0; i < bytes; i += 4) {
    origins_.get()[(offset + i) / 4] = from.origins_.get()[(from_offset + i) / 4];
  }
  touched_ = true;
}

Area* Memory::global(memory::Address a) {
  const std::uint64_t generation = space_.generation();
  if (generation == generation_ && a >= begin_ && a < end_) {
    return last_;
  }
  generation_ = generation;
  begin_ = end_ = 1;
  last_ = nullptr;
  const auto allocation = space_.find(a);
  if (!allocation) {
    return nullptr;
  }
  begin_ = allocation->base;
  end_ = allocation->end();
  // Heddle's own memory in the heap (barriers of grids, parameters of launches) has other names.
  const bool heap =
      allocation->kind == memory::AllocationKind::Heap && allocation->name == "device heap";
  if (!heap && (allocation->kind != memory::AllocationKind::Device || !allocation->name.empty())) {
    return nullptr;
  }
  const auto known = areas_.find(allocation->base);
  if (known != areas_.end() && known->second.id() == allocation->id) {
    return last_ = &known->second;
  }
  areas_.erase(allocation->base);
  const auto made =
      areas_.try_emplace(allocation->base, allocation->base, allocation->size, allocation->id);
  return last_ = &made.first->second;
}

void Memory::written_at(const std::byte* p, std::uint64_t bytes) {
  if (!delta_) {
    space_.each_live([&](const memory::Allocation& allocation) {
      if (memory::AddressSpace::in_device_range(allocation.base)) {
        delta_ = allocation.delta; // the same for all of it
      }
    });
  }
  const memory::Address address =
      reinterpret_cast<std::uint64_t>(p) - static_cast<std::uint64_t>(delta_.value_or(0));
  Area* area = memory::AddressSpace::in_device_range(address) ? global(address) : nullptr;
  if (area != nullptr && area->contains(address - area->base(), bytes)) {
    area->written(address - area->base(), bytes);
  }
}

} // namespace heddle::unwritten
